"""The wrappers in Verilator: a host that knows nothing but the bus gets the kernel's results."""

import numpy as np
import pytest

import weft
from backends.rtl.front.lower import graph_of
from backends.rtl.generate import generate
from backends.rtl.graph import places
from backends.rtl.ir import to_verilog
from backends.rtl.simulate import raw_bits
from backends.rtl.tools import build, find_verilator, lint
from backends.rtl.wrap.axi_lite import axi_lite_wrapper
from backends.rtl.wrap.host import host_wrapper
from backends.rtl.wrap.layout import elements, layout_of
from dsl import interp
from dsl.arrays.inputs import random_inputs
from mlir_passes.pipeline import compile_design
from weft import i16, i32, i40


@weft.kernel
def scaled(k: i40, A: i16[12], B: i40[12], C: i32[12], D: i16[2]):
    for i in range(12):
        B[i] = A[i] * k
        C[i] += A[i]
    for i in range(2):
        D[i] = A[i]


@scaled.schedule
def split(s):
    s.split("S0.i", 2)
    s.pipeline("S0.i_0")
    s.unroll("S0.i_1")
    s.partition("A", 0, "cyclic", 2)
    s.partition("D", 0, "complete")


@pytest.fixture(scope="module")
def design():
    compiled = compile_design(scaled.program, scaled.schedules["split"])
    return generate(graph_of(compiled.module))


HOST = """
#include "Vdesign.h"
#include <cstdio>
Vdesign d;
void tick() { d.clk = 0; d.eval(); d.clk = 1; d.eval(); }
void store(unsigned a, unsigned w) { d.h_we = 1; d.h_addr = a; d.h_wdata = w; tick(); d.h_we = 0; }
unsigned load(unsigned a) { d.h_addr = a; for (int i = 0; i < LATENCY; i++) tick(); return d.h_rdata; }
void run() { d.start = 1; tick(); d.start = 0; while (!d.done) { tick(); d.eval(); } tick(); }
"""

AXI = """
#include "Vdesign.h"
#include <cstdio>
Vdesign d;
void tick() { d.clk = 0; d.eval(); d.clk = 1; d.eval(); d.clk = 0; d.eval(); }
void put(unsigned a, unsigned w) {
  d.s_axi_awaddr = a; d.s_axi_wdata = w; d.s_axi_awvalid = d.s_axi_wvalid = 1; d.s_axi_bready = 1;
  d.eval();
  while (!(d.s_axi_awready && d.s_axi_wready)) tick();
  tick();
  d.s_axi_awvalid = d.s_axi_wvalid = 0; d.eval();
  while (!d.s_axi_bvalid) tick();
  tick();
}
unsigned get(unsigned a) {
  d.s_axi_araddr = a; d.s_axi_arvalid = 1; d.s_axi_rready = 0; d.eval();
  while (!d.s_axi_arready) tick();
  tick();
  d.s_axi_arvalid = 0; d.eval();
  while (!d.s_axi_rvalid) tick();
  tick(); tick();  // the word stays until it is taken
  unsigned w = d.s_axi_rdata;
  d.s_axi_rready = 1; tick();
  return w;
}
void store(unsigned a, unsigned w) { put(BASE + 4 * a, w); }
unsigned load(unsigned a) { return get(BASE + 4 * a); }
void run() {
  if (!(get(0) & 4)) std::printf("busy\\n");
  put(0, 1);
  while (!(get(0) & 2)) {}
  if (get(0) & 2) std::printf("done twice\\n");
}
"""


def transfers(design, inputs):
    """Statements of C++ that write the inputs, run, and print every word that can be read."""
    layout = layout_of(design)
    arrays = {a.name: a for a in scaled.program.arguments}
    lines = ["d.rst = 1; tick(); tick(); d.rst = 0; tick();"]
    for window in (w for w in layout.windows if w.written):
        if window.port is None:
            values = raw_bits(arrays[window.name], inputs[window.name])
        else:
            bits = raw_bits(arrays[window.port.array], inputs[window.port.array])
            values = [0] * window.depth
            of = design.graph.array(window.port.array)
            for (bank, offset), bit in zip(places(of), bits, strict=True):
                if bank == window.port.bank:
                    values[offset] = bit
        for n, lane, word in elements(values, window):
            lines.append(f"store({layout.address(window, n, lane)}u, {word}u);")
    lines.append("run();")
    order = []
    for window in (w for w in layout.windows if w.readable):
        for n in range(window.depth):
            for lane in range(window.lanes):
                lines.append(f'std::printf("%u\\n", load({layout.address(window, n, lane)}u));')
                order.append((window, n, lane))
    return lines, order


def results(design, words, order):
    raws = {}
    for word, (window, n, lane) in zip(words, order, strict=True):
        key = (window.port.array, window.port.bank, n)
        raws[key] = raws.get(key, 0) | word << (32 * lane)
    found = {}
    for array in {w.port.array for w, _, _ in order}:
        of = design.graph.array(array)
        found[array] = [raws[array, bank, offset] for bank, offset in places(of)]
    return found


@pytest.mark.parametrize("kind", ["host", "axi"])
def test_a_host_runs_the_kernel(design, kind, tmp_path):
    inputs = random_inputs(scaled.program, 3)
    lines, order = transfers(design, inputs)
    if kind == "host":
        wrapper = host_wrapper(design)
        text = HOST.replace("LATENCY", str(wrapper.read_latency))
    else:
        wrapper = axi_lite_wrapper(design)
        text = AXI.replace("BASE", f"{wrapper.address(0)}u")
    verilog = to_verilog(wrapper.module)
    name = wrapper.module.name
    checked = lint(find_verilator(), verilog, name, tmp_path / "lint")
    assert checked.ok, checked.log
    main = "\n".join([text, "int main() {", *lines, "}"])
    built = build(find_verilator(), verilog, name, main, tmp_path)
    assert built.program is not None, built.message
    run = built.run()
    assert run.ok, run.log
    got = results(design, [int(word) for word in run.log.split("\n") if word], order)
    want = interp.run(scaled.program, inputs)
    arrays = {a.name: a for a in scaled.program.arguments}
    assert set(got) == {"B", "C", "D"}
    for array in got:
        assert got[array] == raw_bits(arrays[array], np.asarray(want[array])), array
