"""Updates of one element that follow each other, ``t += a`` then ``if c: t += b``: in which order they stand is rounding alone.

An update adds terms to an element, or subtracts them, and reads of its array nothing else but elements a constant number away. It may stand under a condition of
its own, and alone in loops that the element does not move with: ``for j: t += a[j]`` then ``for k: t += b[k]``. Both the step that puts one behind others and what proves that it may ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dsl.expressions.expr import Access, Load, loads
from dsl.expressions.float_sums import terms_of
from dsl.programs.program import If, Loop, Node, Program, Stmt


def update_of(node: Node) -> Stmt | None:
    """The statement of a node that is an update and nothing else."""
    inside: set[str] = set()
    while not isinstance(node, Stmt):
        match node:
            case Loop(var=var, body=(inner,)):
                inside.add(var)
                node = inner
            case If(then=(inner,), orelse=()):
                node = inner
            case _:
                return None
    moves = any(inside & index.variables() for index in node.target.indices)
    return node if not moves and _adds_to(node) else None


def _adds_to(stmt: Stmt) -> bool:
    terms = terms_of(stmt.value)
    own = [plus for plus, t in terms if isinstance(t, Load) and same_element(t.access, stmt.target)]
    reads = [a for a in loads(stmt.value) if a.array == stmt.target.array]
    others = [a for a in reads if not same_element(a, stmt.target)]
    is_alone = len(reads) == len(others) + 1 and all(_is_apart(a, stmt.target) for a in others)
    return len(terms) > 1 and own == [True] and is_alone


def in_line(nodes: Sequence[Node], k: int) -> int:
    """How many nodes behind one are updates of its element; 0 where it is none itself."""
    first = update_of(nodes[k])
    count = 0
    if first is not None:
        for node in nodes[k + 1 :]:
            other = update_of(node)
            if other is None or not same_element(first.target, other.target):
                break
            count += 1
    return count


def line_of(program: Program, name: str) -> tuple[str, ...]:
    """The updates that stand directly behind the statement of a name, in their order."""
    return _line(program, name)[0]


def loops_around(program: Program, name: str) -> int:
    """The loops around a statement and those that it stands in a line with; those that it is alone in are none of them."""
    return _line(program, name)[1]


def _line(program: Program, name: str) -> tuple[tuple[str, ...], int]:
    for nodes, depth in _bodies(program.body, 0):
        for k, node in enumerate(nodes):
            stmt = update_of(node)
            if stmt is not None and stmt.name == name:
                behind = (update_of(n) for n in nodes[k + 1 : k + 1 + in_line(nodes, k)])
                return tuple(s.name for s in behind if s is not None), depth
    return (), 0


def put_behind(program: Program, name: str, count: int) -> Program:
    """The program with an update behind so many of those that follow it."""

    def moved(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        for k, node in enumerate(nodes):
            stmt = update_of(node)
            if stmt is not None and stmt.name == name:
                rest = (*nodes[:k], *nodes[k + 1 :])
                return (*rest[: k + count], node, *rest[k + count :])
        return tuple(map(inside, nodes))

    def inside(node: Node) -> Node:
        match node:
            case Loop(body=body):
                return replace(node, body=moved(body))
            case If(then=then, orelse=orelse):
                return replace(node, then=moved(then), orelse=moved(orelse))
            case _:
                return node

    return replace(program, body=moved(program.body))


def _bodies(nodes: tuple[Node, ...], depth: int) -> list[tuple[tuple[Node, ...], int]]:
    """What stands in loops and branches, and outside of all, with the loops around it."""
    found = [(nodes, depth)]
    for node in nodes:
        match node:
            case Loop(body=body):
                found += _bodies(body, depth + 1)
            case If(then=then, orelse=orelse):
                found += _bodies(then, depth) + _bodies(orelse, depth)
            case _:
                pass
    return found


def _is_apart(a: Access, b: Access) -> bool:
    """Whether two accesses of one iteration are of different elements, as their subscripts show."""
    gaps = [
        x - y for x, y in zip(a.indices, b.indices, strict=True) if not (x.is_data or y.is_data)
    ]
    return any(gap.is_const and gap.const != 0 for gap in gaps)


def same_element(a: Access, b: Access) -> bool:
    """Whether two accesses of one iteration are of one element."""
    return (a.array, a.indices) == (b.array, b.indices)
