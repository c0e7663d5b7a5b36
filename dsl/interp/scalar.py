"""Expressions as closures over one iteration: the plain path, element by element.

A closure takes the values of the loop variables, outermost first. Exact values are Python
integers (raws), floats are NumPy scalars, truth values are Python bools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, assert_never

import numpy as np

from dsl.arrays import floats
from dsl.expressions import numeric
from dsl.expressions.affine import Affine
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
)
from dsl.expressions.numeric import Exact, Fault, FaultKind, frac_of, signed_of, width_of
from dsl.expressions.types import DType, FixedType, FloatType, Overflow
from dsl.interp.memory import Memory, Store
from dsl.interp.ranges import Range, stays_inside

Env = list[int]
Closure = Callable[[Env], Any]
Cells = Any


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean where an expression is evaluated."""

    memory: Memory
    slots: Mapping[str, int]
    ranges: Mapping[str, Range]


def cells(store: Store) -> Cells:
    """The elements in row-major order, to be read and written one at a time."""
    flat = store.data.reshape(-1)
    if store.data.dtype.kind in "iu":
        return flat.data  # a memoryview: Python integers come out of it
    return flat


def affine(expr: Affine, scope: Scope) -> Callable[[Env], int]:
    """A closure for an affine expression."""
    const = expr.const
    if not expr.is_linear:
        names = [(name, scope.slots[name]) for name in expr.variables()]
        return lambda env: expr.evaluate({name: env[slot] for name, slot in names})
    terms = [(scope.slots[str(name)], factor) for name, factor in expr.terms]
    match terms:
        case []:
            return lambda env: const
        case [(slot, 1)]:
            return (lambda env: env[slot]) if const == 0 else (lambda env: env[slot] + const)
        case [(slot, a)]:
            return lambda env: a * env[slot] + const
        case [(slot, a), (slot2, b)]:
            return lambda env: a * env[slot] + b * env[slot2] + const
        case [(slot, a), (slot2, b), (slot3, c)]:
            return lambda env: a * env[slot] + b * env[slot2] + c * env[slot3] + const
        case _:
            return lambda env: sum(factor * env[slot] for slot, factor in terms) + const


def offset(access: Access, store: Store, scope: Scope) -> Callable[[Env], int]:
    """A closure for the row-major position of an element, checked where it may be outside."""
    shape = store.array.shape
    flat = Affine()
    for index, extent in zip(access.indices, shape, strict=True):
        flat = flat * extent + index
    position = affine(flat, scope)
    if stays_inside(access, shape, scope.ranges):
        return position
    subscripts = (*zip(access.indices, shape, strict=True), *access.limits)
    checks = [(affine(i, scope), n) for i, n in subscripts]

    def checked(env: Env) -> int:
        for dim, (index, extent) in enumerate(checks):
            if not 0 <= index(env) < extent:
                detail = f"dimension {dim} of {access} is {index(env)}, not in 0..{extent - 1}"
                raise Fault(FaultKind.OUT_OF_BOUNDS, detail)
        return position(env)

    return checked


def compile_expr(expr: Expr, scope: Scope) -> Closure:
    """A closure for the value of an expression."""
    match expr:
        case Const():
            value = constant(expr)
            return lambda env: value
        case Index():
            return _index(expr, scope)
        case Load():
            return _element(
                expr.access, offset(expr.access, scope.memory[expr.access.array], scope), scope
            )
        case Gather(access, data):
            return _element(access, gathered(access, data, scope), scope)
        case Scatter():
            raise TypeError(f"{expr} is no operand")
        case Unary():
            return _unary(expr, compile_expr(expr.operand, scope))
        case Binary():
            return _binary(expr, compile_expr(expr.lhs, scope), compile_expr(expr.rhs, scope))
        case Compare():
            return _compare(expr, compile_expr(expr.lhs, scope), compile_expr(expr.rhs, scope))
        case Select():
            return _select(expr, scope)
        case Cast(operand=x, dtype=dtype):
            inner = compile_expr(x, scope)
            change = conversion(x.dtype, dtype)
            return inner if change is None else lambda env: change(inner(env))
        case _:
            assert_never(expr)


def constant(expr: Const) -> Any:
    """The value of a constant: a raw, or a NumPy scalar."""
    if isinstance(expr.dtype, FloatType):
        return floats.HOLDS[expr.dtype.name].type(expr.value)
    scaled = Fraction(expr.value) * Fraction(2) ** frac_of(expr.dtype)
    return int(scaled)


def _index(expr: Index, scope: Scope) -> Closure:
    value = affine(expr.affine, scope)
    low, high = expr.affine.interval(scope.ranges)
    if low >= -(1 << 31) and high < 1 << 31:
        return value
    return lambda env: numeric.wrap(value(env), 32, True)


def gathered(access: Access, data: Sequence[Expr], scope: Scope) -> Callable[[Env], int]:
    """The position of an element whose subscripts are partly data, checked."""
    shape = scope.memory[access.array].array.shape
    values = iter([compile_expr(x, scope) for x in data])
    places = [
        (next(values) if i.is_data else affine(i, scope), n)
        for i, n in zip(access.indices, shape, strict=True)
    ]
    known = dict(zip(access.indices, (index for index, _ in places), strict=True))
    limits = [(known[e] if e.is_data else affine(e, scope), n) for e, n in access.limits]

    def position(env: Env) -> int:
        flat = 0
        for dim, (index, extent) in enumerate((*places, *limits)):
            value = int(index(env))
            if not 0 <= value < extent:
                detail = f"dimension {dim} of {access} is {value}, not in 0..{extent - 1}"
                raise Fault(FaultKind.OUT_OF_BOUNDS, detail)
            if dim < len(places):
                flat = flat * extent + value
        return flat

    return position


