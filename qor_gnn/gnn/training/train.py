"""Training: the members of an ensemble at once, each without some kernels, resumable at any instant.

A member learns nothing of one fold of the kernels, nor of a tenth of the groups of the others: what
it says of those is how wrong it is on kernels that it has never seen, and on designs of kernels that
it has. The same examples, settings and seed give the same weights.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from qor_gnn.gnn.examples.design_data import LABELLED, DesignData, DesignDataset
from qor_gnn.gnn.examples.example import Example, Floats
from qor_gnn.gnn.examples.terms import TermModel, fit_terms, folds
from qor_gnn.gnn.graph.geometric import HeteroData
from qor_gnn.gnn.graph.schema import NodeType
from qor_gnn.gnn.nets.network import Network, Shape, one_thread
from qor_gnn.gnn.training.checkpoint import Checkpoint
from qor_gnn.gnn.training.columns import Columns, columns_of, loader

Progress = Callable[[int, int, float], None]
"""Is told the epochs done, of how many, and the loss of the last."""

_SMOOTH = 0.005  # errors below half a per cent count by their squares
_UNCERTAIN = 0.2  # weight of learning how wrong it is
_LEFT = 10  # one group in so many of the kernels that a member knows is kept from it
_CLIP = 1.0
_STEPS, _SMALL = 32, 32  # of an epoch, at least; but no step of fewer designs
_PART_WEIGHT = 0.5  # of a single nest beside 1 of a whole kernel
_TOGETHER = 3  # epochs that designs share a batch for: making batches takes a quarter of a step
_NOT_READ = [key for key in LABELLED if key != "y"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to train.

    Attributes:
        shape: of the network; its number of tools is set by the examples.
        epochs: over all examples.
        region_epochs: before them, over single nests alone, where there are some.
        batch: designs in a step, at most: an epoch of few designs has smaller ones.
        rate: of learning, at its highest.
        decay: of weights, in a step of rate 1.
        each: most designs of a kernel in an epoch; 0 for all.
    """

    shape: Shape = field(default_factory=Shape)
    epochs: int = 30
    region_epochs: int = 0
    batch: int = 128
    rate: float = 3e-3
    decay: float = 0.02
    each: int = 0


@dataclass(frozen=True, slots=True)
class Trained:
    """What training gives.

    Attributes:
        network: its members.
        terms: what resource terms cost, as each member counts it.
        targets: the tools that have a row.
        fold: of each example, the fold of kernels that it is in, shape (n,).
        told: whether a member learned from an example, shape (n, members).
    """

    network: Network
    terms: tuple[TermModel, ...]
    targets: tuple[str, ...]
    fold: npt.NDArray[np.int64]
    told: npt.NDArray[np.bool_]


