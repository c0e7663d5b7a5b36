"""``import weft``: what is there, and that it costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weft
from dsl.expressions.types import IntType
from weft import f32

ROOT = Path(__file__).parent.parent.parent


def test_every_listed_name_is_there() -> None:
    for name in dir(weft):
        assert getattr(weft, name) is not None, name
    assert {
        "kernel",
        "Program",
        "grid",
        "stmt",
        "select",
        "f32",
        "fixed",
        "load",
        "compile",
    } <= set(dir(weft))


def test_integers_of_any_width() -> None:
    assert weft.i7 == IntType(7)
    assert weft.u129 == IntType(129, signed=False)
    for name in ("i0", "u5000", "i08", "x8"):
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(weft, name)


def test_a_star_brings_what_kernels_are_written_with(tmp_path: Path) -> None:
    file = tmp_path / "scaled.py"
    file.write_text(
        "from weft import *\n\n@kernel\ndef scaled(a: u8[4], n: i16, y: i32[4]):\n"
        "    for i in range(4):\n        y[i] = max(a[i] * n, 0)\n"
    )
    assert weft.load(str(file)).program.array("a").dtype == weft.u8


def test_a_misspelt_name() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = weft.kernle
    assert str(caught.value) == "module 'weft' has no attribute 'kernle'; did you mean 'kernel'?"


GEMM = "examples/polybench/gemm.py:gemm"


def test_compile_verify_and_export(tmp_path: Path) -> None:
    gemm = weft.load(str(ROOT / GEMM))
    design = weft.compile(gemm, "tiled", "mini")
    assert "void gemm(" in design.hls_cpp
    assert design.hls_cpp == weft.compile(gemm.at("mini"), gemm.schedules["tiled"]).hls_cpp
    result = weft.verify(gemm, "tiled", "mini")
    assert (result.jit.status, result.cxx.status) == ("ok", "ok")
    project = weft.export(gemm, tmp_path / "gemm", "tiled", "mini")
    assert (tmp_path / "gemm" / "gemm.cpp").read_bytes() == project.files["gemm.cpp"]


@weft.kernel
def diagonal(A: f32[8, 8]):
    for i in range(1, 8):
        for j in range(7):
            A[i, j] = A[i - 1, j + 1]


@diagonal.schedule
def swapped(s):
    s.interchange("i", "j")


@weft.kernel
def outside(A: f32[8]):
    for i in range(9):
        A[i] = 0.0


def test_compile_raises_at_once() -> None:
    with pytest.raises(weft.ScheduleError, match=r"W203.*reverses a flow dependence"):
        weft.compile(diagonal, "swapped")
    with pytest.raises(weft.LanguageError, match="W160"):
        weft.compile(outside)
    with pytest.raises(weft.InputError, match="W505"):
        weft.compile(diagonal, "swoped")
    with pytest.raises(weft.LanguageError, match="W138"):
        weft.compile(diagonal, size="mini")


def test_compile_makes_no_more_than_it_checks() -> None:
    design = weft.compile(diagonal)
    assert set(design.seconds) == {"schedule"}


def test_verify_and_export_use_the_kernels_own_inputs(tmp_path: Path) -> None:
    @weft.kernel
    def root(x: f32[4]):
        for i in range(4):
            x[i] = weft.sqrt(-x[i])

    assert weft.verify(root).interp.detail != ""
    root.inputs(lambda kernel, seed: {"x": np.full(4, -4.0 - seed)})
    assert weft.verify(root, seed=5).interp.detail == ""
    project = weft.export(root, tmp_path / "root", seed=5)
    assert np.frombuffer(project.files["data/00_x.out.bin"], np.float32).tolist() == [3.0] * 4
    assert project.notes == ()


def test_a_kernel_is_loaded_from_text_and_from_a_path() -> None:
    file = ROOT / "examples/polybench/gemm.py"
    assert weft.load(file).name == weft.load(str(file)).name == "gemm"
    with pytest.raises(weft.WeftError) as error:
        weft.load(3)  # type: ignore[arg-type]
    assert error.value.code == "W501"


def test_importing_loads_nothing_yet() -> None:
    code = (
        "import sys, weft; before = set(sys.modules); weft.f32[4], weft.grid, weft.kernel; "
        "print(*sorted(before & {'dsl', 'numpy', 'ast', 'inspect'}), '|', "
        "*sorted(set(sys.modules) & {'numpy', 'islpy', 'networkx', 'mlir', 'torch_mlir'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "|"


def test_reading_a_kernel_needs_no_numpy() -> None:
    code = (
        "import sys, weft; k = weft.load('examples/polybench/gemm.py:gemm'); k.program; "
        "print(*sorted(set(sys.modules) & {'numpy', 'islpy', 'mlir'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == ""


@weft.kernel
def doubled(a: weft.f32[8]):
    for i in range(8):
        a[i] = a[i] * 2.0


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda _: weft.compile(3), "a function under @weft.kernel"),
        (lambda _: weft.compile(lambda a: a), "a function under @weft.kernel"),
        (lambda _: weft.compile(doubled, size=3), "the name of one of the kernel's sizes"),
        (lambda _: weft.equivalence(None), "a function under @weft.kernel"),
        (lambda _: weft.estimate("doubled"), "a function under @weft.kernel"),
        (lambda _: weft.estimate(doubled, device=3), "the name of a device"),
        (lambda _: weft.estimate(doubled, clock="fast"), "a number of nanoseconds"),
        (lambda _: weft.estimate(doubled, clock=True), "a number of nanoseconds"),
        (lambda _: weft.estimate(doubled, tool=2022.1), "the name of a tool personality"),
        (lambda _: weft.verify(doubled, trials="all"), "a whole number"),
        (lambda _: weft.verify(doubled, trials=0), "use 1 or more"),
        (lambda _: weft.verify(doubled, seed=0.5), "a whole number"),
        (lambda _: weft.export(doubled, 10**6000), "a path"),
        (lambda tmp: weft.export(doubled.program, tmp), "a function under @weft.kernel"),
        (lambda tmp: weft.export(doubled, tmp, device=3), "the name of a device"),
        (lambda tmp: weft.export(doubled, tmp, clock=None), "a number"),
    ],
)
def test_an_argument_of_another_type_is_an_error_that_says_what_is_meant(call, meant, tmp_path):
    with pytest.raises(weft.WeftError) as caught:
        call(tmp_path)
    text = caught.value.render()
    assert meant in text
    assert "W509" in text


def test_numbers_of_numpy_are_numbers():
    assert weft.verify(doubled, seed=np.int64(1), trials=np.int32(1)).ok
    assert weft.estimate(doubled, clock=np.float64(10.0)).latency.average > 0
