"""Reads at subscripts that are data, to dependences and steps: of any element that they may be."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    Buffer,
    Dataflow,
    Fuse,
    Interface,
    Pack,
    Reuse,
    Reverse,
    Step,
    Stream,
)
from polyhedral.dependences.direct import dependences
from polyhedral.schedule import apply
from polyhedral.scop.scop import build_scop
from weft import i32, u8


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
