"""What is asked of loops beside intervals and copies: what of it is in the figures, and what they say of the rest."""

import pytest

import weft
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from weft import i32


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


@weft.kernel
def summed(x: i32[16, 8], y: i32[16]):
    for i in range(16):
        y[i] = x[i, 0] + x[i, 1] + x[i, 2] + x[i, 3] + x[i, 4] + x[i, 5] + x[i, 6] + x[i, 7]


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


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda s: s.pipeline("i", style="flp"), "style flp is not in the figures"),
        (lambda s: s.pipeline("i", style="frp"), "style frp is not in the figures"),
        (lambda s: s.pipeline("i", rewind=True), "the figures are of one call"),
        (lambda s: s.performance("i", 99), "to begin anew after 99 cycles is not in the figures"),
        (lambda s: s.unroll("i", 4, skip_exit_check=True), "the same with exit checks"),
    ],
)
def test_what_is_not_in_the_figures_is_said(build, text):
    builder = steps()
    build(builder)
    assert text in " ".join(weft.estimate(summed, builder.build()).directives)


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
