"""gemver: A := A + u1*v1^T + u2*v2^T, x := x + beta*A^T*y + z, w := w + alpha*A*x (PolyBench)."""

import numpy as np

import weft
from weft import f32

SIZES = {
    "mini": {"N": 40},
    "small": {"N": 120},
    "medium": {"N": 400},
    "large": {"N": 2000},
}
N = SIZES["medium"]["N"]


@weft.kernel(sizes=SIZES)
def gemver(
    alpha: f32,
    beta: f32,
    A: f32[N, N],
    u1: f32[N],
    v1: f32[N],
    u2: f32[N],
    v2: f32[N],
    w: f32[N],
    x: f32[N],
    y: f32[N],
    z: f32[N],
):
    for i in range(N):
        for j in range(N):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(N):
        for j in range(N):
            x[i] += beta * A[j, i] * y[j]
    for i in range(N):
        x[i] += z[i]
    for i in range(N):
        for j in range(N):
            w[i] += alpha * A[i, j] * x[j]


@gemver.schedule
def rows(s):
    # Everything passes over 10 rows of A at a time: 10 banks serve all three nests.
    s.split("S0.i", 10)
    s.interchange("S0.i_1", "S0.j")
    s.pipeline("S0.j")
    s.unroll("S0.i_1")
    s.split("S1.j", 10)
    s.interchange("S1.i", "S1.j_0")
    s.pipeline("S1.i")
    s.unroll("S1.j_1")
    s.pipeline("S2.i")
    s.interchange("S3.i", "S3.j")
    s.split("S3.i", 10)
    s.pipeline("S3.i_0")
    s.unroll("S3.i_1")
    for array in ("A", "u1", "u2", "w", "y"):
        s.partition(array, 0, "cyclic", 10)


def reference(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * A.T @ y + z
    w += alpha * A @ x
