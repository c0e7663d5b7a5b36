"""`DepGraph`, level 1: statements and arrays as nodes, accesses and dependences as edges."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import networkx as nx

from polyhedral.dependences.direct import Dependence, dependences
from polyhedral.scop.scop import Scop, common_loops

SCHEMA_VERSION = 1
DepGraph: TypeAlias = nx.MultiDiGraph
Direction = Literal["<", "=", ">", "<=", ">=", "*"]


def dependence_graph(scop: Scop) -> DepGraph:
    """The coarse graph of a program.

    Nodes: statements (``kind="statement"``, loops, source) and arrays (``kind="array"``, type,
    storage). Edges: reads (array → statement), writes (statement → array) and dependences
    (statement → statement) with kind, array, the loops that both share, distance vector (None
    where not constant) and direction vector (the sign of the distance per loop).
    """
    graph = DepGraph(name=scop.program.name)
    for array in scop.program.arrays:
        graph.add_node(
            f"array:{array.name}",
            kind="array",
            name=array.name,
            type=str(array.type),
            storage=array.storage.value,
        )
    for s in scop.statements:
        graph.add_node(
            f"statement:{s.name}",
            kind="statement",
            name=s.name,
            loops=list(s.variables),
            source=s.stmt.source,
        )
        for access in s.reads:
            graph.add_edge(
                f"array:{access.array}", f"statement:{s.name}", kind="read", access=str(access)
            )
        target = s.stmt.target
        graph.add_edge(
            f"statement:{s.name}", f"array:{target.array}", kind="write", access=str(target)
        )
    for dep in dependences(scop):
        graph.add_edge(f"statement:{dep.source.name}", f"statement:{dep.sink.name}", **_edge(dep))
    return graph


def _edge(dep: Dependence) -> dict[str, Any]:
    shared = common_loops(dep.source, dep.sink)
    return {
        "kind": dep.kind.value,
        "array": dep.array,
        "loops": list(dep.source.variables[:shared]),
        "distance": list(dep.distance),
        "direction": [direction(low, high) for low, high in dep.ranges],
        "reduction": dep.reduction,
    }


def direction(low: int | None, high: int | None) -> Direction:
    """``<`` where the sink is in a later iteration of the loop, ``=`` in the same one."""
    if low is not None and low == high == 0:
        return "="
    if low is not None and low >= 0:
        return "<" if low > 0 else "<="
    if high is not None and high <= 0:
        return ">" if high < 0 else ">="
    return "*"


def to_json(graph: DepGraph) -> str:
    """JSON with ``schema_version``, nodes and edges in a fixed order."""
    nodes = [{"id": n, **data} for n, data in graph.nodes(data=True)]
    edges = [{"source": a, "target": b, **data} for a, b, data in graph.edges(data=True)]
    head = {"schema_version": SCHEMA_VERSION, "kernel": graph.graph["name"]}
    return json.dumps({**head, "nodes": nodes, "edges": edges}, indent=2) + "\n"


def to_dot(graph: DepGraph) -> str:
    """Graphviz text: boxes are statements, ellipses arrays, solid edges dependences."""
    lines = [f"digraph {_quoted(graph.graph['name'])} {{", "  rankdir=LR;"]
    for node, data in graph.nodes(data=True):
        shape = "box" if data["kind"] == "statement" else "ellipse"
        lines.append(f"  {_quoted(node)} [label={_quoted(data['name'])}, shape={shape}];")
    for a, b, data in graph.edges(data=True):
        if data["kind"] in ("read", "write"):
            style = f"label={_quoted(data['access'])}, style=dashed"
        else:
            vector = ", ".join("*" if d is None else str(d) for d in data["distance"])
            label = f"{data['kind']} {data['array']} ({vector})"
            style = f"label={_quoted(label)}"
        lines.append(f"  {_quoted(a)} -> {_quoted(b)} [{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
