"""Examples as arrays over all of them, and back: the contents of a file of `qor_gnn.gnn.examples.example`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from qor_gnn.gnn.examples.checks import check_features, check_figures, check_groups, check_words
from qor_gnn.gnn.examples.example import BASE, LABELS, Example
from qor_gnn.gnn.graph.build import DesignGraph
from qor_gnn.gnn.graph.schema import EDGES, FEATURES, Edge, EdgeType, NodeType

Array = npt.NDArray[Any]
_CARRIED = EDGES.index((NodeType.OP, EdgeType.CARRIED, NodeType.OP))
_TEXTS = ("target", "kernel", "family", "group", "part", "name")


def packed(examples: Sequence[Example]) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays, and the tables of words that they index."""
    words = _Words()
    terms = sorted({name for e in examples for name in e.terms})
    arrays: dict[str, Array] = {
        "base": np.array([[e.base[m] for m in BASE] for e in examples], dtype=np.float64),
        "label": np.array(
            [[e.label.get(m, np.nan) for m in LABELS] for e in examples], dtype=np.float64
        ),
        "terms": np.array([[e.terms.get(t, 0.0) for t in terms] for e in examples], np.float64),
        "weight": np.array([e.weight for e in examples], dtype=np.float64),
        "texts": np.array([[words[getattr(e, t)] for t in _TEXTS] for e in examples], np.int32),
    }
    arrays["base"] = arrays["base"].reshape(-1, len(BASE))
    arrays["label"] = arrays["label"].reshape(-1, len(LABELS))
    arrays["terms"] = arrays["terms"].reshape(len(examples), len(terms))
    arrays["texts"] = arrays["texts"].reshape(-1, len(_TEXTS))
    _rows(arrays, "pragmas", [np.array(e.pragmas, dtype=np.float64) for e in examples])
    for kind in NodeType:
        _rows(arrays, f"node.{kind.value}", [e.graph.nodes[kind] for e in examples])
        names = [np.array([words[n] for n in e.graph.names[kind]], np.int32) for e in examples]
        arrays[f"names.{kind.value}"] = _joined(names)
    none = np.zeros((2, 0), dtype=np.int64)
    for n, key in enumerate(EDGES):
        pairs = [e.graph.edges.get(key, none).T.astype(np.int32) for e in examples]
        _rows(arrays, f"edge.{n}", pairs)
    arrays["distances"] = _joined([e.graph.distances for e in examples])
    arrays["region"] = _joined([e.graph.region.astype(np.int32) for e in examples])
    return arrays, {"words": words.list, "terms": terms}


class _Words:
    """A table of words; each has a number."""

    def __init__(self) -> None:
        self.list: list[str] = []
        self.number: dict[str, int] = {}

    def __getitem__(self, word: str) -> int:
        if word not in self.number:
            self.number[word] = len(self.list)
            self.list.append(word)
        return self.number[word]


def _rows(arrays: dict[str, Array], name: str, parts: Sequence[Array]) -> None:
    arrays[name] = _joined(parts)
    arrays[f"{name}.count"] = np.array([len(p) for p in parts], dtype=np.int32)


def _joined(parts: Sequence[Array]) -> Array:
    return np.ascontiguousarray(np.concatenate(parts)) if parts else np.zeros(0)


# ----------------------------------------------------------------------------------------- reading


def unpacked(arrays: Mapping[str, Array], tables: Mapping[str, Any]) -> list[Example]:
    """The examples of a file.

    Raises:
        ValueError, KeyError, IndexError, TypeError: The arrays do not fit together.
    """
    words, terms = tables["words"], tables["terms"]
    check_words([*words, *terms])
    count = len(arrays["base"])
    _shape(arrays["base"], (count, len(BASE)), "base")
    _shape(arrays["label"], (count, len(LABELS)), "label")
    _shape(arrays["terms"], (count, len(terms)), "terms")
    _shape(arrays["weight"], (count,), "weight")
    texts = _indices(arrays["texts"], len(words), "texts")
    _shape(texts, (count, len(_TEXTS)), "texts")

    def called(row: int) -> str:
        return f"design {row} ({words[texts[row][_TEXTS.index('kernel')]]})"

    check_figures(arrays, {"base": BASE, "label": LABELS, "terms": terms}, called)
    check_groups([words[i] for i in texts[:, _TEXTS.index("group")]], called)
    pragmas = _cut(arrays, "pragmas", count)
    _check_graphs(arrays, called)
    graphs = _graphs(arrays, words, count)
    found = []
    for n, (graph, given) in enumerate(zip(graphs, pragmas, strict=True)):
        label = zip(LABELS, arrays["label"][n].tolist(), strict=True)
        found.append(
            Example(
                graph=graph,
                base=dict(zip(BASE, arrays["base"][n].tolist(), strict=True)),
                label={name: value for name, value in label if not np.isnan(value)},
                pragmas=tuple(given.tolist()),
                terms=dict(zip(terms, arrays["terms"][n].tolist(), strict=True)),
                weight=float(arrays["weight"][n]),
                **{t: words[i] for t, i in zip(_TEXTS, texts[n], strict=True)},
            )
        )
    return found


