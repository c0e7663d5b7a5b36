"""Floor divisions that the ranges of the loops settle: ``(4*k_0 + k_1) // 4`` is ``k_0``.

What takes turns by ``k % 4`` is told apart by ``k_1`` once ``k`` runs in blocks of 4: then the bank
of an element is known. The statements of a tree keep their own variables; a division that is
settled becomes a variable of its own, whose value the instance gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dsl.expressions.affine import Affine, Atom, FloorDiv
from dsl.expressions.expr import Access, Const, Expr, Gather, Index, Load, Scatter, map_leaves, walk
from dsl.programs.program import Stmt
from polyhedral.looptree.tree import Instance, TreeGuard, TreeLoop, TreeNode

Range = tuple[int, int]


def settled(nodes: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
    """The nodes with the divisions in their instances settled where that can be."""
    return tuple(_node(node, {}) for node in nodes)


def _node(node: TreeNode, ranges: Mapping[str, Range]) -> TreeNode:
    match node:
        case TreeLoop():
            inside = {**ranges, **range_of(node, ranges)}
            body = tuple(_node(n, inside) for n in node.body)
        case TreeGuard():
            body = tuple(_node(n, ranges) for n in node.body)
        case Instance():
            return settled_instance(node, ranges)
    unchanged = all(a is b for a, b in zip(body, node.body, strict=True))
    return node if unchanged else replace(node, body=body)


def range_of(loop: TreeLoop, ranges: Mapping[str, Range]) -> dict[str, Range]:
    """A loop's variable with its least and greatest value; nothing where these are not known."""
    if any(v not in ranges for b in (*loop.lowers, *loop.uppers) for v in b.variables()):
        return {}
    low = max(b.interval(ranges)[0] for b in loop.lowers)
    high = min(b.interval(ranges)[1] for b in loop.uppers) - 1
    return {loop.iv: (low, high)} if low <= high else {}


def settled_instance(instance: Instance, ranges: Mapping[str, Range]) -> Instance:
    """One instance; itself where it has no division, or none that is settled.

    Args:
        instance: of a statement.
        ranges: the least and the greatest value of loop variables around, where known.
    """
    divisions = dict.fromkeys(divisions_of(instance.stmt))
    if not divisions:
        return instance
    values = dict(instance.bindings)
    found: dict[Atom, Affine] = {}
    for division in divisions:
        plain = Affine(((division, 1),)).substitute(values)
        simple = simplified(plain, ranges)
        if simple != plain:
            found[division] = simple
    if not found:
        return instance
    names = {division: str(division) for division in found}
    bindings = tuple((names[division], value) for division, value in found.items())
    stmt = _renamed(instance.stmt, names)
    return replace(instance, stmt=stmt, bindings=(*instance.bindings, *bindings))


def divisions_of(stmt: Stmt) -> Iterator[FloorDiv]:
    """The floor divisions in a statement's subscripts and values."""
    affines = list(stmt.target.indices)
    for expr in walk(stmt.value):
        match expr:
            case Load(access=access) | Gather(access=access) | Scatter(access=access):
                affines += access.indices
            case Index(affine=affine):
                affines.append(affine)
    for affine in affines:
        yield from (atom for atom, _ in affine.terms if isinstance(atom, FloorDiv))


def simplified(affine: Affine, ranges: Mapping[str, Range]) -> Affine:
    """Without the divisions that always give the same."""
    result = Affine((), affine.const)
    for atom, c in affine.terms:
        result = result + (_term(atom, ranges) * c)
    return result


def _term(atom: Atom, ranges: Mapping[str, Range]) -> Affine:
    if isinstance(atom, FloorDiv) and atom.numerator.variables() <= ranges.keys():
        low, high = (x // atom.denominator for x in atom.numerator.interval(ranges))
        if low == high:
            return Affine((), low)
    return Affine(((atom, 1),))


def _renamed(stmt: Stmt, names: Mapping[Atom, str]) -> Stmt:
    """The statement with divisions as variables."""

    def affine(expr: Affine) -> Affine:
        result = Affine((), expr.const)
        for atom, c in expr.terms:
            result = result + Affine(((names.get(atom, atom), c),))
        return result

    def access(of: Access) -> Access:
        return Access(of.array, tuple(map(affine, of.indices)), of.span)

    def leaf(expr: Const | Load | Index) -> Expr:
        match expr:
            case Const():
                return expr
            case Load():
                return Load(access(expr.access), expr.dtype)
            case Index():
                return Index(affine(expr.affine), expr.dtype)

    return replace(stmt, target=access(stmt.target), value=map_leaves(stmt.value, leaf))
