"""Running sums and the like: each output is what came before, and a little more."""

import weft
from weft import f32, i16, i32, u1, u8, u16, u32

N = 1024
CHANNELS = 16

GROUPS = {
    "prefix": ["prefix_scalar", "prefix_element", "prefix_blocked"],
}
# Kernels that are judged against another one's schedule: what an expert would rewrite them to.
JUDGED_BY = {
    "prefix_scalar": "prefix_blocked",
    "prefix_element": "prefix_blocked",
}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "running_mean": "sums of 2, 4 and 8 neighbours",
    "delta_decode": "blocks whose sums do not wait for the block before",
    "run_lengths": "runs within a block, to which the last one is added",
    "maximum_subarray": "blocks by their sum, best beginning, end and part",
}


@weft.kernel
def exponential_average(alpha: f32, x: f32[N], y: f32[N]):
    level: f32 = 0.0
    for n in range(N):
        level += alpha * (x[n] - level)
        y[n] = level


@exponential_average.schedule
def expert(s):
    s.pipeline("n")


@weft.kernel
def exponential_average_channels(alpha: f32, x: f32[CHANNELS, N], y: f32[CHANNELS, N]):
    for c in range(CHANNELS):
        level: f32 = 0.0
        for n in range(N):
            level += alpha * (x[c, n] - level)
            y[c, n] = level


@weft.kernel
def exponential_average_channels_expert(alpha: f32, x: f32[CHANNELS, N], y: f32[CHANNELS, N]):
    # All channels at once: a level of its own for each, so that the loops can be exchanged.
    level: f32[CHANNELS] = 0.0
    for n in range(N):
        for c in range(CHANNELS):
            level[c] += alpha * (x[c, n] - level[c])
            y[c, n] = level[c]


@exponential_average_channels_expert.schedule
def expert(s):
    s.pipeline("n")
    s.partition("level", 0, "complete")
    s.partition("x", 0, "complete")
    s.partition("y", 0, "complete")


@weft.kernel
def prefix_scalar(x: i32[N], y: i32[N]):
    run: i32 = 0
    for i in range(N):
        run += x[i]
        y[i] = run


@weft.kernel
def prefix_element(x: i32[N], y: i32[N]):
    y[0] = x[0]
    for i in range(1, N):
        y[i] = y[i - 1] + x[i]


