"""The dot product in the ways it is written, and sums of two passes."""

import weft
from weft import f32

N = 4096

GROUPS = {
    "dot": ["dot_element", "dot_scalar", "dot_reversed", "dot_blocked", "dot_products_first"],
}


@weft.kernel
def dot_element(x: f32[N], y: f32[N], out: f32[1]):
    out[0] = 0.0
    for i in range(N):
        out[0] += x[i] * y[i]


@dot_element.schedule
def expert(s):
    # 32 units of a product and a sum take 4 turns of 128 accumulators; then two short levels.
    s.partial_sums("S1", "i", 128)
    s.partial_sums("S1_sum", "S1_sum.part", 8)
    s.split("i", 128)
    s.pipeline("i_0", ii=4)
    s.split("S1_sum.part", 8)
    s.pipeline("S1_sum.part_0", ii=3)
    for loop in ("S1_init.part", "S1_sum_init.part", "S1_sum_sum.part"):
        s.unroll(loop)
    s.partition("out_part", 1, "complete")
    s.partition("out_part_2", 1, "complete")
    s.partition("x", 0, "cyclic", 64)
    s.partition("y", 0, "cyclic", 64)


@weft.kernel
def dot_scalar(x: f32[N], y: f32[N], out: f32[1]):
    total: f32 = 0.0
    for i in range(N):
        total += x[i] * y[i]
    out[0] = total


@dot_scalar.schedule
def expert(s):
    s.partial_sums("S1", "i", 128)
    s.partial_sums("S1_sum", "S1_sum.part", 8)
    s.split("i", 128)
    s.pipeline("i_0", ii=4)
    s.split("S1_sum.part", 8)
    s.pipeline("S1_sum.part_0", ii=3)
    for loop in ("S1_init.part", "S1_sum_init.part", "S1_sum_sum.part"):
        s.unroll(loop)
    s.partition("total_part", 0, "complete")
    s.partition("total_part_2", 0, "complete")
    s.partition("x", 0, "cyclic", 64)
    s.partition("y", 0, "cyclic", 64)


@weft.kernel
def dot_reversed(x: f32[N], y: f32[N], out: f32[1]):
    total: f32 = 0.0
    for i in range(N - 1, -1, -1):
        total = x[i] * y[i] + total
    out[0] = total


@dot_reversed.schedule
def expert(s):
    s.partial_sums("S1", "i", 128)
    s.partial_sums("S1_sum", "S1_sum.part", 8)
    s.split("i", 128)
    s.pipeline("i_0", ii=4)
    s.split("S1_sum.part", 8)
    s.pipeline("S1_sum.part_0", ii=3)
    for loop in ("S1_init.part", "S1_sum_init.part", "S1_sum_sum.part"):
        s.unroll(loop)
    s.partition("total_part", 0, "complete")
    s.partition("total_part_2", 0, "complete")
    s.partition("x", 0, "cyclic", 64)
    s.partition("y", 0, "cyclic", 64)


@weft.kernel
def dot_blocked(x: f32[N], y: f32[N], out: f32[1]):
    out[0] = 0.0
    for b in range(N // 64):
        block: f32 = 0.0
        for i in range(64):
            block += x[64 * b + i] * y[64 * b + i]
        out[0] += block


@dot_blocked.schedule
def expert(s):
    # A block in each turn: 64 products, whose sum is 8 chains of 8.
    s.partial_sums("S2", "i", 8)
    s.partial_sums("S3", "b", 4)
    s.pipeline("S2.b", ii=2)
    s.unroll("S3_init.part")
    s.unroll("S3_sum.part")
    s.partition("out_part", 1, "complete")
    s.partition("x", 0, "cyclic", 32)
    s.partition("y", 0, "cyclic", 32)


@weft.kernel
def dot_products_first(x: f32[N], y: f32[N], out: f32[1]):
    product: f32[N]
    for i in range(N):
        product[i] = x[i] * y[i]
    total: f32 = 0.0
    for i in range(N):
        total += product[i]
    out[0] = total


@weft.kernel
def dot_products_first_expert(x: f32[N], y: f32[N], out: f32[1]):
    # Each product is added as soon as it is there: the array of them is not needed.
    total: f32 = 0.0
    for i in range(N):
        total += x[i] * y[i]
    out[0] = total


@dot_products_first_expert.schedule
def expert(s):
    s.partial_sums("S1", "i", 128)
    s.partial_sums("S1_sum", "S1_sum.part", 8)
    s.split("i", 128)
    s.pipeline("i_0", ii=4)
    s.split("S1_sum.part", 8)
    s.pipeline("S1_sum.part_0", ii=3)
    for loop in ("S1_init.part", "S1_sum_init.part", "S1_sum_sum.part"):
        s.unroll(loop)
    s.partition("total_part", 0, "complete")
    s.partition("total_part_2", 0, "complete")
    s.partition("x", 0, "cyclic", 64)
    s.partition("y", 0, "cyclic", 64)


@weft.kernel
def euclidean_norm(x: f32[N], y: f32[N]):
    total: f32 = 0.0
    for i in range(N):
        total += x[i] * x[i]
    scale = 1.0 / weft.sqrt(total + 0.000001)
    for i in range(N):
        y[i] = x[i] * scale


@euclidean_norm.schedule
def expert(s):
    s.partial_sums("S1", "S1.i", 128)
    s.partial_sums("S1_sum", "S1_sum.part", 8)
    s.split("S1.i", 128)
    s.pipeline("S1.i_0", ii=4)
    s.split("S1_sum.part", 8)
    s.pipeline("S1_sum.part_0", ii=3)
    for loop in ("S1_init.part", "S1_sum_init.part", "S1_sum_sum.part"):
        s.unroll(loop)
    s.split("S3.i", 128)
    s.pipeline("S3.i_0", ii=4)
    s.partition("total_part", 0, "complete")
    s.partition("total_part_2", 0, "complete")
    s.partition("x", 0, "cyclic", 64)
    s.partition("y", 0, "cyclic", 64)
