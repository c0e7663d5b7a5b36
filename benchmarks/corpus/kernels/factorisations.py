"""Factorisations of matrices, and elimination."""

import numpy as np

import weft
from weft import f32

N = 40

GROUPS = {
    "lu": ["lu_right_looking", "lu_row_by_row"],
    "cholesky": ["cholesky_by_row", "cholesky_by_column"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "lu_right_looking": "lu_expert",
    "lu_row_by_row": "lu_expert",
    "cholesky_by_row": "cholesky_expert",
    "cholesky_by_column": "cholesky_expert",
}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "lu_row_by_row": "a product with the inverse in place of a quotient",
    "cholesky_by_row": "a product with the inverse in place of a quotient",
    "cholesky_by_column": "a product with the inverse in place of a quotient",
}


def dominant(seed):
    """A matrix that is safe to factorise without pivots."""
    rng = np.random.default_rng(seed)
    half = rng.uniform(-1, 1, (N, N))
    return half @ half.T / N + np.eye(N)


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


@lu_right_looking.inputs
@lu_row_by_row.inputs
@cholesky_by_row.inputs
@cholesky_by_column.inputs
def factor_inputs(kernel, seed):
    return {"A": dominant(seed)}


@gauss_jordan.inputs
def system_inputs(kernel, seed):
    return {"A": np.hstack([dominant(seed), np.ones((N, 1))])}
