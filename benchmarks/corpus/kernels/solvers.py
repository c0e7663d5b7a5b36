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


@forward_by_row.schedule
def expert(s):
    s.pipeline("j")


@weft.kernel
def forward_by_column(L: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N):
        x[i] = b[i]
    for j in range(N):
        x[j] = x[j] / L[j, j]
        for i in range(j + 1, N):
            x[i] -= L[i, j] * x[j]


@forward_by_column.schedule
def expert(s):
    s.pipeline("S2.i")


@weft.kernel
def backward_by_row(U: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N - 1, -1, -1):
        total: f32 = b[i]
        for j in range(i + 1, N):
            total -= U[i, j] * x[j]
        x[i] = total / U[i, i]


@backward_by_row.schedule
def expert(s):
    s.pipeline("j")


@weft.kernel
def many_right_sides(L: f32[N, N], B: f32[N, 16]):
    for i in range(N):
        for j in range(i):
            for r in range(16):
                B[i, r] -= L[i, j] * B[j, r]
        for r in range(16):
            B[i, r] = B[i, r] / L[i, i]


@many_right_sides.schedule
def expert(s):
    s.pipeline("j")
    s.partition("B", 1, "complete")


@weft.kernel
def lu_right_looking(A: f32[N, N]):
    for k in range(N):
        inverse: f32 = 1.0 / A[k, k]
        for i in range(k + 1, N):
            A[i, k] *= inverse
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]


@lu_right_looking.schedule
def expert(s):
    s.pipeline("j")


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


@lu_row_by_row.schedule
def expert(s):
    s.pipeline("S0.k")


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


@cholesky_by_row.schedule
def expert(s):
    s.pipeline("S0.k")


@weft.kernel
def cholesky_by_column(A: f32[N, N]):
    for k in range(N):
        A[k, k] = weft.sqrt(A[k, k])
        for i in range(k + 1, N):
            A[i, k] = A[i, k] / A[k, k]
        for j in range(k + 1, N):
            for i in range(j, N):
                A[i, j] -= A[i, k] * A[j, k]


@cholesky_by_column.schedule
def expert(s):
    s.pipeline("S2.i")


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


@gauss_jordan.schedule
def expert(s):
    s.pipeline("S3.j")


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


@tridiagonal.schedule
def expert(s):
    s.pipeline("S2.i")


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
    s.pipeline("S0.i")
    s.partition("A", 1, "complete")
    s.partition("x", 0, "complete")


@weft.kernel
def gauss_seidel_iterations(A: f32[N, N], b: f32[N], x: f32[N]):
    for _ in range(8):
        for i in range(N):
            total: f32 = b[i]
            for j in range(N):
                if j != i:
                    total -= A[i, j] * x[j]
            x[i] = total / A[i, i]


@gauss_seidel_iterations.schedule
def expert(s):
    s.pipeline("i")
    s.partition("A", 1, "complete")
    s.partition("x", 0, "complete")


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


@gram_schmidt.schedule
def expert(s):
    s.pipeline("j")
    s.partition("A", 0, "complete")


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
    s.pipeline("S2.i")
    s.partition("A", 1, "complete")
    s.partition("x", 0, "complete")


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
