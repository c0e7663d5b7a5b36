"""Alignments of two sequences, and other tables in which an entry waits for its neighbours."""

import weft
from weft import f32, i16, u8, u16

N = 64

GROUPS = {
    "lcs": ["lcs_table", "lcs_two_rows", "lcs_diagonals"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "lcs_table": "lcs_systolic",
    "lcs_two_rows": "lcs_systolic",
    "lcs_diagonals": "lcs_systolic",
}


@weft.kernel
def lcs_table(a: u8[N], b: u8[N], out: u16[1]):
    L: u16[N + 1, N + 1] = 0
    for i in range(1, N + 1):
        for j in range(1, N + 1):
            L[i, j] = L[i - 1, j - 1] + 1 if a[i - 1] == b[j - 1] else max(L[i - 1, j], L[i, j - 1])
    out[0] = L[N, N]


@weft.kernel
def lcs_two_rows(a: u8[N], b: u8[N], out: u16[1]):
    row: u16[2, N + 1] = 0
    for i in range(N):
        for j in range(1, N + 1):
            row[(i + 1) % 2, j] = (
                row[i % 2, j - 1] + 1
                if a[i] == b[j - 1]
                else max(row[i % 2, j], row[(i + 1) % 2, j - 1])
            )
    out[0] = row[N % 2, N]


@weft.kernel
def lcs_diagonals(a: u8[N], b: u8[N], out: u16[1]):
    L: u16[N + 1, N + 1] = 0
    for d in range(2, 2 * N + 1):
        for i in range(max(1, d - N), min(N, d - 1) + 1):
            L[i, d - i] = (
                L[i - 1, d - i - 1] + 1
                if a[i - 1] == b[d - i - 1]
                else max(L[i - 1, d - i], L[i, d - i - 1])
            )
    out[0] = L[N, N]


@weft.kernel
def lcs_systolic(a: u8[N], b: u8[N], out: u16[1]):
    # A cell for each letter of a; b runs past them. last and before are the two diagonals behind.
    passing: u8[N] = 0
    last: u16[N] = 0
    before: u16[N] = 0
    for d in range(2 * N - 1):
        for i in range(N - 1, 0, -1):
            passing[i] = passing[i - 1]
        if d < N:
            passing[0] = b[d]
        for i in range(N - 1, -1, -1):
            left: u16 = last[i]
            above: u16 = 0
            corner: u16 = 0
            if i > 0:
                above = last[i - 1]
                corner = before[i - 1]
            if d - i >= 0 and d - i < N:
                last[i] = corner + 1 if a[i] == passing[i] else max(above, left)
            before[i] = left
    out[0] = last[N - 1]


@lcs_systolic.schedule
def expert(s):
    for loop in ("passing_i", "last_i", "before_i"):
        s.unroll(loop)
    s.pipeline("d")
    for array in ("a", "passing", "last", "before"):
        s.partition(array, 0, "complete")


@weft.kernel
def edit_distance(a: u8[N], b: u8[N], out: u16[1]):
    D: u16[N + 1, N + 1]
    for i in range(N + 1):
        D[i, 0] = i
    for j in range(1, N + 1):
        D[0, j] = j
    for i in range(1, N + 1):
        for j in range(1, N + 1):
            change = D[i - 1, j - 1] + (1 if a[i - 1] != b[j - 1] else 0)
            D[i, j] = min(change, min(D[i - 1, j], D[i, j - 1]) + 1)
    out[0] = D[N, N]


@weft.kernel
def edit_distance_expert(a: u8[N], b: u8[N], out: u16[1]):
    # A cell for each letter of a; b runs past them. last and before are the two diagonals behind.
    passing: u8[N] = 0
    last: u16[N]
    before: u16[N]
    for i in range(N):
        last[i] = i + 1
        before[i] = i + 1
    for d in range(2 * N - 1):
        for i in range(N - 1, 0, -1):
            passing[i] = passing[i - 1]
        if d < N:
            passing[0] = b[d]
        for i in range(N - 1, -1, -1):
            left: u16 = last[i]
            above: u16 = d + 1
            corner: u16 = d
            if i > 0:
                above = last[i - 1]
                corner = before[i - 1]
            if d - i >= 0 and d - i < N:
                last[i] = min(corner + (1 if a[i] != passing[i] else 0), min(above, left) + 1)
            before[i] = left
    out[0] = last[N - 1]


@edit_distance_expert.schedule
def expert(s):
    s.unroll("S1.i")
    s.unroll("passing_i")
    s.pipeline("d")
    for array in ("a", "passing", "last", "before"):
        s.partition(array, 0, "complete")


@weft.kernel
def smith_waterman(a: u8[N], b: u8[N], best: i16[1]):
    H: i16[N + 1, N + 1] = 0
    top: i16 = 0
    for i in range(1, N + 1):
        for j in range(1, N + 1):
            match: i16 = 3 if a[i - 1] == b[j - 1] else -2
            H[i, j] = max(0, max(H[i - 1, j - 1] + match, max(H[i - 1, j] - 2, H[i, j - 1] - 2)))
            top = max(top, H[i, j])
    best[0] = top


@weft.kernel
def smith_waterman_expert(a: u8[N], b: u8[N], best: i16[1]):
    # A cell for each letter of a, with the best score of its own row.
    passing: u8[N] = 0
    last: i16[N] = 0
    before: i16[N] = 0
    tops: i16[N] = 0
    for d in range(2 * N - 1):
        for i in range(N - 1, 0, -1):
            passing[i] = passing[i - 1]
        if d < N:
            passing[0] = b[d]
        for i in range(N - 1, -1, -1):
            left: i16 = last[i]
            above: i16 = 0
            corner: i16 = 0
            if i > 0:
                above = last[i - 1]
                corner = before[i - 1]
            if d - i >= 0 and d - i < N:
                match: i16 = 3 if a[i] == passing[i] else -2
                last[i] = max(0, max(corner + match, max(above, left) - 2))
                tops[i] = max(tops[i], last[i])
            before[i] = left
    top: i16 = 0
    for r in range(N):
        top = max(top, tops[r])
    best[0] = top


@smith_waterman_expert.schedule
def expert(s):
    for loop in ("passing_i", "last_i", "before_i", "tops_i"):
        s.unroll(loop)
    s.pipeline("d")
    s.split("r", 4)
    s.pipeline("r_0", ii=2)
    for array in ("a", "passing", "last", "before", "tops"):
        s.partition(array, 0, "complete")


@weft.kernel
def dynamic_time_warping(x: f32[N], y: f32[N], out: f32[1]):
    D: f32[N, N]
    for i in range(N):
        for j in range(N):
            cost = abs(x[i] - y[j])
            if i == 0 and j == 0:
                D[i, j] = cost
            elif i == 0:
                D[i, j] = cost + D[i, j - 1]
            elif j == 0:
                D[i, j] = cost + D[i - 1, j]
            else:
                D[i, j] = cost + min(D[i - 1, j - 1], min(D[i - 1, j], D[i, j - 1]))
    out[0] = D[N - 1, N - 1]


@weft.kernel
def dynamic_time_warping_expert(x: f32[N], y: f32[N], out: f32[1]):
    # A cell for each sample of x; y runs past them. The minimum of two does not wait for the third.
    passing: f32[N] = 0.0
    last: f32[N] = 0.0
    before: f32[N] = 0.0
    for d in range(2 * N - 1):
        for i in range(N - 1, 0, -1):
            passing[i] = passing[i - 1]
        if d < N:
            passing[0] = y[d]
        for i in range(N - 1, -1, -1):
            old: f32 = last[i]
            left: f32 = old
            above: f32 = 1.0e30
            corner: f32 = 1.0e30
            if i > 0:
                above = last[i - 1]
                corner = before[i - 1]
            if d - i >= 0 and d - i < N:
                if d - i == 0:
                    left = 1.0e30
                    corner = 1.0e30
                cost = abs(x[i] - passing[i])
                if i == 0 and d - i == 0:
                    last[i] = cost
                else:
                    last[i] = cost + min(min(above, left), corner)
            before[i] = old
    out[0] = last[N - 1]


@dynamic_time_warping_expert.schedule
def expert(s):
    for loop in ("passing_i", "last_i", "before_i"):
        s.unroll(loop)
    s.pipeline("d")
    for array in ("x", "passing", "last", "before"):
        s.partition(array, 0, "complete")


@weft.kernel
def longest_increasing(x: i16[N], length: u8[N], best: u8[1]):
    top: u8 = 0
    for i in range(N):
        length[i] = 1
        for j in range(i):
            longer = length[j] + 1
            length[i] = max(length[i], longer if x[j] < x[i] else 1)
        top = max(top, length[i])
    best[0] = top


@weft.kernel
def longest_increasing_expert(x: i16[N], length: u8[N], best: u8[1]):
    # A length that is known goes to all that come after it.
    known: u8[N] = 1
    top: u8 = 0
    for j in range(N):
        here: u8 = known[j]
        value: i16 = x[j]
        length[j] = here
        top = max(top, here)
        for i in range(N):
            if i > j:
                known[i] = max(known[i], here + 1 if value < x[i] else 1)
    best[0] = top


@longest_increasing_expert.schedule
def expert(s):
    s.pipeline("j")
    s.partition("known", 0, "complete")
    s.partition("x", 0, "complete")
