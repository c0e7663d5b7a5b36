"""The parts of a family's designs: top-level nests, and which parameters each depends on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dsl.programs.program import Storage
from dsl.schedules.steps import Partition
from polyhedral.looptree.tree import Instance, LoopTree, TreeLoop
from qor_gnn.batch.integers import loops_in
from qor_gnn.batch.regions import Part
from qor_gnn.batch.template import NoTemplateError, Template
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel, Statement, walk


@dataclass(slots=True)
class Known:
    """The distinct evaluations of one part.

    Attributes:
        nodes: its top-level nodes in the template's tree.
        columns: the parameters that it depends on.
        rows: where the evaluation of their values is in ``parts``.
    """

    nodes: tuple[int, ...]
    columns: tuple[int, ...]
    rows: dict[tuple[int, ...], int] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)


def banked(template: Template) -> dict[str, tuple[int, ...]]:
    """The local arrays, and the parameters of their partitions."""
    found = {}
    for array in template.tree.program.arrays:
        if array.shape and array.storage is not Storage.ARGUMENT:
            own = {
                template.columns[s]
                for s, slot in enumerate(template.slots)
                if isinstance(step := template.family.schedule.steps[slot.step], Partition)
                and step.array == array.name
            }
            found[array.name] = tuple(sorted(own))
    return found


def parts_in(template: Template) -> list[Known]:
    """The top-level nests, each with the statements in front of it, and the factors they need.

    Statements that set constants are in every part behind them: nothing is left of them.

    Raises:
        NoTemplateError: what is a constant in a part is none in the design, nothing is left of that,
            or it is no single function, but a dataflow region.
    """
    body = template.tree.body
    kernel = kernel_of_tree(template.tree)
    if kernel.dataflow or len(kernel.functions) != 1:
        raise NoTemplateError("processes and several functions are not composed")
    groups: list[list[int]] = []
    waiting: list[int] = []
    constants = _folded(template, range(len(body)))
    for n, node in enumerate(body):
        if n not in constants:
            waiting.append(n)
        if waiting and (isinstance(node, TreeLoop) or n == len(body) - 1):
            groups.append(waiting)
            waiting = []
    found = []
    for own in groups:
        nodes = tuple(sorted({*own, *(n for n in constants if n < own[-1])}))
        if _folded(template, nodes) != constants & set(nodes):
            raise NoTemplateError("what is a constant in a part is none in the design")
        found.append(Known(nodes, _columns(template, nodes)))
    if not found:
        raise NoTemplateError("nothing is left of the design")
    return found


def _folded(template: Template, nodes: Iterable[int]) -> set[int]:
    """Which of these top-level nodes are statements that the compiler does away with."""
    body = template.tree.body
    kernel = _kernel(template, nodes)
    left = {s.name for f in kernel.functions for s in walk(f.body) if isinstance(s, Statement)}
    return {n for n in nodes if isinstance(s := body[n], Instance) and s.stmt.name not in left}


def _kernel(template: Template, nodes: Iterable[int]) -> Kernel:
    """Some top-level nodes as a design, at the template's own point."""
    tree = template.tree
    body = tuple(tree.body[n] for n in nodes)
    return kernel_of_tree(LoopTree(tree.program, body, tree.partitions))


def _columns(template: Template, nodes: tuple[int, ...]) -> tuple[int, ...]:
    """The parameters that a part depends on."""
    body = template.tree.body
    slots: set[int] = set()
    for n in nodes:
        first, end, position = template.spans[n]
        used = (template.exponents[first:end] != 0).any(axis=0)
        slots |= set(np.flatnonzero(used).tolist())
        inside = range(position, position + len(loops_in((body[n],))))
        for marked in (template.unrolled, template.pipelined):
            slots |= {marked[k] for k in inside if k in marked}
    kernel = _kernel(template, nodes)
    arrays = {
        access.memory
        for function in kernel.functions
        for s in walk(function.body)
        if isinstance(s, Statement)
        for access in (s.target, *(op.access for op in s.ops))
        if access is not None
    }
    for s, slot in enumerate(template.slots):
        step = template.family.schedule.steps[slot.step]
        if isinstance(step, Partition) and step.array in arrays:
            slots.add(s)
    return tuple(sorted({template.columns[s] for s in slots}))
