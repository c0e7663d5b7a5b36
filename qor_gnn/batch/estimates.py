"""Thousands of designs at once: one structure, arrays of factors, the answers of `estimate`.

A design's parts (top-level nests) depend on few of a family's factors each. What is distinct of a
part is scheduled once by the code that schedules single designs, and remembered; totals are then
gathered and composed with NumPy. Points of another structure (a factor leaves a remainder nest, or
only statements of a nest) are estimated one by one, so that every answer is the direct one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backends.devices import Device
from dsl.errors.errors import LanguageError, ScheduleError
from dsl.schedules.steps import Dataflow
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import LoopTree
from polyhedral.schedule import apply
from qor_gnn.area.resources import coefficients
from qor_gnn.batch.compose import composable, steps_of, timing, units
from qor_gnn.batch.family import Family, written_unrolls
from qor_gnn.batch.gather import Counts, distinct_rows
from qor_gnn.batch.parts import Known, banked, parts_in
from qor_gnn.batch.regions import Part, PartClass, part_of
from qor_gnn.batch.sharing import Sharing, whole
from qor_gnn.batch.template import NoTemplateError, Points, Template, template_of
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.memory.storage import memory_cost, storage_rules
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality, personality

Floats = NDArray[np.float64]
_AT_ONCE = 1 << 16  # points, so that what is gathered of them takes some 100 MB at most


@dataclass(frozen=True, slots=True)
class BatchEstimate:
    """Answers for n points, each of shape (n,): what `QorEstimate` has, but for its loops.

    Attributes:
        latency: cycles on average; NaN where the schedule is not legal.
        minimum, maximum: with every loop at its least and its most iterations.
        dsp, bram18, uram: blocks; −1 where the schedule is not legal.
        lut, ff: −1 also where the tool was never calibrated.
        period_ns: the least period that the schedule keeps; NaN where it is not legal.
        together: the point was composed from parts; else it was estimated by itself.
    """

    latency: Floats
    minimum: Counts
    maximum: Counts
    dsp: Counts
    bram18: Counts
    uram: Counts
    lut: Counts
    ff: Counts
    period_ns: Floats
    together: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sums:
    """What is still being added up for n points of one structure.

    Attributes:
        composed: their parts were composed.
        waiting: states in front of their regions.
        lut, ff, bram18, uram: so far.
    """

    composed: NDArray[np.bool_]
    waiting: Counts
    lut: Floats
    ff: Floats
    bram18: Counts
    uram: Counts


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
        self._costs = coefficients(self.tool.name)
        self.template: Template | None = None
        self._known: list[Known] = []
        if _plain(self.tool) and not any(isinstance(s, Dataflow) for s in family.schedule):
            try:
                template = template_of(family)
                self._known = parts_in(template)
                self.template = template
            except NoTemplateError:
                pass
        several = len(self._known) > 1 and self._costs is not None
        self._sharing = Sharing(self._costs) if several and self._costs else None
        self._single: dict[tuple[int, ...], QorEstimate | None] = {}

    def evaluate(self, points: Sequence[Sequence[int]] | Points) -> BatchEstimate:
        """Estimate points.

        Args:
            points: (n, parameters) integers, in the order of `Family.names`.
        """
        table = np.asarray(points, np.int64).reshape(len(points), len(self.family.names))
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
        rows = [self._looked_up(known, own) for known in self._known]
        sums = _nothing(len(own))
        numbers = [_class_numbers(known) for known in self._known]
        columns = [number[r] for number, r in zip(numbers, rows, strict=True)]
        first, group = distinct_rows(columns, len(own))
        for g, sample in enumerate(first.tolist()):
            classes = [k.parts[r[sample]].kind for k, r in zip(self._known, rows, strict=True)]
            if composable(classes):
                self._compose(rows, np.flatnonzero(group == g), where, found, sums)
        self._logic(rows, sums)
        self._memories(own, sums)
        done = where[sums.composed]
        found.together[done] = True
        found.bram18[done], found.uram[done] = sums.bram18[sums.composed], sums.uram[sums.composed]
        if self._costs is not None:
            found.lut[done] = whole(sums.lut[sums.composed])
            found.ff[done] = whole(sums.ff[sums.composed])

    def _looked_up(self, known: Known, table: Points) -> Counts:
        """For each point the number of the evaluation of a part."""
        distinct, inverse = _values(table, known.columns)
        numbers = np.empty(len(distinct), np.int64)
        for n, row in enumerate(distinct):
            key = tuple(row)
            if key not in known.rows:
                point = list(self.family.point)
                for column, value in zip(known.columns, row, strict=True):
                    point[column] = value
                part = self._evaluated(known, point)
                known.rows[key] = len(known.parts)
                known.parts.append(part)
            numbers[n] = known.rows[key]
        return numbers[inverse]

    def _evaluated(self, known: Known, point: Sequence[int]) -> Part:
        """A part at a point, scheduled."""
        assert self.template is not None
        kernel = kernel_of_tree(self.template.at(point, known.nodes))
        return part_of(kernel, self.tool, self._costs, len(self._known) == 1)

    def _compose(
        self,
        rows: Sequence[Counts],
        members: Counts,
        where: Counts,
        found: BatchEstimate,
        sums: Sums,
    ) -> None:
        """Totals of points (``members`` of ``rows``) whose parts are of the same classes."""
        cores: dict[str, Operator] = {}
        for known in self._known:
            for part in known.parts:
                cores.update(part.cores)
        steps = []
        slices, period = np.zeros(len(members), np.int64), np.zeros(len(members))
        for known, row in zip(self._known, rows, strict=True):
            own = row[members]
            first, inverse = distinct_rows([own], len(own))
            parts = [known.parts[n] for n in own[first].tolist()]
            each = np.array([sum(r.address_dsp for r in p.numbers) for p in parts], np.int64)
            slices += each[inverse]
            period = np.maximum(period, np.array([p.period_ns for p in parts])[inverse])
            steps += steps_of(parts, tuple(cores), inverse)
        timed = timing(steps)
        costs = np.array([(o.dsp, o.bram18, o.lut, o.ff) for o in cores.values()], np.int64)
        spent = units(steps, timed.beside) @ costs.reshape(-1, 4)
        points = where[members]
        found.latency[points] = timed.cycles[:, 0]
        found.minimum[points] = np.rint(timed.cycles[:, 1]).astype(np.int64)
        found.maximum[points] = np.rint(timed.cycles[:, 2]).astype(np.int64)
        found.dsp[points] = slices + spent[:, 0]
        found.period_ns[points] = period
        sums.composed[members] = True
        sums.waiting[members] = timed.waiting
        sums.bram18[members] = spent[:, 1]
        sums.lut[members], sums.ff[members] = spent[:, 2], spent[:, 3]

    def _logic(self, rows: Sequence[Counts], sums: Sums) -> None:
        """Add LUTs and flip-flops but those of units and memories, which are there already."""
        logic = [[p.logic for p in known.parts if p.logic is not None] for known in self._known]
        if self._sharing is not None:
            self._sharing.add(logic, rows, sums.waiting, sums.lut, sums.ff)
        elif self._costs is not None:  # one part is all of the design, its units too
            sums.lut[:] = np.array([p.lut for p in logic[0]])[rows[0]]
            sums.ff[:] = np.array([p.ff for p in logic[0]])[rows[0]]

    def _memories(self, table: Points, sums: Sums) -> None:
        """Add the local arrays, which depend on their own partitions only."""
        assert self.template is not None
        rules = storage_rules(self.tool.name)
        for name, columns in banked(self.template).items():
            distinct, inverse = _values(table, columns)
            costs = []
            for row in distinct:
                point = list(self.family.point)
                for column, value in zip(columns, row, strict=True):
                    point[column] = value
                memory = kernel_of_tree(self.template.at(point, ())).memory(name)
                cost = memory_cost(memory, rules)
                costs.append((cost.lut, cost.ff, cost.bram18, cost.uram))
            each = np.array(costs, np.int64)[inverse]
            sums.lut[:] += each[:, 0]
            sums.ff[:] += each[:, 1]
            sums.bram18[:] += each[:, 2]
            sums.uram[:] += each[:, 3]


def _values(table: Points, columns: Sequence[int]) -> tuple[list[list[int]], Counts]:
    """Distinct values of some parameters, and which of them each point has."""
    first, inverse = distinct_rows([table[:, c] for c in columns], len(table))
    return table[first][:, list(columns)].tolist(), inverse


def _named(tool: str | None) -> Personality:
    return personality(*([tool] if tool else []))


def _plain(tool: Personality) -> bool:
    """What the tool does depends on each part alone: it unrolls and partitions nothing itself."""
    automatic = (tool.directives.auto_unroll, tool.partitioning) != (None, None)
    return not automatic and tool.composition.concurrent == "pipelines"


def _empty(n: int) -> BatchEstimate:
    """Nothing is known of any point."""
    minimum, maximum, dsp, bram18, uram, lut, ff = (np.full(n, -1, np.int64) for _ in range(7))
    latency, period, together = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.bool_)
    return BatchEstimate(
        latency, minimum, maximum, dsp, bram18, uram, lut, ff, period, together
    )  # fmt: skip


def _nothing(n: int) -> Sums:
    waiting, bram18, uram = (np.zeros(n, np.int64) for _ in range(3))
    return Sums(np.zeros(n, np.bool_), waiting, np.zeros(n), np.zeros(n), bram18, uram)


def _write(found: BatchEstimate, n: int, answer: QorEstimate) -> None:
    cycles = answer.latency
    found.latency[n], found.minimum[n], found.maximum[n] = (
        cycles.average, cycles.minimum, cycles.maximum,
    )  # fmt: skip
    found.dsp[n] = answer.dsp
    for field in ("bram18", "uram", "lut", "ff"):
        value = getattr(answer, field)
        getattr(found, field)[n] = -1 if value is None else value
    found.period_ns[n] = np.nan if answer.period_ns is None else answer.period_ns


def _class_numbers(known: Known) -> Counts:
    """For each evaluation of a part the number of its class."""
    numbers: dict[PartClass, int] = {}
    return np.array([numbers.setdefault(p.kind, len(numbers)) for p in known.parts], np.int64)
