"""syrk: C := alpha*A*A^T + beta*C, lower triangle (PolyBench/C 4.2.1)."""

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
def syrk(alpha: f32, beta: f32, A: f32[N, M], C: f32[N, N]):
    for i in range(N):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(M):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


@syrk.schedule
def columns(s):
    # 10 columns of A at a time: each pass over a row of C adds 10 terms to its elements.
    s.pipeline("S0.j")
    s.split("k", 10)
    s.interchange("k_1", "S1.j")
    s.pipeline("S1.j")
    s.unroll("k_1")
    s.partition("A", 1, "cyclic", 10)


def reference(alpha, beta, A, C):
    lower = np.tri(len(C), dtype=bool)
    C[lower] = (beta * C + alpha * A @ A.T)[lower]
