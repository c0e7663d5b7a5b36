"""Reductions: moments, extremes and where they are, counts, sums of columns and blocks."""

import weft
from weft import f32, i16, i32, u8, u16, u32

N = 4096
BINS = 16
ROWS, COLS = 64, 96

GROUPS = {
    "column_sums": ["column_sums_by_column", "column_sums_by_row"],
}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "argmax": "candidates that take turns, the least index of equal ones",
}


@weft.kernel
def mean_variance(x: f32[N], out: f32[2]):
    total: f32 = 0.0
    squares: f32 = 0.0
    for i in range(N):
        total += x[i]
        squares += x[i] * x[i]
    mean = total / N
    out[0] = mean
    out[1] = squares / N - mean * mean


@mean_variance.schedule
def expert(s):
    for stmt in ("S2", "S3"):
        s.partial_sums(stmt, "i", 64)
    for stmt in ("S2", "S3"):
        s.partial_sums(f"{stmt}_sum", f"{stmt}_sum.part", 8)
    for stmt in ("S2", "S3"):
        s.split(f"{stmt}_sum.part", 8)
        s.pipeline(f"{stmt}_sum.part_0", ii=3)
        for part in ("init", "sum_init", "sum_sum"):
            s.unroll(f"{stmt}_{part}.part")
    s.split("i", 64)
    s.pipeline("i_0", ii=3)
    for array in ("total_part", "total_part_2", "squares_part", "squares_part_2"):
        s.partition(array, 0, "complete")
    s.partition("x", 0, "cyclic", 64)


@weft.kernel
def variance_two_pass(x: f32[N], out: f32[1]):
    total: f32 = 0.0
    for i in range(N):
        total += x[i]
    mean = total / N
    spread: f32 = 0.0
    for i in range(N):
        spread += (x[i] - mean) * (x[i] - mean)
    out[0] = spread / (N - 1)


@variance_two_pass.schedule
def expert(s):
    s.partial_sums("S1", "S1.i", 128)
    s.partial_sums("S1_sum", "S1_sum.part", 8)
    s.partial_sums("S4", "S4.i", 64)
    s.partial_sums("S4_sum", "S4_sum.part", 8)
    s.split("S1.i", 128)
    s.pipeline("S1.i_0", ii=3)
    s.split("S4.i", 64)
    s.pipeline("S4.i_0", ii=3)
    for stmt in ("S1", "S4"):
        s.split(f"{stmt}_sum.part", 8)
        s.pipeline(f"{stmt}_sum.part_0", ii=3)
        for part in ("init", "sum_init", "sum_sum"):
            s.unroll(f"{stmt}_{part}.part")
    for array in ("total_part", "total_part_2", "spread_part", "spread_part_2"):
        s.partition(array, 0, "complete")
    s.partition("x", 0, "cyclic", 64)


@weft.kernel
def sum_i32(x: i32[N], out: i32[1]):
    out[0] = 0
    for i in range(N):
        out[0] += x[i]


@sum_i32.schedule
def expert(s):
    s.split("i", 128)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 128)


@weft.kernel
def min_and_max(x: i16[N], out: i16[2]):
    low: i16 = 32767
    high: i16 = -32768
    for i in range(N):
        low = min(low, x[i])
        high = max(high, x[i])
    out[0] = low
    out[1] = high


@min_and_max.schedule
def expert(s):
    # 64 minima and maxima that take no turns in a cycle, then 8 of them at a time.
    for stmt in ("S2", "S3"):
        s.partial_sums(stmt, "i", 64)
    for stmt in ("S2", "S3"):
        s.partial_sums(f"{stmt}_sum", f"{stmt}_sum.part", 8)
    for stmt in ("S2", "S3"):
        s.split(f"{stmt}_sum.part", 8)
        s.pipeline(f"{stmt}_sum.part_0")
        for part in ("init", "sum_init", "sum_sum"):
            s.unroll(f"{stmt}_{part}.part")
    s.split("i", 64)
    s.pipeline("i_0")
    for array in ("low_part", "low_part_2", "high_part", "high_part_2"):
        s.partition(array, 0, "complete")
    s.partition("x", 0, "cyclic", 64)


