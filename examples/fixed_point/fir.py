"""fir: a finite impulse response filter in fixed point, with the samples in a shift register."""

import numpy as np

import weft
from weft import fixed

SIZES = {
    "mini": {"N": 40, "TAPS": 8},
    "small": {"N": 256, "TAPS": 16},
    "medium": {"N": 1024, "TAPS": 32},
    "large": {"N": 16384, "TAPS": 64},
}
N, TAPS = SIZES["medium"].values()


# Samples in [-1, 1) with 15 bits right of the point. A product has 30 of them and the sum of up
# to 64 products 6 bits more to the left: nothing is lost until the result is rounded.
@weft.kernel(sizes=SIZES)
def fir(
    taps: weft.const[fixed[16, 1][TAPS]],
    x: weft.const[fixed[16, 1][N]],
    y: fixed[16, 1, "rnd", "sat"][N],
):
    window: fixed[16, 1][TAPS]
    acc: fixed[38, 8]
    for k in range(TAPS):
        window[k] = 0
    for n in range(N):
        for k in range(TAPS - 1, 0, -1):
            window[k] = window[k - 1]
        window[0] = x[n]
        acc = 0
        for k in range(TAPS):
            acc += taps[k] * window[k]
        y[n] = acc


@fir.schedule
def streaming(s):
    # A sample in each cycle: the window and the taps are registers, all products at once.
    s.unroll("S0.k")
    s.pipeline("n")
    s.partition("window", 0, "complete")
    s.partition("taps", 0, "complete")


def reference(taps, x, y):
    taps, x = taps.astype(np.int64), x.astype(np.int64)
    total = np.convolve(x, taps)[: len(x)]  # 30 bits right of the point
    rounded = (total + (1 << 14)) >> 15
    y[:] = np.clip(rounded, -(1 << 15), (1 << 15) - 1)
