"""Loops that are spread over ports, and arrays outside with several pointers: what they become, that they mean the same,
what the model counts, and what is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

import weft
from backends.verify import VerifyResult
from dsl.errors.errors import ScheduleError, ToolError
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from tests.polyhedral.test_scratch import both, results_of, schedule_of
from weft import f32, i32

Build = Callable[[ScheduleBuilder], object]


@weft.kernel
def doubled(A: f32[24, 40], B: f32[24, 40]):
    for i, j in weft.grid(24, 40):
        B[i, j] = 2 * A[i, j]


@weft.kernel
def turned(A: i32[16, 32], B: i32[32, 16]):
    for i, j in weft.grid(16, 32):
        B[j, i] = A[i, j]


@weft.kernel
def axpy(a: f32, x: f32[960], y: f32[960]):
    for i in range(960):
        y[i] += a * x[i]


@weft.kernel
def running(x: i32[64], y: i32[64]):
    for i in range(1, 64):
        y[i] = y[i - 1] + x[i]


@weft.kernel
def corner(A: i32[12, 12]):
    for i in range(12):
        for j in range(i, 12):
            A[i, j] = i + j


@weft.kernel
def ahead(y: i32[64]):
    for i in range(63):
        y[i] = y[i + 1] + 1


@weft.kernel
def sweeps(A: i32[18, 16], B: i32[18, 16]):
    for t in range(3):
        for i in range(1, 17):
            for j in range(16):
                B[i, j] = A[i - 1, j] + A[i + 1, j]
        for i in range(1, 17):
            for j in range(16):
                A[i, j] = B[i, j] - 1


def outside(*arrays: str, ports: int = 1, bits: int = 0, reads: bool = False) -> Build:
    """Arrays outside, each behind so many ports of its own."""

    def build(s: ScheduleBuilder) -> None:
        for array in arrays:
            also = [f"{array}{n}" for n in range(1, ports)]
            s.interface(array, "m_axi", array, reads=array if reads else "", also=also)
            if bits:
                s.pack(array, bits)

    return build


def spread(ports: int, *loops: str) -> Build:
    def build(s: ScheduleBuilder) -> None:
        for loop in loops:
            s.spread(loop, ports)

    return build


def cyclic(ports: int, *loops: str) -> Build:
    def build(s: ScheduleBuilder) -> None:
        for loop in loops:
            s.spread(loop, ports, "cyclic")

    return build


def in_tiles(s: ScheduleBuilder) -> None:
    s.tile(["i", "j"], [12, 16], tail="guard").buffer("A", "j_0").buffer("B", "j_0")


def in_words(s: ScheduleBuilder) -> None:
    s.tile(["i", "j"], [16, 8], tail="guard").buffer("A", "j_0").reorder(["j_1", "i_1"])
    s.split("i_1", 4, "i_2", "i_3").buffer("B", "i_2")


def at_once(s: ScheduleBuilder) -> None:
    s.split("i", 96).buffer("y", "i_0", apart=True).buffer("x", "i_0")
    s.dataflow([["take_y", "S0"]], at="i_0")


def copies_of_y(ports: int) -> Build:
    return spread(ports, "load_x.load_x_0", "load_y.load_y_0", "store_y.store_y_0")


def doubled_through(ports: int) -> Build:
    both_ways = (
        spread(ports, "load_A.load_A_0", "store_B.store_B_0") if ports > 1 else lambda _: None
    )
    piped = lambda s: s.pipeline("load_A.load_A_1").pipeline("store_B.store_B_1")  # noqa: E731
    return both(outside("A", "B", ports=ports, bits=64), in_tiles, both_ways, piped)


def in_sweeps(s: ScheduleBuilder) -> None:
    for stmt in ("S0", "S1"):
        s.tile([f"{stmt}.i"], [8], tail="guard")
    s.buffer("A", "S0.i_0").buffer("B", "S0.i_0", "made").buffer("B", "S1.i_0").buffer(
        "A", "S1.i_0", "next"
    )


SWEEPS = spread(2, "load_A.load_A_0", "store_B.store_B_0", "load_B.load_B_0", "store_A.store_A_0")
SOUND: list[tuple[weft.Kernel, Build]] = [
    (doubled, doubled_through(2)),
    (doubled, doubled_through(3)),
    (doubled, both(outside("A", "B", ports=5, bits=64), in_tiles, cyclic(5, "load_A.load_A_0", "store_B.store_B_0"))),
    (doubled, both(outside("A", "B"), in_tiles, spread(2, "load_A.load_A_0"))),  # through one pointer
    (turned, both(outside("A", "B", ports=2, bits=128), in_words, spread(2, "load_A.load_A_0", "j_1"))),
    (axpy, both(outside("x", ports=4, bits=128), outside("y", ports=4, bits=128, reads=True), at_once, copies_of_y(4))),
    (doubled, both(outside("A", "B", ports=2), spread(2, "i"), lambda s: s.pipeline("j"))),  # without copies
    (sweeps, both(outside("A", "B", ports=2), in_sweeps, SWEEPS, lambda s: s.dataflow(at="load_A.i_0"))),
    # Each nest of tiles ends before the next one begins: copies go through any of the pointers, and reads through others.
    (sweeps, both(outside("A", "B", ports=2, reads=True), in_sweeps, spread(2, "load_A.load_A_0", "store_B.store_B_0"))),
]  # fmt: skip


@cache
def verified() -> list[VerifyResult]:
    """All of them: g++ compiles once what they share."""
    return results_of(SOUND)


@pytest.mark.parametrize("number", range(len(SOUND)))
def test_it_means_the_same(number: int) -> None:
    kernel, build = SOUND[number]
    assert verified()[number].ok, verified()[number]
    assert weft.equivalence(kernel, schedule_of(build)).verdict == "proven"


def test_each_copy_goes_through_a_pointer_of_its_own() -> None:
    design = weft.compile(axpy, schedule_of(SOUND[5][1]))
    text = design.hls_cpp
    assert "#pragma HLS interface mode=m_axi port=y_in_3 bundle=y3 offset=slave depth=240" in text
    assert "y_in_2[24 * i_0 + load_y_0 + 12]" in text.replace(" load_y_0_port", " 2").replace(
        "6 * 2", "12"
    )
    assert "y_3[24 * i_0 + store_y_0 + 6 * store_y_0_port] = " in text
    assert {(a.cpp, a.of) for a in design.hls.behind} == {
        *((f"x_{n}", "x") for n in (1, 2, 3)), *((f"y_{n}", "y") for n in (1, 2, 3)),
        ("y_in", "y"), *((f"y_in_{n}", "y") for n in (1, 2, 3)),
    }  # fmt: skip


def test_the_model_has_a_word_a_cycle_of_each_port() -> None:
    """As many rows pass at the same time, each with its own wait; through one pointer words follow each other."""
    one, two = (
        weft.estimate(doubled, schedule_of(doubled_through(n)), device="xcu280") for n in (1, 2)
    )
    assert two.latency.average < 0.6 * one.latency.average
    shared = both(outside("A", "B", bits=64), in_tiles, spread(2, "load_A.load_A_0"))
    found = weft.estimate(
        doubled, schedule_of(both(shared, lambda s: s.pipeline("load_A.load_A_1"))), device="xcu280"
    )
    assert max(loop.ii for loop in found.loops if loop.overlaps) == 2
    design = weft.compile(doubled, schedule_of(doubled_through(2)))
    kernel = kernel_of_module(design.module)
    assert kernel == kernel_of_tree(design.tree)
    ports = {m.port.bundle: m.port.of for m in kernel.memories if m.port is not None}
    assert ports == {"A": "", "A1": "A", "B": "", "B1": "B"}


REFUSED: list[tuple[weft.Kernel, Build, str, str]] = [
    (doubled, spread(5, "i"), "W207", "the trip count of 'i' is 24, which 5 ports do not divide"),
    (doubled, spread(1, "i"), "W207", "1 ports"),
    (doubled, lambda s: s.spread("i", 2, "rows"), "W207", "no scheme is called 'rows'"),
    (corner, lambda s: s.spread("j", 2, "cyclic"), "W207", "the trip count of 'j' varies"),
    (doubled, spread(2, "i", "j"), "W223", "the ports of 'j'"),
    (doubled, both(lambda s: s.pipeline("i"), spread(2, "i")), "W214", "i"),
    (doubled, both(outside("A", ports=2), spread(3, "i")), "W231", "'A' has 2 pointers, and S0 is spread over 3 ports"),
    (ahead, outside("y", ports=2), "W231", "S0 writes what S0 has read"),
    (sweeps, outside("A", "B", ports=2), "W231", "S0 reads what S1 wrote"),
    (running, outside("y", ports=2), "W231", "S0 reads what S0 wrote"),
    (doubled, lambda s: s.interface("A", "m_axi", also=["1"]), "W215", "'1' is no bundle name"),
    (doubled, lambda s: s.interface("A", "m_axi", "g", also=["g"]), "W215", "pointers to 'A' share a port: g, g"),
    (doubled, lambda s: s.interface("A", "ap_memory", also=["g"]), "W215", "also is an option of m_axi"),
    (axpy, lambda s: s.interface("a", "m_axi", also=["g"]), "W215", "m_axi"),
    (doubled, both(lambda s: s.interface("B", "m_axi", "A1", width=64), outside("A", ports=2)), "W223", "share bundle 'A1'"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "build", "code", "text"), REFUSED)
def test_refused(kernel: weft.Kernel, build: Build, code: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        weft.compile(kernel, schedule_of(build))
    assert caught.value.code == code
    assert text in caught.value.message
    assert caught.value.span is not None


def test_the_open_backend_has_one_port_for_an_array() -> None:
    with pytest.raises(ToolError) as caught:
        weft.estimate(doubled, schedule_of(doubled_through(2)), tool="open", device="ecp5-85k")
    assert caught.value.code == "W460"
    assert "'A' has several" in caught.value.message
