"""Thousands of designs at once: one structure, arrays of factors, the answers of `estimate`.

A design's parts (top-level nests) depend on few of a family's factors each. What is distinct of a
part is scheduled once by the code that schedules single designs, and remembered; totals are then
gathered and composed with NumPy. Points of another structure (a factor leaves a remainder nest, or
only statements of a nest) are estimated one by one, so that every answer is the direct one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from backends.devices import Device
from dsl.errors import LanguageError, ScheduleError
from dsl.program import Storage
from dsl.steps import Partition
from polyhedral.codegen import loop_tree
from polyhedral.looptree import LoopTree, TreeLoop
from polyhedral.schedule import apply
from qor_gnn.batch_compose import RegionArrays, Step, composable, latencies, units
from qor_gnn.batch_family import Family, written_unrolls
from qor_gnn.batch_regions import Part, PartClass, part_of
from qor_gnn.batch_template import (
    NoTemplateError,
    Points,
    Template,
    integers_of,
    loops_in,
    template_of,
)
from qor_gnn.estimate import QorEstimate, estimate
from qor_gnn.from_tree import kernel_of_tree
from qor_gnn.personality import Personality, personality
from qor_gnn.region import Statement, walk
from qor_gnn.storage import memory_cost, storage_rules

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_AT_ONCE = 1 << 16  # points, so that what is gathered of them takes some 100 MB at most


@dataclass(frozen=True, slots=True)
class BatchEstimate:
    """Answers for n points, each of shape (n,).

    Attributes:
        latency: cycles on average; NaN where the schedule is not legal.
        minimum, maximum: with every loop at its least and its most iterations.
        dsp, bram18, uram: blocks; −1 where the schedule is not legal.
        together: the point was composed from parts; else it was estimated by itself.
    """

    latency: Floats
    minimum: Counts
    maximum: Counts
    dsp: Counts
    bram18: Counts
    uram: Counts
    together: NDArray[np.bool_]


@dataclass(slots=True)
class _Known:
    """The distinct evaluations of one part: rows by class, in the order of their first use."""

    nodes: tuple[int, ...]
    columns: tuple[int, ...]
    rows: dict[tuple[int, ...], int] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)


class Batch:
    """Estimates of a family's points under one tool. What was scheduled once is kept.

    Args:
        family: the designs.
        tool: a personality or its name; None for the default one.
        device: as for `estimate`.

    Raises:
        ScheduleError: the family's own schedule is not legal.
        ToolError: W450, W451 as `estimate`.
    """

    def __init__(
        self,
        family: Family,
        tool: Personality | str | None = None,
        device: Device | str | None = None,
    ) -> None:
        self.family = family
        self.tool = tool if isinstance(tool, Personality) else _named(tool)
        self.device = device
        self._kept = written_unrolls(family.schedule)
        self.template: Template | None
        try:
            self.template = template_of(family) if _plain(self.tool) else None
        except NoTemplateError:
            self.template = None
        self._known = [] if self.template is None else _parts(self.template)
        self._single: dict[tuple[int, ...], QorEstimate | None] = {}

    def evaluate(self, points: Sequence[Sequence[int]] | Points) -> BatchEstimate:
        """Estimate points.

        Args:
            points: (n, parameters) integers, in the order of `Family.names`.
        """
        table = np.asarray(points, np.int64).reshape(-1, len(self.family.names))
        found = _empty(len(table))
        if self.template is not None:
            for first in range(0, len(table), _AT_ONCE):
                part = table[first : first + _AT_ONCE]
                where = first + np.flatnonzero(self.template.regular(part))
                self._together(table, where, found)
        for n in np.flatnonzero(~found.together).tolist():
            answer = self._alone(tuple(table[n].tolist()))
            if answer is not None:
                _write(found, n, answer)
        return found

    @property
    def scheduled(self) -> int:
        """Parts that were scheduled so far, and points that were estimated by themselves."""
        return sum(len(known.parts) for known in self._known) + len(self._single)

    # -------------------------------------------------------------------------------- one by one

    def _alone(self, point: tuple[int, ...]) -> QorEstimate | None:
        """A point by itself; None where its schedule is not legal."""
        if point not in self._single:
            try:
                kernel = kernel_of_tree(self.tree(point))
                self._single[point] = estimate(kernel, self.tool, self.device, kept=self._kept)
            except (ScheduleError, LanguageError):
                self._single[point] = None
        return self._single[point]

    def tree(self, point: Sequence[int]) -> LoopTree:
        """The loop tree of a point, by the template where it has one.

        Raises:
            ScheduleError: the schedule is not legal.
        """
        own = self.template
        if own is not None and own.regular(np.array([point], np.int64))[0]:
            return own.at(point)
        return self.exact_tree(point)

    def exact_tree(self, point: Sequence[int]) -> LoopTree:
        """The loop tree of a point, through isl.

        Raises:
            ScheduleError: the schedule is not legal.
        """
        return loop_tree(apply(self.family.program, self.family.at(point)))

    # --------------------------------------------------------------------------------- together

    def _together(self, table: Points, where: Counts, found: BatchEstimate) -> None:
        if not len(where):
            return
        own = table[where]
        indices = [self._looked_up(known, own) for known in self._known]
        numbers = [_class_numbers(known) for known in self._known]
        columns = [number[index] for number, index in zip(numbers, indices, strict=True)]
        group, first = _grouped(columns)
        for g, sample in enumerate(first):
            classes = [k.parts[i[sample]].kind for k, i in zip(self._known, indices, strict=True)]
            if not composable(classes):
                continue
            members = np.flatnonzero(group == g)
            rows = [index[members] for index in indices]
            self._compose(rows, where[members], found)
        self._memories(own, where, found)

    def _memories(self, table: Points, where: Counts, found: BatchEstimate) -> None:
        """Blocks of the local arrays, which depend on their own partitions only."""
        assert self.template is not None
        rules = storage_rules(self.tool.name)
        bram18, uram = np.zeros(len(table), np.int64), np.zeros(len(table), np.int64)
        for name, columns in _banked(self.template).items():
            distinct, inverse = _unique_rows(table[:, list(columns)])
            costs = []
            for row in distinct.tolist():
                point = list(self.family.point)
                for column, value in zip(columns, row, strict=True):
                    point[column] = value
                memory = kernel_of_tree(self.template.at(point, ())).memory(name)
                costs.append(memory_cost(memory, rules))
            bram18 += np.array([c.bram18 for c in costs], np.int64)[inverse]
            uram += np.array([c.uram for c in costs], np.int64)[inverse]
        done = found.together[where]
        found.bram18[where[done]], found.uram[where[done]] = bram18[done], uram[done]

    def _looked_up(self, known: _Known, table: Points) -> Counts:
        """For each point the number of the evaluation of a part."""
        template = self.template
        assert template is not None
        columns = table[:, list(known.columns)]
        distinct, inverse = _unique_rows(columns)
        numbers = np.empty(len(distinct), np.int64)
        for n, row in enumerate(distinct.tolist()):
            key = tuple(row)
            if key not in known.rows:
                point = list(self.family.point)
                for column, value in zip(known.columns, row, strict=True):
                    point[column] = value
                kernel = kernel_of_tree(template.at(point, known.nodes))
                known.rows[key] = len(known.parts)
                known.parts.append(part_of(kernel, self.tool))
            numbers[n] = known.rows[key]
        return numbers[inverse]

    def _compose(self, rows: Sequence[Counts], where: Counts, found: BatchEstimate) -> None:
        """Totals of points whose parts are of the same classes."""
        cores: dict[str, int] = {}
        for known in self._known:
            for part in known.parts:
                cores.update(part.dsp)
        names = sorted(cores)
        steps: list[Step] = []
        slices = np.zeros(len(where), np.int64)
        for known, index in zip(self._known, rows, strict=True):
            distinct, inverse = np.unique(index, return_inverse=True)
            parts = [known.parts[n] for n in distinct.tolist()]
            each = np.array([sum(r.address_dsp for r in p.numbers) for p in parts], np.int64)
            slices += each[inverse]
            loops = 0
            for r, kind in enumerate(parts[0].kind):
                is_loop = kind.kind != "block"
                loops += is_loop
                arrays = _arrays(parts, r, names, inverse)
                steps.append(Step(kind, arrays, is_loop and loops == 1))
        if not steps:
            return
        cycles, beside = latencies(steps)
        slices += units(steps, beside) @ np.array([cores[c] for c in names], np.int64)
        found.latency[where] = cycles[:, 0]
        found.minimum[where] = np.rint(cycles[:, 1]).astype(np.int64)
        found.maximum[where] = np.rint(cycles[:, 2]).astype(np.int64)
        found.dsp[where] = slices
        found.together[where] = True


def _named(tool: str | None) -> Personality:
    return personality(*([tool] if tool else []))


def _plain(tool: Personality) -> bool:
    """What the tool does depends on each part alone: it unrolls and partitions nothing itself."""
    return not (tool.options.auto_partition or tool.options.auto_unroll) and (
        not tool.rules.concurrent_nests
    )


def _empty(n: int) -> BatchEstimate:
    """Nothing is known of any point."""
    minimum, maximum, dsp, bram18, uram = (np.full(n, -1, np.int64) for _ in range(5))
    latency, together = np.full(n, np.nan), np.zeros(n, np.bool_)
    return BatchEstimate(latency, minimum, maximum, dsp, bram18, uram, together)


def _write(found: BatchEstimate, n: int, answer: QorEstimate) -> None:
    cycles = answer.latency
    found.latency[n], found.minimum[n], found.maximum[n] = (
        cycles.average, cycles.minimum, cycles.maximum,
    )  # fmt: skip
    found.dsp[n] = answer.dsp
    found.bram18[n] = -1 if answer.bram18 is None else answer.bram18
    found.uram[n] = -1 if answer.uram is None else answer.uram


def _banked(template: Template) -> dict[str, tuple[int, ...]]:
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


def _parts(template: Template) -> list[_Known]:
    """The top-level nests, each with the statements in front of it, and the factors they need."""
    found: list[_Known] = []
    waiting: list[int] = []
    body = template.tree.body
    for n, node in enumerate(body):
        waiting.append(n)
        if isinstance(node, TreeLoop) or n == len(body) - 1:
            nodes = tuple(waiting)
            found.append(_Known(nodes, _columns(template, nodes)))
            waiting = []
    return found


def _columns(template: Template, nodes: tuple[int, ...]) -> tuple[int, ...]:
    """The parameters that a part depends on."""
    body = template.tree.body
    slots: set[int] = set()
    place = position = 0
    for n, node in enumerate(body):
        size, loops = len(integers_of((node,))), len(loops_in((node,)))
        if n in nodes:
            used = (template.exponents[place : place + size] != 0).any(axis=0)
            slots |= set(np.flatnonzero(used).tolist())
            inside = range(position, position + loops)
            for marked in (template.unrolled, template.pipelined):
                slots |= {marked[k] for k in inside if k in marked}
        place, position = place + size, position + loops
    kernel = kernel_of_tree(
        LoopTree(template.tree.program, tuple(body[n] for n in nodes), template.tree.partitions)
    )
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


# ------------------------------------------------------------------------------------- gathering


def _unique_rows(columns: Points) -> tuple[Points, Counts]:
    """Distinct rows and which of them each row is: by one integer a row, which is faster."""
    code = np.zeros(len(columns), np.int64)
    for c in range(columns.shape[1]):
        values, inverse = np.unique(columns[:, c], return_inverse=True)
        code = code * len(values) + inverse
        if len(values) > 1:
            _, code = np.unique(code, return_inverse=True)
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return columns[first], inverse


def _grouped(columns: Sequence[Counts]) -> tuple[Counts, list[int]]:
    """Points with the same numbers in all columns: the group of each, and one point of each."""
    rows, inverse = _unique_rows(np.stack(columns, axis=1))
    first = np.full(len(rows), -1, np.int64)
    first[inverse[::-1]] = np.arange(len(inverse))[::-1]
    return inverse, first.tolist()


def _class_numbers(known: _Known) -> Counts:
    """For each evaluation of a part the number of its class."""
    numbers: dict[PartClass, int] = {}
    return np.array([numbers.setdefault(p.kind, len(numbers)) for p in known.parts], np.int64)


def _arrays(parts: Sequence[Part], r: int, cores: Sequence[str], index: Counts) -> RegionArrays:
    """The numbers of region ``r`` of each part, gathered."""
    place = {core: n for n, core in enumerate(cores)}
    own = np.zeros((len(parts), len(cores)), np.int64)
    inside = np.zeros_like(own)
    for n, part in enumerate(parts):
        for core, count in part.numbers[r].units:
            own[n, place[core]] = count
        for core, count in part.numbers[r].inside:
            inside[n, place[core]] = count
    return RegionArrays(
        np.array([p.numbers[r].prologue for p in parts])[index],
        np.array([p.numbers[r].latency for p in parts])[index],
        np.array([p.numbers[r].switches for p in parts])[index],
        own[index],
        inside[index],
    )
