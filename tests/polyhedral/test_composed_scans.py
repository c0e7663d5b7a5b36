"""Recurrences of composed functions in blocks: resets, limits, products, bits, several updates, values in between."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from backends.equivalence import equivalence
from backends.tolerance import tolerances
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.legality.stored_ranges import StoredRanges
from polyhedral.schedule import apply
from tests.support.bits import same
from tests.support.levels import Case, check_levels
from weft import f32, i8, i16, i32, u8, u16, u32


@weft.kernel
def window(x: f32[19], y: f32[19]):
    sum: f32 = 0.0
    for i in range(19):
        sum += x[i]
        if i >= 3:
            sum -= x[i - 3]
        y[i] = sum


@weft.kernel
def runs(x: u8[17], run: u16[17], held: u8[17], back: i16[17]):
    length: u16 = 0
    last: u8 = 9
    for i in range(17):
        if i > 0:
            length = length + 1 if x[i] == x[i - 1] else 0
        run[i] = length
        if x[i] > 100:
            last = x[i]
        held[i] = last
    for i in range(16, 0, -1):
        back[i - 1] = 0 if x[i] < 50 else (back[i] - x[i] if x[i] > 200 else back[i])


@weft.kernel
def limits(x: i8[20], y: i16[20], best: i32[1], z: i16[20], u: i16[20]):
    here: i32 = 0
    level: i16 = 100
    for i in range(20):
        here = max(here + x[i], x[i])
        best[0] = max(best[0], here)
        level = min(max(level + x[i], -60), 90)
        y[i] = level
    queue: i16 = 3
    for i in range(20):
        gone = queue - 2
        queue = max(gone, 0)
        if x[i] > 0:
            queue += x[i]
        z[i] = queue
        u[i] = min(x[i], u[i])


@weft.kernel
def hashes(x: u8[21], h: u32[21], g: u16[21], t: u16[21], m: u8[1]):
    state: u32 = 7
    for i in range(21):
        state = state * 31 + x[i]
        h[i] = state
    other: u16 = 1
    for i in range(21):
        other = x[i] - other * (x[i] + 1)
        g[i] = other
        m[0] = (m[0] & x[i]) | (x[i] >> 4)
        m[0] ^= 3
        t[i] = m[0]


@weft.kernel
def integrators(d: i16[24], y: i32[24]):
    slope: i32 = 0
    value: i32 = 0
    for n in range(24):
        twice = d[n] * 2
        slope += twice
        value += slope
        y[n] = value


@weft.kernel
def closed(x: i32[16], y: i16[16], z: i16[16], out: i16[16], f: f32[16]):
    s: i32 = 0
    small: i16 = 0
    for i in range(16):
        s = max(s + x[i], 0)
        small = min(small + z[i], 0)
        y[i] = small
    t: i16 = 0
    for i in range(16):
        t = max(t * 3, z[i])
        out[i] = t
    for i in range(16):
        out[i] = z[i] if out[i] > 3 else 0
    v: f32 = 0.0
    for i in range(16):
        v = v * f[i] + f[i]
        f[i] = v


@weft.kernel
def saturating(x: i8[21], y: i8[21], top: u8[21], z: u8[21]):
    level: i8 = 3
    for i in range(21):
        total = level + x[i]
        level = min(max(total, -128), 127)
        y[i] = level
    bright: u8 = 7
    for i in range(21):
        bright = max(min(bright + x[i], top[i]), 0)
        z[i] = bright


@weft.kernel
def written_out(x: i8[21], y: i16[21], z: i8[21]):
    """Limits as `if` writes them, of an element and of what is assigned to it behind them."""
    level: i16 = 3
    for i in range(21):
        level += x[i]
        if level > 90:
            level = 90
        elif level < -60:
            level = -60
        y[i] = level
    other: i8 = 7
    for i in range(21):
        total: i16 = other + x[i]
        if total > 127:
            total = 127
        if total < -128:
            total = -128
        other = total
        z[i] = other


@weft.kernel
def two_ways(x: f32[19], y: f32[19], a: i16[18], b: i32[18], c: u8[18], d: u8[18]):
    """What is added is set by branches of conditions on the loop variable."""
    window: f32 = 0.0
    for i in range(19):
        window += x[i] - (x[i - 4] if i >= 4 else 0.0)
        y[i] = window
    total: i32 = 5
    for i in range(18):
        total = total + a[i] if i % 3 == 0 else total - (a[i - 1] if i < 12 else a[i])
        b[i] = total
    least: u8 = 200
    for i in range(18):
        term: u8 = c[i]
        if i > 9:
            term = c[i] + c[i - 9]
        other: u8 = 3 if i < 6 else c[i - 6]
        least = max(min(least, term), other)
        d[i] = least


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


SCHEDULES = [
    (window, steps().scan("S1", "i", 4)),
    (runs, steps().scan("S2", "S2.i", 5).scan("S4", "S4.i_1", 5).scan("S6", "S6.i", 4)),
    (
        limits,
        steps().scan("S2", "S2.i", 8).scan("S3", "S3.i_1", 8).scan("S4", "S4.i_1_1", 8)
        .scan("S8", "S8.i", 5),
    ),
    (hashes, steps().scan("S1", "S1.i", 4).scan("S4", "S4.i", 6).scan("S6", "S6.i_1_2", 3)),
    (saturating, steps().scan("S2", "S2.i", 8, tail="guard").scan("S5", "S5.i", 6)),
    (written_out, steps().scan("S1", "S1.i", 8).scan("S8", "S8.i", 5)),
    (two_ways, steps().scan("S3", "S3.i", 4).scan("S6", "S6.i", 4).scan("S15", "S15.i", 6)),
    (integrators, steps().scan("S3", "n", 8).scan("S4", "S4.n_1", 8)),
]  # fmt: skip


def inputs_of(program: Program, seed: int) -> dict[str, np.ndarray]:
    """Small random values, and those at the ends of the types."""
    found = random_inputs(program, seed)
    for name, values in found.items():
        if seed > 1 and values.dtype.kind in "iu":
            ends = np.iinfo(values.dtype)
            dtype = program.array(name).dtype
            if getattr(dtype, "width", 0) == ends.bits:
                random = np.random.default_rng(seed)
                found[name] = random.choice([ends.min, ends.max, 0, 1], values.shape).astype(
                    values.dtype
                )
    return found


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES, ids=lambda x: getattr(x, "name", ""))
def test_values_stay(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    after = apply(kernel.program, schedule.build()).scop.program
    for seed in range(4):
        inputs = inputs_of(kernel.program, seed)
        want, got = interp.run(kernel.program, inputs), interp.run(after, inputs)
        if tolerances(kernel.program, schedule.build()):
            assert all(np.allclose(want[name], got[name], 1e-5, 1e-5) for name in want)
        else:
            assert all(same(want[name], got[name]) for name in want)
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    assert check_levels(cases, cxx=False) + check_levels(cases[2:3], jit=False) == []


def test_components_are_as_wide_as_what_they_hold() -> None:
    program = apply(limits.program, steps().scan("S2", "S2.i", 8).build()).scop.program
    # Eight terms of -128 to 127, and the largest sum of up to eight of them beside 20 * 127 in all.
    assert str(program.array("here_scan").dtype) == "i11"
    assert str(program.array("here_least").dtype) == "i13"
    # A step adds in nine bits, a block of eight in eleven.
    program = apply(saturating.program, steps().scan("S2", "S2.i", 8).build()).scop.program
    assert str(program.array("level_scan").dtype) == "i11"


@pytest.mark.parametrize(
    ("stmt", "loop", "said"),
    [
        ("S2", "S2.i", "it may be 0 to 4294967294 in iteration 2, which i32 cuts"),
        ("S3", "S3.i", "it may be -65536 to 0 in iteration 2, which i16 cuts"),
        ("S6", "S6.i", "no composition of * and max is one of them again"),
        ("S8", "S8.i", "S8 assigns what does not depend on out[i - 1]"),
        ("S10", "S10.i", "sums and products of a f32 cannot be composed"),
    ],
)
def test_what_is_not_composed_is_refused(stmt: str, loop: str, said: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(closed.program, steps().scan(stmt, loop, 4).build())
    assert caught.value.code == "W234"
    assert f"{stmt} cannot run in blocks: {said}" in caught.value.render()


@weft.kernel
def overflowing(x: i8[8], y: i8[8]):
    s: i8 = 0
    for i in range(8):
        s = max(s + x[i], -3)
        y[i] = s


def test_a_limit_whose_sum_wraps_is_not_what_is_composed() -> None:
    """What is refused would be wrong: composed, 100 + 100 is more than -3."""
    inputs = {"x": np.full(8, 100, np.int8), "y": np.zeros(8, np.int8)}
    assert interp.run(overflowing.program, inputs)["y"][1] == -56
    with pytest.raises(ScheduleError, match="which i8 cuts"):
        apply(overflowing.program, steps().scan("S1", "i", 4).build())


@weft.kernel
def stored(x: u8[12], at: u8[12], y: i32[12]):
    low: i32 = 300
    t: i16[256]
    far: i32 = 0
    near: i32 = 0
    for i in range(12):
        t[at[i]] = x[i]
        low = min(low, x[i])
        far = max(far, x[i] - low)
        near = max(near, t[at[i]])
        y[i] = far + near


def test_ranges_of_locals_are_what_is_written_to_them() -> None:
    ranges = StoredRanges(stored.program).known
    assert ranges["low"] == (0, 300)
    assert ranges["far"] == (0, 255)
    # What is assigned to the table is a whole array to dependences: of what it holds no more is known than the type.
    assert ranges["t"] == (-(2**15), 2**15 - 1)
    assert ranges["near"] == (0, 2**15 - 1)
    counted = StoredRanges(integrators.program).known
    # 23 steps of an i18 in front of the update, and one of what the doubled sample may be
    assert counted["slope"] == (-(23 * 2**17) - 2**16, 23 * (2**17 - 1) + 2**16 - 2)
    assert counted["value"] == (-(2**31), 2**31 - 1)


@weft.kernel
def balance(paid: f32[16], spent: f32[16], left: f32[16]):
    money: f32 = 0.0
    for i in range(16):
        money += paid[i]
        money -= spent[i]
        left[i] = money


def test_floats_that_nothing_reads_in_between_are_added_up_first() -> None:
    program = apply(balance.program, steps().scan("S1", "i", 4).build()).scop.program
    assert program.array("money_scan").shape == (4,)  # and not two for each iteration
    inputs = random_inputs(balance.program, 0)
    want, got = interp.run(balance.program, inputs), interp.run(program, inputs)
    assert np.allclose(want["left"], got["left"], 1e-5, 1e-5)
