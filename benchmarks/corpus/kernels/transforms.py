"""Transforms and moves of data: spectra, transposition, products of polynomials."""

import math

import numpy as np

import weft
from weft import f32, i16, i32

P = 64
POINTS, DIMS, CLUSTERS = 256, 4, 8
S = 32

GROUPS = {
    "dft": ["dft_tables", "dft_rotating"],
    "transpose": ["transpose_out", "transpose_in_place"],
}


@weft.kernel
def dft_tables(x: f32[S, 2], c: f32[S, S], s: f32[S, S], X: f32[S, 2]):
    for k in range(S):
        re: f32 = 0.0
        im: f32 = 0.0
        for n in range(S):
            re += x[n, 0] * c[k, n] + x[n, 1] * s[k, n]
            im += x[n, 1] * c[k, n] - x[n, 0] * s[k, n]
        X[k, 0] = re
        X[k, 1] = im


@dft_tables.schedule
def expert(s):
    s.partial_sums("S2", "n", 8)
    s.partial_sums("S3", "n", 8)
    s.pipeline("k", ii=4)
    s.partition("re_part", 0, "complete")
    s.partition("im_part", 0, "complete")
    s.partition("x", 0, "complete")
    s.partition("x", 1, "complete")
    s.partition("c", 1, "cyclic", 8)
    s.partition("s", 1, "cyclic", 8)


@weft.kernel
def dft_rotating(x: f32[S, 2], c: f32[S], s: f32[S], X: f32[S, 2]):
    for k in range(S):
        re: f32 = 0.0
        im: f32 = 0.0
        wr: f32 = 1.0
        wi: f32 = 0.0
        for n in range(S):
            re += x[n, 0] * wr + x[n, 1] * wi
            im += x[n, 1] * wr - x[n, 0] * wi
            turned = wr * c[k] - wi * s[k]
            wi = wr * s[k] + wi * c[k]
            wr = turned
        X[k, 0] = re
        X[k, 1] = im


@dft_rotating.schedule
def expert(s):
    s.pipeline("k", ii=7)
    s.partition("x", 0, "complete")
    s.partition("x", 1, "complete")


@weft.kernel
def dct_8x8_i16(t: weft.const[i16[8, 8]], x: i16[8, 8, 8], y: i16[8, 8, 8]):
    for b in range(8):
        half: i32[8, 8]
        for i, j in weft.grid(8, 8):
            first: i32 = 0
            for k in range(8):
                first += t[i, k] * x[b, k, j]
            half[i, j] = first >> 8
        for i, j in weft.grid(8, 8):
            second: i32 = 0
            for k in range(8):
                second += i16(half[i, k]) * t[j, k]
            y[b, i, j] = second >> 8


@dct_8x8_i16.schedule
def expert(s):
    s.pipeline("S0.i", ii=2)
    s.pipeline("S3.i", ii=2)
    s.partition("x", 1, "complete")
    s.partition("x", 2, "complete")
    s.partition("t", 0, "complete")
    s.partition("t", 1, "complete")
    s.partition("half", 1, "complete")
    s.partition("y", 2, "complete")


@weft.kernel
def fft_stage(x: f32[2, 512], w: f32[2, 256], y: f32[2, 512]):
    for i in range(256):
        re = x[0, i + 256] * w[0, i] - x[1, i + 256] * w[1, i]
        im = x[0, i + 256] * w[1, i] + x[1, i + 256] * w[0, i]
        y[0, i] = x[0, i] + re
        y[1, i] = x[1, i] + im
        y[0, i + 256] = x[0, i] - re
        y[1, i + 256] = x[1, i] - im


@fft_stage.schedule
def expert(s):
    s.split("i", 64)
    s.pipeline("i_0", ii=11)
    for array in ("x", "w", "y"):
        s.partition(array, 0, "complete")
        s.partition(array, 1, "cyclic", 64)
        s.bind_storage(array, "ram_s2p")  # a second port is more multiplexers, and no cycle less


@weft.kernel
def transpose_out(A: f32[P, P], B: f32[P, P]):
    for i, j in weft.grid(P, P):
        B[j, i] = A[i, j]


