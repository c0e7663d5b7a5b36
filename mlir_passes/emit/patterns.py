"""Recognises what a ``select`` stands for: min, max, absolute value, the remainder of ``//``.

`build_expr` writes these (docs/level3.md), other front ends write the same.
"""

from __future__ import annotations

from dataclasses import replace

from mlir_passes.emit.nodes import Value

# Predicates of arith.cmpi: 2 to 5 are signed <, <=, >, >=; 6 to 9 the same unsigned.
_SLT, _SGT, _NE = 2, 4, 1
_LESS = frozenset({2, 3, 6, 7})
_UNSIGNED = frozenset({6, 7, 8, 9})
# Predicates of arith.cmpf: ordered < and >.
_OLT, _OGT = 4, 2


def recognised(select: Value) -> Value:
    """The select itself, or a value of op ``min``, ``max``, ``abs`` or ``floor_mod``.

    ``min`` and ``max`` of (a, b) are those of C++: ``b < a ? b : a``. The ``data`` of those on
    integers says whether the comparison is signed.
    """
    condition, then, orelse = select.operands
    if condition.op == "arith.cmpf":
        return _real_extreme(select, condition, then, orelse)
    if not select.width:
        return select
    if condition.op == "arith.cmpi":
        if condition.data in range(2, 10) and condition.operands == (then, orelse):
            op = "min" if condition.data in _LESS else "max"
            signed = condition.data not in _UNSIGNED
            return replace(select, op=op, operands=(orelse, then), data=signed)
        if _is_negative_test(condition, orelse) and _is_negation(then, orelse):
            return replace(select, op="abs", operands=(orelse,))
    return _remainder(select, condition, then, orelse)


def _real_extreme(select: Value, condition: Value, then: Value, orelse: Value) -> Value:
    if condition.data in (_OLT, _OGT) and condition.operands == (then, orelse):
        op = "min" if condition.data == _OLT else "max"
        return replace(select, op=op, operands=(orelse, then))
    return select


def _is_zero(value: Value) -> bool:
    return value.op == "arith.constant" and not value.real and value.data[0] == 0


def _is_negative_test(condition: Value, of: Value) -> bool:
    if condition.op != "arith.cmpi" or condition.data != _SLT:
        return False
    x, zero = condition.operands
    return x is of and _is_zero(zero)


def _is_negation(value: Value, of: Value) -> bool:
    return value.op == "arith.subi" and _is_zero(value.operands[0]) and value.operands[1] is of


def _remainder(select: Value, condition: Value, then: Value, rest: Value) -> Value:
    """``select(rest < 0, rest + y, rest)`` for a positive divisor; else the signs are compared."""
    if rest.op != "arith.remsi" or then.op != "arith.addi":
        return select
    divisor = rest.operands[1]
    if then.operands != (rest, divisor):
        return select
    matches = _is_negative_test(condition, rest) and _is_positive(divisor)
    if not matches and condition.op == "arith.andi":
        differs, nonzero = condition.operands
        matches = (
            differs.op == "arith.xori"
            and _is_negative_test(differs.operands[0], rest)
            and _is_negative_test(differs.operands[1], divisor)
            and nonzero.op == "arith.cmpi"
            and nonzero.data == _NE
            and nonzero.operands[0] is rest
            and _is_zero(nonzero.operands[1])
        )
    return replace(select, op="floor_mod", operands=rest.operands) if matches else select


def _is_positive(divisor: Value) -> bool:
    """A positive constant, or a number that was zero-extended."""
    if divisor.op == "arith.constant":
        return bool(divisor.data[0] > 0)
    return divisor.op == "arith.extui"
