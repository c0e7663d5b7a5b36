"""Kernels as people write them first: scalars that accumulate, state that moves, plain C habits."""

import weft
from weft import f32, fixed, i8, i16, i32, u1, u8, u16, u32

N = 16
T = 4


@weft.kernel
def dot(x: f32[N], y: f32[N], out: f32[1]):
    a: f32 = 0.0
    for i in range(N):
        a += x[i] * y[i]
    out[0] = a


@weft.kernel
def product(x: f32[N], out: f32[1]):
    a: f32 = 1.0
    for i in range(N):
        a *= x[i]
    out[0] = a


@weft.kernel
def norm(x: f32[N], out: f32[N]):
    total: f32 = 0.0
    for i in range(N):
        total += x[i] * x[i]
    length: f32 = weft.sqrt(total)
    for i in range(N):
        out[i] = x[i] / length


@weft.kernel
def softmax(x: f32[T, N], out: f32[T, N]):
    for t in range(T):
        top: f32 = x[t, 0]
        for i in range(1, N):
            top = max(top, x[t, i])
        total: f32 = 0.0
        for i in range(N):
            out[t, i] = weft.exp(x[t, i] - top)
            total += out[t, i]
        for i in range(N):
            out[t, i] = out[t, i] / total


@weft.kernel
def fir_shift(x: i16[N], taps: i16[T], y: i32[N]):
    line: i16[T] = 0
    for n in range(N):
        for k in range(T - 1):
            line[T - 1 - k] = line[T - 2 - k]
        line[0] = x[n]
        acc: i32 = 0
        for k in range(T):
            acc += line[k] * taps[k]
        y[n] = acc


@weft.kernel
def matvec(A: f32[T, N], x: f32[N], y: f32[T]):
    local: f32[N]
    for j in range(N):
        local[j] = x[j]
    for i in range(T):
        row: f32 = 0.0
        for j in range(N):
            row += A[i, j] * local[j]
        y[i] = row


@weft.kernel
def prefix(x: f32[N], y: f32[N]):
    run: f32 = 0.0
    for i in range(N):
        run += x[i]
        y[i] = run


@weft.kernel
def argmax(x: f32[N], out: i32[1], best: f32[1]):
    top: f32 = x[0]
    where: i32 = 0
    for i in range(1, N):
        where = i if x[i] > top else where
        top = x[i] if x[i] > top else top
    out[0] = where
    best[0] = top


@weft.kernel
def histogram(x: u8[N], bins: u16[T]):
    for b in range(T):
        count: u16 = 0
        for i in range(N):
            count += 1 if x[i] % T == b else 0
        bins[b] = count


@weft.kernel
def stencil_7(a: f32[6, 6, 6], b: f32[6, 6, 6]):
    for _ in range(T):
        for i, j, k in weft.grid(range(1, 5), range(1, 5), range(1, 5)):
            b[i, j, k] = 0.4 * a[i, j, k] + 0.1 * (
                a[i - 1, j, k]
                + a[i + 1, j, k]
                + a[i, j - 1, k]
                + a[i, j + 1, k]
                + a[i, j, k - 1]
                + a[i, j, k + 1]
            )
        for i, j, k in weft.grid(range(1, 5), range(1, 5), range(1, 5)):
            a[i, j, k] = b[i, j, k]


@weft.kernel
def odd_even_sort(x: i32[8]):
    for p in range(8):
        for i in range(7):
            if (i + p) % 2 == 0:
                low: i32 = min(x[i], x[i + 1])
                high: i32 = max(x[i], x[i + 1])
                x[i] = low
                x[i + 1] = high


@weft.kernel
def bubble_sort(x: i32[8]):
    for i in range(7):
        for j in range(7 - i):
            t: i32 = x[j]
            x[j] = x[j] if x[j] <= x[j + 1] else x[j + 1]
            x[j + 1] = x[j + 1] if t <= x[j + 1] else t


@weft.kernel
def floyd_warshall(d: i32[8, 8]):
    for k, i, j in weft.grid(8, 8, 8):
        d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@weft.kernel
def smith_waterman(a: i8[N], b: i8[N], best: i32[1]):
    H: i32[N + 1, N + 1] = 0
    top: i32 = 0
    for i in range(1, N + 1):
        for j in range(1, N + 1):
            match: i32 = 2 if a[i - 1] == b[j - 1] else -1
            H[i, j] = max(0, max(H[i - 1, j - 1] + match, max(H[i - 1, j] - 1, H[i, j - 1] - 1)))
            top = max(top, H[i, j])
    best[0] = top


@weft.kernel
def lu(A: f32[8, 8]):
    for k in range(8):
        inverse: f32 = 1.0 / A[k, k]
        for i in range(k + 1, 8):
            A[i, k] *= inverse
            for j in range(k + 1, 8):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def conv2d_padded(x: f32[8, 8], w: f32[3, 3], y: f32[8, 8]):
    for i in range(8):
        for j in range(8):
            acc: f32 = 0.0
            for u in range(3):
                for v in range(3):
                    if i + u - 1 >= 0 and i + u - 1 < 8 and j + v - 1 >= 0 and j + v - 1 < 8:
                        acc += x[i + u - 1, j + v - 1] * w[u, v]
            y[i, j] = acc


@weft.kernel
def max_pool(x: f32[8, 8], y: f32[4, 4]):
    for i in range(4):
        for j in range(4):
            m: f32 = x[2 * i, 2 * j]
            for u in range(2):
                for v in range(2):
                    m = max(m, x[2 * i + u, 2 * j + v])
            y[i, j] = m


