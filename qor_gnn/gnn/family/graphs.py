"""Thousands of designs of a family as the networks read them, each distinct part scheduled once.

What `qor_gnn.batch.estimates` does for the white box is done here for its figures, its resource terms and the
graphs together. Every answer is that of `qor_gnn.estimate.estimate` and `qor_gnn.gnn.training.predict.design`;
points that have no template are asked by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backends.devices import DEVICES, Device
from dsl.schedules.steps import Partition
from qor_gnn.batch.estimates import Batch, BatchEstimate, Sums
from qor_gnn.batch.family import Family
from qor_gnn.batch.gather import Counts, distinct_rows
from qor_gnn.batch.parts import Known
from qor_gnn.batch.regions import Part
from qor_gnn.batch.template import Points
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.gnn.examples.design_data import CARRIED
from qor_gnn.gnn.examples.example import BASE, METRICS, Example, Fitted, Prediction, digest
from qor_gnn.gnn.examples.terms import TERMS
from qor_gnn.gnn.family.batching import Packed, gathered
from qor_gnn.gnn.family.layout import Column, columns_of, laid_out
from qor_gnn.gnn.family.pieces import Piece, piece_of
from qor_gnn.gnn.family.terms import TermSharing, single_amounts
from qor_gnn.gnn.graph.build import DesignGraph, Matrix, design_graph
from qor_gnn.gnn.graph.schema import FEATURES, EdgeType, NodeType
from qor_gnn.gnn.training.ensemble import Model
from qor_gnn.gnn.training.predict import design
from qor_gnn.result.qor_estimate import Cycles, QorEstimate
from qor_gnn.tools.personality import Personality, personality

Floats = NDArray[np.float64]
_IN_LOOP = (NodeType.OP, EdgeType.HELD, NodeType.LOOP)
_READS, _WRITES = (FEATURES[NodeType.MEMORY].index(name) for name in ("reads", "writes"))
_NO_ANSWER = QorEstimate("", Cycles(0, 0, 0), (), (), 0, "model", "", "", 10.0)
MOST = 1 << 12
"""Points at once: their graphs take some 20 MB."""


@dataclass(frozen=True, slots=True)
class Together:
    """Designs of one family and tool that were composed from parts, as the networks read them.

    Attributes:
        graphs: of n designs; equal to those of `qor_gnn.gnn.graph.build.design_graph`.
        base: the white box's figures by `BASE`, shape (n, metrics).
        lut, ff: amounts of terms, as `qor_gnn.gnn.examples.terms.amounts_of` has them, (n, terms + 1) each.
        target: the tool.
        kernel: name of the design.
    """

    graphs: Packed
    base: Floats
    lut: Floats
    ff: Floats
    target: str
    kernel: str

    def examples(self) -> list[Example]:
        """The same one by one, as any predictor reads them that does not look at `pragmas`."""
        group = digest(self.target, self.kernel, "", ())
        names = [
            f"{r}.{name}"
            for r, terms in TERMS.items()
            for name in (*(t.name for t in terms), "fixed")
        ]
        amounts = np.hstack([self.lut, self.ff]).tolist()
        base = self.base.tolist()
        return [
            Example(
                _graph(self.graphs, n),
                dict(zip(BASE, base[n], strict=True)),
                *({}, self.target, self.kernel, self.kernel, group, ()),
                dict(zip(names, amounts[n], strict=True)),
            )
            for n in range(len(base))
        ]


@dataclass(frozen=True, slots=True)
class FamilyGraphs:
    """Points of a family as the networks read them.

    Attributes:
        where: points that were composed, ascending, shape (n,); ``together`` is of them.
        together: those that were composed; None of none.
        alone: the others by their number, but for those whose schedule is not legal.
    """

    where: Counts
    together: Together | None
    alone: Mapping[int, Example]


@dataclass(slots=True)
class _Composed:
    """What `Batch` has in hand of the points that it composes.

    Attributes:
        where: the points.
        rows: for each part the number of its evaluation, shape (n,).
        done: those that were composed indeed, shape (n,).
        waiting: states in front of their regions, shape (n,).
        fixed: LUTs and flip-flops of units and memories, shape (n, 2).
    """

    where: Counts
    rows: Sequence[Counts]
    done: NDArray[np.bool_]
    waiting: Counts
    fixed: Floats

    def of(self, chosen: Counts) -> _Composed:
        """Some of them."""
        rows = [row[chosen] for row in self.rows]
        return _Composed(
            self.where[chosen], rows, self.done[chosen], self.waiting[chosen], self.fixed[chosen]
        )


class GraphBatch(Batch):
    """A `Batch` that remembers of each part its graph and its resource terms too.

    Args and errors: as `Batch`.
    """

    def __init__(
        self,
        family: Family,
        tool: Personality | str | None = None,
        device: Device | str | None = None,
    ) -> None:
        super().__init__(family, tool, device)
        self._shown = personality(self.tool.name)
        self._pieces: list[list[Piece]] = [[] for _ in self._known]
        self._terms = TermSharing()
        self._banked: dict[tuple[int, ...], Kernel] = {}
        self._bodies: dict[tuple[tuple[int, ...], tuple[int, ...]], Kernel] = {}
        self._rows: dict[tuple[int, ...], Matrix] = {}
        self._last: _Composed

    def graphs(self, points: Sequence[Sequence[int]] | Points) -> FamilyGraphs:
        """What the networks read of points.

        Args:
            points: (n, parameters) integers, in the order of `Family.names`; at most `MOST`.

        Raises:
            ValueError: there are more.
        """
        table = np.asarray(points, np.int64).reshape(len(points), len(self.family.names))
        if len(table) > MOST:
            raise ValueError(f"{len(table)} points at once, more than {MOST}")
        nothing = np.zeros(0, np.int64)
        self._last = _Composed(nothing, (), nothing > 0, nothing, np.zeros((0, 2)))
        found = self.evaluate(table)
        last = self._last.of(np.flatnonzero(self._last.done))
        if len(last.where):
            last = last.of(np.flatnonzero(_joinable(columns_of(self._pieces, last.rows))))
        together = self._laid_out(table[last.where], found, last) if len(last.where) else None
        others = np.setdiff1d(np.arange(len(table)), last.where).tolist()
        asked = ((n, self._asked_alone(tuple(table[n].tolist()))) for n in others)
        alone = {n: one for n, one in asked if one is not None}
        return FamilyGraphs(last.where, together, alone)

    def _asked_alone(self, point: tuple[int, ...]) -> Example | None:
        """A point by the road of single designs; None where its schedule is not legal."""
        answer = self._alone(point)
        if answer is None:
            return None
        return design(kernel_of_tree(self.tree(point)), self.tool, answer, self._kept)

    def _laid_out(self, table: Points, found: BatchEstimate, last: _Composed) -> Together:
        columns = columns_of(self._pieces, last.rows)
        base, latency = _base(found, last.where, self.tool.clock_ns), found.latency[last.where]
        memory = self._memory_features(table, columns)
        loops = np.sum([np.array([p.loops for p in c.pieces])[c.index] for c in columns], axis=0)
        kernel = self._kernel_features(base, latency, loops, memory.shape[1])
        logic = [[piece.logic for piece in own] for own in self._pieces]
        if len(logic) > 1:
            lut, ff = self._terms.amounts(logic, last.rows, last.waiting)
        else:
            lut, ff = single_amounts(logic[0], last.rows[0])
        lut[:, -1] += last.fixed[:, 0]
        ff[:, -1] += last.fixed[:, 1]
        graphs = laid_out(columns, memory, kernel, latency)
        return Together(graphs, base, lut, ff, self.tool.name, self.family.program.name)

    def _kernel_features(self, base: Floats, latency: Floats, loops: Counts, arrays: int) -> Matrix:
        """As `qor_gnn.gnn.graph.build` has the node of the design as a whole, shape (n, features)."""
        device = _device(self.device, self.tool)
        values = {
            "latency": np.log1p(latency),
            "clock": self.tool.clock_ns / 10,
            "loops": np.log1p(loops),
            "arrays": np.log1p(arrays),
        }
        for name, column in (("dsp", "dsp_share"), ("bram18", "bram_share")):
            used = base[:, BASE.index(name)]
            values[name] = np.log1p(used)
            if device is not None:
                values[column] = np.minimum(4.0, used / max(1, getattr(device, name)))
        names = FEATURES[NodeType.KERNEL]
        found = np.zeros((len(base), len(names)), np.float32)
        for name, value in values.items():
            found[:, names.index(name)] = value
        return found

    def _memory_features(self, table: Points, columns: Sequence[Column]) -> Matrix:
        """The nodes of arrays, shape (n, arrays, features)."""
        arrays = [m.name for m in self._arrays(self.family.point).memories if m.shape]
        found = np.zeros((len(table), len(arrays), len(FEATURES[NodeType.MEMORY])), np.float32)
        for m, name in enumerate(arrays):
            own = self._columns_of(name)
            first, inverse = distinct_rows([table[:, c] for c in own], len(table))
            rows = []
            for n in first.tolist():
                key = (m, *table[n, own].tolist())
                if key not in self._rows:
                    graph = design_graph(self._arrays(table[n].tolist()), self._shown, _NO_ANSWER)
                    self._rows[key] = graph.nodes[NodeType.MEMORY][m]
                rows.append(self._rows[key])
            found[:, m] = np.stack(rows)[inverse]
        uses = np.sum([np.stack([p.uses for p in c.pieces])[c.index] for c in columns], axis=0)
        for way, column in enumerate((_READS, _WRITES)):
            found[:, :, column] = np.log1p(uses[:, way])
        return found

    def _columns_of(self, array: str | None) -> list[int]:
        """The parameters that bank an array, or (None) any."""
        template = self.template
        assert template is not None
        found = set()
        for column, slot in zip(template.columns, template.slots, strict=True):
            step = self.family.schedule.steps[slot.step]
            if isinstance(step, Partition) and array in (None, step.array):
                found.add(column)
        return sorted(found)

    def _arrays(self, point: Sequence[int]) -> Kernel:
        """The arrays of a design, and nothing that accesses them."""
        key = tuple(point[c] for c in self._columns_of(None))
        if key not in self._banked:
            assert self.template is not None
            self._banked[key] = kernel_of_tree(self.template.at(point, ()))
        return self._banked[key]

    # ------------------------------------------------------------- what `Batch` has in hand

    def _evaluated(self, known: Known, point: Sequence[int]) -> Part:
        """As `Batch` does, but for the graph as well."""
        position = next(n for n, one in enumerate(self._known) if one is known)
        only = len(self._known) == 1
        piece = piece_of(self._part(known, point), self.tool, self._costs, only, self._shown)
        self._pieces[position].append(piece)
        return piece.part

    def _part(self, known: Known, point: Sequence[int]) -> Kernel:
        """A part by itself. What banks an array changes nothing but the array."""
        template = self.template
        assert template is not None
        steps = self.family.schedule.steps
        slots = zip(template.columns, template.slots, strict=True)
        drawn = {c for c, slot in slots if not isinstance(steps[slot.step], Partition)}
        key = known.nodes, tuple(point[c] for c in known.columns if c in drawn)
        if key not in self._bodies:
            self._bodies[key] = kernel_of_tree(template.at(point, known.nodes))
        return replace(self._bodies[key], memories=self._arrays(point).memories)

    def _together(self, table: Points, where: Counts, found: BatchEstimate) -> None:
        super()._together(table, where, found)
        if len(where):
            self._last.where = where

    def _logic(self, rows: Sequence[Counts], sums: Sums) -> None:
        fixed = np.stack([sums.lut, sums.ff], axis=1)
        if len(self._known) == 1:  # its units are among its own terms
            fixed[:] = 0.0
        nowhere = np.zeros(len(fixed), np.int64)
        self._last = _Composed(nowhere, rows, sums.composed, sums.waiting, fixed)
        super()._logic(rows, sums)

    def _memories(self, table: Points, sums: Sums) -> None:
        before = np.stack([sums.lut, sums.ff], axis=1)
        super()._memories(table, sums)
        # Memories are whole numbers of LUTs and flip-flops; what they were added to is not.
        self._last.fixed += np.rint(np.stack([sums.lut, sums.ff], axis=1) - before)


def _joinable(columns: Sequence[Column]) -> NDArray[np.bool_]:
    """Designs whose parts meet in nothing but the order of their first and last nodes, shape (n,).

    They do otherwise where two have statements of one name, or where nothing of one is outside of
    guards.
    """
    good = np.ones(len(columns[0].index), np.bool_)
    if len(columns) == 1:
        return good
    names = [frozenset[str]().union(*(p.statements for p in c.pieces)) for c in columns]
    if len(frozenset[str]().union(*names)) < sum(map(len, names)):
        return ~good
    for column in columns:
        good &= np.array([p.first is not None for p in column.pieces], np.bool_)[column.index]
    return good


def _base(found: BatchEstimate, where: Counts, clock: float) -> Floats:
    """As `qor_gnn.gnn.examples.convert.base_of`, shape (n, metrics)."""
    period = found.period_ns[where]
    columns: dict[str, NDArray[Any]] = {
        "latency": found.maximum[where],
        "lut": np.maximum(0, found.lut[where]),
        "ff": np.maximum(0, found.ff[where]),
        "period_ns": np.where(period > 0, period, clock),
        **{name: getattr(found, name)[where] for name in ("dsp", "bram18", "uram")},
    }
    return np.stack([columns[name] for name in BASE], axis=1).astype(np.float64)


def _device(asked: Device | str | None, tool: Personality) -> Device | None:
    """The device that shares are of, as `estimate` chooses it."""
    name = asked.name if isinstance(asked, Device) else asked or tool.device
    return DEVICES.get(name)


def _graph(all_: Packed, n: int) -> DesignGraph:
    """One of the graphs; its nodes have no names."""
    nodes = {kind: all_.nodes[kind][at[n] : at[n + 1]] for kind, at in all_.node_at.items()}
    edges = {
        key: all_.edges[key][:, at[n] : at[n + 1]]
        for key, at in all_.edge_at.items()
        if at[n + 1] > at[n]
    }
    carried = all_.edge_at[CARRIED]
    region = np.full(len(nodes[NodeType.OP]), -1)
    if _IN_LOOP in edges:
        region[edges[_IN_LOOP][0]] = edges[_IN_LOOP][1]
    distances = all_.distances[carried[n] : carried[n + 1]]
    return DesignGraph(nodes, dict.fromkeys(NodeType, ()), edges, distances, region)


# -------------------------------------------------------------------------------------- predictions


def predict_family(
    model: Fitted, batch: GraphBatch, points: Sequence[Sequence[int]] | Points
) -> Prediction:
    """Predictions for any number of points, from their factors on.

    Args:
        model: a predictor that does not look at `Example.pragmas`.
        batch: the family; what was scheduled of it is remembered.
        points: (n, parameters) integers, in the order of `Family.names`.

    Returns:
        Of each metric an array of shape (n,); NaN where the schedule is not legal.
    """
    table = np.asarray(points, np.int64).reshape(len(points), len(batch.family.names))
    mean = {metric: np.full(len(table), np.nan) for metric in METRICS}
    std = {metric: np.full(len(table), np.nan) for metric in METRICS}
    for first in range(0, len(table), MOST):
        found = batch.graphs(table[first : first + MOST])
        alone = list(found.alone.values())
        for where, answer in (
            (found.where, _together(model, found.together)),
            (np.array([*found.alone], np.int64), model.predict(alone) if alone else None),
        ):
            if answer is not None:
                for metric in METRICS:
                    mean[metric][first + where] = answer.mean[metric]
                    std[metric][first + where] = answer.std[metric]
    return Prediction(mean, std)


def _together(model: Fitted, found: Together | None) -> Prediction | None:
    """Of designs that were composed; the networks get their graphs as they are."""
    if found is None:
        return None
    examples = found.examples()
    if isinstance(model, Model):
        return model.predict_loaded(examples, gathered(found.graphs))
    return model.predict(examples)
