"""The graph of a design: its region tree with what the white box found for it.

The number of nodes does not depend on unroll factors: copies are in the features.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p

import numpy as np
import numpy.typing as npt

from backends.devices import DEVICES
from qor_gnn.design.region import Guard, Kernel, Loop, Memory, Node, Op, Statement, walk
from qor_gnn.gnn.graph.schema import (
    FEATURES,
    MEMORY_KINDS,
    OP_KINDS,
    TYPES,
    Edge,
    EdgeType,
    NodeType,
)
from qor_gnn.result.qor_estimate import LoopEstimate, QorEstimate
from qor_gnn.schedule.reasons import Recurrence
from qor_gnn.tools.personality import Personality

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class DesignGraph:
    """A heterogeneous graph.

    Attributes:
        nodes: of each type a matrix, a row a node, with the columns of `schema.FEATURES`.
        names: of each type the nodes' names, for people.
        edges: of each (source type, edge type, target type) the pairs of rows, shape (2, n).
        distances: of the `EdgeType.CARRIED` edges, ``log1p`` of the iterations.
        region: for each op the row of the loop that it belongs to, -1 for none.
    """

    nodes: Mapping[NodeType, Matrix]
    names: Mapping[NodeType, tuple[str, ...]]
    edges: Mapping[Edge, npt.NDArray[np.int64]]
    distances: Matrix
    region: npt.NDArray[np.int64]


def design_graph(kernel: Kernel, tool: Personality, answer: QorEstimate) -> DesignGraph:
    """The graph of a design.

    Args:
        kernel: its region tree.
        tool: whose operators it uses.
        answer: the white box's estimate of it.
    """
    maker = _Maker(kernel, tool, answer)
    for function in kernel.functions:
        maker.body(function.body, _Around())
    maker.carried()
    maker.kernel_node()
    return maker.graph()


@dataclass(frozen=True, slots=True)
class _Around:
    """Where a node is: the row of its loop (-1: the kernel), copies and iterations of it."""

    loop: int = -1
    copies: float = 1.0
    iterations: float = 1.0
    level: int = 0
    interval: float = 0.0  # of the pipeline around; 0 outside of pipelines


_Link = tuple[NodeType, int]


@dataclass(slots=True)
class _Maker:
    kernel: Kernel
    tool: Personality
    answer: QorEstimate
    rows: dict[NodeType, list[dict[str, float]]] = field(default_factory=dict)
    names: dict[NodeType, list[str]] = field(default_factory=dict)
    links: dict[Edge, list[tuple[int, int]]] = field(default_factory=dict)
    distances: list[float] = field(default_factory=list)
    regions: list[int] = field(default_factory=list)
    memories: dict[str, int] = field(default_factory=dict)
    accesses: dict[tuple[str, str, str], int] = field(default_factory=dict)
    recurrences: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in NodeType:
            self.rows[kind], self.names[kind] = [], []
        counts = Counter(_accesses(self.kernel))
        for memory in self.kernel.memories:
            if memory.shape:
                row = _memory_features(memory, counts)
                self.memories[memory.name] = self._node(NodeType.MEMORY, memory.name, row)

    def _node(self, kind: NodeType, name: str, features: dict[str, float]) -> int:
        self.rows[kind].append(features)
        self.names[kind].append(name)
        return len(self.rows[kind]) - 1

    def _edge(self, source: _Link, kind: EdgeType, target: _Link) -> None:
        key = (source[0], kind, target[0])
        self.links.setdefault(key, []).append((source[1], target[1]))

    # ----------------------------------------------------------------------------- the tree

    def body(self, nodes: Sequence[Node], around: _Around) -> None:
        """Everything in one body, and the order between its parts."""
        last: _Link | None = None
        for node in nodes:
            match node:
                case Loop():
                    here = self.loop(node, around)
                case Guard(_, inner):
                    self.body(inner, around)
                    continue
                case Statement():
                    here = self.statement(node, around)
            if last is not None:
                self._edge(last, EdgeType.NEXT, here)
            last = here

    def loop(self, loop: Loop, around: _Around) -> _Link:
        """A loop; those flattened with its inner ones share that region's figures."""
        found = self._estimate(loop)
        inside = _Around(
            len(self.rows[NodeType.LOOP]),
            around.copies * loop.factor,
            around.iterations * max(1.0, loop.trips.average / loop.factor),
            around.level + 1,
            found.ii if found is not None and found.kind == "pipeline" else around.interval,
        )
        features = self._loop_features(loop, found, around, inside)
        row = self._node(NodeType.LOOP, loop.name, features)
        self._edge((NodeType.LOOP, row), EdgeType.HELD, _holder(around))
        self.body(loop.body, inside)
        return NodeType.LOOP, row

    def _estimate(self, loop: Loop) -> LoopEstimate | None:
        """The white box's row for a loop: its own, or that of the nest it is flattened into."""
        inside = {n.name for n in walk(loop.body) if isinstance(n, Statement)}
        for found in self.answer.loops:
            if loop.name in found.loops and inside & set(found.statements):
                return found
        return None

    def _loop_features(
        self, loop: Loop, found: LoopEstimate | None, around: _Around, inside: _Around
    ) -> dict[str, float]:
        total = max(1.0, self.answer.latency.average)
        asked = loop.ii or (found.asked if found is not None else None) or 0
        features = {
            "asked": log1p(asked),
            "trips": log1p(loop.trips.average),
            "iterations": log1p(inside.iterations),
            "unroll": log1p(loop.factor),
            "multiplicity": log1p(inside.copies),
            "level": float(around.level),
            "ops": log1p(sum(len(n.ops) for n in walk(loop.body) if isinstance(n, Statement))),
            "variable": float(loop.trips.minimum != loop.trips.maximum),
        }
        if found is not None:
            runs = found.latency.average * around.iterations / total
            features |= {
                "pipelined": float(found.kind == "pipeline"),
                "ii": log1p(max(0.0, found.ii)),
                "ii_over_asked": log1p(found.ii / asked) if asked else 0.0,
                "depth": log1p(max(0.0, found.depth)),
                "flattened": float(len(found.loops) > 1),
                "dsp": log1p(found.dsp),
                "latency_share": min(1.0, runs),
            }
        return features

    # --------------------------------------------------------------------------- statements

    def statement(self, statement: Statement, around: _Around) -> _Link:
        """Its operations, and its store."""
        first = len(self.rows[NodeType.OP])
        depths: list[int] = []
        for op in statement.ops:
            depths.append(1 + max((depths[o] for o in op.operands), default=0))
            row = self._op(op, around, depths[-1], _constants(statement, op))
            for operand in op.operands:
                self._edge((NodeType.OP, first + operand), EdgeType.DATA, (NodeType.OP, row))
            if op.kind == "load" and op.access is not None:
                self._access(statement.name, "load", op.access.memory, row)
        value = statement.ops[-1]
        store = Op("store", value.type, value.width, access=statement.target)
        row = self._op(store, around, depths[-1] + 1, 0)
        self._edge((NodeType.OP, row - 1), EdgeType.DATA, (NodeType.OP, row))
        self._access(statement.name, "store", statement.target.memory, row)
        return NodeType.OP, row

    def _access(self, statement: str, kind: str, array: str, row: int) -> None:
        self.accesses.setdefault((statement, kind, array), row)
        memory = self.memories.get(array)
        if memory is None:
            return
        if kind == "load":
            self._edge((NodeType.MEMORY, memory), EdgeType.LOAD, (NodeType.OP, row))
        else:
            self._edge((NodeType.OP, row), EdgeType.STORE, (NodeType.MEMORY, memory))

    def _op(self, op: Op, around: _Around, depth: int, constants: int) -> int:
        kind = op.kind if op.kind in OP_KINDS else "other"
        features = {
            f"kind={kind}": 1.0,
            f"type={op.type if op.type in TYPES else 'int'}": 1.0,
            "width": op.width / 64,
            "multiplicity": log1p(around.copies),
            "depth": log1p(depth),
            "constant_operand": float(constants),
        }
        if op.kind not in ("load", "store", "input", "const", "index"):
            features |= self._cost(op, around)
        elif op.access is not None and op.access.memory in self.memories:
            memory = self.kernel.memory(op.access.memory)
            moving = sum(not i.is_const for i in op.access.indices)
            features["banks"] = log1p(memory.banks)
            features["unknown_banks"] = log1p(memory.banks) if moving else 0.0
        row = self._node(NodeType.OP, op.kind, features)
        self.regions.append(around.loop)
        self._edge((NodeType.OP, row), EdgeType.HELD, _holder(around))
        return row

    def _cost(self, op: Op, around: _Around) -> dict[str, float]:
        operator = self.tool.operator_of(op, "")
        interval = max(1.0, around.interval)
        return {
            "units": log1p(max(1.0, around.copies / interval)),
            "distance": log1p(operator.distance),
            "delay": operator.delay / self.tool.clock_ns,
            "dsp": log1p(operator.dsp),
            "lut": log1p(operator.lut),
            "ff": log1p(operator.ff),
        }

    # ------------------------------------------------------------------------------- the rest

    def carried(self) -> None:
        """Recurrences that limit an interval, as the white box names them."""
        for loop in self.answer.loops:
            for limit in loop.limits:
                if isinstance(limit, Recurrence):
                    self._recurrence(limit)
        for (source, target), distance in self.recurrences.items():
            self._edge((NodeType.OP, source), EdgeType.CARRIED, (NodeType.OP, target))
            self.distances.append(log1p(distance))

    def _recurrence(self, limit: Recurrence) -> None:
        for first in limit.statements:
            source = self.accesses.get((first, "store", limit.array))
            for second in limit.statements:
                target = self.accesses.get((second, "load", limit.array))
                if source is not None and target is not None:
                    known = self.recurrences.get((source, target), limit.distance)
                    self.recurrences[source, target] = min(known, limit.distance)

    def kernel_node(self) -> None:
        """The design as a whole."""
        answer, device = self.answer, DEVICES.get(self.answer.device)
        used = {"dsp": answer.dsp, "bram18": answer.bram18}
        features = {
            "latency": log1p(answer.latency.average),
            "clock": answer.clock_ns / 10,
            "loops": log1p(len(answer.loops)),
            "arrays": log1p(len(self.memories)),
            **{name: log1p(count or 0) for name, count in used.items()},
        }
        if device is not None:
            for name, column in (("dsp", "dsp_share"), ("bram18", "bram_share")):
                features[column] = min(4.0, (used[name] or 0) / max(1, getattr(device, name)))
        self._node(NodeType.KERNEL, self.kernel.name, features)

    def graph(self) -> DesignGraph:
        """What was collected, as arrays."""
        nodes = {}
        for kind, columns in FEATURES.items():
            place = {name: n for n, name in enumerate(columns)}
            matrix = np.zeros((len(self.rows[kind]), len(columns)), dtype=np.float32)
            for row, features in enumerate(self.rows[kind]):
                for name, value in features.items():
                    matrix[row, place[name]] = value
            nodes[kind] = matrix
        edges = {key: np.array(pairs, dtype=np.int64).T for key, pairs in self.links.items()}
        return DesignGraph(
            nodes,
            {kind: tuple(names) for kind, names in self.names.items()},
            edges,
            np.array(self.distances, dtype=np.float32),
            np.array(self.regions, dtype=np.int64),
        )


