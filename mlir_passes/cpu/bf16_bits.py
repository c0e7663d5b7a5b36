"""bf16 as its bits, for the JIT.

LLVM's x86 backend cannot select some stores of bf16 (of constants, of what its vectoriser makes of
them), and ends the process. When all arithmetic is done in f32, what is left of bf16 are bit casts,
selections, calls and memory: all of these hold i16 as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_passes.provider import ir


def bf16_as_bits(functions: Sequence[Any], ops: Sequence[Any]) -> None:
    """Change the type of every value, memory and signature of bf16 to i16.

    Args:
        functions: every ``func.func`` of a module in which no op computes in bf16 any more.
        ops: all ops in them.
    """
    for function in functions:
        for block in function.regions[0]:
            for argument in block.arguments:
                _retype(argument)
        declared = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        signature = ir.FunctionType.get(
            [_held(t) for t in declared.inputs], [_held(t) for t in declared.results]
        )
        function.attributes["function_type"] = ir.TypeAttr.get(signature)
    for op in ops:
        if op.name == "arith.constant" and isinstance(op.results[0].type, ir.BF16Type):
            op.attributes["value"] = _bits_of(ir.FloatAttr(op.attributes["value"]).value)
        for result in op.results:
            _retype(result)
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    _retype(argument)
    for op in ops:
        if op.name == "arith.bitcast" and op.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.operation.erase()


def _held(type_: Any) -> Any:
    """The type that holds the bits."""
    bits = ir.IntegerType.get_signless(16)
    if isinstance(type_, ir.BF16Type):
        return bits
    if isinstance(type_, ir.MemRefType) and isinstance(type_.element_type, ir.BF16Type):
        return ir.MemRefType.get(type_.shape, bits, type_.layout)
    return type_


def _retype(value: Any) -> None:
    held = _held(value.type)
    if held != value.type:
        value.set_type(held)


def _bits_of(value: float) -> Any:
    """The attribute of a bf16 constant's bits: the upper half of its f32."""
    bits = int(np.float32(value).view(np.uint32)) >> 16
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(16), bits - (bits >> 15 << 16))
