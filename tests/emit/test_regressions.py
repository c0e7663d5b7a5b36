"""Kernels whose C++ was once wrong: all levels must agree on them, bit for bit."""

import numpy as np
import pytest

import weft
from backends.verify import verify_many
from mlir_passes.pipeline import compile_design
from weft import f16, f32, fixed, i1, i2, i8, i32, i64, i70, i96, u1, u8, u64

LOW = fixed[4, 4, "rnd_min_inf", "sat_sym"]
SAT = fixed[6, 4, "rnd_zero", "sat"]


@weft.kernel
def wide_literals(A: i96[11]):
    for i in range(-5, 5):
        A[0] = i32(i) - 9223372036854775808
        A[1] = 9223372036854775807 - i32(i)
        A[2] = 9223372036854775808 & i32(i)
        A[3] = i32(i) < 9223372036854775808
        A[4] = 9223372036854775808 // (i32(i) + 7)
        A[5] = 9223372036854775808 % (i32(i) + 7)
        A[6] = min(i32(i), 9223372036854775808)
        A[7] = 9223372036854775808 >> (i32(i) + 5)
        A[8] = (i32(i) | 5000000000) * 5000000000
        A[9] = i32(i) % 5000000000
        A[10] = (i32(i) // 5000000000) ^ 18446744073709551615


@weft.kernel
def product_of_a_wide_literal(C: f32[4]):
    for i in range(-1000003, -999999):
        C[i + 1000003] = (i32(i) + i2(1)) * (9223372036854775808 - u1(0))


@weft.kernel
def bound_sum(A: SAT[10], B: SAT[4]):
    for i in range(-3, 1):
        A[3 * i + 9] += 0 + fixed[8, 5](13.0)
        B[i + 3] = A[i + 7] + A[i + 8]


@bound_sum.schedule
def bound(s):
    s.bind_op("S0", "add", impl="dsp")


@weft.kernel
def narrowed(A: LOW[4], B: LOW[4]):
    for i in range(4):
        B[i] = fixed[8, 8](A[i])
    for i in range(4):
        A[i] = A[3 - i]


@narrowed.inputs
def lowest(kernel, seed):
    """-8 is what no assignment to the type gives: stored by a conversion, it becomes -7."""
    return {"A": np.array([-8, -7, 7, 3], np.int8), "B": np.zeros(4, np.int8)}


FIXED = fixed[12, 4]


@weft.kernel
def choices_of_two_types(a: FIXED[8], b: FIXED[8], c: fixed[13, 5][8], y: FIXED[8], z: FIXED[8]):
    for i in range(8):
        y[i] = -a[i] if a[i] < b[i] else min(b[i], a[i] - b[i])
        z[i] = c[i] if a[i] < b[i] else a[i] - b[i]


@weft.kernel
def ints_shifted_by_more_bits_than_they_have(A: i32[5], B: i64[5]):
    """An ``int`` of C++ stands for a loop variable: it must not be shifted by 32."""
    for i in range(-2, 3):
        A[i + 2] = -i32(i) >> 40
        B[i + 2] = (i32(i) - 1) // 2**40
    for i in range(5):
        A[i] += (0 * i32(i)) << 40


@weft.kernel
def wide_dividends(A: i8[8], B: i64[8], C: i64[8], D: i96[8]):
    for i in range(8):
        B[i] = -1099511627776 // (A[i] | 1)
        C[i] = 1099511627776 % (A[i] | 1)
        D[i] = 18446744073709551615 // (A[i] | 1)


@weft.kernel
def truths_as_numbers(
    x: u8[8],
    s: i8[8],
    b: u1[8],
    w: i1[8],
    e: u64[8],
    f: FIXED[8],
    h: f16[8],
    g: f32[8],
    y: i64[24, 8],
    z: f32[8, 8],
    v: FIXED[8, 8],
):
    for i in range(8):
        y[0, i] = x[i] << (x[i] > s[i])
        y[1, i] = x[i] >> (x[i] > s[i])
        y[2, i] = 1 << (x[i] > s[i])
        y[3, i] = (x[i] > s[i]) << (x[i] > 3)
        y[4, i] = (x[i] > s[i]) >> (x[i] > 3)
        y[5, i] = -(x[i] > s[i]) + (f[i] > x[i])
        y[6, i] = (x[i] > s[i]) * x[i]
        y[7, i] = (x[i] > s[i]) * (f[i] > 1)
        y[8, i] = i32(f[i] * (x[i] > s[i]))
        y[9, i] = max(x[i] > s[i], b[i])
        y[10, i] = min(x[i] > s[i], w[i])
        y[11, i] = abs(w[i]) + abs(-(x[i] > 3))
        y[12, i] = (x[i] > s[i]) - (x[i] > 3)
        y[13, i] = (x[i] > s[i]) // (b[i] + 1)
        y[14, i] = (x[i] > s[i]) % (b[i] + 1)
        y[15, i] = (x[i] > s[i]) == b[i]
        y[16, i] = (x[i] > s[i]) < w[i]
        y[17, i] = ((x[i] > s[i]) ^ b[i]) + ((x[i] > s[i]) & x[i])
        y[18, i] = ~(x[i] > s[i]) | ~b[i]
        y[19, i] = (x[i] > s[i]) if b[i] == 1 else w[i]
        y[20, i] = (x[i] > s[i]) ** 2
        y[21, i] = ((x[i] > s[i]) << 3) if g[i] > 0 else (f[i] < 1)
        y[22, i] = i70(x[i] > s[i]) << 65 >> 60
        y[23, i] = e[i] << (e[i] % 3) >> (x[i] > 3)
        z[0, i] = (x[i] > s[i]) * g[i]
        z[1, i] = (x[i] > s[i]) + h[i]
        z[2, i] = h[i] if x[i] > 3 else -h[i] * h[i]
        z[3, i] = min(h[i], g[i]) if x[i] > 3 else -(x[i] > s[i])
        z[4, i] = f32(x[i] > s[i]) / 3
        z[5, i] = abs(h[i] - g[i]) if (f[i] > 0) ^ (x[i] > 3) else g[i]
        z[6, i] = max(f[i], g[i])
        z[7, i] = e[i] - s[i]
        v[0, i] = (x[i] > s[i]) / (f[i] * f[i] + 1) if f[i] != 0 else 0
        v[1, i] = f[i] * (x[i] > s[i]) - (f[i] > 0)
        v[2, i] = min(f[i], x[i] > s[i])
        v[3, i] = (x[i] > s[i]) if f[i] > 0 else f[i]
        v[4, i] = -f[i] if b[i] == 1 else f[i] - 1
        v[5, i] = abs(f[i]) if b[i] == 1 else f[i]
        v[6, i] = max(-f[i], f[i]) >> 1
        v[7, i] = (f[i] << 2) if b[i] == 1 else (f[i] >> 2)


@pytest.mark.parametrize(
    "kernel",
    [
        wide_dividends,
        truths_as_numbers,
        wide_literals,
        product_of_a_wide_literal,
        bound_sum,
        narrowed,
        choices_of_two_types,
        ints_shifted_by_more_bits_than_they_have,
    ],
    ids=lambda k: k.name,
)
def test_levels_agree(kernel):
    schedule = next(iter(kernel.schedules.values()), None)
    design = compile_design(kernel.program, schedule)
    (result,) = verify_many([design], seed=1, make_inputs=[kernel.make_inputs])
    for level in (result.interp, result.jit, result.cxx):
        assert level.status == "ok", result
