"""From scheduled bodies to the latency of a function: regions one after the other.

Time is counted in states of the function's state machine. After a sequential loop the current
state is its final check, which the next region shares; after a call it is a free one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dsl.expressions.affine import Affine
from qor_gnn.body.body import Body
from qor_gnn.design.processes import bodies_of
from qor_gnn.design.region import Function, Loop, Node, trips_of
from qor_gnn.schedule.allocation import asked_of
from qor_gnn.schedule.bank_switches import epilogue_switches
from qor_gnn.schedule.flow import Flow, call, until_return
from qor_gnn.schedule.intervals.interval import limits
from qor_gnn.schedule.known_bodies import alone, flattened, handed_on, scheduled, straight
from qor_gnn.schedule.list_schedule import Times
from qor_gnn.schedule.loops import (
    Placed,
    Scope,
    has_pipeline,
    inlined,
    innermost,
    is_straight,
    placed_copies,
    running,
    sole_loop,
)
from qor_gnn.schedule.outside import slowed, waiting
from qor_gnn.schedule.overlapped import overlapped, process_of
from qor_gnn.schedule.prologue import (
    above_stores,
    also_inside,
    behind_call,
    left_behind,
    released,
    states_before,
    stores_behind,
    takes_from,
)
from qor_gnn.schedule.reasons import PortLimit
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.policies.composition import Composition

START_STATES = 2
"""Of a function whose regions follow each other (`Composition.in_turn`): it starts, and ends in the cycle behind the last."""


def function_latency(scope: Scope, function: Function) -> tuple[float, list[Region]]:
    """States of a function from its call to its return, and its regions."""
    flow = _sequence(scope, [(n, {}) for n in function.body], 1, top=True)
    if scope.personality.composition.in_turn:
        return flow.at + START_STATES, flow.regions
    return until_return(flow), flow.regions


def sequence(
    scope: Scope, around: Sequence[Loop], nodes: Sequence[Node]
) -> tuple[list[Region], float]:
    """The regions of some nodes in an iteration of the loops around them, and the states that they end at:
    of nodes that are not all that is in these loops, which therefore do not flatten into them.

    Args:
        scope: the design.
        around: the loops around, outermost first; () where the nodes are the function's own.
        nodes: what runs.
    """
    env: dict[str, Affine] = {}
    for loop in around:
        env = {**env, loop.iv: running(loop, 1)}
    flow = _sequence(scope, [(node, env) for node in nodes], 1, top=not around)
    return flow.regions, flow.at


def _sequence(scope: Scope, nodes: Sequence[Placed], copies: int, top: bool = False) -> Flow:
    """Regions and blocks one after the other.

    Args:
        scope: the design.
        nodes: what runs.
        copies: by how much the loop around is unrolled.
        top: they are a function's body.
    """
    flow = Flow(top=top)
    pending: list[Placed] = []
    items = inlined(list(nodes))
    for position, (node, env) in enumerate(items):
        if is_straight(scope, node):
            pending.append((node, env))
            continue
        assert isinstance(node, Loop)
        block = straight(scope, pending) if pending else None
        before = _before(flow, block)
        pending = []
        last = position == len(items) - 1
        _loop(scope, flow, node, env, before, _Context(copies, top, last))
    if pending:
        body, times = straight(scope, pending)
        flow.wait(body)
        last_block = Region("block", (), 1, times.states, times.states, 0, body, times)
        last_block.start = flow.at
        flow.regions.append(last_block)
        flow.at += times.states + waiting(body, scope.kernel.memories)
        flow.at += slowed(body, scope.kernel.memories, 1, times.states)
        flow.ended = "call"
    flow.wait()
    return flow


@dataclass(frozen=True, slots=True)
class _Context:
    copies: int
    top: bool
    last: bool


def _before(flow: Flow, block: tuple[Body, Times] | None) -> int | None:
    """States of a block in front of a loop: its last state is the loop's first."""
    flow.block = None
    if block is None:
        return None
    flow.block = body = block[0]
    times = block[1]
    states = times.states if body.personality.composition.in_turn else released(body, times)
    region = Region("block", (), 1, times.states, states, 0, body, times)
    region.start = flow.at
    flow.regions.append(region)
    if states or body.personality.composition.concurrent == "pipelines":
        flow.calls = []
    return states


def _loop(
    scope: Scope,
    flow: Flow,
    loop: Loop,
    env: dict[str, Affine],
    before: int | None,
    context: _Context,
) -> None:
    chain = pipelined_chain(scope, loop)
    body = flattened(scope, chain, env) if chain else None
    if body is not None:
        _pipeline(scope, flow, chain, body, env, before, context)
    elif innermost(loop):
        _sequential(scope, flow, loop, env, before, context)
    else:
        _nest(scope, flow, loop, env, before)


