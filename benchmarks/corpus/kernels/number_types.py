"""Number types: complex, fixed point, saturation, odd widths, half and double precision, colour."""

import weft
from weft import f16, f32, f64, fixed, i5, i8, i16, i24, i32, i48, u4, u8, u11, ufixed

N = 1024

GROUPS = {
    "complex_product": ["complex_interleaved", "complex_planes", "complex_three_products"],
    "dot_types": ["dot_i8", "dot_u11_i5", "dot_i24", "dot_fixed", "dot_f64", "dot_f16"],
}


@weft.kernel
def complex_interleaved(a: f32[N, 2], b: f32[N, 2], c: f32[N, 2]):
    for i in range(N):
        c[i, 0] = a[i, 0] * b[i, 0] - a[i, 1] * b[i, 1]
        c[i, 1] = a[i, 0] * b[i, 1] + a[i, 1] * b[i, 0]


@complex_interleaved.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0", ii=3)
    for array in ("a", "b", "c"):
        s.partition(array, 0, "cyclic", 32)
        s.partition(array, 1, "complete")


@weft.kernel
def complex_planes(ar: f32[N], ai: f32[N], br: f32[N], bi: f32[N], cr: f32[N], ci: f32[N]):
    for i in range(N):
        cr[i] = ar[i] * br[i] - ai[i] * bi[i]
    for i in range(N):
        ci[i] = ar[i] * bi[i] + ai[i] * br[i]


@complex_planes.schedule
def expert(s):
    s.fuse(["S0", "S1"], 1)
    s.split("i", 32)
    s.pipeline("i_0", ii=3)
    for array in ("ar", "ai", "br", "bi", "cr", "ci"):
        s.partition(array, 0, "cyclic", 32)


@weft.kernel
def complex_three_products(a: f32[N, 2], b: f32[N, 2], c: f32[N, 2]):
    for i in range(N):
        shared = b[i, 0] * (a[i, 0] + a[i, 1])
        c[i, 0] = shared - a[i, 1] * (b[i, 0] + b[i, 1])
        c[i, 1] = shared + a[i, 0] * (b[i, 1] - b[i, 0])


@complex_three_products.schedule
def expert(s):
    s.split("i", 64)
    s.pipeline("i_0", ii=7)
    for array in ("a", "b", "c"):
        s.partition(array, 0, "cyclic", 64)
        s.partition(array, 1, "complete")


@weft.kernel
def complex_power(x: f32[N, 2], out: f32[N]):
    for i in range(N):
        out[i] = weft.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1])


@complex_power.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0", ii=2)
    s.partition("x", 0, "cyclic", 32)
    s.partition("x", 1, "complete")
    s.partition("out", 0, "cyclic", 32)


@weft.kernel
def mixer_i16(re: i16[N], im: i16[N], c: i16[N], s: i16[N], out_re: i16[N], out_im: i16[N]):
    for n in range(N):
        a: i32 = re[n] * c[n] - im[n] * s[n]
        b: i32 = re[n] * s[n] + im[n] * c[n]
        out_re[n] = a >> 15
        out_im[n] = b >> 15


@mixer_i16.schedule
def expert(s):
    s.split("n", 32)
    s.pipeline("n_0", ii=3)
    for array in ("re", "im", "c", "s", "out_re", "out_im"):
        s.partition(array, 0, "cyclic", 32)


@weft.kernel
def dot_i8(x: i8[N], y: i8[N], out: i32[1]):
    total: i32 = 0
    for i in range(N):
        total += x[i] * y[i]
    out[0] = total


@dot_i8.schedule
def expert(s):
    s.split("i", 128)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 128)
    s.partition("y", 0, "cyclic", 128)


@weft.kernel
def dot_u11_i5(x: u11[N], y: i5[N], out: i32[1]):
    total: i32 = 0
    for i in range(N):
        total += x[i] * y[i]
    out[0] = total


@dot_u11_i5.schedule
def expert(s):
    s.split("i", 128)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 128)
    s.partition("y", 0, "cyclic", 128)


@weft.kernel
def dot_i24(x: i24[N], y: i24[N], out: i48[1]):
    total: i48 = 0
    for i in range(N):
        total += (x[i] * y[i]) >> 8
    out[0] = total


@dot_i24.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def dot_fixed(x: fixed[16, 2][N], y: fixed[16, 2][N], out: fixed[40, 12][1]):
    total: fixed[40, 12] = 0.0
    for i in range(N):
        total += x[i] * y[i]
    out[0] = total


@dot_fixed.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def dot_f64(x: f64[N], y: f64[N], out: f64[1]):
    total: f64 = 0.0
    for i in range(N):
        total += x[i] * y[i]
    out[0] = total


