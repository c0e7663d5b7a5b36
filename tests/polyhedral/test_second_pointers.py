"""Arrays that are copied in and out apart, and read through a pointer of their own: what they become, that they mean
the same, and what is refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import pytest

import weft
from backends.verify import VerifyResult
from dsl.errors.errors import ScheduleError
from dsl.programs.pretty import pretty
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Buffer, Interface, Pack
from polyhedral.legality.loop_regions import most_processes
from polyhedral.requests.second_pointers import reads_again
from polyhedral.schedule import apply, begun
from polyhedral.scop.lookup import find_loop
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from tests.polyhedral.test_scratch import both, results_of, schedule_of
from tests.support.amount import programs
from tests.support.levels import Case, check_levels
from tests.support.random_programs import random_program
from tests.support.random_schedules import with_random_steps
from weft import f32, i32, u8

Build = Callable[[ScheduleBuilder], object]


@weft.kernel
def axpy(a: f32, x: f32[1000], y: f32[1000]):
    for i in range(1000):
        y[i] += a * x[i]


@weft.kernel
def blur(src: u8[20, 44], dst: u8[20, 44]):
    for i in range(1, 19):
        for j in range(1, 43):
            dst[i, j] = (src[i, j - 1] + 2 * src[i, j] + src[i, j + 1]) >> 2


@weft.kernel
def product(A: i32[16, 12], B: i32[12, 24], C: i32[16, 24]):
    for i in range(16):
        for j in range(24):
            for k in range(12):
                C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def in_place(A: i32[20, 16]):
    for i in range(1, 20):
        for j in range(16):
            A[i, j] += A[i - 1, j]


@weft.kernel
def corner(A: i32[12, 16], n: i32):
    for i in range(12):
        for j in range(i, 16):
            A[i, j] = A[i, j] * n + j


@weft.kernel
def turned(y: i32[64]):
    t: i32[64]
    for i in range(64):
        t[i] = y[63 - i]
    for i in range(64):
        y[i] = t[i]


@weft.kernel
def ahead(x: i32[72], y: i32[72], z: i32[72]):
    for i in range(8):
        for j in range(8):
            z[8 * i + j] = y[8 * i + j + 8]
        for j in range(8):
            y[8 * i + j] = x[8 * i + j]


@weft.kernel
def turned_between(y: i32[64]):
    t: i32[64]
    u: i32[64]
    for i in range(64):
        t[i] = y[i]
    for i in range(64):
        u[i] = t[63 - i]
    for i in range(64):
        y[i] = u[i]


@weft.kernel
def handed_on(a: i32, y: i32[64]):
    t: i32[64]
    u: i32[64]
    for i in range(64):
        t[i] = y[i]
    for i in range(64):
        u[i] = a * t[i]
    for i in range(64):
        y[i] = u[i]


def pointers(*arrays: str, bits: int = 0) -> Build:
    """Arrays outside, each read by a pointer of its own."""

    def build(s: ScheduleBuilder) -> None:
        for array in arrays:
            s.interface(array, "m_axi", f"g_{array}", reads=f"g_{array}")
            if bits:
                s.pack(array, bits)

    return build


def tiled(loop: str, factor: int, *arrays: str) -> Build:
    def build(s: ScheduleBuilder) -> None:
        s.tile([loop], [factor], tail="guard")
        for array in arrays:
            s.buffer(array, f"{loop}_0", apart=True)

    return build


def region(*groups: list[str], at: str = "") -> Build:
    return lambda s: s.dataflow(list(groups), at=at)


def axpy_tiles(s: ScheduleBuilder) -> None:
    s.interface("x", "m_axi", "g_x").pack("x", 128)
    both(pointers("y", bits=128), tiled("i", 96, "y"))(s)
    s.buffer("x", "i_0")


OVERLAPPED = both(axpy_tiles, region(["take_y", "S0"], at="i_0"))
SOUND: list[tuple[weft.Kernel, Build]] = [
    (axpy, OVERLAPPED),
    (blur, both(pointers("dst", bits=32), tiled("i", 5, "dst"))),
    (blur, both(pointers("dst", bits=32), tiled("i", 6, "dst"), lambda s: s.buffer("src", "i_0"),
                region(["load_dst", "load_dst_2"], ["take_dst", "take_dst_2", "S0"], at="i_0"))),
    (product, both(pointers("C"), tiled("i", 4, "C"), region(["take_C", "S0"], at="i_0"))),
    (product, both(pointers("C", bits=64), tiled("j", 8, "C"))),
    (corner, both(pointers("A", bits=128), tiled("i", 5, "A"))),
    (corner, both(pointers("A"), tiled("i", 3, "A"), region(["take_A", "S0"], at="i_0"))),
    (turned, both(pointers("y"), region())),
    (handed_on, both(pointers("y"), region(), lambda s: s.stream("t").stream("u"))),
]  # fmt: skip


@cache
def verified() -> list[VerifyResult]:
    """All of them: g++ compiles once what they share."""
    return results_of(SOUND)


@pytest.mark.parametrize("number", range(len(SOUND)))
def test_it_means_the_same(number: int) -> None:
    kernel, build = SOUND[number]
    schedule = schedule_of(build)
    assert verified()[number].ok, verified()[number]
    assert weft.equivalence(kernel, schedule).verdict == "proven"


def test_a_stream_from_a_process_that_waited_is_enough() -> None:
    begun = both(pointers("y"), region())
    apply(turned_between.program, schedule_of(both(begun, lambda s: s.stream("u"))))
    apply(turned_between.program, schedule_of(begun))


def test_the_function_takes_the_array_again_to_read_it() -> None:
    design = weft.compile(axpy, schedule_of(OVERLAPPED))
    assert "weft::word<float, 4> y[250],\n" in design.hls_cpp
    assert "const weft::word<float, 4> y_in[250]) {" in design.hls_cpp
    assert (
        "static void axpy_load_y(const weft::word<float, 4> y_in[250], float y_buf_in[96]"
        in design.hls_cpp
    )
    assert (
        "static void axpy_store_y(weft::word<float, 4> y[250], const float y_buf[96]"
        in design.hls_cpp
    )
    assert (
        "#pragma HLS interface mode=m_axi port=y_in bundle=g_y offset=slave depth=250"
        in design.hls_cpp
    )
    assert "#pragma HLS interface mode=s_axilite port=y_in\n" in design.hls_cpp
    assert [a.name for a in design.hls.arguments] == ["a", "x", "y"]
    assert [(a.name, a.cpp, a.of) for a in design.hls.behind] == [("y", "y_in", "y")]


def test_a_tile_whose_edges_alone_are_kept_starts_with_these() -> None:
    text = pretty(apply(blur.program, schedule_of(SOUND[2][1])).scop.program)
    assert "dst_buf_in: u8[6, 4]" in text
    assert "dst_buf_in_2: u8[6, 4]" in text
    assert "dst_buf: u8[6, 44]" in text


def test_the_model_overlaps_copying_with_work() -> None:
    in_turn = weft.estimate(axpy, schedule_of(axpy_tiles), device="xcu280")
    at_once = weft.estimate(axpy, schedule_of(OVERLAPPED), device="xcu280")
    assert at_once.latency.average < 0.8 * in_turn.latency.average
    design = weft.compile(axpy, schedule_of(OVERLAPPED))
    kernel = kernel_of_module(design.module)
    assert kernel == kernel_of_tree(design.tree)
    there = next(m for m in kernel.memories if m.name == "y")
    assert there.port is not None
    assert (there.port.bundle, there.port.reads) == ("g_y", "g_y")


def test_most_processes_of_a_tile_are_its_copies_and_its_work() -> None:
    state = begun(axpy.program, schedule_of(axpy_tiles))
    step = Buffer("x", "i_0")
    uid = find_loop(state, "i_0", step)
    assert most_processes(state, uid) == (
        ("load_x",), ("load_y",), ("take_y", "S0"), ("store_y",),
    )  # fmt: skip


REFUSED: list[tuple[weft.Kernel, Build, str, str]] = [
    (in_place, both(pointers("A"), tiled("i", 4, "A")), "W231", "load_A reads what store_A wrote"),
    (product, both(pointers("C"), lambda s: s.tile(["k"], [4]).reorder(["k_0", "i"]).buffer("C", "k_0", apart=True)),
     "W231", "load_C reads what store_C wrote"),
    (axpy, pointers("y"), "W231", "S0 read and write it in one body"),
    (axpy, pointers("x"), "W215", "'x' is not written: one pointer is enough"),
    (axpy, lambda s: s.interface("y", "m_axi", reads="1"), "W215", "'1' is no bundle name"),
    (axpy, lambda s: s.interface("y", "ap_memory", reads="g"), "W215", "reads is an option of m_axi"),
    (axpy, lambda s: s.interface("a", "m_axi", reads="g"), "W215", "m_axi"),
    (axpy, both(lambda s: s.interface("x", "m_axi", "g_y", width=64), pointers("y")), "W223", "share bundle 'g_y'"),
    (axpy, tiled("i", 8, "x"), "W229", "no copy of 'x' is copied in and out"),
    (blur, tiled("i", 5, "dst"), "W229", "no copy of 'dst' is copied in and out"),
    (turned, both(pointers("y"), region(), lambda s: s.stream("t")), "W231", "S1 may write y[0] before S0"),
    (ahead, both(pointers("y"), region(at="i")), "W231", "S1 may write y[8] before S0"),
    (axpy, both(lambda s: s.interface("y", "m_axi"), tiled("i", 8, "y"), region(["take_y", "S0"], at="i_0")),
     "W217", "'y' is in two processes"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "build", "code", "text"), REFUSED)
def test_refused(kernel: weft.Kernel, build: Build, code: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        weft.compile(kernel, schedule_of(build))
    assert caught.value.code == code
    assert text in caught.value.message
    assert caught.value.span is not None


def test_an_array_of_two_processes_is_told_of_the_second_pointer() -> None:
    with pytest.raises(ScheduleError) as caught:
        weft.compile(axpy, schedule_of(REFUSED[-1][1]))
    assert (
        caught.value.help
        == 'interface("y", "m_axi", ..., reads=BUNDLE) gives it a second pointer, for reads'
    )


@pytest.mark.slow
def test_random_programs_with_second_pointers_compute_the_same() -> None:
    cases = []
    for seed in programs(12):
        program, rng = random_program(seed), random.Random(seed)
        schedule = Schedule()
        for array in program.arguments:
            if (
                len(array.shape) > 0
                and (made := _apart(program, array.name, schedule, rng)) is not None
            ):
                schedule = made
        if not schedule.steps:
            continue
        schedule = with_random_steps(rng, program, schedule, 3)
        cases.append(Case(seed, program, schedule))
    assert len(cases) > 2
    failures = check_levels(cases)
    assert not failures, failures[0].report()


def _apart(
    program: weft.Program, array: str, schedule: Schedule, rng: random.Random
) -> Schedule | None:
    """The schedule with an array outside that is copied in and out apart, packed or not; None if that is refused."""
    bits = (
        getattr(program.array(array).dtype, "width", 0) if program.array(array).shape[-1] > 1 else 0
    )
    steps = [Interface(array, "m_axi", array)]
    if bits in (8, 16, 32, 64) and rng.random() < 0.6:
        steps.append(Pack(array, bits * rng.choice((2, 4))))
    state = begun(program, [*schedule, *steps])
    places = ["", *{f"{p.name}.{d.name}" for p in state.pieces for d in p.dims}]
    at = sorted(places)[rng.randrange(len(places))]
    try:
        state = begun(program, [*schedule, *steps, Buffer(array, at, apart=True)])
        if reads_again(state, array) is None:
            steps[0] = Interface(array, "m_axi", array, reads=array)
        found = schedule
        for step in (*steps, Buffer(array, at, apart=True)):
            found = found.then(step)
        apply(program, found)
    except ScheduleError:
        return None
    return found
