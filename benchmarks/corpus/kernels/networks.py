"""Other layers of neural networks: pooling, normalisation, attention, quantised layers."""

import weft
from weft import f32, i8, i16, i32, u8

C, K, H, W = 8, 16, 14, 14
D, L = 32, 16
IN, HIDDEN, OUT = 64, 32, 10

GROUPS = {
    "softmax": ["softmax_rows", "softmax_online"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "softmax_online": "softmax_rows",
}


@weft.kernel
def max_pool_2x2(x: f32[K, 2 * H, 2 * W], y: f32[K, H, W]):
    for k, i, j in weft.grid(K, H, W):
        top: f32 = x[k, 2 * i, 2 * j]
        for u, v in weft.grid(2, 2):
            top = max(top, x[k, 2 * i + u, 2 * j + v])
        y[k, i, j] = top


@max_pool_2x2.schedule
def expert(s):
    s.pipeline("i")
    s.partition("x", 1, "cyclic", 2)
    s.partition("x", 2, "complete")
    s.partition("y", 2, "complete")


@weft.kernel
def global_average_pool(x: f32[K, H, W], y: f32[K]):
    for k in range(K):
        total: f32 = 0.0
        for i, j in weft.grid(H, W):
            total += x[k, i, j]
        y[k] = total * (1.0 / (H * W))


@global_average_pool.schedule
def expert(s):
    s.partial_sums("S1", "i", 14)
    s.pipeline("k", ii=3)
    s.partition("total_part", 0, "complete")
    s.partition("x", 1, "cyclic", 7)
    s.partition("x", 2, "complete")


@weft.kernel
def softmax_rows(x: f32[L, D], y: f32[L, D]):
    for r in range(L):
        top: f32 = x[r, 0]
        for i in range(1, D):
            top = max(top, x[r, i])
        total: f32 = 0.0
        for i in range(D):
            y[r, i] = weft.exp(x[r, i] - top)
            total += y[r, i]
        for i in range(D):
            y[r, i] = y[r, i] / total


@softmax_rows.schedule
def expert(s):
    s.partial_sums("S1", "S1.i", 4)
    s.partial_sums("S4", "S4.i", 4)
    s.pipeline("r", ii=3)
    s.partition("top_part", 0, "complete")
    s.partition("total_part", 0, "complete")
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def softmax_online(x: f32[L, D], y: f32[L, D]):
    for r in range(L):
        top: f32 = x[r, 0]
        total: f32 = 1.0
        for i in range(1, D):
            higher: f32 = max(top, x[r, i])
            total = total * weft.exp(top - higher) + weft.exp(x[r, i] - higher)
            top = higher
        for i in range(D):
            y[r, i] = weft.exp(x[r, i] - top) / total


@weft.kernel
def layer_norm(x: f32[L, D], gain: f32[D], bias: f32[D], y: f32[L, D]):
    for r in range(L):
        mean: f32 = 0.0
        for i in range(D):
            mean += x[r, i]
        mean /= D
        spread: f32 = 0.0
        for i in range(D):
            spread += (x[r, i] - mean) * (x[r, i] - mean)
        scale: f32 = 1.0 / weft.sqrt(spread / D + 0.00001)
        for i in range(D):
            y[r, i] = (x[r, i] - mean) * scale * gain[i] + bias[i]


@layer_norm.schedule
def expert(s):
    s.partial_sums("S1", "S1.i", 4)
    s.partial_sums("S4", "S4.i", 4)
    s.pipeline("r", ii=4)
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")
    s.partition("gain", 0, "complete")
    s.partition("bias", 0, "complete")


@weft.kernel
def attention_scores(Q: f32[L, D], Kt: f32[L, D], V: f32[L, D], out: f32[L, D]):
    for r in range(L):
        score: f32[L]
        total: f32 = 0.0
        for t in range(L):
            dot: f32 = 0.0
            for d in range(D):
                dot += Q[r, d] * Kt[t, d]
            score[t] = weft.exp(min(dot * 0.1767767, 20.0))
            total += score[t]
        for d in range(D):
            mixed: f32 = 0.0
            for t in range(L):
                mixed += score[t] * V[t, d]
            out[r, d] = mixed / total


@attention_scores.schedule
def expert(s):
    s.partial_sums("S2", "S2.d", 4)
    s.pipeline("r", ii=40)
    for array in ("Q", "Kt", "V", "out"):
        s.partition(array, 1, "complete")


@weft.kernel
def mlp_quantised(
    x: u8[IN], w1: i8[HIDDEN, IN], b1: i32[HIDDEN], w2: i8[OUT, HIDDEN], b2: i32[OUT], y: i32[OUT]
):
    hidden: u8[HIDDEN]
    for h in range(HIDDEN):
        total: i32 = b1[h]
        for i in range(IN):
            total += w1[h, i] * x[i]
        hidden[h] = min(max(total >> 7, 0), 255)
    for o in range(OUT):
        sum: i32 = b2[o]
        for h in range(HIDDEN):
            sum += w2[o, h] * hidden[h]
        y[o] = sum


@mlp_quantised.schedule
def expert(s):
    s.split("S1.h", 2)
    s.pipeline("S1.h_0")
    s.pipeline("o")
    s.partition("w1", 0, "cyclic", 2)
    s.partition("w1", 1, "complete")
    s.partition("w2", 1, "complete")
    s.partition("x", 0, "complete")
    s.partition("b1", 0, "cyclic", 2)
    s.partition("hidden", 0, "complete")


@weft.kernel
def batch_norm_relu_i16(x: i16[K, H, W], scale: i16[K], shift: i32[K], y: i16[K, H, W]):
    for k, i, j in weft.grid(K, H, W):
        scaled: i32 = (x[k, i, j] * scale[k] + shift[k]) >> 8
        y[k, i, j] = min(max(scaled, 0), 32767)


@batch_norm_relu_i16.schedule
def expert(s):
    s.split("k", 4)
    s.reorder(["k_0", "i", "k_1", "j"])
    s.pipeline("i")
    for array in ("x", "y"):
        s.partition(array, 0, "cyclic", 4)
        s.partition(array, 2, "complete")
    s.partition("scale", 0, "cyclic", 4)
    s.partition("shift", 0, "cyclic", 4)


@weft.kernel
def recurrent_cell(x: f32[L, D], U: f32[D, D], h: f32[D]):
    for t in range(L):
        next: f32[D]
        for i in range(D):
            total: f32 = x[t, i]
            for j in range(D):
                total += U[i, j] * h[j]
            next[i] = weft.tanh(total)
        for i in range(D):
            h[i] = next[i]


@recurrent_cell.schedule
def expert(s):
    s.partial_sums("S1", "j", 4)
    s.pipeline("t", ii=32)
    s.partition("total_part", 0, "complete")
    s.partition("U", 1, "complete")
    s.partition("x", 1, "complete")
    s.partition("h", 0, "complete")
    s.partition("next", 0, "complete")
