"""A trained predictor: members that are each asked where they have not been told the answer.

How far to trust a correction, and how wide an interval must be, is measured on designs that a member
has not learned from: on kernels that it has never seen, and on new designs of kernels that it has.
A correction that does not help there is not made, and the white box's figure stands.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from qor_gnn.gnn.examples.example import METRICS, Z90, Example, Floats, Prediction, column
from qor_gnn.gnn.examples.targets import ROUTED
from qor_gnn.gnn.examples.terms import TermModel
from qor_gnn.gnn.graph.geometric import HeteroData
from qor_gnn.gnn.graph.schema import EDGES, FEATURES, EdgeType, NodeType
from qor_gnn.gnn.nets.network import Network, Shape, one_thread
from qor_gnn.gnn.training.adapt import LEAST_SHOTS, Adapter, Shots, joined, place
from qor_gnn.gnn.training.columns import AT_ONCE, Columns, columns_of, loaded
from qor_gnn.gnn.training.train import Trained

NEW, SEEN = 0, 1
"""Whether the kernel's structure was among what a member learned from."""

TRUSTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_UNKNOWN = 0.25  # standard deviation of what no label ever told anything about
_GAIN = 0.98  # a correction has to take 2% off the error to be made
_COVER = 0.9
_LEAST = 1e-4  # of a standard deviation: exact figures are exact to 0.01%
_MOST_LOG, _MOST_STD = 80.0, 20.0  # beyond all figures, and with them still finite
MOST_STRETCH = 1e4
"""What a standard deviation is multiplied by, at most."""

