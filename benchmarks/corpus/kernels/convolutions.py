"""Convolution layers: one algorithm in four styles, padded, strided, by depth, by point."""

import weft
from weft import f32, i8, i32

C, K, H, W = 8, 16, 14, 14

GROUPS = {
    "conv3x3": ["conv_perfect", "conv_scalar", "conv_patches", "conv_output_last"],
}


@weft.kernel
def conv_perfect(x: f32[C, H + 2, W + 2], w: f32[K, C, 3, 3], y: f32[K, H, W]):
    for k, i, j, c, u, v in weft.grid(K, H, W, C, 3, 3):
        y[k, i, j] += w[k, c, u, v] * x[c, i + u, j + v]


@conv_perfect.schedule
def expert(s):
    # All 16 output channels of two rows: what they read of x is shared.
    s.split("i", 2)
    s.reorder(["c", "u", "v", "i_0", "j", "k", "i_1"])
    s.pipeline("j")
    s.bind_storage("x", "ram_2p")
    s.partition("x", 1, "cyclic", 2)
    s.partition("y", 0, "complete")
    s.partition("y", 1, "cyclic", 2)
    s.partition("w", 0, "complete")


@weft.kernel
def conv_scalar(x: f32[C, H + 2, W + 2], w: f32[K, C, 3, 3], bias: f32[K], y: f32[K, H, W]):
    for k in range(K):
        for i in range(H):
            for j in range(W):
                total: f32 = bias[k]
                for c in range(C):
                    for u in range(3):
                        for v in range(3):
                            total += w[k, c, u, v] * x[c, i + u, j + v]
                y[k, i, j] = max(total, 0.0)


@conv_scalar.schedule
def expert(s):
    # 4 output channels read the same 72 elements; they take 9 cycles, as 9 of them are in a memory.
    s.split("k", 4)
    s.reorder(["k_0", "i", "j", "k_1"])
    s.pipeline("j", ii=9)
    s.partition("w", 0, "cyclic", 4)
    s.partition("w", 1, "complete")
    s.partition("x", 0, "complete")
    s.partition("y", 0, "cyclic", 4)
    s.bind_storage("x", "ram_s2p")  # a second port is more multiplexers, and no cycle less
    s.bind_storage("w", "ram_s2p")


@weft.kernel
def conv_patches(x: f32[C, H + 2, W + 2], w: f32[K, C * 9], y: f32[K, H, W]):
    patch: f32[H, W, C * 9]
    for i, j, c, u, v in weft.grid(H, W, C, 3, 3):
        patch[i, j, 9 * c + 3 * u + v] = x[c, i + u, j + v]
    for k, i, j in weft.grid(K, H, W):
        y[k, i, j] = 0.0
        for q in range(C * 9):
            y[k, i, j] += w[k, q] * patch[i, j, q]


@weft.kernel
def conv_patches_expert(x: f32[C, H + 2, W + 2], w: f32[K, C * 9], y: f32[K, H, W]):
    # The patches are read where they are; all 16 output channels of two rows share them.
    for i, j, k in weft.grid(H, W, K):
        y[k, i, j] = 0.0
    for c, u, v, i, j, k in weft.grid(C, 3, 3, H, W, K):
        y[k, i, j] += w[k, 9 * c + 3 * u + v] * x[c, i + u, j + v]


@conv_patches_expert.schedule
def expert(s):
    s.pipeline("S0.j")
    s.split("S1.i", 2)
    s.reorder(["c", "u", "v", "i_0", "S1.j", "S1.k", "i_1"])
    s.pipeline("S1.j")
    s.bind_storage("x", "ram_2p")
    s.partition("x", 1, "cyclic", 2)
    s.partition("y", 0, "complete")
    s.partition("y", 1, "cyclic", 2)
    s.partition("w", 0, "complete")


@weft.kernel
def conv_output_last(x: f32[H + 2, W + 2, C], w: f32[3, 3, C, K], y: f32[H, W, K]):
    for i in range(H):
        for j in range(W):
            total: f32[K] = 0.0
            for u in range(3):
                for v in range(3):
                    for c in range(C):
                        for k in range(K):
                            total[k] += x[i + u, j + v, c] * w[u, v, c, k]
            for k in range(K):
                y[i, j, k] = total[k]


@weft.kernel
def conv_output_last_expert(x: f32[H + 2, W + 2, C], w: f32[3, 3, C, K], y: f32[H, W, K]):
    # The sums of a point become all of y, so that the terms can be the outermost loops.
    for i, j, k in weft.grid(H, W, K):
        y[i, j, k] = 0.0
    for u, v, c, i, j, k in weft.grid(3, 3, C, H, W, K):
        y[i, j, k] += x[i + u, j + v, c] * w[u, v, c, k]


