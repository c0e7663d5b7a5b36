"""Copies of a loop's body, one for each of some constants, and how many of them there may be."""

from __future__ import annotations

from dataclasses import dataclass

MAX_COPIES = 64
"""Stages of a transform are a few; more copies than that are no program that anyone wants."""

MAX_NESTED = 512
"""Copies of loops in each other."""


@dataclass(frozen=True, slots=True)
class Copies:
    """The body once for each of the constants: what each of its names stands for."""

    constants: tuple[dict[str, object], ...]
