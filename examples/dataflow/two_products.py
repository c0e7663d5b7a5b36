"""D := A*B*C in two processes: rows of the first product go to the second while it is at work."""

import weft
from weft import f32

SIZES = {
    "mini": {"NI": 16, "NJ": 18, "NK": 22, "NL": 24},
    "small": {"NI": 40, "NJ": 50, "NK": 70, "NL": 80},
    "medium": {"NI": 180, "NJ": 190, "NK": 210, "NL": 220},
    "large": {"NI": 800, "NJ": 900, "NK": 1100, "NL": 1200},
    "pom": {"NI": 4096, "NJ": 4096, "NK": 4096, "NL": 4096},
}
NI, NJ, NK, NL = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def two_products(A: f32[NI, NK], B: f32[NK, NJ], C: f32[NJ, NL], D: f32[NI, NL]):
    tmp: f32[NI, NJ]
    for i in range(NI):
        # A row of the product is built up in a buffer: a stream hands on each element once.
        left: f32[NJ]
        for j in range(NJ):
            left[j] = 0.0  # S0
        for k in range(NK):
            for j in range(NJ):
                left[j] += A[i, k] * B[k, j]  # S1
        for j in range(NJ):
            tmp[i, j] = left[j]  # S2
    for i in range(NI):
        right: f32[NL]
        for j in range(NL):
            right[j] = 0.0  # S3
        for k in range(NJ):
            row: f32 = tmp[i, k]  # S4
            for j in range(NL):
                right[j] += row * C[k, j]  # S5
        for j in range(NL):
            D[i, j] = right[j]  # S6


@two_products.schedule
def memories(s):
    # A call every product's time: while the second works on one call, the first does the next.
    for loop in ("S0.j", "S1.j", "S2.j", "S3.j", "S5.j", "S6.j"):
        s.pipeline(loop)
    s.dataflow()


@two_products.schedule
def streamed(s):
    # One call is twice as fast too: the second product starts when the first has a row for it.
    for loop in ("S0.j", "S1.j", "S2.j", "S3.j", "S5.j", "S6.j"):
        s.pipeline(loop)
    s.dataflow()
    s.stream("tmp", depth=400)  # two rows: with less the first waits for the second


def reference(A, B, C, D):
    D[:] = (A @ B) @ C
