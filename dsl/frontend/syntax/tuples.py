"""Tuples that are compared and chosen, and ``else`` of loops without ``break``, written with what they are made of.

Before::

    if (dy, dx) != (0, 0):
        ...
    low, high = (a, b) if a < b else (b, a)

After::

    if not (dy == 0 and dx == 0):
        ...
    low, high = (a if a < b else b), (b if a < b else a)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

_STRICT: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.Lt(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.Gt(),
    ast.GtE: ast.Gt(),
}


def without_tuples(node: ast.FunctionDef) -> None:
    """Write comparisons of tuples and choices between them out; the function is changed."""
    _Tuples().visit(node)
    node.body = _without_else(node.body)


class _Tuples(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """``(a, b) == (c, d)``, ``(a, b) in ((c, d), (e, f))``."""
        self.generic_visit(node)
        match node:
            case ast.Compare(
                left=ast.Tuple() as left, ops=[op], comparators=[ast.Tuple() as right]
            ):
                made = _membership(left, op, right) or _compared(left, op, right)
                return node if made is None else _placed(node, made)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """``low, high = (a, b) if a < b else (b, a)``."""
        self.generic_visit(node)
        node.value = _chosen(node.value)
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """``return (a, b) if a < b else (b, a)``."""
        self.generic_visit(node)
        node.value = None if node.value is None else _chosen(node.value)
        return node


def _membership(left: ast.Tuple, op: ast.cmpop, right: ast.Tuple) -> ast.expr | None:
    if not isinstance(op, ast.In | ast.NotIn) or not right.elts:
        return None
    tests: list[ast.expr] = []
    for each in right.elts:
        test = _equal(left, each) if isinstance(each, ast.Tuple) else None
        if test is None:
            return None
        tests.append(test)
    return _joined(ast.Or(), tests, isinstance(op, ast.NotIn))


def _compared(left: ast.Tuple, op: ast.cmpop, right: ast.Tuple) -> ast.expr | None:
    if isinstance(op, ast.Eq | ast.NotEq):
        same = _equal(left, right)
        return ast.UnaryOp(ast.Not(), same) if same and isinstance(op, ast.NotEq) else same
    strict = _STRICT.get(type(op))
    if strict is None or len(left.elts) != len(right.elts) or not left.elts:
        return None
    # In lexicographic order: the last elements decide where all in front of them are equal.
    *pairs, (a, b) = zip(left.elts, right.elts, strict=True)
    found = _test(a, op, b)
    for a, b in reversed(pairs):
        equal = ast.BoolOp(ast.And(), [_test(a, ast.Eq(), b), found])
        found = ast.BoolOp(ast.Or(), [_test(a, strict, b), equal])
    return found


def _equal(left: ast.Tuple, right: ast.Tuple) -> ast.expr | None:
    if len(left.elts) != len(right.elts) or not left.elts:
        return None
    tests: list[ast.expr] = []
    for a, b in zip(left.elts, right.elts, strict=True):
        both = isinstance(a, ast.Tuple) and isinstance(b, ast.Tuple)
        test = _equal(a, b) if both else _test(a, ast.Eq(), b)  # type: ignore[arg-type]
        if test is None:
            return None
        tests.append(test)
    return _joined(ast.And(), tests)


def _test(a: ast.expr, op: ast.cmpop, b: ast.expr) -> ast.expr:
    return ast.Compare(copy.deepcopy(a), [op], [copy.deepcopy(b)])


def _joined(op: ast.boolop, tests: list[ast.expr], is_not: bool = False) -> ast.expr:
    found = tests[0] if len(tests) == 1 else ast.BoolOp(op, tests)
    return ast.UnaryOp(ast.Not(), found) if is_not else found


def _chosen(node: ast.expr) -> ast.expr:
    """A tuple of choices, of a choice between tuples of as many elements; all else as it is."""
    if not isinstance(node, ast.IfExp):
        return node
    then, orelse = _chosen(node.body), _chosen(node.orelse)
    if not isinstance(then, ast.Tuple) or not isinstance(orelse, ast.Tuple):
        return node
    if len(then.elts) != len(orelse.elts):
        return node
    parts: list[ast.expr] = [
        ast.IfExp(copy.deepcopy(node.test), a, b)
        for a, b in zip(then.elts, orelse.elts, strict=True)
    ]
    return _placed(node, ast.Tuple(parts, ast.Load()))


def _placed(place: ast.expr, node: ast.expr) -> ast.expr:
    """The expression, of which what has no place in the file stands at that of another one."""
    for n in ast.walk(node):
        if isinstance(n, ast.expr) and not hasattr(n, "lineno"):
            ast.copy_location(n, place)
    return node


def _without_else(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The ``else`` of a loop that no ``break`` leaves stands behind the loop, so that a ``return`` in it ends a kernel."""
    found: list[ast.stmt] = []
    for s in statements:
        for name in ("body", "orelse"):
            inner = getattr(s, name, None)
            if isinstance(inner, list) and not isinstance(s, ast.FunctionDef):
                setattr(s, name, _without_else(inner))
        found.append(s)
        if isinstance(s, ast.For | ast.While) and not _is_left(s):
            found += s.orelse
            s.orelse = []
    return found


def _is_left(loop: ast.For | ast.While) -> bool:
    return any(map(_leaves, loop.body))


def _leaves(node: ast.AST) -> bool:
    """Whether a ``break`` of the loop around is in a statement; those of loops inside are theirs."""
    if isinstance(node, ast.Break):
        return True
    parts = node.orelse if isinstance(node, ast.For | ast.While) else ast.iter_child_nodes(node)
    return any(map(_leaves, parts))
