"""mvt: x1 := x1 + A*y1, x2 := x2 + A^T*y2 (PolyBench/C 4.2.1)."""

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
def mvt(A: f32[N, N], y1: f32[N], y2: f32[N], x1: f32[N], x2: f32[N]):
    for i in range(N):
        for j in range(N):
            x1[i] += A[i, j] * y1[j]
    for i in range(N):
        for j in range(N):
            x2[i] += A[j, i] * y2[j]


@mvt.schedule
def rows(s):
    # Both products read 20 rows of A at a time: the first keeps 20 sums going, the second adds
    # 20 terms to an element of x2 in each cycle.
    s.interchange("S0.i", "S0.j")
    s.split("S0.i", 20)
    s.pipeline("S0.i_0")
    s.unroll("S0.i_1")
    s.split("S1.j", 20)
    s.interchange("S1.i", "S1.j_0")
    s.pipeline("S1.i")
    s.unroll("S1.j_1")
    s.partition("A", 0, "cyclic", 20)
    s.partition("x1", 0, "cyclic", 20)
    s.partition("y2", 0, "cyclic", 20)


def reference(A, y1, y2, x1, x2):
    x1 += A @ y1
    x2 += A.T @ y2
