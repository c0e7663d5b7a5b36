"""3mm: G := (A*B)*(C*D) (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"NI": 16, "NJ": 18, "NK": 20, "NL": 22, "NM": 24},
    "small": {"NI": 40, "NJ": 50, "NK": 60, "NL": 70, "NM": 80},
    "medium": {"NI": 180, "NJ": 190, "NK": 200, "NL": 210, "NM": 220},
    "large": {"NI": 800, "NJ": 900, "NK": 1000, "NL": 1100, "NM": 1200},
    "pom": {"NI": 4096, "NJ": 4096, "NK": 4096, "NL": 4096, "NM": 4096},
}
NI, NJ, NK, NL, NM = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def k3mm(
    A: f32[NI, NK],
    B: f32[NK, NJ],
    C: f32[NJ, NM],
    D: f32[NM, NL],
    G: f32[NI, NL],
):
    E: f32[NI, NJ]
    F: f32[NJ, NL]
    for i in range(NI):
        for j in range(NJ):
            E[i, j] = 0.0
            for k in range(NK):
                E[i, j] += A[i, k] * B[k, j]
    for i in range(NJ):
        for j in range(NL):
            F[i, j] = 0.0
            for k in range(NM):
                F[i, j] += C[i, k] * D[k, j]
    for i in range(NI):
        for j in range(NL):
            G[i, j] = 0.0
            for k in range(NJ):
                G[i, j] += E[i, k] * F[k, j]


@k3mm.schedule
def tiled(s):
    # All three products: 40 multiply-adds start in each cycle of a loop over columns, as rows by
    # terms of the sum. F is written by rows and then read by terms: 2 divides the 10 banks that
    # the last product wants, 4 would not.
    for init, product, rows, terms in (
        ("S0", "S1", 4, 10),
        ("S2", "S3", 2, 20),
        ("S4", "S5", 4, 10),
    ):
        s.distribute([product])
        s.split(f"{init}.i", rows)
        s.reorder([f"{init}.i_0", f"{init}.j", f"{init}.i_1"])
        s.pipeline(f"{init}.j")
        s.unroll(f"{init}.i_1")
        i, j, k = (f"{product}.{loop}" for loop in "ijk")
        s.tile([i, k], [rows, terms])  # i_0, k_0, j, i_1, k_1: j stays between blocks and points
        s.pipeline(j)
        s.unroll(f"{i}_1")
        s.unroll(f"{k}_1")
    s.partition("A", 0, "cyclic", 4)
    s.partition("A", 1, "cyclic", 10)
    s.partition("B", 0, "cyclic", 10)
    s.partition("C", 0, "cyclic", 2)
    s.partition("C", 1, "cyclic", 20)
    s.partition("D", 0, "cyclic", 20)
    s.partition("E", 0, "cyclic", 4)
    s.partition("E", 1, "cyclic", 10)
    s.partition("F", 0, "cyclic", 10)
    s.partition("G", 0, "cyclic", 4)


def reference(A, B, C, D, G):
    G[:] = (A @ B) @ (C @ D)
