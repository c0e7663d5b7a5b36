"""Local arrays and kernel calls: two dense layers, the first with a ReLU behind it."""

import numpy as np

import weft
from weft import f32

SIZES = {"mini": {"N": 16}, "medium": {"N": 128}}
N = SIZES["medium"]["N"]


@weft.kernel(sizes=SIZES)
def dense(w: f32[N, N], b: f32[N], x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] = b[i]
    for j in range(N):
        for i in range(N):
            y[i] += w[i, j] * x[j]


@weft.kernel(sizes=SIZES)
def mlp(w1: f32[N, N], b1: f32[N], w2: f32[N, N], b2: f32[N], x: f32[N], y: f32[N]):
    hidden: f32[N]
    dense(w1, b1, x, hidden)
    for i in range(N):
        hidden[i] = max(hidden[i], 0.0)
    dense(w2, b2, hidden, y)


@mlp.schedule
def rows(s):
    # A call is inlined: its statements are numbered with those around it.
    for stmt in ("S0", "S2", "S3"):
        s.pipeline(f"{stmt}.i")
    for stmt in ("S1", "S4"):
        s.split(f"{stmt}.i", 8)
        s.pipeline(f"{stmt}.i_0")
        s.unroll(f"{stmt}.i_1")
    for array in ("w1", "w2", "hidden", "y"):
        s.partition(array, 0, "cyclic", 8)


def reference(w1, b1, w2, b2, x, y):
    y[:] = w2 @ np.maximum(w1 @ x + b1, 0) + b2
