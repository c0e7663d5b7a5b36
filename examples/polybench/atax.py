"""atax: y := A^T * (A*x) (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"M": 38, "N": 42},
    "small": {"M": 116, "N": 124},
    "medium": {"M": 390, "N": 410},
    "large": {"M": 1900, "N": 2100},
}
M, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def atax(A: f32[M, N], x: f32[N], y: f32[N]):
    tmp: f32[M]
    for i in range(N):
        y[i] = 0.0
    for i in range(M):
        tmp[i] = 0.0
        for j in range(N):
            tmp[i] += A[i, j] * x[j]
        for j in range(N):
            y[j] += A[i, j] * tmp[i]


@atax.schedule
def rows(s):
    # 15 rows of A at a time serve both products: A*x keeps 15 sums going and comes back to
    # one of them a column later, A^T*tmp adds 15 terms to an element of y as it passes.
    s.distribute(["S2"])
    s.pipeline("S0.i")
    s.pipeline("S1.i")
    s.interchange("S2.i", "S2.j")
    s.split("S2.i", 15)
    s.pipeline("S2.i_0")
    s.unroll("S2.i_1")
    s.split("S3.i", 15)
    s.interchange("S3.i_1", "S3.j")
    s.pipeline("S3.j")
    s.unroll("S3.i_1")
    s.partition("A", 0, "cyclic", 15)
    s.partition("tmp", 0, "cyclic", 15)


def reference(A, x, y):
    y[:] = A.T @ (A @ x)
