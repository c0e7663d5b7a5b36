"""Designs as rows of numbers, for predictors that do not read graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qor_gnn.gnn.examples.example import BASE, Example, Floats
from qor_gnn.gnn.graph.schema import FEATURES, EdgeType, NodeType

_COPIES = {kind: FEATURES[kind].index("multiplicity") for kind in (NodeType.OP, NodeType.LOOP)}


def pragma_features(examples: Sequence[Example]) -> Floats:
    """The directives alone, shape (n, `qor_gnn.gnn.graph.pragmas.LENGTH`)."""
    return np.array([one.pragmas for one in examples], dtype=np.float64)


def base_features(examples: Sequence[Example]) -> Floats:
    """``log1p`` of what the white box says, its LUT and FF left out, shape (n, 5).

    Those two are sums with coefficients that are fitted: `share_features` has them.
    """
    names = [name for name in BASE if name not in ("lut", "ff")]
    found: Floats = np.log1p(np.array([[one.base[name] for name in names] for one in examples]))
    return found


def share_features(parts: Floats) -> Floats:
    """The total's logarithm, then the share of each term in it.

    Args:
        parts: of `qor_gnn.gnn.examples.terms`, shape (n, terms).
    """
    total = np.maximum(1.0, parts.sum(axis=1, keepdims=True))
    return np.hstack([np.log(total), parts / total])


def graph_features(examples: Sequence[Example]) -> Floats:
    """Sums over nodes of their features, plain and by copies, and numbers of edges by type."""
    return np.array([_graph(one) for one in examples], dtype=np.float64)


def _graph(one: Example) -> Floats:
    found: list[Floats] = []
    for kind in NodeType:
        rows = one.graph.nodes[kind].astype(np.float64)
        found += [np.array([len(rows)]), rows.sum(axis=0)]
        if len(rows):
            found.append(rows.max(axis=0))
        else:
            found.append(np.zeros(rows.shape[1]))
        if kind in _COPIES and len(rows):
            copies = np.expm1(rows[:, _COPIES[kind]])
            found.append(np.log1p(copies @ np.maximum(0.0, rows)))
        elif kind in _COPIES:
            found.append(np.zeros(rows.shape[1]))
    edges = dict.fromkeys(EdgeType, 0)
    for (_, edge, _), pairs in one.graph.edges.items():
        edges[edge] += pairs.shape[1]
    found.append(np.array(list(edges.values())))
    return np.concatenate(found)
