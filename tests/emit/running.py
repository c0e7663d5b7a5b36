"""Level 3 as text, its C++, and what g++ makes of that."""

import tempfile
from pathlib import Path

import numpy as np

from backends.cxx import need_cxx
from backends.harness import Unit, build, run_jobs
from backends.rawdata import pack, unpack
from dsl.arrays.inputs import storage_dtype
from dsl.programs.program import Array, Program
from mlir_passes.dialect.attributes import context
from mlir_passes.emit.hls import HlsSource, emit, include_directory
from mlir_passes.provider import ir

# The constructors of ap_int read what they have not set; g++ says so where they are inlined.
AP_NOISE = ("-Wno-uninitialized", "-Wno-maybe-uninitialized")
WARNINGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror", *AP_NOISE, "-O0")


def emitted(text: str, **options) -> HlsSource:
    """The C++ of a module that is given as text (generic assembly for what is of hls)."""
    with context():
        return emit(ir.Module.parse(text), **options)


def body(text: str) -> str:
    """The lines between the braces of the function."""
    lines = emitted(text).text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.endswith(") {"))
    return "\n".join(lines[first + 1 : -1])


def shown(text: str) -> str:
    """The lines of a literal without the indent of its closing quotes."""
    _, *lines, last = text.split("\n")
    return "\n".join(line[len(last) :] for line in lines)


def arguments_of(source: HlsSource) -> tuple[Array, ...]:
    return tuple(Array(a.name, a.dtype, a.shape) for a in source.arguments)


def run_all(sources: list[HlsSource], inputs: list[dict]) -> list[dict]:
    """Compile kernels into one program without a warning, run each; their arrays afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        units = [
            Unit(Program(s.name, arguments_of(s), ()), *s.over_elements(), s.uses_ap)
            for s in sources
        ]
        built = build(
            need_cxx(), units, folder, "k", includes=[include_directory()], flags=WARNINGS
        )
        assert built.executable is not None, built.compilation.log[:3000]
        data = [[pack(u.program.arrays, values)] for u, values in zip(units, inputs, strict=True)]
        (folder / "jobs").mkdir()
        outcomes = run_jobs(built.executable, data, folder / "jobs", 20)
    results = []
    for unit, (outcome,) in zip(units, outcomes, strict=True):
        assert outcome.data is not None, outcome.detail
        arrays = tuple(a for a in unit.program.arrays if a.shape)
        storage = {a.name: np.dtype(storage_dtype(a.dtype)) for a in arrays}
        results.append(unpack(arrays, outcome.data, storage))
    return results


def run(text: str, **inputs) -> dict:
    """Emit, compile and run one module."""
    return run_all([emitted(text)], [inputs])[0]
