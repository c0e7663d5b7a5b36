"""Recurrences: filters with feedback, polynomials, iterations to a limit."""

import numpy as np

import weft
from weft import f32, fixed, i32

N = 1024
DEGREE = 8
STEPS = 32

GROUPS = {
    "biquad": ["biquad_direct", "biquad_transposed", "biquad_history"],
    "horner": ["horner_by_point", "horner_by_coefficient"],
}
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "biquad_transposed": "the direct form",
}


@weft.kernel
def biquad_direct(b: f32[3], a: f32[2], x: f32[N], y: f32[N]):
    x1: f32 = 0.0
    x2: f32 = 0.0
    y1: f32 = 0.0
    y2: f32 = 0.0
    for n in range(N):
        out = b[0] * x[n] + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2
        x2 = x1
        x1 = x[n]
        y2 = y1
        y1 = out
        y[n] = out


@weft.kernel
def biquad_direct_expert(b: f32[3], a: f32[2], x: f32[N], y: f32[N]):
    # What the last output is needed for comes last: one product and one difference to wait for.
    x1: f32 = 0.0
    x2: f32 = 0.0
    y1: f32 = 0.0
    y2: f32 = 0.0
    for n in range(N):
        out = (b[0] * x[n] + b[1] * x1 + b[2] * x2 - a[1] * y2) - a[0] * y1
        x2 = x1
        x1 = x[n]
        y2 = y1
        y1 = out
        y[n] = out


@biquad_direct_expert.schedule
def expert(s):
    s.pipeline("n")
    s.partition("a", 0, "complete")
    s.partition("b", 0, "complete")


@weft.kernel
def biquad_transposed(b: f32[3], a: f32[2], x: f32[N], y: f32[N]):
    s1: f32 = 0.0
    s2: f32 = 0.0
    for n in range(N):
        out = b[0] * x[n] + s1
        s1 = b[1] * x[n] - a[0] * out + s2
        s2 = b[2] * x[n] - a[1] * out
        y[n] = out


@weft.kernel
def biquad_transposed_expert(b: f32[3], a: f32[2], x: f32[N], y: f32[N]):
    # Transposed, two delays return through five operators; in this form the last output is
    # waited for by one product and one difference.
    x1: f32 = 0.0
    x2: f32 = 0.0
    y1: f32 = 0.0
    y2: f32 = 0.0
    for n in range(N):
        out = (b[0] * x[n] + b[1] * x1 + b[2] * x2 - a[1] * y2) - a[0] * y1
        x2 = x1
        x1 = x[n]
        y2 = y1
        y1 = out
        y[n] = out


@biquad_transposed_expert.schedule
def expert(s):
    s.pipeline("n")
    s.partition("a", 0, "complete")
    s.partition("b", 0, "complete")


@weft.kernel
def biquad_history(b: f32[3], a: f32[2], x: f32[N], y: f32[N]):
    for n in range(N):
        if n == 0:
            y[n] = b[0] * x[n]
        elif n == 1:
            y[n] = b[0] * x[n] + b[1] * x[n - 1] - a[0] * y[n - 1]
        else:
            y[n] = (
                b[0] * x[n] + b[1] * x[n - 1] + b[2] * x[n - 2] - a[0] * y[n - 1] - a[1] * y[n - 2]
            )


@weft.kernel
def biquad_history_expert(b: f32[3], a: f32[2], x: f32[N], y: f32[N]):
    # The history in scalars, not in memory, and the last output last.
    x1: f32 = 0.0
    x2: f32 = 0.0
    y1: f32 = 0.0
    y2: f32 = 0.0
    for n in range(N):
        out = (b[0] * x[n] + b[1] * x1 + b[2] * x2 - a[1] * y2) - a[0] * y1
        x2 = x1
        x1 = x[n]
        y2 = y1
        y1 = out
        y[n] = out


@biquad_history_expert.schedule
def expert(s):
    s.pipeline("n")
    s.partition("a", 0, "complete")
    s.partition("b", 0, "complete")


@weft.kernel
def horner_by_point(c: f32[DEGREE], x: f32[N], y: f32[N]):
    for i in range(N):
        p: f32 = 0.0
        for k in range(DEGREE):
            p = p * x[i] + c[k]
        y[i] = p


@horner_by_point.schedule
def expert(s):
    s.split("i", 4)
    s.pipeline("i_0")
    s.partition("c", 0, "complete")
    s.partition("x", 0, "cyclic", 4)
    s.partition("y", 0, "cyclic", 4)


@weft.kernel
def horner_by_coefficient(c: f32[DEGREE], x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] = c[0]
    for k in range(1, DEGREE):
        for i in range(N):
            y[i] = y[i] * x[i] + c[k]


@horner_by_coefficient.schedule
def expert(s):
    # The points outside: each polynomial is a chain of 7 units, 32 of them share 32 units.
    s.interchange("k", "S1.i")
    s.fuse(["S0", "S1"], 1)
    s.split("S1.i", 32)
    s.pipeline("S1.i_0", ii=7)
    s.partition("c", 0, "complete")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def mandelbrot(cr: f32[N], ci: f32[N], count: i32[N]):
    for p in range(N):
        zr: f32 = 0.0
        zi: f32 = 0.0
        inside: i32 = 0
        for _ in range(STEPS):
            square = zr * zr + zi * zi
            inside += 1 if square < 4.0 else 0
            next = zr * zr - zi * zi + cr[p]
            zi = 2.0 * zr * zi + ci[p] if square < 4.0 else zi
            zr = next if square < 4.0 else zr
        count[p] = inside


@mandelbrot.schedule
def expert(s):
    # All steps of a point are a pipeline; a point every 4 cycles is what the budget has units for.
    s.pipeline("p", ii=4)


@weft.kernel
def logistic_map(r: f32[N], x: f32[N]):
    for i in range(N):
        v: f32 = x[i]
        for _ in range(STEPS):
            v = r[i] * v * (1.0 - v)
        x[i] = v


@logistic_map.schedule
def expert(s):
    s.pipeline("i", ii=2)


@weft.kernel
def newton_square_root(a: f32[N], y: f32[N]):
    for i in range(N):
        guess: f32 = 0.5 * a[i] + 0.5
        for _ in range(4):
            guess = 0.5 * (guess + a[i] / guess)
        y[i] = guess


@newton_square_root.schedule
def expert(s):
    # 7 units for 32 points: dividers are logic, the products and sums around them are scarce.
    s.split("i", 32)
    s.pipeline("i_0", ii=5)
    s.partition("a", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def fixed_oscillator(c: fixed[18, 2], s: fixed[18, 2], out: fixed[18, 2][N]):
    re: fixed[18, 2] = 1.0
    im: fixed[18, 2] = 0.0
    for n in range(N):
        turned = c * re - s * im
        im = s * re + c * im
        re = turned
        out[n] = im


@fixed_oscillator.schedule
def expert(s):
    s.pipeline("n")


@biquad_direct.inputs
@biquad_direct_expert.inputs
@biquad_transposed.inputs
@biquad_transposed_expert.inputs
@biquad_history.inputs
@biquad_history_expert.inputs
def stable_filter(kernel, seed):
    return {"a": np.array([-1.2, 0.5])}


@logistic_map.inputs
def populations(kernel, seed):
    rng = np.random.default_rng(seed)
    return {"r": rng.uniform(2.5, 3.5, N), "x": rng.uniform(0.1, 0.9, N)}
