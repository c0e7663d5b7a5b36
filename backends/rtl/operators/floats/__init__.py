"""Operators of IEEE 754 binary32 as expressions: round to nearest even, no subnormals.

Subnormal operands count as zero of their sign, and a result that IEEE 754 rounds to a subnormal
number becomes one; every NaN is the canonical one. All is correctly rounded but `exp`, which is
within 0.6 units in the last place.
"""

from __future__ import annotations

from backends.rtl.graph import Kind
from backends.rtl.ir import Expr, concat, lit
from backends.rtl.operators.floats.add import add
from backends.rtl.operators.floats.compare import equal, less
from backends.rtl.operators.floats.convert import from_float, to_float
from backends.rtl.operators.floats.divide import divide
from backends.rtl.operators.floats.exp import exp
from backends.rtl.operators.floats.multiply import multiply
from backends.rtl.operators.floats.root import square_root
from dsl.expressions.types import FixedType

__all__ = ["float_operator"]


def float_operator(
    kind: Kind, operands: tuple[Expr, ...], signed: bool, fixed: FixedType | None
) -> Expr:
    """The operator of a kind.

    Args:
        kind: One of `backends.rtl.graph.FLOATS`, or `Kind.TO_FLOAT`.
        operands: 32 bits each; of `Kind.TO_FLOAT` a raw.
        signed: Whether that raw is.
        fixed: Type of the raw for `Kind.TO_FLOAT` and `Kind.FROM_FLOAT`.

    Raises:
        ValueError: There is no operator for the kind.
    """
    a, b = operands[0], operands[-1]
    match kind:
        case Kind.FADD | Kind.FSUB:
            return add(a, b, subtract=kind is Kind.FSUB)
        case Kind.FMUL:
            return multiply(a, b)
        case Kind.FDIV:
            return divide(a, b)
        case Kind.FSQRT:
            return square_root(a)
        case Kind.FEXP:
            return exp(a)
        case Kind.FNEG:
            return concat(~a[31], a.low(31))
        case Kind.FABS:
            return concat(lit(0, 1), a.low(31))
        case Kind.FEQ:
            return equal(a, b)
        case Kind.FNE:
            return ~equal(a, b)
        case Kind.FLT:
            return less(a, b, or_equal=False)
        case Kind.FLE:
            return less(a, b, or_equal=True)
        case Kind.TO_FLOAT if fixed is not None:
            return to_float(a, fixed.frac, signed)
        case Kind.FROM_FLOAT if fixed is not None:
            return from_float(a, fixed)
        case _:
            raise ValueError(f"{kind.value} is no operator of floats")