def divided(
    examples: Sequence[Example], members: int, seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The fold of each example, and what each member learns from; see `Trained`."""
    fold = folds(examples, (), members)
    several = fold.max(initial=0) > 0
    told = np.ones((len(examples), members), bool)
    for n, example in enumerate(examples):
        text = hashlib.sha256(f"{seed}:{example.group}".encode()).digest()
        lot = int.from_bytes(text[:4], "big")
        for m in range(members):
            other_kernel = several and fold[n] == m % (fold.max() + 1)
            left = (lot + m) % max(_LEFT, members) == 0
            told[n, m] = not (other_kernel or left)
    told[:, ~told.any(axis=0)] = True  # too few examples to keep any back
    return fold, told


def train(
    examples: Sequence[Example],
    settings: Settings,
    seed: int,
    checkpoint: Checkpoint | None = None,
    progress: Progress = lambda _, __, ___: None,
) -> Trained:
    """Learn from examples.

    Args:
        examples: at least one.
        settings: how.
        seed: of the first weights and the order of examples.
        checkpoint: where to keep what is done; what is there of the same training is gone on with.
        progress: is told after each epoch.

    Raises:
        InputError: W538, the checkpoint is of another training or is none.
        ValueError: there are no examples.
    """
    if not examples:
        raise ValueError("there are no examples to learn from")
    targets = tuple(sorted({e.target for e in examples}))
    shape = replace(settings.shape, targets=len(targets))
    fold, told = divided(examples, shape.members, seed)
    terms = tuple(
        fit_terms([e for e, mine in zip(examples, told[:, m], strict=True) if mine])
        for m in range(shape.members)
    )
    columns = columns_of(examples, terms, targets)
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(shape)
        designs = list(DesignDataset(examples, network.edges))
        network.normalise_as(_nodes(designs))
        weight = _weights(examples)[:, None] * told
        course = _Course(network, designs, columns, weight, settings)
        course.run(examples, seed, checkpoint, progress)
    return Trained(network.eval(), terms, targets, fold, told)


def _nodes(designs: Sequence[DesignData]) -> dict[str, Tensor]:
    """The features of all nodes, by kind."""
    return {kind.value: torch.cat([data[kind.value].x for data in designs]) for kind in NodeType}


def _weights(examples: Sequence[Example]) -> Floats:
    """Kernels of many designs count more than those of few, by the root of their number."""
    sizes: dict[str, float] = {}
    each = np.array([e.weight * (_PART_WEIGHT if e.part else 1.0) for e in examples]) ** 0.5
    for example, weight in zip(examples, each, strict=True):
        sizes[example.kernel] = sizes.get(example.kernel, 0.0) + weight
    found = each / np.array([sizes[e.kernel] for e in examples]) ** 0.5
    return found / float(found.mean())


_Batch = tuple[list[int], HeteroData]
"""Numbers of designs, and their graphs."""


class _Course:
    """The epochs of a training."""

    def __init__(
        self,
        network: Network,
        designs: Sequence[DesignData],
        columns: Columns,
        weight: Floats,
        settings: Settings,
    ) -> None:
        self.network, self.designs, self.settings = network, designs, settings
        self.columns = columns
        self.start = torch.from_numpy(columns.base())
        # Where a member is told nothing, its error does not count; nor where there is no label.
        known = np.isfinite(columns.label)
        self.weight = torch.from_numpy(weight[:, :, None] * known[:, None, :]).float()
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=settings.rate, weight_decay=settings.decay, betas=(0.9, 0.99)
        )

    def run(
        self,
        examples: Sequence[Example],
        seed: int,
        checkpoint: Checkpoint | None,
        progress: Progress,
    ) -> None:
        """All epochs that the checkpoint has not."""
        parts = np.array([n for n, e in enumerate(examples) if e.part], dtype=np.int64)
        stage = self.settings.region_epochs if len(parts) else 0
        total = stage + self.settings.epochs
        done = 0 if checkpoint is None else checkpoint.restore(self.network, self.optimiser)
        for epoch in range(done, total):
            first = 0 if epoch < stage else stage
            drawn = epoch - (epoch - first) % _TOGETHER
            if epoch in (done, drawn):
                lot = np.random.default_rng((seed, drawn))
                batches = self._batches(
                    lot.permutation(parts if epoch < stage else self._chosen(examples, lot))
                )
            order = np.random.default_rng((seed, epoch, 1)).permutation(len(batches))
            loss = self._epoch([batches[n] for n in order.tolist()], epoch, total)
            if checkpoint is not None:
                checkpoint.keep(self.network, self.optimiser, epoch + 1)
            progress(epoch + 1, total, loss)

    def _chosen(
        self, examples: Sequence[Example], order: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        rows = order.permutation(len(examples))
        if not self.settings.each:
            return rows
        taken: dict[str, int] = {}
        kept = []
        for n in rows.tolist():
            taken[examples[n].kernel] = taken.get(examples[n].kernel, 0) + 1
            if taken[examples[n].kernel] <= self.settings.each:
                kept.append(n)
        return np.array(kept, dtype=np.int64)

    def _batches(self, rows: npt.NDArray[np.int64]) -> list[_Batch]:
        """All of some designs, in that order."""
        steps = max(1, -(-len(rows) // self.settings.batch), min(_STEPS, len(rows) // _SMALL))
        chosen = [part.tolist() for part in np.array_split(rows, steps)]
        made = loader(self.designs, batch_sampler=chosen, exclude_keys=_NOT_READ)
        return list(zip(chosen, made, strict=True))

    def _epoch(self, batches: Sequence[_Batch], epoch: int, total: int) -> float:
        """One pass; the mean loss of a member."""
        spent, mass, steps = 0.0, 0.0, len(batches)
        for step, (rows, batch) in enumerate(batches):
            at = (epoch + step / steps) / total
            warm = min(1.0, 20 * at + 0.05)
            for group in self.optimiser.param_groups:
                group["lr"] = self.settings.rate * warm * 0.5 * (1 + np.cos(np.pi * at))
            loss, error = self._loss(batch, rows)
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), _CLIP)
            self.optimiser.step()
            spent, mass = spent + error * len(rows), mass + len(rows)
        return spent / max(1.0, mass)

    def _loss(self, batch: HeteroData, rows: Sequence[int]) -> tuple[Tensor, float]:
        moves, scales = self.network(self.columns.put_on(batch, rows))
        offset = self.start[rows] - torch.nan_to_num(batch.y).unsqueeze(1)
        error = (offset.float() + moves).abs()
        smooth = torch.where(error < _SMOOTH, error**2 / (2 * _SMOOTH), error - _SMOOTH / 2)
        doubt = scales + error.detach() * torch.exp(-scales)
        weight = self.weight[rows]
        mass = weight.sum(dim=(0, 2)).clamp(min=1e-6)
        # Members do not touch each other's weights: their losses are simply added.
        fit = ((smooth * weight).sum(dim=(0, 2)) / mass).sum()
        sure = ((doubt * weight).sum(dim=(0, 2)) / mass).sum()
        return fit + _UNCERTAIN * sure, float(fit.detach()) / len(mass)


def digest_of(examples: Sequence[Example], settings: Settings, seed: int) -> str:
    """A digest of all that the weights depend on but the code."""
    found = hashlib.sha256(repr((settings, seed, len(examples))).encode())
    for e in examples:
        found.update(
            repr((e.group, e.target, e.kernel, e.weight, sorted(e.label.items()))).encode()
        )
    return found.hexdigest()[:32]


def checkpoint_for(
    path: Path, examples: Sequence[Example], settings: Settings, seed: int
) -> Checkpoint:
    """The checkpoint of a training in a file."""
    return Checkpoint(path, digest_of(examples, settings, seed))
