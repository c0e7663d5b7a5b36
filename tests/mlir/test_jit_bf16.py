"""bf16 in the JIT: LLVM cannot select all of its stores, so that no value of it reaches LLVM."""

import pytest

import weft
from weft import bf16, f16, f32, f64, i8, u2


@weft.kernel
def constants(A: bf16[10, 5]):
    for i in range(5, -1, -3):
        A[2 * i - 1, i - 2] = u2(1)


@weft.kernel
def selected(a: bf16[16], b: bf16[16], s: bf16, c: bf16[16], d: f64[16], e: i8[16]):
    t: bf16[4]
    for i in range(4):
        t[i] = 1.5
    for i in range(16):
        v: bf16 = a[i] * b[i] + s
        c[i] = v if a[i] < b[i] else t[i % 4]
        d[i] = weft.exp(a[i]) + weft.abs(b[i])
        e[i] = i8(a[i])


@weft.kernel
def converted(a: f32[16], h: f16[16], b: bf16[16], k: bf16[16]):
    for i in range(16):
        b[i] = bf16(a[i])
        k[i] = weft.max(-bf16(h[i]), bf16(0.3))


@weft.kernel
def literals(x: bf16[3, 6]):
    for i in range(3):
        x[i, 0] = 0.0
        x[i, 1] = -0.0
        x[i, 2] = 0.3
        x[i, 3] = -3.0e38
        x[i, 4] = 1.0e-40
        x[i, 5] = x[i, 2] if i > 1 else bf16(-1.5)


@pytest.mark.parametrize("kernel", [constants, selected, converted, literals], ids=lambda k: k.name)
def test_all_levels_agree(kernel):
    assert weft.verify(kernel).ok
