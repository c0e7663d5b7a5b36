"""Stencils: one sweep, sweeps in time with one and two arrays, in place, in one to three dimensions."""

import weft
from weft import f32, i16, u1, u8

N = 1024
M = 64
T = 16

GROUPS = {
    "jacobi_1d": ["jacobi_1d_two_arrays", "jacobi_1d_parity", "jacobi_1d_scalars"],
    "seidel_1d": ["seidel_1d", "seidel_1d_red_black"],
}


@weft.kernel
def smooth_once(x: f32[N + 2], y: f32[N]):
    for i in range(N):
        y[i] = 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2]


@smooth_once.schedule
def expert(s):
    s.split("i", 64)
    s.pipeline("i_0", ii=5)
    s.partition("x", 0, "cyclic", 64)
    s.partition("y", 0, "cyclic", 64)


@weft.kernel
def jacobi_1d_two_arrays(A: f32[N], B: f32[N]):
    for _ in range(T):
        for i in range(1, N - 1):
            B[i] = 0.25 * A[i - 1] + 0.5 * A[i] + 0.25 * A[i + 1]
        for i in range(1, N - 1):
            A[i] = 0.25 * B[i - 1] + 0.5 * B[i] + 0.25 * B[i + 1]


@jacobi_1d_two_arrays.schedule
def expert(s):
    # 73 points of a sweep share 13 units each of what a point needs.
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.i", 73)
        s.pipeline(f"{stmt}.i_0", ii=6)
    s.partition("A", 0, "cyclic", 73)
    s.partition("B", 0, "cyclic", 73)


@weft.kernel
def jacobi_1d_parity(u: f32[2, N]):
    for t in range(2 * T):
        for i in range(1, N - 1):
            u[(t + 1) % 2, i] = 0.25 * u[t % 2, i - 1] + 0.5 * u[t % 2, i] + 0.25 * u[t % 2, i + 1]


@weft.kernel
def jacobi_1d_parity_expert(u: f32[2, N]):
    # Two steps in a turn: which of the arrays is read and which is written is plain then.
    for _ in range(T):
        for i in range(1, N - 1):
            u[1, i] = 0.25 * u[0, i - 1] + 0.5 * u[0, i] + 0.25 * u[0, i + 1]
        for i in range(1, N - 1):
            u[0, i] = 0.25 * u[1, i - 1] + 0.5 * u[1, i] + 0.25 * u[1, i + 1]


@jacobi_1d_parity_expert.schedule
def expert(s):
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.i", 73)
        s.pipeline(f"{stmt}.i_0", ii=6)
    s.partition("u", 0, "complete")
    s.partition("u", 1, "cyclic", 73)


@weft.kernel
def jacobi_1d_scalars(A: f32[N]):
    for _ in range(2 * T):
        left: f32 = A[0]
        for i in range(1, N - 1):
            here: f32 = A[i]
            A[i] = 0.25 * left + 0.5 * here + 0.25 * A[i + 1]
            left = here


@jacobi_1d_scalars.schedule
def expert(s):
    s.split("i", 73)
    s.pipeline("i_0", ii=6)
    s.partition("A", 0, "cyclic", 73)


@weft.kernel
def seidel_1d(A: f32[N]):
    for _ in range(T):
        for i in range(1, N - 1):
            A[i] = (A[i - 1] + A[i] + A[i + 1]) * 0.3333


@weft.kernel
def seidel_1d_expert(A: f32[N]):
    # All sweeps are stages of one pass: each keeps its last result and the value that came last.
    left: f32[T] = 0.0
    here: f32[T] = 0.0
    for n in range(N + T):
        v: f32 = 0.0
        if n < N:
            v = A[n]
        for t in range(T):
            out: f32 = here[t]
            if n - t - 1 >= 1 and n - t - 1 < N - 1:
                out = (left[t] + here[t] + v) * 0.3333
            left[t] = out
            here[t] = v
            v = out
        if n >= T:
            A[n - T] = v


@seidel_1d_expert.schedule
def expert(s):
    s.unroll("left_i")
    s.unroll("here_i")
    s.pipeline("n")
    s.partition("left", 0, "complete")
    s.partition("here", 0, "complete")


