"""Whole projects: what is in them, that they run here, and that their testbench can fail."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weft
from backends.ap_types import find_ap_types
from backends.devices import device
from backends.rawdata import from_bytes
from backends.vitis import csim as csim_module
from backends.vitis.csim import csim
from backends.vitis.project import export, project
from dsl import interp
from dsl.arrays.inputs import random_inputs, storage_dtype
from dsl.errors.errors import ToolError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import Design, compile_design
from tests.backends.test_scripts import STUBS, TCLSH, needs_tclsh, steps, tclsh
from weft import const, f16, f32, fixed, i5, u70

ROOT = Path(__file__).resolve().parents[2]
DEVICE = device("xczu9eg")
needs_ap = pytest.mark.skipif(find_ap_types() is None, reason="needs the group csim")
N, M = 6, 10
WIDE = fixed[70, 20, "rnd", "sat"]


@weft.kernel
def matvec(scale: f32, A: f32[N, M], x: const[f32[M]], y: f32[N]):
    for i in range(N):
        for j in range(M):
            y[i] += scale * A[i, j] * x[j]


@weft.kernel
def mixed(x: fixed[12, 4][N], c: i5, y: WIDE[N], w: u70[N], h: f16[N]):
    for i in range(N):
        y[i] = x[i] * c
        w[i] = w[i] * w[i]
        h[i] = h[i] * h[i]


@weft.kernel
def macros(M_PI: f32[N], INT_MAX: f32[N], EOF: f32[N], BIAS: i5[N], EPERM: f32, errno: f32[N]):
    for CHAR_BIT in range(N):
        M_PI[CHAR_BIT] = INT_MAX[CHAR_BIT] + EOF[CHAR_BIT] * EPERM - errno[CHAR_BIT]
        BIAS[CHAR_BIT] = BIAS[CHAR_BIT] + 1


def tiled() -> Schedule:
    s = ScheduleBuilder()
    return s.split("j", 4).pipeline("j_0").partition("A", 1, "cyclic", 4).build()


def relaxed() -> Schedule:
    s = ScheduleBuilder()
    return s.reassociate("S0").split("j", 5).reorder(["j_1", "j_0"]).build()


def design(kernel: weft.Kernel = matvec, schedule: Schedule | None = None) -> Design:
    return compile_design(kernel.program, schedule or Schedule())


PLAIN = {
    *("matvec.cpp", "matvec.h", "tb_matvec.cpp", "weft_tb.h", "run_hls.tcl", "hls_config.cfg"),
    *(
        "Makefile",
        "program.json",
        "schedule.json",
        "schedule.py",
        "README.md",
        "weft.json",
        ".gitignore",
    ),
    *("data/00_scale.in.bin", "data/01_A.in.bin", "data/02_x.in.bin"),
    *("data/03_y.in.bin", "data/03_y.out.bin"),
}


def test_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    made = export(design(schedule=tiled()), folder, DEVICE, 5.0, seed=7)
    assert set(made.files) == PLAIN
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} == PLAIN
    facts = json.loads((folder / "weft.json").read_text())
    assert (facts["kernel"], facts["part"], facts["clock_ns"], facts["seed"]) == (
        "matvec", "xczu9eg-ffvb1156-2-e", 5.0, 7,
    )  # fmt: skip
    readme = (folder / "README.md").read_text()
    assert "a clock period of 5 ns" in readme
    assert 's.split("j", 4)' in readme
    assert "the very same bits." in readme


def test_banks_are_in_the_configuration_of_the_linker() -> None:
    builder = ScheduleBuilder()
    builder.interface("A", "m_axi", "g0", width=512, bank="HBM[4]")
    builder.interface("x", "m_axi", "g1", bank="HBM[8:9]").interface("y", "m_axi", "g2")
    made = project(compile_design(matvec.program, builder.build()), DEVICE, 5.0)
    assert made.files["link.cfg"].decode().splitlines()[2:] == [
        "[connectivity]",
        "nk=matvec:1:matvec_1",
        "sp=matvec_1.A:HBM[4]",
        "sp=matvec_1.x:HBM[8:9]",
    ]
    assert "| `link.cfg` |" in made.files["README.md"].decode()
    plain = project(compile_design(matvec.program, Schedule()), DEVICE, 5.0)
    assert "link.cfg" not in plain.files


def test_the_golden_data_are_the_interpreters() -> None:
    made = project(design(), DEVICE, 10.0, seed=3)
    inputs = random_inputs(matvec.program, 3)
    results = interp.run(matvec.program, inputs)
    for name, file, want in (
        ("A", "data/01_A.in.bin", inputs["A"]),
        ("y", "data/03_y.out.bin", results["y"]),
    ):
        array = matvec.program.array(name)
        got = from_bytes(array, made.files[file], np.dtype(storage_dtype(array.dtype)))
        assert np.array_equal(got, want)


def test_the_schedule_comes_back() -> None:
    made = project(design(schedule=tiled()), DEVICE, 10.0)
    assert Schedule.from_json(made.files["schedule.json"].decode()) == tiled()
    assert b's.partition("A", 1, ' in made.files["schedule.py"]


def test_the_same_design_gives_the_same_bytes() -> None:
    code = (
        "import hashlib, sys; sys.path.insert(0, '.')\n"
        "from tests.backends.test_project import *\n"
        "made = project(design(schedule=tiled()), DEVICE, 10.0)\n"
        "for n, d in sorted(made.files.items()): print(n, hashlib.sha256(d).hexdigest())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == len(PLAIN)


@pytest.mark.parametrize("schedule", [Schedule(), tiled(), relaxed()], ids=["none", "tiled", "re"])
def test_it_runs_here(tmp_path: Path, schedule: Schedule) -> None:
    made = export(design(schedule=schedule), tmp_path / "a b", DEVICE, 10.0)
    before = sorted((tmp_path / "a b").rglob("*"))
    done = csim(tmp_path / "a b", made.names)
    assert done.passed, done.testbench.log
    assert "PASSED" in done.testbench.log
    assert sorted((tmp_path / "a b").rglob("*")) == before


def test_processes_that_wait_for_each_other_have_pipelines_that_flush() -> None:
    @weft.kernel
    def pair(A: f32[8], B: f32[8]):
        t: f32[8]
        u: f32[8]
        for i in range(8):
            t[i] = A[i]
            u[i] = A[i] * 2.0
        for i in range(8):
            B[i] = t[i] + u[i]

    def made(depth: int):  # type: ignore[no-untyped-def]
        streams = ScheduleBuilder().dataflow().stream("t", depth).stream("u", depth)
        return project(compile_design(pair.program, streams.build()), DEVICE, 10.0)

    assert made(1).names.flushing
    assert "ask for pipelines that flush" in made(1).files["README.md"].decode()
    assert not made(8).names.flushing
    assert not project(design(), DEVICE, 10.0).names.flushing


def test_a_reassociated_reduction_is_compared_with_a_tolerance() -> None:
    made = project(design(schedule=relaxed()), DEVICE, 10.0)
    bench = made.files["tb_matvec.cpp"].decode()
    [check] = [line for line in bench.splitlines() if "golden.check" in line]
    bound = float(check.rpartition(", ")[2].removesuffix(");"))
    assert 0 < bound < 1e-4
    assert "but in y: there" in made.files["README.md"].decode()
    assert made.names.unsafe_math
    assert not project(design(), DEVICE, 10.0).names.unsafe_math


@needs_ap
def test_names_that_are_macros_of_the_headers(tmp_path: Path) -> None:
    made = export(design(macros), tmp_path / "p", DEVICE, 10.0)
    done = csim(tmp_path / "p", made.names)
    assert done.passed, done.testbench.log
    assert "float M_PI_[6]" in made.files["macros.cpp"].decode()


@needs_ap
def test_arbitrary_precision_and_small_floats(tmp_path: Path) -> None:
    made = export(design(mixed), tmp_path / "p", DEVICE, 10.0)
    assert made.names.ap_types
    assert "weft_float.h" in made.files
    done = csim(tmp_path / "p", made.names)
    assert done.passed, done.testbench.log
    for name in ("y", "w", "h"):
        assert f"{name}: 0 of {N} elements wrong" in done.testbench.log


@needs_ap
def test_the_makefile_runs_it_as_well(tmp_path: Path) -> None:
    export(design(mixed), tmp_path / "p", DEVICE, 10.0)
    done = subprocess.run(
        ["make", "csim", f"PYTHON={sys.executable}"], cwd=tmp_path / "p", capture_output=True,
        text=True, timeout=300, env={k: v for k, v in os.environ.items() if k != "XILINX_HLS"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED" in done.stdout


def test_the_testbench_fails_on_wrong_results(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    made = export(design(), folder, DEVICE, 10.0)
    golden = folder / "data" / "03_y.out.bin"
    data = np.frombuffer(golden.read_bytes(), "<f4").copy()
    data[4] = np.nextafter(data[4], np.float32(9), dtype=np.float32)
    golden.write_bytes(data.tobytes())
    done = csim(folder, made.names)
    assert not done.passed
    assert done.testbench.returncode == 1
    assert "y[4] is " in done.testbench.log
    assert f"y: 1 of {N} elements wrong" in done.testbench.log
    assert "FAILED" in done.testbench.log


def test_the_testbench_fails_on_a_wrong_kernel(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    made = export(design(), folder, DEVICE, 10.0)
    source = folder / "matvec.cpp"
    text = source.read_text()
    assert "y[i] +=" in text
    source.write_text(text.replace("y[i] +=", "y[i] -="))
    done = csim(folder, made.names)
    assert done.testbench.returncode == 1
    assert f"y: {N} of {N} elements wrong" in done.testbench.log


def test_missing_data_fails(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    made = export(design(), folder, DEVICE, 10.0)
    shutil.rmtree(folder / "data")
    assert csim(folder, made.names).testbench.returncode == 2


def test_a_project_that_does_not_compile(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    made = export(design(), folder, DEVICE, 10.0)
    (folder / "matvec.h").write_text("void matvec(broken);\n")
    with pytest.raises(ToolError) as caught:
        csim(folder, made.names)
    lines = caught.value.render().splitlines()
    assert lines[0] == f"error[W411]: g++ does not compile the project {folder}: exit status 1"
    assert f"{folder}/matvec.h:1:" in lines[1]
    assert "error:" in lines[1]


def test_without_the_headers_the_error_names_the_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = export(design(mixed), tmp_path / "p", DEVICE, 10.0)
    monkeypatch.setattr("backends.ap_types.find_ap_types", lambda: None)
    with pytest.raises(ToolError) as caught:
        csim_module.csim(tmp_path / "p", made.names)
    assert caught.value.render() == (
        "error[W410]: mixed uses ap_int or ap_fixed types, and their headers are not installed\n"
        "help: pip install 'weft[csim]' brings them (in the package hls4ml)"
    )
    # A kernel of plain types does not need them.
    plain = export(design(), tmp_path / "q", DEVICE, 10.0)
    assert csim_module.csim(tmp_path / "q", plain.names).passed


@needs_tclsh
def test_the_tcl_of_a_project_is_read_by_tcl(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    made = export(design(), folder, DEVICE, 4.0)
    script = folder / "run_hls.tcl"
    script.write_text(STUBS + script.read_text(), encoding="utf-8")
    assert TCLSH is not None
    done = tclsh(script, "csynth", "impl")
    assert done.returncode == 0, done.stderr
    calls = [json.loads(line) for line in done.stdout.splitlines()]
    assert steps(calls) == ["csynth", "export"]
    added = [c[-1] for c in calls if c[0] == "add_files"]
    assert added == ["matvec.cpp", "tb_matvec.cpp", *made.names.data]
    assert all((folder / path).is_file() for path in added)


def test_exporting_again_replaces(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    export(design(schedule=tiled()), folder, DEVICE, 10.0)
    export(design(), folder, DEVICE, 10.0)
    assert "split" not in (folder / "schedule.json").read_text()
    (folder / "matvec.cpp").write_text("mine")
    with pytest.raises(ToolError, match="W430"):
        export(design(), folder, DEVICE, 10.0)


@weft.kernel
def names(golden: f32[3], wrong: f32[3], argc: f32, y1: f32[3], data: f32[3], printf: f32):
    for i in range(3):
        golden[i] = wrong[i] * argc + y1[i] * data[i] + printf


def test_names_of_arguments_come_first(tmp_path: Path) -> None:
    made = export(design(names), tmp_path / "p", DEVICE, 10.0)
    done = csim(tmp_path / "p", made.names)
    assert done.passed, done.testbench.log
    assert "golden: 0 of 3 elements wrong" in done.testbench.log
