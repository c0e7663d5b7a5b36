"""One part of a design (a top-level nest) under its own factors, as a graph of its own.

It is scheduled once, by the code that schedules single designs, and once is read what the white box,
the graph and the resource terms need of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qor_gnn.area.resources import Coefficients
from qor_gnn.batch.logic import PartLogic, part_logic, whole_logic
from qor_gnn.batch.regions import Part, part_from, runs_of
from qor_gnn.design.region import Guard, Kernel, Loop, Node, Statement, walk
from qor_gnn.gnn.family.terms import OPEN, priced
from qor_gnn.gnn.graph.build import Matrix, design_graph
from qor_gnn.gnn.graph.schema import EDGES, FEATURES, Edge, EdgeType, NodeType
from qor_gnn.result.loop_rows import Run, loop_rows
from qor_gnn.result.qor_estimate import Cycles, QorEstimate
from qor_gnn.tools.personality import Personality

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Link = tuple[NodeType, int]
"""A node: its type and its row."""

LOAD = (NodeType.MEMORY, EdgeType.LOAD, NodeType.OP)
STORE = (NodeType.OP, EdgeType.STORE, NodeType.MEMORY)
_NONE = np.zeros((2, 0), np.int64)
_SHARE = FEATURES[NodeType.LOOP].index("latency_share")
_ALL = 2.0**100  # cycles that a part is a share of, until those of its design are known


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a design.

    Attributes:
        part: what the white box composes.
        logic: its resources, with costs that are left open.
        nodes: features of operations and loops; loops' shares of the latency are 0.
        edges: of each of `EDGES` those within the part; rows of memories as in the design.
        sizes: how many edges those are.
        distances: of the carried edges.
        cycles: of each loop over the whole run; 0 where the white box has no row for it.
        loops: rows that the white box has for them.
        uses: loads and stores of each array, shape (2, arrays).
        statements: their names.
        first, last: what the parts before and behind it are linked to; None where there is nothing.
        linked_at: of each of `EDGES` how many come before a link to ``first``.
    """

    part: Part
    logic: PartLogic
    nodes: dict[NodeType, Matrix]
    edges: tuple[Indices, ...]
    sizes: Indices
    distances: Matrix
    cycles: Floats
    loops: int
    uses: Indices
    statements: frozenset[str]
    first: Link | None
    last: Link | None
    linked_at: Indices


def piece_of(
    kernel: Kernel, tool: Personality, costs: Coefficients | None, only: bool, drawn: Personality
) -> Piece:
    """Schedule a part, in all modes.

    Args:
        kernel: the part, a kernel of its own here.
        tool: whose schedule it is.
        costs: of LUTs and flip-flops, if they are known.
        only: it is all of the design.
        drawn: the tool whose operators the graph shows.
    """
    (function,) = kernel.functions
    runs = runs_of(kernel, tool)
    average = runs["average"]
    loops = loop_rows(kernel, {m: Run(0.0, (r,)) for m, r in runs.items()}, tool, False)
    answer = QorEstimate(
        *(kernel.name, Cycles(_ALL, 0, 0), loops, (), 0, "model"),
        *(tool.name, tool.device, tool.clock_ns),
    )
    graph = design_graph(kernel, drawn, answer)
    features = graph.nodes[NodeType.LOOP]
    cycles = features[:, _SHARE].astype(np.float64) * _ALL
    features[:, _SHARE] = 0.0
    logic = whole_logic(average, OPEN) if only else part_logic(average, OPEN)
    first, last, linked_at = _ends(function.body, graph.edges)
    edges = tuple(graph.edges.get(key, _NONE) for key in EDGES)
    arrays = len(graph.nodes[NodeType.MEMORY])
    loads, stores = edges[EDGES.index(LOAD)][0], edges[EDGES.index(STORE)][1]
    return Piece(
        part=part_from(runs, tool, None if costs is None else priced(logic, costs)),
        logic=logic,
        nodes={kind: graph.nodes[kind] for kind in (NodeType.OP, NodeType.LOOP)},
        edges=edges,
        sizes=np.array([pairs.shape[1] for pairs in edges]),
        distances=graph.distances,
        cycles=cycles,
        loops=len(loops),
        uses=np.stack([np.bincount(rows, minlength=arrays) for rows in (loads, stores)]),
        statements=frozenset(s.name for s in walk(function.body) if isinstance(s, Statement)),
        first=first,
        last=last,
        linked_at=linked_at,
    )


def _ends(
    body: Sequence[Node], edges: Mapping[Edge, Indices]
) -> tuple[Link | None, Link | None, Indices]:
    """The first and the last node of a body, and what comes before a link to the first of them.

    As `qor_gnn.gnn.graph.build` numbers nodes: a loop in front of what is in it, a statement's store last
    of its operations. What is under a guard is linked to nothing.
    """
    ops = loops = 0
    first: Link | None = None
    last: Link | None = None
    done: dict[NodeType, int] = {}
    for node in body:
        before = loops
        for inner in walk((node,)):
            loops += isinstance(inner, Loop)
            ops += len(inner.ops) + 1 if isinstance(inner, Statement) else 0
        if isinstance(node, Guard):
            continue
        last = (NodeType.LOOP, before) if isinstance(node, Loop) else (NodeType.OP, ops - 1)
        if first is None:
            first, done = last, {NodeType.LOOP: loops, NodeType.OP: ops}
    linked_at = np.zeros(len(EDGES), np.int64)
    for n, key in enumerate(EDGES):
        if key[1] == EdgeType.NEXT and key in edges and done:
            linked_at[n] = (edges[key][1] < done[key[2]]).sum()
    return first, last, linked_at