@weft.kernel
def seidel_1d_red_black(A: f32[N]):
    for _ in range(T):
        for i in range(N // 2 - 1):
            A[2 * i + 1] = (A[2 * i] + A[2 * i + 1] + A[2 * i + 2]) * 0.3333
        for i in range(1, N // 2):
            A[2 * i] = (A[2 * i - 1] + A[2 * i] + A[2 * i + 1]) * 0.3333


@seidel_1d_red_black.schedule
def expert(s):
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.i", 73)
        s.pipeline(f"{stmt}.i_0", ii=4)
    s.partition("A", 0, "cyclic", 146)
    s.bind_storage("A", "ram_s2p")  # a second port is more multiplexers, and no cycle less


@weft.kernel
def jacobi_2d(A: f32[M, M], B: f32[M, M]):
    for _ in range(4):
        for i, j in weft.grid(range(1, M - 1), range(1, M - 1)):
            B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
        for i, j in weft.grid(range(1, M - 1), range(1, M - 1)):
            A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i - 1, j] + B[i + 1, j])


@jacobi_2d.schedule
def expert(s):
    # A row of 62 points every 7 cycles: more of its sums at once are more LUTs than there are.
    for stmt in ("S0", "S1"):
        s.pipeline(f"{stmt}.i", ii=7)
    for array in ("A", "B"):
        s.partition(array, 1, "complete")
        s.bind_storage(array, "ram_s2p")  # a second port is more multiplexers, and no cycle less


@weft.kernel
def seidel_2d(A: f32[M, M]):
    for _ in range(4):
        for i, j in weft.grid(range(1, M - 1), range(1, M - 1)):
            A[i, j] = 0.25 * (A[i - 1, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j])


@weft.kernel
def seidel_2d_expert(A: f32[M, M]):
    # Along the anti-diagonals: in wave w each row has one point, and each row is one memory.
    for _ in range(4):
        for w in range(2, 2 * M - 3):
            for i in range(1, M - 1):
                if w - i >= 1 and w - i < M - 1:
                    A[i, w - i] = 0.25 * (
                        A[i - 1, w - i] + A[i, w - i - 1] + A[i, w - i + 1] + A[i + 1, w - i]
                    )


@seidel_2d_expert.schedule
def expert(s):
    s.pipeline("w")
    s.partition("A", 0, "complete")


@weft.kernel
def laplacian_9(x: f32[M, M], y: f32[M, M]):
    for i, j in weft.grid(range(1, M - 1), range(1, M - 1)):
        total: f32 = 0.0
        for u, v in weft.grid(3, 3):
            if u == 1 and v == 1:
                total -= 8.0 * x[i, j]
            else:
                total += x[i + u - 1, j + v - 1]
        y[i, j] = total


@laplacian_9.schedule
def expert(s):
    s.pipeline("i", ii=9)
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def heat_3d_once(a: f32[18, 18, 18], b: f32[18, 18, 18]):
    for i, j, k in weft.grid(range(1, 17), range(1, 17), range(1, 17)):
        b[i, j, k] = 0.4 * a[i, j, k] + 0.1 * (
            a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k]
            + a[i, j + 1, k] + a[i, j, k - 1] + a[i, j, k + 1]
        )  # fmt: skip


@heat_3d_once.schedule
def expert(s):
    s.split("j", 2)
    s.pipeline("j_0", ii=4)
    s.bind_storage("a", "ram_2p")
    s.partition("a", 2, "complete")
    s.partition("b", 2, "complete")


@weft.kernel
def life(a: u1[M, M], b: u1[M, M]):
    for i, j in weft.grid(range(1, M - 1), range(1, M - 1)):
        n: u8 = 0
        for u, v in weft.grid(3, 3):
            if u != 1 or v != 1:
                n += a[i + u - 1, j + v - 1]
        b[i, j] = 1 if n == 3 or (n == 2 and a[i, j] == 1) else 0


@weft.kernel
def life_expert(a: u1[M, M], b: u1[M, M]):
    # Three rows in registers, that move up.
    above: u1[M]
    here: u1[M]
    below: u1[M]
    for j in range(M):
        here[j] = a[0, j]
        below[j] = a[1, j]
    for i in range(1, M - 1):
        for j in range(M):
            above[j] = here[j]
            here[j] = below[j]
            below[j] = a[i + 1, j]
        for j in range(1, M - 1):
            n: u8 = here[j - 1] + here[j + 1]
            for v in range(3):
                n += above[j + v - 1] + below[j + v - 1]
            b[i, j] = 1 if n == 3 or (n == 2 and here[j] == 1) else 0


