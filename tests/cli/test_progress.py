"""Long commands say how far they are, where standard error is a file as well."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dse.views.console import patience, stages
from tests.cli.conftest import Weft


def test_each_stage_is_said_at_once_and_now_and_then(capfd: pytest.CaptureFixture[str]) -> None:
    with stages("synth gemm", every=0.2) as heard:
        heard("simulate")
        assert capfd.readouterr().err == "synth gemm: simulate\n"
        deadline = time.monotonic() + 30
        said = ""
        while said.count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            said += capfd.readouterr().err
        heard("synthesise")
    assert said.startswith("synth gemm: simulate, 0 s so far\nsynth gemm: simulate, ")
    rest = capfd.readouterr().err
    assert "synth gemm: synthesise\n" in rest
    time.sleep(0.5)
    assert capfd.readouterr().err == ""  # it ends with the task


def test_synth_says_what_it_is_at(weft: Weft, kernels: Path) -> None:
    done = weft("synth", f"{kernels}:axpy", "--device", "xc7", "--trials", "0")
    assert done.code == 0, done.err
    assert "synth axpy: generate RTL\nsynth axpy: synthesise\n" in done.err
    assert "synth axpy" not in done.out


def test_patience_is_asked_for_only_where_it_takes_long(capfd: pytest.CaptureFixture[str]) -> None:
    with patience("export: results", after=60):
        pass
    assert capfd.readouterr().err == ""
    deadline, said = time.monotonic() + 30, ""
    with patience("export: results", after=0.1, every=0.1):
        while said.count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            said += capfd.readouterr().err
    assert said.startswith("export: results, 0 s so far\nexport: results, ")
    capfd.readouterr()
    time.sleep(0.3)
    assert capfd.readouterr().err == ""
