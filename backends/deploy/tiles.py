"""Copies that fit on the chip: whole arrays where there is room, else tiles of the loops that the statements of a
nest share.

Each array is copied at the innermost tile loop that it moves with, so that it stays while the others change: with
tiles of i and j in a matrix product a tile of A is read once for each block of i, one of B for each block of i and j.
Of the sizes and orders of tile loops those are taken that move least (`backends.deploy.choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import inf

from backends.deploy.block_rows import in_block_rows
from backends.deploy.choice import Choice, Tileable, choices
from backends.deploy.nests import (
    Nest,
    accesses,
    chains_of,
    inner_loops,
    multiples,
    nests_inside,
    nests_of,
    work_of,
)
from backends.deploy.rooms import bits_of, is_small
from backends.deploy.rows import in_rows
from backends.deploy.tile_copies import Moved, moves_with
from backends.deploy.word_stores import WordStore, stored_in_words, word_stores
from dsl.programs.program import Program, Storage
from dsl.schedules.steps import Buffer, Distribute, Fuse, Reorder, Step, Tile
from polyhedral.requests.second_pointers import reads_again
from polyhedral.schedule import begun, tried
from polyhedral.scop.ranges import Interval
from polyhedral.scop.scheduled import ScheduledScop

_TRIES = 12
_BETTER = 0.8
"""Times the cycles of other tiles, that those of statements in nests of their own are expected to take at most."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What designs may use.

    Attributes:
        dsp: slices.
        trees: sums of floats may be added in any order.
        rows: locals may have an element for each iteration of a tile.
        beside: nests inside of a loop may be tiled where statements stand in that loop alone, too: arrays pass again in
            each of its iterations.
        room: share of what there is for copies.
        words: arrays that are written across the rows of what is read may be stored in words from registers.
        ports: to memory that an array may be behind; rows of a tile can take turns at them.
    """

    dsp: int
    trees: bool = False
    rows: bool = False
    beside: bool = False
    room: float = 1.0
    words: bool = False
    ports: int = 1


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
    small = [name for name in given if is_small(program.array(name), room)]
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
    return _best_tiled(begun(program, first), names, room, allowed, several=True)


def _best_tiled(
    state: ScheduledScop,
    large: Mapping[str, str],
    room: int,
    allowed: Allowance,
    several: bool = False,
) -> tuple[Step, ...] | None:
    """The steps that tile each nest: as written, or with neighbours in one nest, whichever is expected to be faster;
    where neither can be, or sums of floats in order wait for themselves for longer, with statements in nests of their own, and at last the nests inside of sweeps over time, again
    in each of them. Of ``several`` tiles somewhere, if that is asked.
    """
    joined = _merged(state)
    ways = [(state, ()), joined] if joined[1] else [(state, ())]
    found: list[tuple[_Tiled, tuple[Step, ...]]] = []
    apart = _distributed(state)
    # Beside statements that stand in a loop alone nests are tiled where whole ones have been tried.
    for sweeps in (True,) if allowed.beside else (False, True):
        for those in (ways, _each_once(apart, _passing_together(*apart))):
            if not found or (those is not ways and apart[1] and _adds_in_order(state, allowed)):
                made = [
                    (_all_tiled(at, large, room, allowed, sweeps), before) for at, before in those
                ]
                least = min((all_.cycles for all_, _ in found), default=inf)
                found += [(a, b) for a, b in made if a is not None and a.cycles < _BETTER * least]
    if several:
        found = [one for one in found if any(isinstance(s, Buffer) and s.at for s in one[0].steps)]
    if not found:
        return None
    best, before = min(found, key=lambda one: one[0].cycles)
    return (*before, *best.steps)


def _adds_in_order(state: ScheduledScop, allowed: Allowance) -> bool:
    """Whether there are sums of floats whose terms wait for each other."""
    program = state.scop.program
    nests = () if allowed.trees else nests_of(state)
    return any(True for nest in nests for _ in chains_of(nest, program))


@dataclass(frozen=True, slots=True)
class _Tiled:
    """Steps that tile nests, and the cycles that are expected of these."""

    steps: tuple[Step, ...]
    cycles: float


def _all_tiled(
    state: ScheduledScop,
    large: Mapping[str, str],
    room: int,
    allowed: Allowance,
    sweeps: bool = False,
) -> _Tiled | None:
    """The steps that tile each nest which uses large arrays; None where one cannot be.

    With ``sweeps`` of one that cannot be the nests inside of its outermost loop.
    """
    nests = [nest for nest in nests_of(state) if any(accesses(state, nest, large))]
    steps: list[Step] = []
    cycles = 0.0
    number, left = 1, room
    while nests:
        nest = nests.pop(0)
        called = {a: copy if number == 1 else f"{copy}_{number}" for a, copy in large.items()}
        share = left // (1 + len(nests))
        found = _tiled(state, nest, called, share, allowed)
        if found is None and not sweeps:
            found = _eliminated(state, nest, called, share)
        if found is None:
            inside = nests_inside(nest, allowed.beside) if sweeps else []
            if not inside:
                return None
            nests = [*(one for one in inside if any(accesses(state, one, large))), *nests]
            continue
        number, left = number + 1, left - share
        state, more = found
        steps += more.steps
        cycles += more.cycles * nest.again
        # What is copied as a whole is so for all nests: another copy would be one of the copy.
        whole = {s.array for s in more.steps if isinstance(s, Buffer) and not s.at}
        large = {array: copy for array, copy in large.items() if array not in whole}
        nests = [one for one in nests if any(accesses(state, one, large))]
    return _Tiled(tuple(steps), cycles)


def _eliminated(
    state: ScheduledScop, nest: Nest, names: Mapping[str, str], room: int
) -> tuple[ScheduledScop, _Tiled] | None:
    """The nest in blocks of rows, if it is an elimination in place: what it takes is not compared with other ways."""
    made = in_block_rows(state, nest, names, room)
    return None if made is None else (made[0], _Tiled(made[1], 0.0))


_Ranges = tuple[Interval, ...]
_Way = tuple[ScheduledScop, tuple[Step, ...]]


def _each_once(one: _Way, other: _Way) -> list[_Way]:
    """Two ways to regroup statements; one of them where both are the same."""
    return [one] if one[1] == other[1] else [one, other]


def _merged(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Neighbouring nests with one outermost loop, where that is legal: what one writes of a tile the next one reads."""
    return _fused(state, lambda nest: nest.ranges[:1])


