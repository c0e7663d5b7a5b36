"""Folders and disks that cannot be written end in an error that says which, and block nothing."""

import os
import resource
from pathlib import Path

import pytest

from dse.cli import run as weft
from dse.evaluators.base import Result, Status
from dse.run.folder.cache import ResultCache
from dse.run.folder.directory import create, open_run, write_whole
from dse.run.studies.storage import journal
from dsl.errors.errors import InputError
from dsl.schedules.schedule import Schedule
from tests.dse.commands import GEMM
from tests.dse.manifest import WHOLE

pytest.importorskip("optuna")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")


def explore(folder, *words):
    return weft(
        [
            "explore",
            "--evaluator",
            "model",
            GEMM,
            "--size",
            "mini",
            "--trials",
            "3",
            "--out",
            str(folder),
            *words,
        ]
    )


def wrong(capfd, code):
    said = capfd.readouterr().err
    assert f"error[{code}]" in said
    return said


def test_a_folder_below_a_file(tmp_path, capfd):
    (tmp_path / "file").touch()
    assert explore(tmp_path / "file/run") == 1
    said = wrong(capfd, "W508")
    assert f"cannot write {tmp_path}/file/run: Not a directory" in said


def test_a_file_instead_of_a_folder(tmp_path, capfd):
    (tmp_path / "file").touch()
    assert explore(tmp_path / "file") == 1
    said = wrong(capfd, "W508")
    assert f"{tmp_path}/file is a file, not a folder\nhelp: name another with --out" in said


def test_resume_is_the_advice_only_where_there_is_a_run(tmp_path, capfd):
    (tmp_path / "notes.txt").touch()
    assert explore(tmp_path) == 1
    said = wrong(capfd, "W527")
    assert "help: name another folder" in said
    assert "--resume" not in said


def test_a_run_whose_lock_cannot_be_written(tmp_path, capfd):
    assert explore(tmp_path / "run", "--strategy", "random") == 0
    (tmp_path / "run/run.lock").unlink()
    (tmp_path / "run/run.lock").mkdir()
    capfd.readouterr()
    assert explore(tmp_path / "run", "--strategy", "random", "--resume") == 1
    said = wrong(capfd, "W508")
    assert f"cannot write {tmp_path}/run/run.lock: Is a directory" in said
    assert "help: weft report, compare and export read a run" in said
    assert weft(["report", str(tmp_path / "run")]) == 0


@needs_full
def test_a_full_disk(tmp_path):
    run = create(tmp_path / "run", WHOLE)
    (run.path / "events.jsonl").symlink_to(FULL)
    with pytest.raises(InputError, match=r"cannot write .*events.jsonl: No space left") as caught:
        run.event("trial", number=0)
    assert caught.value.code == "W508"
    assert caught.value.help is not None
    assert caught.value.help.startswith("make room there; what is finished is kept")
    run.close()


def test_what_cannot_be_written_whole_leaves_no_part_of_a_file(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2, hard))  # the third byte has no room
    try:
        with pytest.raises(InputError, match=r"cannot write .*file: File too large"):
            write_whole(tmp_path / "file", "text")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


@needs_full
def test_a_link_in_the_place_of_a_file_that_is_being_written_is_not_followed(tmp_path):
    (tmp_path / f".file.{os.getpid()}").symlink_to(FULL)
    write_whole(tmp_path / "file", "text")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "text"


def test_a_journal_that_cannot_be_locked(tmp_path):
    made = journal(tmp_path / "study.journal")
    (tmp_path / "study.journal").unlink()
    with pytest.raises(InputError, match=r"cannot write .*study.journal: No such file") as caught:
        made.create_new_study([])
    assert caught.value.code == "W508"


def test_a_cache_that_cannot_be_written(tmp_path, capfd):
    (tmp_path / "file").touch()
    assert explore(tmp_path / "run", "--cache", str(tmp_path / "file/cache")) == 2
    assert "'--cache': cannot make" in capfd.readouterr().err
    assert not (tmp_path / "run").exists()
    cache = ResultCache(tmp_path / "file")
    with pytest.raises(InputError, match="cannot write") as caught:
        cache.put("0" * 32, Result(Status.OK, 1.0))
    assert caught.value.code == "W508"


def test_what_fails_before_the_first_result_leaves_nothing_in_the_way(tmp_path, capfd, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("dse.run.workers.cluster._CONNECT", 0.5)
    folder = tmp_path / "run"
    assert explore(folder, "--dask", "tcp://127.0.0.1:1") == 1
    wrong(capfd, "W534")
    assert not folder.exists()
    assert explore(folder) == 0


def test_a_folder_with_other_files_stays(tmp_path):
    run = create(tmp_path / "run", WHOLE)
    (run.path / "notes.txt").touch()
    run.close()
    assert [path.name for path in run.path.iterdir()] == ["notes.txt"]


def test_what_was_found_stays(tmp_path):
    run = create(tmp_path / "run", WHOLE)
    run.event("started", trials=0)
    run.begin("0" * 32, Schedule(), {})
    run.keep("0" * 32, Result(Status.OK, 1.0))
    run.close()
    assert open_run(tmp_path / "run", write=False).result("0" * 32) is not None


def test_a_run_whose_study_is_in_a_database_stays(tmp_path):
    run = create(tmp_path / "run", WHOLE | {"storage": "postgresql://host/name"})
    run.event("started", trials=0)
    run.close()
    assert (tmp_path / "run/manifest.json").is_file()
