"""The nests of a kernel as the planner of tiles reads them: their loops, what moves with these, and the work in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from backends.deploy.tile_copies import Moved
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, loads
from dsl.expressions.types import FloatType
from dsl.programs.program import Program, Storage
from polyhedral.requests.outside import word_bits
from polyhedral.requests.packed import packed_lanes
from polyhedral.scop.ranges import Interval, constant_interval, whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.scop.scop import reduction_access

_FLOAT_SLICES = 5  # of a multiply-add of f32
_INTEGER_SLICES = 1
_BAND = 3  # loops that are tiled
LONG = 512
"""Terms of a sum of one iteration that are unrolled in a pipeline of the loops around it, at most, as searches have it."""


@dataclass(frozen=True, slots=True)
class Nest:
    """The statements of a loop, and the loops that all of them share from there on, with their iterations.

    Attributes:
        statements: their names.
        loops: that all of them share, at most three: what tiles are made of.
        ranges: of these.
        pieces: of the statements.
        level: loops around, as those of a sweep over time, which are none of ``loops``.
        again: how often the nest is run, by these.
    """

    statements: tuple[str, ...]
    loops: tuple[str, ...]
    ranges: tuple[Interval, ...]
    pieces: tuple[Piece, ...]
    level: int = 0
    again: int = 1

    @property
    def extents(self) -> tuple[int, ...]:
        """How many iterations each loop has."""
        return tuple(interval.extent for interval in self.ranges)


def nests_of(state: ScheduledScop) -> Iterator[Nest]:
    """The outermost loops, each with as many of those inside as all its statements share, up to three."""
    return _nests(state.pieces, 0, 1)


def nests_inside(nest: Nest, beside: bool = False) -> list[Nest]:
    """The nests in the first loop of a nest; none where a statement stands in that loop alone, but with ``beside``."""
    level = nest.level + 1
    alone = any(len(piece.dims) <= level for piece in nest.pieces)
    if not nest.loops or (alone and not beside):
        return []
    return list(_nests(nest.pieces, level, nest.again * nest.extents[0]))


def _nests(all_: Iterable[Piece], level: int, again: int) -> Iterator[Nest]:
    """The loops that are the next ones behind so many, which all of the pieces share."""
    by: dict[object, list[Piece]] = {}
    for piece in all_:
        if len(piece.dims) > level:
            by.setdefault(piece.place[level], []).append(piece)
    for pieces in by.values():
        first = pieces[0]
        loops: list[str] = []
        ranges: list[Interval] = []
        for inner in range(level, min(level + _BAND, *(len(p.dims) for p in (first, *pieces)))):
            shared = all(p.place[: inner + 1] == first.place[: inner + 1] for p in pieces)
            iterations = whole_range([(p, inner) for p in pieces])
            if not shared or iterations is None or constant_interval(first, inner) is None:
                break
            loops.append(first.dims[inner].name)
            ranges.append(iterations)
        names = tuple(p.name for p in pieces)
        yield Nest(names, tuple(loops), tuple(ranges), tuple(pieces), level, again)


def accessed(piece: Piece) -> tuple[Access, ...]:
    """What the statement assigns, then what it reads."""
    stmt = piece.statement.stmt
    return (stmt.target, *loads(stmt.value))


def looked_up(program: Program) -> set[str]:
    """The arrays that statements access at subscripts that are data."""
    statements = program.statements()
    every = [one for stmt in statements for one in (stmt.target, *loads(stmt.value))]
    return {one.array for one in every if any(index.is_data for index in one.indices)}


def inner_loops(nest: Nest) -> Iterator[tuple[str, int]]:
    """The loops further in, as `_named` has them, and their extents."""
    for piece in nest.pieces:
        names = _named(nest, piece)
        for level, dim in enumerate(piece.dims):
            iterations = whole_range([(piece, level)])
            if level >= nest.level and dim.name not in nest.loops and iterations is not None:
                yield names[dim.name], iterations.extent


def _named(nest: Nest, piece: Piece) -> dict[str, str]:
    """Names for the loops of a statement: those of one name further in may be several, of other extents."""
    found = {}
    for level, dim in enumerate(piece.dims):
        outer = level < nest.level or dim.name in nest.loops
        iterations = None if outer else whole_range([(piece, level)])
        found[dim.name] = f"{dim.name}:{iterations.extent}" if iterations else dim.name
    return found


def accesses(state: ScheduledScop, nest: Nest, names: Mapping[str, str]) -> Iterator[Moved]:
    """The accesses to what is copied, over loops that begin with 0."""
    first = {name: range_.first for name, range_ in zip(nest.loops, nest.ranges, strict=True)}
    ports = {step.argument: step.bundle for step in state.interfaces}
    for piece in nest.pieces:
        called = _named(nest, piece)
        for number, access in enumerate(accessed(piece)):
            if access.array in names:
                array = state.scop.program.array(access.array)
                lanes = max(1, packed_lanes(state.packs, array))
                bits = word_bits(array.dtype)
                own = _subscripts(piece, access)
                indices = tuple((i + _at(i, first)).rename(called) for i in own)
                port = ports.get(access.array, access.array)
                yield Moved(access.array, indices, array.shape, bits, lanes, number == 0, port)


def _subscripts(piece: Piece, access: Access) -> tuple[Affine, ...]:
    """Over the loops of the piece."""
    bindings = dict(piece.bindings)
    return tuple(index.substitute(bindings) for index in access.indices)


def _at(index: Affine, values: Mapping[str, int]) -> int:
    """What its terms come to at these values, the others left out."""
    return sum(c * values[str(v)] for v, c in index.terms if str(v) in values)


def work_of(nest: Nest, program: Program) -> Iterator[tuple[tuple[str, ...], int]]:
    """For each statement its loops, and about the DSP slices of an iteration a cycle."""
    for piece in nest.pieces:
        called = _named(nest, piece)
        target = program.array(piece.statement.stmt.target.array)
        slices = _FLOAT_SLICES if isinstance(target.dtype, FloatType) else _INTEGER_SLICES
        yield tuple(called[name] for name in piece.names[nest.level :]), slices


def chains_of(nest: Nest, program: Program, rows: bool = False) -> Iterator[tuple[str, ...]]:
    """For each sum of floats the loops that it goes over; with ``rows`` a local is one for each iteration of a tile. That
    of a local with few terms is one for each iteration of the loops around it in any case: the terms are unrolled in a
    pipeline of these loops.
    """
    for piece in nest.pieces:
        target = piece.statement.stmt.target
        array = program.array(target.array)
        if isinstance(array.dtype, FloatType) and reduction_access(piece.statement) is not None:
            called = _named(nest, piece)
            moving = {str(v) for index in _subscripts(piece, target) for v in index.variables()}
            if rows and array.storage is Storage.LOCAL:
                moving |= set(nest.loops)
            if _terms(piece, array.scope_depth) <= LONG:
                moving |= set(piece.names[: array.scope_depth])
            own = piece.names[nest.level :]
            yield tuple(called[name] for name in own if name not in moving)


def _terms(piece: Piece, level: int) -> int:
    """Iterations of the loops of a piece from a level on, as far as they are known."""
    ranges = [whole_range([(piece, k)]) for k in range(level, piece.depth)]
    return prod(1 if r is None else r.extent for r in ranges)


def multiples(state: ScheduledScop, nest: Nest) -> list[int]:
    """What tiles of each loop are multiples of, so that they begin with a word of packed arrays."""
    found = [1] * len(nest.loops)
    for piece in nest.pieces:
        for access in accessed(piece):
            lanes = packed_lanes(state.packs, state.scop.program.array(access.array))
            if lanes:
                last = _subscripts(piece, access)[-1].variables()
                for k, name in enumerate(nest.loops):
                    found[k] = max(found[k], lanes if name in last else 1)
    return found
