"""Labelled kernels in two parts by their names: rules are read from one, the other is scored rarely.

Sizes and variants of a kernel (``gemm-p-large``, ``trmm-opt``) are in one part, so that no rule is scored on a
kernel that it was read from in another size. The part is a digest of the name alone: it is the same whatever else is labelled,
and nobody has chosen it.
"""

from __future__ import annotations

import hashlib
from typing import Literal

Part = Literal["read", "scored"]

VARIANTS = ("-p", "-medium", "-large", "-opt", "-red", "-ncubed", "-blocked")
"""Endings of names that say in which size, or how, a kernel is written."""

SCORED_OF_16 = 8
"""About so many of 16 families are scored."""


def family(kernel: str) -> str:
    """The name without what says its size and how it is written."""
    found = kernel
    while ending := next((v for v in VARIANTS if found.endswith(v)), ""):
        found = found.removesuffix(ending)
    return found


def part_of(kernel: str) -> Part:
    """The part of a kernel."""
    digest = hashlib.sha256(family(kernel).encode()).digest()
    return "scored" if digest[0] % 16 < SCORED_OF_16 else "read"
