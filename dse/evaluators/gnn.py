"""A trained predictor as an evaluator: the white box's schedule, and figures with their spread."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from dse.estimates.estimation import setting
from dse.estimates.prediction import PROVENANCE, Predicted, predicted
from dse.evaluators.base import Request, Result, Status
from dse.evaluators.fidelities import COUNTED
from dse.evaluators.model import estimation, result_of
from dse.evaluators.version import MODEL, code_version
from dsl.errors.errors import InputError, IRError, LanguageError, ScheduleError, ToolError
from polyhedral.schedule import apply

NAME = "gnn"


@dataclass(frozen=True, slots=True)
class GnnEvaluator:
    """A predictor: that of a file, or (None) the one that comes with Weft for the tool."""

    weights: Path | None = None
    emitted: bool = False  # as of `ModelEvaluator`

    @property
    def name(self) -> str:
        """``gnn``."""
        return NAME

    @property
    def cost(self) -> float:
        """A twentieth of a second."""
        return 0.05

    @property
    def version(self) -> str:
        """Of the code, the weights that come with it, and those of the file."""
        own = "" if self.weights is None else _digest(self.weights, self.weights.stat().st_mtime_ns)
        return f"{code_version(MODEL)}:{own}"

    def evaluate(self, request: Request) -> Result:
        """See `dse.evaluators.base.Evaluator`."""
        start = time.perf_counter()
        result = self._evaluate(request)
        return replace(result, seconds=time.perf_counter() - start)

    def _evaluate(self, request: Request) -> Result:
        try:
            state = apply(request.program, request.schedule)
        except (ScheduleError, LanguageError) as error:
            return Result(Status.ILLEGAL, detail=error.code)
        try:
            where = setting(
                request.tool, request.device, request.clock, calibration=request.calibration
            )
            found = estimation(state, request, where, emitted=self.emitted)
            answer = predicted(found, self.weights)
        except (ToolError, InputError, IRError) as error:
            return Result(Status.TOOL_ERROR, detail=f"{error.code}: {error.message}")
        return result_with(result_of(found), answer)


@lru_cache(maxsize=8)
def _digest(path: Path, _: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def result_with(result: Result, found: Predicted) -> Result:
    """The white box's result with predicted figures in the place of its own.

    A predicted latency is a worst case, that of a result is not: it is the white box's, corrected as
    much as the predictor corrects the worst case. Else a triangular loop would look slower to
    the predictor than to the model, and the two could not be compared.

    Args:
        result: from `dse.evaluators.model.result_of`.
        found: what the predictor says of the same design.
    """
    figures, worst = found.figures, found.figures["latency"]
    share = result.latency / worst.model if result.latency is not None and worst.model else 1.0
    spread = {"latency": worst.std * share}
    known = {name for name, one in figures.items() if one.provenance == PROVENANCE}
    notes = "; ".join((result.tool, f"predicted by {found.weights}", *found.notes))
    return replace(
        result,
        latency=worst.value * share,
        longest=worst.value if result.longest is not None else None,
        resources=dict(result.resources) | {name: round(figures[name].value) for name in COUNTED},
        provenance=PROVENANCE,
        tool=notes,
        period=figures["period_ns"].value if "period_ns" in known else None,
        spread={name: round(spread.get(name, figures[name].std), 4) for name in sorted(known)},
    )
