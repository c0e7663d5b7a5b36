"""Sums of sweeps in place, in a loop for what waits and one for what does not."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from backends.equivalence import equivalence
from dse.space.loops.regrouped import reassociated
from dse.space.sums.cut import cut
from dsl import interp
from dsl.programs.program import Loop
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from polyhedral.scop.scheduled import build
from weft import f32

N = 6


@weft.kernel
def forth(A: f32[N, N], b: f32[N], x: f32[N]):
    for t in range(2):
        for i in range(N):
            s: f32 = b[i]
            for j in range(N):
                if j != i:
                    s -= A[i, j] * x[j]
            x[i] = s / A[i, i]


@weft.kernel
def back(A: f32[N, N], b: f32[N], x: f32[N + 2]):
    for t in range(2):
        for i in range(N - 1, -1, -1):
            s: f32 = b[i]
            for j in range(N):
                s -= A[i, j] * x[j + 1]
            x[i + 1] = 0.5 * s


@weft.kernel
def two_loops(A: f32[N, N], b: f32[N], x: f32[N]):
    for t in range(2):
        for i in range(N):
            s: f32 = b[i]
            for j in range(i):
                s -= A[i, j] * x[j]
            for j in range(i + 1, N):
                s -= A[i, j] * x[j]
            x[i] = 0.5 * s


@weft.kernel
def product(A: f32[N, N], x: f32[N], y: f32[N]):
    for i in range(N):
        s: f32 = 0.0
        for j in range(N):
            s += A[i, j] * x[j]
        y[i] = s


@pytest.mark.parametrize(("kernel", "last"), [(forth, "S1"), (back, "S1_2"), (two_loops, "S1")])
def test_what_waits_is_added_last(kernel: weft.Kernel, last: str) -> None:
    program = kernel.program
    state, free = reassociated(build(program), floats=True)
    after, steps = cut(state, free)
    sums = [s.name for s in after.scop.program.statements() if s.target.array == "s"]
    assert len(sums) == 3
    assert sums[-1] == last
    loops = [n for n, _ in after.scop.program.walk() if isinstance(n, Loop) and n.var == "j"]
    assert len(loops) == 2
    rng = np.random.default_rng(3)
    given = {a.name: rng.uniform(1, 2, a.shape).astype(np.float32) for a in program.arguments}
    before, behind = interp.run(program, given), interp.run(after.scop.program, given)
    np.testing.assert_allclose(before["x"], behind["x"], 1e-4, 1e-5)
    assert equivalence(compile_design(program, Schedule(steps))).verdict == "proven"


def test_other_sums_stay_one() -> None:
    state, free = reassociated(build(product.program), floats=True)
    assert cut(state, free) == (state, free)
