"""Conditions that the loops and guards around settle: ``i >= 0`` inside of ``for i = 0 to 8``; ``i <= 3`` under ``i + j >= 9``
inside of ``for j = 0 to 6``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dsl.expressions.affine import Constraint
from polyhedral.looptree.extremes import Scope, maximum, minimum


def undecided(constraints: Sequence[Constraint], scope: Scope) -> tuple[Constraint, ...] | None:
    """The constraints of a conjunction that hold in some iterations only.

    Returns:
        None where one never holds, so that the conjunction does not either.
    """
    found = []
    for constraint in constraints:
        holds = _verdict(constraint, scope)
        if holds is False:
            return None
        if holds is None:
            found.append(constraint)
    return tuple(found)


def _verdict(constraint: Constraint, scope: Scope) -> bool | None:
    """Whether it always (True) or never (False) holds; None: it depends."""
    least, most = minimum(constraint.expr, scope), maximum(constraint.expr, scope)
    if constraint.kind == ">=":
        if least is not None and least >= 0:
            return True
        never = (most is not None and most < 0) or _contradicts(constraint, scope)
        return False if never else None
    if least == 0 and most == 0:
        return True
    outside = (least is not None and least > 0) or (most is not None and most < 0)
    return False if outside else None


def _contradicts(constraint: Constraint, scope: Scope) -> bool:
    """Whether it and a guard around do not hold in the same iteration: the sum of both is never 0 or more."""
    names = constraint.expr.variables()
    for held in scope.held:
        if names & held.variables():
            most = maximum(constraint.expr + held, scope)
            if most is not None and most < 0:
                return True
    return False
