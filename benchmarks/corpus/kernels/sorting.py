"""Sorting and order: networks, sorts in place, ranks, the largest few, searches."""

import weft
from weft import f32, i16, i32, u8, u16

N = 64

GROUPS = {"sort": ["bubble_sort", "odd_even_sort", "rank_sort", "insertion_sort"]}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {"bubble_sort": "odd_even_sort"}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "bubble_sort": "exchanges of even and of odd pairs in turn",
}


@weft.kernel
def bubble_sort(x: i32[N]):
    for i in range(N - 1):
        for j in range(N - 1 - i):
            low: i32 = min(x[j], x[j + 1])
            high: i32 = max(x[j], x[j + 1])
            x[j] = low
            x[j + 1] = high


@weft.kernel
def odd_even_sort(x: i32[N]):
    for p in range(N // 2):
        for i in range(N // 2):
            low: i32 = min(x[2 * i], x[2 * i + 1])
            high: i32 = max(x[2 * i], x[2 * i + 1])
            x[2 * i] = low
            x[2 * i + 1] = high
        for i in range(N // 2 - 1):
            lower: i32 = min(x[2 * i + 1], x[2 * i + 2])
            upper: i32 = max(x[2 * i + 1], x[2 * i + 2])
            x[2 * i + 1] = lower
            x[2 * i + 2] = upper


@odd_even_sort.schedule
def expert(s):
    s.pipeline("p", ii=2)
    s.partition("x", 0, "complete")


@weft.kernel
def rank_sort(x: i32[N], y: i32[N]):
    rank: u8[N]
    for i in range(N):
        rank[i] = 0
        for j in range(N):
            rank[i] += x[j] < x[i] or (x[j] == x[i] and j < i)
    for r in range(N):
        y[r] = 0
        for i in range(N):
            y[r] += x[i] if rank[i] == r else 0


@rank_sort.schedule
def expert(s):
    s.pipeline("S0.i")
    s.pipeline("r")
    s.partition("x", 0, "complete")
    s.partition("rank", 0, "complete")


@weft.kernel
def insertion_sort(x: i32[N], y: i32[N]):
    sorted: i32[N] = 2147483647
    for n in range(N):
        item: i32 = x[n]
        for i in range(N):
            kept: i32 = min(sorted[i], item)
            item = max(sorted[i], item)
            sorted[i] = kept
    for i in range(N):
        y[i] = sorted[i]


@insertion_sort.schedule
def expert(s):
    s.unroll("sorted_i")
    s.pipeline("n")
    s.split("S5.i", 8)
    s.pipeline("S5.i_0")
    s.partition("y", 0, "cyclic", 8)
    s.partition("sorted", 0, "complete")


@weft.kernel
def bitonic_sort(x: i32[N, 16]):
    # Runs of 2, 4, ... are merged: the first step mirrors, the others compare at a distance.
    for n in range(N):
        for b in range(8):
            low1 = min(x[n, 2 * b], x[n, 2 * b + 1])
            x[n, 2 * b + 1] = max(x[n, 2 * b], x[n, 2 * b + 1])
            x[n, 2 * b] = low1
        for b, i in weft.grid(4, 2):
            low2 = min(x[n, 4 * b + i], x[n, 4 * b + 3 - i])
            x[n, 4 * b + 3 - i] = max(x[n, 4 * b + i], x[n, 4 * b + 3 - i])
            x[n, 4 * b + i] = low2
        for b in range(8):
            low2_1 = min(x[n, 2 * b], x[n, 2 * b + 1])
            x[n, 2 * b + 1] = max(x[n, 2 * b], x[n, 2 * b + 1])
            x[n, 2 * b] = low2_1
        for b, i in weft.grid(2, 4):
            low3 = min(x[n, 8 * b + i], x[n, 8 * b + 7 - i])
            x[n, 8 * b + 7 - i] = max(x[n, 8 * b + i], x[n, 8 * b + 7 - i])
            x[n, 8 * b + i] = low3
        for b, i in weft.grid(4, 2):
            low3_2 = min(x[n, 4 * b + i], x[n, 4 * b + i + 2])
            x[n, 4 * b + i + 2] = max(x[n, 4 * b + i], x[n, 4 * b + i + 2])
            x[n, 4 * b + i] = low3_2
        for b in range(8):
            low3_1 = min(x[n, 2 * b], x[n, 2 * b + 1])
            x[n, 2 * b + 1] = max(x[n, 2 * b], x[n, 2 * b + 1])
            x[n, 2 * b] = low3_1
        for i in range(8):
            low4 = min(x[n, i], x[n, 15 - i])
            x[n, 15 - i] = max(x[n, i], x[n, 15 - i])
            x[n, i] = low4
        for b, i in weft.grid(2, 4):
            low4_4 = min(x[n, 8 * b + i], x[n, 8 * b + i + 4])
            x[n, 8 * b + i + 4] = max(x[n, 8 * b + i], x[n, 8 * b + i + 4])
            x[n, 8 * b + i] = low4_4
        for b, i in weft.grid(4, 2):
            low4_2 = min(x[n, 4 * b + i], x[n, 4 * b + i + 2])
            x[n, 4 * b + i + 2] = max(x[n, 4 * b + i], x[n, 4 * b + i + 2])
            x[n, 4 * b + i] = low4_2
        for b in range(8):
            low4_1 = min(x[n, 2 * b], x[n, 2 * b + 1])
            x[n, 2 * b + 1] = max(x[n, 2 * b], x[n, 2 * b + 1])
            x[n, 2 * b] = low4_1


@bitonic_sort.schedule
def expert(s):
    # A row of 16 in each cycle, each comparison a unit of its own.
    s.pipeline("n")
    s.partition("x", 1, "complete")


@weft.kernel
def largest_eight(x: i16[1024], top: i16[8]):
    best: i16[8] = -32768
    for n in range(1024):
        item: i16 = x[n]
        for k in range(8):
            held: i16 = max(best[k], item)
            item = min(best[k], item)
            best[k] = held
    for k in range(8):
        top[k] = best[k]


@largest_eight.schedule
def expert(s):
    s.pipeline("n")
    s.unroll("best_i")
    s.unroll("S5.k")
    s.partition("best", 0, "complete")


@weft.kernel
def median_of_nine(x: u8[256, 9], y: u8[256]):
    for n in range(256):
        v: u8[9]
        for i in range(9):
            v[i] = x[n, i]
        for p in range(9):
            for i in range(8):
                if (i + p) % 2 == 0:
                    low: u8 = min(v[i], v[i + 1])
                    v[i + 1] = max(v[i], v[i + 1])
                    v[i] = low
        y[n] = v[4]


@median_of_nine.schedule
def expert(s):
    s.split("n", 8)
    s.pipeline("n_0")
    s.partition("x", 0, "cyclic", 8)
    s.partition("x", 1, "complete")
    s.partition("y", 0, "cyclic", 8)


@weft.kernel
def merge_ranks(a: i32[N], b: i32[N], where_a: u16[N], where_b: u16[N]):
    for i in range(N):
        n: u16 = i
        for j in range(N):
            n += b[j] < a[i]
        where_a[i] = n
    for j in range(N):
        m: u16 = j
        for i in range(N):
            m += a[i] <= b[j]
        where_b[j] = m


@merge_ranks.schedule
def expert(s):
    s.pipeline("S0.i")
    s.pipeline("S3.j")
    s.partition("a", 0, "complete")
    s.partition("b", 0, "complete")


@weft.kernel
def nearest_entry(table: f32[32], x: f32[256], y: u8[256]):
    for n in range(256):
        best: f32 = abs(x[n] - table[0])
        where: u8 = 0
        for k in range(1, 32):
            distance = abs(x[n] - table[k])
            where = k if distance < best else where
            best = min(best, distance)
        y[n] = where


@nearest_entry.schedule
def expert(s):
    s.pipeline("n")
    s.partition("table", 0, "complete")