_NAMED = [(repr(e).encode(), e) for e in sorted(EDGES, key=repr) if e[1] is not EdgeType.CARRIED]
_KINDS = [n for n, c in enumerate(FEATURES[NodeType.OP]) if c.startswith(("kind=", "type="))]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured on designs that members had not learned from.

    Attributes:
        trust: of the correction what is made of it, 0 to 1, shape (2, tools + 1, metrics): for
            kernels that are new and seen, of each tool; row 0 is any other tool.
        stretch: what a standard deviation is multiplied by, same shape; 0 where no label told
            anything.
    """

    trust: Floats
    stretch: Floats


@dataclass(frozen=True, slots=True)
class Measured:
    """What members were found to be worth on designs that they had not learned from.

    Attributes:
        trust, stretch: see `Calibration`.
        designs: that it was measured on.
        white_box_error_pct: mean relative error of what was corrected.
        error_pct: of what came of it.
    """

    trust: float
    stretch: float
    designs: int
    white_box_error_pct: float
    error_pct: float


@dataclass(frozen=True, slots=True)
class Model:
    """A predictor that has learned; see `qor_gnn.gnn.examples.example.Fitted`.

    Attributes:
        network: the members.
        terms: what resource terms cost, as each member counts it.
        targets: the tools that have a row.
        seen: by the digest of a kernel's structure, which members learned from it.
        calibration: how far to trust it.
        card: what people should know of it.
        adapters: by tool, what labels that came after the training teach.
    """

    network: Network
    terms: tuple[TermModel, ...]
    targets: tuple[str, ...]
    seen: Mapping[str, tuple[bool, ...]]
    calibration: Calibration
    card: Mapping[str, Any] = field(default_factory=dict)
    adapters: Mapping[str, Adapter] = field(default_factory=dict)

    def predict(self, examples: Sequence[Example]) -> Prediction:
        """Answers for designs, whose labels are not looked at."""
        return self.predict_loaded(examples, loaded(examples, self.network.edges))

    def predict_loaded(
        self, examples: Sequence[Example], batches: Iterable[HeteroData]
    ) -> Prediction:
        """The same of designs whose graphs are in batches already.

        Args:
            examples: the designs; their own graphs are looked at for what was learned of kernels.
            batches: their graphs, as `qor_gnn.gnn.training.columns.loaded` has them.
        """
        starts = range(0, len(examples), AT_ONCE)
        parts = [
            self._adapted(examples[n : n + AT_ONCE], batch)
            for n, batch in zip(starts, batches, strict=True)
        ]
        empty = np.zeros((0, len(METRICS)))
        mean = np.concatenate([p[0] for p in parts]) if parts else empty
        std = np.concatenate([p[1] for p in parts]) if parts else empty
        return Prediction(
            {name: _figures(mean[:, n], examples, name) for n, name in enumerate(METRICS)},
            {name: std[:, n] for n, name in enumerate(METRICS)},
        )

    def learned(self, target: str) -> frozenset[str]:
        """The metrics that labels told something about, of a tool or (one that it does not know)
        of any.
        """
        known = self._known(target)
        row = self.targets.index(known) + 1 if known in self.targets else 0
        told = self.calibration.stretch[:, row]
        if target in self.adapters:
            told = np.concatenate([told, np.isfinite(self.adapters[target].shots.missed)])
        return frozenset(name for n, name in enumerate(METRICS) if told[:, n].any())

    def answers_as(self, tool: str) -> str:
        """The target whose figures are a tool's: those after place and route, where it has learned
        from labels of them, which are what becomes of a design.
        """
        routed = tool + ROUTED
        adapter = self.adapters.get(routed)
        learned = adapter is not None and len(adapter.shots) >= LEAST_SHOTS
        return routed if learned or routed in self.targets else tool

    def _known(self, target: str) -> str:
        """The target that the networks know: of a tool's routed designs they know the tool."""
        return target if target in self.targets else target.removesuffix(ROUTED)

    def _adapted(self, examples: Sequence[Example], batch: HeteroData) -> tuple[Floats, Floats]:
        """Means and standard deviations of logarithms, each of shape (n, metrics)."""
        mean, std, shares = self._asked(examples, [batch])
        for target, adapter in self.adapters.items():
            rows = np.array([n for n, e in enumerate(examples) if e.target == target], np.int64)
            if not len(rows):
                continue
            shots = _shots([examples[n] for n in rows.tolist()], mean[rows], shares[rows])
            for m in range(len(METRICS)):
                add, spread, counts = adapter.corrected(shots, m)
                mean[rows, m] = np.clip(mean[rows, m] + add, 0.0, _MOST_LOG)
                std[rows[counts], m] = np.clip(spread[counts], _LEAST, _MOST_STD)
        return mean, std

    def adapted(self, examples: Sequence[Example]) -> Model:
        """The predictor with what a few further labels teach, of known or new kernels and tools."""
        found = dict(self.adapters)
        for target in sorted({e.target for e in examples}):
            mine = [e for e in examples if e.target == target]
            mean, _, shares = self._asked(mine, loaded(mine, self.network.edges))
            before = found[target].shots if target in found else None
            shots = joined(before, _shots(mine, mean, shares))
            found[target] = Adapter(shots, known=target in self.targets)
        return replace(self, adapters=found)

    def _asked(
        self, examples: Sequence[Example], batches: Iterable[HeteroData]
    ) -> tuple[Floats, Floats, Floats]:
        """Means and standard deviations of logarithms, each of shape (n, metrics), and of LUT and
        FF the shares by term, shape (n, 2, terms).
        """
        known = {target: self._known(target) for target in {e.target for e in examples}}
        asked = [
            e if known[e.target] == e.target else replace(e, target=known[e.target])
            for e in examples
        ]
        columns = columns_of(asked, self.terms, self.targets)
        moves, scales = answers(self.network, columns, batches)
        members = moves.shape[1]
        use = np.ones((len(examples), members))
        kind = np.full(len(examples), NEW)
        for n, example in enumerate(examples):
            seen = self.seen.get(structure(example))
            if seen is not None and any(seen):
                use[n], kind[n] = seen, SEEN
        use /= use.sum(axis=1, keepdims=True)
        target = columns.tool.numpy()
        trust, stretch = (
            part[kind, target] for part in (self.calibration.trust, self.calibration.stretch)
        )
        each = columns.base() + trust[:, None, :] * moves
        mean = np.einsum("nk,nkm->nm", use, each)
        # What was measured is how far a member's own deviation has to be stretched, nothing else.
        apart = np.einsum("nk,nkm->nm", use, (each - mean[:, None, :]) ** 2)
        spread = apart + stretch**2 * np.einsum("nk,nkm->nm", use, scales**2)
        shares = np.mean([s.shares for s in columns.starts], axis=0)
        told = np.clip(np.sqrt(spread), _LEAST, _MOST_STD)
        std = np.where(stretch > 0, told, _UNKNOWN)
        return np.clip(mean, 0.0, _MOST_LOG), std, shares


