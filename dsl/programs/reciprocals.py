"""Quotients by a value that a loop keeps, as products with its reciprocal, as a rewriting of the program.

Before, with ``reciprocal("S1", "i")``::

    for i in range(N):
      S1: x[i] = x[i] / d

After, in front of the loop::

    S1_inverse: d_inverse = 1.0 / d
    for i in range(N):
      S1: x[i] = x[i] * d_inverse

What the loop itself computes first is divided by in the first iteration that needs it. Before, with ``reciprocal("S1", "i")``::

    for i in range(N):
      for j in range(i):
        S1: A[i, j] = A[i, j] / A[j, j]
      S2: A[i, i] = sqrt(A[i, i])

After::

    for i in range(N):
      for j in range(i):
        if i == j + 1:
          S1_inverse: A_inverse[j] = 1.0 / A[j, j]
        S1: A[i, j] = A[i, j] * A_inverse[j]
      S2: A[i, i] = sqrt(A[i, i])

Whether all of these iterations divide by the same is for `polyhedral.legality.kept_divisors` to prove.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dsl.expressions.affine import Affine, Cond
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    loads,
    walk,
)
from dsl.expressions.types import FloatType
from dsl.programs.names import unused
from dsl.programs.program import (
    Array,
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
    map_statements,
    replaced,
)
from dsl.programs.scopes import ordered_locals


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """The rewritten program.

    Attributes:
        program: the program.
        stmt: the statement that divides.
        array: the local that it assigns to.
    """

    program: Program
    stmt: str
    array: str


@dataclass(frozen=True, slots=True)
class Quotient:
    """A division of floats.

    Attributes:
        division: the division.
        moving: the loop variables that say which value that is.
        scope: the loops around a local that it reads, at most, each iteration of which has its own.
    """

    division: Binary
    moving: frozenset[str]
    scope: int

    @property
    def divisor(self) -> Expr:
        """What it divides by."""
        return self.division.rhs


def is_quotient(expr: Expr) -> bool:
    """Whether an expression is a division of floats."""
    return (
        isinstance(expr, Binary) and expr.op is BinaryOp.DIV and isinstance(expr.dtype, FloatType)
    )


def quotients(program: Program, stmt: Stmt) -> Iterator[Quotient]:
    """The divisions of a statement in the type of floats that it assigns, by what elements alone say: none that is looked up,
    and no loop variable. Those that conditions, subscripts and conversions take are none of these: they may come to something else
    altogether where a quotient is rounded otherwise.
    """
    dtype = program.array(stmt.target.array).dtype
    for part in _parts(stmt.value):
        if not isinstance(part, Binary) or not is_quotient(part) or part.dtype != dtype:
            continue
        read = loads(part.rhs)
        if read and not any(isinstance(e, Gather | Index) for e in walk(part.rhs)):
            moving = {v for access in read for index in access.indices for v in index.variables()}
            scope = max(program.array(access.array).scope_depth for access in read)
            yield Quotient(part, frozenset(moving), scope)


def _parts(expr: Expr) -> Iterator[Expr]:
    """The operators and branches that an expression is computed by."""
    yield expr
    match expr:
        case Scatter(value=x) | Unary(operand=x):
            yield from _parts(x)
        case Binary(lhs=a, rhs=b) | Select(then=a, orelse=b):
            yield from _parts(a)
            yield from _parts(b)


def in_front(program: Program, name: str, level: int, quotient: Quotient) -> Reciprocal | None:
    """The program that divides in front of a loop; None where what the divisor is depends on where the loop is.

    Args:
        program: the kernel.
        name: of the statement.
        level: loops around the loop.
        quotient: one of the statement's.
    """
    path = _path(program, name)
    at = [n for n, node in enumerate(path) if isinstance(node, Loop)][level]
    known = {node.var for node in path[:at] if isinstance(node, Loop)}
    below = path[at + 1 :]
    inside = [loop for loop in below if isinstance(loop, Loop) and loop.var in quotient.moving]
    for loop in inside:
        if any(v not in known for e in (*loop.lowers, *loop.uppers) for v in e.variables()):
            return None
        known.add(loop.var)
    made = _Made.of(program, name, level, quotient, [loop.var for loop in inside])
    node: Node = made.stmt
    for loop in reversed(inside):
        node = replace(loop, body=(node,))
    body = map_statements(path[at], made.product)
    return made.reciprocal(_with(program, path[at], (node, body)))


def at_first(
    program: Program, name: str, level: int, quotient: Quotient, first: Cond
) -> Reciprocal:
    """The program that divides right in front of the statement, in the first of the iterations that divide by the same.

    Args:
        program: the kernel.
        name: of the statement.
        level: loops around the loop that keeps the divisor.
        quotient: one of the statement's.
        first: holds in these iterations.
    """
    path = _path(program, name)
    loops = [node for node in path if isinstance(node, Loop)]
    kept = [loop.var for loop in loops[level + 1 :] if loop.var in quotient.moving]
    made = _Made.of(program, name, level, quotient, kept)
    node = path[-1]
    assert isinstance(node, Stmt)
    guarded = If(first, (made.stmt,), span=node.span)
    return made.reciprocal(_with(program, node, (guarded, made.product(node))))


@dataclass(frozen=True, slots=True)
class _Made:
    """What stands for the divisor."""

    array: Array
    stmt: Stmt
    name: str
    quotient: Quotient

    @staticmethod
    def of(
        program: Program, name: str, level: int, quotient: Quotient, kept: Sequence[str]
    ) -> _Made:
        stmt = next(s for s in program.statements() if s.name == name)
        read = loads(quotient.divisor)
        base = f"{read[0].array if len({a.array for a in read}) == 1 else 'divisor'}_inverse"
        local = unused(base, [a.name for a in program.arrays])
        ranges = [_range(_path(program, name), var) for var in kept]
        extents = tuple(end - first for first, end in ranges)
        dtype = quotient.division.dtype
        array = Array(local, dtype, extents, Storage.LOCAL, False, level, stmt.span)
        pairs = zip(kept, ranges, strict=True)
        access = Access(local, tuple(Affine.of(v) - low for v, (low, _) in pairs), stmt.span)
        value = Binary(BinaryOp.DIV, Const(1.0, dtype), quotient.divisor, dtype, stmt.span)
        own = unused(f"{name}_inverse", [s.name for s in program.statements()])
        return _Made(array, Stmt(own, access, value, stmt.span, stmt.source), name, quotient)

    def product(self, stmt: Stmt) -> Stmt:
        """The statement with products in the place of its quotients; another one as it is."""
        if stmt.name != self.name:
            return stmt
        factor = Load(self.stmt.target, self.array.dtype)
        return replace(stmt, value=with_factor(stmt.value, self.quotient.divisor, factor))

    def reciprocal(self, program: Program) -> Reciprocal:
        """The program with the local."""
        new = replace(program, arrays=(*program.arrays, self.array))
        return Reciprocal(ordered_locals(new), self.stmt.name, self.array.name)


def with_factor(expr: Expr, divisor: Expr, factor: Load) -> Expr:
    """The expression with products with a factor in the place of quotients by a divisor; of 1 over it the factor alone."""

    def inside(part: Expr) -> Expr:
        return with_factor(part, divisor, factor)

    if is_quotient(expr) and isinstance(expr, Binary) and expr.rhs == divisor:
        if isinstance(expr.lhs, Const) and expr.lhs.value == 1 and expr.dtype == factor.dtype:
            return factor
        if expr.dtype == factor.dtype:
            return replace(expr, op=BinaryOp.MUL, lhs=inside(expr.lhs), rhs=factor)
    match expr:
        case Scatter(value=value):
            return replace(expr, value=inside(value))
        case Unary(operand=x):
            return replace(expr, operand=inside(x))
        case Binary(lhs=a, rhs=b):
            return replace(expr, lhs=inside(a), rhs=inside(b))
        case Select(then=a, orelse=b):
            return replace(expr, then=inside(a), orelse=inside(b))
    return expr


def _range(path: Sequence[Node], var: str) -> tuple[int, int]:
    """The values that a loop variable may have, from 0 where none is less, and the end."""
    bounds: dict[str, tuple[int, int]] = {}
    for loop in path:
        if isinstance(loop, Loop):
            low = max(e.interval(bounds)[0] for e in loop.lowers)
            high = min(e.interval(bounds)[1] for e in loop.uppers)
            bounds[loop.var] = (low, max(low, high - 1))
    return min(0, bounds[var][0]), bounds[var][1] + 1


def _path(program: Program, name: str) -> tuple[Node, ...]:
    """The nodes around a statement, outermost first, and the statement."""
    return next(
        (*around, node)
        for node, around in program.walk()
        if isinstance(node, Stmt) and node.name == name
    )


def _with(program: Program, old: Node, new: tuple[Node, ...]) -> Program:
    return replace(program, body=replaced(program.body, (old,), new))
