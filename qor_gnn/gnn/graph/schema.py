"""What nodes and edges of a design's graph are, and the columns of their features.

A schema version names all of it: weights that were trained on another one are refused.
"""

from __future__ import annotations

from enum import Enum

VERSION = 2


class NodeType(Enum):
    """Nodes. An unrolled copy is no node: `multiplicity` counts it."""

    OP = "op"
    MEMORY = "memory"  # an array: its banks and their ports
    LOOP = "loop"  # a loop, or a nest flattened into one region
    KERNEL = "kernel"


class EdgeType(Enum):
    """Edges, each from what comes first to what needs it; the network reads them both ways."""

    DATA = "data"  # op -> op: an operand
    LOAD = "load"  # memory -> op
    STORE = "store"  # op -> memory
    HELD = "held"  # op or loop -> the loop, or kernel, that it is in
    NEXT = "next"  # the last op of a statement, or a loop -> what comes next in the same body
    CARRIED = "carried"  # store -> load of the same element some iterations later


OP_KINDS = (
    *("load", "store", "input", "const", "index", "add", "sub", "mul", "div", "mod", "neg"),
    *("abs", "sqrt", "exp", "log", "tanh", "cmp", "select", "and", "or", "xor", "shl", "shr"),
    *("cast", "from_int", "to_int", "other"),
)
TYPES = ("int", "f16", "bf16", "f32", "f64")
MEMORY_KINDS = ("registers", "lutram", "bram", "uram", "auto")

OP_FEATURES = (
    *(f"kind={k}" for k in OP_KINDS),
    *(f"type={t}" for t in TYPES),
    *("width", "multiplicity", "units", "distance", "delay", "dsp", "lut", "ff"),
    *("banks", "unknown_banks", "constant_operand", "depth"),
)
"""``width`` in 64 bits; counts, costs and cycles as ``log1p``; ``delay`` in the clock's period.
``units`` is the operators left after sharing, ``unknown_banks`` those that an access chooses among
at run time, ``depth`` the place on the longest path of its statement.
"""

MEMORY_FEATURES = (
    *(f"kind={k}" for k in MEMORY_KINDS),
    *("argument", "width", "words", "banks", "bank_words", "reads", "writes", "dimensions"),
)

LOOP_FEATURES = (
    *("pipelined", "asked", "ii", "ii_over_asked", "depth", "trips", "iterations", "unroll"),
    *("multiplicity", "level", "flattened", "ops", "dsp", "latency_share", "variable"),
)

KERNEL_FEATURES = (
    *("latency", "dsp", "bram18", "clock", "loops", "arrays", "dsp_share", "bram_share"),
)
"""LUT and FF are not among them: the predictor fits what their terms cost by itself."""

FEATURES = {
    NodeType.OP: OP_FEATURES,
    NodeType.MEMORY: MEMORY_FEATURES,
    NodeType.LOOP: LOOP_FEATURES,
    NodeType.KERNEL: KERNEL_FEATURES,
}

EDGE_FEATURES = ("distance",)
"""Iterations of a `EdgeType.CARRIED` edge, as ``log1p``; 0 elsewhere."""

Edge = tuple[NodeType, EdgeType, NodeType]

EDGES: tuple[Edge, ...] = (
    (NodeType.OP, EdgeType.DATA, NodeType.OP),
    (NodeType.MEMORY, EdgeType.LOAD, NodeType.OP),
    (NodeType.OP, EdgeType.STORE, NodeType.MEMORY),
    (NodeType.OP, EdgeType.HELD, NodeType.LOOP),
    (NodeType.OP, EdgeType.HELD, NodeType.KERNEL),
    (NodeType.LOOP, EdgeType.HELD, NodeType.LOOP),
    (NodeType.LOOP, EdgeType.HELD, NodeType.KERNEL),
    (NodeType.OP, EdgeType.NEXT, NodeType.OP),
    (NodeType.OP, EdgeType.NEXT, NodeType.LOOP),
    (NodeType.LOOP, EdgeType.NEXT, NodeType.OP),
    (NodeType.LOOP, EdgeType.NEXT, NodeType.LOOP),
    (NodeType.OP, EdgeType.CARRIED, NodeType.OP),
)
"""Every kind of edge that a graph may have."""


def relation(edge: Edge) -> tuple[str, str, str]:
    """A kind of edge as PyTorch Geometric names it."""
    source, kind, target = edge
    return source.value, kind.value, target.value
