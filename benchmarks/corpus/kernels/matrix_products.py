"""Matrix products: one algorithm in six styles, matrix-vector products, chains and batches."""

import weft
from weft import bf16, f32, i8, i16, i32

N = 48
ROWS, COLS = 96, 128
BATCH = 8

GROUPS = {
    "gemm": [
        "gemm_perfect", "gemm_scalar", "gemm_row", "gemm_transposed", "gemm_blocked",
        "gemm_reversed",
    ],
    "gemv": ["gemv_rows", "gemv_columns", "gemv_products"],
}  # fmt: skip
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {"gemv_products": "gemv_rows"}


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
    s.split("j", 16)
    s.pipeline("j_0")
    s.partition("A", 1, "complete")
    s.partition("B", 0, "complete")
    s.partition("B", 1, "cyclic", 16)
    s.partition("C", 1, "cyclic", 16)


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
def gemv_rows(A: f32[ROWS, COLS], x: f32[COLS], y: f32[ROWS]):
    for i in range(ROWS):
        total: f32 = 0.0
        for j in range(COLS):
            total += A[i, j] * x[j]
        y[i] = total


@gemv_rows.schedule
def expert(s):
    s.partial_sums("S1", "j", 8)
    s.pipeline("i", ii=4)
    s.partition("A", 1, "cyclic", 32)
    s.partition("x", 0, "complete")


@weft.kernel
def gemv_columns(A: f32[ROWS, COLS], x: f32[COLS], y: f32[ROWS]):
    for i in range(ROWS):
        y[i] = 0.0
    for j in range(COLS):
        for i in range(ROWS):
            y[i] += A[i, j] * x[j]


@gemv_columns.schedule
def expert(s):
    s.pipeline("S1.j", ii=3)
    s.partition("A", 0, "cyclic", 32)
    s.partition("y", 0, "complete")


@weft.kernel
def gemv_products(A: f32[ROWS, COLS], x: f32[COLS], y: f32[ROWS]):
    product: f32[ROWS, COLS]
    for i, j in weft.grid(ROWS, COLS):
        product[i, j] = A[i, j] * x[j]
    for i in range(ROWS):
        y[i] = 0.0
        for j in range(COLS):
            y[i] += product[i, j]


@weft.kernel
def gemv_transposed_twice(A: f32[ROWS, COLS], x: f32[COLS], y: f32[COLS]):
    between: f32[ROWS]
    for i in range(ROWS):
        between[i] = 0.0
        for j in range(COLS):
            between[i] += A[i, j] * x[j]
    for j in range(COLS):
        y[j] = 0.0
    for i in range(ROWS):
        for j in range(COLS):
            y[j] += A[i, j] * between[i]


@gemv_transposed_twice.schedule
def expert(s):
    s.partial_sums("S1", "S1.j", 8)
    s.pipeline("S1.i", ii=4)
    s.pipeline("S3.i", ii=4)
    s.partition("A", 1, "cyclic", 32)
    s.partition("between_part", 1, "complete")
    s.partition("x", 0, "complete")
    s.partition("y", 0, "complete")


@weft.kernel
def symmetric_gemv(A: f32[ROWS, ROWS], x: f32[ROWS], y: f32[ROWS]):
    for i in range(ROWS):
        y[i] = A[i, i] * x[i]
    for i in range(ROWS):
        for j in range(i):
            y[i] += A[i, j] * x[j]
            y[j] += A[i, j] * x[i]


@weft.kernel
def symmetric_gemv_expert(A: f32[ROWS, ROWS], x: f32[ROWS], y: f32[ROWS]):
    # A whole row at a time, above the diagonal guarded; the mirrored part in sums of its own.
    mirrored: f32[ROWS]
    for j in range(ROWS):
        mirrored[j] = 0.0
    for i in range(ROWS):
        total: f32 = 0.0
        for j in range(ROWS):
            if j <= i:
                total += A[i, j] * x[j]
        y[i] = total
        for j in range(ROWS):
            if j < i:
                mirrored[j] += A[i, j] * x[i]
    for i in range(ROWS):
        y[i] += mirrored[i]


@symmetric_gemv_expert.schedule
def expert(s):
    s.partial_sums("S2", "S2.j", 8)
    s.unroll("S0.j")
    s.pipeline("S2.i", ii=6)
    s.pipeline("S5.i")
    s.partition("A", 1, "complete")
    s.partition("total_part", 0, "complete")
    s.partition("mirrored", 0, "complete")
    s.partition("x", 0, "complete")


@weft.kernel
def lower_times_vector(L: f32[ROWS, ROWS], x: f32[ROWS], y: f32[ROWS]):
    for i in range(ROWS):
        total: f32 = 0.0
        for j in range(i + 1):
            total += L[i, j] * x[j]
        y[i] = total


@weft.kernel
def lower_times_vector_expert(L: f32[ROWS, ROWS], x: f32[ROWS], y: f32[ROWS]):
    # A whole row at a time, above the diagonal guarded.
    for i in range(ROWS):
        total: f32 = 0.0
        for j in range(ROWS):
            if j <= i:
                total += L[i, j] * x[j]
        y[i] = total


@lower_times_vector_expert.schedule
def expert(s):
    s.partial_sums("S1", "j", 8)
    s.pipeline("i", ii=3)
    s.partition("L", 1, "cyclic", 32)
    s.partition("total_part", 0, "complete")
    s.partition("x", 0, "complete")


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
    s.pipeline("S0.i", ii=3)
    s.pipeline("k", ii=3)
    s.partition("A", 0, "complete")
    s.partition("C", 0, "cyclic", 6)
    s.partition("C", 1, "cyclic", 16)


@weft.kernel
def outer_product(x: f32[ROWS], y: f32[COLS], A: f32[ROWS, COLS]):
    for i, j in weft.grid(ROWS, COLS):
        A[i, j] += x[i] * y[j]


@outer_product.schedule
def expert(s):
    s.split("j", 32)
    s.pipeline("j_0")
    s.partition("A", 1, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


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
def product_chain(A: f32[32, 32], B: f32[32, 32], x: f32[32], y: f32[32]):
    u: f32[32]
    v: f32[32]
    for i in range(32):
        total: f32 = 0.0
        for j in range(32):
            total += A[i, j] * x[j]
        u[i] = total
    for i in range(32):
        v[i] = max(u[i], 0.0)
    for i in range(32):
        total2: f32 = 0.0
        for j in range(32):
            total2 += B[i, j] * v[j]
        y[i] = total2 + x[i]


@product_chain.schedule
def expert(s):
    s.partial_sums("S1", "S1.j", 4)
    s.partial_sums("S5", "S5.j", 4)
    s.pipeline("S1.i")
    s.pipeline("S5.i")
    s.unroll("S3.i")
    for array in ("A", "B"):
        s.partition(array, 1, "complete")
    s.partition("x", 0, "complete")
    s.partition("u", 0, "complete")
    s.partition("v", 0, "complete")


@weft.kernel
def bilinear_form(A: f32[ROWS, COLS], x: f32[ROWS], y: f32[COLS], out: f32[1]):
    total: f32 = 0.0
    for i in range(ROWS):
        row: f32 = 0.0
        for j in range(COLS):
            row += A[i, j] * y[j]
        total += x[i] * row
    out[0] = total


@bilinear_form.schedule
def expert(s):
    s.partial_sums("S2", "j", 8)
    s.partial_sums("S3", "i", 2)
    s.pipeline("S2.i", ii=4)
    s.partition("A", 1, "cyclic", 32)
    s.partition("y", 0, "complete")


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
