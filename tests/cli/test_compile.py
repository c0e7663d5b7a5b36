"""``weft compile``: levels, schedules, sizes, and what is said when they are not there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Weft, cpu_seconds

WEFT = Path(sys.executable).parent / "weft"


def test_program(weft: Weft, kernels: Path) -> None:
    done = weft("compile", f"{kernels}:axpy", "--emit", "program")
    assert done.code == 0
    assert "def axpy(a: f32, x: f32[16], y: f32[16]):" in done.out
    assert done.err == ""


@pytest.mark.parametrize(
    ("size", "extent"), [("mini", 7), ("small", 9), ("N=5", 5), (" N = 7 ", 7)]
)
def test_sizes(weft: Weft, kernels: Path, size: str, extent: int) -> None:
    done = weft("compile", f"{kernels}:axpy", "--emit", "program", "--size", size)
    assert f"x: f32[{extent}]" in done.out


def test_dependence_graph(weft: Weft, kernels: Path) -> None:
    done = weft("compile", f"{kernels}:axpy", "--emit", "depgraph")
    graph = json.loads(done.out)
    assert graph["kernel"] == "axpy"
    assert "schema_version" in graph
    assert weft("compile", f"{kernels}:axpy", "--emit", "depgraph-dot").out.startswith("digraph")


def test_polyhedral(weft: Weft, kernels: Path) -> None:
    done = weft("compile", f"{kernels}:axpy", "--schedule", "fast", "--emit", "polyhedral")
    assert "loop     i_0 (pipeline II=1)" in done.out


def test_schedules_come_back_as_they_went(weft: Weft, kernels: Path, tmp_path: Path) -> None:
    shown = weft("compile", f"{kernels}:axpy", "--schedule", "fast", "--emit", "schedule-json")
    assert shown.code == 0
    saved = tmp_path / "s.json"
    saved.write_text(shown.out)
    again = weft("compile", f"{kernels}:axpy", "--schedule", saved, "--emit", "schedule-json")
    assert again.out == shown.out
    python = weft("compile", f"{kernels}:axpy", "--schedule", "fast", "--emit", "schedule-py")
    assert 's.split("i", 3)' in python.out


def test_list(weft: Weft, kernels: Path) -> None:
    done = weft("compile", kernels, "--list")
    assert done.out.splitlines()[2:] == ["axpy    - fast     mini small", "copy    -"]
    rows = json.loads(weft("compile", kernels, "--list", "--format", "json").out)["rows"]
    assert rows[0] == {"kernel": "axpy", "schedules": ["-", "fast"], "sizes": ["mini", "small"]}
    assert weft("compile", f"{kernels}:copy", "--list").out.splitlines()[2:] == ["copy    -"]


def test_output_to_a_file(weft: Weft, kernels: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.py"
    done = weft("compile", f"{kernels}:axpy", "--emit", "program", "-o", target)
    assert (done.code, done.out) == (0, "")
    assert "def axpy" in target.read_text()
    written = {p.name for p in tmp_path.iterdir()} - {"__pycache__"}
    assert written == {"kernels.py", "out.py"}


def test_output_that_cannot_be_written(weft: Weft, kernels: Path, tmp_path: Path) -> None:
    target = tmp_path / "none" / "out.py"
    done = weft("compile", f"{kernels}:axpy", "--emit", "program", "-o", target)
    assert done.code == 1
    assert done.err.startswith(
        f"error[W508]: cannot write {target}: No such file or directory\nhelp: "
    )


def test_what_a_file_prints_is_no_result(weft: Weft, kernels: Path) -> None:
    kernels.write_text(kernels.read_text() + "print('loading')\n")
    done = weft("compile", f"{kernels}:axpy", "--emit", "schedule-json")
    json.loads(done.out)
    assert done.err == "loading\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["{f}:axpi"], 1, "error[W503]: {f} defines no kernel 'axpi'\nhelp: did you mean 'axpy'?"),
        (
            ["{f}:axpy", "--schedule", "fats"], 1,
            "error[W505]: the kernel 'axpy' has no schedule 'fats'\nhelp: did you mean 'fast'?",
        ),
        (
            ["{f}:axpy", "--size", "large"], 1,
            "error[W506]: the kernel 'axpy' has no size 'large'\n"
            "help: its sizes: mini, small; or give values: --size N=64",
        ),
        (
            ["{f}:axpy", "--size", "N=x"], 1,
            "error[W506]: 'N=x' is not of the form NAME=NUMBER\nhelp: e.g. --size NI=20,NJ=30",
        ),
        (
            ["{f}:axpy", "--size", "M=3"], 1,
            "error[W506]: the kernel 'axpy' captures no 'M'\nhelp: there is N",
        ),
        (
            ["{f}:axpy", "--schedule", "/none.json"], 1,
            "error[W512]: cannot read the schedule /none.json: [Errno 2] No such file or "
            "directory: '/none.json'\nhelp: weft compile FILE.py:KERNEL --emit schedule-json writes one",
        ),
        (
            ["/none.py:k"], 1, "error[W502]: there is no file /none.py\n"
            "help: name a file by its path from here: FILE.py:KERNEL",
        ),
        (
            ["kernel"], 2,
            "error[W501]: 'kernel' is not the name of a kernel\n"
            "help: a kernel is named path/to/file.py:name",
        ),
    ],
)  # fmt: skip
def test_what_is_not_there(
    weft: Weft, kernels: Path, words: list[str], code: int, said: str
) -> None:
    done = weft("compile", *(w.replace("{f}", str(kernels)) for w in words), "--emit", "program")
    assert done.code == code
    assert done.out == ""
    assert done.err == said.replace("{f}", str(kernels)) + "\n"


def test_print_after_goes_with_mlir_only(weft: Weft, kernels: Path) -> None:
    done = weft("compile", f"{kernels}:axpy", "--emit", "program", "--print-after", "cse")
    assert done.code == 2
    assert "--print-after needs --emit affine or hls-cpp, not program" in done.err


def test_an_exception_of_the_users_file_is_shown_briefly(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("import weft\n\nx = {}['missing']\n")
    done = weft("compile", f"{path}:k")
    assert done.code == 1
    assert done.err == (
        f"bad.py:3:1: error[W504]: {path} cannot be loaded: KeyError: 'missing'\n"
        "    3 | x = {}['missing']\n"
        "      | ^^^^^^^^^^^^^^^^^\n"
        f"help: python {path} shows the whole error\n"
    )


def test_a_syntax_error_of_the_users_file(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("def k(:\n")
    done = weft("compile", f"{path}:k")
    assert done.code == 1
    assert "error[W504]" in done.err
    assert "SyntaxError" in done.err
    assert "Traceback" not in done.err


def test_an_illegal_schedule_is_refused_with_its_reason(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import weft\nfrom weft import f32\n\n\n@weft.kernel\ndef scan(x: f32[8]):\n"
        "    for i in range(1, 8):\n        x[i] += x[i - 1]\n\n\n"
        "@scan.schedule\ndef back(s):\n    s.reverse('i')\n"
    )
    done = weft("compile", f"{path}:scan", "--schedule", "back")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(
        "k.py:13:5: error[W203]: reverse(i) reverses a flow dependence\n"
        "   13 |     s.reverse('i')\n"
        "      |     ^^^^^^^^^^^^^^\n"
        "  S0 -> S0 through x, distance (1): S0[1] must run before S0[2]\n"
    )


def test_nothing_heavy_is_loaded_for_early_levels(kernels: Path) -> None:
    code = (
        "import sys; from dse.cli import run\n"
        f"run(['compile', '{kernels}:axpy', '--emit', 'schedule-json'])\n"
        "print(*sorted({'numpy', 'islpy', 'torch_mlir', 'networkx', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == ""


def test_hls_cpp_is_the_default(weft: Weft, kernels: Path) -> None:
    done = weft("compile", f"{kernels}:axpy", "--schedule", "fast")
    assert done.code == 0, done.err
    assert 'extern "C" void axpy(float a, const float x[16], float y[16])' in done.out
    assert "#pragma HLS pipeline" in done.out


def test_affine_and_timings(weft: Weft, kernels: Path) -> None:
    done = weft("compile", f"{kernels}:axpy", "--emit", "affine", "--timings")
    assert done.code == 0, done.err
    assert "affine.for" in done.out
    parts = {line.split()[0] for line in done.err.splitlines()[2:]}
    assert {"load", "import", "schedule", "codegen", "build"} <= parts


def test_print_after(weft: Weft, kernels: Path) -> None:
    words = [f"{kernels}:axpy", "--print-after", "build", "--print-after", "simplify-bounds"]
    done = weft("compile", *words)
    assert done.code == 0, done.err
    assert "// after build\n" in done.err
    assert "// after simplify-bounds\n" in done.err
    assert done.err.count("func.func") == 2
    assert "func.func" not in done.out
    wrong = weft("compile", f"{kernels}:axpy", "--print-after", "simplify-bound")
    assert wrong.code == 1
    assert "error[W520]: no pass is called 'simplify-bound'" in wrong.err


def test_a_whole_process_is_fast() -> None:
    # The goal is 0.7 s of wall time on a quiet machine: benchmarks/compile_time measures that.
    gemm = Path(__file__).resolve().parents[2] / "examples" / "polybench" / "gemm.py"
    assert cpu_seconds([WEFT, "compile", f"{gemm}:gemm", "--schedule", "tiled"]) < 1.2
