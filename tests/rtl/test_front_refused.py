"""What the RTL backend has no hardware for."""

import pytest

import weft
from dsl.errors.errors import ToolError
from tests.rtl.front_support import graph_of_kernel
from weft import f32, f64, i16


def test_wide_types_and_formats_without_operators_are_refused():
    @weft.kernel
    def double(x: f64[4]):
        for i in range(4):
            x[i] *= 2.0

    with pytest.raises(ToolError) as refused:
        graph_of_kernel(double)
    assert refused.value.render().splitlines() == [
        "error[W460]: the RTL backend has no hardware for 'x' of type f64",
        "help: it has integers and fixed point of up to 256 bits, and f32 with + - * / sqrt exp abs",
    ]


def test_functions_without_operators_are_refused_where_they_stand():
    @weft.kernel
    def logs(x: f32[4]):
        for i in range(4):
            x[i] = weft.log(x[i])

    with pytest.raises(ToolError) as refused:
        graph_of_kernel(logs)
    assert refused.value.code == "W460"
    assert "no hardware for math.log" in refused.value.message
    assert refused.value.span is not None


def test_too_many_copies_are_refused():
    @weft.kernel
    def many(x: i16[300, 300]):
        for i, j in weft.grid(300, 300):
            x[i, j] += 1

    @many.schedule
    def all_at_once(s):
        s.unroll("i")
        s.unroll("j")

    with pytest.raises(ToolError) as refused:
        graph_of_kernel(many, "all_at_once")
    assert refused.value.render().splitlines() == [
        "error[W461]: unrolling makes more than 20000 statements",
        "help: unroll by a smaller factor, or pipeline a loop further inside",
    ]


def roaming(copies: int):
    """Accesses of 128 banks at a stride that goes around them all."""

    @weft.kernel
    def around(x: i16[6912], y: i16[3200]):
        for i in weft.grid(3200):
            y[i] = x[i * 2 + i // 7]

    @around.schedule
    def wide(s):
        s.partition("x", 0, "cyclic", 128)
        s.split("i", copies)
        s.pipeline("i_0")
        s.unroll("i_1")

    return graph_of_kernel(around, "wide")


def test_a_crossbar_beyond_any_device_is_refused():
    assert roaming(50).body
    with pytest.raises(ToolError) as refused:
        roaming(160)
    assert refused.value.code == "W461"
    assert "accesses of x may go to any of its 128 banks" in refused.value.message
