"""fdtd-2d: electric and magnetic field in turns, finite differences (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"TMAX": 20, "NX": 20, "NY": 30},
    "small": {"TMAX": 40, "NX": 60, "NY": 80},
    "medium": {"TMAX": 100, "NX": 200, "NY": 240},
    "large": {"TMAX": 500, "NX": 1000, "NY": 1200},
}
TMAX, NX, NY = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def fdtd_2d(ex: f32[NX, NY], ey: f32[NX, NY], hz: f32[NX, NY], fict: f32[TMAX]):
    for t in range(TMAX):
        for j in range(NY):
            ey[0, j] = fict[t]
        for i in range(1, NX):
            for j in range(NY):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(NX):
            for j in range(1, NY):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(NX - 1):
            for j in range(NY - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@fdtd_2d.schedule
def unrolled(s):
    # 8 points of a row start in each cycle.
    for stmt in ("S0", "S1", "S2", "S3"):
        s.split(f"{stmt}.j", 8)
        s.pipeline(f"{stmt}.j_0")
        s.unroll(f"{stmt}.j_1")
    for field in ("ex", "ey", "hz"):
        s.partition(field, 1, "cyclic", 8)


@fdtd_2d.schedule
def fused(s):
    # One pass over the fields for each time step: the magnetic field runs a row and a column
    # behind the electric field that it needs. Five accesses to hz limit the interval.
    s.shift("S3", "i", 1)
    s.shift("S3", "j", 1)
    s.fuse(["S1", "S2", "S3"], 3)
    s.pipeline("S0.j")
    s.pipeline("S1.j", ii=3)


def reference(ex, ey, hz, fict):
    for drive in fict:
        ey[0] = drive
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
