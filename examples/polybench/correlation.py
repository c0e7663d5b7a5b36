"""correlation: the correlation matrix of M variables from N observations (PolyBench/C 4.2.1)."""

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
def correlation(float_n: f32, data: f32[N, M], corr: f32[M, M]):
    mean: f32[M]
    stddev: f32[M]
    for j in range(M):
        mean[j] = 0.0
        for i in range(N):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for j in range(M):
        stddev[j] = 0.0
        for i in range(N):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= float_n
        stddev[j] = weft.sqrt(stddev[j])
        # A variable that hardly varies would be divided by nearly zero below.
        stddev[j] = 1.0 if stddev[j] <= 0.1 else stddev[j]
    for i in range(N):
        for j in range(M):
            data[i, j] -= mean[j]
            data[i, j] /= weft.sqrt(float_n) * stddev[j]
    for i in range(M - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, M):
            corr[i, j] = 0.0
            for k in range(N):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[M - 1, M - 1] = 1.0


@correlation.schedule
def rows(s):
    # 10 observations at a time: a pass over the variables adds 10 terms to each of their sums,
    # a pass over a row of the matrix 10 terms to each of its elements.
    s.distribute(["S1"])
    s.distribute(["S4"])
    for total in ("S1", "S4"):
        s.split(f"{total}.i", 10)
        s.reorder([f"{total}.i_0", f"{total}.j", f"{total}.i_1"])
        s.pipeline(f"{total}.j")
        s.unroll(f"{total}.i_1")
    s.pipeline("S5.j")
    s.pipeline("S8.j")
    s.distribute(["S12"], 1)
    s.split("k", 10)
    s.reorder(["k_0", "S12.j", "k_1"])
    s.pipeline("S12.j")
    s.unroll("k_1")
    s.partition("data", 0, "cyclic", 10)


@correlation.inputs
def observations(kernel, seed):
    rng = np.random.default_rng(seed)
    shape = kernel.program.array("data").shape
    return {"float_n": shape[0], "data": rng.normal(1, 2, shape)}


def reference(float_n, data, corr):
    data -= data.mean(axis=0)
    stddev = np.sqrt((data * data).mean(axis=0))
    data /= np.sqrt(float_n) * np.where(stddev <= 0.1, 1.0, stddev)
    corr[:] = data.T @ data
    np.fill_diagonal(corr, 1.0)
