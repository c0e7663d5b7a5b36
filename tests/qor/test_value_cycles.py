"""Recurrences through arrays whose accesses move differently: intervals and what is said of them."""

import random

import pytest

import weft
from dsl.expressions.affine import Affine
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.schedule.intervals.value_cycles import value_cycles
from qor_gnn.schedule.reasons import Recurrence
from qor_gnn.schedule.recurrences import GIVEN_UP
from qor_gnn.tools.personality import allowed, personality
from tests.support.qor_checks import VITIS, interval_faults
from tests.support.random_recurrences import random_directives, random_recurrence
from weft import f32

U200, U280 = "vitis-2025.1-u200-4ns", "vitis-2023.2-u280-3.33ns"


@weft.kernel
def broadcast(A: f32[12], B: f32[2]):
    for i in range(2):
        for j in range(4):
            A[j] = 1.5 * A[i]
        B[i] = 1.0


@weft.kernel
def rows_of_one(A: f32[12], B: f32[4]):
    for i in range(4):
        for j in range(8):
            A[j] = 1.5 * A[i]
        B[i] = 1.0


@weft.kernel
def through(A: f32[18]):
    for i in range(3):
        for j in range(2):
            A[1] = A[1]
            if j >= 1:
                A[i] += 1.0


@weft.kernel
def pivot(A: f32[64, 64], p: f32[64]):
    for k in range(63):
        for j in range(64):
            A[k + 1, j] = A[k, j] / (A[k, k] + p[j])


@weft.kernel
def uniform(A: f32[64]):
    for i in range(2, 64):
        A[i] = A[i - 1] * 0.5 + A[i - 2]


@weft.kernel
def halves(A: f32[2], s: f32[4]):
    for i in range(3):
        s[i] = 1.0
        for j in range(4):
            if i <= 1:
                A[j // 2] += 1.0


@weft.kernel
def late(y: f32[1]):
    s: f32 = 1.0
    for i in range(3):
        for j in range(1):
            for k in range(2, 5):
                if k >= 3:
                    s -= 1.0
                if i <= 1:
                    s = s * 0.5
    y[0] = s


def _estimate(kernel, tool, *steps):
    return estimate(kernel_of_tree(loop_tree(apply(kernel.program, Schedule(steps)))), tool)


def test_a_value_that_comes_back_through_another_statement():
    # i = 1: A[1] += 1 takes the element that the statement in front of it has copied to itself.
    tool = allowed(personality(U200), reassociates=False)
    add = tool.operator("add", "f32", 32).distance
    (loop,) = _estimate(through, tool, Pipeline("j")).loops
    assert loop.ii == add
    told = [limit for limit in loop.limits if isinstance(limit, Recurrence)]
    assert (told[0].array, told[0].operators, told[0].interval) == ("A", ("add",), add)


@pytest.mark.parametrize("copies", [1, 2])
def test_copies_of_a_loop_around_have_cycles_of_their_own(copies):
    # i = 0 and i = 1 are two pipelines: what A[0] does in one hands nothing on to the other.
    product = personality(U280).operator("mul", "f32", 32).distance
    state = apply(broadcast.program, Schedule((Unroll("j", 2), Unroll("S1.i", copies))))
    design = kernel_of_tree(loop_tree(state))
    (outer,) = design.functions[0].body
    chain = (outer.body[0],)
    found = [
        value_cycles(design, personality(U280), chain, env, 1)[-1].interval
        for env in [{"i": Affine.of(value)} for value in range(copies)]
    ]
    assert found == [product] * copies


@pytest.mark.parametrize("tool", VITIS)
def test_the_element_of_a_row_that_all_of_the_next_one_want(tool):
    # A[k, k] is stored k + 64 - k iterations before the next row begins with it.
    state = apply(pivot.program, Schedule((Pipeline("j"),)))
    assert [*interval_faults(Schedule((Pipeline("j"),)), state, (tool,))] == []


def test_accesses_that_move_alike_are_not_asked_again(monkeypatch):
    def never(*_):
        raise AssertionError("pairs of accesses say it all")

    monkeypatch.setattr("qor_gnn.schedule.intervals.value_cycles.value_distances", never)
    assert _estimate(uniform, U280, Pipeline("i")).loops[-1].ii > 1
    with pytest.raises(AssertionError):
        _estimate(broadcast, U280, Pipeline("j"))


def test_copies_are_not_asked_after_others_were_too_much_work(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "qor_gnn.schedule.intervals.value_cycles.value_distances", lambda *of: asked.append(of)
    )
    design = apply(rows_of_one.program, Schedule((Pipeline("j"), Unroll("i", 4))))
    estimate(kernel_of_tree(loop_tree(design)), U280)
    assert len(asked) == GIVEN_UP


@pytest.mark.parametrize("kernel", [halves, late])
@pytest.mark.parametrize("tool", VITIS)
def test_copies_of_which_an_iteration_has_some(kernel, tool):
    # Two of four copies are of one element; a loop that begins later has its copies from there.
    schedule = Schedule((Pipeline("i" if kernel is halves else "j"),))
    assert [*interval_faults(schedule, apply(kernel.program, schedule), (tool,))] == []


# Each was under what the oracle proves with pairs of accesses alone.
@pytest.mark.parametrize(
    "seed",
    [
        2131,
        20056,
        70593,
        300181,
        810655,
        920047,
        920368,
        3001351,
        3006618,
        3007183,
        4009441,
        6005448,
    ],
)
def test_known_programs(seed):
    program = random_recurrence(seed)
    schedule, state = random_directives(random.Random(seed), program)
    assert [*interval_faults(schedule, state)] == []
