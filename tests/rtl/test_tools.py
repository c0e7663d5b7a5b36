"""Verilator, Yosys and nextpnr as subprocesses: results, failures, and the cache."""

from __future__ import annotations

import json

import pytest

from backends.process import Limits
from backends.rtl.ir import ModuleBuilder, to_verilog
from backends.rtl.tools import (
    Cache,
    Outcome,
    Resources,
    build,
    find_nextpnr,
    find_verilator,
    find_yosys,
    implement,
    lint,
    nextpnr,
    route,
    synthesise,
    yosys,
)
from backends.rtl.tools import find as finding
from dsl.errors.errors import ToolError

COUNT = """#include <cstdio>
#include "Vdesign.h"
int main() {
    VerilatedContext context;
    Vdesign design(&context);
    design.x = 5;
    for (int i = 0; i < 4; i++) {
        for (int clk = 0; clk < 2; clk++) { design.clk = clk; design.rst = i == 0; design.eval(); }
        std::printf("%u ", static_cast<unsigned>(design.y));
    }
    return 0;
}
"""


def accumulator():
    """A product into an accumulator, with one word of block memory behind it."""
    b = ModuleBuilder("accumulator")
    x = b.input("x", 16)
    total = b.reg("total", 32, reset=0)
    b.drive(total, total + x.sext(32) * x.sext(32))
    memory = b.memory("mem", 16, 512)
    b.write(memory, x.low(9), x)
    b.output("y", total)
    b.output("m", b.read(memory, total.low(9)))
    return b.build()


TEXT = to_verilog(accumulator())


def test_lint_is_clean_and_sees_what_is_not(tmp_path):
    tool = find_verilator()
    assert lint(tool, TEXT, "accumulator", tmp_path).ok
    wider = TEXT.replace("reg [31:0] total", "reg [32:0] total")
    found = lint(tool, wider, "accumulator", tmp_path)
    assert not found.ok
    assert "WIDTH" in found.log


def test_a_simulator_runs_and_its_runtime_is_compiled_once(tmp_path):
    tool = find_verilator()
    first = build(tool, TEXT, "accumulator", COUNT, tmp_path / "a", runtime=tmp_path)
    assert first.outcome is Outcome.OK, first.message
    assert first.run().log.split() == ["0", "25", "50", "75"]
    objects = sorted(tmp_path.glob("verilated-*/*.[og]*"))
    stamps = [o.stat().st_mtime_ns for o in objects]
    build(tool, TEXT, "accumulator", COUNT, tmp_path / "b", runtime=tmp_path)
    assert len(objects) == 3
    assert [o.stat().st_mtime_ns for o in objects] == stamps


def test_what_does_not_compile_is_a_result(tmp_path):
    tool = find_verilator()
    broken = build(tool, TEXT, "accumulator", "int main() { return y; }", tmp_path)
    assert broken.outcome is Outcome.FAILED
    assert "y" in broken.message
    none = build(tool, "module m(; endmodule", "m", COUNT, tmp_path)
    assert none.outcome is Outcome.FAILED
    assert "syntax error" in none.message


@pytest.mark.usefixtures("warm_tools")
def test_synthesis_and_routing_count_the_cells(tmp_path, monkeypatch):
    tools = (find_yosys(), find_nextpnr())
    cache = Cache(tmp_path / "cache")
    made = implement(tools, TEXT, "accumulator", "ecp5-25k", tmp_path, cache=cache)
    assert made.outcome is Outcome.OK, made
    routed = made.routings[0]
    assert routed.resources is not None
    assert (routed.resources.dsp, routed.resources.bram) == (1, 1)
    assert routed.resources.ff == 32
    assert 32 <= routed.resources.lut <= 60
    assert made.fmax is not None
    assert 80 < made.fmax < 400

    # From the cache: no tool runs, and the answer is the same.
    def run(*_):
        raise AssertionError("a tool is asked")

    gone = tuple(finding.Tool(t.name, ("/nonexistent",), t.version, t.packaged) for t in tools)
    monkeypatch.setattr(finding.Tool, "run", run)
    again = implement(gone, TEXT, "accumulator", "ecp5-25k", tmp_path / "none", cache=cache)
    assert again == made
    assert not (tmp_path / "none").exists()
    # Another command of synthesis is another key.
    monkeypatch.setitem(yosys.COMMANDS, "ecp5", yosys.COMMANDS["ecp5"].replace("-nowidelut ", ""))
    with pytest.raises(AssertionError, match="asked"):
        implement(gone, TEXT, "accumulator", "ecp5-25k", tmp_path / "none", cache=cache)


