"""Changes of a schedule that may help a loop, by what limits it. None is checked here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import lcm

from dse.estimates.estimation import Estimation
from dsl.programs.inverses import has_dividers
from dsl.schedules.recurrence_steps import StrengthReduce
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    Distribute,
    Interchange,
    Partition,
    Pipeline,
    Reassociate,
    Skew,
    Step,
    Unroll,
)
from polyhedral.transforms.registry import rewrites
from qor_gnn.design.region import Access, Kernel, Loop, Statement, loops_in, walk
from qor_gnn.result.qor_estimate import LoopEstimate
from qor_gnn.schedule.reasons import PortLimit, Recurrence, Requested, UnitLimit

_MOST_BANKS = 64
_COPIES = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class Change:
    """Steps to take out of a schedule, and steps to put at its end.

    An unroll or a partition takes the place of one of the same loop or dimension, where that stood.
    """

    removed: tuple[Step, ...] = ()
    added: tuple[Step, ...] = ()


def changed(schedule: Schedule, change: Change) -> Schedule:
    """The schedule with a change."""
    steps: list[Step] = []
    added = list(change.added)
    for step in schedule:
        swap = next((s for s in added if _replaces(s, step)), None)
        if swap is not None:
            steps.append(swap)
            added.remove(swap)
        elif step not in change.removed:
            steps.append(step)
    first = [s for s in added if rewrites(s)]
    return Schedule((*first, *steps, *(s for s in added if s not in first)))


def _replaces(new: Step, old: Step) -> bool:
    """Whether both ask for the same thing, which is asked for once."""
    match new, old:
        case Unroll(), Unroll():
            return new.loop == old.loop
        case Partition(), Partition():
            return (new.array, new.dim) == (old.array, old.dim)
    return False


Alternatives = tuple[Change, ...]
"""Ways to the same end: the first legal one counts."""


def changes(base: Estimation, loop: LoopEstimate) -> Iterator[Alternatives]:
    """What may help a loop that is pipelined, or that is innermost and is not."""
    divided = _without_dividers(base, loop)
    if divided:
        yield (Change((), divided),)
    if loop.kind == "sequential":
        for change in _pipelined(base, loop):
            yield change
            if divided:
                yield tuple(replace(c, added=(*divided, *c.added)) for c in change)
        return
    yield from _inner_pipelines(base, loop)
    match loop.limits[0] if loop.limits else None:
        case PortLimit():
            yield from _smaller_unrolls(base)
        case Recurrence():
            yield from _orders(base, loop)
        case Requested():
            yield from _copies(base, loop)
        case UnitLimit() | None:
            pass


def _without_dividers(base: Estimation, loop: LoopEstimate) -> tuple[Step, ...]:
    """Divisions by numbers as products, in all statements of a loop."""
    named = [s for s in base.program.statements() if s.name in loop.statements]
    return tuple(StrengthReduce(s.name) for s in named if has_dividers(s.value))


# ------------------------------------------------------------------------------------ loop order


def _address(base: Estimation, statement: str, name: str) -> str:
    """How a schedule names a loop around a statement."""
    return name if name in base.state.loop_names() else f"{statement}.{name}"


def _pipelined(base: Estimation, loop: LoopEstimate) -> Iterator[Alternatives]:
    inner = loop.loops[-1]
    if loop.statements:
        yield (Change((), (Pipeline(_address(base, loop.statements[0], inner)),)),)
    yield from _orders(base, loop)


def _inner_pipelines(base: Estimation, loop: LoopEstimate) -> Iterator[Alternatives]:
    """A loop that a pipeline unrolls, pipelined in its place."""
    node = _node(base, loop)
    if node is None or loop.asked is None or not loop.statements:
        return
    inside = [x for x in loops_in(node.body) if x.unroll != 0 and not loops_in(x.body)]
    mine = (loop.loops[-1], *(f"{s}.{loop.loops[-1]}" for s in loop.statements))
    gone = tuple(s for s in base.schedule if isinstance(s, Pipeline) and s.loop in mine)
    for name in dict.fromkeys(x.name for x in inside):
        yield (Change(gone, (Pipeline(_address(base, loop.statements[0], name)),)),)


def _orders(base: Estimation, loop: LoopEstimate) -> Iterator[Alternatives]:
    """Another loop around a statement as the innermost and pipelined one."""
    inner = loop.loops[-1]
    for statement in loop.statements:
        pieces = base.state.of_statement(statement)
        names = max((p.names for p in pieces), key=len, default=())
        if inner not in names:
            continue
        mine = _address(base, statement, inner)
        gone = tuple(
            s for s in base.schedule if isinstance(s, Pipeline) and s.loop in (inner, mine)
        )
        for outer in reversed(names[: names.index(inner)]):
            other = _address(base, statement, outer)
            swap = Interchange(other, mine)
            end = () if loop.asked is None and loop.kind == "pipeline" else (Pipeline(other),)
            own = Interchange(f"{statement}.{outer}", f"{statement}.{inner}")
            own_end = tuple(replace(s, loop=f"{statement}.{outer}") for s in end)
            yield (
                Change(gone, (swap, *end)),
                Change(gone, (Distribute((statement,)), own, *own_end)),
                Change(gone, (Reassociate(statement), swap, *end)),
                Change(gone, (Skew(other, mine, 1), swap, *end)),
                Change(gone, (Skew(other, mine, 2), swap, *end)),
            )


# ---------------------------------------------------------------------------------------- copies


def _smaller_unrolls(base: Estimation) -> Iterator[Alternatives]:
    for step in base.schedule:
        if isinstance(step, Unroll) and step.factor > 1:
            for factor in _halves(step.factor):
                yield (Change((step,), (replace(step, factor=factor, span=None),)),)


def _halves(factor: int) -> Iterator[int]:
    while factor > 1:
        factor //= 2
        yield factor


def _copies(base: Estimation, loop: LoopEstimate) -> Iterator[Alternatives]:
    """More copies of a pipelined body that nothing limits, with the banks that they want."""
    inner = loop.loops[-1]
    if loop.unroll != 1 or not loop.statements:
        return
    node = _node(base, loop)
    if node is None:
        return
    name = _address(base, loop.statements[0], inner)
    for factor in _COPIES:
        if factor <= node.trips.maximum:
            yield (Change((), (Unroll(name, factor), *_banks_for(base, node, factor))),)


def _node(base: Estimation, loop: LoopEstimate) -> Loop | None:
    """The loop in the region tree: the first of that name around these statements."""
    for function in base.regions.functions:
        for node in loops_in(function.body):
            if node.name == loop.loops[-1]:
                inside = {s.name for s in walk((node,)) if isinstance(s, Statement)}
                if inside & set(loop.statements):
                    return node
    return None


def _banks_for(base: Estimation, node: Loop, factor: int) -> tuple[Partition, ...]:
    """Partitions of every dimension that the loop moves through."""
    wanted: dict[tuple[str, int], int] = {}
    for s in walk((node,)):
        if isinstance(s, Statement):
            for access in _accesses(s):
                for dim, index in enumerate(access.indices):
                    step = abs(index.coefficient(node.iv))
                    if step:
                        key = (access.memory, dim)
                        wanted[key] = lcm(wanted.get(key, 1), factor * step)
    found = []
    for (array, dim), banks in wanted.items():
        memory = base.regions.memory(array)
        total = lcm(memory.splits[dim].factor, banks)
        if memory.splits[dim].factor < total <= min(memory.shape[dim], _MOST_BANKS):
            found.append(Partition(array, dim, "cyclic", total))
    return tuple(found)


def _accesses(statement: Statement) -> Iterator[Access]:
    yield statement.target
    for op in statement.ops:
        if op.kind == "load" and op.access is not None:
            yield op.access


# ----------------------------------------------------------------------------------------- banks


def partitions(regions: Kernel, limit: PortLimit) -> Iterator[Partition]:
    """More banks of the array whose ports limit an interval, the fewest first."""
    memory = regions.memory(limit.array)
    steps = []
    for dim, (extent, split) in enumerate(zip(memory.shape, memory.splits, strict=True)):
        if extent <= _MOST_BANKS and split.factor < extent:
            steps.append((extent, Partition(limit.array, dim, "complete")))
        for factor in range(split.factor + 1, min(extent, _MOST_BANKS + 1)):
            # Powers of two, and as many banks as would be enough.
            enough = -(-limit.count // limit.ports) * split.factor
            if factor & (factor - 1) == 0 or factor == enough:
                steps.append((factor, Partition(limit.array, dim, "cyclic", factor)))
    yield from (step for _, step in sorted(steps, key=lambda s: (s[0], s[1].dim)))
