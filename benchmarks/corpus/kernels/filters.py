"""Filters of signals and images: windows that slide, borders, ranks, and passes after each other."""

import weft
from weft import f32, fixed, i16, i32, u8, u16, u18

N = 1024
TAPS = 16
H, W = 48, 64

GROUPS = {
    "fir": ["fir_direct", "fir_shift", "fir_transposed", "fir_by_tap"],
    "gaussian": ["gaussian_separable", "gaussian_direct"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {"fir_shift": "fir_direct", "fir_transposed": "fir_direct"}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "gaussian_direct": "the mask is a product of a column and a row",
}


@weft.kernel
def fir_direct(taps: i16[TAPS], x: i16[N + TAPS], y: i32[N]):
    for n in range(N):
        total: i32 = 0
        for k in range(TAPS):
            total += taps[k] * x[n + k]
        y[n] = total


@fir_direct.schedule
def expert(s):
    # 16 samples share the products; what they read lies in 16 memories, one sample after the other.
    s.split("n", 16)
    s.pipeline("n_0", ii=5)
    s.partition("taps", 0, "complete")
    s.partition("x", 0, "cyclic", 16)
    s.partition("y", 0, "cyclic", 16)


@weft.kernel
def fir_shift(taps: i16[TAPS], x: i16[N + TAPS], y: i32[N]):
    line: i16[TAPS] = 0
    for n in range(N + TAPS - 1):
        for k in range(TAPS - 1):
            line[k] = line[k + 1]
        line[TAPS - 1] = x[n]
        if n >= TAPS - 1:
            total: i32 = 0
            for k in range(TAPS):
                total += taps[k] * line[k]
            y[n - (TAPS - 1)] = total


@weft.kernel
def fir_transposed(taps: i16[TAPS], x: i16[N + TAPS], y: i32[N]):
    delay: i32[TAPS] = 0
    for n in range(N + TAPS - 1):
        for k in range(TAPS - 1):
            delay[k] = delay[k + 1] + taps[TAPS - 1 - k] * x[n]
        delay[TAPS - 1] = taps[0] * x[n]
        if n >= TAPS - 1:
            y[n - (TAPS - 1)] = delay[0]


@weft.kernel
def fir_by_tap(taps: i16[TAPS], x: i16[N + TAPS], y: i32[N]):
    for n in range(N):
        y[n] = 0
    for k in range(TAPS):
        for n in range(N):
            y[n] += taps[k] * x[n + k]


@fir_by_tap.schedule
def expert(s):
    s.interchange("k", "S1.n")
    s.fuse(["S0", "S1"], 1)
    s.split("S1.n", 16)
    s.pipeline("S1.n_0", ii=5)
    s.partition("taps", 0, "complete")
    s.partition("x", 0, "cyclic", 16)
    s.partition("y", 0, "cyclic", 16)


@weft.kernel
def fir_f32(taps: f32[TAPS], x: f32[N + TAPS], y: f32[N]):
    for n in range(N):
        total: f32 = 0.0
        for k in range(TAPS):
            total += taps[k] * x[n + k]
        y[n] = total


@fir_f32.schedule
def expert(s):
    s.split("n", 16)
    s.pipeline("n_0", ii=8)
    s.partition("taps", 0, "complete")
    s.partition("x", 0, "cyclic", 16)
    s.partition("y", 0, "cyclic", 16)


@weft.kernel
def fir_decimating(taps: fixed[16, 1][TAPS], x: fixed[16, 1][N], y: fixed[16, 1][N // 4 - 4]):
    for n in range(N // 4 - 4):
        total: fixed[36, 6] = 0.0
        for k in range(TAPS):
            total += taps[k] * x[4 * n + k]
        y[n] = total


@fir_decimating.schedule
def expert(s):
    s.split("n", 7)
    s.pipeline("n_0")
    s.partition("taps", 0, "complete")
    s.partition("x", 0, "cyclic", 28)
    s.partition("y", 0, "cyclic", 7)


@weft.kernel
def median_3x3(x: u8[H, W], y: u8[H, W]):
    for i, j in weft.grid(range(1, H - 1), range(1, W - 1)):
        low: u8[3]
        mid: u8[3]
        high: u8[3]
        for r in range(3):
            a: u8 = x[i + r - 1, j - 1]
            b: u8 = x[i + r - 1, j]
            c: u8 = x[i + r - 1, j + 1]
            least: u8 = min(a, b)
            most: u8 = max(a, b)
            low[r] = min(least, c)
            high[r] = max(most, c)
            mid[r] = max(least, min(most, c))
        bottom: u8 = max(low[0], max(low[1], low[2]))
        top: u8 = min(high[0], min(high[1], high[2]))
        centre: u8 = max(min(mid[0], mid[1]), min(max(mid[0], mid[1]), mid[2]))
        y[i, j] = max(min(bottom, centre), min(max(bottom, centre), top))


@median_3x3.schedule
def expert(s):
    s.pipeline("i", ii=2)
    s.bind_storage("x", "ram_2p")
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def sobel(x: u8[H, W], y: u16[H, W]):
    for i, j in weft.grid(range(1, H - 1), range(1, W - 1)):
        right: i16 = x[i - 1, j + 1] + 2 * x[i, j + 1] + x[i + 1, j + 1]
        left: i16 = x[i - 1, j - 1] + 2 * x[i, j - 1] + x[i + 1, j - 1]
        below: i16 = x[i + 1, j - 1] + 2 * x[i + 1, j] + x[i + 1, j + 1]
        above: i16 = x[i - 1, j - 1] + 2 * x[i - 1, j] + x[i - 1, j + 1]
        y[i, j] = abs(right - left) + abs(below - above)


@sobel.schedule
def expert(s):
    s.pipeline("i", ii=2)
    s.bind_storage("x", "ram_2p")
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def gaussian_separable(x: u8[H, W], y: u8[H, W]):
    rows: u16[H, W]
    for i, j in weft.grid(H, range(2, W - 2)):
        rows[i, j] = x[i, j - 2] + 4 * x[i, j - 1] + 6 * x[i, j] + 4 * x[i, j + 1] + x[i, j + 2]
    for i, j in weft.grid(range(2, H - 2), range(2, W - 2)):
        y[i, j] = (
            rows[i - 2, j] + 4 * rows[i - 1, j] + 6 * rows[i, j] + 4 * rows[i + 1, j]
            + rows[i + 2, j] + 128
        ) >> 8  # fmt: skip


@weft.kernel
def gaussian_separable_expert(x: u8[H, W], y: u8[H, W]):
    # One pass: the last five rows of horizontal sums in registers, that move up.
    line: u16[5, W] = 0
    for i in range(H):
        for r in range(4):
            for j in range(2, W - 2):
                line[r, j] = line[r + 1, j]
        for j in range(2, W - 2):
            line[4, j] = x[i, j - 2] + 4 * x[i, j - 1] + 6 * x[i, j] + 4 * x[i, j + 1] + x[i, j + 2]
        for j in range(2, W - 2):
            if i >= 4:
                y[i - 2, j] = (
                    line[0, j] + 4 * line[1, j] + 6 * line[2, j] + 4 * line[3, j] + line[4, j] + 128
                ) >> 8


@gaussian_separable_expert.schedule
def expert(s):
    s.pipeline("line_i")
    s.pipeline("i")
    s.partition("line", 0, "complete")
    s.partition("line", 1, "complete")
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def gaussian_direct(weight: u8[5], x: u8[H, W], y: u8[H, W]):
    for i, j in weft.grid(range(2, H - 2), range(2, W - 2)):
        total: i32 = 128
        for u, v in weft.grid(5, 5):
            total += (weight[u] * weight[v]) * x[i + u - 2, j + v - 2]
        y[i, j] = total >> 8


@weft.kernel
def gaussian_direct_expert(weight: u8[5], x: u8[H, W], y: u8[H, W]):
    # Exact integers: the sum over columns, then over rows, gives the same. A third of a row at
    # a time, for a product of 8 by 18 bits takes a DSP slice.
    line: u18[5, W] = 0
    for i in range(H):
        for b in range(3):
            for r in range(4):
                for j in range(20):
                    line[r, 20 * b + j] = line[r + 1, 20 * b + j]
            for j in range(20):
                across: u18 = 0
                for v in range(5):
                    across += weight[v] * x[i, 20 * b + j + v]
                line[4, 20 * b + j] = across
            for j in range(20):
                total: i32 = 128
                for u in range(5):
                    total += weight[u] * line[u, 20 * b + j]
                if i >= 4:
                    y[i - 2, 20 * b + j + 2] = total >> 8


@gaussian_direct_expert.schedule
def expert(s):
    s.pipeline("line_i")
    s.pipeline("b")
    s.bind_storage("x", "ram_2p")
    s.partition("line", 0, "complete")
    s.partition("line", 1, "cyclic", 20)
    s.partition("weight", 0, "complete")
    s.partition("x", 1, "cyclic", 20)
    s.partition("y", 1, "cyclic", 20)


@weft.kernel
def box_5x5_sliding(x: u8[H, W], y: u16[H, W]):
    column: u16[W] = 0
    for i in range(H):
        for j in range(W):
            column[j] += x[i, j]
            if i >= 5:
                column[j] -= x[i - 5, j]
        total: u16 = 0
        for j in range(W):
            total += column[j]
            if j >= 5:
                total -= column[j - 5]
            y[i, j] = total


@box_5x5_sliding.schedule
def expert(s):
    s.unroll("column_i")
    s.pipeline("i")
    s.bind_storage("x", "ram_2p")
    s.partition("x", 1, "complete")
    s.partition("column", 0, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def dilate_clipped(x: u8[H, W], y: u8[H, W]):
    for i in range(H):
        for j in range(W):
            top: u8 = 0
            for u in range(3):
                for v in range(3):
                    if i + u >= 1 and i + u <= H and j + v >= 1 and j + v <= W:
                        top = max(top, x[i + u - 1, j + v - 1])
            y[i, j] = top


@dilate_clipped.schedule
def expert(s):
    s.pipeline("i", ii=2)
    s.bind_storage("x", "ram_2p")
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def unsharp_mask(amount: f32, x: f32[H, W], y: f32[H, W]):
    for i, j in weft.grid(range(1, H - 1), range(1, W - 1)):
        blurred: f32 = 0.0
        for u, v in weft.grid(3, 3):
            blurred += x[i + u - 1, j + v - 1]
        sharp = x[i, j] + amount * (x[i, j] - blurred * 0.1111)
        y[i, j] = min(max(sharp, 0.0), 255.0)


@unsharp_mask.schedule
def expert(s):
    s.pipeline("i", ii=14)
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def downsample_2x2(x: u8[H, W], y: u8[H // 2, W // 2]):
    for i, j in weft.grid(H // 2, W // 2):
        y[i, j] = (x[2 * i, 2 * j] + x[2 * i, 2 * j + 1] + x[2 * i + 1, 2 * j]
                   + x[2 * i + 1, 2 * j + 1] + 2) >> 2  # fmt: skip


@downsample_2x2.schedule
def expert(s):
    s.pipeline("i")
    s.partition("x", 0, "cyclic", 2)
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def haar_lifting(x: i16[N], low: i16[N // 2], high: i16[N // 2]):
    for i in range(N // 2):
        high[i] = x[2 * i + 1] - x[2 * i]
        low[i] = x[2 * i] + (high[i] >> 1)


@haar_lifting.schedule
def expert(s):
    s.split("i", 128)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 256)
    s.partition("low", 0, "cyclic", 128)
    s.partition("high", 0, "cyclic", 128)