def _element(access: Access, position: Callable[[Env], int], scope: Scope) -> Closure:
    store = scope.memory[access.array]
    values = cells(store)
    if store.written is None:
        return lambda env: values[position(env)]
    written = store.written.reshape(-1).data

    def checked(env: Env) -> Any:
        at = position(env)
        if not written[at]:
            raise Fault(FaultKind.UNINITIALISED, f"it is {access}")
        return values[at]

    return checked


def _unary(expr: Unary, x: Closure) -> Closure:
    op, result, source = expr.op, expr.dtype, expr.operand.dtype
    if isinstance(source, FloatType):
        if op is UnaryOp.NEG:
            return lambda env: -x(env)
        scalar = floats.HOLDS[source.name].type
        return lambda env: scalar(floats.unary(op, x(env), source))
    assert not isinstance(result, FloatType)
    if op is UnaryOp.NEG:
        return lambda env: -x(env)
    return lambda env: numeric.exact_unary(op, x(env), result)


def _binary(expr: Binary, a: Closure, b: Closure) -> Closure:
    if isinstance(expr.dtype, FloatType):
        return _float_binary(expr.op, a, b, expr.dtype)
    ta, tb, result = expr.lhs.dtype, expr.rhs.dtype, expr.dtype
    assert not isinstance(ta, FloatType)
    assert not isinstance(tb, FloatType)
    op = expr.op
    aligned = frac_of(ta) == frac_of(tb)
    if op is BinaryOp.MUL:
        return lambda env: a(env) * b(env)
    if op is BinaryOp.ADD and aligned:
        return lambda env: a(env) + b(env)
    if op is BinaryOp.SUB and aligned:
        return lambda env: a(env) - b(env)
    return lambda env: numeric.exact_binary(op, a(env), ta, b(env), tb, result)


def _float_binary(op: BinaryOp, a: Closure, b: Closure, dtype: FloatType) -> Closure:
    if dtype.name == "bf16":
        return lambda env: np.float32(floats.binary(op, a(env), b(env), dtype))
    match op:
        case BinaryOp.ADD:
            return lambda env: a(env) + b(env)
        case BinaryOp.SUB:
            return lambda env: a(env) - b(env)
        case BinaryOp.MUL:
            return lambda env: a(env) * b(env)
        case BinaryOp.DIV:
            return lambda env: a(env) / b(env)
        case BinaryOp.MIN:
            return lambda env: _smaller(a(env), b(env))
        case _:
            return lambda env: _larger(a(env), b(env))


def _smaller(a: Any, b: Any) -> Any:
    return b if b < a else a


def _larger(a: Any, b: Any) -> Any:
    return b if b > a else a


def _compare(expr: Compare, a: Closure, b: Closure) -> Closure:
    op, ta, tb = expr.op, expr.lhs.dtype, expr.rhs.dtype
    if isinstance(ta, FloatType) or isinstance(tb, FloatType):
        assert ta == tb, "dsl.expressions.typing converts both sides"
        return lambda env: bool(numeric.compared(op, a(env), b(env)))
    fa, fb = frac_of(ta), frac_of(tb)
    if fa == fb:
        return lambda env: numeric.compared(op, a(env), b(env))
    return lambda env: numeric.exact_compare(op, a(env), fa, b(env), fb)


def _select(expr: Select, scope: Scope) -> Closure:
    cond = compile_expr(expr.cond, scope)
    then = compile_expr(expr.then, scope)
    orelse = compile_expr(expr.orelse, scope)
    then_as = conversion(expr.then.dtype, expr.dtype)
    else_as = conversion(expr.orelse.dtype, expr.dtype)

    def both(env: Env) -> Any:
        truth, a, b = cond(env), then(env), orelse(env)  # both sides are evaluated, faults too
        if truth:
            return a if then_as is None else then_as(a)
        return b if else_as is None else else_as(b)

    return both


def conversion(source: DType, target: DType) -> Callable[[Any], Any] | None:
    """A function from values of one type to the other; None where nothing changes."""
    if source == target:
        return None
    if isinstance(target, FloatType):
        scalar = floats.HOLDS[target.name].type
        if isinstance(source, FloatType):
            return lambda x: scalar(floats.round_to(x, target))
        frac = frac_of(source)
        return lambda x: scalar(numeric.to_float(x, frac, target))
    if isinstance(source, FloatType):
        return lambda x: numeric.from_float(float(x), target)
    return _exact_conversion(source, target)


def _exact_conversion(source: Exact, target: Exact) -> Callable[[int], int] | None:
    frac = frac_of(source)
    same_sign = signed_of(source) == signed_of(target)
    if isinstance(target, FixedType) and target.overflow is Overflow.SAT_SYM:
        holds_all = False  # the smallest value of the same type is out of its range
    elif same_sign:
        holds_all = width_of(source) <= width_of(target)
    else:
        holds_all = not signed_of(source) and width_of(source) < width_of(target)
    if holds_all and frac == frac_of(target):
        return None
    return lambda x: numeric.convert(x, frac, target)
