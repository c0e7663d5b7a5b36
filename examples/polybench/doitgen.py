"""doitgen: A[r, q, :] := A[r, q, :] * C4, multi-resolution analysis (PolyBench/C 4.2.1)."""

import weft
from weft import f32

SIZES = {
    "mini": {"NQ": 8, "NR": 10, "NP": 12},
    "small": {"NQ": 20, "NR": 25, "NP": 30},
    "medium": {"NQ": 40, "NR": 50, "NP": 60},
    "large": {"NQ": 140, "NR": 150, "NP": 160},
}
NQ, NR, NP = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def doitgen(A: f32[NR, NQ, NP], C4: f32[NP, NP]):
    row: f32[NP]
    for r in range(NR):
        for q in range(NQ):
            for p in range(NP):
                row[p] = 0.0
                for s in range(NP):
                    row[p] += A[r, q, s] * C4[s, p]
            for p in range(NP):
                A[r, q, p] = row[p]


@doitgen.schedule
def rows(s):
    # 6 rows of C4 at a time: each pass over the sums adds 6 terms to every one of them.
    s.distribute(["S1"], 2)
    s.pipeline("S0.p")
    s.split("s", 6)
    s.reorder(["s_0", "S1.p", "s_1"])
    s.pipeline("S1.p")
    s.unroll("s_1")
    s.pipeline("S2.p")
    s.partition("A", 2, "cyclic", 6)
    s.partition("C4", 0, "cyclic", 6)


def reference(A, C4):
    A[:] = A @ C4
