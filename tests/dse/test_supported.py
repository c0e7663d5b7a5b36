"""Designs that labels of the tool show: marks in a run, ``--supported``, ``--best-supported``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import weft
from dse.cli import run as weft_command
from dse.estimates.marks import Marks
from dse.evaluators.base import Limits, Result, Status, judged
from dse.run.folder.codec import result_from_json, result_to_json
from dse.run.folder.directory import open_run
from dse.run.results.front import Design, best, designs, front, supported
from dsl.errors.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
U280 = ("--device", "xcu280", "--clock", "3.33", "--dsp", "60", "--reassociate", "--size", "mini")


def explore(folder: Path, *words: str) -> int:
    return weft_command(["explore", GEMM, *U280, "--out", str(folder), *words])


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("supported") / "run"
    assert explore(folder) == 0
    return folder


def test_every_design_has_marks_and_the_fastest_have_phi(searched):
    found = designs(open_run(searched, write=False))
    assert all(d.result.marks is not None for d in found)
    shown = [d for d in front(found) if d.result.marks and d.result.marks.phi is not None]
    assert front(found)[0] in shown
    assert all(d.result.marks is not None and (d.result.marks.phi or 0) >= 1 for d in shown)


def test_a_third_of_the_trials_is_for_what_labels_show(searched):
    run = open_run(searched, write=False)
    results = [run.result(key) for key in run.point_keys()]
    evaluated = [r for r in results if r is not None and r.evaluated]
    assert 3 * sum(r.marks is not None and r.marks.inside for r in evaluated) >= len(evaluated)


def test_the_fastest_and_the_fastest_supported_are_told(searched, capfd):
    assert weft_command(["explore", GEMM, *U280, "--out", str(searched), "--resume"]) == 0
    said = capfd.readouterr()
    assert "phi" in said.out.splitlines()[0].split()
    run = open_run(searched, write=False)
    first, inside = best(run), best(run, inside=True)
    assert not first.result.supported
    assert first.values[0] < inside.values[0]
    assert f"fastest that labels show: {inside.values[0]:,.0f} cycles" in said.err
    assert "beyond labels: " in said.err
    assert "sums all in fabric" in said.err


def test_both_are_exported(searched, tmp_path):
    run = open_run(searched, write=False)
    for option, inside in (("--best", False), ("--best-supported", True)):
        out = tmp_path / option
        assert weft_command(["export", str(searched), option, "--out", str(out)]) == 0
        told = json.loads((out / "verification.json").read_text())
        assert told["design"] == best(run, inside=inside).key
    both = ["export", str(searched), "--best", "--best-supported", "--out", str(tmp_path / "x")]
    assert weft_command(both) == 2


def test_marks_are_in_json_in_python_and_in_the_report(searched, capfd):
    words = ["explore", GEMM, *U280, "--out", str(searched), "--resume", "--format", "json"]
    assert weft_command(words) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert {"e", "n", "phi", "supported", "beyond"} <= rows[0].keys()
    assert rows[0]["supported"] is False
    assert rows[0]["beyond"]
    run = weft.load_run(searched)
    assert run.best(supported=True).marks.supported
    assert run.best().marks.why == rows[0]["beyond"]
    page = (searched / "report.html").read_text()
    assert "what labels show" in page
    assert run.best().marks.unseen[0] in page


def test_a_search_within_labels_finds_nothing_else(tmp_path, searched, capfd):
    assert explore(tmp_path / "in", "--supported") == 0
    run = open_run(tmp_path / "in", write=False)
    found = designs(run)
    assert found == supported(found)
    assert "beyond labels" not in capfd.readouterr().err
    # All of the trials at it find as good a design as a third of them.
    assert best(run).values[0] <= best(open_run(searched, write=False), inside=True).values[0]
    with pytest.raises(InputError, match="supported"):
        weft_resumed(tmp_path / "in")


def weft_resumed(folder: Path) -> None:
    weft.explore(
        weft.load(GEMM), "mini", device="xcu280", clock=3.33, dsp=60, reassociate=True, out=folder,
        resume=True, progress=False,
    )  # fmt: skip


def test_the_open_backend_needs_no_labels(tmp_path, capfd):
    words = ["explore", GEMM, "--size", "mini", "--device", "ecp5-85k", "--trials", "2",
             "--supported", "--out", str(tmp_path / "run")]  # fmt: skip
    assert weft_command(words) == 0
    run = open_run(tmp_path / "run", write=False)
    assert best(run, inside=True).result.marks is None
    assert "beyond" not in capfd.readouterr().err


def result(cycles: float, marks: Marks | None) -> Result:
    return Result(Status.OK, cycles, {"dsp": 5}, marks=marks)


OUT, IN = Marks(0.5, ("tasks",)), Marks(0.5)


def test_a_limit_to_labels_is_a_limit():
    limits = Limits(supported=True)
    assert judged(result(10, IN), limits).status is Status.OK
    assert judged(result(10, None), limits).status is Status.OK
    told = judged(result(10, OUT), limits)
    assert (told.status, told.detail) == (Status.INFEASIBLE, "beyond labels: tasks")
    assert judged(result(10, OUT), Limits()).status is Status.OK
    slow = replace(IN, phi=1.2, rule="sums in fabric a state longer")
    assert "1.20 times the cycles with sums in fabric" in judged(result(10, slow), limits).detail
    assert judged(result(10, replace(IN, phi=1.05)), limits).status is Status.OK


def test_of_level_designs_the_supported_one_is_on_the_front():
    pair = [Design("a", result(10, OUT), (10.0, 5.0)), Design("b", result(10, IN), (10.0, 5.0))]
    assert [d.key for d in front(pair)] == ["b"]
    assert [d.key for d in front(pair[::-1])] == ["b"]


def test_marks_are_read_back_as_they_were():
    for marks in (None, OUT, replace(IN, phi=1.25, rule="x", largest="3 copies of 4")):
        first = result(10, marks)
        assert result_from_json(json.loads(json.dumps(result_to_json(first)))) == first
    older = result_to_json(result(10, None))
    del older["marks"]
    assert result_from_json(older).marks is None
    with pytest.raises(TypeError):
        result_from_json({**result_to_json(result(10, OUT)), "marks": {"e": "much"}})
