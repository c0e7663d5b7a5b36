"""Float operators in the JIT: one rounding each, like NumPy's; functions within ulps of it."""

import itertools

import numpy as np
import pytest

import weft
from dsl.arrays.inputs import random_inputs
from dsl.expressions.expr import BinaryOp, CompareOp, UnaryOp
from dsl.expressions.types import IntType, bf16, f16, f32, f64
from dsl.expressions.typing import binary, cast, compare, unary
from dsl.interp import run as interpret
from dsl.schedules.schedule import Schedule
from mlir_passes.construct.module import build_module
from mlir_passes.cpu.jit import jit
from mlir_passes.pipeline import compile_design
from tests.mlir.elementwise import elementwise, raw
from tests.mlir.trees import identity_tree

FLOATS = [f16, bf16, f32, f64]
ARITHMETIC = [
    BinaryOp.ADD,
    BinaryOp.SUB,
    BinaryOp.MUL,
    BinaryOp.DIV,
    BinaryOp.MIN,
    BinaryOp.MAX,
]
SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 3.0, 1e-3, 2.0**-14, 6.0e4]


def samples(dtype, count: int) -> list[float]:
    rng = np.random.default_rng(11)
    kind = {"f16": np.uint16, "bf16": np.uint32, "f32": np.uint32, "f64": np.uint64}[dtype.name]
    bits = rng.integers(0, np.iinfo(kind).max, count, dtype=kind, endpoint=True)
    if dtype.name == "bf16":
        bits &= np.uint32(0xFFFF0000)
    view = {2: np.float16, 4: np.float32, 8: np.float64}[bits.dtype.itemsize]
    plain = [round_bf16(x) if dtype == bf16 else x for x in rng.uniform(-8, 8, count)]
    special = [round_bf16(x) if dtype == bf16 else x for x in SPECIAL]
    return [*special, *map(float, bits.view(view)), *plain]


def round_bf16(x: float) -> float:
    bits = np.float32(x).view(np.uint32)
    return float((bits & np.uint32(0xFFFF0000)).view(np.float32))


def both(program, values):
    """What the JIT and the interpreter give."""
    inputs = {a.name: raw(values.get(a.name, [0] * a.shape[0]), a.dtype) for a in program.arguments}
    return jit(build_module(identity_tree(program)))(inputs), interpret(program, inputs)


def same_bits(x, y) -> bool:
    """Equal to the last bit, signs of zeros included; a NaN is a NaN."""
    kind = {2: np.uint16, 4: np.uint32, 8: np.uint64}[x.dtype.itemsize]
    return x.dtype == y.dtype and bool(
        ((x.view(kind) == y.view(kind)) | (np.isnan(x) & np.isnan(y))).all()
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_arithmetic_is_the_interpreters_to_the_last_bit(dtype):
    values = samples(dtype, 30)
    pairs = list(itertools.product(values, values))
    program = elementwise(
        {"x": dtype, "y": dtype},
        lambda x, y: {op.name: binary(op, x, y) for op in ARITHMETIC},
        len(pairs),
    )
    found, expected = both(program, {"x": [a for a, _ in pairs], "y": [b for _, b in pairs]})
    for op in ARITHMETIC:
        assert same_bits(found[op.name], expected[op.name]), op


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_comparisons_with_nan_are_false_but_for_inequality(dtype):
    values = samples(dtype, 20)
    pairs = list(itertools.product(values, values))
    program = elementwise(
        {"x": dtype, "y": dtype},
        lambda x, y: {op.name: compare(op, x, y) for op in CompareOp},
        len(pairs),
    )
    found, expected = both(program, {"x": [a for a, _ in pairs], "y": [b for _, b in pairs]})
    for op in CompareOp:
        assert (found[op.name] == expected[op.name]).all(), op


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_signs_and_roots_are_exact(dtype):
    ops = [UnaryOp.NEG, UnaryOp.ABS, UnaryOp.SQRT]
    values = samples(dtype, 500)
    program = elementwise(
        {"x": dtype}, lambda x: {op.name: unary(op, x) for op in ops}, len(values)
    )
    found, expected = both(program, {"x": values})
    for op in ops:
        assert same_bits(found[op.name], expected[op.name]), op


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_are_within_ulps(dtype):
    ops = [UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH]
    values = [abs(x) if abs(x) < 8 else 1.0 for x in samples(dtype, 500) if np.isfinite(x)]
    program = elementwise(
        {"x": dtype}, lambda x: {op.name: unary(op, x) for op in ops}, len(values)
    )
    found, expected = both(program, {"x": values})
    digits = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}[dtype.name]
    for op in ops:
        x, y = found[op.name].astype(float), expected[op.name].astype(float)
        finite = np.isfinite(y)
        assert (np.isfinite(x) == finite).all(), op
        error = np.abs(x[finite] - y[finite])
        assert (error <= 4 * 2.0**-digits * np.maximum(np.abs(y[finite]), 2.0**-14)).all(), op


def test_products_are_not_contracted_into_sums():
    program = elementwise(
        {"x": f32, "y": f32, "z": f32},
        lambda x, y, z: {"r": binary(BinaryOp.ADD, binary(BinaryOp.MUL, x, y), z)},
        1,
    )
    x = 1 + 2**-12
    found, _ = both(program, {"x": [x], "y": [x], "z": [-1 - 2**-11]})
    assert found["r"][0] == 0.0  # fused it would be 2**-24


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_integers_meet_floats(dtype):
    values = [*range(-300, 300), 2**31 - 1, -(2**31)]
    program = elementwise(
        {"x": IntType(32)}, lambda x: {"r": binary(BinaryOp.MUL, cast(dtype, x), 0.5)}, len(values)
    )
    found, expected = both(program, {"x": values})
    assert same_bits(found["r"], expected["r"])


def test_bf16_constants_are_stored() -> None:
    @weft.kernel
    def constants(A: bf16[4, 10], B: bf16[4, 10], s: bf16):
        t: bf16 = 2.0
        for j in range(1, 5):
            u: bf16[3] = 1.5
            A[j - 1, j] = 1.0
            B[j - 1, j] = A[j - 1, j] * s + t + u[1]

    inputs = random_inputs(constants.program, 0)
    expected = interpret(constants.program, inputs)
    found = jit(compile_design(constants.program, Schedule()).module)(inputs)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


@pytest.mark.parametrize("source", [3, 7, 8, 16, 31, 32, 40], ids=lambda w: f"i{w}")
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_negative_integers_made_unsigned_meet_floats(source, dtype):
    # Sign extended, they are large: 2**64 - 1 is not 2**32 - 1.
    edges = (-1, -2, 0, 1, -(2 ** (source - 1)), 2 ** (source - 1) - 1)
    values = [v for v in (*edges, -5, 7) if -(2 ** (source - 1)) <= v < 2 ** (source - 1)]
    widths = (8, 16, 24, 32, 33, 40, 63, 64, 70)
    program = elementwise(
        {"x": IntType(source)},
        lambda x: {
            f"{name}{w}": binary(BinaryOp.MUL, cast(dtype, cast(IntType(w, False), e)), 0.5)
            for w in widths
            for name, e in (("r", x), ("s", binary(BinaryOp.SUB, x, 3)))
        },
        len(values),
    )
    found, expected = both(program, {"x": values})
    for name in expected.keys() - {"x"}:
        assert same_bits(found[name], expected[name]), name
