"""What failed in one session and may go otherwise is tried again in the next, in its place."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from backends.devices import device
from dse.cli import run as weft_command
from dse.evaluators.base import Check, Evaluator, Limits, Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.run.folder.again import failed, lasting, may_change
from dse.run.folder.directory import create, open_run
from dse.run.results.history import history
from dse.run.search.ledger import Ledger, Options
from dse.run.search.session import Session
from dse.run.studies.study import Study
from dse.run.workers.fanout import Here
from dse.run.workers.flights import Flights
from dse.space.space import Space
from tests.dse.commands import GEMM, statuses
from tests.dse.manifest import WHOLE
from tests.dse.test_promote import Checking, promoted, promotion, run
from tests.dse.test_space import space

__all__ = ["run"]  # the fixture
pytest.importorskip("optuna")
LIMITS = Limits({"dsp": 60})
WRONG = Check("csim", "failed", "it computes something else", "a tool")


@dataclass(frozen=True, slots=True)
class Failing:
    """The model's figures, or a failure."""

    failure: Result | None = None
    name: str = "model"
    cost: float = 0.1
    version: str = "1"

    def evaluate(self, request: Request) -> Result:
        return self.failure or ModelEvaluator().evaluate(request)


LATE = Result(Status.TIMEOUT, detail="no answer in 5 s", seconds=5.0)
BROKEN = Result(Status.TOOL_ERROR, detail="broken")


def session(folder: Path, evaluator: Evaluator, strategy: str, seconds: float) -> Study:
    """Explore a little, as a process of its own would."""
    whole = gesummv()
    there = folder.exists()
    with contextlib.closing(open_run(folder) if there else create(folder, WHOLE)) as opened:
        study = Study(opened, ("latency", "dsp"), LIMITS)
        options = Options(device("xczu9eg"), 10.0, LIMITS, strategy, 8)
        ledger = Ledger(
            opened, whole, study, evaluator, options, lambda *_: None,
            failed=failed(opened, seconds),
        )  # fmt: skip
        Session(ledger, Flights(Here(60), lambda: False)).explore()
    return study


def gesummv() -> Space:
    return space("polybench/gesummv")


@pytest.mark.parametrize("strategy", ["random", "auto", "pom"])
@pytest.mark.parametrize("failure", [LATE, BROKEN])
def test_failures_are_tried_again_in_their_place(tmp_path, failure, strategy):
    folder = tmp_path / "run"
    first = session(folder, Failing(failure), strategy, 5.0)
    count = first.count
    assert statuses(folder) == {failure.status.value: count}
    points = [f.point for f in first.finished.values()]
    second = session(folder, Failing(), strategy, 6.0)
    assert second.count == max(count, second.count)
    there = {f.point: f.status for f in second.finished.values()}
    assert set(points) <= set(there)
    assert {Status.OK} <= set(there.values()) <= {Status.OK, Status.INFEASIBLE}
    assert len(history(open_run(folder, write=False))) == second.count
    # It is so as well for who opens the run another time, and nothing is left to try.
    third = session(folder, Failing(LATE), strategy, 60.0)
    assert {f.point: f.status for f in third.finished.values()} == there


def test_a_time_out_is_not_tried_again_for_as_long(tmp_path):
    folder = tmp_path / "run"
    first = session(folder, Failing(LATE), "random", 5.0)
    again = session(folder, Failing(), "random", 5.0)
    assert again.finished == first.finished
    assert statuses(folder) == {"timeout": 8}


def test_what_fails_again_fails_once_a_session(tmp_path):
    folder = tmp_path / "run"
    session(folder, Failing(BROKEN), "random", 5.0)
    again = session(folder, Failing(BROKEN), "random", 5.0)
    assert statuses(folder) == {"tool-error": 16}
    assert again.count == 8
    assert len(history(open_run(folder, write=False))) == 8


def test_what_holds_is_not_tried_again():
    wrong = Result(Status.TOOL_ERROR, detail=WRONG.detail, checks=(WRONG,))
    results = {"ok": Result(Status.OK, 5.0), "wrong": wrong, "late": LATE, "broken": BROKEN}
    assert set(lasting(results)) == {"ok", "wrong"}
    assert may_change(LATE, 5.1)
    assert not may_change(LATE, 5.0)


def test_a_promotion_that_failed_is_tried_again_and_takes_its_place(run):
    class Late(Checking):
        def evaluate(self, request: Request) -> Result:
            super().evaluate(request)
            return LATE

    late = Late()
    promotion(run, late, most=1).carry_out()
    promotion(run, late, most=1).carry_out()
    assert len(late.asked) == 1
    assert promoted(run) == {0}
    [key] = [path.parent.name for path in run.path.glob("points/*/csim.json")]
    promotion(run, Checking(), most=1, failed={key}).carry_out()
    assert promoted(run) == {0}
    assert run.promoted(key)["csim"].status is Status.OK
    late = Late()
    promotion(run, late, most=3, failed={key}).carry_out()
    assert len(late.asked) == 3  # each once, though it failed again


def explored(folder: Path, *words: str) -> int:
    return weft_command(
        ["explore", "--evaluator", "model", GEMM, "--size", "mini", "--out", str(folder), *words]
    )


def test_more_time_mends_a_run(tmp_path, capfd):
    folder = tmp_path / "run"
    words = ["--strategy", "pom", "--trials", "2", "--promote", "csim", "--promote-most", "1"]
    explored(folder, *words)  # figures first: what follows is about the promotion
    for promoted_file in folder.glob("points/*/csim.json"):
        promoted_file.unlink()
    explored(folder, *words, "--timeout", "0.1", "--resume")
    [file] = folder.glob("points/*/csim.json")
    assert run_status(file) == "timeout"
    assert explored(folder, *words, "--timeout", "300", "--resume") == 0
    [file] = folder.glob("points/*/csim.json")
    assert run_status(file) == "ok"


def run_status(file: Path) -> str:
    return json.loads(file.read_text())["status"]
