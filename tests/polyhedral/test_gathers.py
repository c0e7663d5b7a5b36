"""Accesses at subscripts that are data, to dependences and steps: of any element that they may be."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    AutoPartition,
    Buffer,
    Dataflow,
    Fuse,
    Interface,
    Pack,
    PartialSums,
    Pipeline,
    Reassociate,
    Reuse,
    Reverse,
    Step,
    Stream,
    Tile,
    Unroll,
)
from polyhedral.dependences.direct import dependences
from polyhedral.schedule import apply
from polyhedral.scop.scop import build_scop
from weft import i32, u8, u16


@weft.kernel
def permuted(a: i32[16], p: u8[16], b: i32[16]):
    t: i32[16]
    for i in range(16):
        t[i] = a[i] * 3
    for i in range(16):
        b[i] = t[p[i] % 16]


@weft.kernel
def in_place(p: u8[16], a: i32[16]):
    for i in range(16):
        a[i] = a[p[i] & 15] + 1


@weft.kernel
def rows(f: i32[6, 10], column: u8[8], y: i32[4, 8]):
    for i in range(4):
        for j in range(8):
            y[i, j] = f[i, column[j] % 10] + f[i + 2, column[j] % 5]


@weft.kernel
def half_written(p: u8[8], a: i32[8], y: i32[8]):
    for i in range(8):
        for k in range(4):
            a[2 * k] = i
        y[i] = a[p[i] & 7]


@weft.kernel
def counted(x: u8[6, 8], h: i32[256]):
    for i in range(6):
        for j in range(8):
            h[x[i, j]] += 1


@weft.kernel
def in_tens(x: u8[8], h: u16[10]):
    for i in range(8):
        h[x[i] % 10] += 1


@weft.kernel
def scattered(p: u8[16], a: i32[16], y: i32[256]):
    for i in range(16):
        y[p[i]] = a[i]


@weft.kernel
def other_element(p: u8[16], y: i32[256]):
    for i in range(16):
        y[p[i]] = y[p[i] ^ 1] + 1


@weft.kernel
def once(p: u8[4], y: i32[256]):
    for k in range(1):
        for i in range(4):
            y[p[i]] = k


def test_it_depends_on_every_element_that_it_may_be() -> None:
    found = {
        (d.kind.value, d.array, d.source.name, d.sink.name): d.pairs
        for d in dependences(build_scop(permuted.program))
    }
    pairs = found["flow", "t", "S0", "S1"]
    assert pairs.is_equal(type(pairs)("{ s0[i] -> s1[j] : 0 <= i < 16 and 0 <= j < 16 }"))
    own = {(d.kind.value, d.ranges) for d in dependences(build_scop(in_place.program))}
    assert own == {("flow", ((1, 15),)), ("anti", ((1, 15),))}


REFUSED: list[tuple[weft.Kernel, list[Step], str, str]] = [
    (permuted, [Fuse(("S0", "S1"), 1)], "W203", "S0[1] must run before S1[0]"),
    (in_place, [Reverse("i")], "W203", "S0[0] must run before S0[1]"),
    (rows, [Reuse("f", "i")], "W232", "reads 'f' at a subscript that is data"),
    (permuted, [Dataflow(), Stream("t", 4)], "W218", "at a subscript that is data"),
    (permuted, [Interface("a", "axis"), Interface("p", "axis")], "", ""),
    (rows, [Interface("f", "axis")], "W222", "'f' is read by S0 at a subscript that is data"),
    (rows, [Interface("f", "m_axi", "g"), Pack("f", 64)], "W230", "f[i, ?]"),
    (counted, [Reverse("i")], "W203", "S0[0, 0] must run before S0[1, 0]"),
    (counted, [Reassociate("S0"), Tile(("i", "j"), (2, 4)), Reverse("j_1")], "", ""),
    (counted, [PartialSums("S0", "i", 2)], "", ""),
    (scattered, [Reverse("i")], "W203", "S0[0] must run before S0[1]"),
    (scattered, [Reassociate("S0")], "W209", "S0 is not a reduction"),
    (other_element, [Reassociate("S0")], "W209", "S0 is not a reduction"),
    (
        scattered,
        [Interface("y", "axis")],
        "W222",
        "'y' is written by S0 at a subscript that is data",
    ),
    (counted, [Interface("h", "m_axi", "g", reads="r")], "W231", "S0 reads what S0 wrote"),
]


@pytest.mark.parametrize(("kernel", "steps", "code", "message"), REFUSED)
def test_steps_that_need_to_know_the_element_refuse(
    kernel: weft.Kernel, steps: list[Step], code: str, message: str
) -> None:
    if not code:
        apply(kernel.program, Schedule(tuple(steps)))
        return
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, Schedule(tuple(steps)))
    assert caught.value.code == code
    assert message in caught.value.render()


def test_what_is_written_at_data_leaves_the_rest_as_it_was() -> None:
    """A later read may be of a value from before, which no write is known to hide."""
    found = {(d.kind.value, d.ranges) for d in dependences(build_scop(scattered.program))}
    assert found == {("flow", ((1, 1),)), ("output", ((1, 1),))}
    for at in ("", "i"):
        state = apply(scattered.program, Schedule((Buffer("y", at),)))
        assert {s.name for s in state.scop.statements} == {"load_y", "S0", "store_y"}


@pytest.mark.parametrize(
    "steps",
    [
        (Reassociate("S0"), Tile(("i", "j"), (4, 3)), Unroll("j_1")),
        (Buffer("h", "i"), Pipeline("j")),
        (AutoPartition("h"), Unroll("j", 4)),
    ],
)
def test_transformed_updates_are_proven(steps: tuple[Step, ...]) -> None:
    assert weft.equivalence(counted, Schedule(steps)).verdict == "proven"


def test_padding_of_a_copy_is_no_element() -> None:
    """A copy in whole words has room for more elements than the array has."""
    words = (Interface("h", "m_axi", "g"), Pack("h", 64), Buffer("h"))
    state = apply(in_tens.program, Schedule(words))
    assert [a.shape for a in state.scop.program.locals] == [(12,)]
    assert weft.equivalence(in_tens, Schedule(words)).verdict == "proven"


def test_a_loop_of_one_iteration_goes() -> None:
    assert "for (int k" not in weft.compile(once).hls_cpp
    assert weft.equivalence(once, Schedule()).verdict == "proven"


def test_a_buffer_holds_all_that_may_be_read() -> None:
    state = apply(rows.program, Schedule((Buffer("f", "i"),)))
    shapes = {a.name: a.shape for a in state.scop.program.locals}
    assert shapes == {"f_buf": (3, 10)}


def test_what_is_written_in_part_is_copied_in_as_well() -> None:
    """Elements that an iteration writes first, and others that it may read and does not write."""
    state = apply(half_written.program, Schedule((Buffer("a", "i"),)))
    (load,) = [s for s in state.scop.statements if s.name == "load_a"]
    assert load.domain.is_equal(type(load.domain)("{ s0[i, k] : 0 <= i < 8 and 1 <= k < 8 }"))
    proof = weft.equivalence(half_written, Schedule((Buffer("a", "i"),)))
    assert proof.verdict == "proven"
