"""cholesky: the lower triangle of A becomes L with A = L*L^T (PolyBench/C 4.2.1)."""

import numpy as np

import weft
from weft import f32

SIZES = {
    "mini": {"N": 40},
    "small": {"N": 120},
    "medium": {"N": 400},
    "large": {"N": 2000},
}
N = SIZES["medium"]["N"]


@weft.kernel(sizes=SIZES)
def cholesky(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = weft.sqrt(A[i, i])


@cholesky.schedule
def pipelined(s):
    # Every element needs all those left of it in its row: what is left to overlap is inside of
    # one sum, a multiplication with the addition before it.
    s.pipeline("S0.k", ii=8)
    s.pipeline("S2.k", ii=8)


@cholesky.inputs
def positive_definite(kernel, seed):
    # Symmetric, positive definite and well conditioned.
    rng = np.random.default_rng(seed)
    n = kernel.program.array("A").shape[0]
    half = rng.uniform(-1, 1, (n, n))
    return {"A": half @ half.T / n + np.eye(n)}


def reference(A):
    lower = np.tri(len(A), dtype=bool)
    A[lower] = np.linalg.cholesky(np.tril(A) + np.tril(A, -1).T)[lower]
