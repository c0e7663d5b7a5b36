"""The white-box model behind the evaluators' interface."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

import weft
from backends.devices import device
from dse.estimates import estimation
from dse.estimates.estimation import estimated, ranked, setting
from dse.estimates.suggest import suggestions
from dse.evaluators.base import Evaluator, Limits, Request, Result, Status, device_limits, judged
from dse.evaluators.model import ModelEvaluator, personality_for
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import BindStorage, Partition, Unroll
from polyhedral.schedule import apply
from qor_gnn.estimate import estimate
from tests.dse.contract import EvaluatorContract, stencil
from weft import f16, f32, f64


@weft.kernel
def short_rows(a: f64[200, 8], b: f64[200]):
    for i in range(200):
        b[i] = 0.5
        for j in range(8):
            a[i, j] = a[i, j] * 2.0


@weft.kernel
def halves(a: f16[20], b: f16[20]):
    for i in range(20):
        a[i] = a[i] * b[i]


class TestModelEvaluator(EvaluatorContract):
    @pytest.fixture
    def evaluator(self) -> Evaluator:
        return ModelEvaluator()

    def test_says_what_limits_each_loop(self, evaluator, request_):
        loops = evaluator.evaluate(request_).loops
        assert loops[0].loops[0] == "i"
        assert all(loop.latency > 0 for loop in loops)


def test_the_personality_is_that_of_the_device_and_clock():
    assert personality_for(device("xcu280"), 3.33).device == "xcu280"
    assert personality_for(device("xczu9eg"), 10.0).device == "xczu9eg"


def test_a_device_without_a_personality_gets_the_one_of_its_clock():
    assert personality_for(device("xc7z020"), 10.0).clock_ns == 10.0
    assert personality_for(device("xcu250"), 3.33).clock_ns == 3.33


def test_a_clock_that_nothing_runs_at_is_an_error_of_the_tool():
    request = Request(stencil.program, Schedule(), device("xczu9eg"), 0.5)
    result = ModelEvaluator().evaluate(request)
    assert result.status is Status.TOOL_ERROR
    assert result.detail.startswith("W452")


def test_a_named_tool_answers_at_any_clock():
    request = Request(stencil.program, Schedule(), device("xczu9eg"), 7.77)
    result = ModelEvaluator("vitis-2023.2-u280-3.33ns").evaluate(request)
    assert result.status is Status.OK
    assert result.tool.startswith("vitis-2023.2-xczu9eg-2-7.77ns, on xczu9eg at 7.77 ns")


@weft.kernel
def row_sums(a: f32[8, 16], b: f32[8]):
    for i in range(8):
        for j in range(16):
            b[i] += a[i, j]


@pytest.mark.parametrize("tool", ["open-ecp5-10ns", "vitis-2022.1-zu9eg-10ns"])
def test_a_design_whose_steps_have_added_statements_is_scheduled_once(tool):
    steps = ScheduleBuilder().buffer("a", at="S0.i").pipeline("S0.j", ii=9).build()
    found = ranked(apply(row_sums.program, steps), steps, setting(tool))
    assert found.program == row_sums.program
    assert found.answer == estimated(row_sums.program, steps, setting(tool)).answer


def test_a_design_that_is_emitted_as_it_was_ranked_is_estimated_once(monkeypatch):
    asked = []

    def counted(*given, **named):
        asked.append(given)
        return estimate(*given, **named)

    monkeypatch.setattr(estimation, "estimate", counted)
    request = Request(stencil.program, ScheduleBuilder().build(), device("xczu9eg"), 9.87)
    found = ModelEvaluator().evaluate(request)
    again = ModelEvaluator(emitted=True).evaluate(request)
    assert replace(again, seconds=found.seconds) == found
    assert len(asked) == 1
    slower = ModelEvaluator().evaluate(replace(request, clock=8.76))
    assert slower.latency != found.latency or slower.tool != found.tool
    assert len(asked) == 2


def test_suggestions_for_a_design_whose_steps_have_added_statements():
    steps = ScheduleBuilder().buffer("a", at="S0.i").pipeline("S0.j", ii=30).build()
    found = ranked(apply(row_sums.program, steps), steps, setting())
    assert suggestions(found)
    for each in suggestions(found):
        assert each.answer == estimated(row_sums.program, each.schedule, setting()).answer


def test_a_device_that_no_report_shows_is_noted_with_the_figures():
    def tool(name: str) -> str:
        return (
            ModelEvaluator().evaluate(Request(stencil.program, Schedule(), device(name), 10.0)).tool
        )

    assert tool("xczu9eg") == "vitis-2022.1-zu9eg-10ns, on xczu9eg at 10 ns"
    assert tool("xc7z020") == "vitis-2022.1-xc7z020-1-10ns, on xc7z020 at 10 ns"
    assert "; no report shows operators of versal-2 (xcvc1902)" in tool("xcvc1902")


def test_a_written_unroll_factor_is_left_alone_by_the_tool():
    def pipelines(*steps: Unroll) -> list[tuple[str, ...]]:
        request = Request(short_rows.program, Schedule(steps), device("xcu200"), 4.0)
        return [loop.loops for loop in ModelEvaluator().evaluate(request).loops]

    assert pipelines() == [("i",)]  # the short loop went into its parent
    assert pipelines(Unroll("j", 1)) == [("i", "j")]


def test_what_is_over_a_limit_is_infeasible_and_keeps_its_figures():
    result = Result(Status.OK, 100.0, {"dsp": 30})
    over = judged(result, Limits({"dsp": 20}))
    assert (over.status, over.latency) == (Status.INFEASIBLE, 100.0)
    assert over.detail == "over its limit: dsp by 50%"
    assert judged(result, Limits({"dsp": 30})) is result
    assert judged(result, Limits(latency=99)).status is Status.INFEASIBLE


def test_what_is_not_estimated_is_not_limited():
    assert judged(Result(Status.OK, 100.0, {}), Limits({"lut": 0})).status is Status.OK


def test_a_failure_is_not_judged():
    failed = Result(Status.TOOL_ERROR)
    assert judged(failed, Limits({"dsp": 0})) is failed


def test_a_share_of_a_device():
    limits = device_limits(device("xc7z020"), share=0.5, dsp=40)
    assert limits.resources == {"dsp": 40, "lut": 26_600, "ff": 53_200, "bram18": 140, "uram": 0}


@weft.kernel
def turned(a: f32[4096], b: f32[4096]):
    t: f32[4096]
    for i in range(4096):
        t[i] = a[i]
    for i in range(4096):
        b[i] = t[4095 - i]


def test_memories_of_urams_need_a_device_that_has_them():
    steps = (BindStorage("t", "ram_2p", "uram"), Partition("t", 0, "cyclic", 64))

    def on(name: str) -> Result:
        chip = device(name)
        request = Request(turned.program, Schedule(steps), chip, 10.0)
        return judged(ModelEvaluator().evaluate(request), device_limits(chip))

    assert on("xcu280").resources["uram"] == 64
    assert on("xcu280").status is Status.OK
    assert on("xczu9eg").detail == "over its limit: uram by 6400%"


def test_operators_that_no_report_shows_are_named():
    request = Request(halves.program, Schedule(), device("xczu9eg"), 10.0)
    assert "assumed, not measured: mul on f16" in ModelEvaluator().evaluate(request).tool


def test_points_are_ranked_without_mlir():
    """Thousands of points are: what is built for one is built for all."""
    script = (
        "import sys\n"
        "from backends.devices import device\n"
        "from dse.evaluators.base import Request\n"
        "from dse.evaluators.model import ModelEvaluator\n"
        "from dsl.schedules.schedule import Schedule\n"
        "from tests.dse.contract import stencil\n"
        "request = Request(stencil.program, Schedule(), device('xczu9eg'), 10.0)\n"
        "assert ModelEvaluator().evaluate(request).latency\n"
        "print([n for n in sys.modules if n.partition('.')[0] in ('mlir', 'torch_mlir')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("steps", [(), (Unroll("j", 4),)])
def test_what_is_emitted_has_the_figures_that_it_was_ranked_by(steps):
    request = Request(short_rows.program, Schedule(steps), device("xczu9eg"), 10.0)
    ranked = ModelEvaluator().evaluate(request)
    emitted = ModelEvaluator(emitted=True).evaluate(request)
    assert replace(emitted, seconds=ranked.seconds) == ranked
