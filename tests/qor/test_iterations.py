"""Loops of C++ read as designs, and the laws that reports of such loops show of 2023.2."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import iterations
from benchmarks._cxx_loops import Reader
from benchmarks._cxx_names import Unsupported, names_of
from benchmarks._cxx_syntax import For, SyntaxProblem, routines_of
from dse.estimates.estimation import setting
from qor_gnn.design.region import Kernel, Loop, Statement, loops_in

COPY = """
void copy(float A[{rows}][{columns}], hls::stream<float4> &words, int row) {{
#pragma HLS array_partition variable=A cyclic factor={banks} dim=2
  for (int i = 0; i < {rows}; i++) {{
    for (int j = 0; j < {columns}; j += {step}) {{
#pragma HLS pipeline II = 1
      float4 word = words.read();
      A[i][j] = word[0];
      A[i][j + 1] = word[1];
      A[i][j + 2] = word[2];
      A[i][j + 3] = word[3];
    }}
  }}
}}
"""
SUM = """
void total(float x[8], float A[8][64], float y[64]) {
#pragma HLS array_partition variable=x complete dim=1
#pragma HLS array_partition variable=A complete dim=1
  for (int j = 0; j < 64; j++) {
#pragma HLS pipeline II=%s
    for (int i = 0; i < 8; i++) {
#pragma HLS unroll
      x[i] += A[i][j] * y[j];
    }
  }
}
"""


def read(text: str) -> Kernel:
    routines = routines_of(text)
    (nest,) = (node for node in routines[-1].body if isinstance(node, For))
    return Reader(routines[-1], names_of(routines)).kernel(nest, frozenset())


def answer(text: str, clock: float) -> tuple[float, float, tuple[tuple[str, int], ...]]:
    tool = setting(iterations.TOOL, iterations.DEVICE, clock).tool
    (nest,) = (n for n in routines_of(text)[-1].body if isinstance(n, For))
    loops = [nest, *(n for n in nest.body if isinstance(n, For))]
    pipelined = loops[-1] if "copy" in text else loops[0]
    row = iterations.answer(read(text), str(pipelined.line), tool)
    return row.depth, row.ii, row.units


def copy(rows: int, columns: int, banks: int, step: int = 4) -> str:
    return COPY.format(rows=rows, columns=columns, banks=banks, step=step)


def test_a_store_waits_for_the_remainder_that_tells_its_bank() -> None:
    # Counter j ends at 200: 8 bits, a divider of 8 + 4 stages, and the store behind it.
    assert answer(copy(40, 200, 20), 4.0)[:2] == (12, 1)
    assert answer(copy(40, 400, 20), 4.0)[:2] == (13, 1)


@pytest.mark.parametrize("banks", [1, 2, 4, 8, 16, 200])
def test_banks_in_powers_of_two_and_whole_dimensions_are_not_divided(banks: int) -> None:
    assert answer(copy(40, 200, banks), 4.0)[0] <= 3 + (4 // banks)


def test_a_loop_of_its_own_that_steps_by_one_counts_through_the_banks() -> None:
    single = """
void copy(float A[200], hls::stream<float> &words) {
#pragma HLS array_partition variable=A cyclic factor=%d
  for (int i = 0; i < 200; i += %d) {
#pragma HLS pipeline II=1
    A[i] = words.read();
  }
}
"""
    tool = setting(iterations.TOOL, iterations.DEVICE, 4.0).tool
    depths = {
        (banks, step): iterations.answer(read(single % (banks, step)), "4", tool).depth
        for banks in (20, 16)
        for step in (1, 3)
    }
    assert depths[20, 1] == depths[16, 1] == depths[16, 3]
    assert depths[20, 3] == 8 + 4


@pytest.mark.parametrize(
    ("clock", "asked", "interval", "core"),
    [(4.55, 2, 3, "fadd_fabric"), (4.0, 1, 4, "fadd_fabric"), (4.55, 4, 4, "fadd")],
)
def test_a_sum_in_a_register_has_the_adder_that_the_interval_wants(
    clock: float, asked: int, interval: int, core: str
) -> None:
    _, found, units = answer(SUM % asked, clock)
    assert found == interval
    assert core in dict(units)


@pytest.mark.parametrize(("asked", "core"), [("II=1", "fadd_fabric"), ("", "fadd")])
def test_a_sum_in_memory_has_it_too_where_an_interval_is_asked_for(asked: str, core: str) -> None:
    nest = """
