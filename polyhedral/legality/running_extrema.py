"""Running minima and maxima of a loop, and values of its statements by what these are in front of an iteration and behind it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Const,
    Expr,
    Index,
    Load,
    map_leaves,
)
from dsl.expressions.types import FloatType
from polyhedral.legality.loop_bodies import LoopBody, Place, begins
from polyhedral.legality.rescaled_terms import AFTER, BEFORE, NotRescaledError, marked


@dataclass(frozen=True, slots=True)
class Extremum:
    """A running minimum or maximum.

    Attributes:
        load: the element.
        chosen: the statement that compares.
        kept: the one that assigns it, which may be the same.
        chain: these and those between them.
        value: the minimum or maximum.
        other: what it is compared with.
    """

    load: Load
    chosen: Place
    kept: Place
    chain: frozenset[str]
    value: Binary
    other: Expr


def extrema(body: LoopBody) -> Iterator[Extremum]:
    """The running extrema of a loop."""
    for place in body.places:
        target = place.stmt.target
        array = body.program.array(target.array)
        if body.is_own(array.name) or len(body.writers(array.name)) != 1:
            continue
        if not isinstance(array.dtype, FloatType) or any(i.is_data for i in target.indices):
            continue
        chosen, chain = place, {place.stmt.name}
        while isinstance(chosen.stmt.value, Load):
            found = body.temporary(chosen.stmt.value.access, chosen)
            if found is None:
                break
            chosen = found
            chain.add(chosen.stmt.name)
        load, value = Load(target, array.dtype), chosen.stmt.value
        if not isinstance(value, Binary) or value.op not in (BinaryOp.MIN, BinaryOp.MAX):
            continue
        sides = [_through_copies(body, x, chosen) == load for x in (value.lhs, value.rhs)]
        same = len(chosen.around) == len(place.around) and begins(chosen.around, place.around)
        if sides.count(True) == 1 and same and value.dtype == array.dtype:
            other = value.rhs if sides[0] else value.lhs
            yield Extremum(load, chosen, place, frozenset(chain), value, other)


def _through_copies(body: LoopBody, expr: Expr, at: Place) -> Expr:
    """A value that copies of scalars have."""
    while isinstance(expr, Load) and (found := body.temporary(expr.access, at)) is not None:
        expr, at = found.stmt.value, found
    return expr


@dataclass(frozen=True, slots=True)
class Resolver:
    """Values by what they are of an iteration's inputs and of the extremum, before and after it."""

    body: LoopBody
    extremum: Extremum

    def check(self) -> None:
        """Nothing touches another element of the extremum's array."""
        array = self.extremum.load.access.array
        for place in self.body.places:
            for access in place.accesses:
                if access.array == array and access != self.extremum.load.access:
                    raise NotRescaledError(f"{place.stmt.name} accesses {access}, too")

    def resolved(self, expr: Expr, at: Place) -> Expr:
        """The value of an expression at a place."""

        def leaf(x: Const | Load | Index) -> Expr:
            if not isinstance(x, Load) or any(i.is_data for i in x.access.indices):
                return x
            mine = self.extremum
            if x.access == mine.load.access:
                if not begins(at.around, mine.kept.around):
                    raise NotRescaledError(f"{at.stmt.name} reads {x.access} outside of its loops")
                return AFTER if at.number > mine.kept.number else BEFORE
            found = self.body.temporary(x.access, at)
            if found is None:
                return x
            is_next = found.number == mine.chosen.number
            return AFTER if is_next else self.resolved(found.stmt.value, found)

        return map_leaves(expr, leaf)

    def settled(self, expr: Expr, at: Place) -> Expr:
        """The expression with the last extremum in the place of any other one."""

        def leaf(x: Const | Load | Index) -> Expr:
            plain = isinstance(x, Load) and not any(i.is_data for i in x.access.indices)
            return self.extremum.load if plain and self.resolved(x, at) in (BEFORE, AFTER) else x

        return map_leaves(expr, leaf)

    def check_temporary(self, place: Place, own: Collection[str]) -> None:
        """What an extremum's statement computes is for the sums alone.

        Raises:
            NotRescaledError: it is not.
        """
        array = place.stmt.target.array
        used = NotRescaledError(
            f"{place.stmt.name} uses {self.extremum.load.access} as it is in between",
            "name a statement of each sum that is rescaled; nothing else may use it",
        )
        if not self.body.is_own(array) or len(self.body.writers(array)) != 1:
            raise used
        for reader, access in self.body.readers(array):
            if self.body.temporary(access, reader) is not place:
                raise used
            value = self.resolved(reader.stmt.value, reader)
            if reader.stmt.name not in own and not marked(value):
                raise used
