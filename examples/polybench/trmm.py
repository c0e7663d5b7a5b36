"""trmm: B := alpha*A^T*B, A lower triangular with a unit diagonal (PolyBench/C 4.2.1)."""

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
def trmm(alpha: f32, A: f32[M, M], B: f32[M, N]):
    for i in range(M):
        for j in range(N):
            for k in range(i + 1, M):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


@trmm.schedule
def columns(s):
    # 10 columns start every other cycle: each of the 10 memories is read twice and written once.
    s.distribute(["S0"], 1)
    s.interchange("S0.j", "k")
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.j", 10)
        s.pipeline(f"{stmt}.j_0", ii=2)
        s.unroll(f"{stmt}.j_1")
    s.partition("B", 1, "cyclic", 10)


def reference(alpha, A, B):
    B[:] = alpha * (np.tril(A, -1).T @ B + B)
