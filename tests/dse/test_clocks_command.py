"""``weft explore --clock 3..10``: what it prints, exporting the best, interruption, wrong usage."""

from __future__ import annotations

import csv
import io
import json
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dse.cli import run as weft
from dse.run.folder.directory import open_run
from dse.run.results.front import routed_of
from dse.run.sweeps.sweep import reached, sweep_in
from dse.views import clocks as view
from tests.dse.commands import GEMM, begin_exploring, end, kept

pytest.importorskip("optuna")

RANGE = (
    *("--clock", "4..12", "--device", "xc7z020", "--evaluator", "model"),
    *("--strategy", "pom", "--trials", "20"),  # how is searched is not what is tested here
)


def explored(folder: Path, *words: str) -> int:
    return weft(["explore", GEMM, "--size", "mini", *RANGE, "--out", str(folder), *words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("clocks") / "out"
    assert explored(path) == 0
    return path


def test_a_line_for_each_period_the_fastest_first(folder, capfd):
    assert explored(folder, "--resume") == 0
    out, err = capfd.readouterr()
    heads, _, *lines = out.splitlines()
    assert heads.split() == ["clock", "ns", "period", "ns", "cycles", "time", "dsp", "design"]
    found = reached(sweep_in(folder))
    assert len(lines) == len(found) == 2
    assert [line.split()[0] for line in lines] == [f"{one.clock:g}" for one in found]
    assert f"weft export {folder} --best" in err
    assert f"{found[0].period:g} ns, in {found[0].run}" in err


@pytest.mark.parametrize("form", ["csv", "json"])
def test_figures_for_programs(folder, capfd, form):
    assert explored(folder, "--resume", "--format", form) == 0
    out = capfd.readouterr().out
    rows = json.loads(out)["rows"] if form == "json" else list(csv.DictReader(io.StringIO(out)))
    for row, one in zip(rows, reached(sweep_in(folder)), strict=True):
        assert float(row["clock_ns"]) == one.clock
        assert float(row["seconds"]) == pytest.approx(one.seconds)
        assert row["run"] == str(one.run)
        assert float(row["latency"]) * float(row["period_ns"]) == pytest.approx(1e9 * one.seconds)


def test_figures_after_routing_beside(folder):
    found = reached(sweep_in(folder))[0]
    manifest = {**open_run(found.run, write=False).manifest, "routed": True}
    after = routed_of(manifest, found.design.result)
    assert found.routed is None, "the search was not asked to show them"
    [row] = view.rows([replace(found, routed=after)])
    table, lines = view.for_people(row), view.flat(row)
    assert set(view.columns("table", routed=True)) <= {n.replace("_", " ") for n in table} | set(
        table
    )
    assert set(view.columns("csv", routed=True)) <= set(lines)
    assert lines["lut_routed_low"] <= lines["lut_routed"] < lines["lut"]
    assert table["lut_routed"].startswith(f"{lines['lut_routed']:,} [")


def test_the_best_in_time_is_exported(folder, tmp_path):
    assert weft(["export", str(folder), "--best", "--out", str(tmp_path / "hls")]) == 0
    best = reached(sweep_in(folder))[0]
    assert f"clock={best.clock:g}ns" in (tmp_path / "hls" / "hls_config.cfg").read_text()
    proof = json.loads((tmp_path / "hls" / "verification.json").read_text())
    assert proof["design"] == best.design.key


def test_an_interrupted_search_goes_on(tmp_path):
    out = tmp_path / "out"
    process = begin_exploring(out, *RANGE)
    while process.poll() is None and not any(kept(run) for run in out.glob("clock_*")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert end(process)[0] in (0, 130)
    assert explored(out, "--resume") == 0
    assert len(reached(sweep_in(out))) == 2


def test_nothing_within_the_limits(tmp_path, capfd):
    assert explored(tmp_path / "out", "--limit", "lut=1", "--trials", "2") == 3
    assert "no design keeps to the limits at any of these clocks" in capfd.readouterr().err
    assert weft(["export", str(tmp_path / "out"), "--best", "--out", str(tmp_path / "hls")]) == 1
    assert "error[W526]" in capfd.readouterr().err


@pytest.mark.parametrize(
    "clock", ["10..3", "4..4", "0..5", "3..1001", "a..b", "3..", "..3", "3...5", "-1..3", "3..4..5"]
)
def test_a_range_that_is_none(clock, tmp_path, capfd):
    command = ["explore", GEMM, f"--clock={clock}", "--out", str(tmp_path / "out")]
    assert weft(command) == 1
    err = capfd.readouterr().err
    assert err.startswith("error[W405]: ")
    assert "help: " in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--open",), ("--dask", "tcp://x:1"), ("--storage", "postgresql://x/y"), ("--study", "s"),
        ("--promote", "csim"), ("--jobs", "0"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_what_is_of_a_run_at_one_clock(words, tmp_path, capfd):
    assert explored(tmp_path / "out", *words) == 2
    assert words[0] in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_time_is_cycles_of_each_clock(tmp_path):
    assert explored(tmp_path / "out", "--max-latency", "1ms") == 0
    sweep = sweep_in(tmp_path / "out")
    for clock in sweep.periods:
        manifest = json.loads((sweep.run(clock) / "manifest.json").read_text())
        assert manifest["latency_limit"] == pytest.approx(1e6 / clock)
