"""What the tool makes of each directive of a schedule, where that is not what it says.

A directive is done as it is written, or something is said of it: that the tool does more (a pipeline
unrolls the loops inside), or less (an interval that was not reached, a nest that does not flatten),
or that the design is the same without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from dse.estimates.estimation import Estimation
from dse.estimates.named_loops import loops_named, statements_of
from dse.estimates.told import left_out
from dse.estimates.without import same_without
from dse.estimates.words import short
from dsl.expressions.types import FloatType
from dsl.schedules.pragma_steps import Sequential
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    AutoPartition,
    BindOp,
    Flatten,
    Interface,
    Partition,
    Pipeline,
    Reassociate,
    Step,
    Unroll,
)
from polyhedral.requests.outside import RETURN
from qor_gnn.design.region import (
    OUTSIDE,
    Guard,
    Loop,
    Node,
    Statement,
    loops_in,
)
from qor_gnn.result.qor_estimate import LoopEstimate
from qor_gnn.schedule.reasons import Requested
from qor_gnn.tools.personality import personality

_MOST = 20_000
"""Operations of a design, all copies counted, up to which it is estimated again without a step."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a directive: ``step`` as it is written, ``text`` what there is to say."""

    step: str
    text: str

    def __str__(self) -> str:
        return f"{self.step}: {self.text}"


def outcomes(found: Estimation, *, thorough: bool = False) -> tuple[Outcome, ...]:
    """What there is to say of a schedule's directives, in its order.

    Args:
        found: the design.
        thorough: the open backend too is asked what it makes of the design without a step, which
            takes it about a second each time.
    """
    said: dict[Outcome, None] = {}
    size = sum(_size(f.body, 1) for f in found.regions.functions)
    for step in found.schedule:
        texts = [*_texts(found, step), *left_out(found, step)]
        asked = size <= _MOST and (thorough or not found.setting.tool.is_open)
        if not texts and asked and same_without(found, step):
            texts = [f"the design is the same without it{_why_same(found, step)}"]
        for text in texts:
            said[Outcome(_written(step), text)] = None
    return tuple(said)


def _written(step: Step) -> str:
    lines = [line.strip() for line in Schedule((step,)).to_python().splitlines()]
    return next(line for line in lines if line.startswith("s."))[2:]


def _size(nodes: tuple[Node, ...], copies: int) -> int:
    """Operations of a design, all copies of unrolled loops counted."""
    total = 0
    for node in nodes:
        match node:
            case Statement():
                total += copies * len(node.ops)
            case Guard(body=body):
                total += _size(body, copies)
            case Loop():
                inside = prod(x.factor for x in loops_in(node.body)) if node.ii else 1
                total += _size(node.body, copies * max(node.factor, inside))
    return total


# ------------------------------------------------------------------------------------- what is said


def _texts(found: Estimation, step: Step) -> Iterator[str]:
    match step:
        case Pipeline(loop=name) if name == RETURN and found.setting.tool.is_open:
            pass  # said with all that this tool leaves out
        case Pipeline():
            yield from dict.fromkeys(
                text for loop, around in loops_named(found, step.loop) if loop.ii is not None
                for text in _of_pipeline(found, loop, around)
            )  # fmt: skip
        case Unroll():
            yield from dict.fromkeys(
                text for loop, around in loops_named(found, step.loop)
                for text in _of_unroll(loop, around)
            )  # fmt: skip
        case Flatten(enabled=True):
            yield from dict.fromkeys(
                text for loop, around in loops_named(found, step.loop)
                for text in _of_flatten(found, loop, around)
            )  # fmt: skip
        case AutoPartition():
            yield _of_auto_partition(found, step)
        case Interface():
            yield _of_interface(found, step)
        case BindOp() if found.setting.tool.is_open:
            yield "this tool chooses its operators by itself"
        case Reassociate() if found.setting.tool.is_open is False and not _reorders(found, step):
            yield "this tool adds floats in the order in which they are written"
        case _:
            pass


def _of_auto_partition(found: Estimation, step: AutoPartition) -> str:
    """The partitions that the accesses of an array wanted."""
    given = {s.dim for s in found.schedule if isinstance(s, Partition) and s.array == step.array}
    memory = found.regions.memory(step.array)
    parts = [
        f"dimension {d} {'complete' if split.factor >= n else f'{split.kind} by {split.factor}'}"
        for d, (split, n) in enumerate(zip(memory.splits, memory.shape, strict=True))
        if split.factor > 1 and d not in given
    ]
    if not parts:
        return "no partition: no loop that is unrolled tells its accesses apart"
    return ", ".join(parts)


def _of_interface(found: Estimation, step: Interface) -> str:
    """Whether the figures are of memory outside, and what it takes to reach it."""
    policy, array = personality(found.setting.tool.name).outside, step.argument
    if array == RETURN:
        return f"the figures are from start to end, whatever starts it: {step.mode} is not in them"
    if policy is None or step.mode != OUTSIDE:
        return f"the figures are those of an on-chip memory: {step.mode} of {array} is not in them"
    latency = step.latency if step.latency >= 0 else policy.latency
    return (
        f"a loop that reads {array} waits {latency + policy.read} cycles each time, one that writes it "
        f"{latency + policy.write}, with memory that is always ready"
    )


