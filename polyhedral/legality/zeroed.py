"""Whether elements are 0 in front of a loop, by the statements there."""

from __future__ import annotations

from collections.abc import Sequence

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Load
from dsl.programs.expanded import accesses_of
from dsl.programs.program import Loop, Node, Program, Stmt, statements_in


def is_zero_before(
    program: Program, before: Sequence[Node], load: Load, loops: Sequence[Loop]
) -> bool:
    """Whether what touches an array last in front of a loop sets the elements to 0 that the loop assigns.

    Args:
        program: the kernel.
        before: what stands in front of the loop in the same body, in order.
        load: the elements, by variables of ``loops`` and of loops around.
        loops: inside of the loop.
    """
    moving = {loop.var for loop in loops}
    shape = program.array(load.access.array).shape
    for node in reversed(before):
        touched = {a.array for s in statements_in(node) for a in accesses_of(s)}
        if load.access.array not in touched:
            continue
        found = _zeroed(node)
        if found is None:
            return False
        target, whole = found
        if len(set(target.indices) & whole.keys()) != len(whole):
            return False
        return all(
            whole[its] == extent if its in whole else mine == its and not mine.variables() & moving
            for mine, its, extent in zip(load.access.indices, target.indices, shape, strict=True)
        )
    return False


def _zeroed(node: Node) -> tuple[Access, dict[Affine, int]] | None:
    """What a nest of one statement sets to 0, with the subscripts that run from 0 to so many, each by itself."""
    whole: dict[Affine, int] = {}
    while isinstance(node, Loop):
        first, end = node.lowers, node.uppers
        plain = len(first) == len(end) == 1 and abs(node.step) == 1 and len(node.body) == 1
        if not plain or first[0] != Affine() or not end[0].is_const:
            return None
        whole[Affine.of(node.var)] = end[0].const
        node = node.body[0]
    if not isinstance(node, Stmt) or not isinstance(node.value, Const) or node.value.value != 0:
        return None
    return node.target, whole
