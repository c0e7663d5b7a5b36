"""``weft explore --routed`` and ``--budget routed``: shown after routing, and held against limits so."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from backends.devices import device
from dse.cli import run as weft_command
from dse.estimates.routed import ALREADY, UPPER_ENDS, Place
from dse.evaluators.base import SURE, Limits, Result, Status, judged
from dse.run.folder.directory import open_run, wrong
from dse.run.results.front import designs, front, limits_of, routed_of
from tests.dse.manifest import WHOLE

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
MINI = ("--size", "mini", "--device", "xc7z020", "--trials", "8", "--evaluator", "model")
PLACE = Place(device("xc7z020"), 10.0)


def explore(folder: Path, *words: str) -> int:
    return weft_command(["explore", GEMM, *MINI, "--out", str(folder), *words])


def result(lut: int, ff: int = 1_000, provenance: str = "model", **more) -> Result:
    counts = {"lut": lut, "ff": ff, "dsp": 4, "bram18": 0}
    return Result(Status.OK, 100.0, counts, provenance, **more)


# ------------------------------------------------------------------------------------------ limits


def test_the_upper_end_decides():
    upper = PLACE.routed(result(10_000).resources).upper["lut"]
    for limit, status in ((upper, Status.OK), (upper - 1, Status.INFEASIBLE)):
        assert judged(result(10_000), Limits({"lut": limit}, routed=PLACE)).status is status


def test_logic_without_registers_gets_more_room():
    limits = {"lut": 30_000}
    assert judged(result(40_000, 100), Limits(limits)).status is Status.INFEASIBLE
    assert judged(result(40_000, 100), Limits(limits, routed=PLACE)).status is Status.OK


def test_slices_are_those_that_csynth_binds():
    found = Limits({"dsp": 4}, routed=PLACE)
    assert PLACE.routed(result(10).resources).upper["dsp"] > 4
    assert judged(result(10), found).status is Status.OK


def test_figures_of_routed_designs_are_taken_as_they_are():
    limits = Limits({"lut": 10_000}, routed=PLACE)
    assert judged(result(10_000, provenance="post-route"), limits).status is Status.OK
    predicted = result(10_000, provenance="gnn", spread={"lut": 10.0})
    assert limits.counted(predicted)["lut"] == round(10_000 + SURE * 10)


def test_a_prediction_of_csynth_beside_it_does_not_decide_then():
    found = result(10_000, upper={"lut": 90_000, "ff": 90_000})
    upper = PLACE.routed(found.resources).upper
    assert Limits({}, routed=PLACE).counted(found)["lut"] == upper["lut"]
    assert Limits({}).counted(found)["lut"] == 90_000


def test_bounds_go_by_the_most_that_may_be_counted():
    assert Limits({"lut": 42_560}).most("lut", 53_200) == 42_560
    assert Limits({}).most("lut", 53_200) == 53_200
    most = Limits({"lut": 42_560}, routed=PLACE).most("lut", 53_200)
    assert judged(result(most, 0), Limits({"lut": 42_560}, routed=PLACE)).status is Status.OK
    assert (
        judged(result(most + 1, 0), Limits({"lut": 42_560}, routed=PLACE)).status is not Status.OK
    )


# -------------------------------------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("routed") / "run"
    assert explore(folder, "--limit", "lut=12000", "--budget", "routed") == 0
    return folder


def test_every_design_keeps_to_the_limits_by_its_upper_ends(searched):
    run = open_run(searched, write=False)
    assert limits_of(run).routed == PLACE
    for design in designs(run):
        after = routed_of(run.manifest, design.result)
        assert after is not None
        assert after.upper["lut"] <= 12_000


def test_it_is_in_the_table_the_summary_and_the_report(searched, capfd):
    assert explore(searched, "--limit", "lut=12000", "--budget", "routed", "--resume") == 0
    said = capfd.readouterr()
    head = said.out.splitlines()[0]
    assert "lut routed" in head
    assert "period ns routed" in head
    assert "extrapolated" in head
    assert "routed (90% interval)  LUT" in said.err
    assert UPPER_ENDS in said.err
    page = (searched / "report.html").read_text()
    assert f"next to the budget {UPPER_ENDS}" in page
    best = front(designs(open_run(searched, write=False)))[0]
    after = routed_of(open_run(searched, write=False).manifest, best.result)
    assert str(after) in page


def test_csv_and_json_have_values_and_ends(searched, capfd):
    words = ("--limit", "lut=12000", "--budget", "routed", "--resume")
    assert explore(searched, *words, "--format", "csv") == 0
    for row in csv.DictReader(io.StringIO(capfd.readouterr().out)):
        for name in ("lut", "ff", "dsp", "bram18", "period_ns"):
            low, value, high = (float(row[f"{name}_routed{e}"]) for e in ("_low", "", "_high"))
            assert low <= value <= high
    assert explore(searched, *words, "--format", "json") == 0
    row = json.loads(capfd.readouterr().out)["rows"][0]
    assert row["routed"]["provenance"] == "fitted"
    assert row["routed"]["figures"]["lut"]["high"] <= 12_000
    assert row["provenance"] == "model"


def test_another_budget_is_another_run(searched, capfd):
    assert explore(searched, "--limit", "lut=12000", "--resume") == 1
    assert "error[W525]" in capfd.readouterr().err


def test_it_can_be_shown_of_a_run_that_went_by_csynth(tmp_path, capfd):
    folder = tmp_path / "run"
    assert explore(folder) == 0
    assert "routed" not in capfd.readouterr().out
    before = {d.key: d.result for d in designs(open_run(folder, write=False))}
    assert explore(folder, "--resume", "--routed") == 0
    assert "lut routed" in capfd.readouterr().out.splitlines()[0]
    run = open_run(folder, write=False)
    assert {d.key: d.result for d in designs(run)} == before
    assert limits_of(run).routed is None


def test_the_open_backend_says_that_it_is_routed_already(tmp_path, capfd):
    words = ["explore", GEMM, "--size", "mini", "--device", "ecp5-85k", "--trials", "2"]
    code = weft_command(
        [*words, "--evaluator", "model", "--budget", "routed", "--out", str(tmp_path / "run")]
    )
    assert code == 0
    said = capfd.readouterr()
    assert ALREADY in said.err
    assert "routed" not in said.out
    assert limits_of(open_run(tmp_path / "run", write=False)).routed is None


def test_a_predictors_figures_are_not_those_that_routing_is_expected_of(tmp_path, capfd):
    pytest.importorskip("torch_geometric")
    assert explore(tmp_path / "run", "--evaluator", "gnn", "--budget", "routed") == 2
    assert "budget is 'routed', and the evaluator is 'gnn'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"), [("routed", "yes"), ("budget", "board"), ("budget", ["routed"])]
)
def test_a_manifest_that_says_something_else(name, value):
    assert wrong({**WHOLE, name: value}) == [name]
