"""Copies of a loop's body, one for each of some constants, and how many of them there may be."""

from __future__ import annotations

import ast
from dataclasses import dataclass

MAX_COPIES = 64
"""Stages of a transform are a few; more copies than that are no program that anyone wants."""

MAX_NESTED = 512
"""Copies of loops in each other."""


@dataclass(frozen=True, slots=True)
class Copies:
    """The body once for each of the constants: what each of its names stands for.

    Attributes:
        constants: of each copy.
        body: where it is not that of the loop.
    """

    constants: tuple[dict[str, object], ...]
    body: tuple[ast.stmt, ...] | None = None
