"""gesummv: y := alpha*A*x + beta*B*x (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"N": 30},
    "small": {"N": 90},
    "medium": {"N": 250},
    "large": {"N": 1300},
    "pom": {"N": 4096},
}
N = SIZES["medium"]["N"]


@weft.kernel(sizes=SIZES)
def gesummv(alpha: f32, beta: f32, A: f32[N, N], B: f32[N, N], x: f32[N], y: f32[N]):
    tmp: f32[N]
    for i in range(N):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(N):
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]


@gesummv.schedule
def rows(s):
    # The sums of 10 rows of A and of B advance in each cycle, column by column.
    s.distribute(["S2", "S3"])
    s.pipeline("S0.i")
    s.interchange("S2.i", "j")
    s.split("S2.i", 10)
    s.pipeline("i_0")
    s.unroll("i_1")
    s.pipeline("S4.i")
    for matrix in ("A", "B", "tmp", "y"):
        s.partition(matrix, 0, "cyclic", 10)


def reference(alpha, beta, A, B, x, y):
    y[:] = alpha * (A @ x) + beta * (B @ x)
