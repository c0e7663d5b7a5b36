"""Programs that work on copies of an array: wrong ones are refuted, right ones are proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import weft
from dsl.expressions.expr import Access
from dsl.programs.expanded import with_accesses
from dsl.programs.program import If, Loop, Node, Program, Stmt, statements_in
from polyhedral.equivalence.buffering import check_buffers
from polyhedral.equivalence.loops import Origin, check_loops
from polyhedral.equivalence.rewritings import Rewriting, check_rewriting, rewritings
from tests.polyhedral.test_buffer import Build, gemm, lu, schedule, seidel, syrk


def rewritten(kernel: weft.Kernel, build: Build) -> Rewriting:
    (*_, last) = rewritings(kernel.program, schedule(build))
    assert check_rewriting(last) is None
    return last


def without(program: Program, name: str) -> Program:
    """The program without a statement."""

    def visit(node: Node) -> list[Node]:
        match node:
            case Stmt():
                return [] if node.name == name else [node]
            case Loop(body=body):
                inside = tuple(n for b in body for n in visit(b))
                return [replace(node, body=inside)] if inside else []
            case If(then=then):
                inside = tuple(n for b in then for n in visit(b))
                return [replace(node, then=inside)] if inside else []

    return replace(program, body=tuple(n for b in program.body for n in visit(b)))


def changed(program: Program, own: Callable[[Access], Access], name: str = "") -> Program:
    """The program with other accesses, in one statement where it is named."""

    def visit(node: Node) -> Node:
        match node:
            case Stmt():
                return with_accesses(node, own) if name in ("", node.name) else node
            case Loop(body=body):
                return replace(node, body=tuple(map(visit, body)))
            case If(then=then):
                return replace(node, then=tuple(map(visit, then)))

    return replace(program, body=tuple(map(visit, program.body)))


def moved(program: Program, name: str, array: str, by: int) -> Program:
    """The program with the accesses of a statement to an array moved along its last dimension."""

    def own(access: Access) -> Access:
        if access.array != array:
            return access
        return replace(access, indices=(*access.indices[:-1], access.indices[-1] + by))

    return changed(program, own, name)


def shorter(program: Program, var: str) -> Program:
    """The program with one iteration less of a loop."""

    def visit(node: Node) -> Node:
        match node:
            case Loop(body=body):
                inside = tuple(map(visit, body))
                if node.var != var:
                    return replace(node, body=inside)
                return replace(node, uppers=tuple(u - 1 for u in node.uppers), body=inside)
            case If(then=then):
                return replace(node, then=tuple(map(visit, then)))
        return node

    return replace(program, body=tuple(map(visit, program.body)))


def swapped(program: Program) -> Program:
    """The program with the last two nests of its outermost loop the other way round."""
    (loop,) = program.body
    assert isinstance(loop, Loop)
    *rest, a, b = loop.body
    return replace(program, body=(replace(loop, body=(*rest, b, a)),))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda p: without(p, "load_C"), "nothing was copied or assigned"),
        (lambda p: without(p, "store_C"), "not what is assigned"),
        (lambda p: shorter(p, "load_C_1"), "nothing was copied or assigned"),
        (lambda p: shorter(p, "store_C_1"), "not what is assigned"),
        (lambda p: moved(p, "load_C", "C", 1), "stands for other elements"),
        (lambda p: moved(p, "S0", "A", -1), "S0 is another statement"),
        (lambda p: swapped(p), "does not run before or after"),
        (lambda p: replace(p, arrays=p.arrays[1:]), "the arguments are other ones"),
    ],
)
def test_copies_that_are_wrong_are_refuted(wrong: Callable[[Program], Program], why: str) -> None:
    right = rewritten(syrk, lambda s: s.buffer("C", "i"))
    found = check_buffers(right.before, wrong(right.after), "C", 1)
    assert found is not None
    assert found.code == "W339"
    assert why in found.message


@pytest.mark.parametrize("element", ["A[i, k]", "A[k, j]"])
def test_elements_that_are_touched_beside_a_copy_are_refuted(element: str) -> None:
    right = rewritten(lu, lambda s: s.buffer("A", "i", access=element))

    def beside(access: Access) -> Access:
        """The row that is assigned, from one column further to the left: it has ``A[i, k]``; or the
        pivot's row itself.
        """
        row, column = access.indices[0], access.indices[-1]
        if access.array != "A" or not ("i" in row.variables() and "j" in column.variables()):
            return access
        return Access("A", (row, column - 1) if element == "A[i, k]" else (row - 1, column))

    before, after = (changed(p, beside) for p in (right.before, right.after))
    found = check_buffers(before, after, "A", 2)
    assert found is not None
    assert "beside" in found.message


def test_two_copies_of_an_element_that_is_written_are_refuted() -> None:
    right = rewritten(lu, lambda s: s.buffer("A", "k"))

    def later(access: Access) -> Access:
        """The row of the pivot, but one further down, where it is written."""
        mine = (
            access.array == "A" and access.indices[0].coefficient("k") and len(access.indices) > 1
        )
        if not mine or access.indices[1].coefficient("k"):
            return access
        return replace(access, indices=(access.indices[0] + 1, access.indices[1]))

    before, after = (changed(p, later) for p in (right.before, right.after))
    assert before != right.before
    found = check_buffers(before, after, "A", 1)
    assert found is not None
    assert "hold one element" in found.message


def test_other_loops_are_refuted() -> None:
    first, _ = rewritings(gemm.program, schedule(lambda s: s.split("i", 4).buffer("A", "i_0")))
    assert check_rewriting(first) is None
    origins = dict(first.origins)
    for wrong in (
        shorter(first.after, "i_1"),
        shorter(first.after, "k"),
        moved(first.after, "S1", "A", -1),
    ):
        assert check_loops(first.before, wrong, origins, frozenset()) is not None
    iteration = origins["S0"].iteration
    other = {**origins, "S0": Origin("S0", (iteration[0] + 1, iteration[1]))}
    assert check_loops(first.before, first.after, other, frozenset()) is not None


def test_loops_in_another_order_are_refuted() -> None:
    first, _ = rewritings(seidel.program, schedule(lambda s: s.split("i", 5).buffer("A", "t")))
    assert check_rewriting(first) is None
    found = check_loops(first.before, swapped(first.after), dict(first.origins), frozenset())
    assert found is not None
    assert found.code == "W337"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda p: without(p, "load_C"), "nothing was copied or assigned"),
        (lambda p: without(p, "take_C"), "nothing was copied or assigned"),
        (lambda p: shorter(p, "load_C_1"), "nothing was copied or assigned"),
        (lambda p: shorter(p, "take_C_1"), "nothing was copied or assigned"),
        (lambda p: moved(p, "take_C", "C_buf_in", 1), "nothing was copied or assigned"),
        (lambda p: moved(p, "load_C", "C", 1), "stands for other elements"),
        (lambda p: behind(p, "take_C"), "take_C does not run before"),
        (lambda p: renamed(p, "S0", "C_buf", "C_buf_in"), "S0 is no copy"),
        (lambda p: renamed(p, "load_C", "C", "A"), "load_C is no copy"),
        (lambda p: renamed(p, "store_C", "C_buf", "C_buf_in"), "reads 'C_buf_in'"),
    ],
)
def test_tiles_that_start_from_a_wrong_copy_are_refuted(
    wrong: Callable[[Program], Program], why: str
) -> None:
    right = rewritten(syrk, lambda s: s.buffer("C", "i", apart=True))
    found = check_buffers(right.before, wrong(right.after), "C", 1)
    assert found is not None
    assert found.code == "W339"
    assert why in found.message


def renamed(program: Program, name: str, array: str, other: str) -> Program:
    """The program in which a statement accesses another array instead of one."""
    return changed(program, lambda a: replace(a, array=other) if a.array == array else a, name)


def behind(program: Program, name: str) -> Program:
    """The program with the nest of a statement one place further back in the outermost loop."""
    (loop,) = program.body
    assert isinstance(loop, Loop)
    nests = list(loop.body)
    at = next(n for n, nest in enumerate(nests) if any(s.name == name for s in statements_in(nest)))
    nests[at], nests[at + 1] = nests[at + 1], nests[at]
    return replace(program, body=(replace(loop, body=tuple(nests)),))
