"""The arithmetic of a level 3 statement, built with `builder.Builder`."""

from __future__ import annotations

from collections.abc import Callable

from backends.rtl.front.tree import Expr, Statement
from backends.rtl.front.unsupported import unsupported
from backends.rtl.front.values.builder import Builder
from backends.rtl.front.values.fixed import cast, divide
from backends.rtl.front.values.val import FALSE, TRUE, Val, constant, signed_range
from backends.rtl.graph import Kind
from dsl.expressions.affine import Affine
from dsl.expressions.types import FixedType, Quant

Load = Callable[[str, tuple[Affine, ...], tuple[Val, ...]], Val]
"""Of an array, at subscripts, of which some are values."""
Index = Callable[[Affine], Val]
Argument = Callable[[int], Val]

_FLOATS = {
    "arith.addf": Kind.FADD,
    "arith.subf": Kind.FSUB,
    "arith.mulf": Kind.FMUL,
    "arith.divf": Kind.FDIV,
    "arith.negf": Kind.FNEG,
    "math.absf": Kind.FABS,
    "math.sqrt": Kind.FSQRT,
    "math.exp": Kind.FEXP,
}
_BITWISE = {"arith.andi": Kind.AND, "arith.ori": Kind.OR, "arith.xori": Kind.XOR}
_DIVISIONS = {
    "arith.divsi": (Kind.DIV, True),
    "arith.floordivsi": (Kind.FLOORDIV, True),
    "arith.remsi": (Kind.REM, True),
    "arith.divui": (Kind.DIV, False),
    "arith.remui": (Kind.REM, False),
}
# Predicates of arith.cmpf: the comparison, and whether its operands change places.
_CMPF = {
    1: (Kind.FEQ, False),
    2: (Kind.FLT, True),
    3: (Kind.FLE, True),
    4: (Kind.FLT, False),
    5: (Kind.FLE, False),
    13: (Kind.FNE, False),
}


def statement_value(
    b: Builder, stmt: Statement, load: Load, index: Index, argument: Argument
) -> tuple[Val, tuple[Val, ...]]:
    """The value that the statement stores, and the subscripts of what it stores to that are data.

    ``load`` and ``index`` take expressions of its loops.
    """
    vals: list[Val] = []
    for expr in stmt.ops:
        match expr.name:
            case "affine.load" | "memref.load":
                vals.append(load(expr.array, expr.indices, tuple(vals[n] for n in expr.operands)))
            case "arith.index_cast":
                assert expr.index is not None
                vals.append(index(expr.index))
            case "input":
                vals.append(argument(expr.value))
            case "arith.constant":
                vals.append(_constant(expr))
            case _:
                operands = tuple(vals[n] for n in expr.operands)
                widths = tuple(stmt.ops[n].width for n in expr.operands)
                vals.append(_operation(b, expr, operands, widths))
    return vals[-1], tuple(vals[n] for n in stmt.subscripts)


def _constant(expr: Expr) -> Val:
    """Small numbers of either sign are narrow; a truth value is 0 or 1."""
    _, high = signed_range(expr.width)
    if expr.is_float or expr.width == 1 or expr.value <= high:
        return constant(expr.value)
    return constant(expr.value - (1 << expr.width))


def _operation(b: Builder, expr: Expr, x: tuple[Val, ...], widths: tuple[int, ...]) -> Val:
    name, width = expr.name, expr.width
    if name in _FLOATS:
        return b.floating(_FLOATS[name], *x)
    if name in _BITWISE:
        return b.bitwise(_BITWISE[name], x[0], x[1], width)
    if name in _DIVISIONS:
        kind, signed = _DIVISIONS[name]
        read = b.signed if signed else b.unsigned
        return b.divide(kind, read(x[0], width), read(x[1], width), width)
    match name:
        case "arith.addi":
            return b.add(x[0], x[1], width)
        case "arith.subi":
            return b.sub(x[0], x[1], width)
        case "arith.muli":
            return b.mul(x[0], x[1], width)
        case "arith.shli":
            return b.shl(x[0], b.unsigned(x[1], width), width)
        case "arith.shrsi":
            return b.shr(b.signed(x[0], width), b.unsigned(x[1], width))
        case "arith.shrui":
            return b.shr(b.unsigned(x[0], width), b.unsigned(x[1], width))
        case "arith.extsi":
            return b.signed(x[0], widths[0])
        case "arith.extui":
            return b.unsigned(x[0], widths[0])
        case "arith.trunci":
            return x[0]
        case "arith.select":
            return b.select(b.unsigned(x[0], 1), x[1], x[2], width)
        case "arith.cmpi":
            return _compare(b, expr.value, x, widths[0])
        case "arith.cmpf":
            return _compare_floats(b, expr, x)
        case _:
            return _conversion(b, expr, x, widths)


def _conversion(b: Builder, expr: Expr, x: tuple[Val, ...], widths: tuple[int, ...]) -> Val:
    match expr.name:
        case "arith.sitofp" | "arith.uitofp":
            signed = expr.name == "arith.sitofp"
            raw = b.signed(x[0], widths[0]) if signed else b.unsigned(x[0], widths[0])
            return _to_float(b, raw, 0)
        case "hls.fixed_to_float":
            src = expr.src
            assert src is not None
            raw = b.signed(x[0], src.width) if src.signed else b.unsigned(x[0], src.width)
            return _to_float(b, raw, src.frac)
        case "arith.fptosi" | "arith.fptoui":
            signed = expr.name == "arith.fptosi"
            return b.from_float(x[0], FixedType(expr.width, expr.width, signed, Quant.TRN_ZERO))
        case "hls.fixed_from_float":
            assert expr.dst is not None
            return b.from_float(x[0], expr.dst)
        case "hls.fixed_cast":
            assert expr.src is not None
            assert expr.dst is not None
            return cast(b, x[0], expr.src, expr.dst)
        case "hls.fixed_div":
            assert expr.src is not None
            assert expr.rhs is not None
            assert expr.dst is not None
            return divide(b, x[0], expr.src, x[1], expr.rhs, expr.dst)
        case name:
            raise unsupported(name)


def _to_float(b: Builder, raw: Val, frac: int) -> Val:
    """The type says no more than the bits that the number needs: the converter is as small."""
    return b.to_float(raw, FixedType(raw.width, raw.width - frac, raw.low < 0))


def _compare(b: Builder, predicate: int, x: tuple[Val, ...], width: int) -> Val:
    if predicate < 2:
        return b.compare(Kind.NE if predicate else Kind.EQ, *_alike(b, x, width))
    signed, which = predicate < 6, (predicate - 2) % 4
    read = b.signed if signed else b.unsigned
    left, right = read(x[0], width), read(x[1], width)
    if which >= 2:
        left, right = right, left
    return b.compare(Kind.LE if which % 2 else Kind.LT, left, right)


def _alike(b: Builder, x: tuple[Val, ...], width: int) -> tuple[Val, Val]:
    """Both read the same way; as they are, if that is one."""
    low, high = signed_range(width)
    for least, most in ((low, high), (0, (1 << width) - 1)):
        if all(least <= v.low and v.high <= most for v in x):
            return x[0], x[1]
    return b.signed(x[0], width), b.signed(x[1], width)


def _compare_floats(b: Builder, expr: Expr, x: tuple[Val, ...]) -> Val:
    if expr.value == 0:
        return FALSE
    if expr.value == 15:
        return TRUE
    if expr.value not in _CMPF:
        raise unsupported("a comparison of floats other than ordered ones and !=")
    kind, swapped = _CMPF[expr.value]
    return b.floating(kind, *((x[1], x[0]) if swapped else x))
