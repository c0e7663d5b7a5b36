"""Matrix products: one algorithm in six styles, integers, small and triangular ones."""

import weft
from weft import bf16, f32, i8, i16, i32

N = 48

GROUPS = {
    "gemm": [
        "gemm_perfect",
        "gemm_scalar",
        "gemm_row",
        "gemm_transposed",
        "gemm_blocked",
        "gemm_reversed",
    ],
}


@weft.kernel
def gemm_perfect(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i, j, k in weft.grid(N, N, N):
        C[i, j] += A[i, k] * B[k, j]


@gemm_perfect.schedule
def expert(s):
    # 2 rows by 16 columns at a time; an element's turn comes when its last sum is done.
    s.reorder(["k", "i", "j"])
    s.tile(["i", "j"], [2, 16])
    s.pipeline("j_0")
    s.partition("A", 0, "cyclic", 2)
    s.partition("B", 1, "cyclic", 16)
    s.partition("C", 0, "cyclic", 2)
    s.partition("C", 1, "cyclic", 16)


@weft.kernel
def gemm_scalar(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i in range(N):
        for j in range(N):
            total: f32 = 0.0
            for k in range(N):
                total += A[i, k] * B[k, j]
            C[i, j] = total


@gemm_scalar.schedule
def expert(s):
    # Two sums of 48 terms start every third cycle.
    s.split("j", 2)
    s.pipeline("j_0", ii=3)
    s.partition("A", 1, "cyclic", 16)
    s.partition("B", 0, "cyclic", 16)
    s.partition("B", 1, "cyclic", 2)
    s.partition("C", 1, "cyclic", 2)


@weft.kernel
def gemm_row(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i in range(N):
        row: f32[N]
        for j in range(N):
            row[j] = 0.0
        for k in range(N):
            for j in range(N):
                row[j] += A[i, k] * B[k, j]
        for j in range(N):
            C[i, j] = row[j]


@weft.kernel
def gemm_row_expert(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    # The row of sums becomes all of C, so that the loop over k can be the outermost one.
    for i, j in weft.grid(N, N):
        C[i, j] = 0.0
    for k, i, j in weft.grid(N, N, N):
        C[i, j] += A[i, k] * B[k, j]


@gemm_row_expert.schedule
def expert(s):
    s.split("S0.j", 16)
    s.pipeline("S0.j_0")
    s.tile(["S1.i", "S1.j"], [2, 16])
    s.pipeline("S1.j_0")
    s.partition("A", 0, "cyclic", 2)
    s.partition("B", 1, "cyclic", 16)
    s.partition("C", 0, "cyclic", 2)
    s.partition("C", 1, "cyclic", 16)


@weft.kernel
def gemm_transposed(A: f32[N, N], Bt: f32[N, N], C: f32[N, N]):
    for i in range(N):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(N):
                C[i, j] += A[i, k] * Bt[j, k]


@gemm_transposed.schedule
def expert(s):
    s.distribute(["S1"])
    s.reorder(["k", "S1.i", "S1.j"])
    s.tile(["S1.i", "S1.j"], [2, 16])
    s.pipeline("S1.j_0")
    s.split("S0.j", 16)
    s.pipeline("S0.j_0")
    s.partition("A", 0, "cyclic", 2)
    s.partition("Bt", 0, "cyclic", 16)
    s.partition("C", 0, "cyclic", 2)
    s.partition("C", 1, "cyclic", 16)


@weft.kernel
def gemm_blocked(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i, j in weft.grid(N, N):
        C[i, j] = 0.0
    for bi, bj, bk in weft.grid(N // 8, N // 8, N // 8):
        for i, j, k in weft.grid(8, 8, 8):
            C[8 * bi + i, 8 * bj + j] += A[8 * bi + i, 8 * bk + k] * B[8 * bk + k, 8 * bj + j]


@gemm_blocked.schedule
def expert(s):
    s.split("S0.j", 16)
    s.pipeline("S0.j_0")
    s.reorder(["bk", "S1.k", "bi", "bj", "S1.i", "S1.j"])
    s.split("S1.i", 4)
    s.reorder(["S1.i_0", "bj", "S1.i_1", "S1.j"])
    s.pipeline("bj")
    s.partition("A", 0, "cyclic", 4)
    s.partition("B", 1, "cyclic", 16)
    s.partition("C", 0, "cyclic", 4)
    s.partition("C", 1, "cyclic", 16)


@weft.kernel
def gemm_reversed(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for k in range(N - 1, -1, -1):
        for i in range(N - 1, -1, -1):
            for j in range(N - 1, -1, -1):
                C[i, j] += A[i, k] * B[k, j]


@gemm_reversed.schedule
def expert(s):
    s.tile(["i", "j"], [2, 16])
    s.pipeline("j_0")
    s.partition("A", 0, "cyclic", 2)
    s.partition("B", 1, "cyclic", 16)
    s.partition("C", 0, "cyclic", 2)
    s.partition("C", 1, "cyclic", 16)


@weft.kernel
def gemm_i8(A: i8[N, N], B: i8[N, N], C: i32[N, N]):
    for i in range(N):
        for j in range(N):
            C[i, j] = 0
            for k in range(N):
                C[i, j] += A[i, k] * B[k, j]


@gemm_i8.schedule
def expert(s):
    s.split("j", 8)
    s.pipeline("j_0")
    s.bind_op("S1", "mul", "fabric")  # 256 products, and 176 slices
    s.partition("A", 1, "complete")
    s.partition("B", 0, "complete")
    s.partition("B", 1, "cyclic", 8)
    s.partition("C", 1, "cyclic", 8)


@weft.kernel
def gemm_i16_relu(A: i16[N, N], B: i16[N, N], bias: i32[N], C: i16[N, N]):
    for i in range(N):
        for j in range(N):
            total: i32 = bias[j]
            for k in range(N):
                total += A[i, k] * B[k, j]
            C[i, j] = min(max(total >> 8, 0), 32767)


@gemm_i16_relu.schedule
def expert(s):
    s.pipeline("j")
    s.partition("A", 1, "complete")
    s.partition("B", 0, "complete")


@weft.kernel
def rank_k_update(A: f32[N, N], C: f32[N, N]):
    for i in range(N):
        for j in range(i + 1):
            C[i, j] *= 0.5
            for k in range(N):
                C[i, j] += A[i, k] * A[j, k]


@weft.kernel
def rank_k_update_expert(A: f32[N, N], C: f32[N, N]):
    # Whole blocks of 6 x 16 elements that touch the triangle; what is outside of it is guarded.
    for i in range(N):
        for j in range(N):
            if j <= i:
                C[i, j] *= 0.5
    for bi in range(N // 6):
        for bj in range((6 * bi + 5) // 16 + 1):
            for k in range(N):
                for i, j in weft.grid(6, 16):
                    if 16 * bj + j <= 6 * bi + i:
                        C[6 * bi + i, 16 * bj + j] += A[6 * bi + i, k] * A[16 * bj + j, k]


@rank_k_update_expert.schedule
def expert(s):
    s.pipeline("S0.i", ii=4)
    s.pipeline("k", ii=3)
    s.partition("A", 0, "complete")
    s.partition("C", 0, "cyclic", 6)
    s.partition("C", 1, "cyclic", 16)


@weft.kernel
def batched_small_products(A: f32[64, 4, 4], B: f32[64, 4, 4], C: f32[64, 4, 4]):
    for b in range(64):
        for i, j in weft.grid(4, 4):
            total: f32 = 0.0
            for k in range(4):
                total += A[b, i, k] * B[b, k, j]
            C[b, i, j] = total


@batched_small_products.schedule
def expert(s):
    s.pipeline("b", ii=2)
    for array in ("A", "B", "C"):
        s.partition(array, 1, "complete")
        s.partition(array, 2, "complete")


@weft.kernel
def gemm_bf16(A: bf16[32, 32], B: bf16[32, 32], C: f32[32, 32]):
    for i, j in weft.grid(32, 32):
        total: f32 = 0.0
        for k in range(32):
            total += f32(A[i, k]) * f32(B[k, j])
        C[i, j] = total


@gemm_bf16.schedule
def expert(s):
    s.pipeline("j")
    s.partition("A", 1, "complete")
    s.partition("B", 0, "complete")
