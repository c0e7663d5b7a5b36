"""Triangular loops and affine conditions: y := L*x, L lower triangular and a band."""

import numpy as np

import weft
from weft import f32

SIZES = {"mini": {"N": 30, "BAND": 5}, "medium": {"N": 400, "BAND": 64}}
N, BAND = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def triangular(L: f32[N, N], x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] = 0.0
        for j in range(i + 1):
            if i - j <= BAND:
                y[i] += L[i, j] * x[j]


@triangular.schedule
def by_columns(s):
    # With the sum over j outside, the rows below the diagonal start one in each cycle.
    s.distribute(["S1"])
    s.pipeline("S0.i")
    s.interchange("S1.i", "j")
    s.pipeline("S1.i")


def reference(L, x, y, BAND):
    y[:] = (np.tril(L) - np.tril(L, -BAND - 1)) @ x
