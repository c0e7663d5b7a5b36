"""heat-3d: the heat equation on a cube, back and forth between A and B (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"TSTEPS": 20, "N": 10},
    "small": {"TSTEPS": 40, "N": 20},
    "medium": {"TSTEPS": 100, "N": 40},
    "large": {"TSTEPS": 500, "N": 120},
}
TSTEPS, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def heat_3d(A: f32[N, N, N], B: f32[N, N, N]):
    for t in range(1, TSTEPS + 1):
        for i, j, k in weft.grid(range(1, N - 1), range(1, N - 1), range(1, N - 1)):
            B[i, j, k] = (
                0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                + A[i, j, k]
            )
        for i, j, k in weft.grid(range(1, N - 1), range(1, N - 1), range(1, N - 1)):
            A[i, j, k] = (
                0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                + B[i, j, k]
            )


@heat_3d.schedule
def unrolled(s):
    # Two points of a line start every third cycle: 12 reads over 2 banks of 2 ports each.
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.k", 2)
        s.pipeline(f"{stmt}.k_0", ii=3)
        s.unroll(f"{stmt}.k_1")
    s.partition("A", 2, "cyclic", 2)
    s.partition("B", 2, "cyclic", 2)


def reference(A, B, TSTEPS):
    inner = (slice(1, -1),) * 3
    for _ in range(TSTEPS):
        B[inner] = A[inner] + 0.125 * _laplacian(A)
        A[inner] = B[inner] + 0.125 * _laplacian(B)


def _laplacian(X):
    middle = X[1:-1, 1:-1, 1:-1]
    return (
        (X[2:, 1:-1, 1:-1] - 2 * middle + X[:-2, 1:-1, 1:-1])
        + (X[1:-1, 2:, 1:-1] - 2 * middle + X[1:-1, :-2, 1:-1])
        + (X[1:-1, 1:-1, 2:] - 2 * middle + X[1:-1, 1:-1, :-2])
    )