@pytest.mark.usefixtures("warm_tools")
def test_xilinx_cells_pack_the_product_into_a_dsp(tmp_path):
    done = synthesise(find_yosys(), TEXT, "accumulator", "xc7", tmp_path)
    assert done.outcome is Outcome.OK, done.message
    assert done.resources is not None
    assert (done.resources.dsp, done.resources.bram) == (1, 1)


@pytest.mark.usefixtures("warm_tools")
def test_failures_of_synthesis_are_results(tmp_path):
    tool = find_yosys()
    done = synthesise(tool, "module m(; endmodule", "m", "ecp5", tmp_path)
    assert done.outcome is Outcome.FAILED
    assert "syntax error" in done.message
    twice = "module m(input a, b, output y); assign y = a & b; assign y = a ^ b; endmodule"
    assert synthesise(tool, twice, "m", "ecp5", tmp_path).outcome is Outcome.FAILED
    late = synthesise(tool, TEXT, "accumulator", "ecp5", tmp_path, limits=Limits(seconds=0.05))
    assert late.outcome is Outcome.TIMEOUT
    with pytest.raises(ValueError, match="identifier"):
        synthesise(tool, TEXT, "m; shell ls", "ecp5", tmp_path)


@pytest.mark.usefixtures("warm_tools")
def test_a_design_that_does_not_fit_is_a_result(tmp_path):
    b = ModuleBuilder("wide")
    x = b.input("x", 18)
    for i in range(40):
        x = b.reg(f"r{i}", 18, next=x * b.reg(f"s{i}", 18, next=x))
    b.output("y", x)
    synthesise(find_yosys(), to_verilog(b.build()), "wide", "ecp5", tmp_path)
    routed = route(find_nextpnr(), tmp_path, "ecp5-25k")
    assert routed.outcome is Outcome.NO_FIT, routed.message
    assert "MULT18X18D" in routed.message
    (tmp_path / "netlist.json").write_text("{")
    assert route(find_nextpnr(), tmp_path, "ecp5-25k").outcome is Outcome.FAILED


def test_the_report_of_nextpnr_is_read():
    used = {"TRELLIS_COMB": 7, "TRELLIS_FF": 5, "MULT18X18D": 2, "DP16KD": 1}
    text = json.dumps(
        {
            "fmax": {"a": {"achieved": 125.5, "constraint": 100}, "b": {"achieved": 90.0}},
            "utilization": {k: {"used": n, "available": 100} for k, n in used.items()},
            "critical_paths": [],
        }
    )
    found = nextpnr.parse_report(text, 3, 1.0)
    assert (found.resources, found.fmax, found.seed) == (Resources(7, 5, 2, 1), 90.0, 3)


def test_a_spoilt_cache_is_no_answer(tmp_path):
    cache = Cache(tmp_path)
    cache.put(("a", "bc"), {"x": 1})
    assert cache.get(("a", "bc")) == {"x": 1}
    assert cache.get(("ab", "c")) is None
    for path in tmp_path.rglob("*.json"):
        path.write_text("{")
    assert cache.get(("a", "bc")) is None


def test_a_tool_that_is_not_there_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ToolError) as native:
        finding._native.__wrapped__("yosys", "-V")
    assert native.value.code == "W470"
    assert "yosys is not on PATH" in str(native.value)
    with pytest.raises(ToolError) as packaged:
        finding._package("no_such_package_here", "yosys")
    assert packaged.value.code == "W470"
    assert "pip install 'weft[rtl]'" in packaged.value.render()


def test_a_tool_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    fake = tmp_path / "yosys"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="exit status 3") as error:
        finding._native.__wrapped__("yosys", "-V")
    assert error.value.code == "W471"
