"""Arrays of which no two iterations read the same element: there is nothing to keep for later ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from dse.space.nests.groups import iterations
from dsl.expressions.expr import loads
from polyhedral.scop.scheduled import Piece


def read_once(array: str, readers: Sequence[Piece]) -> bool:
    """Whether no two iterations read the same element of a row, as far as they move with it: subscripts are its digits,
    as in ``x[4 * i + k]`` with ``k < 4``, or parts of it that no two reads share, as in ``x[i]`` and ``x[i + 256]`` with
    ``i < 256``.
    """
    indices = {
        access.indices
        for piece in readers
        for access in loads(piece.statement.stmt.value)
        if access.array == array
    }
    if not all(sub.is_linear for index in indices for sub in index):
        return False
    if len({(*(sub.terms for sub in i), piece.names) for i in indices for piece in readers}) > 1:
        return False
    piece = readers[0]
    extents = {str(name): iterations(piece, k) for k, name in enumerate(piece.names)}
    terms = [[(str(name), step) for name, step in sub.terms] for sub in next(iter(indices))]
    if any(name not in extents for some in terms for name, _ in some):
        return False
    if len(indices) > 1 and all(len(some) <= 1 for some in terms):
        consts = [tuple(sub.const for sub in index) for index in indices]
        return not any(_meet(terms, extents, a, b) for a, b in combinations(consts, 2))
    return len(terms) == 1 and _digits(terms[0], extents, [index[0].const for index in indices])


def _meet(
    terms: Sequence[Sequence[tuple[str, int]]],
    extents: Mapping[str, float],
    one: Sequence[int],
    other: Sequence[int],
) -> bool:
    """Whether some iterations read by one access what others read by another: of each dimension the one variable with its
    step if there is any, iterations of the loops, and the constants of both accesses.
    """
    for some, a, b in zip(terms, one, other, strict=True):
        step, extent = (some[0][1], extents[some[0][0]]) if some else (1, 1)
        if (a - b) % step or abs((a - b) // step) >= extent:
            return False
    return True


def _digits(
    terms: Sequence[tuple[str, int]], extents: Mapping[str, float], consts: Sequence[int]
) -> bool:
    """Whether a subscript is another one in each iteration, whatever constant it has of some."""
    reach: float = max(consts) - min(consts)
    for name, step in sorted(terms, key=lambda term: abs(term[1])):
        if abs(step) <= reach:
            return False
        reach += abs(step) * (extents[name] - 1)
    return True
