"""What an assignment makes of the value that its element had: operators in a row, perhaps under conditions.

``s = max(s + x, y)`` is ``s``, plus ``x``, at least ``y``; ``s = s + 1 if c else 0`` is one of two functions. The
family that has all functions of a recurrence follows from their operators (`dsl.programs.composed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dsl.expressions import typing
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    Load,
    Select,
    loads,
)
from dsl.expressions.numeric import Exact
from dsl.expressions.types import DType, FixedType, FloatType, IntType, Overflow, boolean
from dsl.programs.composed import (
    Applied,
    Chain,
    Choice,
    Component,
    Family,
    Function,
    Kind,
    Reset,
    leaves,
)

_SUMS = frozenset({BinaryOp.ADD, BinaryOp.SUB})
_LIMITS = frozenset({BinaryOp.MIN, BinaryOp.MAX})
_BITWISE = frozenset({BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR})
_KNOWN = _SUMS | _LIMITS | _BITWISE | {BinaryOp.MUL}


class NoScanError(Exception):
    """The statement is no recurrence that can run in blocks; the text says why."""


def function_of(value: Expr, before: Access) -> Function:
    """What a value is of the element that it is computed from.

    Raises:
        NoScanError: it is no function of operators in a row.
    """
    if not _reads(value, before):
        return Reset(value)
    match value:
        case Load(access=access) if access == before:
            return Chain()
        case Cast(operand, dtype):
            return _converted(function_of(operand, before), dtype, operand.dtype)
        case Binary(op, lhs, rhs, dtype) if op in _KNOWN:
            if not _reads(rhs, before):
                return _applied(function_of(lhs, before), op, rhs, dtype, False)
            if not _reads(lhs, before):
                return _applied(function_of(rhs, before), op, lhs, dtype, True)
        case Binary(BinaryOp.SHL, lhs, Const(value=int(places)), dtype) if _reads(lhs, before):
            factor = Const(1 << places, IntType(places + 1, False))
            return _applied(function_of(lhs, before), BinaryOp.MUL, factor, dtype, False)
        case Select(cond, then, orelse, dtype) if not _reads(cond, before):
            a, b = (
                _converted(function_of(x, before), dtype, x.dtype, whole=True)
                for x in (then, orelse)
            )
            return Choice(cond, a, b)
        case _:
            pass
    raise NoScanError(f"it is no sum, product, minimum, maximum or choice of {before}")


def _reads(value: Expr, before: Access) -> bool:
    return before in loads(value)


def _applied(function: Function, op: BinaryOp, term: Expr, dtype: DType, turned: bool) -> Function:
    match function:
        case Choice(cond, then, orelse):
            a, b = (_applied(f, op, term, dtype, turned) for f in (then, orelse))
            return Choice(cond, a, b)
        case Reset(value):
            sides = (term, value) if turned else (value, term)
            return Reset(Binary(op, *sides, dtype))
        case Chain(ops):
            turned = turned and op is BinaryOp.SUB
            return Chain((*ops, Applied(op, term, dtype, turned)))


def _converted(function: Function, dtype: DType, of: DType, whole: bool = False) -> Function:
    """The function with its value converted, as all of one type are by a choice that holds every value (``whole``)."""
    if dtype == of:
        return function
    match function:
        case Choice(cond, then, orelse):
            a, b = (_converted(f, dtype, of, whole) for f in (then, orelse))
            return Choice(cond, a, b)
        case Reset(value):
            return Reset(typing.cast(dtype, value))
        case Chain():
            if whole and not isinstance(dtype, FloatType):
                return function
            if isinstance(of, IntType) and isinstance(dtype, IntType):
                return _cut(function, of, dtype)
    raise NoScanError(f"it is converted from {of} to {dtype} on its way")


def _cut(chain: Chain, of: IntType, dtype: IntType) -> Chain:
    """A conversion is an operator that changes nothing where it loses nothing, or modulo 2^n."""
    kept = of.width + (dtype.signed and not of.signed)
    if dtype.width >= kept and dtype.signed >= of.signed:
        return chain
    zero = Const(0, IntType(1, False))
    return Chain((*chain.ops, Applied(BinaryOp.ADD, zero, dtype)))


def family_of(functions: Sequence[Function], dtype: DType) -> Family:
    """The family of the functions of a recurrence in a type; the components of a ``CLAMP`` are still of that type.

    Raises:
        NoScanError: no family has all of them.
    """
    found = [leaf for function in functions for leaf in leaves(function)]
    steps = [op for leaf in found if isinstance(leaf, Chain) for op in leaf.ops]
    ops = frozenset(step.op for step in steps)
    resets = any(isinstance(leaf, Reset) for leaf in found)
    turned = any(step.turned for step in steps)
    group = BinaryOp.ADD if ops <= _SUMS else next(iter(ops)) if len(ops) == 1 else None
    wide = group in _LIMITS and any(step.dtype != dtype for step in steps)
    if group is not None and not turned and not (wide and isinstance(dtype, IntType)):
        if ops == {BinaryOp.SUB} and not resets:
            group = BinaryOp.SUB
        _check_kept(steps, group, dtype, any(isinstance(f, Choice) for f in functions))
        words = [Component("scan", dtype)]
        words += [Component("keep", boolean)] if resets else []
        return Family(Kind.KEEP, group if ops else None, dtype, tuple(words))
    if ops <= _SUMS | _LIMITS and not turned:
        return _clamp(ops, resets, dtype)
    words = []
    if ops <= _SUMS | {BinaryOp.MUL}:
        kind, first = Kind.RING, "times"
    elif ops <= _BITWISE:
        kind, first = Kind.BITS, "mask"
    else:
        raise NoScanError(f"no composition of {_listed(ops)} is one of them again")
    _check_integer(steps, dtype)
    words = [Component(first, dtype), Component("scan", dtype)]
    return Family(kind, BinaryOp.ADD, dtype, tuple(words))


def _clamp(ops: frozenset[BinaryOp], resets: bool, dtype: DType) -> Family:
    """Sums between limits."""
    if not isinstance(dtype, IntType | FloatType):
        raise NoScanError(f"limits of a {dtype} are not composed")
    words = ["scan"] if ops & _SUMS else []
    words += ["least"] if resets or BinaryOp.MAX in ops else []
    words += ["most"] if resets or BinaryOp.MIN in ops else []
    return Family(Kind.CLAMP, BinaryOp.ADD, dtype, tuple(Component(w, dtype) for w in words))


def _check_kept(steps: Sequence[Applied], op: BinaryOp, dtype: DType, chosen: bool) -> None:
    """One operator whose partial results may be stored in that type, in any order."""
    for step in steps:
        if isinstance(dtype, FloatType):
            if step.dtype != dtype:
                raise NoScanError(f"each step cuts a {step.dtype} to {dtype}")
        elif (op in _LIMITS and step.dtype != dtype) or not isinstance(step.dtype, Exact):
            raise NoScanError(f"each step cuts a {step.dtype} to {dtype}")
        elif isinstance(dtype, FixedType):
            frac = step.dtype.frac if isinstance(step.dtype, FixedType) else 0
            if dtype.overflow is not Overflow.WRAP or frac > dtype.frac:
                raise NoScanError(f"each step cuts a {step.dtype} to {dtype}")
    if op is BinaryOp.MUL and isinstance(dtype, FixedType) and dtype.frac != 0:
        raise NoScanError(f"products of {dtype} are cut at other places")
    if isinstance(dtype, FixedType) and chosen:
        raise NoScanError(f"choices of a {dtype} are not composed")
    if not isinstance(dtype, FixedType | FloatType) and op not in _LIMITS:
        _check_integer(steps, dtype)


def _check_integer(steps: Sequence[Applied], dtype: DType) -> None:
    """Modulo 2^n: nothing is narrower on its way."""
    if not isinstance(dtype, IntType):
        raise NoScanError(f"sums and products of a {dtype} cannot be composed")
    for step in steps:
        if not isinstance(step.dtype, IntType) or step.dtype.width < dtype.width:
            raise NoScanError(f"it is a {step.dtype} on its way to {dtype}")


def _listed(ops: frozenset[BinaryOp]) -> str:
    *first, last = sorted(op.value for op in ops)
    return f"{', '.join(first)} and {last}" if first else last


def with_component_types(
    family: Family, types: dict[str, DType], limits: tuple[int, int]
) -> Family:
    """The family with components as wide as their values."""
    components = tuple(replace(c, dtype=types.get(c.word, c.dtype)) for c in family.components)
    return replace(family, components=components, limits=limits)