def _holder(around: _Around) -> _Link:
    return (NodeType.KERNEL, 0) if around.loop < 0 else (NodeType.LOOP, around.loop)


def _constants(statement: Statement, op: Op) -> int:
    return int(any(statement.ops[o].kind == "const" for o in op.operands))


def _accesses(kernel: Kernel) -> list[tuple[str, str]]:
    found = []
    for function in kernel.functions:
        for node in walk(function.body):
            if isinstance(node, Statement):
                found.append((node.target.memory, "write"))
                found += [
                    (op.access.memory, "read")
                    for op in node.ops
                    if op.kind == "load" and op.access is not None
                ]
    return found


def _memory_features(memory: Memory, counts: Counter[tuple[str, str]]) -> dict[str, float]:
    words = float(np.prod(memory.shape))
    kind = "registers" if memory.in_registers else memory.impl
    kind = kind if kind in MEMORY_KINDS else "auto"
    return {
        f"kind={kind}": 1.0,
        "argument": float(memory.argument),
        "width": getattr(memory.dtype, "width", 32) / 64,
        "words": log1p(words),
        "banks": log1p(memory.banks),
        "bank_words": log1p(words / memory.banks),
        "reads": log1p(counts[memory.name, "read"]),
        "writes": log1p(counts[memory.name, "write"]),
        "dimensions": float(len(memory.shape)),
    }
