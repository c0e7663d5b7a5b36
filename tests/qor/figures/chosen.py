"""Designs chosen for what the random ones do not reach: each has its reason."""

from __future__ import annotations

import weft
from dsl.kernels.kernel import Kernel
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import BindStorage, Dataflow, Partition, Pipeline, Step, Stream, Unroll
from tests.qor.figures.nests import in_place, triangular
from tests.qor.figures.random_designs import on_local_arrays
from weft import f32, f64


@weft.kernel
def hoisted(a: f64[4096], b: f64[4096], C: f64[4096]):
    for t in range(8):
        for i in range(64):
            for k in range(8):
                for j in range(8):
                    C[64 * i + j] += a[64 * i + k] * b[512 * t + 64 * k + j]


@weft.kernel
def chain(q: f64[40, 40], x: f64[40, 40], y: f64[40, 40]):
    for i in range(40):
        for j in range(1, 40):
            q[i, j] = (x[i, j] * 0.5 + x[i, j - 1] * 0.75 + q[i, j - 1] * 0.25) / (
                q[i, j - 1] + 2.0
            )
        for k in range(40):
            y[i, k] = q[i, k] + 1.0


@weft.kernel
def neighbours(A: f64[4096], B: f64[4096]):
    for i in range(272, 3824):
        B[i] = A[i - 272] + A[i - 16] + A[i - 1] + A[i] + A[i + 1] + A[i + 16] + A[i + 272]


@weft.kernel
def triangle(L: f64[24, 24], x: f64[24], y: f64[24]):
    for i in range(24):
        for j in range(i):
            for k in range(4):
                y[i] += L[i, j] * x[(j + k) // 2]


@weft.kernel
def sums_of_products(A: f64[48, 48], B: f64[48, 48], y: f64[48]):
    for i in range(48):
        for j in range(48):
            y[i] += A[i, j] * A[i, j] + B[j, i] * B[j, i]


@weft.kernel
def handed_on(A: f32[600, 600], B: f32[600, 600]):
    t: f32[600, 600]
    for i in range(600):
        for j in range(600):
            t[i, j] = A[i, j] * 2.0
    for i in range(600):
        for j in range(600):
            B[i, j] = t[i, j] + 1.0


@weft.kernel
def in_part(A: f32[64, 64], B: f32[64, 64]):
    t: f32[64, 64]
    for i in range(64):
        for j in range(64):
            if j >= i:
                t[i, j] = A[i, j] * 2.0
            if j < i:
                t[i, j] = A[i, j]
    for i in range(64):
        for j in range(i, 64):
            B[i, j] = t[i, j] + 1.0
        for j in range(i):
            B[i, j] = t[i, j]


_CHOSEN: dict[str, tuple[Kernel, bool, tuple[Step, ...]]] = {
    # What does not move with a loop that the tool unrolls is read in front of it.
    "hoisted": (hoisted, True, (Unroll("S0.t", 2), Unroll("S0.k", 8))),
    # A row that waits for a chain of divisions, in a block.
    "chain": (chain, False, (Unroll("S0.j"),)),
    "chain-4": (chain, True, (Unroll("S0.j", 4), Unroll("S1.k", 8))),
    # Elements far apart in one dimension, of which several are read at once.
    "neighbours": (neighbours, True, (Unroll("S0.i", 2),)),
    "neighbours-4": (neighbours, True, (Unroll("S0.i", 4), Pipeline("S0.i", 2))),
    "neighbours-16": (neighbours, False, (Unroll("S0.i", 16), Partition("A", 0, "cyclic", 16))),
    # A pipeline, and copies, of a loop of varying trip count.
    "triangle-j": (triangle, False, (Pipeline("j"), Unroll("i", 4))),
    "triangle-k": (triangle, True, (Unroll("S0.k", 4), Unroll("S0.j", 3))),
    # Two products whose loads come at different rates.
    "products": (sums_of_products, False, (Unroll("j", 8), Partition("A", 1, "cyclic", 4))),
    "products-i": (sums_of_products, False, (Unroll("i", 8), Partition("B", 1, "block", 4))),
    "products-all": (sums_of_products, True, (Unroll("S0.j"), Partition("A", 1, "complete"))),
    # Copies of an update in place in blocks, and under guards.
    "in-place": (in_place, False, (Unroll("j", 2), Partition("A", 1, "block", 2))),
    "guards": (triangular, False, (Unroll("i", 2), Unroll("k", 5))),
    "guards-k": (triangular, True, (Pipeline("S0.k"), BindStorage("B", "ram_t2p", "uram"))),
    # More words than are looked at one by one; words in another order than they are read.
    "words": (handed_on, False, (Pipeline("S0.j"), Dataflow(), Stream("t", 8))),
    "words-slow": (handed_on, False, (Pipeline("S1.j"), Dataflow(), Stream("t", 4))),
    "halves": (in_part, False, (Pipeline("S0.j"), Dataflow())),
}


def chosen(name: str) -> tuple[Program, Schedule]:
    """The design of a name."""
    kernel, local, steps = _CHOSEN[name]
    program = kernel.program
    return on_local_arrays(program) if local else program, Schedule(steps)


CHOSEN = tuple(_CHOSEN)
"""The names."""
