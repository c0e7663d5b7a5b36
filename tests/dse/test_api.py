"""Explorations from Python: the same runs as the command line makes, as values."""

from __future__ import annotations

import json
import pickle

import pytest

import weft
from dsl.errors.errors import InputError
from weft import f32


@weft.kernel
def scaled(x: f32[32, 16], y: f32[32, 16]):
    for i in range(32):
        for j in range(16):
            y[i, j] = 2.0 * x[i, j] + 1.0


@weft.kernel
def dot(x: f32[64], y: f32[64], z: f32[1]):
    for i in range(64):
        z[0] += x[i] * y[i]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api") / "run"
    return weft.explore(scaled, device="xc7z020", out=folder, trials=8, progress=False)


def test_the_front_is_what_the_folder_holds(run):
    rows = run.front()
    assert list(rows["latency"]) == sorted(rows["latency"])
    assert list(rows["design"]) == [one.key for one in run.pareto]
    best = run.best()
    assert best.latency == rows["latency"].iloc[0]
    assert json.loads((run.path / "manifest.json").read_text())["device"].startswith("xc7z020")
    assert run.report.is_file()


def test_a_design_has_its_schedule_estimate_and_code(run, tmp_path):
    best = run.design(run.best().key[:8])
    assert best.estimate.latency.average == best.latency
    assert best.estimate.dsp == best.resources["dsp"]
    assert best.hls_cpp == weft.compile(scaled, best.schedule).hls_cpp
    assert weft.verify(scaled, best.schedule).ok
    project = best.export(tmp_path / "project")
    assert (tmp_path / "project" / f"{scaled.name}.cpp").is_file()
    assert project.files


def test_a_run_is_opened_again_and_gone_on_with(run):
    again = weft.load_run(run.path)
    assert [one.key for one in again.designs] == [one.key for one in run.designs]
    assert weft.load_run(run.path, scaled).best().key == run.best().key
    more = weft.explore(
        scaled, device="xc7z020", out=run.path, trials=10, resume=True, progress=False
    )
    assert len(more.designs) >= len(run.designs)
    with pytest.raises(InputError, match="W536"):
        weft.load_run(run.path, dot)


def test_without_a_folder_it_lasts_as_long_as_the_run():
    one = weft.explore(dot, device="xc7z020", trials=2, progress=False)
    path = one.path
    assert path.is_dir()
    assert one.best().latency > 0
    del one
    assert not path.exists()


def test_it_shows_itself(run):
    assert f"run of {scaled.name}" in repr(run)
    assert run.best().key[:12] in repr(run)
    assert run._repr_html_().count("<tr>") == 1 + len(run.pareto)
    assert run.best()._repr_html_().count("<tr>") == 2
    assert pickle.loads(pickle.dumps(run.best())).schedule == run.best().schedule
    assert weft.compile(scaled, run.best()).hls_cpp == run.best().hls_cpp
    figure = run.plot("dsp")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "DSP"
    assert len(axes.lines[0].get_xdata()) == len(run.pareto)


def test_tables_and_plots_are_of_what_is_known(run):
    for asked in (lambda: run.front("os"), lambda: run.plot("watts")):
        with pytest.raises(InputError, match="W509"):
            asked()


def test_limits_hold():
    one = weft.explore(
        scaled, device="xc7z020", trials=6, limits={"dsp": 8, "lut": "50%"}, progress=False
    )
    assert all(design.resources["dsp"] <= 8 for design in one.designs)
    known = {design.key for design in one.designs}
    for key in {*one.directory.point_keys(), "00000000", "x", 3} - known:
        with pytest.raises(InputError, match="W526"):
            one.design(key)
    none = weft.explore(scaled, device="xc7z020", trials=2, max_latency=1, progress=False)
    assert none.designs == ()
    assert none.front().empty
    assert "no design" in none._repr_html_()
    with pytest.raises(InputError, match="W526"):
        none.best()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"strategy": "aut"}, "auto"),
        ({"objectives": ("latency", "power")}, "power"),
        ({"objectives": ("dsp",)}, "latency, or seconds"),
        ({"limits": {"dsp": "many"}}, "a part of the device's"),
        ({"limits": {"cells": 3}}, "cells"),
        ({"share": 0}, "share"),
        ({"device": 3}, "device of weft.explore"),
        ({"trials": "many"}, "trials of weft.explore"),
        ({"clock": 0}, "error[W405]: a clock period of 0 ns is none"),
        ({"seed": -1}, "use 0 or more"),
        ({"dsp": "10%"}, "a number of slices"),
        ({"max_latency": 0}, "use 1 or more"),
        ({"objectives": "latency"}, "a list of names"),
        ({"device": "xc7z021"}, "xc7z020"),
    ],
)
def test_what_is_wrong_is_said(given, said, tmp_path):
    with pytest.raises(weft.WeftError) as error:
        weft.explore(scaled, out=tmp_path / "run", progress=False, **given)
    assert said in error.value.render()
    assert not (tmp_path / "run").exists()


def test_a_space_is_counted_and_bounded():
    found = weft.space(scaled, device="xc7z020")
    assert found.points > 1
    assert {row["nest"] for row in found.rows} == {"S0"}
    assert len(found.frame()) == len(found.rows)
    assert found.bounds
    assert "points" in repr(found)


def test_an_estimate_prints_as_its_table():
    text = str(weft.estimate(scaled, device="xc7z020"))
    assert "latency" in text
    assert "DSP" in text
    assert "i" in text.splitlines()[2]


@weft.kernel
def sums(x: weft.i16[8], y: weft.i16[8], z: weft.i16[8]):
    for i in range(8):
        z[i] = x[i] + y[i]


@pytest.mark.slow
def test_a_design_is_placed_and_routed(tmp_path):
    report = weft.synth(sums, out=tmp_path / "tools")
    assert report.outcome == "ok"
    assert report.simulation.verdict == "ok"
    assert report.fmax > 10
