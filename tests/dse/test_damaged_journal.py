"""A journal that somebody damaged is refused with the line, and the run can be gone on with."""

import json
import shutil

import pytest

from dse.cli import run as weft
from tests.dse.commands import GEMM, kept

optuna = pytest.importorskip("optuna")

ENTRY = {"op_code": 99, "worker_id": "x"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert explore(folder, "6") == 0
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def explore(folder, trials, *words):
    command = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "mini",
        "--strategy",
        "random",
        "--trials",
        trials,
    ]
    return weft([*command, "--out", str(folder), *words])


def refused(folder, capfd, message, code="W521"):
    capfd.readouterr()
    assert explore(folder, "8", "--resume") == 1
    said = capfd.readouterr().err
    assert f"error[{code}]: {message}" in said
    assert "what is in points/ is not lost" in said
    return said


LINES = {
    "no JSON": b"garbage\n",
    "no text": b"\xff\xfe\x00\n",
    "no entry": b"[1]\n",
    "no operation": b"{}\n",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("place", [3, -1])
def test_a_line_that_is_none(folder, capfd, line, place):
    journal = folder / "study.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    place = place % len(lines)
    journal.write_bytes(b"".join([*lines[:place], line, *lines[place:]]))
    message = f"{journal}:{place + 1} is not a line of a study's journal"
    refused(folder, capfd, message)
    assert weft(["report", str(folder)]) == 1
    assert f"error[W521]: {message}" in capfd.readouterr().err


@pytest.mark.parametrize("entry", [ENTRY, {"op_code": 5}], ids=["unknown", "without its fields"])
def test_a_line_that_does_not_fit(folder, capfd, entry):
    journal = folder / "study.journal"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([*lines[:4], json.dumps(entry) + "\n", *lines[4:]]))
    message = f"{journal}:5 does not fit the lines before it"
    refused(folder, capfd, message)
    assert weft(["report", str(folder)]) == 1
    assert message in capfd.readouterr().err


def test_a_folder_instead(folder, capfd):
    (folder / "study.journal").unlink()
    (folder / "study.journal").mkdir()
    refused(folder, capfd, f"cannot read {folder}/study.journal: Is a directory")
    assert weft(["report", str(folder)]) == 1


def foreign(folder, directions):
    (folder / "study.journal").unlink()
    parts = optuna.storages.journal
    backend = parts.JournalFileBackend(str(folder / "study.journal"))
    storage = optuna.storages.JournalStorage(backend)
    return optuna.create_study(study_name="weft", storage=storage, directions=directions)


@pytest.mark.parametrize("directions", [["minimize"], ["minimize", "maximize"]])
def test_a_study_of_other_objectives(folder, capfd, directions):
    foreign(folder, directions)
    refused(folder, capfd, "the study 'weft' is another one", code="W533")


def test_a_trial_of_something_else(folder, capfd):
    study = foreign(folder, ["minimize", "minimize"])
    trial = study.ask()
    trial.set_user_attr("status", "fine")
    study.tell(trial, [1.0, 1.0])
    refused(folder, capfd, "trial 0 of the study 'weft' is not one of a run")


def test_the_advice_works(folder, capfd):
    (folder / "study.journal").write_text("garbage\n")
    refused(folder, capfd, f"{folder}/study.journal:1 is not a line")
    before = {path: path.stat().st_mtime_ns for path in folder.glob("points/*/result.json")}
    (folder / "study.journal").rename(folder / "aside")
    assert explore(folder, "6", "--resume") == 0
    assert (
        before.items()
        <= {path: path.stat().st_mtime_ns for path in folder.glob("points/*/result.json")}.items()
    )
    assert kept(folder)
    assert weft(["report", str(folder)]) == 0


def test_a_point_that_the_space_does_not_have_is_passed_over(folder, capfd):
    """As another version of Weft may have written it."""
    journal = folder / "study.journal"
    lines = journal.read_text().splitlines()
    for n, line in enumerate(lines):
        entry = json.loads(line)
        design = entry.get("user_attr", {}).get("design")
        if design is not None:
            design["point"]["variant"] = 99
            lines[n] = json.dumps(entry)
    journal.write_text("\n".join(lines) + "\n")
    assert explore(folder, "8", "--resume") == 0
    assert len(kept(folder)) in (7, 8)
