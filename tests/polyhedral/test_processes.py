"""Dataflow regions: what processes can share, and which arrays can be streams."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.dataflow.deadlock import Deadlock
from polyhedral.dataflow.processes import Channel, SharedArray, channels, process_names
from polyhedral.dataflow.streams import CountWitness, NotAStream, OrderWitness
from polyhedral.describe import describe
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import ScheduledScop
from weft import f32


@weft.kernel
def copies(A: f32[8, 6], C: f32[8, 6]):
    B: f32[8, 6]
    for i, j in weft.grid(8, 6):
        B[i, j] = A[i, j]
    for i, j in weft.grid(8, 6):
        C[i, j] = B[i, j] + 1.0


@weft.kernel
def scaled(A: f32[8], C: f32[8]):
    for i in range(8):
        C[i] *= 2.0
    for i in range(8):
        C[i] += A[i]


@weft.kernel
def forked(A: f32[8], B: f32[8], C: f32[8]):
    t: f32[8]
    for i in range(8):
        t[i] = A[i]
    for i in range(8):
        B[i] = t[i]
    for i in range(8):
        C[i] = t[i]


@weft.kernel
def twice(A: f32[8], D: f32[8], B: f32[8]):
    t: f32[8]
    u: f32[8]
    for i in range(8):
        t[i] = A[i]
    for i in range(8):
        u[i] = D[i] * 2.0
    for i in range(8):
        B[i] = t[i] + u[i]


@weft.kernel
def triangle(A: f32[8], B: f32[8]):
    """Two ways from the first process to the last."""
    t: f32[8]
    u: f32[8]
    v: f32[8]
    for i in range(8):
        t[i] = A[i]
        u[i] = A[i]
    for i in range(8):
        v[i] = t[7 - i]
    for i in range(8):
        B[i] = u[i] + v[i]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def state(program: Program, builder: ScheduleBuilder) -> ScheduledScop:
    return apply(program, builder.build())


def refused(program: Program, builder: ScheduleBuilder) -> ScheduleError:
    with pytest.raises(ScheduleError) as caught:
        apply(program, builder.build())
    return caught.value


def test_each_nest_is_a_process() -> None:
    found = state(twice.program, steps().dataflow().stream("t").stream("u"))
    assert process_names(found) == (("S0",), ("S1",), ("S2",))
    assert found.dataflow is not None
    assert channels(found, found.dataflow) == (Channel("t", 0, 2), Channel("u", 1, 2))
    assert loop_tree(found).processes == (("S0",), ("S1",), ("S2",))
    text = describe(found)
    assert "process 1: S1" in text
    assert "stream u of 2 words" in text


def test_without_dataflow_there_are_no_processes() -> None:
    assert process_names(state(twice.program, steps())) == ()


def test_main_and_remainder_are_one_process() -> None:
    found = state(copies.program, steps().split("S0.i", 3).dataflow().stream("B"))
    assert len({p.place[0] for p in found.pieces}) == 3
    assert process_names(found) == (("S0",), ("S1",))


def test_two_writers_are_refused_and_told_how_to_be_one() -> None:
    error = refused(scaled.program, steps().dataflow())
    assert isinstance(error, SharedArray)
    assert error.uses[0].writers == ("S0",)
    text = error.render()
    assert "error[W217]: 'C' is written by 2 processes of a dataflow region" in text
    assert "process 0 writes it: S0 at test_processes.py:" in text
    assert "help: leave dataflow out: only one process could be made of them" in text


def test_two_writers_are_told_how_to_be_one_beside_others() -> None:
    @weft.kernel
    def more(A: f32[8], D: f32[8], B: f32[8], C: f32[8]):
        for i in range(8):
            C[i] *= 2.0
        for i in range(8):
            C[i] += A[i]
        for i in range(8):
            B[i] = D[i]

    text = refused(more.program, steps().dataflow()).render()
    assert 'help: dataflow(processes=[["S0", "S1"]]) makes one process of them' in text
    one = state(more.program, steps().dataflow([["S0", "S1"]]))
    assert process_names(one) == (("S0", "S1"), ("S2",))


def test_an_argument_belongs_to_the_process_that_writes_it() -> None:
    @weft.kernel
    def through(A: f32[8], B: f32[8]):
        for i in range(8):
            A[i] = 1.0
        for i in range(8):
            B[i] = A[i]

    text = refused(through.program, steps().dataflow()).render()
    assert "the argument 'A' is written by one process and read by another" in text


def test_an_argument_that_two_processes_read_is_passed_twice() -> None:
    @weft.kernel
    def both(A: f32[8], a: f32, B: f32[8], C: f32[8]):
        for i in range(8):
            B[i] = A[i] * a
        for i in range(8):
            C[i] = A[i] + a

    text = refused(both.program, steps().dataflow()).render()
    assert "the argument 'A' is read by 2 processes of a dataflow region" in text
    assert "help: pass 'A' once for each process that reads it" in text


def test_two_readers_are_refused() -> None:
    text = refused(forked.program, steps().dataflow()).render()
    assert "error[W217]: 't' is read by 2 processes that do not write it" in text
    assert "help: write a copy of 't' for each process that reads it" in text


def test_a_later_step_that_splits_a_process_is_the_one_refused() -> None:
    @weft.kernel
    def fused(A: f32[8], C: f32[8]):
        for i in range(8):
            C[i] = A[i]
            C[i] += 1.0

    error = refused(fused.program, steps().dataflow().distribute(["S1"]))
    assert error.code == "W217"
    assert "distribute" in error.render()


def test_groups_that_cannot_be() -> None:
    text = refused(twice.program, steps().dataflow([["S0", "S2"]])).render()
    assert "error[W220]: S0 and S2 cannot be one process without S1, which stands between" in text
    assert 'help: dataflow(processes=[["S0", "S1", "S2"]])' in text
    assert refused(twice.program, steps().dataflow([["S0"], ["S0"]])).code == "W220"
    assert refused(twice.program, steps().dataflow([["S9"]])).code == "W205"


@pytest.mark.parametrize(
    ("builder", "code", "text"),
    [
        (steps().stream("B"), "W220", "dataflow() first makes processes of the nests"),
        (steps().dataflow().stream("A"), "W220", "'A' does not go from one process to another"),
        (steps().dataflow().stream("B", depth=0), "W207", "the depth 0 is not between 1 and"),
        (steps().dataflow().stream("X"), "W206", "no array is called 'X'"),
        (
            steps().dataflow().bind_storage("B", "ram_2p").stream("B"),
            "W215",
            "the stream 'B' is a fifo, not ram_2p",
        ),
    ],
)
def test_what_is_no_stream(builder: ScheduleBuilder, code: str, text: str) -> None:
    error = refused(copies.program, builder)
    assert error.code == code
    assert text in error.render()


def test_a_scalar_is_no_stream() -> None:
    @weft.kernel
    def scalar(A: f32[8], B: f32[8]):
        s: f32 = A[0]
        for i in range(8):
            B[i] = s

    text = refused(scalar.program, steps().dataflow().stream("s")).render()
    assert "error[W220]: 's' is a scalar: the tool hands it on by itself" in text
    assert process_names(state(scalar.program, steps().dataflow())) == (("S0",), ("S1",))


def test_a_stream_is_read_as_it_is_written() -> None:
    state(copies.program, steps().dataflow().stream("B", depth=1))
    both = steps().interchange("S0.i", "S0.j").interchange("S1.i", "S1.j")
    state(copies.program, both.dataflow().stream("B"))
    error = refused(copies.program, steps().dataflow().stream("B").interchange("S0.i", "S0.j"))
    assert isinstance(error, NotAStream)
    assert isinstance(error.witness, OrderWitness)
    first, second = error.witness.first, error.witness.second
    assert first[::-1] < second[::-1]  # written by columns
    assert first >= second  # read by rows
    text = error.render()
    assert "error[W218]: 'B' cannot be a stream" in text
    assert "is written before B[" in text
    assert "interchange" in text


def test_tiles_of_one_shape_are_a_stream() -> None:
    s = steps().tile(["S0.i", "S0.j"], [2, 3])
    assert refused(copies.program, s.dataflow().stream("B")).code == "W218"
    s = steps().tile(["S0.i", "S0.j"], [2, 3]).tile(["S1.i", "S1.j"], [2, 3])
    state(copies.program, s.dataflow().stream("B"))
    s = steps().tile(["S0.i", "S0.j"], [2, 3]).tile(["S1.i", "S1.j"], [2, 2])
    assert refused(copies.program, s.dataflow().stream("B")).code == "W218"


def test_each_memory_has_its_own_order() -> None:
    """Columns 0–2, then 3–5, against rows: in order within a block of three columns."""
    s = steps().split("S0.j", 3).reorder(["j_0", "S0.i", "j_1"]).partition("B", 1, "block", 2)
    error = refused(copies.program, s.dataflow().stream("B", depth=20))
    assert isinstance(error, Deadlock)
    text = error.render()
    assert "error[W219]: the stream 'B' of 20 words stops the processes" in text
    assert "process 0 waits for room for B[7, 2] until process 1 reads" in text
    assert "process 1 waits for B[0, 3] until process 0 writes it" in text
    assert 'help: stream("B", depth=21) is enough' in text
    s = steps().split("S0.j", 3).reorder(["j_0", "S0.i", "j_1"]).partition("B", 1, "block", 2)
    state(copies.program, s.dataflow().stream("B", depth=21))


def test_an_element_is_read_once() -> None:
    @weft.kernel
    def square(A: f32[8], B: f32[8]):
        t: f32[8]
        for i in range(8):
            t[i] = A[i]
        for i in range(8):
            B[i] = t[i] * t[i]

    @weft.kernel
    def neighbours(A: f32[9], B: f32[8]):
        t: f32[9]
        for i in range(9):
            t[i] = A[i]
        for i in range(8):
            B[i] = t[i] + t[i + 1]

    @weft.kernel
    def ends(A: f32[9], B: f32[8]):
        t: f32[9]
        for i in range(9):
            t[i] = A[i]
        for i in range(8):
            B[i] = t[i]

    @weft.kernel
    def built(A: f32[8], B: f32[8]):
        t: f32[8]
        for i in range(8):
            t[i] = A[i]
            t[i] += 1.0
        for i in range(8):
            B[i] = t[i]

    faults = {
        square: "read more than once",
        neighbours: "read more than once",
        ends: "written but never read",
        built: "read by the process that writes it: S1",
    }
    for kernel, fault in faults.items():
        error = refused(kernel.program, steps().dataflow().stream("t"))
        assert isinstance(error, NotAStream)
        assert isinstance(error.witness, CountWitness)
        assert error.witness.fault == fault


def test_a_stream_is_read_whatever_a_condition_says() -> None:
    @weft.kernel
    def chosen(A: f32[8], B: f32[8], C: f32[8]):
        t: f32[8]
        u: f32[8]
        for i in range(8):
            t[i] = A[i]
        for i in range(8):
            u[i] = B[i]
        for i in range(8):
            C[i] = t[i] if u[i] > 0.0 else 0.0

    state(chosen.program, steps().dataflow().stream("u"))
    text = refused(chosen.program, steps().dataflow().stream("t")).render()
    assert "error[W218]: 't' cannot be a stream" in text
    assert "t[0] is read where a condition holds: S2" in text
    assert "help: read it into a local scalar in front of the condition" in text

    @weft.kernel
    def taken(A: f32[8], B: f32[8], C: f32[8]):
        t: f32[8]
        for i in range(8):
            t[i] = A[i]
        for i in range(8):
            x: f32 = t[i]
            C[i] = x if B[i] > 0.0 else 0.0

    state(taken.program, steps().dataflow().stream("t", 1))


def test_two_elements_of_one_statement_have_no_order_but_in_two_memories() -> None:
    @weft.kernel
    def pairs(A: f32[8], B: f32[4]):
        t: f32[8]
        for i in range(8):
            t[i] = A[i]
        for i in range(4):
            B[i] = t[2 * i] + t[2 * i + 1]

    assert refused(pairs.program, steps().dataflow().stream("t")).code == "W218"
    state(pairs.program, steps().partition("t", 0, "cyclic", 2).dataflow().stream("t"))


def test_where_two_ways_meet_a_stream_never_fills() -> None:
    error = refused(triangle.program, steps().dataflow().stream("u", depth=7))
    assert isinstance(error, Deadlock)
    text = error.render()
    assert "process 0 waits for room for u[7] until process 2 reads" in text
    assert "process 2 begins when process 1 has written all of 'v'" in text
    assert "process 1 begins when process 0 has written all of 't'" in text
    assert 'help: stream("u", depth=8) is enough' in text
    state(triangle.program, steps().dataflow().stream("u", depth=8))
    assert refused(triangle.program, steps().dataflow().stream("t", depth=8)).code == "W218"


def test_partitions_come_before_the_stream_that_needs_them() -> None:
    @weft.kernel
    def mirrored(A: f32[8, 6], C: f32[8, 6]):
        B: f32[8, 6]
        for i, j in weft.grid(8, 6):
            B[i, j] = A[i, j]
        for i, j in weft.grid(8, 6):
            C[i, j] = B[i, 5 - j]

    state(mirrored.program, steps().partition("B", 1, "complete").dataflow().stream("B"))
    error = refused(mirrored.program, steps().dataflow().stream("B").partition("B", 1, "complete"))
    assert error.code == "W218"
