"""Promotion: the front goes through a costlier evaluator, and what fails there leaves it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.devices import device
from dse.cli import run as weft_command
from dse.evaluators.base import Check, Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.run.folder.cache import ResultCache
from dse.run.folder.directory import RunDirectory, create, open_run
from dse.run.folder.problem import Problem
from dse.run.results.front import designs, front
from dse.run.search.promote import Promotion
from dse.run.workers.fanout import Here
from dse.run.workers.flights import Flights, StopRequestedError
from dse.views.explore import summary
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Split, Unroll
from tests.dse.commands import GEMM, begin_exploring, end, statuses

PROGRAM = load(GEMM).at("mini").program
MANIFEST = {
    "kernel": "gemm", "objectives": ["latency", "dsp"], "limits": {"dsp": 100},
    "latency_limit": None, "clock_ns": 10.0,
}  # fmt: skip
OK = Check("csim", "ok", "", "a tool")
WRONG = Check("csim", "failed", "it computes something else", "a tool")


class Checking:
    """Finds some designs to be wrong, and remembers what it is asked."""

    name, cost, version = "csim", 3.0, "1"

    def __init__(self, wrong: Callable[[Schedule], bool] = lambda _: False) -> None:
        self.wrong = wrong
        self.asked: list[Schedule] = []

    def evaluate(self, request: Request) -> Result:
        found = ModelEvaluator().evaluate(request)
        self.asked.append(request.schedule)
        if self.wrong(request.schedule):
            return Result(Status.TOOL_ERROR, detail=WRONG.detail, checks=(WRONG,))
        return Result(Status.OK, found.latency, found.resources, "model", "tool", checks=(OK,))


@pytest.fixture
def run(tmp_path: Path):
    """Four designs within the limits, three of them on the front, and one that is not."""
    with contextlib.closing(create(tmp_path / "run", MANIFEST)) as made:
        for n, (latency, dsp) in enumerate([(10, 50), (20, 30), (20, 40), (40, 10), (5, 400)]):
            schedule = Schedule((Split("k", n + 2), Pipeline("k_0"), Unroll("k_1")))
            made.begin(f"{n:032x}", schedule, {})
            made.keep(f"{n:032x}", Result(Status.OK, float(latency), {"dsp": dsp}, "model"))
        yield made


def promotion(run: RunDirectory, evaluator, most: int = 10, **more) -> Promotion:
    def request(key: str) -> Request:
        return Request(PROGRAM, run.schedule(key), device("xczu9eg"), 10.0)

    return Promotion(
        run, evaluator, request, most, more.pop("heard", lambda *_: None),
        Flights(Here(60), more.pop("stopping", lambda: False)), **more,
    )  # fmt: skip


def promoted(run: RunDirectory) -> set[int]:
    return {int(p.parent.name, 16) for p in run.path.glob("points/*/csim.json")}


def test_the_front_is_promoted_and_nothing_else(run, tmp_path):
    promotion(run, Checking()).carry_out()
    assert promoted(run) == {0, 1, 3}
    assert statuses(run.path, "promoted") == {"ok": 3}
    first = front(designs(run))[0]
    assert first.result.checks == ()  # what the search went by stays as it was
    assert first.promoted["csim"].checks == (OK,)
    assert {"evaluator", "seconds", "key"} <= last_event(run).keys()


def last_event(run: RunDirectory) -> dict:
    return json.loads((run.path / "events.jsonl").read_text().splitlines()[-1])


def test_what_is_wrong_leaves_the_front_and_what_comes_up_is_promoted(run):
    heard = []
    evaluator = Checking(wrong=lambda schedule: schedule == run.schedule(f"{1:032x}"))
    promotion(
        run, evaluator, heard=lambda d, r: heard.append((int(d.key, 16), r.refuted))
    ).carry_out()
    assert set(heard) == {(0, False), (1, True), (3, False), (2, False)}
    assert [int(d.key, 16) for d in front(designs(run))] == [0, 2, 3]
    assert [int(d.key, 16) for d in designs(run, refuted=True)] == [1]


def test_no_more_are_promoted_than_asked_for_over_all_sessions(run):
    evaluator = Checking()
    promotion(run, evaluator, most=2).carry_out()
    assert promoted(run) == {0, 1}
    promotion(run, evaluator, most=2).carry_out()
    assert len(evaluator.asked) == 2
    promotion(run, evaluator, most=3).carry_out()
    assert promoted(run) == {0, 1, 3}
    assert len(evaluator.asked) == 3


def test_refuted_designs_count_for_the_budget(run):
    promotion(run, Checking(wrong=lambda _: True), most=3).carry_out()
    assert len(promoted(run)) == 3
    assert len(designs(run)) == 1


def test_a_request_to_stop_ends_it_and_it_is_gone_on_with(run):
    stop: list[bool] = []
    first = promotion(
        run, Checking(), heard=lambda *_: stop.append(True), stopping=lambda: bool(stop)
    )
    with pytest.raises(StopRequestedError):
        first.carry_out()
    assert len(promoted(run)) == 1
    promotion(run, Checking()).carry_out()
    assert promoted(run) == {0, 1, 3}


def test_a_failure_of_the_tool_says_nothing_of_the_design(run):
    class Failing(Checking):
        def evaluate(self, request: Request) -> Result:
            return Result(Status.TOOL_ERROR, detail="no compiler")

    promotion(run, Failing()).carry_out()
    assert [int(d.key, 16) for d in front(designs(run))] == [0, 1, 3]
    assert statuses(run.path, "promoted") == {"tool-error": 3}


def test_what_is_cached_is_not_evaluated_again(run, tmp_path):
    cache = ResultCache(tmp_path / "cache")
    promotion(run, first := Checking(), cache=cache).carry_out()
    for file in run.path.glob("points/*/csim.json"):
        file.unlink()
    promotion(run, second := Checking(), cache=cache).carry_out()
    assert (len(first.asked), second.asked) == (3, [])
    assert promoted(run) == {0, 1, 3}


def test_a_damaged_promotion_is_done_again(run):
    promotion(run, Checking()).carry_out()
    (run.path / "points" / f"{0:032x}" / "csim.json").write_text("{")
    promotion(run, again := Checking()).carry_out()
    assert len(again.asked) == 1


# ----------------------------------------------------------------------------------- command line


def test_the_front_is_simulated_and_a_later_session_may_simulate_more(tmp_path):
    pytest.importorskip("optuna")
    folder = tmp_path / "run"
    words = ["--strategy", "pom", "--dsp", "40", "--format", "json"]
    code, out, err = end(begin_exploring(folder, *words))
    assert code == 0, err
    assert "csim" not in json.loads(out)["rows"][0]
    more = ["--resume", "--promote", "csim", "--promote-most", "1", "--jobs", "2"]
    code, out, err = end(begin_exploring(folder, *words, *more))
    assert code == 0, err
    rows = json.loads(out)["rows"]
    assert rows[0]["csim"] == "ok"
    assert all("csim" not in row for row in rows[1:])
    run = open_run(folder, write=False)
    assert run.manifest["promote"] == ["csim"]
    [check] = designs(run)[0].promoted["csim"].checks
    assert check.tool.startswith("g++ ")
    code = weft_command(
        [
            "explore",
            "--evaluator",
            "model",
            GEMM,
            "--size",
            "mini",
            "--out",
            str(folder),
            *words,
            *more,
        ]
    )
    assert (code, statuses(folder, "promoted")) == (0, {"ok": 1})


def test_rtl_is_refused_for_a_device_that_nothing_is_built_for(tmp_path, capfd):
    words = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "mini",
        "--out",
        str(tmp_path / "run"),
    ]
    assert weft_command([*words, "--promote", "rtl"]) == 1
    said = capfd.readouterr().err
    assert "error[W403]: --promote rtl cannot place and route designs for 'xczu9eg'" in said
    assert "help: take a device of the open flow: --device ecp5-85k" in said
    assert not (tmp_path / "run").exists()


def test_failed_promotions_are_told(run):
    promotion(run, Checking()).carry_out()
    run.manifest["promote"] = ["csim"]
    bounds = Problem("", {}, 0, (), (), (), {}, {}, (), None)
    assert not any("promotion" in line for line in summary(run, bounds, 4, 1.0))
    broken = Result(Status.TOOL_ERROR, detail="csim: no compiler")
    for design in designs(run)[:2]:
        run.promote(design.key, "csim", broken)
    said = "  promotion to csim: 2 of 3 failed, tool-error: csim: no compiler"
    assert said in summary(run, bounds, 4, 1.0)
