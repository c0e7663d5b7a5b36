"""bicg: s := A^T * r, q := A * p, the kernel of BiCGStab (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"M": 38, "N": 42},
    "small": {"M": 116, "N": 124},
    "medium": {"M": 390, "N": 410},
    "large": {"M": 1900, "N": 2100},
    "pom": {"M": 4096, "N": 4096},
}
M, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def bicg(A: f32[N, M], p: f32[M], r: f32[N], s: f32[M], q: f32[N]):
    for i in range(M):
        s[i] = 0.0
    for i in range(N):
        q[i] = 0.0
        for j in range(M):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]


@bicg.schedule
def rows(s):
    # 10 rows of A at a time: s gets 10 terms in each cycle as it passes, and q keeps 10 sums
    # going, each of which comes back a column later.
    s.distribute(["S1"])
    s.distribute(["S3"])
    s.pipeline("S0.i")
    s.pipeline("S1.i")
    s.split("S2.i", 10)
    s.interchange("S2.i_1", "S2.j")
    s.pipeline("S2.j")
    s.unroll("S2.i_1")
    s.interchange("S3.i", "S3.j")
    s.split("S3.i", 10)
    s.pipeline("S3.i_0")
    s.unroll("S3.i_1")
    s.partition("A", 0, "cyclic", 10)
    s.partition("r", 0, "cyclic", 10)
    s.partition("q", 0, "cyclic", 10)


def reference(A, p, r, s, q):
    s[:] = A.T @ r
    q[:] = A @ p
