"""Types and values that are likely to show a mistake."""

from __future__ import annotations

import random

from hypothesis import settings

from dsl.expressions.numeric import Exact, bounds
from dsl.expressions.types import FixedType, IntType, Overflow, Quant

INTS: tuple[IntType, ...] = (
    *(IntType(w) for w in (1, 2, 7, 8, 32, 33, 64, 65, 100)),
    *(IntType(w, signed=False) for w in (1, 3, 8, 16, 31, 64, 70)),
)
FIXED: tuple[FixedType, ...] = (
    FixedType(8, 4),
    FixedType(8, 0),
    FixedType(6, 9),  # more integer bits than bits
    FixedType(7, -3),  # the point is left of all bits
    FixedType(16, 8),
    FixedType(33, 17),
    FixedType(90, 45),
    FixedType(1, 1),
    FixedType(5, 2, signed=False),
    FixedType(8, 8, signed=False),
    FixedType(12, -2, signed=False),
    FixedType(64, 20, signed=False),
)

EFFORT = max(1, settings.default.max_examples // 50) if settings.default else 1
"""How many times the cases of the profile ``fast``; compiling them is what takes the time."""


def values(dtype: Exact, rng: random.Random, count: int = 4) -> list[int]:
    """Raws of a type: the extremes, around zero, random ones, and ones of few bits."""
    low, high = bounds(dtype)
    found = {low, high, 0, min(1, high), max(-1, low), high // 2, low // 2 + 1}
    for _ in range(count):
        found.add(rng.randint(low, high))
        found.add(max(low, min(high, rng.randint(-20, 20))))
    return sorted(v for v in found if low <= v <= high)


def pairs(a: Exact, b: Exact, rng: random.Random, count: int) -> list[tuple[int, int]]:
    """Pairs of raws, the corners among them."""
    corners = [(x, y) for x in bounds(a) for y in bounds(b)]
    some_a, some_b = values(a, rng), values(b, rng)
    return corners + [(rng.choice(some_a), rng.choice(some_b)) for _ in range(count)]


def targets(rng: random.Random, count: int) -> list[FixedType]:
    """Fixed-point types of all modes: each of the 28 pairs of modes ``count`` times."""
    found = []
    for quant in Quant:
        for overflow in Overflow:
            for _ in range(count):
                width = rng.choice((1, 2, 3, 5, 8, 12, 24, 40, 64, 72))
                integer = rng.randint(-4, width + 4)
                found.append(FixedType(width, integer, rng.random() < 0.6, quant, overflow))
    return found
