"""Arrays outside behind several ports, where copying takes longer than computing and the memory passes more than a port.

A port passes a word a cycle, and waits for memory at each row of a tile. Words of 128 bits at 100 MHz are 1.6 GB/s, where the
memory of a Zynq UltraScale+ passes 11; of 512 bits 6.4 GB/s, where a channel of a card passes 13 to 15. So each array is
copied through several pointers to it, by blocks of rows or in turns (`polyhedral.transforms.loops.spread`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import ceil, prod

from backends.deploy.boards import Board
from backends.deploy.choice import ADD
from backends.deploy.nests import chains_of, inner_loops, nests_of, work_of
from backends.deploy.tile_copies import WAIT
from backends.deploy.tiles import Allowance
from dsl.expressions.expr import Access, Scatter, loads
from dsl.programs.program import Program
from dsl.schedules.port_steps import Spread
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Expand, Interface, Pipeline, Step, Tile
from polyhedral.dependences.direct import DepKind, array_dependences
from polyhedral.requests.packed import packed_lanes
from polyhedral.requests.second_pointers import in_sequence
from polyhedral.schedule import begun, tried
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop

_BLOCKS = 2
"""Pointers to an array whose rows are copied in blocks: both write to a memory of two ports in a cycle, whatever its banks."""
ROWS = 4
"""Pointers, at the most, where neighbouring rows take turns, which are in different banks."""
_LARGE = 4
"""Arrays of which so small a part of the cycles of the slowest one passes stay behind one port."""
_ENOUGH = 1.5
"""Words that the memory has to pass in a cycle, at least: else a second port brings little."""


def ports_of(board: Board, clock: float) -> int:
    """Pointers that an array may well have, as tiles are planned for: one where the memory passes no more than a port does at
    a clock of so many ns, two or four as it passes as many words in a cycle.
    """
    passed = board.passed(clock)
    return 1 if passed < _ENOUGH else ROWS if passed >= ROWS else _BLOCKS


def through_more_ports(
    program: Program, schedule: Schedule, board: Board, clock: float, allowed: Allowance
) -> Schedule:
    """The schedule with further pointers to the arrays that limit it; as it is where there are none.

    Args:
        program: the kernel.
        schedule: that a board makes of it (`backends.deploy.outside`): nothing is pipelined but copies.
        board: whose memory it is.
        clock: period in ns.
        allowed: what a design may use.
    """
    if ports_of(board, clock) == 1:
        return schedule
    steps = list(schedule)
    first = next((n for n, s in enumerate(steps) if isinstance(s, Pipeline)), len(steps))
    state = begun(program, steps[:first])
    moved = _moved(program, state)
    slowest = max(moved.values(), default=0.0)
    # With an element for each row sums of rows do not wait for one another.
    rows = any(isinstance(step, Expand) for step in steps)
    if slowest <= _computed(program, allowed, rows):
        return schedule
    large = {array for (array, _), cycles in moved.items() if cycles * _LARGE >= slowest}
    large -= _updating(program)
    ports = {s.argument: s for s in steps if isinstance(s, Interface) and s.mode == "m_axi"}
    tiled = {s.array for s in steps if isinstance(s, Buffer) and s.at}
    bundles = _Bundles(ports, _turns(program, state, steps), tiled, board)
    spread: list[Step] = []
    also: dict[str, tuple[str, ...]] = {}
    for array in sorted(large, key=lambda a: -max(moved.get((a, w), 0.0) for w in (False, True))):
        if array not in ports or ports[array].also:
            continue
        made = _legal(program, state, ports[array], bundles.free(array), board.passed(clock))
        if made is not None:
            state, own = made
            spread += own
            also[array] = bundles.taken_by(array, max(step.ports for step in own) - 1)
    if not also:
        return schedule
    front = [
        replace(s, also=also[s.argument]) if isinstance(s, Interface) and s.argument in also else s
        for s in steps[:first]
    ]
    return Schedule((*front, *spread, *steps[first:]))


def _updating(program: Program) -> set[str]:
    """Arrays whose elements say which element of a table is updated, as of a histogram: no more of them go on in a cycle than
    are in a word in designs with a part of the table for each.
    """
    updates = (stmt.value for stmt in program.statements() if isinstance(stmt.value, Scatter))
    return {access.array for value in updates for access in loads(value)}


def _copying(program: Program, state: ScheduledScop) -> Iterator[tuple[Piece, Access, bool]]:
    """The pieces that copy from or to arrays outside, with the element outside and whether it is written."""
    outside = {s.argument for s in state.interfaces if s.mode == "m_axi"}
    own = {stmt.name for stmt in program.statements()}
    for piece in state.pieces:
        stmt = piece.statement.stmt
        if stmt.span is None and piece.name not in own:
            if stmt.target.array in outside:
                yield piece, stmt.target, True
            for access in loads(stmt.value):
                if access.array in outside:
                    yield piece, access, False


def _moved(program: Program, state: ScheduledScop) -> Mapping[tuple[str, bool], float]:
    """Cycles in which a port passes each array in each direction: its words, and the way to memory for each request."""
    found: dict[tuple[str, bool], float] = defaultdict(float)
    for piece, access, written in _copying(program, state):
        found[access.array, written] += _cycles(state, piece, access)
    return found


def _cycles(state: ScheduledScop, piece: Piece, access: Access) -> float:
    """Those of a copy through one port: single words of rows are asked for in a pipeline."""
    words, burst = _burst(state, piece, access)
    return words * (1 + WAIT / burst) if burst > 1 else words


def _large(
    program: Program, state: ScheduledScop, array: str
) -> tuple[list[tuple[Piece, Access, bool]], list[tuple[Piece, Access, bool]]]:
    """The copies of an array that move much of what its largest one moves; and all."""
    copies = [c for c in _copying(program, state) if c[1].array == array]
    sizes = [_cycles(state, piece, access) for piece, access, _ in copies]
    most = max(sizes, default=0.0)
    return [c for c, size in zip(copies, sizes, strict=True) if size * _LARGE >= most], copies


_Turn = tuple[tuple[int, ...], bool]
"""A nest, as nests follow one another, and whether it writes."""


def _turns(
    program: Program, state: ScheduledScop, steps: Sequence[Step]
) -> Mapping[str, Set[_Turn]]:
    """When each array passes its port, in which direction: tiles of one nest at the same time, those of different nests,
    and of different iterations around, one after the other. Copies of little, as of words at a border, do not count.
    """
    cut = {
        find_loop(state, f"{loop}_0", step)
        for step in steps
        if isinstance(step, Tile)
        for loop in step.loops
    }
    found: dict[str, set[_Turn]] = defaultdict(set)
    arrays = dict.fromkeys(access.array for _, access, _ in _copying(program, state))
    for piece, access, written in (c for a in arrays for c in _large(program, state, a)[0]):
        level = next((k for k, dim in enumerate(piece.dims) if dim.uid in cut), 0)
        found[access.array].add((piece.place[: level + 1], written))
    return found


def _burst(state: ScheduledScop, piece: Piece, access: Access, outer: int = 0) -> tuple[float, int]:
    """The words that a copy passes, and those of a burst in which loops from the level ``outer`` on may go along memory."""
    array = state.scop.program.array(access.array)
    lanes = max(1, packed_lanes(state.packs, array))
    words = [*array.shape[:-1], ceil(array.shape[-1] / lanes)]
    extents = _extents(piece, piece.depth)
    indices = [index.substitute(dict(piece.bindings)) for index in access.indices]
    burst = 1
    for level in reversed(range(outer, piece.depth)):
        name = piece.names[level]
        step = sum(i.coefficient(name) * prod(words[d + 1 :]) for d, i in enumerate(indices[:-1]))
        step += indices[-1].coefficient(name) // lanes
        if step != burst and extents[level] > 1:
            break
        burst *= extents[level]
    return float(prod(extents)), burst


def _computed(program: Program, allowed: Allowance, rows: bool) -> float:
    """Cycles of the kernel's own operations, all in DSP slices, or of the sums of floats that wait for themselves; with
    ``rows`` those of locals have an element for each row.
    """
    slices = waits = 0.0
    for nest in nests_of(begun(program, ())):
        for piece, (_, own) in zip(nest.pieces, work_of(nest, program), strict=True):
            slices += own * prod(_extents(piece, len(piece.dims)))
        extents = {**dict(inner_loops(nest)), **dict(zip(nest.loops, nest.extents, strict=True))}
        chains = chains_of(nest, program, rows)
        sums = (prod(extents.get(name, 1) for name in chain) for chain in chains)
        waits += nest.again * ADD * max(sums, default=0) if not allowed.trees else 0
    return max(slices / max(1, allowed.dsp), waits)


def _extents(piece: Piece, depth: int) -> list[int]:
    """Iterations of the outer loops of a piece, 1 where they are not known."""
    return [r.extent if (r := whole_range([(piece, k)])) else 1 for k in range(depth)]


def _may_be(state: ScheduledScop, port: Interface, ports: int) -> bool:
    """Whether so many pointers are as good as one (`polyhedral.requests.second_pointers`)."""
    return all(
        (d.kind is DepKind.ANTI and bool(port.reads)) or in_sequence(state, d, ports)
        for d in array_dependences(state.scop, port.argument)
    )


_Made = tuple[ScheduledScop, list[Spread]]


def _legal(
    program: Program, state: ScheduledScop, port: Interface, free: int, passed: float
) -> _Made | None:
    """The state with an array through several ports, but for what it copies little of. What one nest writes and another one
    reads may have to go through all of them in both: where the best ways of its copies are none of that, through as many as
    all can be.
    """
    large, copies = _large(program, state, port.argument)
    for some in (large, copies):
        made = _spread(state, some, free, passed)
        if made is not None and _may_be(made[0], port, max(step.ports for step in made[1])):
            return made
    for count in reversed(range(2, min(ROWS, free + 1) + 1)):
        made = _spread(state, copies, count - 1, passed, count)
        if made is not None and _may_be(made[0], port, count):
            return made
    return None


def _spread(
    state: ScheduledScop,
    copies: Sequence[tuple[Piece, Access, bool]],
    free: int,
    passed: float,
    fewest: int = 2,
) -> _Made | None:
    """The state with each of the copies of an array through several ports, at most one more than are free; None where some
    copy cannot be through so many.
    """
    steps: list[Spread] = []
    done: set[tuple[int, ...]] = set()
    for piece, access, _ in copies:
        level = _own_level(state, piece)
        if level is None:
            return None
        if piece.place[: level + 1] in done:
            continue
        every = _ways(state, piece, access, level, free, passed)
        ways = sorted((w for w in every if w[1].ports >= fewest), key=lambda way: way[0])
        made = next(((m, s) for _, s in ways if (m := tried(state, s)) is not None), None)
        if made is None:
            return None
        state = made[0]
        done.add(piece.place[: level + 1])
        steps.append(made[1])
    return (state, steps) if steps else None


def _ways(
    state: ScheduledScop, piece: Piece, access: Access, level: int, free: int, passed: float
) -> Iterator[tuple[float, Spread]]:
    """Blocks of rows, and rows that take turns, each with about the cycles of the copy."""
    ref, extent = f"{piece.name}.{piece.names[level]}", _extents(piece, level + 1)[level]
    words, burst = _burst(state, piece, access)
    if free >= _BLOCKS - 1:
        cycles = words / min(_BLOCKS, passed) + words / burst * WAIT / _BLOCKS
        yield cycles, Spread(ref, _BLOCKS)
    _, row = _burst(state, piece, access, level + 1)
    count = min(ROWS, free + 1, extent)
    if count > 1 and level + 1 < piece.depth:
        again = extent / (ceil(extent / count) * count)  # the last rows leave ports idle
        cycles = (words / min(count, passed) + words / row * WAIT / count) / again
        yield cycles, Spread(ref, count, "cyclic")


def _own_level(state: ScheduledScop, piece: Piece) -> int | None:
    """The outermost loop of a copy, in which nothing else is but what makes its words in the same iterations; None where that
    is the loop over lanes.
    """
    extents = _extents(piece, piece.depth)
    body = max((k for k, extent in enumerate(extents, 1) if extent != 1), default=0)
    for level in (k for k, extent in enumerate(extents) if extent != 1):
        beside = [p for p in state.pieces if p.place[: level + 1] == piece.place[: level + 1]]
        if all(p.name == piece.name or shared_levels(p, piece) >= body for p in beside):
            return level
    return None


class _Bundles:
    """The ports that are left: of a card any number to the channel of an array, beside a processor those that pass no other
    array in the same direction beside it, as those that are copied in tiles.
    """

    def __init__(
        self,
        ports: Mapping[str, Interface],
        turns: Mapping[str, Set[_Turn]],
        tiled: Collection[str],
        board: Board,
    ) -> None:
        self.ports, self.board = ports, board
        self.ways = {a: turns.get(a, frozenset()) for a in ports}
        own = {a: ways for a, ways in self.ways.items() if a in tiled}
        self.taken = {(ports[a].bundle, way) for a, ways in own.items() for way in ways}

    def _left(self, array: str) -> list[str]:
        if self.board.flow.banks:
            return [f"{self.ports[array].bundle}_{n}" for n in range(1, ROWS)]
        every = (f"gmem{n}" for n in range(self.board.ports))
        ways = self.ways[array]
        own = self.ports[array].bundle
        return [b for b in every if b != own and not any((b, w) in self.taken for w in ways)]

    def free(self, array: str) -> int:
        """How many further ports an array may have."""
        return len(self._left(array))

    def taken_by(self, array: str, count: int) -> tuple[str, ...]:
        """So many of them, which are its own then."""
        found = tuple(self._left(array)[:count])
        self.taken |= {(bundle, way) for bundle in found for way in self.ways[array]}
        return found
