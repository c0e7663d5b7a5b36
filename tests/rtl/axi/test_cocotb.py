"""The AXI of a kernel against models that others wrote: cocotbext-axi's memory and its AXI4-Lite host."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from backends.reference import reference
from backends.rtl.axi.simulate import raw_set
from backends.rtl.axi.testbench import host_writes, image, memory_map, unpack
from backends.rtl.simulate import values_of
from backends.rtl.tools import find_verilator
from dse.kernels.target import target
from tests.rtl.axi.designs import Built, built
from tests.support.amount import sample

runner = pytest.importorskip("cocotb_tools.runner", reason="needs cocotb and cocotbext-axi")
results = pytest.importorskip("cocotb_tools.check_results")


@pytest.fixture
def verilator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verilator's package for cocotb, and the Python that runs the tests."""
    root = dict(find_verilator().env)["VERILATOR_ROOT"]
    monkeypatch.setenv("VERILATOR_ROOT", root)
    path = [str(Path(root) / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(path))


def left(what: Built, folder: Path, stall: int) -> tuple[dict, list[str], dict]:
    """What is in the arrays after a run by cocotb; what else was written; what is right."""
    right = reference(what.program, what.schedule, 7, None)
    arrays, scalars = raw_set(what.program, right)
    design = what.design
    plan = {
        "seed": 11,
        "stall": stall,
        "image": str(folder / "image"),
        "result": str(folder / "result"),
        "origin": memory_map(design).origin,
        "masters": [prefix for _, prefix in design.ports],
        "registers": host_writes(design, scalars),
        "status": design.status,
    }
    (folder / "image").write_bytes(image(design, arrays))
    (folder / "plan").write_text(json.dumps(plan), encoding="utf-8")
    (folder / "design.v").write_text(design.verilog, encoding="utf-8")
    top = design.module.name
    verilator = runner.get_runner("verilator")
    flags = ["--timing", "-CFLAGS", "-std=c++20 -fcoroutines -O0", "-Wno-fatal", "-Wno-lint"]
    verilator.build(
        sources=[folder / "design.v"],
        hdl_toplevel=top,
        build_dir=folder / "build",
        build_args=flags,
        timescale=("1ns", "1ps"),
        log_file=folder / "build.log",
    )
    file = verilator.test(
        test_module="tests.rtl.axi.cocotb_host",
        hdl_toplevel=top,
        extra_env={"WEFT_PLAN": str(folder / "plan"), "COCOTB_ANSI_OUTPUT": "0"},
        log_file=folder / "test.log",
    )
    count, failed = results.get_results(file)
    log = (folder / "test.log").read_text(encoding="utf-8")
    assert (count, failed) == (1, 0), log[-3000:]
    raws, wrong, rest = unpack(design, (folder / "result").read_bytes(), arrays)
    assert rest == b""
    return raws, wrong, right.results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "schedule", "size", "stall"),
    sample(
        [
            ("tests/rtl/axi/kernels.py:product", "nested", None, 40),
            ("examples/outside/edge_strips.py:edge_strips", "strips", "mini", 40),
        ],
        2,
    ),
)
def test_data_is_exact_in_a_memory_of_others(verilator, tmp_path, file, schedule, size, stall):
    what = target(file, schedule, size)
    made = built(what.program, what.schedule)
    raws, wrong, right = left(made, tmp_path, stall)
    assert wrong == []
    for array in (a for a in made.program.arguments if a.shape):
        np.testing.assert_array_equal(values_of(array, raws[array.name]), right[array.name])
