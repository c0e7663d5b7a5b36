"""Writers of the types of elements, and of numbers and texts, as MLIR has them."""

from __future__ import annotations

from typing import Any, assert_never

from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, Quant
from mlir_passes.dialect import hls
from mlir_passes.provider import ir


def int_attribute(value: int) -> Any:
    """A number, of 64 bits."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def string_attribute(value: str) -> Any:
    """A text."""
    return ir.StringAttr.get(value)


def mlir_type(dtype: DType) -> Any:
    """The MLIR type that holds a value: signless integer of the exact width, or float."""
    match dtype:
        case IntType(width=width) | FixedType(width=width):
            return ir.IntegerType.get_signless(width)
        case FloatType("f16"):
            return ir.F16Type.get()
        case FloatType("bf16"):
            return ir.BF16Type.get()
        case FloatType("f32"):
            return ir.F32Type.get()
        case FloatType():
            return ir.F64Type.get()
        case IndexType():
            return ir.IntegerType.get_signless(32)
    assert_never(dtype)


def fixed_attribute(dtype: IntType | FixedType) -> Any:
    """``#hls.fixed`` of a type; an integer has no fraction, cuts towards zero and wraps."""
    if isinstance(dtype, IntType):
        dtype = FixedType(dtype.width, dtype.width, dtype.signed, Quant.TRN_ZERO)
    return hls.Fixed.get(
        int_attribute(dtype.width),
        int_attribute(dtype.integer),
        int_attribute(dtype.signed),
        string_attribute(dtype.quant.value),
        string_attribute(dtype.overflow.value),
    )


def type_attribute(dtype: IntType | FixedType) -> Any:
    """``hls.type`` of an integer or fixed-point type."""
    if isinstance(dtype, IntType):
        return hls.Int.get(int_attribute(dtype.width), int_attribute(dtype.signed))
    return fixed_attribute(dtype)
