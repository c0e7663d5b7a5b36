"""Level 3 run on the CPU by LLVM: to verify a design, and to try a kernel."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from dsl.errors import IRError
from mlir_passes.dialect import ArrayInfo, argument_infos, top_function
from mlir_passes.jit_memory import empty_raw, load_raw, store_raw
from mlir_passes.lower_cpu import lower_to_cpu
from mlir_passes.provider import execution_engine, ir, passmanager

# A name of ours: a kernel called exp or malloc must not take the place of the library's.
_ENTRY = "weft_kernel"
_TO_LLVM = (
    "builtin.module(lower-affine,arith-expand{include-bf16=true},convert-scf-to-cf,"
    "expand-strided-metadata,lower-affine,convert-to-llvm,reconcile-unrealized-casts)"
)
_OPT_LEVEL = 2  # no fast-math flags anywhere: floats are evaluated as written


@dataclass(frozen=True, slots=True)
class JitKernel:
    """A compiled kernel. Call it with raw arrays by argument name, see `jit`."""

    arguments: tuple[ArrayInfo, ...]
    locals: tuple[ArrayInfo, ...]
    engine: Any

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run the kernel.

        Args:
            inputs: an array of the exact shape for each array argument, a number for each scalar,
                as raw data (see `dsl.inputs`). They are not changed.

        Returns:
            The final contents of every array argument.

        Raises:
            KeyError: an argument is missing.
            ValueError: an array has not the declared shape.
        """
        memory = [store_raw(inputs[a.name], a) for a in self.arguments]
        infos = (*self.arguments, *self.locals)
        words = [
            _descriptor(data, info.shape) if info.shape else data
            for data, info in zip([*memory, *map(empty_raw, self.locals)], infos, strict=True)
        ]
        pointers, _cells = _packed(words)
        self.engine.lookup(_ENTRY)(pointers)
        return {
            info.name: load_raw(data, info)
            for data, info in zip(memory, self.arguments, strict=True)
            if info.shape
        }


@cache
def _load_compiler_runtime() -> None:
    """Let compiled code find the functions that compilers call for divisions of 65 to 128 bits.

    Raises:
        IRError: W301, the library is missing.
    """
    if sys.platform != "linux":
        return  # part of the system's own library there
    try:
        ctypes.CDLL("libgcc_s.so.1", mode=ctypes.RTLD_GLOBAL)
    except OSError as e:
        raise IRError(
            "W301",
            f"the compiler's runtime library cannot be loaded: {e}",
            help="install it; the package is called libgcc or libgcc-s1",
        ) from e


@dataclass(frozen=True, slots=True)
class _Descriptor:
    """A memref descriptor, and the memory that it points to."""

    words: Any
    data: Any


def _packed(values: list[Any]) -> tuple[Any, Any]:
    """Pointers to the arguments: to a scalar's memory, or to a pointer to a descriptor.

    The second result holds the latter, which must live as long.
    """
    pointers = (ctypes.c_void_p * max(1, len(values)))()
    cells = (ctypes.c_void_p * max(1, len(values)))()
    for n, value in enumerate(values):
        if isinstance(value, _Descriptor):
            cells[n] = ctypes.addressof(value.words)
            pointers[n] = ctypes.addressof(cells) + n * ctypes.sizeof(ctypes.c_void_p)
        else:
            pointers[n] = value.ctypes.data
    return pointers, cells


def _descriptor(data: Any, shape: tuple[int, ...]) -> _Descriptor:
    """Two pointers, offset, sizes, strides."""
    strides = [1] * len(shape)
    for n in range(len(shape) - 1, 0, -1):
        strides[n - 1] = strides[n] * shape[n]
    address = data.ctypes.data
    words = (address, address, 0, *shape, *strides)
    return _Descriptor((ctypes.c_int64 * len(words))(*words), data)


def jit(module: Any) -> JitKernel:
    """Compile a verified level 3 module for this machine. The module is not changed.

    Integer division by zero and accesses out of bounds are not checked: run `dsl.interp` first.
    """
    _load_compiler_runtime()
    with module.context, ir.Location.unknown():
        clone = ir.Module.create()
        top = top_function(module)
        arguments = argument_infos(top)
        function = top.operation.clone(ip=ir.InsertionPoint(clone.body)).operation
        function.attributes["sym_name"] = ir.StringAttr.get(_ENTRY)
        outside = lower_to_cpu(clone)
        function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        clone.operation.verify()
        passmanager.PassManager.parse(_TO_LLVM).run(clone.operation)
        engine = execution_engine.ExecutionEngine(clone, opt_level=_OPT_LEVEL)
        engine.initialize()
    return JitKernel(arguments, outside, engine)
