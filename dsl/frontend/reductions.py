"""``sum``, ``min``, ``max``, ``any`` and ``all`` of an array or of what a generator gives: loops in front of the statement.

Before::

    y[0] = 2 * sum(x[i] * w[i] for i in range(16) if m[i])

After::

    sum_1 = 0
    for i in range(16):
        if m[i]:
            sum_1 += x[i] * w[i]
    y[0] = 2 * sum_1

A sum of integers or of fixed point is as wide as all its terms need.
"""

from __future__ import annotations

import ast
import builtins
import copy
import math
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from dsl.expressions.expr import Access, Const, Load
from dsl.expressions.numeric import bounds
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, boolean
from dsl.frontend.ahead import put_ahead
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context
from dsl.frontend.loops import Header, interval
from dsl.programs.program import Loop, Node, Stmt

Placed = TypeVar("Placed", bound=ast.AST)


def is_reduction(ctx: Context, node: ast.Call) -> bool:
    """Whether a call has one argument, which is a generator or an array or a part of one."""
    if len(node.args) != 1 or node.keywords:
        return False
    of = node.args[0]
    return isinstance(of, ast.GeneratorExp | ast.ListComp) or view_of(ctx, of) is not None


def reduction(ctx: Context, name: str, node: ast.Call) -> Load:
    """The scalar that such a call stands for.

    Raises:
        LanguageError: W150 it is of no array and no generator.
    """
    if len(node.args) != 1 or node.keywords:
        message = f"{name}() of a loop takes one argument"
        raise ctx.error("W150", message, node, f"write {name}(x[i] for i in range(n))")
    made = _Reduction(ctx, name, node)
    term = made.term_type()
    scalar = ctx.names.made(f"{name}_{_number(ctx, name)}", made.total_type(term), ctx.span(node))
    target = Access(scalar.name, (), ctx.span(node))
    span = ctx.span(node)
    start = Const(made.start(scalar.dtype), scalar.dtype)
    text = f"{scalar.name} = {start.value}"
    first = Stmt(ctx.name_statement(None, span), target, start, span, text)
    nodes = (first, *ctx.read(made.loop(scalar.name, term)))
    found = Load(target, scalar.dtype)
    put_ahead(ctx, node, nodes, found)
    return found


def _number(ctx: Context, name: str) -> int:
    """How many there are by that name, this one included."""
    return 1 + sum(a.name.startswith(f"{name}_") for a in ctx.names.locals)


class _Reduction:
    def __init__(self, ctx: Context, name: str, node: ast.Call) -> None:
        self._ctx = ctx
        self._name = name
        self._node = node
        self._trips = 1
        (of,) = node.args
        if not isinstance(of, ast.GeneratorExp | ast.ListComp):
            var = ctx.names.unique(f"{name}_of")
            load = self._at(ast.Name(var, ast.Load()))
            target = self._at(ast.Name(var, ast.Store()))
            of = self._at(ast.GeneratorExp(load, [ast.comprehension(target, of, [], 0)]))
        self._of = of

    def term_type(self) -> DType:
        """The type of a term, which the loop is read for on trial."""
        if isinstance(self._of.elt, ast.Constant) and type(self._of.elt.value) is int:
            term: DType = IntType(max(2, self._of.elt.value.bit_length() + 1))
            self._read_on_trial(self._at(ast.Pass()))
            return term
        ctx = self._ctx
        name = ctx.names.unique(f"{self._name}_term")
        assigned = ast.Assign([self._at(ast.Name(name, ast.Store()))], self._of.elt)
        return self._read_on_trial(self._at(assigned))

    def _read_on_trial(self, inside: ast.stmt) -> DType:
        ctx = self._ctx
        before = ctx.names, dict(ctx.statements), dict(ctx.flags)
        ctx.names = copy.deepcopy(ctx.names)
        try:
            nodes = ctx.read(self._nest([inside]))
            ranges = ctx.names.ranges()
            self._trips = max(1, max((_trips(n, ranges) for n in nodes), default=1))
            return ctx.names.locals[-1].dtype if isinstance(inside, ast.Assign) else boolean
        finally:
            ctx.names, ctx.statements, ctx.flags = before

    def total_type(self, term: DType) -> DType:
        """The type that holds the result of as many terms as there may be."""
        if self._name in ("any", "all"):
            return boolean
        if self._name != "sum":
            return IntType(32) if isinstance(term, IndexType) else term
        more = (self._trips - 1).bit_length()
        match term:
            case IntType(width, signed):
                return IntType(width + more, signed)
            case FixedType():
                return replace(term, width=term.width + more, integer=term.integer + more)
            case IndexType():
                return IntType(32 + more)
            case FloatType():
                return term

    def start(self, dtype: DType) -> int | float | Fraction:
        """What the result is of no terms at all."""
        match self._name:
            case "sum" | "any":
                return 0.0 if isinstance(dtype, FloatType) else 0
            case "all":
                return 1
        is_min = self._name == "min"
        if isinstance(dtype, FloatType):
            return math.inf if is_min else -math.inf
        found = Fraction(bounds(dtype)[is_min])
        return found / Fraction(2) ** dtype.frac if isinstance(dtype, FixedType) else int(found)

    def loop(self, scalar: str, term: DType) -> ast.stmt:
        """The loop that adds the terms up in that scalar."""
        new = self._of.elt
        if self._name in ("any", "all") and term != boolean:
            one, zero = self._at(ast.Constant(1)), self._at(ast.Constant(0))
            new = self._at(ast.IfExp(new, one, zero))
        target = self._at(ast.Name(scalar, ast.Store()))
        if self._name in ("min", "max"):
            called = self._at(ast.Name(self._name, ast.Load()))
            self._ctx.given[called] = getattr(builtins, self._name)
            old = self._at(ast.Name(scalar, ast.Load()))
            update: ast.stmt = ast.Assign([target], self._at(ast.Call(called, [old, new], [])))
        else:
            op = {"sum": ast.Add, "any": ast.BitOr, "all": ast.BitAnd}[self._name]()
            update = ast.AugAssign(target, op, new)
        return self._nest([self._at(update)])

    def _nest(self, inside: list[ast.stmt]) -> ast.stmt:
        for part in reversed(self._of.generators):
            for test in reversed(part.ifs):
                inside = [self._at(ast.If(test, inside, []))]
            inside = [self._at(ast.For(part.target, part.iter, inside, []))]
        return inside[0]

    def _at(self, node: Placed) -> Placed:
        return ast.copy_location(node, self._node)


def _trips(node: Node, ranges: dict[str, tuple[int, int]]) -> int:
    """At most so many iterations of the innermost loops."""
    if not isinstance(node, Loop):
        return 1
    low, high = interval(Header(ast.Name(node.var), node.lowers, node.uppers, node.step), ranges)
    inside = {**ranges, node.var: (low, high)}
    most = max((_trips(n, inside) for n in node.body), default=1)
    return (-(-(high - low + 1) // abs(node.step))) * most
