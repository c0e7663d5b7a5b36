"""Copies that fit on the chip: whole arrays where there is room, else tiles of the loops that the statements of a
nest share.

Each array is copied at the innermost tile loop that it moves with, so that it stays while the others change: with
tiles of i and j in a matrix product a tile of A is read once for each block of i, one of B for each block of i and j.
Of the sizes and orders of tile loops those are taken that move least (`backends.deploy.choice`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from backends.deploy.boards import Board
from backends.deploy.choice import Choice, Tileable, choices
from backends.deploy.tile_copies import Moved
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, loads
from dsl.expressions.types import FloatType
from dsl.programs.program import Array, Program, Storage
from dsl.schedules.steps import Buffer, Distribute, Fuse, Reorder, Step, Tile
from polyhedral.requests.outside import word_bits
from polyhedral.requests.packed import packed_lanes
from polyhedral.requests.second_pointers import reads_again
from polyhedral.schedule import begun, tried
from polyhedral.scop.ranges import Interval, constant_interval, whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.scop.scop import reduction_access

_BRAM18 = 18 * 1024  # bits
_ROOM = 0.4
"""Of the block RAM, for copies: banks are rounded up to whole memories, mostly to twice as much."""
_SMALL = 8  # arrays of so small a part of that are copied whole, whatever else is there
_FLOAT_SLICES = 5  # of a multiply-add of f32
_INTEGER_SLICES = 1
_BAND = 3  # loops that are tiled
_TRIES = 12


def chip_room(board: Board) -> int:
    """Bits of the block RAM for copies, and for locals that are on the chip."""
    return round(_ROOM * block_ram(board))


def block_ram(board: Board) -> int:
    """Bits of all of it."""
    return board.device.bram18 * _BRAM18


@dataclass(frozen=True, slots=True)
class Allowance:
    """What designs may use.

    Attributes:
        dsp: slices.
        trees: sums of floats may be added in any order.
    """

    dsp: int
    trees: bool = False


def copies(
    program: Program, first: Sequence[Step], names: Mapping[str, str], room: int, allowed: Allowance
) -> tuple[Step, ...] | None:
    """The steps that copy arrays to the chip; None where they do not fit, and loops cannot be tiled.

    Args:
        program: the kernel.
        first: steps in front, which do not change loops.
        names: of the copies by the arrays. Of a local that is outside, tiles alone are copied: were there room
            for the whole of it, it would be on the chip.
        room: bits for copies.
        allowed: what designs may use beside.
    """
    sizes = {name: bits_of(program.array(name)) for name in names}
    given = [name for name in names if program.array(name).storage is Storage.ARGUMENT]
    if sum(sizes.values()) <= room and len(given) == len(names):
        return tuple(Buffer(array, name=copy) for array, copy in names.items())
    small = [name for name in given if sizes[name] <= room // _SMALL]
    left = room - sum(sizes[name] for name in small)
    steps = tuple(Buffer(name, name=names[name]) for name in small)
    state = begun(program, (*first, *steps))
    large = {name: copy for name, copy in names.items() if name not in small}
    found = _best_tiled(state, large, left, allowed)
    return None if found is None else (*steps, *found)


def tiles_of_what_fits(
    program: Program, first: Sequence[Step], names: Mapping[str, str], room: int, allowed: Allowance
) -> tuple[Step, ...] | None:
    """The steps that copy arrays in tiles where copies of all of them fit: a tile is copied while another one is worked
    on. None where all does not fit, or one tile is expected to be as fast. See `copies`.
    """
    arrays = [program.array(name) for name in names]
    if sum(map(bits_of, arrays)) > room or any(a.storage is not Storage.ARGUMENT for a in arrays):
        return None
    found = _best_tiled(begun(program, first), names, room, allowed)
    tiled = any(isinstance(step, Buffer) and step.at for step in found or ())
    return found if tiled else None


def _best_tiled(
    state: ScheduledScop, large: Mapping[str, str], room: int, allowed: Allowance
) -> tuple[Step, ...] | None:
    """The steps that tile each nest: as written, or with neighbours in one nest, whichever is expected to be faster;
    where neither can be, with statements in nests of their own.
    """
    joined = _merged(state)
    ways = [(state, ()), joined] if joined[1] else [(state, ())]
    found = [
        (all_, before) for at, before in ways if (all_ := _all_tiled(at, large, room, allowed))
    ]
    if not found:
        at, before = _distributed(state)
        found = [(all_, before)] if (all_ := _all_tiled(at, large, room, allowed)) else []
    if not found:
        return None
    best, before = min(found, key=lambda one: one[0].cycles)
    return (*before, *best.steps)


@dataclass(frozen=True, slots=True)
class _Tiled:
    """Steps that tile nests, and the cycles that are expected of these."""

    steps: tuple[Step, ...]
    cycles: float


def _all_tiled(
    state: ScheduledScop, large: Mapping[str, str], room: int, allowed: Allowance
) -> _Tiled | None:
    """The steps that tile each nest which uses large arrays; None where one cannot be."""
    nests = [nest for nest in _nests(state) if _moves(nest, large)]
    steps: list[Step] = []
    cycles = 0.0
    for number, nest in enumerate(nests):
        called = {a: copy if number == 0 else f"{copy}_{number + 1}" for a, copy in large.items()}
        found = _tiled(state, nest, called, room // len(nests), allowed)
        if found is None:
            return None
        state, more = found
        steps += more.steps
        cycles += more.cycles
    return _Tiled(tuple(steps), cycles)


def _merged(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Neighbouring nests with one outermost loop, where that is legal: what one writes of a tile the next one reads."""
    steps: list[Step] = []
    nests = list(_nests(state))
    head = 0
    for k, nest in enumerate(nests[1:], 1):
        moved = None
        if nest.ranges[:1] == nests[head].ranges[:1] != ():
            step = Fuse((nests[head].statements[0], nest.statements[0]), 1)
            moved = tried(state, step)
        if moved is None:
            head = k
            continue
        state = moved
        steps.append(step)
    return state, tuple(steps)


