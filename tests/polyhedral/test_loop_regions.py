"""Dataflow regions of loops: which bodies can be one, what is said of the others, what the loops become."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.describe import describe
from polyhedral.legality.loop_regions import loop_regions, most_processes, names_of
from polyhedral.looptree.tree import TreeGuard, TreeLoop
from polyhedral.schedule import apply, begun
from weft import f32, i32


@weft.kernel
def scale(A: f32[32, 16], B: f32[32, 16]):
    for i in range(32):
        for j in range(16):
            B[i, j] = 2.0 * A[i, j] + 1.0


@weft.kernel
def gemm(A: f32[16, 16], B: f32[16, 16], C: f32[16, 16]):
    for i in range(16):
        for j in range(16):
            for k in range(16):
                C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def rows(A: i32[9, 8], B: i32[9, 8]):
    for i in range(9):
        t: i32[8]
        u: i32[8]
        for j in range(8):
            t[j] = A[i, j] * 3
        for j in range(8):
            u[j] = t[7 - j]
        for j in range(8):
            B[i, j] = u[j] + t[j]


@weft.kernel
def carried(A: i32[9, 8], B: i32[9, 8], u: i32[8]):
    for i in range(9):
        t: i32[8]
        for j in range(8):
            t[j] = A[i, j] + u[j]
        for j in range(8):
            u[j] = t[7 - j]
        for j in range(8):
            B[i, j] = u[j]


@weft.kernel
def triangle(A: i32[9, 9], B: i32[9, 9]):
    for i in range(9):
        for k in range(i):
            t: i32[9]
            for j in range(9):
                t[j] = A[k, j]
            for j in range(9):
                B[i, j] += t[j]


def in_tiles(s: ScheduleBuilder, size: int = 4) -> None:
    s.split("i", size, tail="guard")
    s.buffer("B", at="i_0", name="b")
    s.buffer("A", at="i_0", name="a")


def schedule(kernel, *build):
    s = ScheduleBuilder()
    for step in build:
        step(s)
    return kernel.program, s.build()


def refusal(kernel, *build):
    with pytest.raises(ScheduleError) as caught:
        apply(*schedule(kernel, *build))
    return caught.value.code, caught.value.render()


def test_a_tile_is_read_worked_on_and_written_in_three_processes():
    state = apply(*schedule(scale, in_tiles, lambda s: s.dataflow(at="i_0")))
    (region,) = loop_regions(state)
    assert names_of(region.processes) == (("load_A",), ("S0",), ("store_B",))
    (loop,) = loop_tree(state).body
    assert isinstance(loop, TreeLoop)
    assert loop.processes == (("load_A",), ("S0",), ("store_B",))
    assert "loop     i_0 (dataflow)" in describe(state)


def test_guards_of_a_border_are_each_of_one_process():
    """Seven tiles of five rows: the last has two."""
    state = apply(*schedule(scale, lambda s: in_tiles(s, 5), lambda s: s.dataflow(at="i_0")))
    (loop,) = loop_tree(state).body
    names = {name: n for n, one in enumerate(loop.processes) for name in one}
    for node in loop.body:
        inside = [x.stmt.name for x, _ in _walk((node,)) if hasattr(x, "stmt")]
        assert len({names[name] for name in inside}) == 1


def _walk(nodes):
    for node in nodes:
        yield node, ()
        if isinstance(node, TreeLoop | TreeGuard):
            yield from _walk(node.body)


@weft.kernel
def bordered(A: i32[64], B: i32[64], C: i32[8]):
    for i in range(8):
        t: i32[8]
        for j in range(8):
            t[j] = A[8 * i + j]
        if i == 7:
            for j in range(8):
                t[j] += C[j]
        for j in range(8):
            B[8 * i + j] = t[7 - j]


def test_what_a_process_does_may_be_of_one_iteration():
    built = lambda s: s.dataflow([["S0", "S1"]], at="i")  # noqa: E731
    text = weft.compile(bordered, schedule(bordered, built)[1]).hls_cpp
    assert "bordered_S0(A, C, t, i);" in text.partition("#pragma HLS dataflow")[2]


def test_what_two_processes_share_but_an_iteration_has_not_is_refused():
    code, text = refusal(
        gemm,
        lambda s: s.tile(["i", "j", "k"], [4, 4, 4]),
        lambda s: [s.buffer(x, at="k_0") for x in "ABC"],
        lambda s: s.dataflow(at="k_0"),
    )
    assert code == "W217"
    assert "'C' is in two processes, and is not of one iteration of 'k_0' alone" in text
    assert "leave dataflow out: only one process could be made of the loop's body" in text


def test_one_that_two_others_read_is_refused_with_what_would_do():
    code, text = refusal(rows, lambda s: s.dataflow(at="i"))
    assert code == "W217"
    assert "'t' is read by 2 processes that do not write it" in text
    assert 'dataflow(processes=[["S1", "S2"]], at="i")' in text
    named = lambda s: s.dataflow(processes=[["S1", "S2"]], at="i")  # noqa: E731
    (region,) = loop_regions(apply(*schedule(rows, named)))
    assert names_of(region.processes) == (("S0",), ("S1", "S2"))


def test_nothing_is_named_where_nothing_would_do():
    code, text = refusal(carried, lambda s: s.dataflow(at="i"))
    assert code == "W217"
    assert "leave dataflow out: only one process" in text
    state = apply(*schedule(carried))
    assert len(most_processes(state, state.pieces[0].dims[0].uid)) == 1


def test_a_group_makes_one_process_of_several():
    built = lambda s: s.dataflow(processes=[["load_A", "S0"]], at="i_0")  # noqa: E731
    state = apply(*schedule(scale, in_tiles, built))
    (region,) = loop_regions(state)
    assert names_of(region.processes) == (("load_A", "S0"), ("store_B",))


@pytest.mark.parametrize(
    ("kernel", "build", "code", "text"),
    [
        (gemm, lambda s: s.dataflow(at="j"), "W220", "there is one process (S0)"),
        (gemm, lambda s: s.dataflow(at="q"), "W201", "no loop is called 'q'"),
        (triangle, lambda s: s.dataflow(at="k"), "W220", "its trip count varies"),
        (
            scale,
            lambda s: [in_tiles(s), s.dataflow(processes=[["S9"]], at="i_0")],
            "W205",
            "no statement is called 'S9'",
        ),
        (
            scale,
            lambda s: [in_tiles(s, 32), s.dataflow(at="i_0")],
            "W220",
            "there is one iteration",
        ),
        (
            scale,
            lambda s: [in_tiles(s), s.dataflow(at="i_0"), s.pipeline("i_0")],
            "W220",
            "it is pipelined",
        ),
        (
            scale,
            lambda s: [in_tiles(s), s.dataflow(at="i_0"), s.unroll("i_0", 2)],
            "W220",
            "it is unrolled",
        ),
        (
            scale,
            lambda s: [in_tiles(s), s.dataflow(at="i_0"), s.split("i_0", 2)],
            "W214",
            "annotated already",
        ),
        (
            scale,
            lambda s: [
                in_tiles(s),
                s.dataflow(at="i_0"),
                s.dataflow(processes=[["load_A", "S0"]], at="i_0"),
            ],
            "W223",
            "asked for twice",
        ),
        (
            scale,
            lambda s: [
                in_tiles(s),
                s.dataflow(at="i_0"),
                s.fuse(["load_A", "S0"], 2),
                s.fuse(["S0", "store_B"], 2),
            ],
            "W220",
            "there is one process (load_A, S0, store_B)",
        ),
    ],
)
def test_refusals(kernel, build, code, text):
    found, said = refusal(kernel, build)
    assert found == code, said
    assert text in said


def test_most_processes_are_those_of_the_loop():
    state = begun(*schedule(scale, in_tiles))
    assert most_processes(state, state.pieces[0].dims[0].uid) == (
        ("load_A",),
        ("S0",),
        ("store_B",),
    )
