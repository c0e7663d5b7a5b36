"""Active learning: what a true tool says of some designs teaches a predictor which to ask about next.

After each label the predictor is adapted, and every design that the search has found is predicted
anew. Next is what the predictor puts on the front, among designs whose truth is known; then what may
be there, were its figures better by a standard deviation. When nothing is left that may be, the tool
has nothing more to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import log1p
from pathlib import Path
from typing import TYPE_CHECKING

from dse.estimates.estimation import Setting, ranked
from dse.estimates.prediction import example_of, model_for, predicted_by
from dse.evaluators.base import Limits, Request, Result, Status, judged
from dse.evaluators.gnn import result_with
from dse.evaluators.model import result_of
from dse.run.folder.directory import RunDirectory
from dse.run.results.front import Design, front, limits_of
from dse.run.studies.study import objective_values
from dsl.errors.errors import InputError
from polyhedral.schedule import apply
from qor_gnn.result.pareto import hypervolume

if TYPE_CHECKING:
    from qor_gnn.gnn.examples.example import Example
    from qor_gnn.gnn.training.ensemble import Model

FILE = "predictor.safetensors"
"""In the run's folder: what was learned."""


@dataclass(slots=True)
class Learner:
    """Says which designs of a run to promote next; see `dse.run.search.promote.Promotion.chosen`.

    Attributes:
        run: open for writing.
        tool: the name of the evaluator whose word is the truth.
        where: what designs are for.
        request: of a run's design, by its key.
        weights: the predictor to begin with; None for the one that comes with Weft for the tool, or
            where there is none, the white box.
    """

    run: RunDirectory
    tool: str
    where: Setting
    request: Callable[[str], Request]
    weights: Path | None = None
    asked: dict[str, tuple[Example, Result]] = field(default_factory=dict)
    seen: tuple[frozenset[str], int] | None = None
    next: tuple[Design, ...] = ()

    def __call__(self, found: Sequence[Design]) -> tuple[Design, ...]:
        """The designs to promote next, the best first."""
        told = frozenset(d.key for d in found if self._truth(d) is not None)
        if self.seen != (told, len(found)):
            self.seen = told, len(found)
            self.next = self._ranked(found)
        return self.next

    def _truth(self, design: Design) -> Result | None:
        result = design.promoted.get(self.tool)
        return result if result is not None and result.evaluated else None

    def model(self, found: Sequence[Design]) -> Model:
        """The predictor with all that the tool has said of designs."""
        from qor_gnn.gnn.training.weights import save

        labelled = []
        for design in found:
            truth = self._truth(design)
            if truth is not None:
                labelled.append(replace(self._question(design)[0], label=label_of(truth)))
        begun = self._begun()
        if not labelled:
            return begun
        learned = begun.adapted(labelled)
        save(self.run.path / FILE, learned)
        return learned

    def _begun(self) -> Model:
        from qor_gnn.gnn.training.ensemble import untrained

        try:
            return model_for(self.where.tool.measured_as, self.weights)[0]
        except InputError as error:
            if error.code != "W550":
                raise
            return untrained()

    def _question(self, design: Design) -> tuple[Example, Result]:
        """A design to ask about, and the white box's result."""
        if design.key not in self.asked:
            request = self.request(design.key)
            state = apply(request.program, request.schedule)
            found = ranked(state, request.schedule, self.where)
            self.asked[design.key] = example_of(found), result_of(found)
        return self.asked[design.key]

    def _ranked(self, found: Sequence[Design]) -> tuple[Design, ...]:
        if not found:
            return ()
        model = self.model(found)
        questions = [self._question(d) for d in found]
        answers = predicted_by(model, FILE, [example for example, _ in questions])
        results = [result_with(r, p) for (_, r), p in zip(questions, answers, strict=True)]
        likely = self._next(found, results)
        able = self._next(found, [_better(r) for r in results])
        known = {d.key for d in likely}
        return (*likely, *(d for d in able if d.key not in known))

    def _next(self, found: Sequence[Design], results: Sequence[Result]) -> list[Design]:
        """The designs that are not known, but on the front if they are as predicted; first those
        that would add the most to what is known.
        """
        ranked = []
        limits = limits_of(self.run)
        for design, result in zip(found, results, strict=True):
            truth = self._truth(design)
            values = self._values(result if truth is None else truth, limits)
            if values is not None:
                ranked.append(replace(design, values=values))
        names: Sequence[str] = self.run.manifest["objectives"]
        scaled = {d.key: _scaled(d.values, names) for d in ranked}
        told = [scaled[d.key] for d in ranked if self._truth(d) is not None]
        wanted = [d for d in front(ranked) if self.tool not in d.promoted]
        worst = tuple(max(column) for column in zip(*scaled.values(), strict=True))
        gains = {d.key: hypervolume([*told, scaled[d.key]], worst) for d in wanted}
        return sorted(wanted, key=lambda d: (-gains[d.key], d.values, d.key))

    def _values(self, result: Result, limits: Limits) -> tuple[float, ...] | None:
        if judged(result, limits).status is not Status.OK:
            return None
        objectives, clock = self.run.manifest["objectives"], self.run.manifest.get("clock_ns")
        return objective_values(result, objectives, clock)


def _scaled(values: Sequence[float], names: Sequence[str]) -> tuple[float, ...]:
    """Objectives so that a tenth less is worth the same everywhere."""
    pairs = zip(values, names, strict=True)
    return tuple(log1p(v * (1e9 if name == "seconds" else 1.0)) for v, name in pairs)


def label_of(truth: Result) -> dict[str, float]:
    """What a tool said, as a label of `qor_gnn.gnn.examples.example`."""
    assert truth.latency is not None
    found = {"latency": float(truth.latency)}
    found |= {name: float(used) for name, used in truth.resources.items()}
    return found if truth.period is None else {**found, "period_ns": truth.period}


def _better(result: Result) -> Result:
    """As good as a figure may be: less by its standard deviation."""
    spread = result.spread
    latency, period = result.latency, result.period
    return replace(
        result,
        latency=None if latency is None else max(0.0, latency - spread.get("latency", 0.0)),
        resources={
            name: max(0, round(used - spread.get(name, 0.0)))
            for name, used in result.resources.items()
        },
        period=None if period is None else max(0.0, period - spread.get("period_ns", 0.0)),
    )


def true_front(found: Sequence[Design], tool: str, run: RunDirectory) -> tuple[Design, ...]:
    """The Pareto front of what a tool said, of the designs that it was asked about."""
    limits = limits_of(run)
    objectives, clock = run.manifest["objectives"], run.manifest.get("clock_ns")
    ranked = []
    for design in found:
        truth = design.promoted.get(tool)
        if truth is None or judged(truth, limits).status is not Status.OK:
            continue
        values = objective_values(truth, objectives, clock)
        if values is not None:
            ranked.append(replace(design, result=truth, values=values))
    return front(ranked)
