"""symm: C := alpha*A*B + beta*C, A symmetric and given by its lower triangle (PolyBench/C 4.2.1).

PolyBench accumulates in a scalar; here it is a row of them, one for each column of C, so that a
schedule may advance all columns together.
"""

import numpy as np

import weft
from weft import f32

SIZES = {
    "mini": {"M": 20, "N": 30},
    "small": {"M": 60, "N": 80},
    "medium": {"M": 200, "N": 240},
    "large": {"M": 1000, "N": 1200},
}
M, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def symm(alpha: f32, beta: f32, A: f32[M, M], B: f32[M, N], C: f32[M, N]):
    temp: f32[N]
    for i in range(M):
        for j in range(N):
            temp[j] = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                temp[j] += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp[j]


@symm.schedule
def columns(s):
    # 8 columns start in each cycle; a column comes back to its sum after all others had a turn.
    s.distribute(["S1", "S2"], 1)
    s.interchange("S1.j", "k")
    for stmt in ("S0", "S1", "S3"):
        s.split(f"{stmt}.j", 8)
        s.pipeline(f"{stmt}.j_0")
        s.unroll(f"{stmt}.j_1")
    s.partition("B", 1, "cyclic", 8)
    s.partition("C", 1, "cyclic", 8)
    s.partition("temp", 0, "cyclic", 8)


def reference(alpha, beta, A, B, C):
    lower = np.tril(A)
    C[:] = alpha * (lower + np.tril(A, -1).T) @ B + beta * C