def _figures(logs: Floats, examples: Sequence[Example], metric: str) -> Floats:
    """Figures of logarithms: the white box's own, to the digit, where nothing is corrected."""
    found, own = np.expm1(logs), column(examples, metric, "base")
    return np.where(np.isclose(found, own, rtol=1e-9, atol=0.0), own, found)


def _shots(examples: Sequence[Example], mean: Floats, shares: Floats) -> Shots:
    """Designs with what was missed of them; NaN where there is no label."""
    label = np.stack([column(examples, m) for m in METRICS], axis=1)
    return Shots(
        tuple(structure(e) for e in examples),
        tuple(place(e) for e in examples),
        shares,
        np.log1p(np.maximum(label, 0.0)) - mean,
    )


def untrained() -> Model:
    """The white box, to be adapted to a tool that there is nothing trained for."""
    with torch.random.fork_rng(devices=[]):
        network = Network(Shape(members=1, hidden=1, layers=1, outer=1, targets=0))
    nothing = np.zeros((2, 1, len(METRICS)))
    return Model(network.eval(), (TermModel(),), (), {}, Calibration(nothing, nothing))


def answers(
    network: Network, columns: Columns, batches: Iterable[HeteroData]
) -> tuple[Floats, Floats]:
    """Corrections, and standard deviations, of each member: two of shape (n, members, metrics).

    Args:
        network: the members.
        columns: of the designs.
        batches: their graphs.
    """
    moves, scales, first = [], [], 0
    with one_thread(), torch.inference_mode():
        for batch in batches:
            rows = slice(first, first + len(batch[NodeType.KERNEL.value].x))
            move, scale = network(columns.put_on(batch, rows))
            moves.append(move.numpy())
            scales.append(np.exp(np.minimum(scale.numpy(), _MOST_STD)))
            first = rows.stop
    return np.concatenate(moves).astype(np.float64), np.concatenate(scales).astype(np.float64)


def structure(example: Example) -> str:
    """A digest of a kernel's structure, whatever its directives: operations and how they hang
    together.
    """
    graph = example.graph
    text = hashlib.sha256(np.ascontiguousarray(graph.nodes[NodeType.OP][:, _KINDS]).tobytes())
    for name, edge in _NAMED:
        if edge in graph.edges:
            text.update(name + np.ascontiguousarray(graph.edges[edge]).tobytes())
    return text.hexdigest()[:16]


# ------------------------------------------------------------------------------------- calibration


