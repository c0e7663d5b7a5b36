"""Predictions of a family's points by several processes, which remember what they scheduled."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from qor_gnn.batch.family import Family
from qor_gnn.batch.template import Points
from qor_gnn.gnn.examples.example import METRICS, Fitted, Prediction
from qor_gnn.gnn.family.graphs import GraphBatch, predict_family

_PRELOAD = ["qor_gnn.gnn.family.graphs"]


@dataclass(slots=True)
class _Own:
    """What a process of the pool has."""

    model: Fitted
    batch: GraphBatch


_own: list[_Own] = []


class FamilyPool:
    """A family, a tool and a predictor in several processes.

    Points with the same first factors go to the same process, in each call: what most nests depend
    on is then scheduled by one of them.

    Args:
        model: a predictor that does not look at `Example.pragmas`.
        family: whose points will be asked about.
        tool: name of a personality.
        jobs: processes, at least 1.

    Raises:
        ValueError: no process is asked for.
    """

    def __init__(self, model: Fitted, family: Family, tool: str, jobs: int = 2) -> None:
        if jobs < 1:
            raise ValueError(f"{jobs} processes")
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOAD)
        self._family = family
        self._stack = contextlib.ExitStack()
        self._pools = [
            self._stack.enter_context(
                ProcessPoolExecutor(1, context, _begin, (model, family, tool))
            )
            for _ in range(jobs)
        ]
        for ready in [pool.submit(_ready) for pool in self._pools]:
            ready.result()

    def predict(self, points: Sequence[Sequence[int]] | Points) -> Prediction:
        """As `qor_gnn.gnn.family.graphs.predict_family`."""
        table = np.asarray(points, np.int64).reshape(len(points), len(self._family.names))
        order = np.lexsort(table.T[::-1])
        shares = np.array_split(order, len(self._pools))
        waiting = [
            pool.submit(_predicted, table[share])
            for pool, share in zip(self._pools, shares, strict=True)
        ]
        mean = {metric: np.full(len(table), np.nan) for metric in METRICS}
        std = {metric: np.full(len(table), np.nan) for metric in METRICS}
        for share, future in zip(shares, waiting, strict=True):
            answer = future.result()
            for metric in METRICS:
                mean[metric][share] = answer.mean[metric]
                std[metric][share] = answer.std[metric]
        return Prediction(mean, std)

    def close(self) -> None:
        """End the processes."""
        self._stack.close()


def _begin(model: Fitted, family: Family, tool: str) -> None:
    _own[:] = [_Own(model, GraphBatch(family, tool))]


def _ready() -> int:
    return len(_own)


def _predicted(points: Points) -> Prediction:
    (own,) = _own
    return predict_family(own.model, own.batch, points)
