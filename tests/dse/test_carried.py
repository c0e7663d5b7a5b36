"""Structures that keep what iterations hand on in shift registers."""

from __future__ import annotations

import pytest

import weft
from backends.verify import verify_many
from dse.space.costs.cost import cost
from dse.space.space import Space, space_of
from dse.strategies.solve import solve
from dsl.kernels.kernel import Kernel
from dsl.schedules.range_steps import Peel
from dsl.schedules.recurrence_steps import Carry
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import PartialSums, Reuse
from mlir_passes.pipeline import compile_design
from qor_gnn.tools.personality import personality
from tests.support.amount import sample
from weft import f32, i16, u8, u16

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def common(a: u8[12], b: u8[12], out: u16[1]):
    L: u16[13, 13] = 0
    for i in range(1, 13):
        for j in range(1, 13):
            L[i, j] = L[i - 1, j - 1] + 1 if a[i - 1] == b[j - 1] else max(L[i - 1, j], L[i, j - 1])
    out[0] = L[12, 12]


@weft.kernel
def states(A: i16[4, 4], u: i16[12], y: i16[12]):
    x: i16[13, 4] = 0
    for t in range(12):
        for r in range(4):
            s: i16 = u[t]
            for c in range(4):
                s += A[r, c] * x[t, c]
            x[t + 1, r] = s
        y[t] = x[t + 1, 0]


@weft.kernel
def filtered(x: f32[64], y: f32[64]):
    for n in range(2, 64):
        y[n] = x[n] + 0.5 * y[n - 1] - 0.25 * y[n - 2]


@weft.kernel
def product(A: f32[8, 8], B: f32[8, 8], C: f32[8, 8]):
    for i, j, k in weft.grid(8, 8, 8):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def diffused(A: f32[64]):
    for t in range(8):
        for i in range(1, 63):
            A[i] = 0.25 * A[i - 1] + 0.5 * A[i] + 0.25 * A[i + 1]


@weft.kernel
def local(a: u8[12], b: u8[12], best: i16[1]):
    H: i16[13, 13] = 0
    top: i16 = 0
    for i in range(1, 13):
        for j in range(1, 13):
            match: i16 = 3 if a[i - 1] == b[j - 1] else -2
            H[i, j] = max(0, max(H[i - 1, j - 1] + match, max(H[i - 1, j] - 2, H[i, j - 1] - 2)))
            top = max(top, H[i, j])
    best[0] = top


@weft.kernel
def turns(u: f32[2, 48]):
    for t in range(8):
        for i in range(1, 47):
            u[(t + 1) % 2, i] = 0.25 * u[t % 2, i - 1] + 0.5 * u[t % 2, i] + 0.25 * u[t % 2, i + 1]


@weft.kernel
def brightest(x: u8[32, 32], top: u8[1]):
    for i, j in weft.grid(32, 32):
        top[0] = max(top[0], x[i, j])


def carried(space: Space) -> list[int]:
    return [n for n, v in enumerate(space.variants) if any(isinstance(s, Carry) for s in v.steps)]


def designs(kernel: Kernel) -> list[Schedule]:
    """The best that is planned of each such structure."""
    space = space_of(kernel.program, TOOL)
    found = [space.schedule(s.point) for n in carried(space) for s in solve(space, n, 64)[:1]]
    return [schedule for schedule in found if schedule is not None]


def cycles(kernel: Kernel, schedule: Schedule | None = None) -> float:
    return weft.estimate(kernel, schedule, tool="vitis-2022.1-zu9eg-10ns").latency.average


def test_a_table_is_worked_on_along_its_diagonals_or_rows() -> None:
    found = designs(common)
    loops = {step.at for design in found for step in design if isinstance(step, Carry)}
    assert loops == {"S1.i", "S1.j"}  # rows, and diagonals
    diagonal = [design for design in found if any(isinstance(s, Reuse) for s in design)]
    assert diagonal
    assert min(cycles(common, design) for design in diagonal) < 48  # 25 diagonals
    assert cycles(common) > 500


@pytest.mark.parametrize(("kernel", "gain"), [(states, 4.0), (filtered, 1.05)])
def test_what_is_handed_on_need_not_pass_a_memory(kernel: Kernel, gain: float) -> None:
    assert cycles(kernel) > gain * min(cycles(kernel, design) for design in designs(kernel))


def test_sweeps_in_place_run_at_the_same_time() -> None:
    found = designs(diffused)
    assert (
        min(cycles(diffused, design) for design in found) < 78 * 12
    )  # wavefronts, of a chain each
    assert cycles(diffused) > 8 * 62 * 12


def test_a_maximum_over_all_entries_is_one_for_each_lane() -> None:
    found = designs(local)
    lanes = [d for d in found if any(isinstance(s, PartialSums) for s in d)]
    others = [d for d in found if d not in lanes]
    assert lanes
    assert min(cycles(local, d) for d in lanes) < 0.9 * min(cycles(local, d) for d in others)


def test_sweeps_whose_rows_take_turns_wait_for_nothing() -> None:
    found = designs(turns)
    assert (
        min(cycles(turns, design) for design in found) < 62 * 4
    )  # wavefronts, at the interval of the units
    assert cycles(turns) > 8 * 46


def test_rows_that_take_turns_are_written_out() -> None:
    space = space_of(turns.program, TOOL)
    rounds = [n for n, v in enumerate(space.variants) if "turns written out" in v.name]
    found = [space.schedule(s.point) for n in rounds[:2] for s in solve(space, n, 64)[:1]]
    written = [design for design in found if design is not None]
    assert min(cycles(turns, design) for design in written) < 8 * 15
    assert all(r.ok for r in verify_many([compile_design(turns.program, d) for d in written]))


def test_the_first_iteration_brings_in_what_registers_begin_with() -> None:
    space = space_of(states.program, TOOL)
    peeled = [
        n for n in carried(space) if any(isinstance(s, Peel) for s in space.variants[n].steps)
    ]
    (point, *_) = solve(space, peeled[0], 64)
    design = space.schedule(point.point)
    assert design is not None
    assert "if (t" not in weft.compile(states, design).hls_cpp  # no iteration chooses


def test_copies_of_all_loops_of_a_maximum_are_one_chain() -> None:
    (nest,) = space_of(brightest.program, TOOL).variants[0].nests
    order = next(o for o in nest.orders if not o.skewed)
    alone, both = (cost(nest, order, vector).interval for vector in ((1, 32), (4, 32)))
    assert both > 2 * alone  # four times the chain


def test_sums_are_left_to_the_tool() -> None:
    assert carried(space_of(product.program, TOOL)) == []


def test_designs_compute_what_their_kernels_do() -> None:
    for kernel in sample((states, common, turns, diffused, local, filtered), 3):
        found = [compile_design(kernel.program, design) for design in designs(kernel)]
        assert all(result.ok for result in verify_many(found))
