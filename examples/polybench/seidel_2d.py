"""seidel-2d: a nine-point Gauss-Seidel stencil, in place (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"TSTEPS": 20, "N": 40},
    "small": {"TSTEPS": 40, "N": 120},
    "medium": {"TSTEPS": 100, "N": 400},
    "large": {"TSTEPS": 500, "N": 2000},
    "pom": {"TSTEPS": 4096, "N": 4096},
}
TSTEPS, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def seidel_2d(A: f32[N, N]):
    for t in range(TSTEPS):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = (
                    A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                    + A[i, j - 1] + A[i, j] + A[i, j + 1]
                    + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                ) / 9.0  # fmt: skip


@seidel_2d.schedule
def wavefront(s):
    # A point waits for its left neighbour and for three in the row above. Along the lines
    # j + 2*i = const nothing waits: they become the pipelined loop.
    s.skew("i", "j", 2)
    s.interchange("i", "j")
    s.pipeline("i", ii=5)


@seidel_2d.schedule
def tiled(s):
    # Skewed until every dependence points forward in all three loops, so that they may be cut
    # into tiles; inside of a tile the points of a wavefront are independent.
    s.skew("t", "i", 1)
    s.skew("t", "j", 1)
    s.skew("i", "j", 1)
    s.tile(["t", "i", "j"], [4, 32, 32])
    s.skew("i_1", "j_1", 1)
    s.interchange("i_1", "j_1")
    s.pipeline("i_1", ii=5)


def reference(A, TSTEPS):
    n = len(A)
    for _ in range(TSTEPS):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = A[i - 1 : i + 2, j - 1 : j + 2].sum() / 9
