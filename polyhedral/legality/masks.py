"""Statements of a loop that run under a condition on data: bodies without it, and statements under it again.

Below, `keep[i]` says of each iteration whether it counts. What is found of the loop without the condition holds of those iterations that
do, one after the other, as the others leave all elements what they are::

    higher = max(top, x[i])
    total = total * exp(top - higher) + exp(x[i] - higher) if keep[i] else total
    top = higher if keep[i] else top
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dsl.expressions.expr import Access, Expr, Load, Select, loads
from dsl.programs.program import Stmt
from polyhedral.legality.loop_bodies import LoopBody, Place


@dataclass(frozen=True, slots=True)
class Mask:
    """A condition.

    Attributes:
        cond: the condition.
        holds: whether statements run where it does.
        names: the statements.
    """

    cond: Expr
    holds: bool
    names: frozenset[str]

    def under(self, stmts: Mapping[str, Stmt]) -> dict[str, Stmt]:
        """The statements, by any names, under the condition where they had it."""
        return {
            key: replace(s, value=self._chosen(s)) if s.name in self.names else s
            for key, s in stmts.items()
        }

    def _chosen(self, stmt: Stmt) -> Expr:
        kept = Load(stmt.target, stmt.value.dtype)
        then, orelse = (stmt.value, kept) if self.holds else (kept, stmt.value)
        return Select(self.cond, then, orelse, stmt.value.dtype)


def unmasked(body: LoopBody) -> Iterator[tuple[LoopBody, Mask | None]]:
    """The body, and without each condition that tells iterations which count from others.

    Such a condition reads nothing that the loop hands on.
    """
    yield body, None
    found: dict[tuple[Expr, bool], dict[str, Expr]] = {}
    for place in body.places:
        value, kept = place.stmt.value, Load(place.stmt.target, place.stmt.value.dtype)
        if not isinstance(value, Select) or body.is_own(place.stmt.target.array):
            continue
        for other, same, holds in (
            (value.then, value.orelse, True),
            (value.orelse, value.then, False),
        ):
            if same == kept and all(_is_given(body, a, place) for a in loads(value.cond)):
                found.setdefault((value.cond, holds), {})[place.stmt.name] = other
    for (cond, holds), values in found.items():
        places = tuple(
            replace(p, stmt=replace(p.stmt, value=values.get(p.stmt.name, p.stmt.value)))
            for p in body.places
        )
        yield replace(body, places=places), Mask(cond, holds, frozenset(values))


def _is_given(body: LoopBody, access: Access, at: Place) -> bool:
    if body.is_own(access.array):
        return body.temporary(access, at) is not None
    return not body.writers(access.array)