# -------------------------------------------------------------------------------------- pipelines


def pipelined_chain(scope: Scope, loop: Loop) -> tuple[Loop, ...]:
    """The perfect nest from ``loop`` to a pipelined loop; () where there is none."""
    chain = [loop]
    while scope.pipeline_ii(chain[-1]) is None:
        inner = sole_loop(chain[-1], scope.personality.flattening.imperfect)
        if (
            inner is None
            or inner.constant_trips is None
            or chain[-1].factor != 1
            or inner.flatten is False
            or inner.iv in scope.apart
        ):
            return ()
        if inner.unroll == 0 and scope.pipeline_ii(inner) is None:
            return ()
        chain.append(inner)
    return tuple(chain)


def _pipeline(
    scope: Scope,
    flow: Flow,
    chain: tuple[Loop, ...],
    body: Body,
    env: dict[str, Affine],
    before: int | None,
    context: _Context,
) -> None:
    policy, longest = scope.personality.composition, scope.personality.directives.longest_interval
    inner = chain[-1]
    counts = [scope.starts(loop) for loop in chain]
    asked = scope.pipeline_ii(inner)
    assert asked is not None
    body, handed = handed_on(scope, chain, env, body, asked)
    if longest is not None:
        first = limits(body, handed.cycles, asked)[0]
        if first.interval > longest:
            ports = isinstance(first, PortLimit) and len(chain) > 1
            (scope.apart if ports else scope.unpipelined).add(inner.iv)
            if len(chain) > 1 and not ports:
                scope.serial.add(inner.iv)
            _loop(scope, flow, chain[0], env, before, context)
            return
    found = scheduled(scope, inner, (body, handed), asked, asked_of(chain))
    least = max(loop.requests.latency[0] for loop in chain)
    depth = max(found.depth, least + 1 if least else 0)  # so many states have one cycle less
    if depth <= found.interval + 1:  # nothing overlaps
        counts[-1] = _until_exit(scope, inner)
    iterations = 1.0
    for n in counts:
        iterations *= n
    states = _overlapped(policy, iterations, depth, found.interval)
    loads = prologue = states_before(body)
    if before is not None:
        prologue = max(before, prologue)
    elif prologue and also_inside(body):
        prologue += 1
    if before is None and not policy.in_turn and _failed_flattening(chain, body, context):
        prologue += 1
    overlaps = flow.ended in ("call", "stored") and not policy.in_turn
    if overlaps and above_stores(body, flow.stored):
        behind = _last_pipelines(flow)
        if not (policy.exposed_transfers and takes_from(flow.block, behind)):
            prologue = behind_call(flow.block, behind[0] if behind else None, body)
            if flow.block is not None:
                left = left_behind(behind[0]) if behind else ()
                flow.values.compute(flow.block, left, flow.at)
                flow.block = None
    flow.wait(flow.block)
    prologue = max(prologue, math.ceil(flow.values.wanted(body) - flow.at))
    region = Region("pipeline", chain, iterations, depth, states + policy.call, prologue)
    region.body, region.times, region.pipeline = body, found.times, found
    region.latency += waiting(body, scope.kernel.memories)
    region.latency += slowed(body, scope.kernel.memories, iterations, found.interval)
    if policy.exposed_transfers:
        region.latency += max(0, stores_behind(body) - 1)
    call(scope, flow, region, loads)
    flow.stored += body.epilogue
    flow.ended = "stored" if body.epilogue else "call"


def _overlapped(policy: Composition, iterations: float, depth: int, interval: int) -> float:
    """States of a pipeline; one that a parent calls has the last one of them in common with it."""
    last = max(depth, interval) if policy.in_turn else max(1, depth - 1)
    return max(0.0, iterations - 1) * interval + last


def _last_pipelines(flow: Flow) -> list[Body]:
    """The last pipeline of a sequence first, and those that run beside it."""
    found = [r for r in reversed(flow.regions) if r.pipeline is not None]
    return [r.body for r in found if r.start == found[0].start and r.body is not None]


def _failed_flattening(chain: tuple[Loop, ...], body: Body, context: _Context) -> bool:
    """A loop that could be flattened but for the accumulators in memory that it keeps."""
    inner = chain[-1]
    if len(chain) != 1 or inner.factor != 1 or inner.flatten is False:
        return False
    if context.top or context.copies != 1 or not body.epilogue:
        return False
    return all(body.addresses.memory(a).banks == 1 for a in body.epilogue)


# ------------------------------------------------------------------------------- sequential loops


