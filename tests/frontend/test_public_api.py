"""``import weft``: what is there, and that it costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import weft
from dsl.types import IntType

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
