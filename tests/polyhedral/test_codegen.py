"""Loops run exactly the iterations of the domain: checked, and built another way where isl errs."""

from __future__ import annotations

import pytest

import weft
from dsl.errors import IRError
from dsl.program import Program
from dsl.schedule import ScheduleBuilder
from polyhedral import codegen
from polyhedral.codegen import loop_tree
from polyhedral.coverage import covers
from polyhedral.looptree import TreeNode
from polyhedral.schedule import apply
from polyhedral.scheduled import Piece
from tests.support.oracle import Oracle
from weft import i32


@weft.kernel
def strided(A: i32[6, 9], B: i32[6]):
    for i in range(6):
        for j in range(i + 1, i + 3):
            if j % 3 == 1:
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


def split_and_fused() -> ScheduleBuilder:
    s = ScheduleBuilder()
    return s.split("S1.i", 2).split("S0.j", 5)


PROGRAMS = [(strided.program, split_and_fused()), (conditions.program, ScheduleBuilder())]


@pytest.mark.parametrize(("program", "steps"), PROGRAMS)
def test_nests_built_with_guards_run_the_same(
    program: Program, steps: ScheduleBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = apply(program, steps.build())
    asked: list[bool] = []

    def second_only(nodes: tuple[TreeNode, ...], pieces: list[Piece]) -> bool:
        asked.append(covers(nodes, pieces))
        return len(asked) % 2 == 0 and asked[-1]

    monkeypatch.setattr(codegen, "covers", second_only)
    assert not list(Oracle(program).tree_faults(loop_tree(state)))
    assert all(asked[1::2])  # what isl builds first may be wrong: it is, for `strided`


def test_a_lost_iteration_is_found() -> None:
    state = apply(strided.program, ScheduleBuilder().build())
    tree = loop_tree(state)
    first, second = ([p for p in state.pieces if p.name == name] for name in ("S0", "S1"))
    assert covers(tree.body, [*first, *second])
    assert not covers(tree.body[:1], [*first, *second])
    assert not covers((*tree.body, tree.body[1]), [*first, *second])


def test_wrong_loops_never_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codegen, "covers", lambda nodes, pieces: False)
    with pytest.raises(IRError, match="W314"):
        loop_tree(apply(strided.program, ScheduleBuilder().build()))