def _sequential(
    scope: Scope,
    flow: Flow,
    loop: Loop,
    env: dict[str, Affine],
    before: int | None,
    context: _Context,
) -> None:
    body, times = alone(scope, loop, env)
    flow.wait()
    iterations = _until_exit(scope, loop)
    prologue = max(before or 0, states_before(body))
    depth: float = times.states + waiting(body, scope.kernel.memories)
    depth += slowed(body, scope.kernel.memories, 1, depth)
    depth = max(depth, loop.requests.latency[0])
    in_turn = scope.personality.composition.in_turn
    if in_turn and body.registers:
        depth = max(depth, 1)  # a register is written in a state, also with what is known before
    states = iterations * depth
    header = 0 if in_turn else 1
    region = Region("sequential", (loop,), iterations, depth, states + header, prologue)
    region.body, region.times = body, times
    region.outlined = loop.iv in scope.unpipelined
    if scope.personality.composition.concurrent == "loops":
        call(scope, flow, region)
        flow.stored += body.epilogue
        flow.ended = "call"
        return
    region.start = flow.at + prologue
    flow.regions.append(region)
    flow.at += header + prologue + states
    flow.stored += body.epilogue
    flow.ended = "loop"
    if context.last:
        flow.at += epilogue_switches(body)


def _until_exit(scope: Scope, loop: Loop) -> float:
    """Iterations of a loop that run one after the other: where somebody asked for a pipeline, the
    last one ends with the copy that the loop ends with.
    """
    return scope.iterations(loop) if loop.ii is None else trips_of(loop, scope.mode) / loop.factor


def _nest(scope: Scope, flow: Flow, loop: Loop, env: dict[str, Affine], before: int | None) -> None:
    """A sequential loop with regions inside; with a pipeline inside, outer loops flatten."""
    flow.wait()
    if loop.processes:
        _region(scope, flow, loop, env, before)
        return
    chain, around = [loop], env
    while (inner := _flattens_into(scope, chain[-1])) is not None:
        own = inner.constant_trips is None or inner.iv in scope.apart  # a burst in each iteration
        if own and _flattens_inwards(scope, inner, around):
            break
        around = {**around, chain[-1].iv: running(chain[-1], 1)}
        chain.append(inner)
    last = chain[-1]
    nodes = [(n, copy) for copy in placed_copies(last, around) for n in last.body]
    inside = _sequence(scope, nodes, last.factor)
    header = 0 if scope.personality.composition.in_turn else 1
    depth = inside.at + (0 if inside.ended == "call" else header)
    depth = max(depth, last.requests.latency[0])
    iterations = 1.0
    for each in chain:
        iterations *= scope.iterations(each)
    prologue = before or 0
    whole = header + iterations * depth
    region = Region("nest", tuple(chain), iterations, depth, whole, prologue)
    region.children = inside.regions
    if scope.personality.composition.concurrent == "loops":
        region.latency += 1
        call(scope, flow, region)
        flow.ended = "call"
        return
    region.start = flow.at + prologue
    flow.regions.append(region)
    flow.at += prologue + whole
    flow.ended = "loop"


def _region(
    scope: Scope, flow: Flow, loop: Loop, env: dict[str, Affine], before: int | None
) -> None:
    """A loop whose body is a dataflow region: its processes are functions."""
    inside = {**env, loop.iv: running(loop, 1)}
    processes: list[Region] = []
    for nodes in bodies_of(loop.body, loop.processes).values():
        within = _sequence(scope, [(node, inside) for node in nodes], 1, top=True)
        processes.append(process_of(within.regions, until_return(within)))
    region = overlapped(loop, processes, scope.iterations(loop), before or 0)
    if scope.personality.composition.concurrent == "loops":
        region.latency += 1
        call(scope, flow, region)
        flow.ended = "call"
        return
    region.start = flow.at + region.prologue
    flow.regions.append(region)
    flow.at += region.prologue + region.latency
    flow.ended = "loop"


def _flattens_inwards(scope: Scope, loop: Loop, env: dict[str, Affine]) -> bool:
    """It makes one pipeline with the loops inside: the outermost loop of a nest may vary."""
    chain = pipelined_chain(scope, loop)
    return len(chain) > 1 and flattened(scope, chain, env) is not None


def _flattens_into(scope: Scope, loop: Loop) -> Loop | None:
    """The sequential loop inside that this one makes one loop with, above a pipeline.

    A pipeline by itself is none, whatever loops are inside: it unrolls them.
    """
    inner = sole_loop(loop)
    if inner is None or innermost(inner) or not has_pipeline(scope, loop):
        return None
    if inner.processes:
        return None
    if scope.pipeline_ii(inner) is not None:
        return None
    return inner if loop.factor == 1 and inner.flatten is not False else None
