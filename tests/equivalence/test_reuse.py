"""Programs that keep what they read again: wrong ones are refuted, right ones are proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.programs.program import If, Loop, Node, Program, Stmt
from polyhedral.equivalence.reuse import check_reuse
from tests.equivalence.test_buffering import changed, moved, rewritten, shorter, without
from tests.polyhedral.test_reuse import clamped, cross, layer

Wrong = Callable[[Program], Program]


def bodies(program: Program, change: Callable[[tuple[Node, ...]], tuple[Node, ...]]) -> Program:
    """The program with each list of nodes changed."""

    def visit(node: Node) -> Node:
        match node:
            case Loop(body=body):
                return replace(node, body=change(tuple(map(visit, body))))
            case If(then=then):
                return replace(node, then=change(tuple(map(visit, then))))
            case Stmt():
                return node

    return replace(program, body=change(tuple(map(visit, program.body))))


def has(node: Node, name: str) -> bool:
    """Whether a statement is in a node."""
    match node:
        case Stmt():
            return node.name == name
        case Loop(body=body):
            return any(has(n, name) for n in body)
        case If(then=then):
            return any(has(n, name) for n in then)


def later(program: Program, first: str, second: str) -> Program:
    """The program with what has one statement behind what has another one."""

    def change(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        mine = [n for n in nodes if has(n, first) and not has(n, second)]
        if not mine or not any(has(n, second) and not has(n, first) for n in nodes):
            return nodes
        found: list[Node] = []
        for node in nodes:
            found += [] if node in mine else [node, *(mine if has(node, second) else [])]
        return tuple(found)

    return bodies(program, change)


def unguarded(program: Program, name: str) -> Program:
    """The program with a statement in all iterations of its loops."""

    def change(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(
            m for n in nodes for m in (n.then if isinstance(n, If) and has(n, name) else (n,))
        )

    return bodies(program, change)


def other(program: Program, name: str, old: str, new: str) -> Program:
    """The program with a statement that accesses another array."""

    def own(access: Access) -> Access:
        return replace(access, array=new) if access.array == old else access

    return changed(program, own, name)


def writes(program: Program) -> Program:
    """The program that writes the array in the loop."""

    def own(access: Access) -> Access:
        return replace(access, array="A") if access.array == "B" else access

    return changed(program, own, "S0")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda p: without(p, "load_A"), "is read where nothing was kept"),
        (lambda p: without(p, "shift_A"), "is read where nothing was kept"),
        (lambda p: without(p, "take_A"), "is read where nothing was kept"),
        (lambda p: without(p, "keep_A"), "is read where nothing was kept"),
        (lambda p: shorter(p, "shift_A_1"), "is read where nothing was kept"),
        (lambda p: unguarded(p, "take_A"), "is read where nothing was kept"),
        (lambda p: moved(p, "load_A", "A", -1), "reads another element than its position"),
        (lambda p: moved(p, "keep_A", "A_window", -1), "is read where nothing was kept"),
        (lambda p: later(p, "shift_A", "load_A"), "kept another element"),
        (lambda p: later(p, "take_A", "keep_A"), "is read where nothing was kept"),
        (lambda p: later(p, "load_A", "S0"), "is read where nothing was kept"),
        (lambda p: moved(p, "S0", "B", -1), "S0 is another statement"),
        (lambda p: other(p, "S0", "B", "A"), "S0 is another statement"),
        (lambda p: other(p, "load_A", "A", "B"), "load_A is no copy"),
        (lambda p: unguarded(p, "S0"), "S0 has other iterations"),
        (lambda p: replace(p, arrays=p.arrays[1:]), "the arguments are other ones"),
    ],
)
def test_what_is_wrong_is_refuted(wrong: Wrong, why: str) -> None:
    right = rewritten(cross, lambda s: s.reuse("A", "y"))
    found = check_reuse(right.before, wrong(right.after), "A")
    assert found is not None
    assert found.code == "W339"
    assert why in found.message


def test_an_array_that_is_written_meanwhile_is_refuted() -> None:
    """Both programs write the array that one of them keeps."""
    right = rewritten(clamped, lambda s: s.reuse("A", "y"))
    assert check_reuse(writes(right.before), writes(right.after), "A").message.endswith(
        "S0 writes 'A' while it is kept"
    )


def test_positions_of_another_channel_are_refuted() -> None:
    right = rewritten(layer, lambda s: s.reuse("x", "h"))

    def own(access: Access) -> Access:
        if access.array != "x":
            return access
        return replace(access, indices=(*access.indices[:-1], Affine.of(1)))

    found = check_reuse(right.before, changed(right.after, own, "load_x"), "x")
    assert found is not None
    assert "another element" in found.message
