"""Predictors on protocols: rows of errors, which `weft evaluate` and the benchmark show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol, runtime_checkable

from qor_gnn.gnn.examples.example import (
    METRICS,
    Example,
    Fitted,
    Prediction,
    Predictor,
    Split,
    distinct,
)
from qor_gnn.gnn.training.metrics import OBJECTIVES, Errors, errors, exploration_loss
from qor_gnn.gnn.training.protocols import (
    few_shots,
    leave_families_out,
    leave_kernels_out,
    random_split,
)

PROTOCOLS = ("P0", "P1", "P2", "k16", "k64")
"""Random; leave one kernel out; leave its family out; so many labels of the kernel are known."""

_SHOTS = re.compile(r"k([1-9]\d{0,3})")


@runtime_checkable
class Adaptable(Protocol):
    """A predictor that has learned, and that takes in a few labels without learning anew."""

    def adapted(self, examples: Sequence[Example]) -> Fitted:
        """The same, that knows these designs too."""


@dataclass(frozen=True, slots=True)
class EvalRow:
    """Errors of one metric on one split.

    Attributes:
        protocol, split: ``P1`` and ``P1/atax``.
        predictor: its name.
        seed: of the split and of the training.
        metric: of `METRICS`.
        errors: of it.
        adrs: percent that a search by the predictions loses, NaN where a metric has no label.
        seconds: that learning took.
    """

    protocol: str
    split: str
    predictor: str
    seed: int
    metric: str
    errors: Errors
    adrs: float
    seconds: float


Remark = Callable[[str], None]


def rows(
    examples: Sequence[Example],
    predictors: Sequence[Predictor],
    protocols: Sequence[str] = PROTOCOLS,
    seeds: Sequence[int] = (0,),
    only: Callable[[Split], bool] = lambda _: True,
    remark: Remark = lambda _: None,
) -> Iterator[EvalRow]:
    """Each predictor on each split of each protocol, a row a metric that has labels.

    Args:
        examples: of one tool: a kernel that is left out must not be there from another.
        predictors: with their settings.
        protocols: of `PROTOCOLS`, or ``kN`` with another N.
        seeds: each is a repetition.
        only: which splits to take.
        remark: is told what is under way.

    Raises:
        ValueError: there is no such protocol.
    """
    school = _School(examples)
    for protocol in protocols:
        for seed in seeds:
            for split in splits(examples, protocol, seed):
                if not only(split) or not split.train or not split.test:
                    continue
                test = [examples[n] for n in split.test]
                for predictor in predictors:
                    remark(f"{split.name}, seed {seed}: {predictor.name}")
                    fitted, seconds = school.learned(predictor, split, seed)
                    name = protocol, split.name, predictor.name, seed
                    yield from _rows_of(test, fitted.predict(test), name, seconds)


def judged(examples: Sequence[Example], name: str, fitted: Fitted) -> Iterator[EvalRow]:
    """What has learned already, on each kernel's designs and on all; protocol ``given``.

    Args:
        examples: to ask about: whole kernels, single nests are left out.
        name: the predictor's.
        fitted: the predictor.
    """
    whole = [e for e in examples if not e.part]
    for kernel in distinct(e.kernel for e in whole):
        mine = [e for e in whole if e.kernel == kernel]
        yield from _rows_of(mine, fitted.predict(mine), ("given", kernel, name, 0), 0.0)
    if whole:
        yield from _rows_of(whole, fitted.predict(whole), ("given", "all", name, 0), 0.0)


def splits(examples: Sequence[Example], protocol: str, seed: int) -> Iterator[Split]:
    """The splits of a protocol by name.

    Raises:
        ValueError: there is none of that name.
    """
    shots = _SHOTS.fullmatch(protocol)
    if protocol == "P0":
        yield random_split(examples, seed)
    elif protocol == "P1":
        yield from leave_kernels_out(examples)
    elif protocol == "P2":
        yield from leave_families_out(examples)
    elif shots:
        yield from few_shots(examples, int(shots[1]), seed)
    else:
        raise ValueError(f"'{protocol}' is no protocol; there is {', '.join(PROTOCOLS)}")


@dataclass(slots=True)
class _School:
    """What was learned, so that a few labels more do not mean to learn all of it anew."""

    examples: Sequence[Example]
    known: dict[object, tuple[Fitted, float]] = field(default_factory=dict)

    def learned(self, predictor: Predictor, split: Split, seed: int) -> tuple[Fitted, float]:
        """A predictor that learned a split's designs, and the seconds that it took."""
        asked = {self.examples[n].kernel for n in split.test}
        shots = [n for n in split.train if self.examples[n].kernel in asked]
        if split.valid or not shots:
            return self._fit(predictor, split.train, split.valid, seed)
        others = tuple(n for n in split.train if self.examples[n].kernel not in asked)
        if others:
            fitted, seconds = self._fit(predictor, others, (), seed)
            if isinstance(fitted, Adaptable):
                return fitted.adapted([self.examples[n] for n in shots]), seconds
        return self._fit(predictor, split.train, (), seed)

    def _fit(
        self, predictor: Predictor, train: tuple[int, ...], valid: tuple[int, ...], seed: int
    ) -> tuple[Fitted, float]:
        key = predictor.name, seed, train, valid
        if key not in self.known:
            began = perf_counter()
            parts = [[self.examples[n] for n in part] for part in (train, valid)]
            fitted = predictor.fit(parts[0], parts[1], seed)
            self.known[key] = fitted, perf_counter() - began
        return self.known[key]


def _rows_of(
    test: Sequence[Example], found: Prediction, name: tuple[str, str, str, int], seconds: float
) -> Iterator[EvalRow]:
    known = [metric for metric in METRICS if any(metric in e.label for e in test)]
    adrs = exploration_loss(test, found) if set(OBJECTIVES) <= set(known) else float("nan")
    for metric in known:
        yield EvalRow(*name, metric, errors(test, found, metric), adrs, seconds)