def _passing_together(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Neighbouring nests of the same loops as one, where that is legal: what both read is copied once."""

    def all_loops(nest: Nest) -> _Ranges:
        copying = any(piece.statement.stmt.span is None for piece in nest.pieces)
        return () if copying else nest.ranges

    state, steps = _fused(state, all_loops)
    return state, (*before, *steps)


def _fused(
    state: ScheduledScop, shared: Callable[[Nest], _Ranges]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Neighbouring nests that are alike in some outer loops with these loops as one, where that is legal."""
    steps: list[Step] = []
    nests = list(nests_of(state))
    head = 0
    for k, nest in enumerate(nests[1:], 1):
        moved = None
        loops = shared(nest)
        if loops == shared(nests[head]) != ():
            step = Fuse((nests[head].statements[0], nest.statements[0]), len(loops))
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


def _tiled(
    state: ScheduledScop, nest: Nest, names: Mapping[str, str], room: int, allowed: Allowance
) -> tuple[ScheduledScop, _Tiled] | None:
    """The nest in the tiles that move least, of those that are legal and whose copies fit; None where there are
    none.
    """
    if not nest.loops:
        return None
    inner = dict(inner_loops(nest))
    moved = list(accesses(state, nest, names))
    every, chains = multiples(state, nest), list(chains_of(nest, state.scop.program, allowed.rows))
    work = list(work_of(nest, state.scop.program))
    stores = word_stores(state, nest, names) if allowed.words else {}
    tiled = Tileable(nest.loops, nest.extents, every, inner, moved, work, chains, allowed.trees,
                     registers=frozenset(stores), ports=allowed.ports)  # fmt: skip
    while True:
        refused: set[str] = set()
        narrow: tuple[ScheduledScop, _Tiled] | None = None
        for choice in choices(tiled, allowed.dsp, room)[:_TRIES]:
            made = _made(state, nest, choice, moved, names, refused, tiled.registers)
            made = _stored(made, nest, stores, names)
            if refused - tiled.in_turn:
                break  # it was planned with what cannot be
            if made is None:
                continue
            after, steps = made
            copied = [a for a in after.scop.program.arrays if a.name in names.values()]
            if sum(map(bits_of, copied)) > room:
                continue
            # Copies of tiles that overlap are there twice.
            left = room - max(choice.bits, sum(map(bits_of, copied)))
            after, wider, all_ = _in_rows(after, nest, left) if allowed.rows else (after, (), True)
            after, apart = _told_apart(after, nest)
            best = after, _Tiled((*steps, *wider, *apart), choice.cycles)
            if all_:
                return best
            narrow = narrow or best
        if narrow is not None:
            return narrow  # no tile leaves room for all locals
        if refused <= tiled.in_turn:
            return None
        tiled = replace(tiled, in_turn=tiled.in_turn | refused)


def _in_rows(
    state: ScheduledScop, nest: Nest, left: int
) -> tuple[ScheduledScop, tuple[Step, ...], bool]:
    """The nest in tiles with an element of its locals for each iteration of the tile; and whether all of them have one."""
    level = nest.level + len(nest.loops)
    return in_rows(state, _own(state, nest.statements[0], nest.level), level, len(nest.loops), left)


def _made(
    state: ScheduledScop,
    nest: Nest,
    choice: Choice,
    moved: Sequence[Moved],
    names: Mapping[str, str],
    refused: set[str],
    registers: Set[str],
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The nest with its tiles, copies and statements apart inside of them. ``refused`` gets the arrays that are copied in
    and out, and cannot be so apart as the choice wants it; those in ``registers`` have no copies of tiles.
    """
    head = nest.statements[0]
    steps: list[Step] = [
        Tile(tuple(f"{head}.{name}" for name in nest.loops), choice.sizes, tail="guard")
    ]
    if choice.order != tuple(range(len(nest.loops))):
        steps.append(Reorder(tuple(f"{head}.{nest.loops[k]}_0" for k in choice.order)))
    made = tried(state, *steps)
    # Loops of one tile are no place for copies, which would be further in than they have to be.
    several = [k for k in choice.order if choice.sizes[k] < nest.extents[k]]
    places: dict[str, int] = {}
    for one in [one for one in moved if one.array not in registers]:
        if one.array in choice.whole:
            places[one.array] = -1
            continue
        levels = [n for n, k in enumerate(several) if moves_with(one, nest.loops[k])]
        places[one.array] = max(places.get(one.array, -1), *levels, -1)
    around = f"{head}.{nest.pieces[0].names[nest.level - 1]}" if nest.level else ""
    # The innermost copies first: those further out are around them.
    for array, place in sorted(places.items(), key=lambda pair: -pair[1]):
        at = f"{head}.{nest.loops[several[place]]}_0" if place >= 0 else around
        if made is None:
            return None
        before = made
        made, copy = _buffered(made, Buffer(array, at, names[array]), array in choice.apart)
        steps.append(copy)
        if array in choice.apart and not copy.apart and made is not None:
            both = len(made.scop.statements) - len(before.scop.statements) > 1
            refused |= {array} if both else set()
    return None if made is None else (made, tuple(steps))


def _stored(
    made: tuple[ScheduledScop, tuple[Step, ...]] | None,
    nest: Nest,
    stores: Mapping[str, WordStore],
    names: Mapping[str, str],
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The nest in tiles with what is stored in words; None where that is not legal."""
    for array, store in stores.items():
        if made is None:
            return None
        after = stored_in_words(made[0], nest, store, Buffer(array, name=names[array]))
        made = None if after is None else (after[0], (*made[1], *after[1]))
    return made


def _told_apart(made: ScheduledScop, nest: Nest) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The nest in tiles with its statements in nests of their own, as far as that is legal."""
    steps: list[Step] = []
    inside = nest.level + len(nest.loops)
    for name in _own(made, nest.statements[0], nest.level)[1:]:
        # A local that has no element for each iteration of a tile keeps its statements in loops of it, maybe in all.
        for depth in range(inside, inside + len(nest.loops) + 1):
            after = tried(made, alone := Distribute((name,), depth))
            if after is not None:
                made = after
                steps.append(alone)
                break
    return made, tuple(steps)


def _own(state: ScheduledScop, head: str, level: int) -> list[str]:
    """The statements of a nest in order, without those that copy: what stands under several conditions is several."""
    first = state.of_statement(head)[0].place[: level + 1]
    pieces = [p for p in state.pieces if p.place[: level + 1] == first]
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
        if made is not None and reads_again(made, step.array) is None:
            return made, apart
    return tried(state, step), step
