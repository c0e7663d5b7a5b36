"""Linear systems: triangular solves and iterations."""

import numpy as np

import weft
from weft import f32

N = 40

GROUPS = {
    "forward_substitution": ["forward_by_row", "forward_by_column"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "forward_by_row": "forward_expert",
    "forward_by_column": "forward_expert",
}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "tridiagonal": "quotients in place of a product with the inverse",
    "gauss_seidel_iterations": "a change of an unknown is added to the sums of all rows",
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


@jacobi_iterations.inputs
@gauss_seidel_iterations.inputs
@power_iteration.inputs
def matrix_inputs(kernel, seed):
    return {"A": dominant(seed)}


@tridiagonal.inputs
def tridiagonal_inputs(kernel, seed):
    rng = np.random.default_rng(seed)
    return {"b": rng.uniform(3, 4, 256)}
