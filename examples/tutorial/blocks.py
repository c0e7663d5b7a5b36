"""Tiles that a kernel was written in, undone and chosen anew: y := A*x in blocks of 16 by 16."""

import weft
from weft import f32

SIZES = {"mini": {"M": 38, "N": 42}, "medium": {"M": 390, "N": 410}}
M, N = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def blocks(A: f32[M, N], x: f32[N], y: f32[M]):
    for i in range(M):
        y[i] = 0.0
    for ii in range(0, M, 16):
        for jj in range(0, N, 16):
            for i in range(ii, min(ii + 16, M)):
                for j in range(jj, min(jj + 16, N)):
                    y[i] += A[i, j] * x[j]


@blocks.schedule
def chosen(s):
    # The loops over whole ranges again: each pair side by side, then one.
    s.reorder(["ii", "S1.i", "jj", "j"])
    s.join("ii", "S1.i")
    s.join("jj", "j")
    # Rows innermost, so that no sum waits for itself.
    s.interchange("S1.i", "j")
    s.pipeline("S0.i")
    s.pipeline("S1.i")


def reference(A, x, y):
    y[:] = A @ x
