"""`weft devices`, and boards in the place of devices."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Weft

GEMM = "examples/polybench/gemm.py:gemm"


def test_the_list(weft: Weft) -> None:
    rows = json.loads(weft("devices", "--format", "json").out)["rows"]
    assert {"xc7z020", "xczu9eg", "xcu280", "ecp5-85k"} <= {row["device"] for row in rows}
    (one,) = json.loads(weft("devices", "kv260", "--format", "json").out)["rows"]
    assert (one["device"], one["boards"]) == ("xck26", "kr260 kv260")
    assert (one["timing_class"], one["dsp_kind"]) == ("zynquplus-2", "DSP48E2")


def test_nothing_found(weft: Weft) -> None:
    done = weft("devices", "stratix")
    assert (done.code, done.out) == (3, "")
    assert "no device or board has 'stratix' in its name" in done.err
    assert json.loads(weft("devices", "stratix", "--format", "json").out)["rows"] == []


@pytest.mark.parametrize("command", ["estimate", "space"])
def test_a_board_stands_for_its_part(weft: Weft, command: str) -> None:
    by_board = weft(command, GEMM, "--size", "mini", "--board", "zcu102", "--format", "json")
    by_part = weft(command, GEMM, "--size", "mini", "--device", "xczu9eg", "--format", "json")
    told = json.loads(by_board.out)
    told.pop("accelerator", None)  # of the board
    assert told == json.loads(by_part.out)


def test_a_board_of_another_name(weft: Weft) -> None:
    done = weft("estimate", GEMM, "--board", "kv26")
    assert (done.code, done.out) == (1, "")
    assert "error[W403]: no board is called 'kv26'\nhelp: did you mean 'kv260'?" in done.err


@pytest.mark.parametrize("command", ["estimate", "space", "graph", "explore", "export"])
def test_a_device_or_a_board(weft: Weft, command: str) -> None:
    out = () if command in ("estimate", "space", "graph") else ("--out", "x")
    done = weft(command, GEMM, *out, "--device", "xczu9eg", "--board", "zcu102")
    assert done.code == 2
    assert "--device and --board: one or the other" in done.err


def test_a_run_has_its_own_board(weft: Weft) -> None:
    done = weft("export", "run", "--best", "--out", "x", "--board", "u50")
    assert done.code == 2
    assert "--board does not go with a design of a run" in done.err


def test_boards_that_designs_can_be_brought_to_have_a_star(weft):
    done = weft("devices", "kv260")
    assert "kv260*" in done.out
    assert "--deploy" in done.err
    (one,) = json.loads(weft("devices", "kv260", "--format", "json").out)["rows"]
    assert (one["boards"], one["deploy"]) == ("kr260 kv260", "kr260 kv260")
    assert "*" not in weft("devices", "basys3").out