def _distributed(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Statements in nests of their own, as far as that is legal."""
    steps: list[Step] = []
    for name in [s.name for s in state.scop.statements]:
        if (moved := tried(state, apart := Distribute((name,)))) is not None:
            state = moved
            steps.append(apart)
    return state, tuple(steps)


def bits_of(array: Array) -> int:
    """What an array takes in memory."""
    return prod(array.shape) * word_bits(array.dtype)


@dataclass(frozen=True, slots=True)
class _Nest:
    """The statements of an outermost loop, and the loops that all of them share, with their iterations."""

    statements: tuple[str, ...]
    loops: tuple[str, ...]
    ranges: tuple[Interval, ...]
    pieces: tuple[Piece, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """How many iterations each loop has."""
        return tuple(interval.extent for interval in self.ranges)


def _nests(state: ScheduledScop) -> Iterator[_Nest]:
    by: dict[object, list[Piece]] = {}
    for piece in state.pieces:
        if piece.dims:
            by.setdefault(piece.place[0], []).append(piece)
    for pieces in by.values():
        first = pieces[0]
        loops: list[str] = []
        ranges: list[Interval] = []
        for level in range(min(_BAND, *(len(p.dims) for p in (first, *pieces)))):
            shared = all(p.place[: level + 1] == first.place[: level + 1] for p in pieces)
            iterations = whole_range([(p, level) for p in pieces])
            if not shared or iterations is None or constant_interval(first, level) is None:
                break
            loops.append(first.dims[level].name)
            ranges.append(iterations)
        yield _Nest(tuple(p.name for p in pieces), tuple(loops), tuple(ranges), tuple(pieces))


def accessed(piece: Piece) -> tuple[Access, ...]:
    """What the statement assigns, then what it reads."""
    stmt = piece.statement.stmt
    return (stmt.target, *loads(stmt.value))


def _moves(nest: _Nest, names: Mapping[str, str]) -> dict[str, list[int]]:
    """The arrays of a nest, and the levels of its loops that each moves with, outermost first."""
    found: dict[str, set[str]] = {}
    for piece in nest.pieces:
        for access in accessed(piece):
            if access.array in names:
                variables = found.setdefault(access.array, set())
                own = _subscripts(piece, access)
                variables |= {name for index in own for name in index.variables()}
    return {
        array: [k for k, name in enumerate(nest.loops) if name in variables]
        for array, variables in found.items()
    }


def _tiled(
    state: ScheduledScop, nest: _Nest, names: Mapping[str, str], room: int, allowed: Allowance
) -> tuple[ScheduledScop, _Tiled] | None:
    """The nest in the tiles that move least, of those that are legal and whose copies fit; None where there are
    none.
    """
    if not nest.loops:
        return None
    inner = dict(_inner(nest))
    moved = list(_moved(state, nest, names))
    every, chains = _words(state, nest), list(_chains(nest, state.scop.program))
    work = list(_work(nest, state.scop.program))
    tiled = Tileable(nest.loops, nest.extents, every, inner, moved, work, chains, allowed.trees)
    for choice in choices(tiled, allowed.dsp, room)[:_TRIES]:
        made = _made(state, nest, choice, names)
        if made is not None:
            after, steps = made
            copied = [a for a in after.scop.program.arrays if a.name in names.values()]
            if sum(map(bits_of, copied)) <= room:
                return after, _Tiled(steps, choice.cycles)
    return None


def _inner(nest: _Nest) -> Iterator[tuple[str, int]]:
    """The loops further in, as `_named` has them, and their extents."""
    for piece in nest.pieces:
        names = _named(nest, piece)
        for level, dim in enumerate(piece.dims):
            iterations = whole_range([(piece, level)])
            if dim.name not in nest.loops and iterations is not None:
                yield names[dim.name], iterations.extent


def _named(nest: _Nest, piece: Piece) -> dict[str, str]:
    """Names for the loops of a statement: those of one name further in may be several, of other extents."""
    found = {}
    for level, dim in enumerate(piece.dims):
        iterations = None if dim.name in nest.loops else whole_range([(piece, level)])
        found[dim.name] = f"{dim.name}:{iterations.extent}" if iterations else dim.name
    return found


def _moved(state: ScheduledScop, nest: _Nest, names: Mapping[str, str]) -> Iterator[Moved]:
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


def _work(nest: _Nest, program: Program) -> Iterator[tuple[tuple[str, ...], int]]:
    """For each statement its loops, and about the DSP slices of an iteration a cycle."""
    for piece in nest.pieces:
        called = _named(nest, piece)
        target = program.array(piece.statement.stmt.target.array)
        slices = _FLOAT_SLICES if isinstance(target.dtype, FloatType) else _INTEGER_SLICES
        yield tuple(called[name] for name in piece.names), slices


def _chains(nest: _Nest, program: Program) -> Iterator[tuple[str, ...]]:
    """For each sum of floats the loops that it goes over."""
    for piece in nest.pieces:
        target = piece.statement.stmt.target
        if isinstance(program.array(target.array).dtype, FloatType) and (
            reduction_access(piece.statement) is not None
        ):
            called = _named(nest, piece)
            moving = {str(v) for index in _subscripts(piece, target) for v in index.variables()}
            yield tuple(called[name] for name in piece.names if name not in moving)


def _words(state: ScheduledScop, nest: _Nest) -> list[int]:
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


def _made(
    state: ScheduledScop, nest: _Nest, choice: Choice, names: Mapping[str, str]
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The nest with its tiles, copies and statements apart inside of them."""
    head = nest.statements[0]
    steps: list[Step] = [
        Tile(tuple(f"{head}.{name}" for name in nest.loops), choice.sizes, tail="guard")
    ]
    if choice.order != tuple(range(len(nest.loops))):
        steps.append(Reorder(tuple(f"{head}.{nest.loops[k]}_0" for k in choice.order)))
    made = tried(state, *steps)
    # Loops of one tile are no place for copies, which would be further in than they have to be.
    several = [k for k in choice.order if choice.sizes[k] < nest.extents[k]]
    places = {
        array: max((several.index(k) for k in levels if k in several), default=-1)
        if array not in choice.whole
        else -1
        for array, levels in _moves(nest, names).items()
    }
    # The innermost copies first: those further out are around them.
    for array, place in sorted(places.items(), key=lambda pair: -pair[1]):
        at = f"{head}.{nest.loops[several[place]]}_0" if place >= 0 else ""
        copy = Buffer(array, at, names[array])
        if made is None:
            return None
        made, copy = _buffered(made, copy, array in choice.apart)
        steps.append(copy)
    if made is None:
        return None
    for name in _own(made, head)[1:]:
        if (moved := tried(made, alone := Distribute((name,), len(nest.loops)))) is not None:
            made = moved
            steps.append(alone)
    return made, tuple(steps)


def _own(state: ScheduledScop, head: str) -> list[str]:
    """The statements of a nest in order, without those that copy: what stands under several conditions is several."""
    first = state.of_statement(head)[0].place[:1]
    pieces = [p for p in state.pieces if p.place[:1] == first]
    return list(dict.fromkeys(p.name for p in pieces if p.statement.stmt.span is not None))


def _buffered(
    state: ScheduledScop, step: Buffer, alone: bool
) -> tuple[ScheduledScop | None, Buffer]:
    """The state with a copy: where that is asked apart from what is copied in, if it is copied in and out, and no
    tile reads what another one has written.
    """
    if alone:
        apart = replace(step, apart=True)
        made = tried(state, apart)
        if made is not None and reads_again(made.scop, step.array) is None:
            return made, apart
    return tried(state, step), step
