"""Dynamic programs: knapsacks, paths, hidden states, intervals."""

import numpy as np

import weft
from weft import f32, i32, u6, u8, u16

N = 64
CAPACITY, ITEMS = 256, 32
COINS = 8
STATES, SYMBOLS, T = 16, 8, 64
NODES = 48

GROUPS = {
    "knapsack": ["knapsack_table", "knapsack_one_row"],
    "floyd_warshall": ["floyd_warshall", "floyd_warshall_row_copy"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "knapsack_table": "knapsack_systolic",
    "knapsack_one_row": "knapsack_systolic",
    "floyd_warshall_row_copy": "floyd_warshall_expert",
}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "floyd_warshall": "no distance of a node to itself is below 0",
    "floyd_warshall_row_copy": "no distance of a node to itself is below 0",
}


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
def viterbi(start: f32[STATES], move: f32[STATES, STATES], emit: f32[T, STATES], best: f32[STATES]):
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


@hidden_markov_forward.inputs
def chances(kernel, seed):
    rng = np.random.default_rng(seed)
    shapes = {"start": STATES, "move": (STATES, STATES), "emit": (T, STATES)}
    return {name: rng.uniform(0.05, 0.1, shape) * 2 for name, shape in shapes.items()}


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


@hidden_markov_forward_expert.inputs
def chances_again(kernel, seed):
    return chances(kernel, seed)


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
