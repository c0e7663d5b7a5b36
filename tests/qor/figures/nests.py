"""Nests with many iterations, as people write them, under random factors."""

from __future__ import annotations

import random
from collections.abc import Iterator

import weft
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Step, Unroll
from polyhedral.scop.scheduled import build
from tests.qor.figures.random_designs import accepted, on_local_arrays
from tests.support.random_schedules import nests_of
from weft import f32

FACTORS = (2, 2, 3, 4, 5, 8, 10)


@weft.kernel
def matvec(A: f32[120, 120], x: f32[120], y: f32[120]):
    for i in range(120):
        for j in range(120):
            y[i] += A[i, j] * x[j]


@weft.kernel
def update(A: f32[60, 80], B: f32[80, 70], C: f32[60, 70]):
    for i in range(60):
        for k in range(80):
            for j in range(70):
                C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def window(A: f32[40, 118], B: f32[40, 118]):
    for i in range(40):
        for j in range(1, 117):
            B[i, j] = A[i, j - 1] + A[i, j] + A[i, j + 1]


@weft.kernel
def differences(E: f32[60, 80], H: f32[60, 80]):
    for i in range(60):
        for j in range(1, 80):
            E[i, j] -= (H[i, j] - H[i, j - 1]) * 0.5


@weft.kernel
def in_place(A: f32[40, 40]):
    for t in range(4):
        for i in range(1, 39):
            for j in range(1, 39):
                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0


@weft.kernel
def triangular(A: f32[60, 60], B: f32[60, 80]):
    for i in range(60):
        for j in range(80):
            for k in range(60):
                if k > i:
                    B[i, j] += A[k, i] * B[k, j]
            B[i, j] = B[i, j] * 3.0


@weft.kernel
def blocked(a: f32[2048], b: f32[512], C: f32[512]):
    for t in range(8):
        for i in range(64):
            for k in range(4):
                for j in range(8):
                    C[8 * i + j] += a[32 * i + 8 * k + j] * b[64 * t + 8 * k + j]


@weft.kernel
def counted(x: f32[256], y: f32[8], n: f32[8]):
    for i in range(256):
        y[i % 8] += x[i]
        n[i // 32] = max(n[i // 32], x[255 - i])


@weft.kernel
def mixed(A: f32[24, 36], r: f32[36], q: f32[24, 36]):
    for k in range(36):
        s: f32 = 0.0
        for i in range(24):
            s += A[i, k] * A[i, k]
        r[k] = weft.sqrt(s)
        for i in range(24):
            q[i, k] = A[i, k] / r[k]


KERNELS = (matvec, update, window, differences, in_place, triangular, blocked, counted, mixed)


def nest(seed: int) -> tuple[Program, Schedule]:
    """Each kernel in turn: first as it is, then under random factors; in turn on local arrays."""
    again, which = divmod(seed, len(KERNELS))
    given = KERNELS[which].program
    program = given if again % 2 else on_local_arrays(given)
    steps = _factors(random.Random(f"nest/{seed}"), program) if again else ()
    return program, accepted(program, steps)


def _factors(rng: random.Random, program: Program) -> Iterator[Step]:
    """Copies of loops, a pipeline in some nests, banks of some arrays."""
    for nest in nests_of(build(program)):
        if rng.random() < 0.6:
            yield Unroll(rng.choice(nest.loops[-2:]), rng.choice(FACTORS))
        if rng.random() < 0.4:
            yield Pipeline(nest.loops[-1], rng.choice((1, 1, 2, 4)))
    for array in program.arrays:
        if array.shape and rng.random() < 0.5:
            dim = rng.randrange(len(array.shape))
            yield Partition(array.name, dim, rng.choice(("cyclic", "block")), rng.choice(FACTORS))
