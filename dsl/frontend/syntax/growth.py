"""Loops whose variable decides how long inner loops are, as the stages of a transform do: ``range(16 // (2 << s))``.

No affine bound says that, so the body is written out, once for each value of the variable. Found are powers, shifts and
quotients by the variable, products with it of what moves, and strides, in the bounds of loops and slices in the body; the
names that are assigned on the way are followed. So are subscripts at distances that double, ``x[i + (1 << s)]`` and
``x[i ^ (1 << s)]`` in a loop over ``i``: where the distance is a number they are affine.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from dsl.frontend.syntax.bases import base_of
from dsl.frontend.syntax.geometric import Geometric

_HEADERS = ("range", "grid", "product", "ndindex")


def needs_constant(
    loop: ast.For,
    moving: Collection[str] = (),
    *,
    is_data: bool = False,
    is_array: Callable[[str], bool] = lambda _: False,
    is_loop: Callable[[ast.AST], bool] = lambda _: False,
) -> bool:
    """Whether bounds in the body are affine only where the loop variable is a number.

    Args:
        loop: over one variable.
        moving: the variables of the loops around.
        is_data: the variable is one that no loop over a range counts, so that no bound is affine in it.
        is_array: whether a name is that of an array of the kernel, of which no element is a constant.
        is_loop: whether an expression or an assignment is a loop over slices that may have any length.
    """
    if not isinstance(loop.target, ast.Name):
        return False
    return _Growth(loop.target.id, {*moving}, 2 if is_data else 1, is_array, is_loop).found(
        loop.body
    )


class _Growth:
    """Follows a variable: ``levels`` are 1 for names that are affine in it, 2 for others that depend on it."""

    def __init__(
        self,
        var: str,
        moving: set[str],
        level: int,
        is_array: Callable[[str], bool],
        is_loop: Callable[[ast.AST], bool],
    ) -> None:
        self._is_loop = is_loop
        self._is_array = is_array
        self._var = var
        self._levels = {var: level}
        self._moving = moving
        self._distances = Distances(var, is_distance=level == 2)

    def found(self, statements: Sequence[ast.stmt]) -> bool:
        return any(self._in(s) for s in statements)

    def _in(self, s: ast.stmt) -> bool:
        match s:
            case ast.For(target=ast.Name(id=name), iter=Geometric() as values) if self.level(
                values.first
            ) or self.level(values.counter.bound):
                self._assign(name, 2, True)  # its values are known where the variable is a number
                self._distances.doubles(name)
                return self.found(s.body)
            case ast.For():
                if self._is_header(s.iter) or self._in_exprs(s.iter):
                    return True
                targets = {n.id for n in ast.walk(s.target) if isinstance(n, ast.Name)}
                self._moving |= targets
                self._distances.inner |= targets
                return self.found(s.body) or self.found(s.orelse)
            case ast.If():
                return self._in_exprs(s.test) or self.found(s.body) or self.found(s.orelse)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(name, self.level(value), self._moves(value))
                self._distances.assign(name, value)
                return self._in_exprs(value)
            case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=parts)):
                for goal, part in zip(goals, parts, strict=False):
                    if isinstance(goal, ast.Name):
                        self._assign(goal.id, self.level(part), self._moves(part))
                        self._distances.assign(goal.id, part)
                return self._in_exprs(s)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self._assign(name, 2 if self.level(value) else self._levels.get(name, 0), True)
                self._distances.data.add(name)
                return self._in_exprs(value)
            case _:
                return self._in_exprs(s)

    def _assign(self, name: str, level: int, moves: bool) -> None:
        self._levels[name] = max(self._levels.get(name, 0), level)
        if moves:
            self._moving.add(name)

    def _in_exprs(self, of: ast.AST) -> bool:
        """Whether a generator, a slice or a subscript in an expression needs the number."""
        if self._is_loop(of):
            return False
        if isinstance(of, ast.Subscript) and self._distances.in_subscript(of.slice):
            return True
        if isinstance(of, ast.comprehension) and self._is_header(of.iter):
            return True
        if isinstance(of, ast.Slice) and self._is_uneven(of):
            return True
        return any(map(self._in_exprs, ast.iter_child_nodes(of)))

    def _is_header(self, node: ast.expr) -> bool:
        """Whether it is a range with such a bound, or with a step that varies."""
        if not isinstance(node, ast.Call):
            return False
        if any(self._is_header(a) for a in node.args):
            return True
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name not in _HEADERS:
            return False
        steps = node.args[2:] if name == "range" else []
        return any(self.level(a) == 2 for a in node.args) or any(self.level(a) for a in steps)

    def _is_uneven(self, part: ast.Slice) -> bool:
        """Whether the length of a slice depends on the variable."""
        ends = [n for n in (part.lower, part.upper) if n is not None]
        if part.step is not None and self.level(part.step):
            return True
        levels = [self.level(n) for n in ends]
        if 2 in levels:
            return True
        return self._slope(part.lower) != self._slope(part.upper)

    def _slope(self, node: ast.expr | None) -> int | None:
        """The coefficient of the variable in an expression of level 0 or 1; None where it is not plain to see."""
        match node:
            case None | ast.Constant():
                return 0
            case ast.Name(id=name):
                return 1 if name == self._var else None if self._levels.get(name, 0) else 0
            case ast.BinOp(left=a, op=ast.Add() | ast.Sub() as op, right=b):
                left, right = self._slope(a), self._slope(b)
                if left is None or right is None:
                    return None
                return left + right if isinstance(op, ast.Add) else left - right
            case ast.BinOp(left=ast.Constant(value=int() as by), op=ast.Mult(), right=of):
                inner = self._slope(of)
                return None if inner is None else inner * by
            case ast.BinOp(left=of, op=ast.Mult(), right=ast.Constant(value=int() as by)):
                inner = self._slope(of)
                return None if inner is None else inner * by
        return None if self.level(node) else 0

    def level(self, node: ast.expr) -> int:
        """0: the variable is not in it; 1: it is affine in the variable; 2: it depends on it otherwise."""
        match node:
            case ast.Name(id=name):
                return self._levels.get(name, 0)
            case ast.BinOp(left=left, op=op, right=right):
                return self._of_operator(op, left, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.level(operand)
            case ast.Call(args=args):
                return max(map(self.level, args), default=0)
            case ast.Subscript() if self._is_array(getattr(base_of(node), "id", "")):
                return 0
        inside = (self.level(n) for n in _children(node))
        return 2 if any(inside) else 0

    def _of_operator(self, op: ast.operator, left: ast.expr, right: ast.expr) -> int:
        a, b = self.level(left), self.level(right)
        match op:
            case ast.Add() | ast.Sub():
                return max(a, b)
            case ast.Mult():
                both = (a and b) or (a and self._moves(right)) or (b and self._moves(left))
                return 2 if both else max(a, b)
            case ast.FloorDiv() | ast.Mod() | ast.LShift():
                return 2 if b else a
        return 2 if a or b else 0

    def _moves(self, node: ast.expr) -> bool:
        """Whether a variable of another loop is in it, or data."""
        return any(
            isinstance(n, ast.Subscript) or (isinstance(n, ast.Name) and n.id in self._moving)
            for n in ast.walk(node)
        )


class Distances:
    """Names of what doubles with a variable, of what inner loops count, and of data."""

    def __init__(self, var: str, *, is_distance: bool) -> None:
        self._var = {var}
        self._doubling = {var} if is_distance else set()
        self.inner: set[str] = set()
        self.data: set[str] = set()

    def assign(self, name: str, value: ast.expr) -> None:
        """A name has a value from here on."""
        if self._is_data(value):
            self.data.add(name)
        if self._doubles(value):
            self._doubling.add(name)
        if _names(value) & self.inner:
            self.inner.add(name)
        if _names(value) & self._var:
            self._var.add(name)

    def doubles(self, name: str) -> None:
        """A name has values that the variable decides, each the half of another or twice as much."""
        self._doubling.add(name)
        self._var.add(name)

    def in_subscript(self, node: ast.expr) -> bool:
        """Whether a subscript is what inner loops count, at a distance that doubles."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return any(
            self._doubles(n) and _names(n) & self.inner and not self._is_data(n) for n in parts
        )

    def _doubles(self, node: ast.expr) -> bool:
        return bool(_names(node) & self._doubling) or any(
            isinstance(n, ast.BinOp)
            and isinstance(n.op, ast.LShift | ast.RShift | ast.Pow)
            and _names(n.right) & self._var
            for n in ast.walk(node)
        )

    def _is_data(self, node: ast.expr) -> bool:
        return bool(_names(node) & self.data) or any(
            isinstance(n, ast.Subscript | ast.Call) for n in ast.walk(node)
        )


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _children(node: ast.AST) -> Iterator[ast.expr]:
    return (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
