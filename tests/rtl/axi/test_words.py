"""Packed arguments in RTL: an access of their port is a word, and what is no whole word is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.rtl.graph import Kind, Pipeline, walk
from backends.rtl.simulate import simulate
from backends.rtl.synth import SynthOptions, rtl_of
from backends.rtl.tools import find_verilator
from dsl.errors.errors import ToolError
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.dialect.attributes import context
from mlir_passes.pipeline import compile_design
from mlir_passes.provider import ir
from tests.rtl.axi.kernels import rows


def packed() -> ScheduleBuilder:
    s = ScheduleBuilder()
    for array in "AB":
        s = s.interface(array, "m_axi", array).pack(array, 64).buffer(array)
        s = s.partition(f"{array}_buf", 1, "cyclic", 8)
    return s.pipeline("load_A_1").pipeline("store_B_1")


def test_a_word_is_one_access(runtime: Path) -> None:
    schedule = packed().build()
    design = rtl_of(compile_design(rows.program, schedule).module, schedule, SynthOptions())
    # Rows of 13 elements are two words of eight, the last three of which are padding.
    assert [(b.array, b.depth, b.width) for b in design.banks] == [("A", 18, 64), ("B", 18, 64)]
    copies = [r for r in walk(design.graph.body) if isinstance(r, Pipeline)]
    ops = [op for r in copies for op in r.block.ops if op.place and op.place.array in ("A", "B")]
    assert [op.width for op in ops] == [64, 64]
    assert [len(op.operands) for op in ops if op.kind is Kind.STORE] == [8]
    assert all(r.ii == 1 for r in design.regions if r.kind == "pipeline")
    found = simulate(design, rows.program, schedule, find_verilator(), trials=2, runtime=runtime)
    assert found.verdict == "ok", found


def test_a_word_that_is_stored_in_parts_is_refused() -> None:
    """As no schedule makes it: only seven of eight lanes are stored."""
    schedule = packed().build()
    text = str(compile_design(rows.program, schedule).module)
    before, after = text.rsplit("= 0 to 8 {", 1)
    with context():
        module = ir.Module.parse(f"{before}= 0 to 7 {{{after}")
    with pytest.raises(ToolError, match="a word of 'B' that is stored in parts") as caught:
        rtl_of(module, schedule, SynthOptions())
    assert caught.value.code == "W460"
