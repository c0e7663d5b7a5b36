"""The frame of the command line: help, exit codes, errors of users and of ours, speed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from dse import cli
from dse.views import console
from dse.views.output import painted, rendered, table
from dsl.errors.errors import InputError, Span, WeftError
from tests.cli.conftest import Weft, cpu_seconds

WEFT = Path(sys.executable).parent / "weft"
COLUMNS = ("name", "size", "ok")
ROWS = [{"name": "a,b", "size": 3, "ok": True}, {"name": "c", "size": None, "ok": False}]


def test_help_lists_every_command(weft: Weft) -> None:
    done = weft("--help")
    assert done.code == 0
    for name in cli.COMMANDS:
        assert f"\n  {name} " in done.out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(weft: Weft, name: str) -> None:
    done = weft(name, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: weft {name} ")


def test_version(weft: Weft) -> None:
    done = weft("--version")
    assert done.code == 0
    assert done.out.startswith("weft 0.")


def test_help_is_fast() -> None:
    # The goal is 0.15 s of wall time on a quiet machine: benchmarks/compile_time measures that.
    assert cpu_seconds([WEFT, "--help"], 5) < 0.2


def test_wrong_usage(weft: Weft) -> None:
    done = weft("exprot")
    assert (done.code, done.out) == (2, "")
    assert "no command is called 'exprot'; did you mean 'export'?" in done.err
    assert weft("doctor", "--format", "xml").code == 2
    assert weft("doctor", "--nonsense").code == 2
    assert weft().code == 2


def command_that(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    @click.command()
    def broken() -> None:
        raise error

    monkeypatch.setattr(cli.LazyGroup, "get_command", lambda *_: broken)


def test_an_error_of_the_user(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    command_that(monkeypatch, InputError("W599", "that is wrong", help="do it right"))
    done = weft("doctor")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error[W599]: that is wrong\nhelp: do it right\n"


def test_a_name_that_is_none_is_wrong_usage(weft: Weft) -> None:
    assert weft("compile", "nothing").code == 2


def test_a_fault_of_ours(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    command_that(monkeypatch, KeyError("schedule"))
    done = weft("doctor")
    assert (done.code, done.out) == (70, "")
    assert "internal error: KeyError: 'schedule'" in done.err
    assert "This is a fault in Weft, not in your program." in done.err
    assert console.REPORT_TO in done.err
    assert "test_frame.py" in done.err  # the trace is for us


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_interrupted(weft: Weft, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    command_that(monkeypatch, error)
    done = weft("doctor")
    assert (done.code, done.err.splitlines()[-1]) == (130, "interrupted")


def test_a_reader_that_goes_away() -> None:
    with subprocess.Popen(
        [WEFT, "doctor", "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(60) == 1
    assert said == b""


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert console.colours(terminal)  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert not console.colours(terminal)  # type: ignore[arg-type]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not console.colours(terminal)  # type: ignore[arg-type]


def test_a_painted_error_has_the_same_text(tmp_path: Path) -> None:
    source = tmp_path / "k.py"
    source.write_text("first\nsecond line\n")
    error = WeftError(
        "W299", "no", span=Span(str(source), 2, 8, 2, 12), notes=["help: me"], help="yes"
    )
    plain, painted = error.render(), console.painted(error.render())
    assert painted.count("\x1b[") == 6
    for code in ("1;31", "1;36", "0"):
        painted = painted.replace(f"\x1b[{code}m", "")
    assert painted == plain


def test_rows_as_json() -> None:
    assert json.loads(rendered("x", COLUMNS, ROWS, "json")) == {
        "schema_version": 1,
        "command": "x",
        "rows": ROWS,
    }


def test_rows_as_csv() -> None:
    assert rendered("x", COLUMNS, ROWS, "csv") == 'name,size,ok\n"a,b",3,yes\nc,,no\n'


def test_csv_has_the_digits_that_the_table_rounds_off() -> None:
    rows = [{"x": 10609401.25}, {"x": float("nan")}, {"x": 0.1}]
    assert rendered("x", ("x",), rows, "csv") == 'x\n10609401.25\n""\n0.1\n'


def test_json_has_null_for_what_is_no_number() -> None:
    rows = [{"x": float("nan"), "y": [1.5, float("-inf")], "z": {"inside": float("inf")}}]
    text = rendered("x", (), rows, "json")
    assert json.loads(text, parse_constant=pytest.fail)["rows"] == [
        {"x": None, "y": [1.5, None], "z": {"inside": None}}
    ]


def test_rows_as_a_table() -> None:
    assert rendered("x", COLUMNS, ROWS, "table") == (
        "name  size  ok\n----  ----  ---\na,b      3  yes\nc           no\n"
    )
    assert rendered("x", COLUMNS, [], "table") == "name  size  ok\n----  ----  --\n"


def test_decimals_of_a_column() -> None:
    rows = [{"ms": 204.23}, {"ms": 0.7321}, {"ms": None}, {"ms": 2}]
    assert table(("ms",), rows) == "   ms\n-----\n204.2\n  0.7\n\n    2\n"
    assert table(("s",), [{"s": 0.01234}]) == "    s\n-----\n0.012\n"
    assert table(("n",), [{"n": 3.0}, {"n": 0.0}]) == "n\n-\n3\n0\n"
    assert table(("x",), [{"x": float("inf")}]) == "  x\n---\ninf\n"


def test_a_table_in_colour_has_the_same_text() -> None:
    rows = [{"name": "a", "status": "failed"}, {"name": "fails ok", "status": "ok"}]
    plain = table(("name", "status"), rows)
    coloured = painted(plain)
    assert coloured.splitlines()[0] == "\x1b[1mname      status\x1b[0m"
    assert coloured.splitlines()[-1] == "fails ok  \x1b[32mok\x1b[0m"
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain


def test_doctor(weft: Weft) -> None:
    done = weft("doctor", "--format", "json")
    rows = {row["what"]: row for row in json.loads(done.out)["rows"]}
    assert done.code == 0
    assert {"Python", "weft", "numpy", "islpy", "networkx", "MLIR", "g++", "ap_types"} <= set(rows)
    assert {"vitis_hls", "v++", "vitis-run"} <= set(rows)
    assert rows["islpy"]["status"] == "ok"
    assert rows["islpy"]["version"]
    assert all(row["needed_for"] for row in rows.values())


def test_doctor_without_tools(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CXX", raising=False)
    done = weft("doctor", "--format", "json")
    rows = {row["what"]: row for row in json.loads(done.out)["rows"]}
    assert done.code == 0  # g++ is needed for some commands only
    assert (rows["g++"]["status"], rows["g++"]["detail"]) == ("missing", "not on PATH")


def test_sigterm_ends_the_compiler_as_well(tmp_path: Path) -> None:
    kernel = tmp_path / "k.py"
    kernel.write_text(
        "import weft\n\n\n@weft.kernel\ndef k(x: weft.i8[4]):\n    for i in range(4):\n        x[i] += 1\n"
    )
    slow = tmp_path / "slow-g++"
    slow.write_text(
        '#!/bin/sh\nfor word; do [ "$word" = --version ] && exec g++ --version; done\n'
        f"echo $$ > {tmp_path}/pid\nmv {tmp_path}/pid {tmp_path}/compiling\nexec sleep 60\n"
    )
    slow.chmod(0o755)
    process = subprocess.Popen(
        [WEFT, "verify", f"{kernel}:k"],
        env={**os.environ, "CXX": str(slow)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "compiling").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.splitlines()[-1]) == (143, "terminated")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "compiling").read_text()), 0)
