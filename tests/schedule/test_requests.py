"""What a step asks for is there at the end of the schedule, or the step is refused: no third way.

One table over all steps: borders, the same twice, what contradicts, what is not there.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.kernels.loader import load
from dsl.schedules.schedule import ScheduleBuilder
from dsl.schedules.steps import STEPS
from tests.schedule.refused import REFUSED, Build
from weft import f32, i32


@weft.kernel
def stages(A: f32[8, 6], B: f32[8, 6], C: f32[8, 6], y: f32[8], a: f32):
    T: f32[8, 6]
    for i in range(8):
        for j in range(6):
            T[i, j] = A[i, j] * a  # S0
    for i in range(8):
        for j in range(6):
            B[i, j] = T[i, j] + 1.0  # S1
    for i in range(8):
        y[i] = 0.0  # S2
        for j in range(6):
            y[i] += C[i, j]  # S3


def compiled(build: Build) -> str:
    builder = ScheduleBuilder()
    build(builder)
    return weft.compile(stages, builder.build()).hls_cpp


def refused(build: Build) -> ScheduleError:
    with pytest.raises(ScheduleError) as caught:
        compiled(build)
    assert caught.value.span is not None
    return caught.value


# What acts, and what then stands in the C++.
ACTS: list[tuple[str, Build, str]] = [
    ("interchange", lambda s: s.interchange("S0.i", "S0.j"), "int j = 0; j < 6; ++j) {\n  i"),
    ("reorder", lambda s: s.reorder(["S0.j", "S0.i"]), "int j = 0; j < 6; ++j) {\n  i"),
    ("split", lambda s: s.split("S0.i", 4), "T[4 * i_0 + i_1][j]"),
    ("split, by 1", lambda s: s.split("S0.i", 1), "i_0 < 8"),
    ("split, beyond the end", lambda s: s.split("S0.i", 100), "T[i_1][j]"),
    ("join", lambda s: s.join("S0.i", "S0.j"), "j < 48"),
    ("peel", lambda s: s.peel("S0.j", 2, "end"), "= 4; "),
    ("separate", lambda s: s.peel("S0.j", 2).separate(), "S0_2"),
    ("align", lambda s: s.align(["S1"], ["j"]), "for (int j = 0; j < 6; ++j) {\n  i_2"),
    ("tile", lambda s: s.tile(["S0.i", "S0.j"], [4, 3]), "T[4 * i_0 + i_1][3 * j_0 + j_1]"),
    ("skew", lambda s: s.skew("S0.i", "S0.j", 1), "T[i][j - i]"),
    ("reverse", lambda s: s.reverse("S0.i"), "T[7 - i][j]"),
    ("shift", lambda s: s.distribute(["S3"]).shift("S2", "S2.i", 1), "y[i - 1] = 0"),
    ("fuse", lambda s: s.fuse(["S0", "S1"], 2), "* a;\n      // S1"),
    ("distribute", lambda s: s.distribute(["S3"]), "i_4"),
    ("partial_sums", lambda s: s.partial_sums("S3", "S3.j", 2), "y_part"),
    ("tree", lambda s: s.tree("S3", "S3.j"), "y_tree"),
    ("scan", lambda s: s.scan("S3", "S3.j", 2), "y_scan"),
    ("replicate", lambda s: s.replicate("A", "S0.j", 2), "A_copies[2][8][6]"),
    ("mirror", lambda s: s.mirror("T", "T[i, j]"), "T_mirror[i][j] = T[i][j]"),
    ("carry", lambda s: s.carry("y", "S3.j"), "y_carry"),
    ("versions", lambda s: s.versions("y", "S3.i"), "y_versions[i + 1][i] = 0"),
    ("unroll", lambda s: s.unroll("S0.j"), "#pragma HLS unroll\n"),
    ("unroll, by all", lambda s: s.unroll("S0.j", 6), "#pragma HLS unroll\n"),
    ("unroll, by more", lambda s: s.unroll("S0.j", 100), "#pragma HLS unroll\n"),
    ("unroll, twice", lambda s: s.unroll("S0.j", 2).unroll("S0.j", 2), "unroll factor=2"),
    ("unroll, in rests", lambda s: s.unroll("S0.i", 3).unroll("S0.i", 3), "unroll factor=3"),
    ("pipeline", lambda s: s.pipeline("S0.j", 3), "#pragma HLS pipeline II=3"),
    ("pipeline, twice", lambda s: s.pipeline("S0.j", 3).pipeline("S0.j", 3), "pipeline II=3"),
    ("pipeline of copies", lambda s: s.unroll("S0.j", 2).pipeline("S0.j"), "unroll factor=2"),
    ("pipeline of unrolled", lambda s: s.unroll("S0.j").pipeline("S0.i"), "pipeline II=1"),
    (
        "pipeline, function",
        lambda s: s.pipeline("return", 8, "flp").pipeline("return", 8, "flp"),
        "#pragma HLS pipeline II=8 style=flp\n  float T",
    ),
    ("pipeline, style", lambda s: s.pipeline("S0.j", style="flp"), "pipeline II=1 style=flp\n"),
    (
        "pipeline, rewind",
        lambda s: s.dataflow().pipeline("S0.j", 2, rewind=True),
        "pipeline II=2 rewind\n",
    ),
    ("pipeline, free", lambda s: s.pipeline("S0.j", style="frp"), "style=frp\n"),
    (
        "unroll, no exit check",
        lambda s: s.unroll("S0.j", 3, skip_exit_check=True),
        "unroll factor=3 skip_exit_check\n",
    ),
    ("latency", lambda s: s.latency("S0.j", 3, 9), "#pragma HLS latency min=3 max=9\n"),
    ("latency, most", lambda s: s.latency("S0.i", max=9), "#pragma HLS latency max=9\n"),
    (
        "latency, one iteration",
        lambda s: s.split("S0.i", 8).latency("i_0", 3).pipeline("i_1"),
        "#pragma HLS latency min=3\n",
    ),
    ("performance", lambda s: s.performance("S0.i", 40), "performance target_ti=40\n"),
    ("unbalanced", lambda s: s.unbalanced("S3.j"), "#pragma HLS expression_balance off\n"),
    (
        "allocation",
        lambda s: s.allocation("S3.i", "fadd", 2),
        "allocation operation instances=fadd limit=2\n",
    ),
    ("stable", lambda s: s.dataflow().stable("C"), "#pragma HLS stable variable=C\n"),
    ("stable, scalar", lambda s: s.dataflow().stable("a"), "#pragma HLS stable variable=a\n"),
    (
        "cache",
        lambda s: s.interface("A", "m_axi", "g").cache("A", 4, 16),
        "#pragma HLS cache port=A lines=4 depth=16\n",
    ),
    (
        "cache, of the tool",
        lambda s: s.interface("A", "m_axi", "g").cache("A"),
        "#pragma HLS cache port=A lines=1\n",
    ),
    ("sequential", lambda s: s.sequential("S0.j"), "#pragma HLS pipeline off\n"),
    ("flatten", lambda s: s.flatten("S0.j"), "#pragma HLS loop_flatten\n"),
    ("flatten, not", lambda s: s.flatten("S3.j", enabled=False), "#pragma HLS loop_flatten off"),
    ("partition", lambda s: s.partition("A", 0, "cyclic", 2), "type=cyclic factor=2 dim=1"),
    ("partition, all", lambda s: s.partition("A", 0, "complete"), "type=complete dim=1"),
    (
        "partition, twice",
        lambda s: s.partition("A", 0, "complete").partition("A", 0, "complete", 8),
        "type=complete dim=1",
    ),
    (
        "auto_partition",
        lambda s: s.unroll("S0.j", 3).auto_partition("A"),
        "array_partition variable=A type=cyclic factor=3 dim=2",
    ),
    (
        "auto_partition, all",
        lambda s: s.unroll("S0.j").auto_partition("T"),
        "array_partition variable=T type=complete dim=2",
    ),
    (
        "partition, two dimensions",
        lambda s: s.partition("A", 0, "block", 2).partition("A", 1, "cyclic", 3),
        "type=block factor=2 dim=1",
    ),
    ("reshape", lambda s: s.reshape("A", 1, "cyclic", 2), "array_reshape variable=A type=cyclic"),
    ("reshape, all", lambda s: s.reshape("T", 1, "complete"), "variable=T type=complete dim=2"),
    (
        "reshape, and partition",
        lambda s: s.partition("A", 0, "block", 2).reshape("A", 1, "cyclic", 3),
        "array_partition variable=A type=block factor=2 dim=1\n#pragma HLS array_reshape",
    ),
    (
        "buffer",
        lambda s: s.buffer("A", "S0.i", "row"),
        "row[0][load_A_1] = A[i][load_A_1]",
    ),
    ("bind_storage", lambda s: s.bind_storage("T", "ram_2p", "bram", 2), "impl=bram latency=2"),
    ("bind_storage, argument", lambda s: s.bind_storage("A", "rom_2p"), "storage_type=rom_2p"),
    ("bind_op", lambda s: s.bind_op("S0", "fmul", "maxdsp", 4), "op=fmul impl=maxdsp latency=4"),
    ("interface", lambda s: s.interface("A", "m_axi", "g"), "mode=m_axi port=A bundle=g"),
    ("pack", lambda s: s.interface("A", "m_axi").pack("A", 64).buffer("A"), "A_word = A[load"),
    ("interface, scalar", lambda s: s.interface("a", "s_axilite"), "mode=s_axilite port=a"),
    ("interface, in order", lambda s: s.interface("A", "axis"), "mode=axis port=A"),
    (
        "interface, registers",
        lambda s: s.interface("y", "ap_vld").partition("y", 0, "complete"),
        "mode=ap_vld port=y",
    ),
    ("dataflow", lambda s: s.dataflow(), "#pragma HLS dataflow"),
    ("dataflow, groups", lambda s: s.dataflow([["S0", "S1"]]), "#pragma HLS dataflow"),
    (
        "dataflow, distributed",
        lambda s: s.fuse(["S0", "S1"], 1).distribute(["S1"]).dataflow([["S0"], ["S1"]]),
        "#pragma HLS dataflow",
    ),
    ("stream", lambda s: s.dataflow().stream("T", 3), "stream variable=T type=fifo depth=3"),
    (
        "stream, its memory",
        lambda s: s.dataflow().stream("T", 3).bind_storage("T", "fifo", "srl"),
        "type=fifo impl=srl",
    ),
]

# What asks for what there is: the design stays as it was.
HOLDS: list[tuple[str, Build]] = [
    ("reorder, as it is", lambda s: s.reorder(["S0.i", "S0.j"])),
    ("skew by nothing", lambda s: s.skew("S0.i", "S0.j", 0)),
    ("shift by nothing", lambda s: s.shift("S0", "S0.i", 0)),
    ("reverse and back", lambda s: s.reverse("S0.i").reverse("S0.i")),
    ("one copy", lambda s: s.unroll("S0.j", 1)),
    ("one element a word", lambda s: s.reshape("A", 0, "cyclic", 1)),
    ("one memory", lambda s: s.partition("A", 0, "cyclic", 1)),
    ("no copies to tell apart", lambda s: s.auto_partition("A").auto_partition("A")),
    ("an order that is free", lambda s: s.reassociate("S3").reassociate("S3")),
]


def test_the_table_has_every_step() -> None:
    def kinds(builds: list[Build]) -> set[str]:
        found = set()
        for build in builds:
            builder = ScheduleBuilder()
            with contextlib.suppress(ScheduleError):  # of a word that there is not
                build(builder)
            found |= {step.kind for step in builder.build()}
        return found

    acting = kinds([row[1] for row in ACTS])
    # Of what others may do, of locals in loops, of what is read again, of choices: test_expand.py, test_reuse.py,
    # test_locate.py; of what comes from earlier iterations: test_critical_last.py; of flattened loops: test_ranges.py;
    # of what nothing reads: test_trim.py; of pivots: test_pivot.py; of rescaled sums: test_two_pass.py; of two statements: test_unite.py;
    # of several ports: test_spread.py; of divisors: test_reciprocal.py, test_strength_reduce.py;
    # of conditions: test_if_convert.py; of loops that end early: test_leave.py.
    words = "spread reassociate expand reuse locate critical_last unflatten trim pivot two_pass"
    apart = {*words.split(), "unite", "reciprocal", "strength_reduce", "if_convert", "leave"}
    assert acting | apart == set(STEPS)
    assert kinds([row[0] for row in REFUSED]) == set(STEPS) - {"reverse"}  # of any loop


@pytest.mark.parametrize(("name", "build", "text"), ACTS, ids=[row[0] for row in ACTS])
def test_what_is_asked_for_is_there(name: str, build: Build, text: str) -> None:
    assert text in compiled(build)
    assert text not in compiled(lambda s: s)


@pytest.mark.parametrize(("name", "build"), HOLDS, ids=[row[0] for row in HOLDS])
def test_what_is_there_already_stays(name: str, build: Build) -> None:
    assert compiled(build) == compiled(lambda s: s)


@pytest.mark.parametrize(("build", "code", "text"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_is_refused(build: Build, code: str, text: str) -> None:
    error = refused(build)
    assert error.code == code
    assert text in error.render()


def test_the_text_of_a_contradiction() -> None:
    text = refused(lambda s: s.pipeline("S0.j", 2).pipeline("S0.j", 4)).render()
    assert "error[W223]: the pipeline of 'S0.j' is asked for twice, in two ways" in text
    assert "an interval of 2 came first" in text
    assert "help: leave one of the two out" in text


def test_the_text_of_an_operator_that_is_not_there() -> None:
    text = refused(lambda s: s.bind_op("S3", "fmul", "fabric")).render()
    assert "error[W224]: S3 has no operator fmul" in text
    assert "S3: y[i] += C[i, j]" in text
    assert "help: its operators are fadd" in text


def test_the_text_of_a_loop_that_is_not_flattened() -> None:
    @weft.kernel
    def triangle(A: f32[6, 6]):
        for i in range(6):
            for j in range(i):
                A[i, j] = 0.0

    builder = ScheduleBuilder()
    builder.flatten("j")
    with pytest.raises(ScheduleError) as caught:
        weft.compile(triangle, builder.build())
    text = caught.value.render()
    assert "error[W225]: 'j' cannot be flattened: its trip count varies" in text
    assert "help: a loop becomes one with the loop around it where nothing else is in that" in text


def test_the_text_of_processes_of_one_loop() -> None:
    text = refused(lambda s: s.dataflow([["S2"], ["S3"]])).render()
    assert "error[W226]: S2 and S3 are of one nest, so they are no processes of their own" in text
    distributed = compiled(lambda s: s.distribute(["S3"]).dataflow([["S2", "S3"], ["S0"]]))
    assert "#pragma HLS dataflow" in distributed


@pytest.mark.parametrize(
    ("dtype", "value", "op"),
    [
        ("f32", "a[i] * b[i] + a[i]", "fmul"),
        ("f32", "a[i] * b[i] + a[i]", "fadd"),
        ("f32", "a[i] - b[i] * b[i]", "fsub"),
        ("f64", "a[i] / b[i]", "ddiv"),
        ("f64", "weft.sqrt(a[i])", "dsqrt"),
        ("f32", "weft.exp(a[i])", "fexp"),
        ("f16", "a[i] * b[i]", "hmul"),
        ("i32", "a[i] * b[i] - a[i]", "mul"),
        ("i32", "a[i] * 3 + i", "mul"),
        ("i32", "-a[i]", "sub"),
        ("i32", "a[i] + b[i] if a[i] > 0 else 0", "add"),
        ("fixed[12, 4]", "a[i] * b[i] + a[i]", "mul"),
        ("fixed[12, 4]", "a[i] * b[i] + a[i]", "add"),
    ],
)
def test_an_operator_that_is_there_is_bound(
    dtype: str, value: str, op: str, tmp_path: Path
) -> None:
    source = tmp_path / "one.py"
    source.write_text(
        f"import weft\nfrom weft import f16, f32, f64, fixed, i32\nT = {dtype}\n\n\n"
        f"@weft.kernel\ndef one(a: T[8], b: T[8], c: T[8]):\n"
        f"    for i in range(8):\n        c[i] = {value}\n"
    )
    kernel = load(str(source))
    builder = ScheduleBuilder()
    builder.bind_op("S0", op, "fabric")
    assert f"op={op} impl=fabric" in weft.compile(kernel, builder.build()).hls_cpp


def test_an_integer_kernel_has_no_operators_of_floats() -> None:
    @weft.kernel
    def whole(a: i32[8], b: i32[8]):
        for i in range(8):
            b[i] = a[i] // 3 + (a[i] & 5)

    builder = ScheduleBuilder()
    builder.bind_op("S0", "fadd")
    with pytest.raises(ScheduleError) as caught:
        weft.compile(whole, builder.build())
    assert caught.value.help == "its operators are add"


@pytest.mark.parametrize(
    ("groups", "help_"),
    [
        ([["S0", "S1", "S2"]], "leave statements out of the group: their nests are processes"),
        ([], 'distribute(["S1"]) first makes another nest, or leave it out'),
    ],
)
def test_the_text_of_a_single_process(groups: list[list[str]], help_: str) -> None:
    @weft.kernel
    def single(A: f32[8], B: f32[8], C: f32[8]):
        for i in range(8):
            B[i] = A[i]
            C[i] = A[i] + 1.0

    kernel = stages if groups else single
    builder = ScheduleBuilder()
    builder.dataflow(groups)
    with pytest.raises(ScheduleError) as caught:
        weft.compile(kernel, builder.build())
    text = caught.value.render()
    assert "error[W226]: there is one process, and nothing that it could run beside" in text
    assert help_ in text