@weft.kernel
def prefix_blocked(x: i32[N], y: i32[N]):
    carry: i32 = 0
    for b in range(N // 32):
        run: i32[32]
        run[0] = x[32 * b]
        for i in range(1, 32):
            run[i] = run[i - 1] + x[32 * b + i]
        for i in range(32):
            y[32 * b + i] = run[i] + carry
        carry += run[31]


@prefix_blocked.schedule
def expert(s):
    s.pipeline("b")
    s.partition("run", 0, "complete")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def running_mean(x: f32[N], y: f32[N]):
    window: f32 = 0.0
    for i in range(N):
        window += x[i]
        if i >= 8:
            window -= x[i - 8]
        y[i] = window * 0.125


@weft.kernel
def running_mean_expert(x: f32[N], y: f32[N]):
    # Sums of 2, 4 and 8 neighbours: three additions a sample and nothing that waits for itself.
    past: f32[7] = 0.0
    for b in range(N // 16):
        window: f32[23]
        two: f32[22]
        four: f32[20]
        for i in range(7):
            window[i] = past[i]
        for i in range(16):
            window[i + 7] = x[16 * b + i]
        for i in range(22):
            two[i] = window[i] + window[i + 1]
        for i in range(20):
            four[i] = two[i] + two[i + 2]
        for i in range(16):
            y[16 * b + i] = (four[i] + four[i + 4]) * 0.125
        for i in range(7):
            past[i] = window[i + 16]


@running_mean_expert.schedule
def expert(s):
    s.pipeline("b")
    for array in ("past", "window", "two", "four"):
        s.partition(array, 0, "complete")
    s.partition("x", 0, "cyclic", 16)
    s.partition("y", 0, "cyclic", 16)


@weft.kernel
def leaky_peak(x: u16[N], y: u16[N]):
    peak: u16 = 0
    for n in range(N):
        decayed = peak - (peak >> 5)
        peak = x[n] if x[n] > decayed else decayed
        y[n] = peak


@leaky_peak.schedule
def expert(s):
    # Two steps are what fits between two registers.
    s.split("n", 2)
    s.pipeline("n_0")
    s.partition("x", 0, "cyclic", 2)
    s.partition("y", 0, "cyclic", 2)


@weft.kernel
def delta_decode(d: i16[N], y: i32[N]):
    value: i32 = 0
    slope: i32 = 0
    for n in range(N):
        slope += d[n]
        value += slope
        y[n] = value


@weft.kernel
def delta_decode_expert(d: i16[N], y: i32[N]):
    # What a block of 16 adds to slope and value does not wait for the block before.
    value: i32 = 0
    slope: i32 = 0
    for b in range(N // 16):
        rise: i32[16]
        gain: i32[16]
        ramp: i32[16]
        rise[0] = d[16 * b]
        gain[0] = d[16 * b]
        ramp[0] = slope
        for i in range(1, 16):
            rise[i] = rise[i - 1] + d[16 * b + i]
            gain[i] = gain[i - 1] + rise[i]
            ramp[i] = ramp[i - 1] + slope
        for i in range(16):
            y[16 * b + i] = value + (ramp[i] + gain[i])
        value += (slope << 4) + gain[15]
        slope += rise[15]


@delta_decode_expert.schedule
def expert(s):
    s.pipeline("b")
    s.partition("d", 0, "cyclic", 16)
    s.partition("y", 0, "cyclic", 16)
    for array in ("rise", "gain", "ramp"):
        s.partition(array, 0, "complete")


@weft.kernel
def run_lengths(x: u8[N], run: u16[N]):
    length: u16 = 0
    for i in range(N):
        if i > 0:
            length = length + 1 if x[i] == x[i - 1] else 0
        run[i] = length


@weft.kernel
def run_lengths_expert(x: u8[N], run: u16[N]):
    # Runs within a block of 16, to which the last run is added where nothing has ended it.
    carry: u16 = 0
    last: u8 = 0
    for b in range(N // 16):
        inside: u16[16]
        whole: u1[16]
        inside[0] = 0
        whole[0] = 0
        if b > 0:
            whole[0] = x[16 * b] == last
        for i in range(1, 16):
            inside[i] = inside[i - 1] + 1 if x[16 * b + i] == x[16 * b + i - 1] else 0
            whole[i] = whole[i - 1] & (x[16 * b + i] == x[16 * b + i - 1])
        for i in range(16):
            run[16 * b + i] = inside[i] + (carry + 1 if whole[i] == 1 else 0)
        carry = inside[15] + (carry + 1 if whole[15] == 1 else 0)
        last = x[16 * b + 15]


@run_lengths_expert.schedule
def expert(s):
    s.pipeline("b")
    s.partition("x", 0, "cyclic", 16)
    s.partition("run", 0, "cyclic", 16)
    s.partition("inside", 0, "complete")
    s.partition("whole", 0, "complete")


@weft.kernel
def shift_register_noise(seed: u32, out: u1[N]):
    state: u32 = seed
    for n in range(N):
        bit = (state ^ (state >> 2) ^ (state >> 6) ^ (state >> 7)) & 1
        state = (state >> 1) | (bit << 31)
        out[n] = bit


@shift_register_noise.schedule
def expert(s):
    s.split("n", 32)
    s.pipeline("n_0")
    s.partition("out", 0, "cyclic", 32)


@weft.kernel
def maximum_subarray(x: i16[1024], out: i32[1]):
    here: i32 = 0
    best: i32 = -32768
    for i in range(1024):
        here = max(here + x[i], x[i])
        best = max(best, here)
    out[0] = best


@weft.kernel
def maximum_subarray_expert(x: i16[1024], out: i32[1]):
    # Blocks of 8 by their sum, best beginning, best end and best part: none waits for the others.
    here: i32 = -32768
    best: i32 = -32768
    for b in range(128):
        total: i32 = x[8 * b]
        head: i32 = x[8 * b]
        tail: i32 = x[8 * b]
        part: i32 = x[8 * b]
        for i in range(1, 8):
            total += x[8 * b + i]
            head = max(head, total)
            tail = max(tail + x[8 * b + i], x[8 * b + i])
            part = max(part, tail)
        best = max(best, max(part, here + head))
        here = max(tail, here + total)
    out[0] = best


@maximum_subarray_expert.schedule
def expert(s):
    s.pipeline("b")
    s.partition("x", 0, "cyclic", 8)