@weft.kernel
def argmax(x: f32[N], best: f32[1], where: i32[1]):
    top: f32 = x[0]
    index: i32 = 0
    for i in range(1, N):
        index = i if x[i] > top else index
        top = x[i] if x[i] > top else top
    best[0] = top
    where[0] = index


@weft.kernel
def argmax_expert(x: f32[N], best: f32[1], where: i32[1]):
    # 32 candidates that take turns; the first one of equal ones is the least index.
    tops: f32[32]
    indices: i32[32]
    for k in range(32):
        tops[k] = x[k]
        indices[k] = k
    for i in range(1, N // 32):
        for k in range(32):
            indices[k] = 32 * i + k if x[32 * i + k] > tops[k] else indices[k]
            tops[k] = x[32 * i + k] if x[32 * i + k] > tops[k] else tops[k]
    top: f32 = tops[0]
    index: i32 = indices[0]
    for k in range(1, 32):
        closer = tops[k] > top or (tops[k] == top and indices[k] < index)
        index = indices[k] if closer else index
        top = tops[k] if closer else top
    best[0] = top
    where[0] = index


@argmax_expert.schedule
def expert(s):
    s.unroll("S0.k")
    s.pipeline("i")
    s.pipeline("S6.k")
    s.partition("tops", 0, "complete")
    s.partition("indices", 0, "complete")
    s.partition("x", 0, "cyclic", 32)


@weft.kernel
def histogram_by_bin(x: u8[N], bins: u16[BINS]):
    for b in range(BINS):
        count: u16 = 0
        for i in range(N):
            count += 1 if x[i] >> 4 == b else 0
        bins[b] = count


@weft.kernel
def histogram_by_bin_expert(x: u8[N], bins: u16[BINS]):
    # All bins count while the samples pass once: loops exchanged around a local array.
    count: u16[BINS] = 0
    for i in range(N):
        for b in range(BINS):
            count[b] += 1 if x[i] >> 4 == b else 0
    for b in range(BINS):
        bins[b] = count[b]


@histogram_by_bin_expert.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0")
    s.pipeline("S2.b")
    s.partition("count", 0, "complete")
    s.partition("x", 0, "cyclic", 32)


@weft.kernel
def column_sums_by_column(A: f32[ROWS, COLS], out: f32[COLS]):
    for j in range(COLS):
        total: f32 = 0.0
        for i in range(ROWS):
            total += A[i, j]
        out[j] = total


@column_sums_by_column.schedule
def expert(s):
    # A column in each cycle: 8 chains of 8 terms, and one of their sums.
    s.partial_sums("S1", "i", 8)
    s.pipeline("j")
    s.partition("A", 0, "complete")


@weft.kernel
def column_sums_by_row(A: f32[ROWS, COLS], out: f32[COLS]):
    for j in range(COLS):
        out[j] = 0.0
    for i in range(ROWS):
        for j in range(COLS):
            out[j] += A[i, j]


@column_sums_by_row.schedule
def expert(s):
    s.partial_sums("S1", "i", 8)
    s.interchange("S1.i", "S1.j")
    s.fuse(["S0", "S1_init", "S1", "S1_sum"], 1)
    s.pipeline("S1.j")
    s.partition("out_part", 1, "complete")
    s.partition("A", 0, "complete")


@weft.kernel
def sad_blocks(a: u8[64, 64], b: u8[64, 64], out: u32[8, 8]):
    for bi, bj in weft.grid(8, 8):
        out[bi, bj] = 0
        for i, j in weft.grid(8, 8):
            out[bi, bj] += abs(a[8 * bi + i, 8 * bj + j] - b[8 * bi + i, 8 * bj + j])


@sad_blocks.schedule
def expert(s):
    # Two blocks in each cycle.
    s.split("bj", 2)
    s.pipeline("bj_0")
    for array in ("a", "b"):
        s.partition(array, 0, "cyclic", 8)
        s.partition(array, 1, "cyclic", 16)
    s.partition("out", 1, "cyclic", 2)