def _check_graphs(arrays: Mapping[str, Array], called: Callable[[int], str]) -> None:
    """That every feature is a number that a design may have."""
    check_features("pragmas", arrays["pragmas"], arrays["pragmas.count"], called)
    for kind in NodeType:
        name = f"node.{kind.value}"
        rows, counts = arrays[name], arrays[f"{name}.count"]
        if len(rows):
            _shape(rows, (len(rows), len(FEATURES[kind])), name)
        check_features(name, rows, counts, called, FEATURES[kind])
    check_features("distances", arrays["distances"], arrays[f"edge.{_CARRIED}.count"], called)


def _graphs(arrays: Mapping[str, Array], words: list[str], count: int) -> Iterator[DesignGraph]:
    nodes, names, edges = {}, {}, {}
    for kind in NodeType:
        nodes[kind] = list(_cut(arrays, f"node.{kind.value}", count, len(FEATURES[kind])))
        numbers = _indices(arrays[f"names.{kind.value}"], len(words), "names")
        lengths = arrays[f"node.{kind.value}.count"]
        names[kind] = list(_pieces(numbers, lengths, count, "names"))
    for n, key in enumerate(EDGES):
        edges[key] = list(_cut(arrays, f"edge.{n}", count, 2))
    distances = _pieces(arrays["distances"], arrays[f"edge.{_CARRIED}.count"], count, "distances")
    regions = _pieces(arrays["region"], arrays["node.op.count"], count, "region")
    for n, (distance, region) in enumerate(zip(distances, regions, strict=True)):
        mine = {kind: nodes[kind][n].astype(np.float32, copy=False) for kind in NodeType}
        yield DesignGraph(
            mine,
            {kind: tuple(words[w] for w in names[kind][n]) for kind in NodeType},
            {key: _edges(edges[key][n], key, mine) for key in EDGES if len(edges[key][n])},
            distance.astype(np.float32, copy=False),
            _indices(region + 1, len(mine[NodeType.LOOP]) + 1, "region").astype(np.int64) - 1,
        )


def _edges(pairs: Array, key: Edge, nodes: Mapping[NodeType, Array]) -> npt.NDArray[np.int64]:
    _indices(pairs[:, 0], len(nodes[key[0]]), "edges")
    _indices(pairs[:, 1], len(nodes[key[2]]), "edges")
    return np.ascontiguousarray(pairs.T, dtype=np.int64)


def _cut(
    arrays: Mapping[str, Array], name: str, count: int, width: int | None = None
) -> Iterator[Array]:
    array = arrays[name]
    if width is not None and len(array):
        _shape(array, (len(array), width), name)
    elif width is not None:
        array = array.reshape(0, width)
    return _pieces(array, arrays[f"{name}.count"], count, name)


def _pieces(array: Array, lengths: Array, count: int, name: str) -> Iterator[Array]:
    _shape(lengths, (count,), name)
    if lengths.dtype.kind == "f" or (lengths < 0).any() or lengths.sum() != len(array):
        raise ValueError(f"counts of {name} that do not fit")
    return iter(np.split(array, np.cumsum(lengths)[:-1]) if count else ())


def _shape(array: Array, shape: tuple[int, ...], name: str) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} of shape {array.shape}, not {shape}")


def _indices(array: Array, below: int, name: str) -> Array:
    if len(array) and (array.dtype.kind == "f" or array.min() < 0 or array.max() >= below):
        raise ValueError(f"{name} that point to nothing")
    return array
