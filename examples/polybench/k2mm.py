"""2mm: D := alpha*A*B*C + beta*D (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"NI": 16, "NJ": 18, "NK": 22, "NL": 24},
    "small": {"NI": 40, "NJ": 50, "NK": 70, "NL": 80},
    "medium": {"NI": 180, "NJ": 190, "NK": 210, "NL": 220},
    "large": {"NI": 800, "NJ": 900, "NK": 1100, "NL": 1200},
    "pom": {"NI": 4096, "NJ": 4096, "NK": 4096, "NL": 4096},
}
NI, NJ, NK, NL = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def k2mm(
    alpha: f32,
    beta: f32,
    A: f32[NI, NK],
    B: f32[NK, NJ],
    C: f32[NJ, NL],
    D: f32[NI, NL],
):
    tmp: f32[NI, NJ]
    for i in range(NI):
        for j in range(NJ):
            tmp[i, j] = 0.0
            for k in range(NK):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(NI):
        for j in range(NL):
            D[i, j] *= beta
            for k in range(NJ):
                D[i, j] += tmp[i, k] * C[k, j]


@k2mm.schedule
def tiled(s):
    # Both products: 4 x 10 multiply-adds start in each cycle of a loop over columns.
    s.distribute(["S1"])
    s.distribute(["S3"])
    for init in ("S0", "S2"):
        s.split(f"{init}.i", 4)
        s.reorder([f"{init}.i_0", f"{init}.j", f"{init}.i_1"])
        s.pipeline(f"{init}.j")
        s.unroll(f"{init}.i_1")
    for product in ("S1", "S3"):
        i, j, k = (f"{product}.{loop}" for loop in "ijk")
        s.tile([i, k], [4, 10])  # i_0, k_0, j, i_1, k_1: j stays between blocks and points
        s.pipeline(j)
        s.unroll(f"{i}_1")
        s.unroll(f"{k}_1")
    for left in ("A", "tmp"):
        s.partition(left, 0, "cyclic", 4)
        s.partition(left, 1, "cyclic", 10)
    for right in ("B", "C"):
        s.partition(right, 0, "cyclic", 10)
    s.partition("D", 0, "cyclic", 4)


def reference(alpha, beta, A, B, C, D):
    D[:] = beta * D + (alpha * A @ B) @ C
