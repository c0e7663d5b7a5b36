"""Sums and products of slices whose length a loop variable decides, ``L[i, :i] @ x[:i]``, made into a sum over a range.

Before::

    x[i] = b[i] - L[i, :i] @ x[:i]

After::

    x[i] = b[i] - sum(L[i, k] * x[k] for k in range(0, i))
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Expr
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.expressions.values import Value
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.context import Context
from dsl.frontend.extrema import bound_of
from dsl.frontend.operands import value

_PRODUCTS = ("dot", "inner", "vdot")


@dataclass(frozen=True, slots=True)
class UnevenSlice:
    """``A[i, low:high]``: the place of the slice among the subscripts, and its ends."""

    node: ast.Subscript
    place: int
    low: Affine | Expr
    high: Affine | Expr


def uneven_total(ctx: Context, node: ast.expr) -> ast.expr | None:
    """The sum over a range; None of what has no slice of such a length."""
    terms = _terms(ctx, node)
    if terms is None:
        return None
    slices = [s for term in terms for s in slices_of(ctx, term)]
    if not slices or None in slices:
        return None
    first, *others = [s for s in slices if s is not None]
    length = length_of(first)
    if length is None:
        if any((s.low, s.high) != (first.low, first.high) for s in others):
            return None
    elif length.is_const or any(length_of(s) != length for s in others):
        return None
    return AtPlace(ctx, node, first, [first, *others]).total(terms)


def is_uneven_total(ctx: Context, node: ast.AST) -> bool:
    """Whether such an expression sums slices of arrays of the kernel, each along one dimension."""
    terms = _terms(ctx, node) if isinstance(node, ast.expr) else None
    parts = [n for term in terms or () for n in ast.walk(term)]
    slices = [n for n in parts if _has_slice(n)]
    generates = any(isinstance(n, ast.comprehension) for n in parts)
    return bool(slices) and not generates and all(is_line(ctx, n) for n in slices)


def _terms(ctx: Context, node: ast.expr) -> list[ast.expr] | None:
    """The factors of which the products are summed; None of what is no sum."""
    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return [left, right]
        case ast.Call(func=ast.Attribute(value=of, attr="sum"), args=[], keywords=[]):
            return [of] if any(map(_has_slice, ast.walk(of))) else None
        case ast.Call(args=[left, right], keywords=[]) if _function(ctx, node) in _PRODUCTS:
            return [left, right]
        case ast.Call(args=[of], keywords=[]) if _function(ctx, node) == "sum":
            return [of]
    return None


def _function(ctx: Context, node: ast.Call) -> str:
    """The name of a function of NumPy, and ``sum``."""
    match node.func:
        case ast.Name(id=name) if name not in ctx.bound:
            found = ctx.request.environment.lookup(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name not in ctx.bound:
            found = getattr(ctx.request.environment.lookup(name), attr, None)
        case _:
            return ""
    return "sum" if found is builtins.sum else numpy_name(found) or ""


def _has_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and any(isinstance(p, ast.Slice) for p in parts_of(node))


def parts_of(node: ast.Subscript) -> list[ast.expr]:
    """The subscripts of an access."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_line(ctx: Context, node: ast.AST) -> bool:
    """Whether it is a slice along one dimension of an array that is known, and at one place of all others."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    name = node.value
    if (
        name not in ctx.given
        and ctx.names.find(name.id) is None
        and ctx.names.constant(name.id) is None
    ):
        return False
    part = part_of(ctx, ctx.evaluate(name))
    along = [p for p in parts_of(node) if isinstance(p, ast.Slice)]
    return (
        part is not None
        and len(parts_of(node)) == len(part[1].shape)
        and len(along) == 1
        and along[0].step is None
    )


def is_element(ctx: Context, node: ast.Subscript) -> bool:
    """Whether it is an element of an array."""
    part = part_of(ctx, ctx.evaluate(node.value)) if isinstance(node.value, ast.Name) else None
    return (
        part is not None
        and len(parts_of(node)) == len(part[1].shape)
        and not any(isinstance(n, ast.Slice) for n in parts_of(node))
    )


def slices_of(ctx: Context, term: ast.expr) -> Iterator[UnevenSlice | None]:
    """The slices of an expression that is computed element by element; None of what is not understood."""
    match term:
        case ast.Constant() | ast.Name():
            if isinstance(term, ast.Name) and part_of(ctx, ctx.evaluate(term)) is not None:
                yield None  # an array
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
            yield from slices_of(ctx, left)
            yield from slices_of(ctx, right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from slices_of(ctx, operand)
        case ast.Subscript() if is_line(ctx, term):
            yield slice_at(ctx, term)
        case ast.Subscript() if is_element(ctx, term):
            return
        case _:
            yield None


def length_of(of: UnevenSlice) -> Affine | None:
    """How many elements there are; None where an end is a minimum or a maximum."""
    if isinstance(of.low, Affine) and isinstance(of.high, Affine):
        return of.high - of.low
    return None


def slice_at(ctx: Context, node: ast.Subscript) -> UnevenSlice | None:
    """Of one that is inside of the array, where Python neither counts from its end nor cuts it."""
    part = part_of(ctx, ctx.evaluate(node.value))
    assert part is not None
    place = next(n for n, p in enumerate(parts_of(node)) if isinstance(p, ast.Slice))
    along, extent = parts_of(node)[place], part[1].shape[place]
    assert isinstance(along, ast.Slice)
    low = _end(ctx, along.lower, 0)
    high = _end(ctx, along.upper, extent)
    if low is None or high is None:
        return None
    ends = [_interval(ctx, end) for end in (low, high)]
    if min(e[0] for e in ends) < 0 or max(e[1] for e in ends) > extent:
        return None
    return UnevenSlice(node, place, low, high)


def _end(ctx: Context, node: ast.expr | None, default: int) -> Affine | Expr | None:
    """An end that is affine, or a minimum or maximum of such."""
    if node is None:
        return Affine.of(default)
    found: Value = value(ctx, node)
    affine = values.as_affine(found)
    if affine is not None or not isinstance(found, Expr) or bound_of(found) is None:
        return affine
    return found


def _interval(ctx: Context, end: Affine | Expr) -> Range:
    ranges = ctx.names.ranges()
    if isinstance(end, Affine):
        return end.interval(ranges)
    return value_range(end, ranges, lambda _, dtype: type_range(dtype))


class AtPlace:
    """Expressions at one place of the range of a first slice, and the sum of them over it."""

    def __init__(
        self, ctx: Context, node: ast.expr, first: UnevenSlice, slices: Sequence[UnevenSlice]
    ) -> None:
        self._ctx = ctx
        self._node = node
        self._first = first
        self._slices = {id(s.node): s for s in slices}
        self.var = ctx.names.unique_loop("at", ctx.names.loops())

    def total(self, terms: list[ast.expr]) -> ast.expr:
        """``sum(a * b for k in range(low, high))``."""
        term = self.element(terms[0])
        for factor in terms[1:]:
            term = self.at(ast.BinOp(term, ast.Mult(), self.element(factor)))
        ends = [self.given(self._first.low), self.given(self._first.high)]
        over = self.at(ast.Call(self.given(range), ends, []))
        target = self.at(ast.Name(self.var, ast.Store()))
        each = self.at(ast.GeneratorExp(term, [ast.comprehension(target, over, [], 0)]))
        return self.at(ast.Call(self.given(builtins.sum), [each], []))

    def element(self, of: ast.expr, use: ast.expr_context | None = None) -> ast.expr:
        """The expression at one place of the range."""
        found = self._slices.get(id(of))
        if found is not None:
            at = self.at(ast.Name(self.var, ast.Load()))
            if isinstance(found.low, Affine) and isinstance(self._first.low, Affine):
                at = self.at(ast.BinOp(at, ast.Add(), self.given(found.low - self._first.low)))
            parts = [at if n == found.place else p for n, p in enumerate(parts_of(found.node))]
            key = parts[0] if len(parts) == 1 else self.at(ast.Tuple(parts, ast.Load()))
            return self.at(ast.Subscript(found.node.value, key, use or ast.Load()))
        match of:
            case ast.BinOp(left=left, op=op, right=right):
                return self.at(ast.BinOp(self.element(left), op, self.element(right)))
            case ast.UnaryOp(op=op, operand=operand):
                return self.at(ast.UnaryOp(op, self.element(operand)))
            case _:
                return of

    def given(self, found: object) -> ast.expr:
        made = self.at(ast.Name("given", ast.Load()))
        self._ctx.given[made] = found
        return made

    def at(self, node: ast.expr) -> ast.expr:
        return ast.copy_location(node, self._node)
