"""Copies that fit on the chip: whole arrays where there is room, else tiles of the loops that the statements of a
nest share.

Each array is copied at the innermost tile loop that it moves with, so that it stays while the others change: with
tiles of i and j in a matrix product a tile of A is read once for each block of i, one of B for each block of i and j.
Tiles are as large as fit: what is read again from outside grows as they shrink.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from backends.deploy.boards import Board
from dsl.expressions.expr import Access, loads
from dsl.programs.program import Array, Program
from dsl.schedules.steps import Buffer, Distribute, Step, Tile
from polyhedral.requests.outside import word_bits
from polyhedral.requests.packed import packed_lanes
from polyhedral.schedule import begun, tried
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import Piece, ScheduledScop

_BRAM18 = 18 * 1024  # bits
_ROOM = 0.4
"""Of the block RAM, for copies: banks are rounded up to whole memories, mostly to twice as much."""
_SMALL = 8  # arrays of so small a part of that are copied whole, whatever else is there
_BAND = 3  # loops that are tiled
_LEAST = 4  # iterations of a tile
_TRIES = 40


def copies(
    program: Program, first: Sequence[Step], names: Mapping[str, str], board: Board
) -> tuple[Step, ...] | None:
    """The steps that copy arrays to the chip; None where they do not fit, and loops cannot be tiled.

    Args:
        program: the kernel.
        first: steps in front, which do not change loops.
        names: of the copies by the arrays.
        board: whose chip it is.
    """
    room = round(_ROOM * board.device.bram18 * _BRAM18)
    sizes = {name: _bits(program.array(name)) for name in names}
    whole = tuple(Buffer(array, name=copy) for array, copy in names.items())
    if sum(sizes.values()) <= room:
        return whole
    small = [name for name, bits in sizes.items() if bits <= room // _SMALL]
    left = room - sum(sizes[name] for name in small)
    steps = tuple(Buffer(name, name=names[name]) for name in small)
    state = begun(program, (*first, *steps))
    large = {name: copy for name, copy in names.items() if name not in small}
    for at, apart in ((state, ()), _distributed(state)):
        found = _all_tiled(at, large, left)
        if found is not None:
            return (*steps, *apart, *found)
    return None


def _all_tiled(
    state: ScheduledScop, large: Mapping[str, str], room: int
) -> tuple[Step, ...] | None:
    """The steps that tile each nest which uses large arrays; None where one cannot be."""
    nests = [nest for nest in _nests(state) if _moves(nest, large)]
    steps: list[Step] = []
    for number, nest in enumerate(nests):
        called = {a: copy if number == 0 else f"{copy}_{number + 1}" for a, copy in large.items()}
        found = _tiled(state, nest, called, room // len(nests))
        if found is None:
            return None
        state, more = found
        steps += more
    return tuple(steps)


def _distributed(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Statements in nests of their own, as far as that is legal."""
    steps: list[Step] = []
    for name in [s.name for s in state.scop.statements]:
        if (moved := tried(state, apart := Distribute((name,)))) is not None:
            state = moved
            steps.append(apart)
    return state, tuple(steps)


def _bits(array: Array) -> int:
    return prod(array.shape) * word_bits(array.dtype)


@dataclass(frozen=True, slots=True)
class _Nest:
    """The statements of an outermost loop, and the loops that all of them share, with their extents."""

    statements: tuple[str, ...]
    loops: tuple[str, ...]
    extents: tuple[int, ...]
    pieces: tuple[Piece, ...]


def _nests(state: ScheduledScop) -> Iterator[_Nest]:
    by: dict[object, list[Piece]] = {}
    for piece in state.pieces:
        if piece.dims:
            by.setdefault(piece.place[0], []).append(piece)
    for pieces in by.values():
        first = pieces[0]
        loops: list[str] = []
        extents: list[int] = []
        for level in range(min(_BAND, *(len(p.dims) for p in (first, *pieces)))):
            shared = all(p.place[: level + 1] == first.place[: level + 1] for p in pieces)
            interval = constant_interval(first, level)
            if not shared or interval is None:
                break
            loops.append(first.dims[level].name)
            extents.append(interval.extent)
        yield _Nest(tuple(p.name for p in pieces), tuple(loops), tuple(extents), tuple(pieces))


