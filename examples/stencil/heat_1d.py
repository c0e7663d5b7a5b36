"""heat-1d: explicit time steps of the heat equation on a rod."""

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
def heat_1d(A: f32[N]):
    B: f32[N]
    for t in range(TSTEPS):
        for i in range(1, N - 1):
            B[i] = A[i] + 0.125 * (A[i - 1] - 2.0 * A[i] + A[i + 1])
        for i in range(1, N - 1):
            A[i] = B[i]


@heat_1d.schedule
def tiled(s):
    # The copy runs one element behind the sweep that still reads what it overwrites. Skewed by
    # the two elements that a time step then reaches ahead, the nest may be cut into tiles.
    s.shift("S1", "i", 1)
    s.fuse(["S0", "S1"], 2)
    s.skew("t", "i", 2)
    s.tile(["t", "i"], [10, 32])
    s.pipeline("i_1", ii=2)


@heat_1d.schedule
def unrolled(s):
    # No time tiles: 8 elements in each cycle, from and to 8 banks.
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.i", 8)
        s.pipeline(f"{stmt}.i_0")
        s.unroll(f"{stmt}.i_1")
    s.partition("A", 0, "cyclic", 8)
    s.partition("B", 0, "cyclic", 8)


def reference(A, TSTEPS):
    for _ in range(TSTEPS):
        A[1:-1] += 0.125 * (A[:-2] - 2.0 * A[1:-1] + A[2:])
