"""Families of designs of several nests, in which parts meet in every way that is composed."""

from __future__ import annotations

from pathlib import Path

import weft
from dsl.kernels.loader import load
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.batch.family import Family, family
from weft import f32

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "polybench"
N, M = 16, 8


@weft.kernel
def mixed(x: f32[N], y: f32[N], A: f32[N, M], out: f32[N]):
    alpha: f32
    s: f32
    t: f32
    z: f32[N]
    alpha = 1.5
    for i in range(N):
        y[i] = alpha * x[i]
    s = 0.0
    for i in range(N):
        s += x[i] * y[i]
    t = s * x[0]
    for i in range(N):
        for j in range(M):
            A[i, j] = A[i, j] * t + alpha
    for i in range(N):
        z[i] = x[i] / (y[i] + alpha)
    for i in range(N):
        for j in range(M):
            out[i] += A[i, j] * (z[i] * x[0])
    out[0] = s


def constants_and_scalars() -> Family:
    """Statements between nests, a constant, scalars; sequential loops between pipelines."""
    s = ScheduleBuilder()
    s.pipeline("S1.i")
    s.unroll("S1.i", 2)
    s.unroll("S3.i", 2)
    s.pipeline("S5.j")
    s.unroll("S5.j", 2)
    s.unroll("S6.i", 4)
    s.unroll("S7.j", 2)
    s.partition("x", 0, "cyclic", 2)
    s.partition("A", 1, "cyclic", 4)
    s.partition("z", 0, "cyclic", 2)
    return family(mixed.program, s.build())


def sequential_nests() -> Family:
    """gemver with nothing pipelined: bodies of one module share registers, operands and ports."""
    kernel = load(f"{EXAMPLES / 'gemver.py'}:gemver").at(N=16)
    s = ScheduleBuilder()
    s.unroll("S0.j", 4)
    s.unroll("S1.j", 4)
    s.unroll("S2.i", 2)
    s.unroll("S3.j", 4)
    s.partition("A", 0, "cyclic", 2)
    s.partition("A", 1, "cyclic", 4)
    s.partition("x", 0, "cyclic", 4)
    s.partition("y", 0, "block", 4)
    return family(kernel.program, s.build())


def copies_of_pipelines() -> Family:
    """2mm with pipelines in unrolled loops, beside sequential ones: many modules share units."""
    kernel = load(f"{EXAMPLES / 'k2mm.py'}:k2mm").at(NI=8, NJ=8, NK=16, NL=8)
    s = ScheduleBuilder()
    s.distribute(["S1"])
    s.distribute(["S3"])
    s.unroll("S0.j", 2)
    s.unroll("S1.j", 2)
    s.pipeline("S1.k")
    s.unroll("S1.k", 2)
    s.pipeline("S2.j", 2)
    s.unroll("S2.j", 2)
    s.unroll("S3.j", 4)
    s.pipeline("S3.k")
    s.partition("A", 1, "cyclic", 2)
    s.partition("B", 0, "cyclic", 2)
    s.partition("tmp", 1, "cyclic", 2)
    s.partition("D", 1, "cyclic", 2)
    s.bind_storage("tmp", "ram_t2p")
    return family(kernel.program, s.build())