@weft.kernel
def running_mean(x: f32[N], y: f32[N]):
    window: f32 = 0.0
    for i in range(N):
        window += x[i]
        if i >= T:
            window -= x[i - T]
        y[i] = window * 0.25


@weft.kernel
def crc(data: u8[N], out: u32[1]):
    c: u32 = 4294967295
    for i in range(N):
        c = c ^ data[i]
        for _ in range(8):
            c = ((c >> 1) ^ 3988292384) if (c & 1) == 1 else (c >> 1)
    out[0] = c ^ 4294967295


@weft.kernel
def complex_multiply(a: f32[N, 2], b: f32[N, 2], c: f32[N, 2]):
    for i in range(N):
        re: f32 = a[i, 0] * b[i, 0] - a[i, 1] * b[i, 1]
        im: f32 = a[i, 0] * b[i, 1] + a[i, 1] * b[i, 0]
        c[i, 0] = re
        c[i, 1] = im


@weft.kernel
def transpose_in_place(A: f32[8, 8]):
    for i in range(8):
        for j in range(i + 1, 8):
            t: f32 = A[i, j]
            A[i, j] = A[j, i]
            A[j, i] = t


@weft.kernel
def two_buffers(u: f32[2, N]):
    for t in range(T):
        for i in range(1, N - 1):
            u[(t + 1) % 2, i] = 0.25 * (u[t % 2, i - 1] + 2.0 * u[t % 2, i] + u[t % 2, i + 1])


@weft.kernel
def mean_and_variance(x: f32[N], out: f32[2]):
    total: f32 = 0.0
    squares: f32 = 0.0
    for i in range(N):
        total += x[i]
        squares += x[i] * x[i]
    mean: f32 = total / N
    out[0] = mean
    out[1] = squares / N - mean * mean


@weft.kernel
def horner(c: f32[T], x: f32[N], y: f32[N]):
    for i in range(N):
        p: f32 = 0.0
        for k in range(T):
            p = p * x[i] + c[k]
        y[i] = p


@weft.kernel
def biquad(x: f32[N], y: f32[N]):
    z1: f32 = 0.0
    z2: f32 = 0.0
    for n in range(N):
        w = x[n] - 0.5 * z1 - 0.25 * z2
        y[n] = w + 2.0 * z1 + z2
        z2 = z1
        z1 = w


@weft.kernel
def sad(a: u8[8, 8], b: u8[8, 8], out: u32[1]):
    total: u32 = 0
    for i, j in weft.grid(8, 8):
        total += a[i, j] - b[i, j] if a[i, j] > b[i, j] else b[i, j] - a[i, j]
    out[0] = total


@weft.kernel
def popcount(x: u16[N], out: u8[N]):
    for i in range(N):
        n: u8 = 0
        for b in range(16):
            n += (x[i] >> b) & 1
        out[i] = n


@weft.kernel
def parity(x: u1[N], out: u1[1]):
    p: u1 = 0
    for i in range(N):
        p = p ^ x[i]
    out[0] = p


@weft.kernel
def fixed_iir(x: fixed[16, 4], xs: fixed[16, 4][N], ys: fixed[16, 4][N]):
    s: fixed[24, 6] = 0.0
    for i in range(N):
        s = s * 0.5 + xs[i] * x
        ys[i] = s


@weft.kernel
def gauss_seidel_sweeps(A: f32[8, 8], b: f32[8], x: f32[8]):
    for _ in range(T):
        for i in range(8):
            s: f32 = b[i]
            for j in range(8):
                if j != i:
                    s -= A[i, j] * x[j]
            x[i] = s / A[i, i]


@weft.kernel
def triangular_solve(L: f32[8, 8], b: f32[8], x: f32[8]):
    for i in range(8):
        s: f32 = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = (b[i] - s) / L[i, i]


@weft.kernel
def batch_norm(x: f32[T, N], gain: f32[N], bias: f32[N]):
    for c in range(N):
        mean: f32 = 0.0
        for t in range(T):
            mean += x[t, c]
        mean /= T
        var: f32 = 0.0
        for t in range(T):
            var += (x[t, c] - mean) * (x[t, c] - mean)
        scale: f32 = gain[c] / weft.sqrt(var / T + 0.00001)
        for t in range(T):
            x[t, c] = (x[t, c] - mean) * scale + bias[c]


@weft.kernel
def constants_only(y: f32[N]):
    two: f32 = 2.0
    half: f32 = 1.0 / two
    for i in range(N):
        y[i] = two * y[i] + half


@weft.kernel
def unused_scalar(x: f32[N], y: f32[N]):
    never: f32 = 0.0
    for i in range(N):
        never += x[i]
        y[i] = x[i]


@weft.kernel
def life(a: u1[8, 8], b: u1[8, 8]):
    for i, j in weft.grid(range(1, 7), range(1, 7)):
        n: u8 = 0
        for u, v in weft.grid(3, 3):
            n += a[i + u - 1, j + v - 1]
        n -= a[i, j]
        b[i, j] = 1 if n == 3 or (n == 2 and a[i, j] == 1) else 0


@weft.kernel
def mandelbrot(cr: f32[N], ci: f32[N], count: i32[N]):
    for p in range(N):
        zr: f32 = 0.0
        zi: f32 = 0.0
        n: i32 = 0
        for _ in range(8):
            new = zr * zr - zi * zi + cr[p]
            zi = 2.0 * zr * zi + ci[p]
            zr = new
            n += 1 if zr * zr + zi * zi < 4.0 else 0
        count[p] = n
