"""Products of matrices and vectors: by rows, by columns, symmetric, triangular, chained."""

import weft
from weft import f32

ROWS, COLS = 96, 128

GROUPS = {
    "gemv": ["gemv_rows", "gemv_columns", "gemv_products"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "gemv_products": "gemv_rows",
}


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
