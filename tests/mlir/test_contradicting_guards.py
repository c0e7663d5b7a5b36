"""Guards that contradict those around them."""

from __future__ import annotations

from dsl.expressions.affine import Affine, Constraint
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.extremes import Scope
from polyhedral.looptree.simplify.guards import undecided

X, Y = Affine.of("i"), Affine.of("j")


def scope(last: int) -> Scope:
    """Tiles of four, the last of which is cut, and what is beyond their end."""
    loops = Scope().inside("i", Bounds((Affine(),), (Affine.of(16),), 1))
    loops = loops.inside("j", Bounds((Affine(),), (Affine.of(4),), 1))
    return loops.under((Constraint(4 * X + Y - last, ">="),))


def test_what_contradicts_a_guard_around_never_runs():
    assert undecided((Constraint(1 - Y, ">="),), scope(62)) is None
    assert undecided((Constraint(-4 * X - Y + 61, ">="),), scope(62)) is None


def test_what_does_not_is_kept():
    for last, constraint in ((61, 1 - Y), (62, 2 - Y), (62, Y - 1)):
        kept = (Constraint(constraint, ">="),)
        assert undecided(kept, scope(last)) == kept
