"""Nothing of a stranger's runs: each command on each kind of file that names Python, as a process.

Whatever Python is named, lies around or is linked to would make a mark; no command may leave one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from backends.cxx import find_cxx
from dse.cli import run as weft_command
from dse.run.studies.storage import journal
from dse.run.workers.joined import checked
from dsl.errors.errors import InputError
from tests.dse.manifest import WHOLE
from tests.support.amount import sample

pytest.importorskip("optuna")
ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "tests" / "backends" / "reports"

KERNEL = """
import weft
from weft import f32

N = 12


@weft.kernel(sizes={"mini": {"N": 6}})
def product(A: f32[N, N], B: f32[N, N]):
    for i, j in weft.grid(N, N):
        B[i, j] = A[i, j] * 2.0 + B[i, j]
"""
MARK = "ran"
EVIL = "import os\nopen(os.environ['MARK'], 'a').write(__file__ + '\\n')\n"

# What the working folder of a stranger may hold: Python looks for some of these by itself.
NEIGHBOURS = ("numpy.py", "json.py", "socket.py", "click.py", "optuna.py", "weft.py", "dse.py",
              "sitecustomize.py", "usercustomize.py", "conftest.py")  # fmt: skip

MAIN = "import sys\nfrom dse.cli import main\nif __name__ == '__main__':\n    main()\n"


@dataclass(frozen=True)
class Place:
    """A working folder of the stranger's, and what is run in it."""

    path: Path

    def weft(self, *words: str | Path, code: int | None = None) -> str:
        """A command as its console script runs it; what it says. Nothing of the folder may run."""
        mark = self.path.parent / MARK
        env = {**os.environ, "MARK": str(mark), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        env.pop("PYTHONSAFEPATH", None)
        script = self.path.parent / "weft-script"
        script.write_text(MAIN)
        done = subprocess.run(
            [sys.executable, script, *map(str, words)], cwd=self.path, env=env, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert not mark.exists(), f"{mark.read_text()}ran\n{said}"
        assert "Traceback" not in said, said
        if code is not None:
            assert done.returncode == code, said
        return said

    def evil(self, file: str | Path) -> Path:
        """Python that leaves a mark and is a kernel's file as well."""
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(EVIL + KERNEL)
        return path

    def edit(self, file: str, **changed: object) -> None:
        path = self.path / file
        data = {**json.loads(path.read_text()), **changed}
        path.write_text(json.dumps({k: v for k, v in data.items() if v is not ...}))


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Path:
    """A run that workers may join, a project with a report, and a dataset."""
    folder = tmp_path_factory.mktemp("honest")
    (folder / "kernel.py").write_text(KERNEL)
    before = Path.cwd()
    os.chdir(folder)
    try:
        words = ["--trials", "4", "--open", "--jobs", "1", "--device", "xczu9eg"]
        assert weft_command(["explore", "kernel.py:product", "--out", "run", *words]) == 0
        words = ["--device", "xcu280", "--clock", "3.33", "--out", "projects/one"]
        assert weft_command(["export", "kernel.py:product", *words]) == 0
    finally:
        os.chdir(before)
    report = folder / "projects/one/hls/solution1/syn/report"
    report.mkdir(parents=True)
    text = (REPORTS / "csynth.xml").read_text().replace("toy", "product")
    (report / "csynth.xml").write_text(text)
    _dataset(folder / "labels")
    return folder


def _dataset(folder: Path) -> None:
    from dse.labels.dataset import COLUMNS, Dataset
    from dsl.kernels.loader import load

    made = Dataset(folder)
    made.open({"device": "ecp5-85k"}, "test")
    program = load(str(folder.parent / "kernel.py")).at("mini").program
    made.keep_programs({("kernel.py", "product", "mini", ""): program})
    made.append({
        **dict.fromkeys(COLUMNS, ""), "id": "0123456789abcdef", "file": "kernel.py",
        "kernel": "product", "size": "mini", "schedule": '{"schema_version":1,"steps":[]}',
        "outcome": "ok", "provenance": "post-route", "lut": 300, "ff": 170, "dsp": 2, "bram": 3,
        "fmax_mhz": 80.0, "cycles": 615, "clock_ns": 10.0, "read_latency": 1,
    })  # fmt: skip


@pytest.fixture
def place(honest, tmp_path) -> Iterator[Place]:
    """A copy in which every file of Python would leave a mark."""
    found = Place(Path(shutil.copytree(honest, tmp_path / "theirs")))
    for name in ("kernel.py", "run/kernel.py", "projects/one/kernel.py", "labels/kernel.py"):
        found.evil(name)
    found.evil(tmp_path / "outside.py")
    for name in NEIGHBOURS:
        (found.path / name).write_text(EVIL + "raise ImportError\n")
        (found.path / "run" / name).write_text(EVIL)
    return found


SOURCES = {
    "beside": "kernel.py:product",
    "in the run": "run/kernel.py:product",
    "absolute": "/outside.py:product",  # of the parent folder: filled in below
    "above": "../outside.py:product",
    "code": "__import__('os').system('touch ran'):product",
}


def named(place: Place, which: str) -> str:
    text = SOURCES[which]
    return f"{place.path.parent}{text}" if text.startswith("/") else text


@pytest.fixture(params=SOURCES, ids=list(SOURCES))
def any_source(request, place) -> str:
    return named(place, request.param)


@pytest.fixture(params=sample(["in the run", "absolute"], 2))
def source(request, place) -> str:
    return named(place, request.param)


needs_cxx = pytest.mark.skipif(find_cxx() is None, reason="no g++")
needs_gnn = pytest.mark.skipif(
    not all(__import__("importlib.util").util.find_spec(n) for n in ("torch", "safetensors")),
    reason="no PyTorch",
)


# -------------------------------------------------------------------------------------------- runs


@needs_cxx
def test_export_takes_the_program_of_the_run(place, source):
    place.edit("run/manifest.json", source=source)
    place.weft("export", "run", "--best", "--out", "made", code=0)
    assert "product" in (place.path / "made/product.cpp").read_text()


def test_export_asks_for_the_kernel_where_the_run_has_none(place, any_source):
    place.edit("run/manifest.json", source=any_source)
    (place.path / "run/kernel.json").unlink()
    said = place.weft("export", "run", "--best", "--out", "made", code=1)
    assert "error[W547]: run does not hold the kernel as data" in said
    assert "help: name the kernel, and its file is run: --kernel FILE.py:NAME" in said
    assert not (place.path / "made").exists()


def test_a_run_of_another_digest_is_refused(place, source):
    place.edit("run/manifest.json", source=source, program="0" * 64)
    said = place.weft("export", "run", "--best", "--out", "made", code=1)
    assert "error[W536]: run/kernel.json is not the kernel that the run was begun with" in said


@pytest.mark.parametrize("words", [["report"], ["compare", "run"]], ids=["report", "compare"])
def test_reports_and_comparisons_run_nothing(place, source, words):
    place.edit("run/manifest.json", source=source)
    place.weft(*words, "run", code=0)


@pytest.mark.parametrize("where", ["manifest", "journal"])
def test_a_worker_takes_the_program_of_the_study(place, source, where):
    if where == "manifest":
        place.edit("run/manifest.json", source=source)
    else:
        _edited_study(place, source=source)
    place.weft("worker", "run", "--idle", "1", "--jobs", "2", code=0)


def test_a_worker_asks_for_the_kernel_where_the_study_has_none(place, source):
    _edited_study(place, source=source)
    path = place.path / "run/study.journal"
    lines = [line for line in path.read_text().splitlines() if '"pieces":1' not in line]
    path.write_text("\n".join(lines) + "\n")
    said = place.weft("worker", "run", "--idle", "1", code=1)
    assert "error[W547]: the study does not hold the kernel as data" in said


@pytest.mark.parametrize(
    "changed",
    [{"evaluator": "../evil"}, {"promote": ["os"]}, {"promote": "csim"}, {"timeout": -1},
     {"size": 3}, {"device": ["x"]}, {"clock_ns": 1e400}, {"program": ...}, {"evaluator": [1]}],
)  # fmt: skip
def test_a_study_that_says_something_else_is_refused(changed):
    manifest = {**WHOLE, "evaluator": "model", "promote": ["csim"]}
    checked(manifest)
    with pytest.raises(InputError, match="the study does not say the run's"):
        checked({k: v for k, v in {**manifest, **changed}.items() if v is not ...})


def test_a_study_with_another_kernel_is_refused(place):
    _edited_study(place, program="0" * 64)
    said = place.weft("worker", "run", "--idle", "1", code=1)
    assert "error[W535]: the study's kernel is not the kernel that the run was begun with" in said


def _edited_study(place: Place, **changed: object) -> None:
    storage = journal(place.path / "run/study.journal")
    [number] = [s._study_id for s in storage.get_all_studies() if s.study_name.endswith(".offers")]
    manifest = {**storage.get_study_user_attrs(number)["manifest"], **changed}
    known = {k: v for k, v in manifest.items() if v is not ...}
    storage.set_study_user_attr(number, "manifest", known)


def test_going_on_runs_only_what_the_user_gives(place, source, tmp_path):
    place.edit("run/manifest.json", source=source)
    mine = tmp_path / "mine.py"
    mine.write_text(KERNEL)
    words = ["--resume", "--trials", "6", "--open", "--jobs", "2", "--device", "xczu9eg"]
    place.weft("explore", f"{mine}:product", "--out", "run", *words, code=0)


def test_what_the_user_names_is_run(place):
    """That the marks work at all."""
    words = ["export", "run", "--best", "--kernel", "kernel.py:product", "--out", "made"]
    with pytest.raises(AssertionError, match=r"kernel\.py\n"):
        place.weft(*words)


# ---------------------------------------------------------------------------- projects and datasets


def evaluate(place: Place, data: str, *words: str | Path, code: int) -> str:
    weights = ROOT / "qor_gnn/gnn/shipped/open-ecp5-10ns.safetensors"
    words = ("--weights", weights, "--cache", place.path.parent / "cache", *words)
    return place.weft("evaluate", "--data", data, *words, code=code)


@needs_gnn
@pytest.mark.parametrize("source", ["absolute"], indirect=True)
def test_projects_are_read_as_data(place, source):
    place.edit("projects/one/weft.json", source=source)
    evaluate(place, "projects", code=0)


@needs_gnn
def test_training_runs_nothing_of_a_project(place):
    words = ["--out", "mine.safetensors", "--epochs", "1", "--members", "2", "--hidden", "4"]
    place.weft("train", "--data", "projects", *words)
    (place.path / "projects/one/program.json").unlink()
    said = place.weft("train", "--data", "projects", *words, code=1)
    assert "error[W547]: projects/one is of 'product' in kernel.py: that is Python" in said


@needs_gnn
@pytest.mark.parametrize("source", ["absolute"], indirect=True)
def test_older_projects_ask_for_the_kernel(place, source):
    place.edit("projects/one/weft.json", source=source)
    (place.path / "projects/one/program.json").unlink()
    said = evaluate(place, "projects", code=1)
    assert "error[W547]: projects/one is of 'product' in" in said


@needs_gnn
def test_a_project_outside_of_the_folder_that_is_trusted_is_not_run(place):
    (place.path / "projects/one/program.json").unlink()
    trusted = place.path.parent / "trusted"
    trusted.mkdir()
    assert "error[W547]" in evaluate(place, "projects", "--trust", trusted, code=1)


@needs_gnn
@pytest.mark.parametrize("source", ["absolute"], indirect=True)
def test_datasets_are_read_as_data(place, source):
    file = source.rpartition(":")[0]
    designs, programs = (place.path / "labels" / n for n in ("designs.csv", "programs.jsonl"))
    designs.write_text(designs.read_text().replace("kernel.py", file))
    lines = [json.loads(line) | {"file": file} for line in programs.read_text().splitlines()]
    programs.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    evaluate(place, "labels", "--jobs", "2", code=0)


@needs_gnn
def test_older_datasets_ask_for_the_kernel(place):
    file = named(place, "absolute").rpartition(":")[0]
    designs = place.path / "labels/designs.csv"
    designs.write_text(designs.read_text().replace("kernel.py", file))
    (place.path / "labels/programs.jsonl").unlink()
    said = evaluate(place, "labels", code=1)
    assert f"error[W547]: a design of labels is of 'product' in {file}: that is Python" in said


def test_labels_do_not_go_on_with_programs_of_others(place, tmp_path):
    mine = tmp_path / "kernel.py"
    mine.write_text(KERNEL.replace("2.0", "3.0"))
    path = place.path / "labels/programs.jsonl"
    path.write_text(path.read_text().replace('"kernel.py"', json.dumps(str(mine))))
    (place.path / "labels/manifest.json").unlink()
    said = place.weft("label", mine, "--sizes", "mini", "--designs", "1", "--out", "labels")
    assert "error[W525]: product of" in said or "error[W47" in said  # or no tools of the open flow


# ------------------------------------------------------------------------------------------- paths

LINKED = ("manifest.json", "kernel.json", "study.journal", "events.jsonl", "points", "report.html",
          "predictor.safetensors.partial")  # fmt: skip


@pytest.mark.parametrize("name", LINKED)
def test_no_file_of_a_run_leads_out_of_it(place, name):
    outside = place.path.parent / "secret"
    there = place.path / "run" / name
    if there.is_dir():
        shutil.move(there, outside)
    else:
        outside.write_text(there.read_text() if there.exists() else "secret")
        there.unlink(missing_ok=True)
    before = outside.stat().st_mtime_ns
    there.symlink_to(outside)
    mine = place.path.parent / "mine.py"
    mine.write_text(KERNEL)
    commands = (["report", "run"], ["export", "run", "--best", "--out", "made"],
                ["explore", f"{mine}:product", "--out", "run", "--resume"])  # fmt: skip
    for words in commands if name == LINKED[0] else (commands[LINKED.index(name) % 3],):
        assert f"error[W548]: 'run/{name}' leads out of run" in place.weft(*words, code=1)
    assert outside.stat().st_mtime_ns == before


def test_no_design_of_a_run_leads_out_of_it(place):
    outside = place.path.parent / "secret.json"
    for point in (place.path / "run/points").iterdir():
        shutil.copy(point / "schedule.json", outside)
        (point / "schedule.json").unlink()
        (point / "schedule.json").symlink_to(outside)
    said = place.weft("export", "run", "--best", "--out", "made", code=1)
    assert "error[W548]: 'run/points/" in said
    assert not (place.path / "made").exists()


def test_a_pipe_is_not_waited_for(place):
    (place.path / "run/kernel.json").unlink()
    os.mkfifo(place.path / "run/kernel.json")
    said = place.weft("export", "run", "--best", "--out", "made", code=1)
    assert "error[W548]: 'run/kernel.json' leads out of run, or is no file" in said


def test_a_worker_and_a_comparison_read_no_run_that_leads_out_of_it(place):
    (place.path / "run/problem.json").unlink()
    (place.path / "run/problem.json").symlink_to("/etc/passwd")
    for words in (["worker", "run", "--idle", "0"], ["compare", "run", "run"]):
        assert "error[W548]: 'run/problem.json' leads out of run" in place.weft(*words, code=1)


# -------------------------------------------------------------------------------- what is shown


def test_what_a_stranger_says_does_not_rule_the_terminal(place):
    place.edit("run/manifest.json", device="\x1b[2J\x1b]0;x\x07\u202e")
    for words in (["export", "run", "--best", "--out", "made"], ["compare", "run", "run"]):
        assert not {"\x1b", "\u202e"} & {*place.weft(*words)}


def test_what_a_stranger_says_is_no_markup(place):
    place.edit("run/manifest.json", source="<script>alert(1)</script>", kernel="<img src=x>")
    place.weft("report", "run", code=0)
    page = (place.path / "run/report.html").read_text()
    assert "<img src=x>" not in page
    assert "<script>alert" not in page
