"""Designs of runs in ``weft export``: chosen, checked, written with the report of the run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from backends.cxx import find_cxx
from dse.cli import run as weft_command
from dse.kernels.reduced import ascending, fitting, instances
from dse.run.folder.directory import open_run
from dse.run.results.front import best
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Split, Unroll

pytest.importorskip("optuna")
needs_cxx = pytest.mark.skipif(find_cxx() is None, reason="no g++")

SOURCE = """
import weft
from weft import f32

SIZES = {"mini": {"N": 8}, "huge": {"N": 4000}}
N = 40


@weft.kernel(sizes=SIZES)
def product(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i, j, k in weft.grid(N, N, N):
        C[i, j] += A[i, k] * B[k, j]
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("kernels") / "product.py"
    file.write_text(SOURCE)
    return file


@pytest.fixture(scope="module")
def finished(source, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    words = [
        "explore",
        "--evaluator",
        "model",
        str(source),
        "--dsp",
        "60",
        "--trials",
        "8",
        "--out",
        str(folder),
    ]
    assert weft_command(words) == 0
    return folder


@pytest.fixture
def run(finished, tmp_path) -> Path:
    """A copy to be spoiled."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def exported(capfd, *words: object) -> tuple[int, dict[str, dict], str]:
    code = weft_command(["export", *map(str, words), "--format", "json"])
    out, err = capfd.readouterr()
    return code, {row["what"]: row for row in json.loads(out)["rows"]} if out else {}, err


def factors(project: Path) -> list[int]:
    """Of the splits of an exported design."""
    steps = Schedule.load(project / "schedule.json").steps
    return [step.factor for step in steps if isinstance(step, Split)]


@needs_cxx
def test_the_best_design_is_checked_and_written_with_the_report(finished, tmp_path, capfd):
    folder = tmp_path / "project"
    code, rows, _ = exported(capfd, finished, "--best", "--out", folder)
    assert code == 0
    assert list(rows) == ["legality", "jit", "csim", "equivalence", "export"]
    assert {row["status"] for row in rows.values()} == {"ok", "proven"}
    for name in ("jit", "csim"):  # at a size at which whole blocks of each loop run
        [size] = re.findall(r", at A\[(\d+)x\1\], B\[\1x\1\], C\[\1x\1\]$", rows[name]["detail"])
        assert int(size) >= max(factors(folder))
    assert "#pragma HLS pipeline" in (folder / "product.cpp").read_text()
    found = best(open_run(finished, write=False))
    proof = json.loads((folder / "verification.json").read_text())
    assert proof["design"] == found.key
    assert [c["name"] for c in proof["checks"]] == ["legality", "jit", "csim", "equivalence"]
    assert f'id="d-{found.key}"' in (folder / "report.html").read_text()
    readme = (folder / "README.md").read_text()
    assert "`report.html`" in readme
    assert "`verification.json`" in readme
    there = Schedule.load(folder / "schedule.json")
    assert there == open_run(finished, write=False).schedule(found.key)


@needs_cxx
def test_the_same_design_gives_the_same_files(finished, tmp_path, capfd):
    key = best(open_run(finished, write=False)).key
    for name, words in (("a", ["--best"]), ("b", ["--point", key[:10]])):
        assert exported(capfd, finished, *words, "--out", tmp_path / name)[0] == 0
    files = {name: {p.relative_to(tmp_path / name): p.read_bytes()
                    for p in (tmp_path / name).rglob("*") if p.is_file()} for name in "ab"}  # fmt: skip
    assert files["a"] == files["b"]
    assert len(files["a"]) > 15


@pytest.mark.parametrize("key", ["../..", "abcdef0123", "zz"])
def test_a_key_that_no_design_has_is_an_error(finished, tmp_path, capfd, key):
    code, _, err = exported(capfd, finished, "--point", key, "--out", tmp_path / "project")
    assert code == 1
    assert "error[W526]" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--best", "--point", "abcdef"], "one of them"),
        (["--best", "--clock", "5"], "--clock does not go with a design of a run"),
        (["--best", "--schedule", "x"], "--schedule does not go with a design of a run"),
        ([], "add --best, --best-supported or --point KEY"),
    ],
)
def test_what_does_not_go_with_a_run_is_wrong_usage(finished, tmp_path, capfd, words, said):
    code, _, err = exported(capfd, finished, *words, "--out", tmp_path / "project")
    assert code == 2
    assert said in " ".join(err.split())


@needs_cxx
def test_the_kernel_comes_from_the_run_whatever_has_become_of_its_file(
    run, source, tmp_path, capfd
):
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "source": "gone.py:product"}))
    assert exported(capfd, run, "--best", "--out", tmp_path / "a")[0] == 0
    words = ["--kernel", f"{source}:product", "--out", tmp_path / "b"]
    assert exported(capfd, run, "--best", *words)[0] == 0
    files = {name: {p.name: p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
             for name in "ab"}  # fmt: skip
    assert files["a"] == files["b"]


def test_a_kernel_that_has_changed_is_not_exported(run, tmp_path, capfd):
    file = tmp_path / "product.py"
    file.write_text(SOURCE.replace("+=", "-="))
    words = ["--best", "--kernel", file, "--out", tmp_path / "project"]
    code, _, err = exported(capfd, run, *words)
    assert code == 1
    assert f"error[W536]: {file} is not the kernel that the run was begun with" in err
    file.unlink()
    code, _, err = exported(capfd, run, *words)
    assert code == 1
    assert "error[W502]" in err
    assert not (tmp_path / "project").exists()


def test_a_run_of_an_older_version_asks_for_its_kernel(run, source, tmp_path, capfd):
    (run / "kernel.json").unlink()
    words = ["--best", "--out", tmp_path / "project"]
    code, _, err = exported(capfd, run, *words)
    assert code == 1
    assert f"error[W547]: {run} does not hold the kernel as data" in err
    assert "help: name the kernel, and its file is run: --kernel FILE.py:NAME" in err
    assert exported(capfd, run, *words, "--kernel", source)[0] == 0


def test_a_schedule_that_is_not_legal_is_not_exported(run, tmp_path, capfd):
    key = best(open_run(run, write=False)).key
    path = run / "points" / key / "schedule.json"
    path.write_text(Schedule((Unroll("nowhere"),)).to_json("product"))
    code, _, err = exported(capfd, run, "--best", "--out", tmp_path / "project")
    assert code == 1
    assert "error[W2" in err
    assert not (tmp_path / "project").exists()


@needs_cxx
def test_a_design_that_computes_something_else_is_not_exported(
    finished, tmp_path, capfd, monkeypatch
):
    """The compiler is made to change a multiplication into an addition."""
    script = tmp_path / "wrong-g++"
    script.write_text(
        '#!/bin/sh\nfor word; do case "$word" in --version) exec g++ --version;; esac; done\n'
        'for word; do case "$word" in */product.cpp) sed -i "s/ \\* B\\[/ + B[/" "$word";; esac; done\n'
        'exec g++ "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    code, rows, err = exported(capfd, finished, "--best", "--out", tmp_path / "project")
    assert code == 1
    assert {name: row["status"] for name, row in rows.items()} == {
        "legality": "ok", "jit": "ok", "csim": "failed",
    }  # fmt: skip
    assert "the design is wrong: nothing was written" in err
    assert not (tmp_path / "project").exists()


def test_without_a_compiler_the_simulation_is_skipped(finished, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("CXX", "/no/such/g++")
    code, rows, _ = exported(capfd, finished, "--best", "--out", tmp_path / "project")
    assert code == 0
    assert (rows["csim"]["status"], rows["jit"]["status"]) == ("skipped", "ok")
    assert "/no/such/g++" in rows["csim"]["detail"]


# ---------------------------------------------------------------------------------- reduced sizes


def test_sizes_by_name_come_before_parts_of_the_own(source):
    found = ascending(load(str(source)))
    shapes = [k.program.array("A").shape[0] for k in found]
    assert shapes[:2] == [8, 40]
    assert shapes[2:] == sorted(shapes[2:])
    assert {20, 14, 10} <= set(shapes[2:])


def test_a_size_that_is_too_large_is_reduced_until_the_schedule_fits(tmp_path):
    file = tmp_path / "large.py"
    file.write_text(SOURCE.replace("(sizes=SIZES)", "").replace("N = 40", "N = 1024"))
    kernel = load(str(file))
    assert instances(kernel.program) == 1024**3
    fits = fitting(ascending(kernel), Schedule((Split("i", 30, "a", "b"), Unroll("b"))))
    assert fits is not None
    assert fits.program.array("A").shape == (32, 32)
    # Where no size is large enough for a whole block, the largest is better than none.
    rest = fitting(ascending(kernel), Schedule((Split("i", 900),)))
    assert rest is not None
    assert rest.program.array("A").shape == (86, 86)
    assert fitting(ascending(kernel), Schedule((Partition("A", 0, "cyclic", 900),))) is None


def test_a_kernel_of_definite_sizes_has_but_its_own(tmp_path):
    file = tmp_path / "fixed.py"
    file.write_text(
        "import weft\nfrom weft import f32\n\n\n@weft.kernel\n"
        "def scale(x: f32[12], y: f32[12]):\n    for i in range(12):\n        y[i] = 2.0 * x[i]\n"
    )
    [only] = ascending(load(str(file)))
    assert only.program.array("x").shape == (12,)
