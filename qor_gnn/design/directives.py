"""Hardware directives put on a region tree: what a schedule step does that changes no order.

The structure of a kernel is read once, and many factor vectors are put on it. Loop names are those
of the tree; a step on a loop holds for all its copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.schedules.steps import BindStorage, Flatten, Partition, Pipeline, Step, Unroll
from polyhedral.banks.splits import Split
from qor_gnn.design.region import Function, Guard, Kernel, Loop, Memory, Node, loops_in


def with_directives(kernel: Kernel, steps: Iterable[Step]) -> Kernel:
    """The kernel with pipeline, unroll, flatten, partition and bind_storage steps carried out.

    An unroll factor that does not divide the trip count keeps its loop whole (``tail="guard"``).

    Raises:
        ScheduleError: W201 a loop, W206 an array is not there; W207 an array has no such dimension;
            W216 a step that is no directive.
    """
    loops: dict[str, dict[str, object]] = {}
    memories = {m.name: m for m in kernel.memories}
    known = {loop.name for f in kernel.functions for loop in loops_in(f.body)}
    for step in steps:
        match step:
            case Pipeline(loop=name, ii=ii):
                loops.setdefault(_known(name, known, step), {})["ii"] = ii
            case Unroll(loop=name, factor=factor):
                loops.setdefault(_known(name, known, step), {})["unroll"] = factor
            case Flatten(loop=name, enabled=enabled):
                loops.setdefault(_known(name, known, step), {})["flatten"] = enabled
            case Partition(array=array) | BindStorage(array=array):
                if array not in memories:
                    message = f"no array is called '{array}'"
                    help_line = did_you_mean(array, memories)
                    raise ScheduleError("W206", message, span=step.span, help=help_line)
                memories[array] = _memory(memories[array], step)
            case _:
                message = f"{step.kind} changes the loops, and is no directive"
                raise ScheduleError("W216", message, span=step.span)
    functions = tuple(Function(f.name, _nodes(f.body, loops), f.symbols) for f in kernel.functions)
    listed = tuple(memories[m.name] for m in kernel.memories)
    return replace(kernel, memories=listed, functions=functions)


def written_unrolls(schedule: Iterable[Step]) -> frozenset[str]:
    """Names of the loops whose unroll factor somebody wrote (``kept`` of `estimate`)."""
    return frozenset(s.loop.rpartition(".")[2] for s in schedule if isinstance(s, Unroll))


def _known(name: str, known: Iterable[str], step: Step) -> str:
    if name not in known:
        message = f"no loop is called '{name}'"
        raise ScheduleError("W201", message, span=step.span, help=did_you_mean(name, known))
    return name


def _memory(memory: Memory, step: Partition | BindStorage) -> Memory:
    if isinstance(step, BindStorage):
        return replace(memory, storage=step.type, impl=step.impl)
    if not 0 <= step.dim < len(memory.shape):
        message = f"{memory.name} has {len(memory.shape)} dimensions, there is no {step.dim}"
        raise ScheduleError("W207", message, span=step.span)
    splits = list(memory.splits)
    extent = memory.shape[step.dim]
    splits[step.dim] = Split(step.scheme, min(step.factor or extent, extent))
    return replace(memory, splits=tuple(splits))


def _nodes(nodes: tuple[Node, ...], loops: Mapping[str, Mapping[str, object]]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Loop():
                changed: dict[str, object] = dict(loops.get(node.name, {}))
                factor = changed.get("unroll")
                if isinstance(factor, int) and factor >= node.trips.maximum > 0:
                    changed["unroll"] = 0
                found.append(replace(node, body=_nodes(node.body, loops), **changed))  # type: ignore[arg-type]
            case Guard(constraints, body):
                found.append(Guard(constraints, _nodes(body, loops)))
            case _:
                found.append(node)
    return tuple(found)
