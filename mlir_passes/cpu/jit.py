"""Level 3 run on the CPU by LLVM: to verify a design, and to try a kernel."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from dsl.errors.errors import IRError
from mlir_passes.cpu.bf16_bits import bf16_as_bits
from mlir_passes.cpu.lower import all_ops, lower_to_cpu
from mlir_passes.cpu.memory import empty_raw, load_raw, store_raw, store_words
from mlir_passes.dialect.access import GARBAGE, SCRATCH
from mlir_passes.dialect.attributes import ArrayInfo, argument_infos, top_function
from mlir_passes.provider import execution_engine, ir, passmanager

# A name of ours: a kernel called exp or malloc must not take the place of the library's.
_ENTRY = "weft_kernel"
_EXPAND = "builtin.module(lower-affine,arith-expand{include-bf16=true})"
_TO_LLVM = (
    "builtin.module(convert-scf-to-cf,"
    "expand-strided-metadata,lower-affine,convert-math-to-llvm,convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},"
    "convert-cf-to-llvm,reconcile-unrealized-casts)"
)
_OPT_LEVEL = 2  # no fast-math flags anywhere: floats are evaluated as written

# On some processors LLVM divides by zero when it optimises loops with shifts of 128 bits (seen with 16
# and more of `x << y` on AMD's), which kills the process; it does not where it optimises nothing.
_PLAIN = 0
# LLVM's loop vectoriser does not come back from some loops with integers of other widths than these
# (seen with 17 bits), and it gains nothing there: memory of such widths is never read as vectors.
_REGULAR = frozenset((1, 8, 16, 32, 64))
_SCALAR = "#llvm.loop_annotation<vectorize = <disable = true>>"
_BRANCHES = frozenset(("llvm.br", "llvm.cond_br"))
_SHIFTS = frozenset(("arith.shli", "arith.shrsi", "arith.shrui"))
_WORD = 64


@dataclass(frozen=True, slots=True)
class JitKernel:
    """A compiled kernel. Call it with raw arrays by argument name, see `jit`."""

    arguments: tuple[ArrayInfo, ...]
    scratch: tuple[ArrayInfo, ...]
    locals: tuple[ArrayInfo, ...]
    engine: Any
    entry: Any

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run the kernel.

        Args:
            inputs: an array of the exact shape for each array argument, a number for each scalar,
                as raw data (see `dsl.arrays.inputs`). They are not changed.

        Returns:
            The final contents of every array argument.

        Raises:
            KeyError: an argument is missing.
            ValueError: an array has not the declared shape.
        """
        memory = [store_raw(inputs[a.name], a) for a in self.arguments]
        own = [empty_raw(a) for a in self.scratch]
        own += [store_words(a) if a.contents else empty_raw(a) for a in self.locals]
        for data in own[: len(self.scratch)]:
            data.fill(GARBAGE)  # whoever takes it for zeros is found
        words = [data.ctypes.data for data in (*memory, *own)]
        # The entry takes pointers to the arguments: to a scalar, or to the pointer to an array.
        cells = (ctypes.c_void_p * len(words))(*words)
        pointers = (ctypes.c_void_p * len(words))()
        for n, info in enumerate((*self.arguments, *self.scratch, *self.locals)):
            cell = ctypes.addressof(cells) + n * ctypes.sizeof(ctypes.c_void_p)
            pointers[n] = cell if info.shape else words[n]
        self.entry(pointers)
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
        function.attributes["arg_attrs"] = _no_aliases(clone)
        clone.operation.verify()
        wide = _shifts_wide(top_function(clone))
        regular = all(width in _REGULAR for width in _widths(top_function(clone)))
        passmanager.PassManager.parse(_EXPAND).run(clone.operation)
        functions = [op.operation for op in clone.body.operations]
        bf16_as_bits(functions, [op for function in functions for op in all_ops(function)])
        passmanager.PassManager.parse(_TO_LLVM).run(clone.operation)
        if not regular:
            _leave_scalar(clone.operation)
        level = _PLAIN if wide else _OPT_LEVEL
        engine = execution_engine.ExecutionEngine(clone, opt_level=level)
        engine.initialize()
    address = engine.raw_lookup(_ENTRY)
    if not address:
        raise RuntimeError("LLVM cannot resolve what the kernel calls; its reason is on stderr")
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
    given = tuple(a for a in arguments if a.access != SCRATCH)
    return JitKernel(given, arguments[len(given) :], outside, engine, entry)


def _widths(function: Any) -> Iterator[int]:
    """Of the integers that are computed."""
    for op in all_ops(function):
        for result in op.results:
            if isinstance(result.type, ir.IntegerType):
                yield result.type.width


def _leave_scalar(module: Any) -> None:
    """Tell LLVM to vectorise no loop of a lowered module."""
    note = ir.Attribute.parse(_SCALAR)
    for op in all_ops(module):
        if op.operation.name in _BRANCHES:
            op.operation.attributes["loop_annotation"] = note


def _shifts_wide(function: Any) -> bool:
    """Something shifts integers of more than a machine word."""
    shifts = (op for op in all_ops(function) if op.operation.name in _SHIFTS)
    return any(ir.IntegerType(op.results[0].type).width > _WORD for op in shifts)


def _no_aliases(module: Any) -> Any:
    """Argument attributes which say that no two arrays overlap, as on the FPGA."""
    marked = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
    types = top_function(module).type.inputs
    plain = ir.DictAttr.get({})
    return ir.ArrayAttr.get([marked if isinstance(t, ir.MemRefType) else plain for t in types])