@conv_output_last_expert.schedule
def expert(s):
    s.pipeline("S0.j")
    s.split("S1.i", 2)
    s.reorder(["i_0", "S1.j", "S1.k", "i_1"])
    s.pipeline("S1.j")
    s.bind_storage("x", "ram_2p")
    s.partition("x", 0, "cyclic", 2)
    s.partition("y", 0, "cyclic", 2)
    s.partition("y", 2, "complete")
    s.partition("w", 3, "complete")


@weft.kernel
def conv_i8_padded(x: i8[C, H, W], w: i8[K, C, 3, 3], y: i32[K, H, W]):
    for k, i, j in weft.grid(K, H, W):
        total: i32 = 0
        for c, u, v in weft.grid(C, 3, 3):
            if i + u >= 1 and i + u <= H and j + v >= 1 and j + v <= W:
                total += w[k, c, u, v] * x[c, i + u - 1, j + v - 1]
        y[k, i, j] = total


@weft.kernel
def conv_i8_padded_expert(x: i8[C, H, W], w: i8[K, C, 3, 3], y: i32[K, H, W]):
    # A row of 8 output channels at a time, in registers; its terms come row by row of x.
    for kb in range(K // 8):
        for i in range(H):
            total: i32[8, W] = 0
            for q in range(3 * C):
                for k, j, v in weft.grid(8, W, 3):
                    if i + q % 3 >= 1 and i + q % 3 <= H and j + v >= 1 and j + v <= W:
                        total[k, j] += (
                            w[8 * kb + k, q // 3, q % 3, v] * x[q // 3, i + q % 3 - 1, j + v - 1]
                        )
            for k, j in weft.grid(8, W):
                y[8 * kb + k, i, j] = total[k, j]


@conv_i8_padded_expert.schedule
def expert(s):
    s.unroll("total_i")
    s.unroll("total_j")
    s.pipeline("q")
    s.unroll("S2.k")
    s.unroll("S2.j")
    s.bind_op("S1", "mul", "fabric")  # more products than slices
    s.partition("total", 0, "complete")
    s.partition("total", 1, "complete")
    s.partition("w", 0, "cyclic", 8)
    s.partition("w", 3, "complete")
    s.partition("x", 2, "complete")
    s.partition("y", 0, "cyclic", 8)
    s.partition("y", 2, "complete")


@weft.kernel
def conv_strided(x: f32[C, 29, 29], w: f32[K, C, 3, 3], y: f32[K, H, W]):
    for k, i, j in weft.grid(K, H, W):
        y[k, i, j] = 0.0
        for c, u, v in weft.grid(C, 3, 3):
            y[k, i, j] += w[k, c, u, v] * x[c, 2 * i + u, 2 * j + v]


@conv_strided.schedule
def expert(s):
    s.distribute(["S1"])
    s.split("S1.i", 2)
    s.reorder(["c", "u", "v", "i_0", "S1.j", "S1.k", "i_1"])
    s.pipeline("S1.j")
    s.split("S0.i", 2)
    s.reorder(["S0.i_0", "S0.j", "S0.k", "S0.i_1"])
    s.pipeline("S0.j")
    s.bind_storage("x", "ram_2p")
    s.partition("x", 1, "cyclic", 4)
    s.partition("y", 0, "complete")
    s.partition("y", 1, "cyclic", 2)
    s.partition("w", 0, "complete")


@weft.kernel
def conv_depthwise(x: f32[K, H + 2, W + 2], w: f32[K, 3, 3], y: f32[K, H, W]):
    for k, i, j in weft.grid(K, H, W):
        total: f32 = 0.0
        for u, v in weft.grid(3, 3):
            total += w[k, u, v] * x[k, i + u, j + v]
        y[k, i, j] = total


@conv_depthwise.schedule
def expert(s):
    s.pipeline("i", ii=4)
    s.partition("x", 2, "complete")
    s.partition("y", 2, "complete")
    s.partition("w", 1, "complete")
    s.partition("w", 2, "complete")


@weft.kernel
def conv_pointwise(x: f32[C, H, W], w: f32[K, C], y: f32[K, H, W]):
    for k, i, j in weft.grid(K, H, W):
        total: f32 = 0.0
        for c in range(C):
            total += w[k, c] * x[c, i, j]
        y[k, i, j] = total


@conv_pointwise.schedule
def expert(s):
    s.split("j", 7)
    s.pipeline("j_0", ii=2)
    s.partition("x", 0, "complete")
    s.partition("x", 2, "cyclic", 7)
    s.partition("w", 1, "complete")
    s.partition("y", 2, "cyclic", 7)
