"""Which register an element has that a loop assigns: its cell (see `polyhedral.transforms.carried.ages`).

Subscripts in which the loop has no part say the cell: of ``L[i, t - i]``, along ``t``, it is ``i``. Where they do not tell
elements apart, loops inside say it, too. A sweep in place, along wavefronts, assigns ``A[t - 2*s]``: its cell is ``s``, and
in iteration ``t`` the cell of ``A[t - 2*s + 1]``, of age 1, is the ``c`` of ``t - 1 - 2*c = t - 2*s + 1``, which is ``s - 1``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dsl.expressions.affine import Affine
from polyhedral.scop.scop import Statement

Element = tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of what a loop assigns to an array.

    Attributes:
        names: of the loops around and of the loop.
        target: the subscripts of one of its assignments.
        dims: the dimensions of the array that say the cell.
        lanes: the loops of the assignment, inside of the loop, that say the rest of it.
    """

    names: tuple[str, ...]
    target: Element
    dims: tuple[int, ...]
    lanes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Dimensions of a cell."""
        return len(self.dims) + len(self.lanes)

    def element(self, point: Sequence[Affine]) -> Element | None:
        """The element that is assigned in a point, if the subscripts say it.

        Args:
            point: the loops around, the loop, and the cell.
        """
        known = dict(zip((*self.names, *self._symbols), self._split(point), strict=True))
        dims = point[len(self.names) : len(self.names) + len(self.dims)]
        own = [self._marked[d] for d in self.dims]
        known.update(solved(own, dims, known))
        if not all(index.variables() <= known.keys() for index in self._marked):
            return None
        return tuple(index.substitute(known) for index in self._marked)

    def of(self, indices: Element, around: Sequence[Affine]) -> Element | None:
        """The cell of an element, if it can be said.

        Args:
            indices: of the element.
            around: the loops around, and the loop, in the iteration that assigns it.
        """
        own = tuple(indices[d] for d in self.dims)
        if not self.lanes:
            return own
        known = dict(zip(self.names, around, strict=True))
        known.update(solved([self._marked[d] for d in self.dims], own, known))
        rest = [d for d in range(len(indices)) if d not in self.dims]
        known.update(solved([self._marked[d] for d in rest], [indices[d] for d in rest], known))
        if not all(symbol in known for symbol in self._symbols):
            return None
        return (*own, *(known[symbol] for symbol in self._symbols))

    @property
    def _symbols(self) -> tuple[str, ...]:
        """Names of lanes that no statement has."""
        return tuple(f"{lane}'" for lane in self.lanes)

    @property
    def _marked(self) -> Element:
        """The subscripts with these names."""
        symbols = dict(zip(self.lanes, self._symbols, strict=True))
        return tuple(index.rename(symbols) for index in self.target)

    def _split(self, point: Sequence[Affine]) -> list[Affine]:
        """The loops and the lanes of a point."""
        count = len(self.names)
        return [*point[:count], *point[count + len(self.dims) :]]


def lanes_of(writers: Sequence[Statement], level: int, dims: Sequence[int]) -> tuple[str, ...]:
    """The loops inside of a loop that subscripts move with in which the loop has a part, and that the other subscripts
    do not say.

    Args:
        writers: what is assigned in the loop.
        level: of the loop.
        dims: the dimensions that say cells without such loops.
    """
    first = writers[0]
    names = first.variables[: level + 1]
    target = first.stmt.target.indices
    told = solved(
        [target[d] for d in dims], [target[d] for d in dims], {n: Affine.of(n) for n in names}
    )
    moving = {v for d, index in enumerate(target) if d not in dims for v in index.variables()}
    return tuple(v for v in first.variables[level + 1 :] if v in moving and v not in told)


def with_lanes(cells: Cells, lanes: tuple[str, ...]) -> Cells:
    """The cells with loops inside, without the dimensions that these say anyway: a row of two that take turns, ``t % 2``."""
    told = {*cells.names, *lanes}
    dims = tuple(d for d in cells.dims if not cells.target[d].variables() <= told)
    return replace(cells, lanes=lanes, dims=dims)


def solved(
    subscripts: Sequence[Affine], values: Sequence[Affine], known: Mapping[str, Affine]
) -> dict[str, Affine]:
    """Variables of which subscripts of given values tell the value: those that are the only unknown of one.

    Args:
        subscripts: over known and unknown variables.
        values: of them.
        known: the values of variables.
    """
    found: dict[str, Affine] = {}
    for _ in subscripts:
        for subscript, value in zip(subscripts, values, strict=True):
            own = subscript.variables() - known.keys() - found.keys()
            if len(own) != 1 or not subscript.is_linear:
                continue
            (name,) = own
            factor = subscript.coefficient(name)
            rest = (subscript - Affine.of(name) * factor).substitute({**known, **found})
            quotient = _divided(value - rest, factor)
            if quotient is not None:
                found[name] = quotient
    return found


def _divided(expr: Affine, factor: int) -> Affine | None:
    """An expression divided by a number, if all of it is a multiple."""
    if factor == 0 or expr.const % factor or any(c % factor for _, c in expr.terms):
        return None
    return Affine(tuple((atom, c // factor) for atom, c in expr.terms), expr.const // factor)