@life_expert.schedule
def expert(s):
    s.unroll("S0.j")
    s.pipeline("i")
    s.partition("a", 1, "complete")
    s.partition("b", 1, "complete")
    for array in ("above", "here", "below"):
        s.partition(array, 0, "complete")


@weft.kernel
def wave_equation(u: f32[3, N]):
    for t in range(30):
        for i in range(1, N - 1):
            u[(t + 2) % 3, i] = (
                2.0 * u[(t + 1) % 3, i] - u[t % 3, i]
                + 0.1 * (u[(t + 1) % 3, i - 1] - 2.0 * u[(t + 1) % 3, i] + u[(t + 1) % 3, i + 1])
            )  # fmt: skip


@weft.kernel
def wave_equation_expert(u: f32[3, N]):
    # Three steps in a turn: which of the arrays is read and which is written is plain then.
    for _ in range(10):
        for i in range(1, N - 1):
            u[2, i] = 2.0 * u[1, i] - u[0, i] + 0.1 * (u[1, i - 1] - 2.0 * u[1, i] + u[1, i + 1])
        for i in range(1, N - 1):
            u[0, i] = 2.0 * u[2, i] - u[1, i] + 0.1 * (u[2, i - 1] - 2.0 * u[2, i] + u[2, i + 1])
        for i in range(1, N - 1):
            u[1, i] = 2.0 * u[0, i] - u[2, i] + 0.1 * (u[0, i - 1] - 2.0 * u[0, i] + u[0, i + 1])


@wave_equation_expert.schedule
def expert(s):
    for stmt in ("S0", "S1", "S2"):
        s.split(f"{stmt}.i", 73)
        s.pipeline(f"{stmt}.i_0", ii=12)
    s.partition("u", 0, "complete")
    s.partition("u", 1, "cyclic", 73)


@weft.kernel
def advection_upwind(speed: f32[N], q: f32[N]):
    for _ in range(T):
        last: f32 = q[0]
        for i in range(1, N):
            here: f32 = q[i]
            q[i] = here - speed[i] * (here - last)
            last = here


@advection_upwind.schedule
def expert(s):
    s.split("i", 93)
    s.pipeline("i_0", ii=4)
    s.partition("q", 0, "cyclic", 93)
    s.partition("speed", 0, "cyclic", 93)


@weft.kernel
def clamped_border(x: i16[M, M], y: i16[M, M]):
    for i in range(M):
        for j in range(M):
            up: i16 = x[i, j]
            left: i16 = x[i, j]
            if i > 0:
                up = x[i - 1, j]
            if j > 0:
                left = x[i, j - 1]
            y[i, j] = (2 * x[i, j] + up + left) >> 2


@clamped_border.schedule
def expert(s):
    s.pipeline("i")
    s.bind_storage("x", "ram_2p")
    s.partition("x", 1, "complete")
    s.partition("y", 1, "complete")


@weft.kernel
def gradient_magnitude(x: f32[M, M], g: f32[M, M], n: f32[1]):
    total: f32 = 0.0
    for i, j in weft.grid(range(1, M - 1), range(1, M - 1)):
        dx = x[i, j + 1] - x[i, j - 1]
        dy = x[i + 1, j] - x[i - 1, j]
        g[i, j] = weft.sqrt(dx * dx + dy * dy)
        total += g[i, j]
    n[0] = total


@weft.kernel
def gradient_magnitude_expert(x: f32[M, M], g: f32[M, M], n: f32[1]):
    # The sum of a row by itself: only one addition a row waits for the row before.
    total: f32 = 0.0
    for i in range(1, M - 1):
        row: f32 = 0.0
        for j in range(1, M - 1):
            dx = x[i, j + 1] - x[i, j - 1]
            dy = x[i + 1, j] - x[i - 1, j]
            g[i, j] = weft.sqrt(dx * dx + dy * dy)
            row += g[i, j]
        total += row
    n[0] = total


@gradient_magnitude_expert.schedule
def expert(s):
    s.partial_sums("S5", "j", 8)
    s.pipeline("i", ii=6)
    s.partition("row_part", 0, "complete")
    s.partition("x", 1, "complete")
    s.partition("g", 1, "complete")
