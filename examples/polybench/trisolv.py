"""trisolv: x with L*x = b by forward substitution (PolyBench/C 4.2.1)."""

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
def trisolv(L: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]


@trisolv.schedule
def pipelined(s):
    # The sum over j is one chain of subtractions; all that may overlap is the multiplication.
    s.pipeline("j", ii=8)


@trisolv.inputs
def diagonally_dominant(kernel, seed):
    # Diagonally dominant: substitution does not amplify errors.
    rng = np.random.default_rng(seed)
    n = kernel.program.array("b").shape[0]
    return {"L": rng.uniform(-1, 1, (n, n)) / n + np.eye(n)}


def reference(L, b, x):
    x[:] = np.linalg.solve(np.tril(L), b)
