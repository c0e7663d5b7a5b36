"""Kernels that apply expressions to every element of their inputs, and their run by the JIT."""

from collections.abc import Callable, Mapping

import numpy as np

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Binary, Expr, Load
from dsl.expressions.numeric import bounds, width_of
from dsl.expressions.shifts import Pending
from dsl.expressions.types import DType, FloatType
from dsl.expressions.typing import cast, settled
from dsl.programs.program import Array, Loop, Program, Stmt
from mlir_passes.construct.module import build_module
from mlir_passes.cpu.jit import jit
from mlir_passes.dialect.verify import verify_module
from tests.mlir.trees import identity_tree


def elementwise(inputs: Mapping[str, DType], outputs: Callable[..., Mapping[str, Expr]], n: int):
    """``for i in range(n): <name>[i] = <expression of the inputs at i>`` for each output."""
    i = Affine.of("i")
    loads = [Load(Access(name, (i,)), dtype) for name, dtype in inputs.items()]
    exprs = {name: _finished(e) for name, e in outputs(*loads).items()}
    arrays = [Array(name, dtype, (n,)) for name, dtype in inputs.items()]
    arrays += [Array(name, e.dtype, (n,)) for name, e in exprs.items()]
    body = tuple(Stmt(f"S{k}", Access(name, (i,)), e) for k, (name, e) in enumerate(exprs.items()))
    loop = Loop("i", (Affine.of(0),), (Affine.of(n),), 1, body)
    return Program("elementwise", tuple(arrays), (loop,))


def _finished(expr: Expr) -> Expr:
    """The expression with all of its bits; of a shift by any amount those of what is shifted."""
    if isinstance(expr, Binary) and isinstance(expr.dtype, Pending) and not expr.dtype.known:
        return cast(expr.lhs.dtype, expr)
    return settled(expr)


def run(program: Program, values: Mapping[str, list]):
    """The outputs of an elementwise program by the JIT, as Python numbers."""
    module = build_module(identity_tree(program))
    verify_module(module)
    inputs = {}
    for array in program.arrays:
        if array.name in values:
            inputs[array.name] = raw(values[array.name], array.dtype)
        else:
            inputs[array.name] = raw([0] * array.shape[0], array.dtype)
    found = jit(module)(inputs)
    return {name: list(map(to_python, data)) for name, data in found.items() if name not in values}


def to_python(x):
    return x.item() if isinstance(x, np.generic) else x


def raw(values: list, dtype: DType):
    """Values as a raw array."""
    if isinstance(dtype, FloatType):
        kind = {"f16": np.float16, "f64": np.float64}.get(dtype.name, np.float32)
        return np.array(values, dtype=kind)
    width = width_of(dtype)
    if width > 64:
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found
    size = next(s for s in (8, 16, 32, 64) if s >= width)
    return np.array(values, dtype=f"{'int' if bounds(dtype)[0] else 'uint'}{size}")


def interesting(dtype, rng, count: int) -> list[int]:
    """All values of a narrow type, else its ends and random ones of all magnitudes."""
    low, high = bounds(dtype)
    if high - low < count:
        return list(range(low, high + 1))
    found = [low, low + 1, -1, 0, 1, high - 1, high]
    width = width_of(dtype)
    while len(found) < count:
        x = rng.getrandbits(rng.randrange(1, width + 1))
        found.append(x if rng.random() < 0.5 else -x)
    return [x for x in found if low <= x <= high]
