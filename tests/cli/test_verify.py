"""``weft verify`` and ``weft export``: rows, exit codes, what goes wrong."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Weft

ILLEGAL = """
@copy.schedule
def wrong(s):
    s.split("nothing", 2)
"""


def test_one_kernel(weft: Weft, kernels: Path) -> None:
    done = weft("verify", f"{kernels}:axpy", "--schedule", "fast", "--format", "json")
    assert done.code == 0
    data = json.loads(done.out)
    assert (data["schema_version"], data["command"]) == (1, "verify")
    [row] = data["rows"]
    assert row["kernel"] == "axpy"
    assert row["schedule"] == "fast"
    assert row["size"] == "default"
    assert (row["status"], row["interp"], row["jit"], row["cxx"]) == ("ok",) * 4
    assert (row["max_ulp"], row["tolerance_ulp"]) == (0, 0)
    assert row["seconds"] > 0


def test_sizes_seeds_and_levels(weft: Weft, kernels: Path) -> None:
    words = ["--size", "mini", "--seed", "5", "--trials", "3", "--no-cxx", "--format", "json"]
    [row] = json.loads(weft("verify", f"{kernels}:axpy", *words).out)["rows"]
    assert (row["size"], row["seed"], row["trials"], row["cxx"]) == ("mini", 5, 3, "skipped")


def test_all_kernels_of_a_folder(weft: Weft, kernels: Path) -> None:
    (kernels.parent / "deeper").mkdir()
    (kernels.parent / "deeper" / "none.py").write_text("x = 1\n")
    done = weft("verify", "--all", kernels.parent, "--format", "csv", "--jobs", "2")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(r["kernel"], r["schedule"], r["size"], r["status"]) for r in rows] == [
        ("axpy", "-", "mini", "ok"),
        ("axpy", "fast", "mini", "ok"),
        ("copy", "-", "default", "ok"),
    ]
    assert "verify: 3 of 3 agree" in done.err


def test_kernels_without_the_size_are_skipped(weft: Weft, kernels: Path) -> None:
    done = weft("verify", "--all", kernels, "--size", "small", "--no-cxx", "--format", "json")
    assert done.code == 0, done.err
    rows = {(r["kernel"], r["schedule"]): r for r in json.loads(done.out)["rows"]}
    assert {pair: row["status"] for pair, row in rows.items()} == {
        ("axpy", "-"): "ok",
        ("axpy", "fast"): "ok",
        ("copy", "-"): "skipped",
    }
    assert rows["copy", "-"]["detail"] == "it has no size 'small'"
    assert "verify: 2 of 2 agree" in done.err
    assert "; 1 skipped: their kernels have no size 'small'" in done.err


def test_values_for_kernels_that_capture_them(weft: Weft, kernels: Path) -> None:
    text = kernels.read_text()
    before, copy = text.split("@weft.kernel\n")
    kernels.write_text(f"{before}@weft.kernel\n{copy.replace('N', '3')}")
    done = weft("verify", "--all", kernels, "--size", "N=8", "--no-cxx", "--format", "json")
    rows = json.loads(done.out)["rows"]
    assert [(r["kernel"], r["size"], r["status"]) for r in rows] == [
        ("axpy", "N=8", "ok"), ("axpy", "N=8", "ok"), ("copy", "N=8", "skipped"),
    ]  # fmt: skip
    assert rows[2]["detail"] == "it has no size 'N=8'"


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("huge", "error[W506]: none of axpy, copy has the size 'huge'"),
        ("N=x", "error[W506]: 'N=x' is not of the form NAME=NUMBER"),
    ],
)
def test_a_size_that_no_kernel_has(weft: Weft, kernels: Path, size: str, said: str) -> None:
    done = weft("verify", "--all", kernels, "--size", size, "--no-cxx")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(said)


def test_a_size_that_does_not_fit_its_kernel(weft: Weft, kernels: Path) -> None:
    kernels.write_text(kernels.read_text().replace('"mini": {"N"', '"mini": {"M"'))
    done = weft("verify", "--all", kernels, "--no-cxx")
    assert done.code == 1
    said = (
        "error[W506]: the size 'mini' is wrong: the kernel 'axpy' captures no 'M'\nhelp: there is N"
    )
    assert f"axpy -: {said}" in done.err
    assert "verify: 1 of 3 agree" in done.err
    assert weft("compile", f"{kernels}:axpy", "--size", "mini").err == f"{said}\n"


def test_a_file_that_cannot_be_loaded_is_named(weft: Weft, kernels: Path) -> None:
    broken = kernels.parent / "broken.py"
    broken.write_text("raise ValueError('no')\n")
    done = weft("verify", "--all", kernels.parent, "--no-cxx")
    assert done.code == 1
    assert done.out.splitlines()[2].split() == [str(broken), "failed"]
    assert f"{broken}: broken.py:1:1: error[W504]: " in done.err


def test_a_row_that_fails_makes_the_exit_code_1(weft: Weft, kernels: Path) -> None:
    kernels.write_text(kernels.read_text() + ILLEGAL)
    (kernels.parent / "broken.py").write_text("raise ValueError('no')\n")
    done = weft("verify", "--all", kernels.parent, "--format", "json", "--no-cxx")
    assert done.code == 1
    rows = json.loads(done.out)["rows"]
    bad = {row["kernel"]: row for row in rows if row["status"] != "ok"}
    assert len(rows) == 5
    assert set(bad) == {"", "copy"}
    assert "error[W504]" in bad[""]["detail"]
    assert "nothing" in bad["copy"]["detail"]


def test_a_folder_without_kernels(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    done = weft("verify", "--all", tmp_path)
    assert (done.code, done.err) == (1, f"error[W507]: no file in {tmp_path} defines a kernel\n")
    gone = weft("verify", "--all", tmp_path / "none")
    assert gone.err.splitlines() == [
        f"error[W502]: there is no folder {tmp_path}/none",
        "help: name a folder of kernels, or a file, by its path from here",
    ]


@pytest.mark.parametrize(
    "words",
    [[], ["x.py:k", "--all", "."], ["--all", ".", "--schedule", "s"], ["x", "--trials", "0"]],
)
def test_wrong_usage(weft: Weft, words: list[str]) -> None:
    assert weft("verify", *words).code == 2


def test_export(weft: Weft, kernels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "p"
    words = ["--out", folder, "--schedule", "fast", "--size", "small", "--device", "xcu280"]
    done = weft("export", f"{kernels}:axpy", *words, "--clock", "3.33", "--csim")
    assert done.code == 0, done.err
    assert [line.split()[:2] for line in done.out.splitlines()[2:]] == [
        ["equivalence", "proven"], ["export", "ok"], ["csim", "ok"],
    ]  # fmt: skip
    config = (folder / "hls_config.cfg").read_text()
    assert "part=xcu280-fsvh2892-2L-e\n" in config
    assert "clock=3.33ns\n" in config
    assert "x[9]" in (folder / "axpy.cpp").read_text()


def test_export_to_a_folder_in_use(weft: Weft, kernels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.txt").write_text("x")
    done = weft("export", f"{kernels}:axpy", "--out", folder)
    assert done.code == 1
    assert done.err.startswith(f"error[W430]: {folder} has other contents")
    assert weft("export", f"{kernels}:axpy", "--out", folder, "--force").code == 0
    assert (folder / "notes.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--device", "xcu999"], "error[W403]: no device is called 'xcu999'"),
        (["--device", "ecp5-85k"], "error[W403]: Vitis HLS does not know the device"),
        (["--clock", "0"], "error[W405]: a clock period of 0 ns"),
        (["--schedule", "slow"], "error[W505]: the kernel 'axpy' has no schedule 'slow'"),
    ],
)
def test_what_cannot_be_exported(
    weft: Weft, kernels: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    done = weft("export", f"{kernels}:axpy", "--out", tmp_path / "p", *words)
    assert done.code == 1
    assert done.err.startswith(said)
    assert not (tmp_path / "p").exists()


def test_run_without_vitis(
    weft: Weft, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    done = weft("export", f"{kernels}:axpy", "--out", tmp_path / "p", "--run", "csynth")
    assert done.code == 1
    assert "error[W420]: Vitis HLS is not on PATH, so --run csynth cannot run" in done.err
    assert (tmp_path / "p" / "weft.json").exists()


def test_a_kernel_that_divides_by_zero(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import weft\nfrom weft import i8\n\n\n@weft.kernel\ndef k(x: i8[4]):\n"
        "    for i in range(4):\n        x[i] = 7 // (x[i] - x[i])\n"
    )
    done = weft("verify", f"{path}:k", "--format", "json")
    assert done.code == 1
    [row] = json.loads(done.out)["rows"]
    assert (row["status"], row["interp"], row["jit"]) == ("failed", "error", "skipped")
    assert "interp: k.py:8:9: error[W190]" in row["detail"]
    exported = weft("export", f"{path}:k", "--out", tmp_path / "p")
    assert exported.code == 1
    assert exported.err.startswith("k.py:8:9: error[W190]")
    assert not (tmp_path / "p").exists()


CHOLESKY = Path(__file__).parents[2] / "examples" / "polybench" / "cholesky.py"


def test_golden_data_is_made_of_the_kernels_own_inputs(weft: Weft, tmp_path: Path) -> None:
    done = weft("export", f"{CHOLESKY}:cholesky", "--size", "mini", "--out", tmp_path / "p")
    assert done.code == 0, done.err
    assert "NaN" not in done.err
    for name in ("in", "out"):
        values = np.fromfile(tmp_path / "p" / "data" / f"00_A.{name}.bin", np.float32)
        assert values.size == 40 * 40
        assert np.isfinite(values).all()
    lower = np.tril(values.reshape(40, 40))
    assert np.diag(lower).min() > 0


def test_without_them_the_export_says_so(weft: Weft, tmp_path: Path) -> None:
    text = CHOLESKY.read_text().replace("@cholesky.inputs\n", "")
    (tmp_path / "k.py").write_text(text)
    done = weft("export", f"{tmp_path}/k.py:cholesky", "--size", "mini", "--out", tmp_path / "p")
    assert done.code == 0
    assert "elements of A are infinite or NaN; say under @cholesky.inputs which" in done.err
    [row] = json.loads(
        weft("verify", f"{tmp_path}/k.py", "--size", "mini", "--no-cxx", "--format", "json").out
    )["rows"]
    assert "elements of A are infinite or NaN" in row["detail"]


def test_wrong_inputs_are_an_error_in_the_users_file(weft: Weft, tmp_path: Path) -> None:
    text = CHOLESKY.read_text().replace("np.eye(n)}", "np.eye(n), 'B': 1}")
    (tmp_path / "k.py").write_text(text)
    done = weft("export", f"{tmp_path}/k.py:cholesky", "--size", "mini", "--out", tmp_path / "p")
    assert done.code == 1
    assert "error[W541]: positive_definite makes wrong inputs for 'cholesky'" in done.err
    assert not (tmp_path / "p").exists()
    all_of_it = weft("verify", "--all", tmp_path / "k.py", "--no-cxx")
    assert all_of_it.code == 1
    assert "interp: k.py:37:1: error[W541]" in all_of_it.err


def test_results_that_are_no_numbers(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import weft\nfrom weft import f32\n\n\n@weft.kernel\ndef k(x: f32[4]):\n"
        "    for i in range(4):\n        x[i] = weft.log(-4.0 - x[i])\n"
    )
    done = weft("verify", f"{path}:k", "--format", "json")
    assert done.code == 1
    [row] = json.loads(done.out)["rows"]
    assert (row["status"], row["interp"], row["jit"]) == ("failed", "vacuous", "ok")


NOISY = """
import weft
from weft import f32

N = 16

@weft.kernel(sizes={"small": {"N": 8}})
def noisy(x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] = x[i] * 2.0

@noisy.inputs
def made(kernel, seed):
    print("making inputs")
    return {}
"""


@pytest.mark.parametrize(
    "command",
    [["verify"], ["export", "--out", "project"], ["explore", "--trials", "2", "--out", "run"]],
    ids=lambda words: words[0],
)
def test_what_a_kernels_own_inputs_print_is_no_result(
    weft: Weft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("noisy.py").write_text(NOISY)
    name, *others = command
    done = weft(name, "noisy.py:noisy", *others, "--format", "json")
    assert json.loads(done.out)["command"] == name
    assert "making inputs" in done.err
