"""Result types of the operators: ``ap_int`` and ``ap_fixed`` for exact types, the wider float else.

The tables are those of ``RType`` in ``ap_int_base.h`` and ``ap_fixed_base.h``; ``//`` and ``%`` are
Python's. Use them through `dsl.expressions.typing`.
"""

from __future__ import annotations

from typing import assert_never

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import BinaryOp, UnaryOp
from dsl.expressions.numeric import Exact, frac_of, signed_of, width_of
from dsl.expressions.types import (
    MAX_WIDTH,
    DType,
    FixedType,
    FloatType,
    IndexType,
    IntType,
    boolean,
    f32,
)

_FLOAT_RANK = {"f16": 0, "bf16": 0, "f32": 1, "f64": 2}
_FLOAT_OPS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MIN, BinaryOp.MAX)
_INT_ONLY_OPS = (
    BinaryOp.FLOORDIV,
    BinaryOp.MOD,
    BinaryOp.AND,
    BinaryOp.OR,
    BinaryOp.XOR,
    BinaryOp.SHL,
    BinaryOp.SHR,
)


def common_type(a: DType, b: DType, span: Span | None = None) -> DType:
    """The type that holds every value of both exactly; with a float among them, the float.

    This is the type of ``min``, ``max`` and select. f16 with bf16 is f32. Fixed-point results have
    the default modes.
    """
    if isinstance(a, FloatType) or isinstance(b, FloatType):
        return common_float(a, b)
    assert not isinstance(a, FloatType)
    assert not isinstance(b, FloatType)
    integer, frac, signed = _aligned_bits(a, b)
    return _exact(integer, frac, signed, a, b, span)


def common_float(a: DType, b: DType) -> FloatType:
    """The float type of an operation of which at least one operand is a float."""
    if not isinstance(a, FloatType):
        assert isinstance(b, FloatType)
        return b
    if not isinstance(b, FloatType) or a == b:
        return a
    if _FLOAT_RANK[a.name] == _FLOAT_RANK[b.name]:
        return f32
    return a if _FLOAT_RANK[a.name] > _FLOAT_RANK[b.name] else b


def _aligned_bits(a: Exact, b: Exact) -> tuple[int, int, bool]:
    """Integer bits, fraction bits and sign of the smallest type that holds both."""
    sa, sb = signed_of(a), signed_of(b)
    fa, fb = frac_of(a), frac_of(b)
    integer = max(width_of(a) - fa + (sb and not sa), width_of(b) - fb + (sa and not sb))
    return integer, max(fa, fb), sa or sb


def _exact(integer: int, frac: int, signed: bool, a: Exact, b: Exact, span: Span | None) -> Exact:
    """The result type of these bits: fixed point where an operand is."""
    if integer + frac > MAX_WIDTH:
        raise LanguageError(
            "W128",
            f"the result of this operation on {a} and {b} would have {integer + frac} bits",
            span=span,
            help=f"types have at most {MAX_WIDTH} bits; cast an operand to a narrower type",
        )
    if isinstance(a, FixedType) or isinstance(b, FixedType):
        return FixedType(integer + frac, integer, signed)
    return IntType(integer, signed)


def require_convertible(source: DType, target: DType, span: Span | None = None) -> None:
    """Refuse a conversion that moves the point by more bits than a type has (W128)."""
    if not isinstance(source, FloatType) and not isinstance(target, FloatType):
        moved = abs(frac_of(source) - frac_of(target))
        if moved >= MAX_WIDTH:
            raise LanguageError(
                "W128",
                f"{source} becomes {target}, which moves the point by {moved} bits",
                span=span,
                help=f"types have at most {MAX_WIDTH} bits; convert by a type between the two",
            )


def binary_type(op: BinaryOp, a: DType, b: DType, span: Span | None = None) -> DType:
    """The result type of ``a op b``.

    Raises:
        LanguageError: W120 or W121 where the operator is not for these types, W128 where the
            result has too many bits.
    """
    if isinstance(a, FloatType) or isinstance(b, FloatType):
        if op not in _FLOAT_OPS:
            raise _not_for(op.value, (a, b), span, _instead_of_int_op(op))
        return common_float(a, b)
    assert not isinstance(a, FloatType)
    assert not isinstance(b, FloatType)
    fixed = isinstance(a, FixedType) or isinstance(b, FixedType)
    if fixed and op in _INT_ONLY_OPS:
        raise _not_for(op.value, (a, b), span, _instead_of_int_op(op))
    return _exact_type(op, a, b, fixed, span)


