"""Expressions made again from other operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backends.rtl.ir import fold
from backends.rtl.ir import nodes as ir
from backends.rtl.ir.expr import ArithOp, BitOp, Expr, ShiftOp


def with_children(e: Expr, parts: Sequence[Expr]) -> Expr:
    """The same operator on other operands of the same widths; folded where they are constants."""
    match e:
        case ir.Slice():
            return parts[0].bits(e.hi, e.lo)
        case ir.Extend():
            return parts[0].resize(e.width, e.signed)
        case ir.Not():
            return ~parts[0]
        case ir.Reduce():
            return parts[0].all() if e.every else parts[0].any()
        case ir.Concat():
            return fold.concat(*parts)
        case ir.Binary(op=BitOp()):
            return fold.bitwise(BitOp(e.op), *parts)
        case ir.Binary():
            return fold.arith(ArithOp(e.op), *parts)
        case ir.Compare():
            return fold.compare(e.op, parts[0], parts[1], e.signed)
        case ir.Shift():
            return _shift(e.op, *parts)
        case ir.Mux():
            return fold.mux(*parts)
        case _:
            return e


def _shift(op: ShiftOp, arg: Expr, amount: Expr) -> Expr:
    by = amount.value if isinstance(amount, ir.Lit) else amount
    match op:
        case ShiftOp.SHL:
            return arg.shl(by)
        case ShiftOp.SHR:
            return arg.shr(by)
        case ShiftOp.SAR:
            return arg.sar(by)


def substitute(roots: Sequence[Expr], env: Mapping[str, Expr]) -> list[Expr]:
    """The expressions with signals replaced by name; others stay."""
    made: dict[int, Expr] = {}
    for e in ir.topological(roots):
        if isinstance(e, ir.Ref):
            made[id(e)] = env.get(e.name, e)
        else:
            made[id(e)] = with_children(e, [made[id(c)] for c in ir.children(e)])
    return [made[id(r)] for r in roots]
