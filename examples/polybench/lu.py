"""lu: A := L + U - I with A = L*U, L with a unit diagonal, no pivoting (PolyBench/C 4.2.1)."""

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
def lu(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, N):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


@lu.schedule
def pipelined(s):
    # Right of the diagonal the elements of a row are independent: k goes outside, and one of
    # them starts every other cycle, with three accesses to a memory of two ports. Left of it
    # the sum over k is all there is to do.
    s.interchange("S2.j", "S2.k")
    s.pipeline("S2.j", ii=2)
    s.pipeline("S0.k", ii=8)


@lu.schedule
def right_looking(s):
    # The step of elimination outermost: everything inside is parallel. A row is reduced by the
    # pivot's row; its own multiplier is in a register meanwhile, which leaves three accesses.
    s.align(["S1", "S0", "S2"], ["j", "k", "k"])
    s.buffer("A", "S0.i", "left", access="A[i, k]")
    s.buffer("A", "S2.i", "right", access="A[i, k]")
    s.pipeline("S1.i", ii=2)
    s.pipeline("S0.j", ii=2)
    s.pipeline("S2.j", ii=2)


@lu.inputs
def diagonally_dominant(kernel, seed):
    # Diagonally dominant: the elimination neither divides by little nor amplifies errors.
    rng = np.random.default_rng(seed)
    shape = kernel.program.array("A").shape
    return {"A": rng.uniform(-1, 1, shape) + np.diag([shape[0]] * shape[0])}


def reference(A):
    n = len(A)
    for k in range(n):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
