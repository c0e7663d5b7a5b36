"""gemm: C := alpha*A*B + beta*C (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"NI": 20, "NJ": 25, "NK": 30},
    "small": {"NI": 60, "NJ": 70, "NK": 80},
    "medium": {"NI": 200, "NJ": 220, "NK": 240},
    "large": {"NI": 1000, "NJ": 1100, "NK": 1200},
    "1024": {"NI": 1024, "NJ": 1024, "NK": 1024},
    "pom": {"NI": 4096, "NJ": 4096, "NK": 4096},
}
NI, NJ, NK = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def gemm(alpha: f32, beta: f32, A: f32[NI, NK], B: f32[NK, NJ], C: f32[NI, NJ]):
    for i in range(NI):
        for j in range(NJ):
            C[i, j] *= beta
        for k in range(NK):
            for j in range(NJ):
                C[i, j] += alpha * A[i, k] * B[k, j]


@gemm.schedule
def tiled(s):
    # 8 x 4 multiply-adds start in each cycle. The pipelined loop is over columns, so an element
    # of C comes back only after a whole row: the accumulation does not limit the interval.
    s.distribute(["S1"])
    s.split("S0.i", 8)
    s.reorder(["S0.i_0", "S0.j", "S0.i_1"])
    s.pipeline("S0.j")
    s.unroll("S0.i_1")
    s.tile(["S1.i", "S1.k"], [8, 4])
    s.reorder(["S1.i_0", "S1.k_0", "S1.j", "S1.i_1", "S1.k_1"])
    s.pipeline("S1.j")
    s.unroll("S1.i_1")
    s.unroll("S1.k_1")
    s.partition("A", 0, "cyclic", 8)
    s.partition("A", 1, "cyclic", 4)
    s.partition("B", 0, "cyclic", 4)
    s.partition("C", 0, "cyclic", 8)


@gemm.schedule
def pipelined(s):
    # One multiply-add in each cycle, and nothing else changed.
    s.pipeline("S0.j")
    s.pipeline("S1.j")


def reference(alpha, beta, A, B, C):
    C[:] = beta * C + alpha * A @ B
