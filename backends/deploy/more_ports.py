"""Arrays outside behind several ports, where copying takes longer than computing and the memory passes more than a port.

A port passes a word a cycle, and waits for memory at each row of a tile. Words of 128 bits at 100 MHz are 1.6 GB/s, where the
memory of a Zynq UltraScale+ passes 11; of 512 bits 6.4 GB/s, where a channel of a card passes 13 to 15. So each array is
copied by blocks of rows, half of them through a second pointer to it (`polyhedral.transforms.loops.spread`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, prod

from backends.deploy.boards import Board
from backends.deploy.choice import ADD
from backends.deploy.nests import chains_of, inner_loops, nests_of, work_of
from backends.deploy.tile_copies import WAIT
from backends.deploy.tiles import Allowance
from dsl.expressions.expr import Access, loads
from dsl.programs.program import Program
from dsl.schedules.port_steps import Spread
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Interface, Pipeline, Step
from polyhedral.dependences.direct import DepKind, array_dependences
from polyhedral.requests.packed import packed_lanes
from polyhedral.schedule import begun, tried
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop

_PORTS = 2
"""Pointers to an array: both are written to a memory of two ports in a cycle, whatever its banks."""
_LARGE = 4
"""Arrays of which so small a part of the cycles of the slowest one passes stay behind one port."""
_ENOUGH = 1.5
"""Words that the memory has to pass in a cycle, at least: else a second port brings little."""


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
    if board.passed(clock) < _ENOUGH:
        return schedule
    steps = list(schedule)
    first = next((n for n, s in enumerate(steps) if isinstance(s, Pipeline)), len(steps))
    state = begun(program, steps[:first])
    moved = _moved(program, state)
    slowest = max(moved.values(), default=0.0)
    if slowest <= _computed(program, allowed):
        return schedule
    large = {array for (array, _), cycles in moved.items() if cycles * _LARGE >= slowest}
    ports = {s.argument: s for s in steps if isinstance(s, Interface) and s.mode == "m_axi"}
    spread: dict[str, list[Step]] = {}
    for array in sorted(large, key=lambda a: -max(moved.get((a, w), 0.0) for w in (False, True))):
        if array in ports and _may_be(state, ports[array]) and not ports[array].also:
            made = _spread(program, state, array)
            if made is not None:
                state, spread[array] = made
    also = dict(_bundles(ports, moved, list(spread), board))
    if not also:
        return schedule
    front = [
        replace(s, also=also[s.argument]) if isinstance(s, Interface) and s.argument in also else s
        for s in steps[:first]
    ]
    cut = [step for array, own in spread.items() if array in also for step in own]
    return Schedule((*front, *cut, *steps[first:]))


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
        array = state.scop.program.array(access.array)
        lanes = max(1, packed_lanes(state.packs, array))
        words = [*array.shape[:-1], ceil(array.shape[-1] / lanes)]
        extents = _extents(piece, piece.depth)
        total = float(prod(extents))
        burst = 1
        indices = [index.substitute(dict(piece.bindings)) for index in access.indices]
        for name, extent in zip(
            reversed(piece.names[: piece.depth]), reversed(extents), strict=True
        ):
            step = sum(
                i.coefficient(name) * prod(words[d + 1 :]) for d, i in enumerate(indices[:-1])
            )
            step += indices[-1].coefficient(name) // lanes
            if step != burst:
                break
            burst *= extent
        found[access.array, written] += total + total / burst * WAIT
    return found


def _computed(program: Program, allowed: Allowance) -> float:
    """Cycles of the kernel's own operations, all in DSP slices, or of the sums of floats that wait for themselves."""
    slices = waits = 0.0
    for nest in nests_of(begun(program, ())):
        for piece, (_, own) in zip(nest.pieces, work_of(nest, program), strict=True):
            slices += own * prod(_extents(piece, len(piece.dims)))
        extents = {**dict(inner_loops(nest)), **dict(zip(nest.loops, nest.extents, strict=True))}
        sums = (prod(extents.get(name, 1) for name in chain) for chain in chains_of(nest, program))
        waits += nest.again * ADD * max(sums, default=0) if not allowed.trees else 0
    return max(slices / max(1, allowed.dsp), waits)


def _extents(piece: Piece, depth: int) -> list[int]:
    """Iterations of the outer loops of a piece, 1 where they are not known."""
    return [r.extent if (r := whole_range([(piece, k)])) else 1 for k in range(depth)]


def _may_be(state: ScheduledScop, port: Interface) -> bool:
    """Whether several pointers are as good as one: nothing is read that was written, or written twice, and what goes both
    ways has pointers of its own for reads.
    """
    kinds = {d.kind for d in array_dependences(state.scop, port.argument)}
    return not kinds & {DepKind.FLOW, DepKind.OUTPUT} and (not kinds or bool(port.reads))


def _spread(
    program: Program, state: ScheduledScop, array: str
) -> tuple[ScheduledScop, list[Step]] | None:
    """The state with each copy of an array in blocks; None where some copy has none."""
    steps: list[Step] = []
    done: set[tuple[int, ...]] = set()
    for piece in [p for p, access, _ in _copying(program, state) if access.array == array]:
        level = _own_level(state, piece)
        if level is None:
            return None
        if piece.place[: level + 1] in done:
            continue
        step = Spread(f"{piece.name}.{piece.names[level]}", _PORTS)
        made = tried(state, step)
        if made is None:
            return None
        state = made
        done.add(piece.place[: level + 1])
        steps.append(step)
    return (state, steps) if steps else None


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


def _bundles(
    ports: Mapping[str, Interface],
    moved: Mapping[tuple[str, bool], float],
    arrays: Sequence[str],
    board: Board,
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The further ports of each array: of a card those of its channel, beside a processor such as pass no other array in the
    same direction.
    """
    if board.flow.banks:
        for array in arrays:
            yield array, tuple(f"{ports[array].bundle}_{n}" for n in range(1, _PORTS))
        return
    taken: Counter[tuple[str, bool]] = Counter()
    ways = {array: [w for w in (False, True) if (array, w) in moved] for array in ports}
    for array, port in ports.items():
        taken.update((port.bundle, way) for way in ways[array])
    every = [f"gmem{n}" for n in range(board.ports)]
    for array in arrays:
        free = [b for b in every if not any(taken[b, way] for way in ways[array])]
        if len(free) >= _PORTS - 1:
            found = tuple(free[: _PORTS - 1])
            taken.update((bundle, way) for bundle in found for way in ways[array])
            yield array, found
