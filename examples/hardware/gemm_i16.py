"""gemm_i16: a product of integer matrices that keeps 8, or 64, multipliers busy in every cycle."""

import numpy as np

import weft
from weft import i16, i32

SIZES = {
    "mini": {"N": 16},
    "small": {"N": 32},
    "medium": {"N": 64},
    "large": {"N": 256},
}
(N,) = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def gemm_i16(A: weft.const[i16[N, N]], B: weft.const[i16[N, N]], C: i32[N, N]):
    for i in range(N):
        for j in range(N):
            C[i, j] = 0
            for k in range(N):
                C[i, j] += A[i, k] * B[k, j]


@gemm_i16.schedule
def mac8(s):
    # Eight products of one element of C in each cycle: all three loops are one pipeline. The
    # element itself is a register until its sum is complete.
    s.split("k", 8)
    s.unroll("k_1")
    s.pipeline("k_0")
    s.partition("A", 1, "cyclic", 8)
    s.partition("B", 0, "cyclic", 8)


@gemm_i16.schedule
def mac64(s):
    # An outer product of 8 x 8 in each cycle: 64 elements of C are accumulated in registers, and
    # written a row at a time when they are complete.
    s.distribute(["S1"])
    s.tile(["S0.i", "S0.j"], [8, 8])
    s.tile(["S1.i", "S1.j"], [8, 8])
    s.reorder(["S1.i_0", "S1.j_0", "S1.k", "S1.i_1", "S1.j_1"])
    s.fuse(["S0", "S1"], 2)
    s.unroll("S0.i_1")
    s.unroll("S0.j_1")
    s.unroll("S1.i_1")
    s.unroll("S1.j_1")
    s.pipeline("k")
    s.partition("A", 0, "cyclic", 8)
    s.partition("B", 1, "cyclic", 8)
    s.partition("C", 1, "cyclic", 8)


def reference(A, B, C):
    C[:] = A.astype(np.int64) @ B.astype(np.int64)
