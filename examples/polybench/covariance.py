"""covariance: the covariance matrix of M variables from N observations (PolyBench/C 4.2.1)."""

import numpy as np

import weft
from weft import f32

SIZES = {
    "mini": {"M": 28, "N": 32},
    "small": {"M": 80, "N": 100},
    "medium": {"M": 240, "N": 260},
    "large": {"M": 1200, "N": 1400},
}
M, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def covariance(float_n: f32, data: f32[N, M], cov: f32[M, M]):
    mean: f32[M]
    for j in range(M):
        mean[j] = 0.0
        for i in range(N):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for i in range(N):
        for j in range(M):
            data[i, j] -= mean[j]
    for i in range(M):
        for j in range(i, M):
            cov[i, j] = 0.0
            for k in range(N):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]


@covariance.schedule
def rows(s):
    # 10 observations at a time: a pass over the variables adds 10 terms to each of their sums,
    # a pass over a row of the matrix 10 terms to each of its elements.
    s.distribute(["S1"])
    s.split("S1.i", 10)
    s.reorder(["S1.i_0", "S1.j", "S1.i_1"])
    s.pipeline("S1.j")
    s.unroll("S1.i_1")
    s.pipeline("S3.j")
    s.distribute(["S5"], 1)
    s.split("k", 10)
    s.reorder(["k_0", "S5.j", "k_1"])
    s.pipeline("S5.j")
    s.unroll("k_1")
    s.partition("data", 0, "cyclic", 10)


@covariance.inputs
def observations(kernel, seed):
    rng = np.random.default_rng(seed)
    shape = kernel.program.array("data").shape
    return {"float_n": shape[0], "data": rng.normal(1, 2, shape)}


def reference(float_n, data, cov):
    data -= data.mean(axis=0)
    cov[:] = data.T @ data / (float_n - 1)
