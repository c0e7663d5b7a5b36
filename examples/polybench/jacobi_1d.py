"""jacobi-1d: a three-point stencil, back and forth between A and B (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"TSTEPS": 20, "N": 30},
    "small": {"TSTEPS": 40, "N": 120},
    "medium": {"TSTEPS": 100, "N": 400},
    "large": {"TSTEPS": 500, "N": 2000},
    "pom": {"TSTEPS": 4096, "N": 4096},
}
TSTEPS, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def jacobi_1d(A: f32[N], B: f32[N]):
    for t in range(TSTEPS):
        for i in range(1, N - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, N - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


@jacobi_1d.schedule
def tiled(s):
    # One element behind, the second sweep can run in the loop of the first. Skewed by the two
    # elements that a time step then reaches ahead, the nest may be cut into tiles of 10 steps by
    # 32 elements: a tile needs 52 elements of A and B, however long the arrays are.
    s.shift("S1", "i", 1)
    s.fuse(["S0", "S1"], 2)
    s.skew("t", "i", 2)
    s.tile(["t", "i"], [10, 32])
    s.pipeline("i_1", ii=2)


@jacobi_1d.schedule
def unrolled(s):
    # No time tiles: 8 elements in each cycle, from and to 8 banks.
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.i", 8)
        s.pipeline(f"{stmt}.i_0")
        s.unroll(f"{stmt}.i_1")
    s.partition("A", 0, "cyclic", 8)
    s.partition("B", 0, "cyclic", 8)


def reference(A, B, TSTEPS):
    for _ in range(TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