def _accesses(piece: Piece) -> tuple[Access, ...]:
    stmt = piece.statement.stmt
    return (stmt.target, *loads(stmt.value))


def _moves(nest: _Nest, names: Mapping[str, str]) -> dict[str, list[int]]:
    """The arrays of a nest, and the levels of its loops that each moves with, outermost first."""
    found: dict[str, set[str]] = {}
    for piece in nest.pieces:
        for access in _accesses(piece):
            if access.array in names:
                variables = found.setdefault(access.array, set())
                variables |= {name for index in access.indices for name in index.variables()}
    return {
        array: [k for k, name in enumerate(nest.loops) if name in variables]
        for array, variables in found.items()
    }


def _tiled(
    state: ScheduledScop, nest: _Nest, names: Mapping[str, str], room: int
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The nest in the largest tiles whose copies fit; None where there is no loop to tile."""
    tiles = list(nest.extents)
    every = _words(state, nest)
    for _ in range(_TRIES if tiles else 0):
        made = _made(state, nest, tiles, names)
        if made is None:
            return None
        after, steps = made
        sizes = {
            array.name: _bits(array)
            for array in after.scop.program.arrays
            if array.name in names.values()
        }
        if sum(sizes.values()) <= room:
            return after, steps
        if not _smaller(nest, tiles, names, sizes, every):
            return None
    return None


def _smaller(
    nest: _Nest,
    tiles: list[int],
    names: Mapping[str, str],
    sizes: Mapping[str, int],
    every: Sequence[int],
) -> bool:
    """Halve the longest tile that the largest copy moves with; false where none is left."""
    moves = _moves(nest, names)
    for array in sorted(moves, key=lambda a: -sizes.get(names[a], 0)):
        levels = [k for k in moves[array] if tiles[k] > max(_LEAST, every[k])]
        if levels:
            level = max(levels, key=lambda k: tiles[k])
            tiles[level] = _shorter(nest.extents[level], tiles[level], every[level])
            return True
    return False


def _words(state: ScheduledScop, nest: _Nest) -> list[int]:
    """What tiles of each loop are multiples of, so that they begin with a word of packed arrays."""
    found = [1] * len(nest.loops)
    for piece in nest.pieces:
        for access in _accesses(piece):
            lanes = packed_lanes(state.packs, state.scop.program.array(access.array))
            if lanes:
                last = access.indices[-1].variables()
                for k, name in enumerate(nest.loops):
                    found[k] = max(found[k], lanes if name in last else 1)
    return found


def _shorter(extent: int, tile: int, every: int) -> int:
    """About half of a tile, of whole words: a divisor of the extent if there is one not much smaller."""
    least = max(_LEAST, every)
    half = max(least, -(-tile // (2 * every)) * every)
    near = [n for n in range(max(least, half // 2), half + 1) if extent % n == 0 and n % every == 0]
    return near[-1] if near else half


def _made(
    state: ScheduledScop, nest: _Nest, tiles: Sequence[int], names: Mapping[str, str]
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The nest with its tiles, copies and statements apart inside of them."""
    head = nest.statements[0]
    steps: list[Step] = [
        Tile(tuple(f"{head}.{name}" for name in nest.loops), tuple(tiles), tail="guard")
    ]
    # The innermost copies first: those further out are around them.
    innermost = {array: max(levels, default=-1) for array, levels in _moves(nest, names).items()}
    for array, level in sorted(innermost.items(), key=lambda pair: -pair[1]):
        at = f"{head}.{nest.loops[level]}_0" if level >= 0 else ""
        steps.append(Buffer(array, at, names[array]))
    made = tried(state, *steps)
    if made is None:
        return None
    for name in nest.statements[1:]:
        if (moved := tried(made, apart := Distribute((name,), len(nest.loops)))) is not None:
            made = moved
            steps.append(apart)
    return made, tuple(steps)
