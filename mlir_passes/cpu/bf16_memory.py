"""bf16 in memory as its bits, for the JIT.

LLVM's x86 backend cannot select a store of a bf16 constant. Arrays and scalars of bf16 become
arrays of i16; loads and stores convert by a bit cast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_passes.cpu.bits import build
from mlir_passes.provider import ir


def hold_as_bits(function: Any, ops: Sequence[Any]) -> None:
    """Change the arguments and locals of a function, and all loads and stores of them.

    Args:
        function: the ``func.func``; its type attribute is left to the caller.
        ops: all ops in it.
    """
    bits = ir.IntegerType.get_signless(16)
    for argument in function.regions[0].blocks[0].arguments:
        _retype(argument, bits)
    for op in ops:
        if op.name in ("memref.alloca", "memref.alloc"):
            _retype(op.results[0], bits)
    for op in ops:
        if op.name == "affine.load" and isinstance(op.results[0].type, ir.BF16Type):
            loaded, small = op.results[0], op.results[0].type
            loaded.set_type(bits)
            with ir.InsertionPoint.after(op), op.location:
                value = build("arith.bitcast", [loaded], small)
            loaded.replace_all_uses_except(value, value.owner.operation)
        elif op.name == "affine.store" and isinstance(op.operands[0].type, ir.BF16Type):
            with ir.InsertionPoint(op), op.location:
                op.operands[0] = build("arith.bitcast", [op.operands[0]], bits)


def _retype(memory: Any, bits: Any) -> None:
    if isinstance(memory.type, ir.MemRefType) and isinstance(memory.type.element_type, ir.BF16Type):
        memory.set_type(ir.MemRefType.get(memory.type.shape, bits))