def calibrated(trained: Trained, examples: Sequence[Example], card: Mapping[str, Any]) -> Model:
    """A predictor of what training gave, with its errors where members had not been told.

    Args:
        trained: by these examples.
        examples: that it learned from.
        card: what people should know of it.
    """
    digests = [structure(e) for e in examples]
    members = trained.told.shape[1]
    seen: dict[str, list[bool]] = {}
    for name, told in zip(digests, trained.told, strict=True):
        known = seen.setdefault(name, [False] * members)
        for m in range(members):
            known[m] = known[m] or bool(told[m])
    columns = columns_of(examples, trained.terms, trained.targets)
    moves, scales = answers(trained.network, columns, loaded(examples, trained.network.edges))
    knows = np.array([seen[name] for name in digests])
    held = _Held(
        moves,
        scales,
        columns.base() - columns.label[:, None, :],
        {NEW: ~trained.told & ~knows, SEEN: ~trained.told & knows},
        _shares(examples),
        columns.label > 0,
    )
    tools = len(trained.targets) + 1
    trust = np.zeros((2, tools, len(METRICS)))
    stretch = np.ones_like(trust)
    rows = []
    for kind, tool, m in itertools.product((NEW, SEEN), range(tools), range(len(METRICS))):
        mine = np.ones(len(examples), bool) if tool == 0 else columns.tool.numpy() == tool
        one = held.measured(kind, mine, m)
        trust[kind, tool, m], stretch[kind, tool, m] = one.trust, one.stretch
        if tool and one.designs:
            where = {"tool": trained.targets[tool - 1], "metric": METRICS[m]}
            rows.append({**where, "kernels": ("new", "seen")[kind], **asdict(one)})
    found = {name: tuple(known) for name, known in seen.items()}
    calibration = Calibration(trust, stretch)
    about = {**card, "measured": rows}
    return Model(trained.network, trained.terms, trained.targets, found, calibration, about)


def _shares(examples: Sequence[Example]) -> Floats:
    """Weights by which kernels count the same, and single nests half."""
    sizes: dict[str, float] = {}
    each = [e.weight * (0.25 if e.part else 1.0) for e in examples]
    for example, weight in zip(examples, each, strict=True):
        sizes[example.kernel] = sizes.get(example.kernel, 0.0) + weight
    return np.array([w / sizes[e.kernel] for e, w in zip(examples, each, strict=True)])


@dataclass(frozen=True, slots=True)
class _Held:
    """Answers of members, with what they had not been told.

    Attributes:
        moves, scales: corrections and standard deviations, (n, members, metrics).
        offset: the white box less the label, (n, members, metrics), NaN without a label.
        held: whether a member had not been told, of a new kernel and of one seen, (n, members).
        weight: of each design, shape (n,).
        some: whether the label is not 0, shape (n, metrics).
    """

    moves: Floats
    scales: Floats
    offset: Floats
    held: Mapping[int, npt.NDArray[np.bool_]]
    weight: Floats
    some: npt.NDArray[np.bool_]

    def measured(self, kind: int, mine: npt.NDArray[np.bool_], metric: int) -> Measured:
        """What comes of one metric; of new kernels from those seen where no kernel was left out."""
        offset = self.offset[:, :, metric]
        known = mine[:, None] & np.isfinite(offset)
        rows = self.held[kind] & known
        if kind == NEW and not rows.any():
            rows = self.held[SEEN] & known
        if not rows.any():
            return Measured(0.0, 0.0, 0, 0.0, 0.0)
        weight = np.broadcast_to(self.weight[:, None], rows.shape)[rows]
        off, move = offset[rows], self.moves[:, :, metric][rows]
        # Errors are relative to the label: one of 0 has none, but has to be in its interval.
        some = np.broadcast_to(self.some[:, None, metric], rows.shape)[rows]
        errors = {t: _mean(np.abs(np.expm1(off + t * move))[some], weight[some]) for t in TRUSTS}
        best = min(TRUSTS, key=lambda t: errors[t])
        trust = best if errors[best] < _GAIN * errors[0.0] else 0.0
        ratio = np.abs(off + trust * move) / np.maximum(self.scales[:, :, metric][rows], 1e-9)
        return Measured(
            trust,
            min(MOST_STRETCH, max(_LEAST, _quantile(ratio, weight, _COVER) / Z90)),
            int(rows.any(axis=1).sum()),
            round(100 * errors[0.0], 3),
            round(100 * errors[trust], 3),
        )


def _mean(values: Floats, weights: Floats) -> float:
    return float(np.average(values, weights=weights)) if len(values) else 0.0


def _quantile(values: Floats, weights: Floats, level: float) -> float:
    """The least value that holds such a share of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order])
    at = int(np.searchsorted(mass, level * mass[-1]))
    return float(values[order][min(at, len(values) - 1)])
