"""Dynamic programs: tables in which an entry waits for its neighbours, or for a row before."""

import numpy as np

import weft
from weft import f32, i16, i32, u6, u8, u16

N = 64
CAPACITY, ITEMS = 256, 32
COINS = 8
STATES, SYMBOLS, T = 16, 8, 64
NODES = 48
INF = 1_000_000

GROUPS = {
    "lcs": ["lcs_table", "lcs_two_rows", "lcs_diagonals"],
    "knapsack": ["knapsack_table", "knapsack_one_row"],
    "floyd_warshall": ["floyd_warshall", "floyd_warshall_row_copy"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "lcs_table": "lcs_systolic",
    "lcs_two_rows": "lcs_systolic",
    "lcs_diagonals": "lcs_systolic",
    "knapsack_table": "knapsack_systolic",
    "knapsack_one_row": "knapsack_systolic",
    "floyd_warshall_row_copy": "floyd_warshall_expert",
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
                last[i] = min(
                    corner + (1 if a[i] != passing[i] else 0), min(above, left) + 1
                )
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
            left: f32 = last[i]
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
            before[i] = last[i]
    out[0] = last[N - 1]


@dynamic_time_warping_expert.schedule
def expert(s):
    for loop in ("passing_i", "last_i", "before_i"):
        s.unroll(loop)
    s.pipeline("d")
    for array in ("x", "passing", "last", "before"):
        s.partition(array, 0, "complete")


@weft.kernel
def knapsack_table(value: u16[ITEMS], out: i32[1]):
    K: i32[ITEMS + 1, CAPACITY] = 0
    for i in range(ITEMS):
        for c in range(CAPACITY):
            if c > i:
                K[i + 1, c] = max(K[i, c], K[i, c - i - 1] + value[i])
            else:
                K[i + 1, c] = K[i, c]
    out[0] = K[ITEMS, CAPACITY - 1]


@weft.kernel
def knapsack_one_row(value: u16[ITEMS], out: i32[1]):
    row: i32[CAPACITY] = 0
    for i in range(ITEMS):
        for c in range(CAPACITY - 1, i, -1):
            row[c] = max(row[c], row[c - i - 1] + value[i])
    out[0] = row[CAPACITY - 1]


@weft.kernel
def knapsack_systolic(value: u16[ITEMS], out: i32[1]):
    # Capacities outside, all items a chain: past[i, m] is what items before i give c - 1 - m.
    past: i32[ITEMS, ITEMS] = 0
    for c in range(CAPACITY):
        worth: i32 = 0
        for i in range(ITEMS):
            rest: i32 = past[i, i]
            for m in range(ITEMS - 1, 0, -1):
                if m <= i:
                    past[i, m] = past[i, m - 1]
            past[i, 0] = worth
            if c > i:
                worth = max(worth, rest + value[i])
        if c == CAPACITY - 1:
            out[0] = worth


@knapsack_systolic.schedule
def expert(s):
    s.pipeline("past_i")
    s.pipeline("c")
    s.partition("value", 0, "complete")
    s.partition("past", 0, "complete")
    s.partition("past", 1, "complete")


@weft.kernel
def coin_change(ways: i32[CAPACITY]):
    for c in range(CAPACITY):
        ways[c] = 1 if c == 0 else 0
    for coin in range(1, COINS + 1):
        for c in range(coin, CAPACITY):
            ways[c] += ways[c - coin]


@weft.kernel
def coin_change_expert(ways: i32[CAPACITY]):
    # Amounts outside: past[k, m] are the ways to pay c - 1 - m with the first k coins.
    past: i32[COINS, COINS] = 0
    for c in range(CAPACITY):
        total: i32 = 0
        if c == 0:
            total = 1
        for k in range(COINS):
            total += past[k, k]
            for m in range(COINS - 1, 0, -1):
                if m <= k:
                    past[k, m] = past[k, m - 1]
            past[k, 0] = total
        ways[c] = total


@coin_change_expert.schedule
def expert(s):
    s.pipeline("past_i")
    s.pipeline("c")
    s.partition("past", 0, "complete")
    s.partition("past", 1, "complete")


@weft.kernel
def viterbi(
    start: f32[STATES], move: f32[STATES, STATES], emit: f32[T, STATES], best: f32[STATES]
):
    score: f32[T, STATES]
    for s in range(STATES):
        score[0, s] = start[s] + emit[0, s]
    for t in range(1, T):
        for s in range(STATES):
            top: f32 = score[t - 1, 0] + move[0, s]
            for p in range(1, STATES):
                top = max(top, score[t - 1, p] + move[p, s])
            score[t, s] = top + emit[t, s]
    for s in range(STATES):
        best[s] = score[T - 1, s]


@weft.kernel
def viterbi_expert(
    start: f32[STATES], move: f32[STATES, STATES], emit: f32[T, STATES], best: f32[STATES]
):
    # The best of 16 in four levels, all states at once.
    score: f32[STATES]
    for s in range(STATES):
        score[s] = start[s] + emit[0, s]
    for t in range(1, T):
        next: f32[STATES]
        for s in range(STATES):
            path: f32[STATES]
            for p in range(STATES):
                path[p] = score[p] + move[p, s]
            for p in range(8):
                path[p] = max(path[p], path[p + 8])
            for p in range(4):
                path[p] = max(path[p], path[p + 4])
            for p in range(2):
                path[p] = max(path[p], path[p + 2])
            next[s] = max(path[0], path[1]) + emit[t, s]
        for s in range(STATES):
            score[s] = next[s]
    for s in range(STATES):
        best[s] = score[s]


@viterbi_expert.schedule
def expert(s):
    s.pipeline("S0.s")
    s.pipeline("t")
    s.pipeline("S7.s")
    s.partition("move", 0, "complete")
    s.partition("move", 1, "complete")
    for array in ("score", "next", "path", "start"):
        s.partition(array, 0, "complete")
    s.partition("emit", 1, "complete")


@weft.kernel
def hidden_markov_forward(
    start: f32[STATES], move: f32[STATES, STATES], emit: f32[T, STATES], total: f32[1]
):
    alpha: f32[STATES]
    next: f32[STATES]
    for s in range(STATES):
        alpha[s] = start[s]
    for t in range(T):
        for s in range(STATES):
            next[s] = 0.0
            for p in range(STATES):
                next[s] += alpha[p] * move[p, s]
        for s in range(STATES):
            alpha[s] = next[s] * emit[t, s]
    total[0] = 0.0
    for s in range(STATES):
        total[0] += alpha[s]


@weft.kernel
def hidden_markov_forward_expert(
    start: f32[STATES], move: f32[STATES, STATES], emit: f32[T, STATES], total: f32[1]
):
    # The sum of 16 in four levels, all states at once.
    alpha: f32[STATES]
    for s in range(STATES):
        alpha[s] = start[s]
    for t in range(T):
        next: f32[STATES]
        for s in range(STATES):
            term: f32[STATES]
            for p in range(STATES):
                term[p] = alpha[p] * move[p, s]
            for p in range(8):
                term[p] = term[p] + term[p + 8]
            for p in range(4):
                term[p] = term[p] + term[p + 4]
            for p in range(2):
                term[p] = term[p] + term[p + 2]
            next[s] = (term[0] + term[1]) * emit[t, s]
        for s in range(STATES):
            alpha[s] = next[s]
    total[0] = 0.0
    for s in range(STATES):
        total[0] += alpha[s]


@hidden_markov_forward_expert.schedule
def expert(s):
    s.pipeline("S0.s")
    s.pipeline("t")
    s.partition("move", 0, "complete")
    s.partition("move", 1, "complete")
    for array in ("alpha", "next", "term"):
        s.partition(array, 0, "complete")
    s.partition("emit", 1, "complete")


@weft.kernel
def floyd_warshall(d: i32[NODES, NODES]):
    for k in range(NODES):
        for i in range(NODES):
            for j in range(NODES):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@floyd_warshall.inputs
def distances(kernel, seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(1, 1000, (NODES, NODES))
    np.fill_diagonal(d, 0)
    return {"d": d}


@weft.kernel
def floyd_warshall_row_copy(d: i32[NODES, NODES]):
    for k in range(NODES):
        row: i32[NODES]
        for j in range(NODES):
            row[j] = d[k, j]
        for i in range(NODES):
            through: i32 = d[i, k]
            for j in range(NODES):
                d[i, j] = min(d[i, j], through + row[j])


@floyd_warshall_row_copy.inputs
def distances_again(kernel, seed):
    return distances(kernel, seed)


@weft.kernel
def floyd_warshall_expert(d: i32[NODES, NODES]):
    # Row and column k in registers: no distance of a node to itself is below 0, so that they do
    # not change while they are in use.
    for k in range(NODES):
        row: i32[NODES]
        column: i32[NODES]
        for j in range(NODES):
            row[j] = d[k, j]
        for i in range(NODES):
            column[i] = d[i, k]
        for i in range(NODES):
            for j in range(NODES):
                d[i, j] = min(d[i, j], column[i] + row[j])


@floyd_warshall_expert.inputs
def distances_kept(kernel, seed):
    return distances(kernel, seed)


@floyd_warshall_expert.schedule
def expert(s):
    s.unroll("S0.j")
    s.split("S1.i", 4)
    s.pipeline("S1.i_0")
    s.split("S2.i", 4)
    s.pipeline("S2.i_0")
    s.partition("d", 0, "cyclic", 4)
    s.partition("d", 1, "complete")
    s.partition("row", 0, "complete")
    s.partition("column", 0, "cyclic", 4)


@weft.kernel
def matrix_chain(p: weft.const[u6[33]], cost: i32[32, 32]):
    for i in range(32):
        cost[i, i] = 0
    for length in range(1, 32):
        for i in range(32 - length):
            cost[i, i + length] = 2000000000
            for k in range(length):
                cost[i, i + length] = min(
                    cost[i, i + length],
                    cost[i, i + k] + cost[i + k + 1, i + length]
                    + p[i] * p[i + k + 1] * p[i + length + 1],
                )  # fmt: skip


@weft.kernel
def matrix_chain_expert(p: weft.const[u6[33]], cost: i32[32, 32]):
    # All splits at once: by row and by column a copy each, so that a split is always one bank.
    rows: i32[32, 32]
    columns: i32[32, 32]
    for i in range(32):
        cost[i, i] = 0
        rows[i, i] = 0
        columns[i, i] = 0
    for length in range(1, 32):
        for i in range(32 - length):
            best: i32 = 2000000000
            for m in range(31):
                if m >= i and m < i + length:
                    through: i32 = (
                        rows[i, m]
                        + columns[i + length, m + 1]
                        + p[i] * p[m + 1] * p[i + length + 1]
                    )
                    best = min(best, through)
            rows[i, i + length] = best
            columns[i + length, i] = best
            cost[i, i + length] = best


@matrix_chain_expert.schedule
def expert(s):
    s.partial_sums("S5", "m", 8)
    s.pipeline("S5.i")
    s.partition("best_part", 0, "complete")
    s.partition("p", 0, "complete")
    s.partition("rows", 1, "complete")
    s.partition("columns", 1, "complete")


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


@weft.kernel
def maximum_subarray(x: i16[1024], out: i32[1]):
    here: i32 = 0
    best: i32 = -32768
    for i in range(1024):
        here = max(here + x[i], x[i])
        best = max(best, here)
    out[0] = best


@weft.kernel
def maximum_subarray_expert(x: i16[1024], out: i32[1]):
    # Blocks of 8 by their sum, best beginning, best end and best part: none waits for the others.
    here: i32 = -32768
    best: i32 = -32768
    for b in range(128):
        total: i32 = x[8 * b]
        head: i32 = x[8 * b]
        tail: i32 = x[8 * b]
        part: i32 = x[8 * b]
        for i in range(1, 8):
            total += x[8 * b + i]
            head = max(head, total)
            tail = max(tail + x[8 * b + i], x[8 * b + i])
            part = max(part, tail)
        best = max(best, max(part, here + head))
        here = max(tail, here + total)
    out[0] = best


@maximum_subarray_expert.schedule
def expert(s):
    s.pipeline("b")
    s.partition("x", 0, "cyclic", 8)


@weft.kernel
def cheapest_path(cost: u8[N, N], total: u16[N]):
    path: u16[N, N]
    for j in range(N):
        path[0, j] = cost[0, j]
    for i in range(1, N):
        for j in range(N):
            best: u16 = path[i - 1, j]
            if j > 0:
                best = min(best, path[i - 1, j - 1])
            if j < N - 1:
                best = min(best, path[i - 1, j + 1])
            path[i, j] = best + cost[i, j]
    for j in range(N):
        total[j] = path[N - 1, j]


@weft.kernel
def cheapest_path_expert(cost: u8[N, N], total: u16[N]):
    # One row of sums, in registers.
    last: u16[N]
    for j in range(N):
        last[j] = cost[0, j]
    for i in range(1, N):
        next: u16[N]
        for j in range(N):
            best: u16 = last[j]
            if j > 0:
                best = min(best, last[j - 1])
            if j < N - 1:
                best = min(best, last[j + 1])
            next[j] = best + cost[i, j]
        for j in range(N):
            last[j] = next[j]
    for j in range(N):
        total[j] = last[j]


@cheapest_path_expert.schedule
def expert(s):
    s.unroll("S0.j")
    s.pipeline("i")
    s.pipeline("S6.j")
    s.partition("cost", 1, "complete")
    s.partition("last", 0, "complete")
    s.partition("next", 0, "complete")


