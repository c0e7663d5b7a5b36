"""FIFO interfaces of arguments: each element once, in the order of memory, in one direction."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Interface, Partition
from polyhedral.dataflow.ports import NotAPort
from polyhedral.schedule import apply
from tests.support.flow_oracle import banks, uses_of
from tests.support.random_pipelines import random_flow_step, random_pipeline
from weft import f32


@weft.kernel
def copy(A: f32[4, 6], B: f32[4, 6]):
    for i, j in weft.grid(4, 6):
        B[i, j] = A[i, j]  # S0


@weft.kernel
def faults(
    A: f32[8],
    B: f32[8],
    C: f32[8],
    D: f32[8],
    E: f32[8],
    F: f32[8],
    G: f32[8],
    H: f32[8],
    unused: f32[8],
):
    for i in range(8):
        B[i] = A[i] * A[i]  # S0
    for i in range(7):
        if i != 3:
            D[i] = C[i] + C[i + 1]  # S1
    for i in range(8):
        F[i] = E[i] if C[i] > 0.0 else 0.0
    for i in range(8):
        G[i] += 1.0
    for i in range(4):
        H[i] = 0.0
        H[i] = 1.0
    for i in range(4, 8):
        H[i] = 0.0


@weft.kernel
def pairs(A: f32[8], B: f32[4]):
    for i in range(4):
        B[i] = A[2 * i] + A[2 * i + 1]  # S0


@weft.kernel
def scaled(A: f32[6], a: f32, B: f32[6]):
    for i in range(6):
        B[i] = A[i] * a if A[5 - i] > 0.0 else a


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def refused(program: Program, builder: ScheduleBuilder) -> ScheduleError:
    with pytest.raises(ScheduleError) as caught:
        apply(program, builder.build())
    return caught.value


@pytest.mark.parametrize("mode", ["axis", "ap_fifo", "ap_hs"])
def test_rows_pass_in_order(mode: str) -> None:
    apply(copy.program, steps().interface("A", mode).interface("B", mode).build())
    text = refused(copy.program, steps().interface("A", mode).interchange("i", "j")).render()
    assert f"error[W222]: 'A' cannot have the interface {mode}: each element passes once" in text
    assert "S0[1, 0] reads A[1, 0] before S0[0, 1] reads A[0, 1], which comes first" in text
    assert "help: let the loops count its subscripts upwards, the last one innermost, or" in text
    assert 'interface("A", mode)' in text


def test_a_step_after_the_interface_may_change_the_order_and_another_restore_it() -> None:
    tiled = steps().interface("B", "axis").tile(["i", "j"], [2, 3])
    text = refused(copy.program, tiled).render()
    assert "S0[1, 0] writes B[1, 0] before S0[0, 3] writes B[0, 3]" in text
    assert "or write a local array, and copy that to it in order" in text
    apply(copy.program, tiled.reorder(["i_0", "i_1", "j_0", "j_1"]).build())
    turned = steps().interface("A", "axis").interchange("i", "j")
    assert refused(copy.program, turned).code == "W222"
    apply(copy.program, turned.interchange("i", "j").build())


def test_unrolling_and_pipelining_keep_the_order() -> None:
    for builder in (
        steps().unroll("j", 4),
        steps().unroll("j"),
        steps().pipeline("i"),
        steps().split("j", 4).unroll("j_1"),
        steps().split("j", 4, tail="guard").pipeline("j_0"),
    ):
        apply(copy.program, builder.interface("A", "axis").interface("B", "ap_fifo").build())


@pytest.mark.parametrize(
    ("array", "note", "help_"),
    [
        ("A", "A[0] is read more than once: by S0[0]", "to a local array first, and read that"),
        ("C", "C[0] is read more than once: by S1[0] and by S2[0]", "to a local array first"),
        ("D", "D[3] is never written", "write a local array, and copy that to it in order"),
        ("E", "E[0] is read where a condition holds: by S2[0]", "into a local scalar in front"),
        ("G", "'G' is read by S3[0] and written by S3[0]", "one argument to read and another"),
        ("H", "H[0] is written more than once: by S4[0] and by S5[0]", "write a local array"),
        ("unused", "unused[0] is neither read nor written", "leave the argument out"),
    ],
)
def test_every_fault_has_its_witness(array: str, note: str, help_: str) -> None:
    error = refused(faults.program, steps().interface(array, "axis"))
    assert isinstance(error, NotAPort)
    text = error.render()
    assert "error[W222]" in text
    assert note in text
    assert help_ in text


def test_what_one_iteration_reads_has_no_order_but_in_two_memories() -> None:
    text = refused(pairs.program, steps().interface("A", "axis")).render()
    assert "S0[0] reads A[1] and A[0], in no order" in text
    apply(pairs.program, steps().interface("A", "axis").partition("A", 0, "cyclic", 2).build())
    blocks = steps().interface("A", "axis").partition("A", 0, "block", 2)
    assert refused(pairs.program, blocks).code == "W222"


def test_a_scalar_is_read_as_often_as_it_is_needed() -> None:
    apply(scaled.program, steps().interface("a", "axis").build())


def test_a_local_copy_helps() -> None:
    @weft.kernel
    def buffered(A: f32[8], B: f32[8]):
        own: f32[8]
        for i in range(8):
            own[i] = A[i]
        for i in range(8):
            B[i] = own[7 - i] * own[i]

    apply(buffered.program, steps().interface("A", "axis").interface("B", "axis").build())


def _is_port(state, uses, array: str) -> bool:  # type: ignore[no-untyped-def]
    """By brute force: what is touched, one event after the other."""
    own = [u for u in uses if u.array == array]
    shape = state.scop.program.array(array).shape
    if len({u.write for u in own}) != 1 or len(own) != len({u.element for u in own}):
        return False
    if len(own) != shape[0] * shape[1]:
        return False
    return not any(
        a.element < b.element
        and a.event >= b.event
        and banks(state, array, a.element) == banks(state, array, b.element)
        for a in own
        for b in own
    )


def _arguments(program: Program) -> Iterator[str]:
    yield from (a.name for a in program.arguments)


def test_verdicts_are_those_of_brute_force() -> None:
    told = {True: 0, False: 0}
    for seed in range(60):
        rng = random.Random(f"ports/{seed}")
        program = random_pipeline(seed)
        schedule = Schedule()
        for _ in range(4):
            step = random_flow_step(rng, program, False)
            if rng.random() < 0.2:
                chosen = rng.choice(list(_arguments(program)))
                step = Partition(chosen, rng.randrange(2), "cyclic", 2)
            try:
                apply(program, schedule.then(step))
            except ScheduleError:
                continue
            schedule = schedule.then(step)
        state = apply(program, schedule)
        uses = uses_of(state, ())
        for array in _arguments(program):
            right = _is_port(state, uses, array)
            told[right] += 1
            try:
                apply(program, schedule.then(Interface(array, "axis")))
            except NotAPort:
                assert not right, (seed, array)
            else:
                assert right, (seed, array)
    assert min(told.values()) > 30, told
