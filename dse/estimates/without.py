"""A design without one of its directives: whether that makes any difference."""

from __future__ import annotations

from dataclasses import replace

from dse.estimates.estimation import Estimation, open_answer
from dse.estimates.named_loops import loops_named
from dsl.errors.errors import WeftError
from dsl.schedules.pragma_steps import Sequential
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    BindOp,
    BindStorage,
    Flatten,
    Partition,
    Pipeline,
    Reassociate,
    Step,
    Unroll,
)
from polyhedral.banks.splits import Split
from qor_gnn.design.directives import written_unrolls
from qor_gnn.design.region import (
    Function,
    Guard,
    Kernel,
    Loop,
    Node,
    Op,
    Statement,
    bind_name,
)
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import allowed, personality


def same_without(found: Estimation, step: Step) -> bool:
    """Whether the design costs the same without a directive."""
    if not isinstance(
        step, (Pipeline, Unroll, Flatten, Sequential, Partition, BindStorage, BindOp, Reassociate)
    ):
        return False  # it changes the loops, or is not asked again for
    if isinstance(step, Flatten) and step.enabled:
        return False  # it is flattened, as the tool might have done by itself
    rest = Schedule(tuple(s for s in found.schedule if s is not step))
    other = (
        _open_without(found, rest) if found.setting.tool.is_open else _without(found, step, rest)
    )
    return other is not None and _figures(other) == _figures(found.answer)


def _figures(answer: QorEstimate) -> tuple[object, ...]:
    names = ("latency", "dsp", "lut", "ff", "bram18", "uram", "period_ns", "units")
    return tuple(getattr(answer, name) for name in names)


def _open_without(found: Estimation, rest: Schedule) -> QorEstimate | None:
    try:
        return open_answer(found.program, rest, found.setting.tool, found.setting.device)
    except WeftError:
        return None  # another step needs this one


def _without(found: Estimation, step: Step, rest: Schedule) -> QorEstimate | None:
    tool, kernel = found.setting.tool, found.regions
    kept = written_unrolls(rest)
    match step:
        case Pipeline(loop=name):
            kernel = _changed(found, name, ii=None)
        case Unroll(loop=name):
            kernel = _changed(found, name, unroll=1)
        case Flatten(loop=name):
            kernel = _changed(found, name, flatten=None)
        case Sequential(loop=name):
            kernel = _changed(found, name, automatic=True)
        case Partition(array=array, dim=dim):
            kernel = _memory(kernel, array, dim)
        case BindStorage(array=array):
            kernel = _memory(kernel, array, None)
        case BindOp(stmt=stmt, op=op):
            kernel = _operators(kernel, stmt, op)
        case Reassociate():
            others = any(isinstance(s, Reassociate) for s in rest)
            if others:
                return None  # the tool reorders for the whole design
            tool = allowed(replace(tool, sums=personality(tool.name).sums), False)
        case _:
            return None
    return estimate(kernel, tool, found.setting.device, kept=kept)


def _changed(found: Estimation, name: str, **fields: object) -> Kernel:
    """The design with other annotations on the loops of a name."""
    chosen = {loop.iv for loop, _ in loops_named(found, name)}

    def nodes(body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(map(node, body))

    def node(one: Node) -> Node:
        if isinstance(one, Loop):
            own = fields if one.iv in chosen else {}
            return replace(one, body=nodes(one.body), **own)  # type: ignore[arg-type]
        return replace(one, body=nodes(one.body)) if isinstance(one, Guard) else one

    kernel = found.regions
    functions = tuple(Function(f.name, nodes(f.body), f.symbols) for f in kernel.functions)
    return replace(kernel, functions=functions)


def _memory(kernel: Kernel, array: str, dim: int | None) -> Kernel:
    """The design without one split of an array, or (None) without its storage."""
    memories = []
    for memory in kernel.memories:
        if memory.name == array and dim is None:
            memory = replace(memory, storage="", impl="")
        elif memory.name == array:
            splits = (Split() if d == dim else s for d, s in enumerate(memory.splits))
            memory = replace(memory, splits=tuple(splits))
        memories.append(memory)
    return replace(kernel, memories=tuple(memories))


def _operators(kernel: Kernel, stmt: str, op: str) -> Kernel:
    """The design without an implementation of an operator of a statement."""

    def free(one: Op) -> Op:
        return replace(one, impl="") if bind_name(one.type, one.kind) == op else one

    def nodes(body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(map(node, body))

    def node(one: Node) -> Node:
        if isinstance(one, Statement):
            return replace(one, ops=tuple(map(free, one.ops))) if one.name == stmt else one
        return replace(one, body=nodes(one.body))

    functions = tuple(Function(f.name, nodes(f.body), f.symbols) for f in kernel.functions)
    return replace(kernel, functions=functions)
