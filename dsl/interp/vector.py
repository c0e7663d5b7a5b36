"""Expressions and statements in many iterations at once: the fast path."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dsl.arrays import exact, floats
from dsl.arrays.exact import ArrayFault, Raws, Truths
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
    stored_value,
)
from dsl.expressions.numeric import Exact, FaultKind, frac_of, width_of
from dsl.expressions.types import DType, FloatType, boolean
from dsl.interp.faults import ExecutionError
from dsl.interp.memory import Memory, Store
from dsl.interp.places import Place, gathered, locate
from dsl.interp.plan import StmtPlan
from dsl.interp.space import Space, evaluate

_RING = (
    BinaryOp.ADD,
    BinaryOp.SUB,
    BinaryOp.MUL,
    BinaryOp.AND,
    BinaryOp.OR,
    BinaryOp.XOR,
    BinaryOp.SHL,
)


def store(plan: StmtPlan, space: Space, memory: Memory) -> None:
    """Run a statement in every iteration of the space, which must write disjoint elements.

    Raises:
        ExecutionError: a fault in some iteration; then nothing was written.
    """
    stmt = plan.stmt
    target = memory[stmt.target.array]
    try:
        values = converted(stored_value(stmt.value), target.array.dtype, space, memory)
        place: Place
        if isinstance(stmt.value, Scatter):
            place = _gathered(target, stmt.target, stmt.value.data, space, memory)
        else:
            place = locate(target, stmt.target, space)
    except ArrayFault as fault:
        iteration = space.iteration(fault.where, plan.names)
        raise ExecutionError(fault, stmt, iteration) from fault
    place.put(target.data, values)
    if target.written is not None and not target.complete:
        place.put(target.written, True)


def converted(expr: Expr, dtype: DType, space: Space, memory: Memory) -> NDArray[Any]:
    """The value of an expression as it is stored in an element of that type."""
    source = expr.dtype
    if isinstance(dtype, FloatType):
        return as_float(expr, dtype, space, memory)
    if isinstance(source, FloatType):
        return exact.from_float(float_value(expr, space, memory), dtype)
    if width_of(dtype) <= 64 and exact.keeps_low_bits(source, dtype):
        return exact.convert_low(raws(expr, space, memory, low=True), source, dtype)
    return exact.convert(raws(expr, space, memory), source, dtype)


def as_float(expr: Expr, dtype: FloatType, space: Space, memory: Memory) -> NDArray[Any]:
    """The value of an expression of any type as that float type."""
    source = expr.dtype
    if isinstance(source, FloatType):
        values = float_value(expr, space, memory)
        return values if source == dtype else floats.round_to(values, dtype)
    return exact.to_float(raws(expr, space, memory), source, dtype)


def load(expr: Load | Gather, space: Space, memory: Memory) -> NDArray[Any]:
    """The elements that are read, as they are stored; they broadcast to the space.

    Raises:
        ArrayFault: out of bounds, or a local that was not written.
    """
    store = memory[expr.access.array]
    if isinstance(expr, Gather):
        place: Place = _gathered(store, expr.access, expr.data, space, memory)
    else:
        place = locate(store, expr.access, space)
    if store.written is not None and not store.complete:
        exact.require(place.view(store.written), FaultKind.UNINITIALISED)
        store.complete = bool(store.written.all())
    return place.view(store.data)


def _gathered(
    store: Store, access: Access, data: Sequence[Expr], space: Space, memory: Memory
) -> Place:
    return gathered(store, access, [np.asarray(raws(x, space, memory)) for x in data], space)


def float_value(expr: Expr, space: Space, memory: Memory) -> NDArray[Any]:
    """The value of an expression of float type."""
    dtype = expr.dtype
    assert isinstance(dtype, FloatType)
    match expr:
        case Const(value=value):
            return np.full((1,) * len(space.shape), value, dtype=floats.HOLDS[dtype.name])
        case Load() | Gather():
            return load(expr, space, memory)
        case Unary(op=op, operand=x):
            return floats.unary(op, float_value(x, space, memory), dtype)
        case Binary(op=op, lhs=a, rhs=b):
            left, right = float_value(a, space, memory), float_value(b, space, memory)
            return floats.binary(op, left, right, dtype)
        case Select(cond=c, then=a, orelse=b):
            truth = truths(c, space, memory)
            left, right = as_float(a, dtype, space, memory), as_float(b, dtype, space, memory)
            return np.where(truth, left, right)
        case Cast(operand=x):
            return as_float(x, dtype, space, memory)
        case Index() | Compare() | Scatter():
            raise TypeError(f"{expr} has no float type")
        case _:
            assert_never(expr)


def truths(expr: Expr, space: Space, memory: Memory) -> Truths:
    """The value of a ``u1`` expression as NumPy booleans."""
    match expr:
        case Compare(op=op, lhs=a, rhs=b):
            ta, tb = a.dtype, b.dtype
            if isinstance(ta, FloatType) or isinstance(tb, FloatType):
                left, right = float_value(a, space, memory), float_value(b, space, memory)
                return exact.compared(op, left, right)
            left, right = raws(a, space, memory), raws(b, space, memory)
            return exact.compare(op, left, ta, right, tb)
        case Unary(op=UnaryOp.NOT, operand=x):
            return ~truths(x, space, memory)
        case Binary(op=BinaryOp.AND, lhs=a, rhs=b) if a.dtype == boolean and b.dtype == boolean:
            return truths(a, space, memory) & truths(b, space, memory)
        case Binary(op=BinaryOp.OR, lhs=a, rhs=b) if a.dtype == boolean and b.dtype == boolean:
            return truths(a, space, memory) | truths(b, space, memory)
        case _:
            return np.asarray(raws(expr, space, memory) != 0, dtype=np.bool_)


def raws(expr: Expr, space: Space, memory: Memory, low: bool = False) -> Raws:
    """The value of an expression of exact type; modulo 2**64 if ``low`` (see `exact`)."""
    dtype = expr.dtype
    assert not isinstance(dtype, FloatType)
    match expr:
        case Const(value=value):
            scaled = int(Fraction(value) * Fraction(2) ** frac_of(dtype))
            return _settled(_filled(scaled, len(space.shape)), dtype, low)
        case Index(affine=affine):
            data = evaluate(affine, space)
            whole = _filled(data, len(space.shape)) if isinstance(data, int) else data
            return exact.wrap(exact.low_bits(whole), 32, True)
        case Load() | Gather():
            return _settled(load(expr, space, memory), dtype, low)
        case Unary(op=UnaryOp.NOT) | Compare():
            return truths(expr, space, memory).astype(np.int64)
        case Unary():
            return _unary(expr, space, memory, low)
        case Binary():
            return _binary(expr, space, memory, low)
        case Select(cond=c, then=a, orelse=b):
            truth = truths(c, space, memory)
            left, right = (_cast(side, dtype, space, memory, low) for side in (a, b))
            return np.where(truth, left, right)
        case Cast(operand=x):
            return _cast(x, dtype, space, memory, low)
        case Scatter():
            raise TypeError(f"{expr} is no operand")
        case _:
            assert_never(expr)


def _filled(value: int, rank: int) -> Raws:
    """One value in an array of its own that broadcasts to any space of that rank."""
    array = np.empty((1,) * rank, dtype=object)
    array[...] = value
    return array


def _settled(values: Raws, dtype: Exact, low: bool) -> Raws:
    """Loaded elements or a constant as int64 or object raws."""
    if not low:
        return exact.settle(values, dtype)
    return exact.low_bits(values) if values.dtype == object else values.astype(np.int64, copy=False)


def _binary(expr: Binary, space: Space, memory: Memory, low: bool) -> Raws:
    ta, tb, result = expr.lhs.dtype, expr.rhs.dtype, expr.dtype
    assert not isinstance(ta, FloatType)
    assert not isinstance(tb, FloatType)
    assert not isinstance(result, FloatType)
    ring = low and expr.op in _RING
    a = raws(expr.lhs, space, memory, ring)
    b = raws(expr.rhs, space, memory, ring and expr.op is not BinaryOp.SHL)
    value = exact.binary(expr.op, a, ta, b, tb, result, ring)
    return exact.low_bits(value) if low and not ring else value


def _unary(expr: Unary, space: Space, memory: Memory, low: bool) -> Raws:
    source, result = expr.operand.dtype, expr.dtype
    assert not isinstance(source, FloatType)
    assert not isinstance(result, FloatType)
    ring = low and expr.op in (UnaryOp.NEG, UnaryOp.INVERT)
    value = exact.unary(expr.op, raws(expr.operand, space, memory, ring), source, result, ring)
    return exact.low_bits(value) if low and not ring else value


def _cast(expr: Expr, dtype: Exact, space: Space, memory: Memory, low: bool) -> Raws:
    source = expr.dtype
    if isinstance(source, FloatType):
        value = exact.from_float(float_value(expr, space, memory), dtype)
    elif low and exact.keeps_low_bits(source, dtype):
        return exact.convert_low(raws(expr, space, memory, low=True), source, dtype)
    else:
        value = exact.convert(raws(expr, space, memory), source, dtype)
    return exact.low_bits(value) if low else value