def _exact_type(op: BinaryOp, a: Exact, b: Exact, fixed: bool, span: Span | None) -> Exact:
    sa, sb = signed_of(a), signed_of(b)
    match op:
        case BinaryOp.ADD | BinaryOp.SUB:
            integer, frac, signed = _aligned_bits(a, b)
            return _exact(integer + 1, frac, signed or op is BinaryOp.SUB, a, b, span)
        case BinaryOp.MUL:
            frac = frac_of(a) + frac_of(b)
            return _exact(width_of(a) + width_of(b) - frac, frac, sa or sb, a, b, span)
        case BinaryOp.DIV:
            if not fixed:
                raise LanguageError(
                    "W121",
                    f"'/' is not defined between integers ({a} / {b})",
                    span=span,
                    help="write // for the integer quotient, or cast an operand to a float or "
                    "fixed-point type, as in f32(x) / y",
                )
            integer = width_of(a) - frac_of(a) + frac_of(b) + sb
            width = width_of(a) + max(frac_of(b), 0) + sb
            return _exact(integer, width - integer, sa or sb, a, b, span)
        case BinaryOp.FLOORDIV:
            return _exact(width_of(a) + sb, 0, sa or sb, a, b, span)
        case BinaryOp.MOD:
            return plain(b)
        case BinaryOp.SHL | BinaryOp.SHR:
            return plain(a)
        case BinaryOp.AND | BinaryOp.OR | BinaryOp.XOR | BinaryOp.MIN | BinaryOp.MAX:
            integer, frac, signed = _aligned_bits(a, b)
            return _exact(integer, frac, signed, a, b, span)
        case _:
            assert_never(op)


def unary_type(op: UnaryOp, a: DType, span: Span | None = None) -> DType:
    """The result type of ``op a``.

    Raises:
        LanguageError: W120, W125 or W126 where the operator is not for this type, W128 where
            the result has too many bits.
    """
    match op:
        case UnaryOp.NOT:
            require_truth(a, span, "'not'")
            return boolean
        case UnaryOp.INVERT:
            if not isinstance(a, IntType | IndexType):
                raise _not_for("~", (a,), span, "the bitwise operators are for integers")
            return plain(a)
        case UnaryOp.SQRT | UnaryOp.EXP | UnaryOp.LOG | UnaryOp.TANH | UnaryOp.SIN | UnaryOp.COS:
            if not isinstance(a, FloatType):
                raise LanguageError(
                    "W126",
                    f"{op.value} is a function of floats, not of {a}",
                    span=span,
                    help=f"cast the argument, as in {op.value}(f32(x))",
                )
            return a
        case UnaryOp.NEG | UnaryOp.ABS:
            return _sign_type(op, a, span)
        case _:
            assert_never(op)


def _sign_type(op: UnaryOp, a: DType, span: Span | None) -> DType:
    match a:
        case FloatType():
            return a
        case FixedType(width, integer):
            if op is UnaryOp.ABS:
                return FixedType(width, integer, signed=False)
            return _exact(integer + 1, width - integer, True, a, a, span)
        case IntType() | IndexType():
            if op is UnaryOp.ABS:
                return IntType(width_of(a), signed=False)
            return _exact_type(BinaryOp.SUB, boolean, a, False, span)  # as ap_int: 0 - a
        case _:
            assert_never(a)


def plain(dtype: Exact) -> Exact:
    """The type itself; ``i32`` for an index."""
    return IntType(32) if isinstance(dtype, IndexType) else dtype


def _not_for(op: str, types: tuple[DType, ...], span: Span | None, help_line: str) -> LanguageError:
    listed = " and ".join(map(str, types))
    return LanguageError("W120", f"'{op}' is not defined for {listed}", span=span, help=help_line)


def _instead_of_int_op(op: BinaryOp) -> str:
    match op:
        case BinaryOp.FLOORDIV | BinaryOp.MOD:
            return f"'{op.value}' is for integers; write / or cast the operands, as in i32(x)"
        case BinaryOp.SHL | BinaryOp.SHR:
            return (
                "shifts are for integers, and of fixed point by constants and by unsigned numbers of at most "
                "63; multiply by a power of two instead"
            )
        case _:
            return "the bitwise operators are for integers; cast the operands, as in i32(x)"


def require_truth(dtype: DType, span: Span | None, what: str) -> None:
    """Raise W125 unless the type is ``u1``, the type of comparisons."""
    if dtype != boolean:
        raise LanguageError(
            "W125",
            f"{what} needs a truth value (u1), not {dtype}",
            span=span,
            help="compare it, as in x != 0",
        )
