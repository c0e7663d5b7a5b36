"""Bits and integer logic: counting, searching bit by bit, odd widths."""

import weft
from weft import i9, i32, u1, u5, u7, u8, u11, u16, u24, u32

N = 1024

GROUPS = {
    "popcount": ["popcount_loop", "popcount_parallel"],
}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "integer_square_root": "digit by digit in place of products",
}


@weft.kernel
def popcount_loop(x: u16[N], out: u5[N]):
    for i in range(N):
        n: u5 = 0
        for b in range(16):
            n += (x[i] >> b) & 1
        out[i] = n


@popcount_loop.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 32)
    s.partition("out", 0, "cyclic", 32)


@weft.kernel
def popcount_parallel(x: u16[N], out: u5[N]):
    for i in range(N):
        a: u16 = (x[i] & 21845) + ((x[i] >> 1) & 21845)
        b: u16 = (a & 13107) + ((a >> 2) & 13107)
        c: u16 = (b & 3855) + ((b >> 4) & 3855)
        out[i] = (c & 31) + (c >> 8)


@popcount_parallel.schedule
def expert(s):
    s.split("i", 64)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 64)
    s.partition("out", 0, "cyclic", 64)


@weft.kernel
def hamming_distances(x: u32[64], y: u32[64], d: u7[64, 64]):
    for i in range(64):
        for j in range(64):
            difference = x[i] ^ y[j]
            n: u7 = 0
            for b in range(32):
                n += (difference >> b) & 1
            d[i, j] = n


@hamming_distances.schedule
def expert(s):
    s.split("j", 8)
    s.pipeline("j_0")
    s.partition("y", 0, "cyclic", 8)
    s.partition("d", 1, "cyclic", 8)


@weft.kernel
def bit_reverse(x: u16[N], y: u16[N]):
    for i in range(N):
        r: u16 = 0
        for b in range(16):
            r = r | (((x[i] >> b) & 1) << (15 - b))
        y[i] = r


@bit_reverse.schedule
def expert(s):
    s.split("i", 16)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 16)
    s.partition("y", 0, "cyclic", 16)


@weft.kernel
def gray_to_binary(x: u11[N], y: u11[N]):
    for i in range(N):
        v: u11 = x[i]
        for s in range(1, 11):
            v = v ^ (x[i] >> s)
        y[i] = v


@gray_to_binary.schedule
def expert(s):
    s.split("i", 64)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 64)
    s.partition("y", 0, "cyclic", 64)


@weft.kernel
def leading_zeros(x: u24[N], y: u5[N]):
    for i in range(N):
        n: u5 = 24
        for b in range(24):
            n = 23 - b if ((x[i] >> b) & 1) == 1 else n
        y[i] = n


@leading_zeros.schedule
def expert(s):
    s.split("i", 8)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 8)
    s.partition("y", 0, "cyclic", 8)


@weft.kernel
def integer_square_root(x: u32[N], y: u16[N]):
    for i in range(N):
        root: u16 = 0
        for b in range(15, -1, -1):
            trial: u16 = root | (1 << b)
            root = trial if u32(trial) * u32(trial) <= x[i] else root
        y[i] = root


@weft.kernel
def integer_square_root_expert(x: u32[N], y: u16[N]):
    # Digit by digit, with what is left of the number: no products.
    for i in range(N):
        rest: u32 = x[i]
        root: u32 = 0
        for b in range(15, -1, -1):
            trial: u32 = root | (1 << (2 * b))
            fits: u1 = rest >= trial
            rest = rest - trial if fits == 1 else rest
            root = (root >> 1) | (1 << (2 * b)) if fits == 1 else root >> 1
        y[i] = root


@integer_square_root_expert.schedule
def expert(s):
    s.split("i", 4)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 4)
    s.partition("y", 0, "cyclic", 4)


@weft.kernel
def restoring_division(n: u16[N], d: u16[N], quotient: u16[N], rest: u16[N]):
    for i in range(N):
        r: u32 = 0
        q: u16 = 0
        for b in range(15, -1, -1):
            r = (r << 1) | ((n[i] >> b) & 1)
            fits: u1 = r >= d[i]
            r = r - d[i] if fits == 1 else r
            q = (q << 1) | fits
        quotient[i] = q
        rest[i] = r


@restoring_division.schedule
def expert(s):
    s.split("i", 4)
    s.pipeline("i_0")
    for array in ("n", "d", "quotient", "rest"):
        s.partition(array, 0, "cyclic", 4)


@weft.kernel
def morton_order(x: u8[N], y: u8[N], z: u16[N]):
    for i in range(N):
        code: u16 = 0
        for b in range(8):
            code = code | (((x[i] >> b) & 1) << (2 * b))
            code = code | (((y[i] >> b) & 1) << (2 * b + 1))
        z[i] = code


@morton_order.schedule
def expert(s):
    s.split("i", 16)
    s.pipeline("i_0")
    for array in ("x", "y", "z"):
        s.partition(array, 0, "cyclic", 16)


@weft.kernel
def clipped_prediction(x: u11[N], residual: i9[N], y: u11[N]):
    last: u11 = 1024
    for i in range(N):
        value: i32 = last + residual[i]
        clipped: u11 = min(max(value, 0), 2047)
        y[i] = clipped
        last = (clipped + x[i] + 1) >> 1


@clipped_prediction.schedule
def expert(s):
    s.pipeline("i")
