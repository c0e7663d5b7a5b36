"""Local arrays and kernel calls: two dense layers with a ReLU between them."""

import numpy as np

import weft
from weft import f32

SIZES = {
    "mini": {"INPUTS": 12, "HIDDEN": 16, "OUTPUTS": 10},
    "medium": {"INPUTS": 784, "HIDDEN": 128, "OUTPUTS": 10},
}
INPUTS, HIDDEN, OUTPUTS = SIZES["medium"].values()
ROWS, COLS = 64, 64


@weft.kernel
def dense(w: f32[ROWS, COLS], b: f32[ROWS], x: f32[COLS], y: f32[ROWS]):
    for i in range(ROWS):
        y[i] = b[i]
    for j in range(COLS):
        for i in range(ROWS):
            y[i] += w[i, j] * x[j]


@weft.kernel(sizes=SIZES)
def mlp(
    w1: f32[HIDDEN, INPUTS],
    b1: f32[HIDDEN],
    w2: f32[OUTPUTS, HIDDEN],
    b2: f32[OUTPUTS],
    x: f32[INPUTS],
    y: f32[OUTPUTS],
):
    hidden: f32[HIDDEN]
    dense.at(ROWS=HIDDEN, COLS=INPUTS)(w1, b1, x, hidden)
    for i in range(HIDDEN):
        hidden[i] = max(hidden[i], 0.0)
    dense.at(ROWS=OUTPUTS, COLS=HIDDEN)(w2, b2, hidden, y)


@mlp.schedule
def rows(s):
    # A call is inlined: its statements are numbered with those around it.
    for stmt in ("S0", "S2", "S3", "S4"):
        s.pipeline(f"{stmt}.i")
    s.split("S1.i", 8)
    s.pipeline("S1.i_0")
    s.unroll("S1.i_1")
    for array in ("w1", "hidden"):
        s.partition(array, 0, "cyclic", 8)


def reference(w1, b1, w2, b2, x, y):
    y[:] = w2 @ np.maximum(w1 @ x + b1, 0) + b2