void update(float b[8][8], float c[8]) {
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 80; k++) {
#pragma HLS pipeline %s
      b[i][0] += c[i];
    }
  }
}
"""
    routines = routines_of(nest % asked)
    (loop,) = (n for n in routines[-1].body if isinstance(n, For))
    tool = setting(iterations.TOOL, iterations.DEVICE, 4.0).tool
    inner = next(n for n in loop.body if isinstance(n, For))
    assert core in dict(iterations.answer(read(nest % asked), str(inner.line), tool).units)


LANES = """
void fill(float a%s, hls::stream<float4> &words) {
%s
  for (int i = 0; i < 8; i++) {
    float4 v = words.read();
    for (int k = 0; k < 4; k++) {
      a%s = v[k];
    }
  }
}
"""


@pytest.mark.parametrize(
    ("shape", "place", "asked", "loops"),
    [
        ("[32]", "[4 * i + k]", "", 2),
        ("[8][4]", "[i][k]", "", 2),
        ("[32]", "[4 * i + k]", "#pragma HLS array_partition variable=a cyclic factor=4 dim=1", 1),
    ],
)
def test_lanes_of_an_array_in_one_piece_stay_a_loop(
    shape: str, place: str, asked: str, loops: int
) -> None:
    """Allo's atax, bicg and mvt in reports of 2023.2: i and k are one loop."""
    (nest,) = read(LANES % (shape, asked, place)).functions[0].body
    assert isinstance(nest, Loop)
    assert 1 + len(loops_in(nest.body)) == loops


def test_a_number_without_a_suffix_is_a_double_unless_a_float_holds_it() -> None:
    text = "void f(float a[9]) {\n for (int i = 0; i < 9; i++) {\n  a[i] = a[i] * %s;\n }\n}\n"

    def product(number: str) -> str:
        (loop,) = read(text % number).functions[0].body
        assert isinstance(loop, Loop)
        (statement,) = loop.body
        assert isinstance(statement, Statement)
        return next(op.type for op in statement.ops if op.kind == "mul")

    assert [product(n) for n in ("1.2", "1.2f", "1.5")] == ["f64", "f32", "f32"]


def test_names_of_an_array_in_other_functions_share_its_partition() -> None:
    text = """
void inner(float a[8]) {
  for (int i = 0; i < 8; i++) {
    a[i] = 0.0;
  }
}
void outer(float b[8]) {
#pragma HLS array_partition variable=b cyclic factor=4 dim=1
  inner(b);
}
"""
    routines = routines_of(text)
    (nest,) = (n for n in routines[0].body if isinstance(n, For))
    kernel = Reader(routines[0], names_of(routines)).kernel(nest, frozenset())
    assert [s.factor for s in kernel.memory("a").splits] == [4]


def test_what_is_not_known_is_an_error_that_names_it() -> None:
    with pytest.raises(SyntaxProblem, match="line 2"):
        routines_of("void f(float a[2]) {\n  a[0] = ~1;\n}\n")
    called = "void f(float a[2]) {\n for (int i = 0; i < 2; i++) {\n  g(a);\n }\n}\n"
    with pytest.raises(Unsupported, match="a call of g"):
        read(called)


def test_without_reports_there_are_no_rows(tmp_path: Path, capsys) -> None:
    assert (
        iterations.main("", iterations.rows, iterations.add_options, ["--data", str(tmp_path)]) == 0
    )
    assert "left out" in capsys.readouterr().err
