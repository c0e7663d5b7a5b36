"""What a dying process, a disk or an editor did to a file of a run: a code, and nothing lost of the rest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dse.cli import run as weft
from dse.run.folder.directory import open_run
from dse.run.folder.json_text import json_of
from dse.run.results.history import history, log_of
from tests.dse.commands import GEMM

SEARCH = (
    "explore",
    "--evaluator",
    "model",
    GEMM,
    "--size",
    "mini",
    "--strategy",
    "random",
    "--out",
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("optuna")
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert weft([*SEARCH, str(folder), "--trials", "4"]) == 0
    return folder


def damages(data: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    return {
        "no UTF-8 first": b"\xff" + data,
        "no UTF-8 inside": data[:middle] + b"\xff\xfe\x80" + data[middle:],
        "no UTF-8 last": data + b"\xff\xfe",
        "torn": data[:-7],
        "UTF-16": data.decode().encode("utf-16"),
        "Latin-1": data.replace(b"e", b"\xe9"),
        "NUL": data[:middle] + bytes(9) + data[middle:],
        "half a character": data.replace(b"gemm", b"\\ud800"),
        "nested": b"[" * 100_000 + b"\n",
        "digits": data + b'{"event":"trial","number":' + b"9" * 5000 + b"}\n",
        "null": b"null\n",
        "empty": b"",
    }


FILES = ("events.jsonl", "manifest.json", "problem.json", "study.journal", "result.json")
CASES = [(file, kind) for file in FILES for kind in damages(b"")]


@pytest.mark.parametrize(("file", "kind"), CASES)
def test_each_file_of_a_run_may_be_damaged(finished, tmp_path, capfd, file, kind):
    folder = shutil.copytree(finished, tmp_path / "run")
    path = min(folder.rglob(file))
    path.write_bytes(damages(path.read_bytes())[kind])
    code = weft(["report", str(folder)])
    said = capfd.readouterr().err
    assert code == 0 or (code == 1 and "error[W521]" in said), said
    assert "Traceback" not in said


@pytest.mark.parametrize("kind", damages(b""))
def test_a_search_goes_on_with_a_damaged_log(finished, tmp_path, capfd, kind):
    folder = shutil.copytree(finished, tmp_path / "run")
    log = folder / "events.jsonl"
    log.write_bytes(damages(log.read_bytes())[kind])
    assert weft([*SEARCH, str(folder), "--trials", "5", "--resume"]) == 0, capfd.readouterr().err
    run = open_run(folder, write=False)
    assert len(history(run)) == 5
    assert log_of(run).events[-1]["event"] == "finished"  # behind whatever is there


def test_what_is_not_read_of_a_log_is_said(finished, tmp_path, capfd):
    folder = shutil.copytree(finished, tmp_path / "run")
    (folder / "study.journal").unlink()  # as of a study that is in a database
    log = folder / "events.jsonl"
    whole = len(history(open_run(folder, write=False)))
    strange = b'{"time": "x", "event": "trial"}\n{"time": NaN, "event": "finished"}\n{"ti\xff'
    log.write_bytes(log.read_bytes() + strange)
    assert weft(["report", str(folder)]) == 0
    assert "note: 3 lines of " in capfd.readouterr().err
    assert len(history(open_run(folder, write=False))) == whole == 4


def test_an_event_is_not_written_behind_a_torn_one(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "run")
    log = folder / "events.jsonl"
    log.write_bytes(log.read_bytes() + b'{"time": 1.0, "ev')
    run = open_run(folder, write=False)
    run.event("resumed")
    run.event("stopped")
    assert [e["event"] for e in log_of(run).events[-2:]] == ["resumed", "stopped"]
    assert log_of(run).damaged == 1


@pytest.mark.parametrize("data", [b"\xff{}", b"[" * 100_000, b'"\\ud800"', b'{"\\uDFFF": 1}', b""])
def test_what_is_no_json_of_ours(data):
    with pytest.raises(ValueError, match=r"codec|nested|Expecting"):
        json_of(data)


def test_characters_in_two_halves_are_whole():
    assert json_of(b'"\\ud83d\\ude00 \\\\ud800"') == "\U0001f600 \\ud800"
