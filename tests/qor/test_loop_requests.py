"""What is asked of loops beside intervals and copies: what of it is in the figures, and what they say of the rest."""

import pytest

import weft
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from weft import f32, i32, i64


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


@weft.kernel
def summed(x: i64[16, 10], y: i64[16]):
    for i in range(16):
        y[i] = (
            x[i, 0] + x[i, 1] + x[i, 2] + x[i, 3] + x[i, 4]
            + x[i, 5] + x[i, 6] + x[i, 7] + x[i, 8] + x[i, 9]
        )  # fmt: skip


@weft.kernel
def stairs(A: i32[24, 24], x: i32[24]):
    for i in range(6):
        for j in range(4 * i, 24):
            A[i, j] = x[j]


PIPE = steps().pipeline("i").partition("x", 1, "complete")


def found(kernel, schedule: Schedule, tool: str = "vitis-2022.1"):
    design = weft.compile(kernel, schedule)
    assert kernel_of_module(design.module) == kernel_of_tree(design.tree)
    assert Schedule.from_json(schedule.to_json()) == schedule
    return weft.estimate(kernel, schedule, tool=tool)


@pytest.mark.parametrize("tool", ["vitis-2022.1", "vitis-2025.1"])
def test_an_iteration_takes_the_cycles_that_it_is_to_take(tool):
    plain = found(summed, PIPE.build(), tool)
    slow = found(summed, PIPE.build().then(*steps().latency("i", 20).build()), tool)
    assert slow.loops[0].depth == 20
    assert slow.latency.average - plain.latency.average == 20 - plain.loops[0].depth
    one = found(summed, steps().sequential("i").latency("i", 50).build(), tool)
    assert one.latency.average >= 16 * 50


def test_an_iteration_that_is_longer_than_it_is_to_be_is_told():
    said = weft.estimate(summed, PIPE.build().then(*steps().latency("i", max=1).build()))
    assert any("more than 1" in text for text in said.directives)


def test_sums_in_order_are_a_chain():
    plain = found(summed, PIPE.build())
    chain = found(summed, PIPE.build().then(*steps().unbalanced("i").build()))
    assert chain.loops[0].depth > plain.loops[0].depth
    assert "more than" not in " ".join(chain.directives)


@weft.kernel
def product(x: f32[64, 8], y: f32[64, 8], z: f32[64]):
    for i in range(64):
        z[i] = 0.0
        for j in range(8):
            z[i] += x[i, j] * y[i, j]


BANKS = steps().partition("x", 1, "complete").partition("y", 1, "complete").build()


def test_units_that_there_are_not_are_waited_for():
    pipe = steps().pipeline("i").build().then(*BANKS)
    few = steps().allocation("i", "fmul", 2).allocation("i", "fadd", 4).build()
    all_, limited = found(product, pipe), found(product, pipe.then(*few))
    assert [loop.ii for loop in all_.loops] == [1]
    assert [loop.ii for loop in limited.loops] == [4]
    assert dict(limited.units)["fmul"] <= 2
    assert dict(limited.units)["fadd"] <= 4
    assert "2 units of fmul for 8 operations" in " ".join(limited.directives)


def test_units_of_a_sequential_loop_are_waited_for_and_loops_around_limit_them():
    one = steps().unroll("j").sequential("i").build().then(*BANKS)
    few = one.then(*steps().allocation("i", "fmul", 1).build())
    assert dict(found(product, one).units)["fmul"] > 1
    assert dict(found(product, few).units)["fmul"] == 1
    assert found(product, few).latency.average >= found(product, one).latency.average
    inner = steps().unroll("j", 4).pipeline("j").build().then(*BANKS)
    around = inner.then(*steps().allocation("i", "fmul", 1).build())
    assert dict(found(product, around).units)["fmul"] == 1


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda s: s.pipeline("i", style="flp"), "style flp is not in the figures"),
        (lambda s: s.pipeline("i", style="frp"), "style frp is not in the figures"),
        (lambda s: s.pipeline("i", rewind=True), "the figures are of one call"),
        (
            lambda s: s.interface("x", "m_axi").cache("x", 4, 16),
            "no burst is inferred for x behind a cache",
        ),
        (lambda s: s.performance("i", 99), "to begin anew after 99 cycles is not in the figures"),
        (lambda s: s.unroll("i", 4, skip_exit_check=True), "the same with exit checks"),
    ],
)
def test_what_is_not_in_the_figures_is_said(build, text):
    builder = steps()
    build(builder)
    assert text in " ".join(weft.estimate(summed, builder.build()).directives)


def test_a_call_of_a_function_that_is_a_pipeline_waits_for_its_ports():
    @weft.kernel
    def filtered(x: i32[8], h: i32[8], y: i32[1]):
        s: i32 = 0
        for k in range(8):
            s += x[k] * h[k]
        y[0] = s

    calls = steps().pipeline("return").build()
    banks = steps().partition("x", 0, "complete").partition("h", 0, "complete").build()
    assert [loop.ii for loop in found(filtered, calls, "vitis-2023.2").loops] == [4]
    assert [loop.ii for loop in found(filtered, calls.then(*banks), "vitis-2023.2").loops] == [1]
    plain = found(filtered, steps().unroll("k").build().then(*banks), "vitis-2023.2")
    assert (
        plain.latency.average
        <= found(filtered, calls.then(*banks), "vitis-2023.2").latency.average + 2
    )


def test_exit_checks_are_left_out_where_each_trip_count_has_a_proof():
    fours = steps().unroll("j", 4, skip_exit_check=True).build()
    text = weft.compile(stairs, fours).hls_cpp
    assert "#pragma HLS unroll factor=4 skip_exit_check\n" in text
    with pytest.raises(weft.ScheduleError, match="does not divide") as caught:
        weft.compile(stairs, steps().unroll("j", 8, skip_exit_check=True).build())
    assert caught.value.span is not None


def test_a_nest_that_is_a_whole_function_is_rewound():
    @weft.kernel
    def copied(A: i32[8, 8], B: i32[8, 8]):
        for i in range(8):
            for j in range(8):
                B[i, j] = A[i, j]

    @weft.kernel
    def added(A: i32[8, 8], B: i32[8, 8]):
        for i in range(8):
            for j in range(8):
                B[i, j] += A[i, j]

    rewound = steps().pipeline("j", rewind=True).build()
    assert "pipeline II=1 rewind\n" in weft.compile(copied, rewound).hls_cpp
    with pytest.raises(weft.ScheduleError, match="reads and writes 'B'"):
        weft.compile(added, rewound)
    with pytest.raises(weft.ScheduleError, match="varies"):
        weft.compile(stairs, rewound)
