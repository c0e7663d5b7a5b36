"""Active learning: labels teach a predictor which designs to ask the tool about next."""

import contextlib
import itertools
import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from backends.devices import device
from dse.cli import weft as cli
from dse.estimates.estimation import setting
from dse.evaluators.base import Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.run.folder.directory import create
from dse.run.results.front import designs, front
from dse.run.search.active import FILE, Learner, label_of, true_front
from dse.run.search.explore import _parts
from dse.run.search.promote import Promotion
from dse.run.workers.fanout import Here
from dse.run.workers.flights import Flights
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Split, Unroll
from qor_gnn.gnn.training.weights import load as load_weights
from tests.dse.commands import GEMM

PROGRAM = load(GEMM).at("mini").program
MANIFEST = {
    "kernel": "gemm", "objectives": ["latency", "lut"], "limits": {"dsp": 1000},
    "latency_limit": None, "clock_ns": 10.0,
}  # fmt: skip


class Tool:
    """Needs three times the LUT that the model says, but for designs of few copies."""

    name, cost, version = "rtl", 60.0, "1"

    def __init__(self) -> None:
        self.asked = 0

    def evaluate(self, request: Request) -> Result:
        self.asked += 1
        found = ModelEvaluator().evaluate(request)
        copies = max(s.factor for s in request.schedule.steps if isinstance(s, Split))
        lut = round(found.resources["lut"] * (3.0 if copies > 6 else 1.0))
        return Result(
            Status.OK, found.latency, {**found.resources, "lut": lut}, "post-route", "a tool",
            period=8.0,
        )  # fmt: skip


def request_of(run):
    def request(key):
        return Request(PROGRAM, run.schedule(key), device("xczu9eg"), 10.0)

    return request


@pytest.fixture
def run(tmp_path):
    """A search of 24 designs by the model."""
    with contextlib.closing(create(tmp_path / "run", MANIFEST)) as made:
        choices = itertools.product((True, False), range(2, 14))
        for n, (pipelined, factor) in enumerate(choices):
            steps = (Split("k", factor), Pipeline("k_0"), Unroll("k_1"))
            schedule = Schedule(tuple(s for s in steps if pipelined or s != Pipeline("k_0")))
            result = ModelEvaluator().evaluate(Request(PROGRAM, schedule, device("xczu9eg"), 10.0))
            made.begin(f"{n:032x}", schedule, {})
            made.keep(f"{n:032x}", result)
        yield made


def promoted(run, tool, most, order):
    Promotion(
        run, tool, request_of(run), most, lambda *_: None,
        Flights(Here(60), lambda: False), chosen=order,
    ).carry_out()  # fmt: skip


def distance(found, wanted):
    """How far a front is from the true one: ADRS."""
    far = [
        min(max(0.0, *(f / w - 1 for f, w in zip(d.values, t.values, strict=True))) for d in found)
        for t in wanted
    ]
    return sum(far) / len(far)


def copy_of(run, path):
    made = create(path, MANIFEST)
    for design in designs(run):
        made.begin(design.key, run.schedule(design.key), {})
        made.keep(design.key, design.result)
    return made


def test_the_true_front_is_found_with_few_questions(run, tmp_path):
    tools, fronts = {}, {}
    for name, most in (("all", 100), ("learning", 5), ("model", 5)):
        with contextlib.closing(copy_of(run, tmp_path / name)) as other:
            place = setting(None, "xczu9eg", 10.0)
            learner = Learner(other, "rtl", place, request_of(other))
            order = {"all": lambda every: every, "learning": learner, "model": front}[name]
            tools[name] = Tool()
            promoted(other, tools[name], most, order)
            fronts[name] = true_front(designs(other), "rtl", other)
    assert tools["learning"].asked == tools["model"].asked == 5
    assert distance(fronts["learning"], fronts["all"]) < 0.05
    assert distance(fronts["model"], fronts["all"]) > 0.1


def test_what_was_learned_is_kept(run):
    learner = Learner(run, "rtl", setting(None, "xczu9eg", 10.0), request_of(run))
    promoted(run, Tool(), 4, learner)
    learner(designs(run))
    model = load_weights(run.path / FILE)
    assert len(model.adapters["vitis-2022.1-zu9eg-10ns"].shots) == 4
    assert model.learned("vitis-2022.1-zu9eg-10ns") >= {"lut", "latency", "period_ns"}


def test_nobody_is_asked_twice_and_the_order_is_the_same(run):
    place = setting(None, "xczu9eg", 10.0)
    learner = Learner(run, "rtl", place, request_of(run))
    first = [d.key for d in learner(designs(run))]
    assert first
    assert first == [d.key for d in Learner(run, "rtl", place, request_of(run))(designs(run))]
    promoted(run, Tool(), 3, learner)
    told = {d.key for d in designs(run) if "rtl" in d.promoted}
    assert len(told) == 3
    assert not told & {d.key for d in learner(designs(run))}


def test_before_any_label_the_white_box_decides(run):
    learner = Learner(run, "rtl", setting(None, "xczu9eg", 10.0), request_of(run))
    best = front(designs(run))
    assert {d.key for d in best} <= {d.key for d in learner(designs(run))}
    assert not (run.path / FILE).exists()


def test_a_result_is_a_label():
    result = Result(Status.OK, 100.0, {"dsp": 5, "lut": 70}, period=9.5)
    assert label_of(result) == {"latency": 100, "dsp": 5, "lut": 70, "period_ns": 9.5}


def test_learning_needs_a_teacher(tmp_path):
    words = ["explore", GEMM, "--out", str(tmp_path / "run"), "--learn", "2"]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert "--learn needs somebody to learn from" in result.exception.message


def test_rounds_share_trials_and_promotions():
    plan = SimpleNamespace(rounds=3, promote_most=10)
    assert [(p.trials, p.promoted) for p in _parts(plan, 40)] == [(14, 4), (27, 7), (40, 10)]
    once = SimpleNamespace(rounds=0, promote_most=10)
    assert [(p.trials, p.promoted) for p in _parts(once, 40)] == [(40, 10)]


TINY = """
import weft
from weft import i8


@weft.kernel
def scale(x: i8[8], y: i8[8]):
    for i in range(8):
        y[i] = x[i] + 1
"""


@pytest.mark.slow
def test_searching_and_learning_by_turns(tmp_path):
    (tmp_path / "tiny.py").write_text(TINY)
    out = tmp_path / "run"
    words = [
        *("explore", f"{tmp_path / 'tiny.py'}:scale", "--device", "ecp5-85k", "--out", str(out)),
        *("--trials", "4", "--promote", "rtl", "--promote-most", "2", "--learn", "2"),
        *("--timeout", "300", "--objectives", "latency,lut"),
    ]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert result.exception is None, result.output
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    kinds = [e["event"] for e in events if e["event"] in ("trial", "promoted")]
    assert 1 <= kinds.count("promoted") <= 2
    assert (out / FILE).exists()
