"""Linear systems: triangular solves, factorisations, iterations, orthogonalisation."""

import numpy as np

import weft
from weft import f32

N = 40

GROUPS = {
    "forward_substitution": ["forward_by_row", "forward_by_column"],
    "lu": ["lu_right_looking", "lu_row_by_row"],
    "cholesky": ["cholesky_by_row", "cholesky_by_column"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "forward_by_row": "forward_expert",
    "forward_by_column": "forward_expert",
    "lu_right_looking": "lu_expert",
    "lu_row_by_row": "lu_expert",
    "cholesky_by_row": "cholesky_expert",
    "cholesky_by_column": "cholesky_expert",
}


def dominant(seed):
    """A matrix that is safe to factorise without pivots."""
    rng = np.random.default_rng(seed)
    half = rng.uniform(-1, 1, (N, N))
    return half @ half.T / N + np.eye(N)


@weft.kernel
def forward_by_row(L: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N):
        total: f32 = b[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


@weft.kernel
def forward_by_column(L: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N):
        x[i] = b[i]
    for j in range(N):
        x[j] = x[j] / L[j, j]
        for i in range(j + 1, N):
            x[i] -= L[i, j] * x[j]


@weft.kernel
def forward_expert(L: f32[N, N], b: f32[N], x: f32[N]):
    # What is left of all right sides in registers: an unknown goes to all rows at once.
    rest: f32[N]
    for i in range(N):
        rest[i] = b[i]
    for j in range(N):
        known: f32 = rest[j] / L[j, j]
        x[j] = known
        for i in range(N):
            if i > j:
                rest[i] -= L[i, j] * known


@forward_expert.schedule
def expert(s):
    s.pipeline("S0.i")
    s.pipeline("j")
    s.partition("L", 0, "complete")
    s.partition("rest", 0, "complete")


@weft.kernel
def backward_by_row(U: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N - 1, -1, -1):
        total: f32 = b[i]
        for j in range(i + 1, N):
            total -= U[i, j] * x[j]
        x[i] = total / U[i, i]


@weft.kernel
def backward_by_row_expert(U: f32[N, N], b: f32[N], x: f32[N]):
    # As forward_expert, from the last unknown up.
    rest: f32[N]
    for i in range(N):
        rest[i] = b[i]
    for j in range(N - 1, -1, -1):
        known: f32 = rest[j] / U[j, j]
        x[j] = known
        for i in range(N):
            if i < j:
                rest[i] -= U[i, j] * known


@backward_by_row_expert.schedule
def expert(s):
    s.pipeline("S0.i")
    s.pipeline("j")
    s.partition("U", 0, "complete")
    s.partition("rest", 0, "complete")


@weft.kernel
def many_right_sides(L: f32[N, N], B: f32[N, 16]):
    for i in range(N):
        for j in range(i):
            for r in range(16):
                B[i, r] -= L[i, j] * B[j, r]
        for r in range(16):
            B[i, r] = B[i, r] / L[i, i]


@weft.kernel
def many_right_sides_expert(L: f32[N, N], B: f32[N, 16]):
    # A row that is known goes to all rows below, 16 right sides at once.
    for j in range(N):
        known: f32[16]
        inverse: f32 = 1.0 / L[j, j]
        for r in range(16):
            known[r] = B[j, r] * inverse
            B[j, r] = known[r]
        for i in range(j + 1, N):
            for r in range(16):
                B[i, r] -= L[i, j] * known[r]


@many_right_sides_expert.schedule
def expert(s):
    s.unroll("S1.r")
    s.pipeline("i")
    s.partition("B", 1, "complete")
    s.partition("known", 0, "complete")


@weft.kernel
def lu_right_looking(A: f32[N, N]):
    for k in range(N):
        inverse: f32 = 1.0 / A[k, k]
        for i in range(k + 1, N):
            A[i, k] *= inverse
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def lu_expert(A: f32[N, N]):
    # The pivot's row in registers; a row is eliminated as a whole, its left part guarded.
    for k in range(N):
        row: f32[N]
        for j in range(N):
            row[j] = A[k, j]
        inverse: f32 = 1.0 / row[k]
        for i in range(k + 1, N):
            factor: f32 = A[i, k] * inverse
            for j in range(N):
                if j == k:
                    A[i, j] = factor
                if j > k:
                    A[i, j] -= factor * row[j]


@lu_expert.inputs
def lu_inputs(kernel, seed):
    return {"A": dominant(seed)}


@lu_expert.schedule
def expert(s):
    s.unroll("S0.j")
    s.pipeline("i", ii=2)
    s.partition("A", 1, "complete")
    s.partition("row", 0, "complete")


@weft.kernel
def lu_row_by_row(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] = A[i, j] / A[j, j]
        for j in range(i, N):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def cholesky_by_row(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] = A[i, j] / A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = weft.sqrt(A[i, i])


@weft.kernel
def cholesky_by_column(A: f32[N, N]):
    for k in range(N):
        A[k, k] = weft.sqrt(A[k, k])
        for i in range(k + 1, N):
            A[i, k] = A[i, k] / A[k, k]
        for j in range(k + 1, N):
            for i in range(j, N):
                A[i, j] -= A[i, k] * A[j, k]


@weft.kernel
def cholesky_expert(A: f32[N, N]):
    # The pivot's column in registers; a column is reduced as a whole, above the diagonal guarded.
    for k in range(N):
        column: f32[N]
        for i in range(N):
            column[i] = A[i, k]
        root: f32 = weft.sqrt(column[k])
        inverse: f32 = 1.0 / root
        for i in range(N):
            column[i] *= inverse
            if i == k:
                A[i, k] = root
            if i > k:
                A[i, k] = column[i]
        for j in range(k + 1, N):
            for i in range(N):
                if i >= j:
                    A[i, j] -= column[i] * column[j]


@cholesky_expert.inputs
def cholesky_inputs(kernel, seed):
    return {"A": dominant(seed)}


@cholesky_expert.schedule
def expert(s):
    s.unroll("S0.i")
    s.unroll("S3.i")
    s.pipeline("j", ii=2)
    s.partition("A", 0, "complete")
    s.partition("column", 0, "complete")


@weft.kernel
def gauss_jordan(A: f32[N, N + 1]):
    for k in range(N):
        inverse: f32 = 1.0 / A[k, k]
        for j in range(k, N + 1):
            A[k, j] *= inverse
        for i in range(N):
            if i != k:
                factor: f32 = A[i, k]
                for j in range(k, N + 1):
                    A[i, j] -= factor * A[k, j]


@weft.kernel
def gauss_jordan_expert(A: f32[N, N + 1]):
    # The scaled row of the pivot in registers; the others are eliminated as a whole.
    for k in range(N):
        row: f32[N + 1]
        inverse: f32 = 1.0 / A[k, k]
        for j in range(N + 1):
            row[j] = A[k, j] * inverse
            if j >= k:
                A[k, j] = row[j]
        for i in range(N):
            factor: f32 = 0.0 if i == k else A[i, k]
            for j in range(N + 1):
                if j >= k:
                    A[i, j] -= factor * row[j]


@gauss_jordan_expert.inputs
def jordan_inputs(kernel, seed):
    return system_inputs(kernel, seed)


@gauss_jordan_expert.schedule
def expert(s):
    s.unroll("S1.j")
    s.pipeline("i", ii=2)
    s.partition("A", 1, "complete")
    s.partition("row", 0, "complete")


@weft.kernel
def tridiagonal(a: f32[256], b: f32[256], c: f32[256], d: f32[256], x: f32[256]):
    upper: f32[256]
    right: f32[256]
    upper[0] = c[0] / b[0]
    right[0] = d[0] / b[0]
    for i in range(1, 256):
        pivot: f32 = 1.0 / (b[i] - a[i] * upper[i - 1])
        upper[i] = c[i] * pivot
        right[i] = (d[i] - a[i] * right[i - 1]) * pivot
    x[255] = right[255]
    for i in range(254, -1, -1):
        x[i] = right[i] - upper[i] * x[i + 1]


@weft.kernel
def tridiagonal_expert(a: f32[256], b: f32[256], c: f32[256], d: f32[256], x: f32[256]):
    # What returns is in scalars, and a quotient is what the next row waits for.
    upper: f32[256]
    right: f32[256]
    u: f32 = 0.0
    r: f32 = 0.0
    for i in range(256):
        divisor: f32 = b[i]
        above: f32 = d[i]
        if i > 0:
            divisor = b[i] - a[i] * u
            above = d[i] - a[i] * r
        u = c[i] / divisor
        r = above / divisor
        upper[i] = u
        right[i] = r
    last: f32 = 0.0
    for i in range(255, -1, -1):
        last = right[i] - upper[i] * last
        x[i] = last


@tridiagonal_expert.inputs
def tridiagonal_expert_inputs(kernel, seed):
    return tridiagonal_inputs(kernel, seed)


@tridiagonal_expert.schedule
def expert(s):
    s.pipeline("S2.i")
    s.pipeline("S11.i")


@weft.kernel
def jacobi_iterations(A: f32[N, N], b: f32[N], x: f32[N]):
    for _ in range(8):
        next: f32[N]
        for i in range(N):
            total: f32 = b[i]
            for j in range(N):
                if j != i:
                    total -= A[i, j] * x[j]
            next[i] = total / A[i, i]
        for i in range(N):
            x[i] = next[i]


@jacobi_iterations.schedule
def expert(s):
    s.partial_sums("S1", "j", 8)
    s.pipeline("S0.i", ii=2)
    s.unroll("S3.i")
    s.partition("total_part", 0, "complete")
    s.partition("A", 1, "complete")
    s.partition("x", 0, "complete")
    s.partition("next", 0, "complete")


@weft.kernel
def gauss_seidel_iterations(A: f32[N, N], b: f32[N], x: f32[N]):
    for _ in range(8):
        for i in range(N):
            total: f32 = b[i]
            for j in range(N):
                if j != i:
                    total -= A[i, j] * x[j]
            x[i] = total / A[i, i]


@weft.kernel
def gauss_seidel_iterations_expert(A: f32[N, N], b: f32[N], x: f32[N]):
    # The sums of all rows are kept, and a change of one unknown is added to them at once.
    rest: f32[N]
    now: f32[N]
    for i in range(N):
        rest[i] = b[i]
    for j in range(N):
        now[j] = x[j]
        for r in range(N):
            if r != j:
                rest[r] -= A[r, j] * now[j]
    for _ in range(8):
        for i in range(N):
            changed: f32 = rest[i] / A[i, i]
            change: f32 = changed - now[i]
            now[i] = changed
            for r in range(N):
                rest[r] -= 0.0 if r == i else A[r, i] * change
    for i in range(N):
        x[i] = now[i]


@gauss_seidel_iterations_expert.inputs
def gauss_seidel_inputs(kernel, seed):
    return {"A": dominant(seed)}


@gauss_seidel_iterations_expert.schedule
def expert(s):
    s.pipeline("S0.i")
    s.pipeline("j")
    s.pipeline("S3.i")
    s.pipeline("S7.i")
    s.partition("A", 0, "complete")
    s.partition("rest", 0, "complete")


@weft.kernel
def gram_schmidt(A: f32[N, 16], R: f32[16, 16]):
    for k in range(16):
        square: f32 = 0.0
        for i in range(N):
            square += A[i, k] * A[i, k]
        R[k, k] = weft.sqrt(square)
        for i in range(N):
            A[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, 16):
            dot: f32 = 0.0
            for i in range(N):
                dot += A[i, k] * A[i, j]
            R[k, j] = dot
            for i in range(N):
                A[i, j] -= A[i, k] * dot


@weft.kernel
def gram_schmidt_expert(A: f32[N, 16], R: f32[16, 16]):
    # The column that is done in registers; a column is corrected as a whole.
    for k in range(16):
        q: f32[N]
        square: f32 = 0.0
        for i in range(N):
            square += A[i, k] * A[i, k]
        root: f32 = weft.sqrt(square)
        inverse: f32 = 1.0 / root
        R[k, k] = root
        for i in range(N):
            q[i] = A[i, k] * inverse
            A[i, k] = q[i]
        for j in range(k + 1, 16):
            dot: f32 = 0.0
            for i in range(N):
                dot += q[i] * A[i, j]
            R[k, j] = dot
            for i in range(N):
                A[i, j] -= q[i] * dot


@gram_schmidt_expert.schedule
def expert(s):
    s.partial_sums("S1", "S1.i", 8)
    s.partial_sums("S8", "S8.i", 8)
    s.unroll("S1.i")
    s.unroll("S5.i")
    s.pipeline("j", ii=4)
    s.partition("square_part", 0, "complete")
    s.partition("dot_part", 0, "complete")
    s.partition("A", 0, "complete")
    s.partition("q", 0, "complete")


@weft.kernel
def power_iteration(A: f32[N, N], x: f32[N]):
    for _ in range(8):
        y: f32[N]
        square: f32 = 0.0
        for i in range(N):
            y[i] = 0.0
            for j in range(N):
                y[i] += A[i, j] * x[j]
            square += y[i] * y[i]
        scale: f32 = 1.0 / weft.sqrt(square)
        for i in range(N):
            x[i] = y[i] * scale


@power_iteration.schedule
def expert(s):
    s.partial_sums("S2", "j", 8)
    s.pipeline("S2.i", ii=3)
    s.split("S5.i", 8)
    s.pipeline("S5.i_0")
    s.partition("y_part", 1, "complete")
    s.partition("A", 1, "complete")
    s.partition("x", 0, "complete")
    s.partition("y", 0, "complete")


@forward_by_row.inputs
def forward_row_inputs(kernel, seed):
    return {"L": dominant(seed)}


@forward_by_column.inputs
def forward_column_inputs(kernel, seed):
    return {"L": dominant(seed)}


@backward_by_row.inputs
def backward_inputs(kernel, seed):
    return {"U": dominant(seed)}


@many_right_sides.inputs
def many_inputs(kernel, seed):
    return {"L": dominant(seed)}


@lu_right_looking.inputs
@lu_row_by_row.inputs
@cholesky_by_row.inputs
@cholesky_by_column.inputs
@jacobi_iterations.inputs
@gauss_seidel_iterations.inputs
@power_iteration.inputs
def matrix_inputs(kernel, seed):
    return {"A": dominant(seed)}


@gauss_jordan.inputs
def system_inputs(kernel, seed):
    return {"A": np.hstack([dominant(seed), np.ones((N, 1))])}


@tridiagonal.inputs
def tridiagonal_inputs(kernel, seed):
    rng = np.random.default_rng(seed)
    return {"b": rng.uniform(3, 4, 256)}