@transpose_out.schedule
def expert(s):
    s.split("i", 2)
    s.pipeline("i_0")
    s.partition("A", 0, "cyclic", 2)
    s.partition("A", 1, "complete")
    s.partition("B", 0, "complete")
    s.partition("B", 1, "cyclic", 2)


@weft.kernel
def transpose_in_place(A: f32[P, P]):
    for i in range(P):
        for j in range(i + 1, P):
            t: f32 = A[i, j]
            A[i, j] = A[j, i]
            A[j, i] = t


@weft.kernel
def transpose_in_place_expert(A: f32[P, P]):
    # Two blocks of 8 x 8 change places, each element in a memory of its own.
    for b in range(P // 8):
        for i in range(8):
            for j in range(8):
                if j > i:
                    t: f32 = A[8 * b + i, 8 * b + j]
                    A[8 * b + i, 8 * b + j] = A[8 * b + j, 8 * b + i]
                    A[8 * b + j, 8 * b + i] = t
    for b in range(P // 8):
        for c in range(b + 1, P // 8):
            for i in range(8):
                for j in range(8):
                    held: f32 = A[8 * b + i, 8 * c + j]
                    A[8 * b + i, 8 * c + j] = A[8 * c + j, 8 * b + i]
                    A[8 * c + j, 8 * b + i] = held


@transpose_in_place_expert.schedule
def expert(s):
    s.pipeline("S0.b")
    s.pipeline("c")
    s.partition("A", 0, "cyclic", 8)
    s.partition("A", 1, "cyclic", 8)


@weft.kernel
def polynomial_product(a: i32[POINTS], b: i32[POINTS], c: i32[2 * POINTS]):
    for n in range(2 * POINTS):
        c[n] = 0
    for i in range(POINTS):
        for j in range(POINTS):
            c[i + j] += a[i] * b[j]


@weft.kernel
def polynomial_product_expert(a: i32[POINTS], b: i32[POINTS], c: i32[2 * POINTS]):
    # A filter whose sums move on: what a step completes is a coefficient.
    moving: i32[POINTS] = 0
    for i in range(POINTS):
        c[i] = moving[0] + a[i] * b[0]
        for j in range(POINTS - 1):
            moving[j] = moving[j + 1] + a[i] * b[j + 1]
    for j in range(POINTS):
        c[POINTS + j] = moving[j]


@polynomial_product_expert.schedule
def expert(s):
    s.unroll("moving_i")
    s.pipeline("i", ii=5)
    s.split("S3.j", 16)
    s.pipeline("S3.j_0")
    s.partition("moving", 0, "complete")
    s.partition("b", 0, "complete")
    s.partition("c", 0, "cyclic", 16)


@weft.kernel
def autocorrelation(x: f32[512], r: f32[16]):
    for lag in range(16):
        total: f32 = 0.0
        for n in range(512 - lag):
            total += x[n] * x[n + lag]
        r[lag] = total


@weft.kernel
def autocorrelation_expert(x: f32[512], r: f32[16]):
    # One pass, all lags at once, with the last 16 samples in registers.
    past: f32[16] = 0.0
    for lag in range(16):
        r[lag] = 0.0
    for n in range(512):
        for k in range(15, 0, -1):
            past[k] = past[k - 1]
        past[0] = x[n]
        for lag in range(16):
            r[lag] += past[0] * past[lag]


@autocorrelation_expert.schedule
def expert(s):
    s.partial_sums("S4", "n", 8)
    s.unroll("past_i")
    s.split("n", 8)
    s.pipeline("n_0", ii=4)
    s.pipeline("S4_sum.lag")
    s.unroll("S4_init.lag")
    s.unroll("S4_init.part")
    s.partition("past", 0, "complete")
    s.partition("r_part", 0, "complete")
    s.partition("r_part", 1, "complete")
    s.partition("x", 0, "cyclic", 8)


@dft_tables.inputs
def rotations(kernel, seed):
    angle = 2 * math.pi / S * np.outer(np.arange(S), np.arange(S))
    return {"c": np.cos(angle), "s": np.sin(angle)}


@dft_rotating.inputs
def turns(kernel, seed):
    angle = 2 * math.pi / S * np.arange(S)
    return {"c": np.cos(angle), "s": -np.sin(angle)}
