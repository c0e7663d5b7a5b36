"""conv2d: a quantised convolution layer, 8-bit operands and 32-bit sums."""

import numpy as np

import weft
from weft import i8, i32

SIZES = {
    "mini": {"K": 10, "C": 6, "H": 8, "W": 9, "R": 3},
    "small": {"K": 16, "C": 8, "H": 16, "W": 16, "R": 3},
    "medium": {"K": 32, "C": 16, "H": 34, "W": 34, "R": 3},
    "large": {"K": 128, "C": 64, "H": 58, "W": 58, "R": 3},
}
K, C, H, W, R = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def conv2d_i8(
    x: weft.const[i8[C, H, W]],
    weight: weft.const[i8[K, C, R, R]],
    bias: weft.const[i32[K]],
    y: i32[K, H - R + 1, W - R + 1],
):
    for k in range(K):
        for h in range(H - R + 1):
            for w in range(W - R + 1):
                y[k, h, w] = bias[k]
                for c in range(C):
                    for r in range(R):
                        for q in range(R):
                            y[k, h, w] += weight[k, c, r, q] * x[c, h + r, w + q]


@conv2d_i8.schedule
def channels(s):
    # 8 output channels by 4 input channels in each cycle, along a row of the image. Integer
    # addition may be done in any order, so the sum over c may be cut around those over r and q.
    s.distribute(["S1"])
    s.pipeline("S0.w")
    s.reassociate("S1")
    s.split("S1.k", 8)
    s.split("c", 4)
    s.reorder(["S1.k_0", "S1.h", "c_0", "r", "q", "S1.w", "S1.k_1", "c_1"])
    s.pipeline("S1.w")
    s.unroll("k_1")
    s.unroll("c_1")
    s.partition("x", 0, "cyclic", 4)
    s.partition("weight", 0, "cyclic", 8)
    s.partition("weight", 1, "cyclic", 4)
    s.partition("y", 0, "cyclic", 8)


def reference(x, weight, bias, y):
    _, h, w = y.shape
    x, weight = x.astype(np.int64), weight.astype(np.int64)
    y[:] = bias[:, None, None]
    for r in range(weight.shape[2]):
        for q in range(weight.shape[3]):
            y += np.einsum("kc,chw->khw", weight[:, :, r, q], x[:, r : r + h, q : q + w]).astype(
                y.dtype
            )
