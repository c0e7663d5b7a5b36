"""Accesses at subscripts that are data in the open backend: exact data in exactly the predicted cycles."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import weft
from backends.rtl.front.lower import graph_of
from backends.rtl.generate import Options, generate
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ToolError
from dsl.kernels.kernel import Kernel
from dsl.schedules.port_steps import Replicate
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Interface, Partition, Pipeline, Step, Unroll
from mlir_passes.pipeline import compile_design
from tests.rtl.front_support import compared, raw_bits
from tests.rtl.support.batch import Case, check
from weft import f32, i32, u4, u8, u16


@weft.kernel
def table(x: u8[24], t: weft.const[u8[256]], y: u8[24]):
    for i in range(24):
        y[i] = t[x[i]]


@weft.kernel
def chain(successor: u8[256], y: u8[20]):
    s: u8 = 7
    for i in range(20):
        s = successor[s]
        y[i] = s


@weft.kernel
def rows(f: f32[6, 10], column: i32[8], y: f32[4, 8]):
    for i, j in weft.grid(4, 8):
        y[i, j] = f[i, column[j] % 10] + f[i + 2, min(max(column[j], 0), 9)]


@weft.kernel
def behind_stores(p: u8[16], y: i32[16]):
    a: i32[16]
    for i in range(16):
        a[i] = i
    for i in range(16):
        a[i] = a[p[i] % 16] + 1
        y[i] = a[p[i] & 7]


@weft.kernel
def subscript_behind_a_store(t: i32[8], x: u8[16], count: u8[8], y: i32[16]):
    for i in range(16):
        count[3] = count[3] * 3 + x[i]
        y[i] = t[count[i // 2] & 7]


@weft.kernel
def histogram(x: u4[24], h: u16[16], low: i32[16]):
    for i in range(24):
        h[x[i]] += 1
        low[x[i]] = min(low[x[i]], h[15] - h[x[i] ^ 3])


@weft.kernel
def inverse(p: u4[16], y: u4[16]):
    for i in range(16):
        y[p[i] ^ 5] = p[i]


@weft.kernel
def swapped(a: i32[16], x: u4[12], y: u4[12]):
    for i in range(12):
        a[x[i]], a[y[i]] = a[y[i]], a[x[i]]


@weft.kernel
def written_then_read(p: u4[12], a: f32[12], y: f32[12, 4]):
    t: f32[16, 4] = 0.0
    for i, j in weft.grid(12, 4):
        t[p[i], j] = a[i] + t[i, p[i] & 3]
    for i, j in weft.grid(12, 4):
        y[i, j] = t[p[i], 3 - j]


SINE = [math.sin(2 * math.pi * k / 256) for k in range(256)]
BOX = np.arange(72, dtype=np.uint8)[::-1].reshape(9, 8) ^ 85


@weft.kernel
def oscillator(step: u8[16], gain: f32[1], y: f32[16]):
    phase: u8 = 3
    for i in range(16):
        y[i] = gain[0] * SINE[phase]
        phase += step[i]


@weft.kernel
def substituted(x: u8[12], y: u8[12], z: i32[12]):
    for i in range(12):
        y[i] = BOX[x[i] & 7, x[i] >> 5]
        z[i] = BOX[i // 2, 3] - 7


CASES: list[tuple[Kernel, Sequence[Step]]] = [
    (table, (Unroll("i", 3), Partition("t", 0, "cyclic", 3), Pipeline("i"))),
    (chain, (Partition("successor", 0, "complete", 0), Pipeline("i"))),
    (rows, (Pipeline("i"),)),
    (behind_stores, (Pipeline("S1.i"),)),
    (subscript_behind_a_store, (Pipeline("i"),)),
    (histogram, (Unroll("i", 3), Partition("h", 0, "cyclic", 3), Pipeline("i"))),
    (histogram, (Unroll("i", 2), Partition("h", 0, "complete", 0), Pipeline("i"))),
    (swapped, (Unroll("i", 2), Partition("a", 0, "block", 4))),
    (inverse, (Pipeline("i"),)),
    (oscillator, (Pipeline("i"),)),
    (substituted, (Unroll("i", 3), Partition("BOX", 1, "cyclic", 4), Pipeline("i"))),
    (
        substituted,
        (Replicate("BOX", "i", 2), Unroll("i", 2), Partition("BOX_copies", 0, "complete")),
    ),
    (substituted, (Partition("BOX", 0, "complete"), Partition("BOX", 1, "complete"))),
    (written_then_read, (Pipeline("S1.j"), Pipeline("S2.j"), Partition("t", 1, "complete", 0))),
]


def _case(kernel: Kernel, steps: Sequence[Step], seed: int) -> Case:
    program, schedule = kernel.program, Schedule(tuple(steps))
    design = compile_design(program, schedule)
    graph = graph_of(design.module, design.scheduled.reassociated)
    sets = []
    for n in range(2):
        inputs = random_inputs(program, seed + n)
        fault, _ = compared(program, graph, inputs, schedule)
        assert fault is None
        arrays = {a.name: raw_bits(a.dtype, inputs[a.name]) for a in program.arguments}
        sets.append((arrays, {}))
    options = Options(period_ns=random.Random(seed).choice((5.0, 10.0)))
    return Case(generate(graph, options), graph, sets)


def test_data_and_cycles_are_exact(tmp_path: Path, runtime: Path) -> None:
    cases = [_case(kernel, steps, n) for n, (kernel, steps) in enumerate(CASES)]
    assert check(cases, tmp_path, runtime) == [[]] * len(cases)


@pytest.mark.parametrize(
    ("kernel", "array", "way"),
    [(table, "t", "reads"), (histogram, "low", "reads"), (inverse, "y", "writes")],
)
def test_memory_outside_is_refused(kernel: Kernel, array: str, way: str) -> None:
    design = compile_design(kernel.program, Schedule((Interface(array, "m_axi", "g"),)))
    with pytest.raises(
        ToolError,
        match=rf"W460.*{way} of '{array}', in memory outside, at subscripts that are data",
    ):
        graph_of(design.module)
