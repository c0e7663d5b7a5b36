"""What a kernel computes on inputs: interpreted, or compiled where that would take long.

Loops that depend on each other are interpreted statement by statement, about two million of them in
four seconds. Above that a kernel whose operations cannot fail is compiled as it is, without a
schedule, and run in a process of its own: the interpreter is left to those that may divide by zero
and the like, which it alone finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from backends.isolate import in_child
from backends.rawdata import pack, unpack
from dsl import interp
from dsl.arrays.inputs import check_inputs, storage_dtype
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
)
from dsl.expressions.expr import walk as inside
from dsl.expressions.types import DType, FloatType
from dsl.programs.program import Program, Stmt, Storage
from dsl.schedules.schedule import Schedule

LONG = 2_000_000
"""Statements, run one by one, from which on a kernel is compiled."""
SECONDS = 600

_TOTAL = frozenset(
    (
        BinaryOp.ADD,
        BinaryOp.SUB,
        BinaryOp.MUL,
        BinaryOp.MIN,
        BinaryOp.MAX,
        BinaryOp.AND,
        BinaryOp.OR,
        BinaryOp.XOR,
    )
)
_TOTAL_UNARY = frozenset((UnaryOp.NEG, UnaryOp.ABS, UnaryOp.INVERT, UnaryOp.NOT))


def expected(program: Program, inputs: Mapping[str, Any], long: int = LONG) -> dict[str, Any]:
    """The final contents of every array argument, by name, as raw arrays.

    Args:
        program: the kernel.
        inputs: as for `dsl.interp.run`.
        long: see `LONG`.

    Raises:
        InputError: inputs that do not fit.
        ExecutionError: W190 to W194: the program divides by zero on these inputs, or the like.
    """
    if interp.one_by_one(program) > long and cannot_fail(program):
        check_inputs(program, inputs)
        found = _compiled(program, inputs)
        if found is not None:
            return found
    return interp.run(program, inputs)


def _compiled(program: Program, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
    """None where the process did not come back with a result."""
    from mlir_passes.cpu.jit import jit
    from mlir_passes.pipeline import compile_design

    outputs = tuple(array for array in program.arguments if array.shape)
    kernel = jit(compile_design(program, Schedule()).module)
    ended = in_child(lambda: pack(outputs, {**inputs, **kernel(inputs)}), SECONDS)
    if ended.status != "ok":
        return None
    return unpack(outputs, ended.data, {a.name: storage_dtype(a.dtype) for a in outputs})


def cannot_fail(program: Program) -> bool:
    """No operation has operands that it is not defined for, and nothing is read before it is
    written: there are no locals.
    """
    if any(array.storage is Storage.LOCAL for array in program.arrays):
        return False
    return all(_defined(stmt, program) for stmt in program.statements())


def _defined(stmt: Stmt, program: Program) -> bool:
    target = program.array(stmt.target.array).dtype
    return _kept(stmt.value.dtype, target) and all(map(_total, inside(stmt.value)))


def _total(expr: Expr) -> bool:
    match expr:
        case Binary(op=op, dtype=dtype):
            return op in _TOTAL or (op is BinaryOp.DIV and isinstance(dtype, FloatType))
        case Unary(op=op):
            return op in _TOTAL_UNARY
        case Cast(operand=operand, dtype=dtype):
            return _kept(operand.dtype, dtype)
        case Const() | Load() | Gather() | Scatter() | Index() | Compare() | Select():
            return True
        case _:
            assert_never(expr)


def _kept(source: DType, target: DType) -> bool:
    """A conversion is defined for all values: infinity and NaN are no integers."""
    return not isinstance(source, FloatType) or isinstance(target, FloatType)
