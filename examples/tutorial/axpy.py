"""A first kernel: y := a*x + y."""

import weft
from weft import f32

SIZES = {"mini": {"N": 40}, "medium": {"N": 1024}}
N = SIZES["medium"]["N"]


@weft.kernel(sizes=SIZES)
def axpy(a: f32, x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] += a * x[i]


@axpy.schedule
def pipelined(s):
    s.pipeline("i")


@axpy.schedule
def unrolled(s):
    # 8 elements in each cycle need 8 memories for x and for y.
    s.split("i", 8)
    s.pipeline("i_0")
    s.unroll("i_1")
    s.partition("x", 0, "cyclic", 8)
    s.partition("y", 0, "cyclic", 8)


def reference(a, x, y):
    y += a * x
