"""The interpreter against NumPy written by hand; both of its paths."""

from __future__ import annotations

import time

import numpy as np
import pytest

from dsl.arrays.inputs import random_inputs
from dsl.expressions.types import FixedType, FloatType, IntType
from dsl.interp import run
from tests.interp import kernels

F16, BF16, F32, F64 = (FloatType(n) for n in ("f16", "bf16", "f32", "f64"))
PATHS = [{"path": "plain"}, {"path": "fast"}, {"path": "fast", "min_trips": 1, "chunk": 5}]
paths = pytest.mark.parametrize("options", PATHS, ids=["plain", "fast", "chunked"])


@paths
def test_gemm_f32_is_the_sum_in_order(options):
    program = kernels.gemm(6, 7, 9, F32)
    inputs = random_inputs(program, 3)
    a, b, c = inputs["A"], inputs["B"], inputs["C"].copy()
    c *= inputs["beta"]
    for k in range(9):
        c += (inputs["alpha"] * a[:, k : k + 1]) * b[k : k + 1, :]
    assert run(program, inputs, **options)["C"].tobytes() == c.tobytes()


@paths
def test_gemm_i8_wraps_at_every_store(options):
    program = kernels.gemm(5, 4, 6, IntType(8))
    inputs = random_inputs(program, 1)
    wide = {name: np.asarray(value, dtype=np.int64) for name, value in inputs.items()}
    c = (wide["C"] * wide["beta"]).astype(np.int8).astype(np.int64)
    c += wide["alpha"] * (wide["A"] @ wide["B"])
    assert (run(program, inputs, **options)["C"] == c.astype(np.int8)).all()


@paths
def test_gemm_i100_is_exact(options):
    program = kernels.gemm(3, 4, 5, IntType(100))
    inputs = random_inputs(program, 1)
    c = inputs["C"] * inputs["beta"] + inputs["alpha"] * (inputs["A"] @ inputs["B"])
    wrapped = (c + (1 << 99)) % (1 << 100) - (1 << 99)
    found = run(program, inputs, **options)["C"]
    assert found.dtype == object
    assert (found == wrapped).all()


@paths
def test_gemm_fixed_cuts_every_product(options):
    dtype = FixedType(16, 8)
    program = kernels.gemm(3, 4, 5, dtype)
    inputs = random_inputs(program, 2)
    raw = {n: x.astype(object) if x.shape else int(x) for n, x in inputs.items()}

    def store(x):  # 16 bits, 8 of them fraction
        return (x + (1 << 15)) % (1 << 16) - (1 << 15)

    c = store((raw["C"] * raw["beta"]) >> 8)
    for k in range(5):
        product = (raw["alpha"] * raw["A"][:, k : k + 1]) * raw["B"][
            k : k + 1, :
        ]  # 24 bits fraction
        c = store(((c << 16) + product) >> 16)
    assert (run(program, inputs, **options)["C"] == c).all()


@paths
def test_2mm_with_locals(options):
    program = kernels.two_mm(5, 6, 7, 8, F64)
    inputs = random_inputs(program, 4)
    tmp, d = np.zeros((5, 6)), np.zeros((5, 8))
    for k in range(7):
        tmp += inputs["A"][:, k : k + 1] * inputs["B"][k]
    for k in range(6):
        d += tmp[:, k : k + 1] * inputs["C"][k]
    found = run(program, inputs, **options)
    assert found["D"].tobytes() == d.tobytes()
    assert set(found) == {"A", "B", "C", "D"}


@paths
def test_jacobi_2d(options):
    program = kernels.jacobi_2d(4, 12, F32)
    inputs = random_inputs(program, 5)
    a, b = inputs["A"].copy(), inputs["B"].copy()
    for _ in range(4):
        for x, y in ((b, a), (a, b)):
            inner = y[1:-1, 1:-1] + y[1:-1, :-2]
            inner = inner + y[1:-1, 2:] + y[2:, 1:-1] + y[:-2, 1:-1]
            x[1:-1, 1:-1] = np.float32(0.2) * inner
    found = run(program, inputs, **options)
    assert found["A"].tobytes() == a.tobytes()
    assert found["B"].tobytes() == b.tobytes()


@paths
def test_lu_factorises(options):
    program = kernels.lu(10, F64)
    matrix = np.random.default_rng(0).uniform(-1, 1, (10, 10)) + 10 * np.eye(10)
    factors = run(program, {"A": matrix}, **options)["A"]
    lower, upper = np.tril(factors, -1) + np.eye(10), np.triu(factors)
    np.testing.assert_allclose(lower @ upper, matrix, rtol=1e-12, atol=1e-12)


@paths
def test_conditions_on_loop_variables(options):
    program = kernels.bordered_blur(7, 9, F32)
    src = random_inputs(program, 6)["src"]
    dst = src.copy()
    dst[1:, 1:] = (src[1:, 1:] + src[:-1, 1:] + src[1:, :-1]) * np.float32(0.25)
    found = run(program, {"src": src, "dst": np.zeros_like(src)}, **options)
    assert found["dst"].tobytes() == dst.tobytes()


@paths
@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
def test_all_paths_agree_on_sequential_code(dtype, options):
    for program in (
        kernels.seidel_2d(2, 9, dtype),
        kernels.syrk(8, 9, dtype),
        kernels.atax(9, 20, dtype),
    ):
        inputs = random_inputs(program, 7)
        plain = run(program, inputs, path="plain")
        found = run(program, inputs, **options)
        assert all(found[name].tobytes() == plain[name].tobytes() for name in plain)


def test_inputs_are_not_changed():
    program = kernels.gemm(4, 4, 4, F32)
    inputs = random_inputs(program, 0)
    before = inputs["C"].copy()
    run(program, inputs)
    assert (inputs["C"] == before).all()


@pytest.mark.parametrize(
    "program",
    [
        kernels.gemm(200, 220, 240, F32),
        kernels.two_mm(180, 190, 210, 220, F32),
        kernels.jacobi_2d(100, 250, F32),
    ],
    ids=["gemm", "2mm", "jacobi-2d"],
)
def test_medium_sizes_are_fast(program):
    inputs = random_inputs(program, 0)
    start = time.process_time()
    run(program, inputs)
    assert time.process_time() - start < 1.5
