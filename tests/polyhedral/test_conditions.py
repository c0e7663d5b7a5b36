"""Sets of isl as conditions and bounds of loops, held against their points."""

from __future__ import annotations

from itertools import product

import islpy as isl
import pytest

from dsl.expressions.affine import cond_holds
from polyhedral.isl.conditions import condition_of, limits_of

R, NAMES = range(-6, 13), ("r", "x")
SETS = [
    "{ [r, x] : 0 <= r < 5 and r <= x < 9 }",
    "{ [r, x] : 0 <= r < 5 and 0 <= x < 8 and 8*r + x < 36 }",
    "{ [r, x] : 0 <= r < 4 and x mod 3 = r and 0 <= x < 11 }",
    "{ [r, x] : 0 <= r < 4 and (x = r or x = 7 - r) }",
    "{ [r, x] : 0 <= r < 6 and 2*x >= r - 3 and 0 <= x < 5 }",  # a bound that is no plain one
    "{ [r, x] : 0 <= r < 6 and 3 <= 2*x + r <= 9 }",
    "{ [r, x] : exists k : r = 2*k and 0 <= r < 9 and k <= x <= r }",
    "{ [r, x] : 0 <= r < 3 and x = 5 - r }",
    "{ [r, x] : (0 <= r < 3 and 0 <= x < 2) or (5 <= r < 7 and 4 <= x < 9) }",
]


def points(text: str) -> set[tuple[int, int]]:
    found = isl.Set(text)
    return {
        (r, x)
        for r, x in product(R, R)
        if not found.intersect(isl.Set(f"{{ [{r}, {x}] }}")).is_empty()
    }


@pytest.mark.parametrize("text", SETS)
def test_a_condition_holds_at_the_points_alone(text: str) -> None:
    cond = condition_of(isl.Set(text), NAMES)
    assert {(r, x) for r, x in product(R, R) if cond_holds(cond, {"r": r, "x": x})} == points(text)


@pytest.mark.parametrize("text", SETS)
def test_bounds_hold_at_all_points_and_leave_nothing_out_of_their_range(text: str) -> None:
    known = points(text)
    lowers, uppers = limits_of(isl.Set(text), NAMES)
    least, greatest = min(x for _, x in known), max(x for _, x in known)
    for r in {r for r, _ in known}:
        low = max(e.evaluate({"r": r}) for e in lowers)
        high = min(e.evaluate({"r": r}) for e in uppers)
        own = [x for s, x in known if s == r]
        assert low <= min(own) and max(own) < high  # noqa: PT018
        assert least <= low and high <= greatest + 1  # noqa: PT018


def test_bounds_are_exact_where_they_can_be() -> None:
    lowers, uppers = limits_of(isl.Set(SETS[1]), NAMES)
    assert [str(e) for e in lowers] == ["0"]
    assert [str(e) for e in uppers] == ["-8*r + 36", "8"]


def test_bounds_keep_to_what_they_have_to() -> None:
    within = isl.Set("{ [r, x] : 0 <= r + x < 7 }")
    both = isl.Set("{ [r, x] : (r = 0 and 0 <= x < 6) or (r = 3 and 0 <= x < 4) }")
    _, uppers = limits_of(both, NAMES, within)
    for r in range(7):
        assert min(e.evaluate({"r": r}) for e in uppers) + r <= 7