def _reorders(found: Estimation, step: Reassociate) -> bool:
    """The tool may do sums of floats in another order; of integers and in fixed point any tool may."""
    for statement in found.state.scop.statements:
        array = found.state.scop.program.array(statement.stmt.target.array)
        if statement.name == step.stmt and not isinstance(array.dtype, FloatType):
            return True
    return personality(found.setting.tool.name).sums.reassociates


def _rows(found: Estimation, loop: Loop) -> list[LoopEstimate]:
    """The rows of an estimate that a loop is in."""
    inside = statements_of(loop)
    return [
        row for row in found.answer.loops
        if loop.name in row.loops and inside & set(row.statements)
    ]  # fmt: skip


def _of_pipeline(found: Estimation, loop: Loop, around: tuple[Loop, ...]) -> Iterator[str]:
    rows = [r for r in _rows(found, loop) if r.kind == "pipeline"]
    if found.setting.tool.is_open and not rows:
        rows = [
            r for r in found.answer.loops
            if r.kind == "pipeline" and statements_of(loop) & set(r.statements)
        ]  # fmt: skip
    if not rows:
        yield _not_pipelined(found, loop)
        return
    inner = [x for x in loops_in(loop.body) if x.unroll != 0]
    if inner:
        copies = _copies(loop.body)
        names = ", ".join(dict.fromkeys(x.name for x in inner))
        yield f"the tool unrolls {names} inside it completely, {copies:,} copies of the body"
    asked = loop.ii or 1
    worst = max(rows, key=lambda r: r.ii)
    if worst.ii > asked:
        limits = [limit for limit in worst.limits if not isinstance(limit, Requested)]
        why = f", {short(limits[0])}" if limits and limits[0].interval > asked else ""
        yield f"II {worst.ii:,.0f} instead of {asked}{why}"


def _copies(nodes: tuple[Node, ...]) -> int:
    """How many bodies the loops in a pipelined one become, but for those that are asked to be unrolled: of
    loops beside each other each has its own.
    """
    found = 0
    for node in nodes:
        if isinstance(node, Guard):
            found += _copies(node.body)
        elif isinstance(node, Loop):
            inner = _copies(node.body)
            found += inner if node.unroll == 0 else max(1, node.trips.maximum) * max(1, inner)
    return found


def _not_pipelined(found: Estimation, loop: Loop) -> str:
    varying = [x.name for x in loops_in(loop.body) if x.constant_trips is None]
    if varying:
        return (
            f"not pipelined: it would have to unroll {', '.join(varying)}, whose trip count varies; "
            f"pipeline {varying[-1]} instead"
        )
    if loop.factor >= loop.trips.maximum:
        return "nothing is left to pipeline: all its iterations are copies"
    longest = found.setting.tool.directives.longest_interval
    if longest:
        return f"not pipelined: the tool gives up above an interval of {longest}"
    return "not pipelined: the tool leaves the loop as it is"


def _of_unroll(loop: Loop, around: tuple[Loop, ...]) -> Iterator[str]:
    above = [x.name for x in around if x.ii is not None]
    if above and loop.unroll not in (0, max(1, loop.trips.maximum)):
        yield (
            f"unrolled completely, {loop.trips.maximum:,} copies, as all inside the pipeline "
            f"{above[-1]} is"
        )


def _of_flatten(found: Estimation, loop: Loop, around: tuple[Loop, ...]) -> Iterator[str]:
    if any(len(row.loops) > 1 and row.loops[0] != loop.name for row in _rows(found, loop)):
        return
    if not around:
        yield "there is no loop around it to flatten it into"
        return
    outer = around[-1]
    inside = [n for n in outer.body if n != loop]
    pipes = [x for x in (loop, *loops_in(loop.body)) if x.ii is not None]
    if not pipes and not found.setting.tool.directives.auto_pipeline:
        why = "nothing in it is pipelined"
    elif outer.factor != 1:
        why = f"{outer.name} around it is unrolled"
    elif outer.ii is not None:
        why = f"{outer.name} around it is pipelined, and unrolls it"
    elif loop.constant_trips is None:
        why = "its trip count varies"
    elif loop not in outer.body or loops_in(tuple(inside)):
        why = f"it is not the only loop of {outer.name}"
    elif inside and not found.setting.tool.flattening.imperfect:
        why = f"there are statements beside it in {outer.name}"
    else:
        why = "the loop keeps an element in a register from one iteration to the next"
    yield f"not flattened: {why}"


def _why_same(found: Estimation, step: Step) -> str:
    match step:
        case Partition():
            return ": its ports do not limit any loop"
        case Sequential():
            return ": the tool makes no pipeline of it anyway"
        case Flatten(enabled=False):
            return ": there is no nest to flatten"
        case BindOp(impl=impl):
            return f": it is in {impl} anyway, or no report of the tool shows one there"
        case _:
            return ""
