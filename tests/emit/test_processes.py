"""A dataflow region in C++: a function a process, channels between them, the same results."""

import weft
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from tests.support.levels import Case, check_levels
from weft import f32, fixed


@weft.kernel
def mixed(n: f32, D: f32[2], A: f32[6, 8], v: f32[8], C: f32[6, 8], unused: f32[4]):
    """Scalars between processes, statements outside of loops, a remainder nest, own locals."""
    first: f32
    T: f32[6, 8]
    first = D[0] * n
    for i in range(6):
        row: f32[8]
        for j in range(8):
            row[j] = A[i, j] * v[j]
        for j in range(8):
            T[i, j] = row[j]
    for i, j in weft.grid(6, 8):
        C[i, j] = T[i, j] + first


def design(kernel, builder):
    return compile_design(kernel.program, builder.build())


def mixed_schedule():
    return ScheduleBuilder().split("S1.i", 4).split("S3.i", 4).dataflow().stream("T", depth=3)


def test_the_text_of_a_region():
    text = design(mixed, mixed_schedule()).hls_cpp
    top = text[text.index('extern "C"') :]
    lines = top.splitlines()
    assert lines[lines.index("#pragma HLS dataflow") :] == [
        "#pragma HLS dataflow",
        "  (void)unused;",
        "  float first;",
        "  float T[6][8];",
        "#pragma HLS stream variable=T type=fifo depth=3",
        "  mixed_S0(n, D, first);",
        "  mixed_S1(A, v, T);",
        "  mixed_S3(C, first, T);",
        "}",
    ]
    assert "static void mixed_S0(float n, const float D[2], float &first) {" in text
    assert "static void mixed_S3(float C[6][8], float first, const float T[6][8]) {" in text
    assert text.count("#pragma HLS inline off") == 3
    process = text[text.index("static void mixed_S1") : text.index("static void mixed_S3")]
    assert process.count("  float row[8];") == 1  # of the process, not of the region


def test_a_region_computes_what_the_kernel_says():
    schedules = [mixed_schedule().build(), ScheduleBuilder().dataflow([["S0", "S1"]]).build()]
    assert check_levels([Case(0, mixed.program, s) for s in schedules]) == []


def test_names_of_processes_are_new():
    @weft.kernel
    def k(k_S0: f32[4], A: fixed[8, 4][4]):
        for i in range(4):
            k_S0[i] = 1.0
        for i in range(4):
            A[i] = 0.5

    text = design(k, ScheduleBuilder().dataflow()).hls_cpp
    assert "static void k_S0_2(float k_S0[4]) {" in text
    assert "  k_S0_2(k_S0);" in text
