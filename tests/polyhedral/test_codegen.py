"""Loops run exactly the iterations of the domain: checked, and built another way where isl errs."""

from __future__ import annotations

from dataclasses import replace

import pytest

import weft
from dsl.errors.errors import IRError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.codegen.coverage import covers, covers_statements
from polyhedral.codegen.generate import loop_tree
from polyhedral.codegen.nest_ast import Style, TooLargeError, build_nest
from polyhedral.schedule import apply
from tests.support.oracle import Oracle
from weft import i32


@weft.kernel
def strided(A: i32[6, 9], B: i32[6]):
    for i in range(6):
        for j in range(9):
            if i < j < i + 3 and j % 3 == 1:
                A[i, j] = i + j
    for i in range(1):
        B[i] = 7


@weft.kernel
def conditions(A: i32[9, 9], B: i32[9, 9]):
    for i in range(9):
        for j in range(8, -1, -2):
            if i % 2 == 0 or j > i + 2:
                A[i, j] = i
            else:
                B[i, j] = A[i, 0] if j > 2 else j


@weft.kernel
def blocks(A: i32[13], B: i32[13]):
    for i in range(13):
        if i % 3 != 1:
            A[i] = A[i] * 3 + i
    for i in range(13):
        B[i] = A[i] + 1


def split_and_fused() -> ScheduleBuilder:
    s = ScheduleBuilder()
    return s.split("S1.i", 2).split("S0.j", 5)


def with_guards() -> ScheduleBuilder:
    s = ScheduleBuilder()
    return s.split("S0.i", 4).split("S1.i", 5, tail="guard").reverse("S0.i_0")


PROGRAMS = [
    (strided.program, split_and_fused()),
    (conditions.program, ScheduleBuilder()),
    (conditions.program, ScheduleBuilder().interchange("i", "j").tile(["j", "i"], [2, 4])),
    (blocks.program, with_guards()),
]


@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize(("program", "steps"), PROGRAMS)
def test_nests_of_all_styles_run_the_same(
    program: Program, steps: ScheduleBuilder, style: Style
) -> None:
    state = apply(program, steps.build())
    # What isl builds of the iterations themselves may be wrong: it is, for `strided`.
    styles = (style, Style.RELAXED) if style is Style.EXACT else (style,)
    assert not list(Oracle(program).tree_faults(loop_tree(state, styles), state.reassociated))


def test_a_lost_iteration_is_found() -> None:
    state = apply(strided.program, Schedule())
    tree = loop_tree(state)
    first, second = ([p for p in state.pieces if p.name == name] for name in ("S0", "S1"))
    assert covers(tree.body, [*first, *second])
    assert not covers(tree.body[:1], [*first, *second])
    assert not covers((*tree.body, tree.body[1]), [*first, *second])


def test_pieces_have_the_iterations_of_their_statements() -> None:
    state = apply(blocks.program, with_guards().build())
    assert covers_statements(state)
    lost = tuple(p for p in state.pieces if p is not state.pieces[1])
    assert not covers_statements(replace(state, pieces=lost))
    assert not covers_statements(replace(state, pieces=(*state.pieces, state.pieces[1])))


def test_wrong_loops_never_leave() -> None:
    state = apply(strided.program, split_and_fused().build())
    with pytest.raises(IRError, match="W314") as raised:
        loop_tree(state, (Style.EXACT,))
    assert raised.value.render() == (
        "error[W314]: the loops built for S0 are not proven to run as scheduled"
    )


def test_what_isl_is_given_is_bounded() -> None:
    state = apply(conditions.program, Schedule())
    with pytest.raises(TooLargeError):
        build_nest([*state.pieces], Style.EXACT, operations=100)
    # The context is as before: the same nest without a bound.
    assert build_nest([*state.pieces], Style.EXACT).times == [0, 1, None]


@weft.kernel
def swaps(A: i32[12, 12]):
    for i in range(12):
        for j in range(i + 1, 12):
            t: i32 = A[i, j]
            A[i, j] = A[j, i]
            A[j, i] = t


@weft.kernel
def chained_swaps(x: i32[12]):
    for i in range(11):
        t: i32 = x[i]
        x[i] = x[i + 1]
        x[i + 1] = t


@pytest.mark.parametrize(
    ("kernel", "loop", "apart"), [(swaps, "j", True), (chained_swaps, "i", False)]
)
def test_iterations_that_swap_are_independent_where_each_has_elements_of_its_own(
    kernel: weft.Kernel, loop: str, apart: bool
) -> None:
    """Of what is swapped each subscript is both read and written."""
    tree = loop_tree(apply(kernel.program, ScheduleBuilder().pipeline(loop).build()))
    assert [array for array, _ in tree.independent] == (["A"] if apart else [])
