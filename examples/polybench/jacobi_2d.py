"""jacobi-2d: a five-point stencil, back and forth between A and B (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"TSTEPS": 20, "N": 30},
    "small": {"TSTEPS": 40, "N": 90},
    "medium": {"TSTEPS": 100, "N": 250},
    "large": {"TSTEPS": 500, "N": 1300},
    "pom": {"TSTEPS": 4096, "N": 4096},
}
TSTEPS, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def jacobi_2d(A: f32[N, N], B: f32[N, N]):
    for t in range(TSTEPS):
        for i, j in weft.grid(range(1, N - 1), range(1, N - 1)):
            B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i, j in weft.grid(range(1, N - 1), range(1, N - 1)):
            A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


@jacobi_2d.schedule
def tiled(s):
    # A block of 4 x 8 points starts every other cycle. Its neighbours to the left and right lie
    # in banks of the block itself: 3 reads on a memory with 2 ports, hence the interval of 2.
    for stmt in ("S0", "S1"):
        s.tile([f"{stmt}.i", f"{stmt}.j"], [4, 8])
        s.pipeline(f"{stmt}.j_0", ii=2)
        s.unroll(f"{stmt}.i_1")
        s.unroll(f"{stmt}.j_1")
    for array in ("A", "B"):
        s.partition(array, 0, "cyclic", 4)
        s.partition(array, 1, "cyclic", 8)


@jacobi_2d.schedule
def skewed(s):
    # Both sweeps in one nest, the second a row and a column behind, skewed so that tiles of time
    # and space are legal: a tile works on 44 x 44 points for 10 steps.
    s.shift("S1", "i", 1)
    s.shift("S1", "j", 1)
    s.fuse(["S0", "S1"], 3)
    s.skew("t", "i", 2)
    s.skew("t", "j", 2)
    s.tile(["t", "i", "j"], [10, 24, 24])
    s.pipeline("j_1", ii=3)


def reference(A, B, TSTEPS):
    for _ in range(TSTEPS):
        B[1:-1, 1:-1] = 0.2 * _five_points(A)
        A[1:-1, 1:-1] = 0.2 * _five_points(B)


def _five_points(X):
    return X[1:-1, 1:-1] + X[1:-1, :-2] + X[1:-1, 2:] + X[2:, 1:-1] + X[:-2, 1:-1]