@dot_f64.schedule
def expert(s):
    s.partial_sums("S1", "i", 32)
    s.partial_sums("S1_sum", "S1_sum.part", 4)
    s.split("i", 32)
    s.pipeline("i_0", ii=4)
    s.split("S1_sum.part", 4)
    s.pipeline("S1_sum.part_0")
    for part in ("init", "sum_init", "sum_sum"):
        s.unroll(f"S1_{part}.part")
    s.partition("total_part", 0, "complete")
    s.partition("total_part_2", 0, "complete")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def dot_f16(x: f16[N], y: f16[N], out: f16[1]):
    total: f16 = 0.0
    for i in range(N):
        total += x[i] * y[i]
    out[0] = total


@dot_f16.schedule
def expert(s):
    s.partial_sums("S1", "i", 64)
    s.partial_sums("S1_sum", "S1_sum.part", 8)
    s.split("i", 64)
    s.pipeline("i_0", ii=3)
    s.split("S1_sum.part", 8)
    s.pipeline("S1_sum.part_0")
    for part in ("init", "sum_init", "sum_sum"):
        s.unroll(f"S1_{part}.part")
    s.partition("total_part", 0, "complete")
    s.partition("total_part_2", 0, "complete")
    s.partition("x", 0, "cyclic", 64)
    s.partition("y", 0, "cyclic", 64)


@weft.kernel
def saturating_add(x: i16[N], y: i16[N], z: i16[N]):
    for i in range(N):
        total: i32 = x[i] + y[i]
        z[i] = min(max(total, -32768), 32767)


@saturating_add.schedule
def expert(s):
    s.split("i", 128)
    s.pipeline("i_0")
    for array in ("x", "y", "z"):
        s.partition(array, 0, "cyclic", 128)


@weft.kernel
def saturating_accumulate(x: i16[N], y: i16[N]):
    level: i16 = 0
    for i in range(N):
        total: i32 = level + x[i]
        level = min(max(total, -32768), 32767)
        y[i] = level


@saturating_accumulate.schedule
def expert(s):
    s.split("i", 2)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 2)
    s.partition("y", 0, "cyclic", 2)


@weft.kernel
def rounded_gain(x: fixed[16, 4][N], gain: fixed[12, 2], y: fixed[12, 4, "rnd", "sat"][N]):
    for i in range(N):
        y[i] = x[i] * gain


@rounded_gain.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def fixed_iir(x: fixed[16, 2][N], y: fixed[16, 2][N]):
    s1: fixed[24, 4] = 0.0
    s2: fixed[24, 4] = 0.0
    for n in range(N):
        s0: fixed[24, 4] = x[n] + 1.5 * s1 - 0.6875 * s2
        y[n] = 0.25 * s0 + 0.5 * s1 + 0.25 * s2
        s2 = s1
        s1 = s0


@fixed_iir.schedule
def expert(s):
    s.pipeline("n")


@weft.kernel
def rgb_to_yuv(rgb: u8[N, 3], yuv: u8[N, 3]):
    for i in range(N):
        r: i16 = rgb[i, 0]
        g: i16 = rgb[i, 1]
        b: i16 = rgb[i, 2]
        yuv[i, 0] = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16
        yuv[i, 1] = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128
        yuv[i, 2] = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128


@rgb_to_yuv.schedule
def expert(s):
    s.split("i", 16)
    s.pipeline("i_0")
    s.partition("rgb", 0, "cyclic", 16)
    s.partition("rgb", 1, "complete")
    s.partition("yuv", 0, "cyclic", 16)
    s.partition("yuv", 1, "complete")


@weft.kernel
def alpha_blend(front: u8[N, 4], back: u8[N, 4], out: u8[N, 4]):
    for i in range(N):
        for c in range(4):
            mixed: i32 = front[i, c] * front[i, 3] + back[i, c] * (255 - front[i, 3]) + 127
            out[i, c] = (mixed + (mixed >> 8) + 1) >> 8


@alpha_blend.schedule
def expert(s):
    s.split("i", 16)
    s.pipeline("i_0")
    for array in ("front", "back", "out"):
        s.partition(array, 0, "cyclic", 16)
        s.partition(array, 1, "complete")


@weft.kernel
def requantise(x: i32[N], scale: i32, shift: u4, y: i8[N]):
    for i in range(N):
        scaled: i48 = x[i] * scale
        rounded: i32 = (scaled >> 16) >> shift
        y[i] = min(max(rounded, -128), 127)


@requantise.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def to_decibels(x: f32[256], y: f32[256]):
    for i in range(256):
        y[i] = 8.685889638 * weft.log(abs(x[i]) + 0.000001)


@to_decibels.schedule
def expert(s):
    s.split("i", 8)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 8)
    s.partition("y", 0, "cyclic", 8)


@weft.kernel
def gamma_segments(x: ufixed[10, 0][N], y: ufixed[10, 0, "rnd", "sat"][N]):
    for i in range(N):
        low = x[i] * 3.5
        middle = x[i] * 1.25 + 0.140625
        high = x[i] * 0.625 + 0.375
        y[i] = low if x[i] < 0.0625 else (middle if x[i] < 0.375 else high)


@gamma_segments.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)
