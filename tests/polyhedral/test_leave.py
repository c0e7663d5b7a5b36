"""Loops that end early: what is proven, what the C++ says, that it computes the same, what estimates and searches make of it."""

from __future__ import annotations

import pytest

import weft
from backends.devices import device
from dse.evaluators.model import personality_for
from dse.space.space import space_of
from dse.space.start import start_of
from dsl.errors.errors import ScheduleError
from dsl.schedules.pragma_steps import Leave
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import compile_design
from tests.support.levels import Case, check_levels
from weft import f32, i4, i16, i32, u3, u4, u8


@weft.kernel
def rows(ptr: u4[5], col: u3[12], val: f32[12], x: f32[8], y: f32[4]):
    for r in range(4):
        s: f32 = 0.0
        for k in range(ptr[r], min(ptr[r + 1], ptr[r] + 8)):
            s += val[k] * x[col[k]]
        y[r] = s


@weft.kernel
def first_match(t: u3[40], key: u3, at: i16[1]):
    at[0] = -1
    for i in range(40):
        if t[i] == key:
            at[0] = i
            break


@weft.kernel
def length(x: u3[30], n: i32[1]):
    i = 0
    while i < 30 and x[i] != 0:
        i += 1
    n[0] = i


@weft.kernel
def merged(a: u4[9], b: u4[9], s: i32[1]):
    s[0] = 0
    i = 0
    j = 0
    while i < 9 and j < 9:
        if a[i] == b[j]:
            s[0] += a[i]
            i += 1
            j += 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1


@weft.kernel
def largest(n: u4[5], x: i16[5, 16], y: i16[5], h: u8[4]):
    for r in range(5):
        top: i16 = -32768
        for k in range(min(n[r], 15), -1, -1):
            top = max(top, x[r, k])
            h[x[r, k] % 4] += 1
        y[r] = top


@weft.kernel
def found(t: u3[20], p: u3[3], at: i16[1]):
    at[0] = -1
    for i in range(18):
        same: u3 = 1
        for j in range(3):
            if t[i + j] != p[j]:
                same = 0
                break
        if same == 1:
            at[0] = i
            break


@weft.kernel
def until(t: u8[16], key: u8, s: i32[1]):
    total: i32 = 0
    for i in range(16):
        v = t[i]
        if v == key:
            break
        total += v
    s[0] = total


@weft.kernel
def nothing_to_end(x: i32[8], n: i4, y: i32[8]):
    last: i32 = 0
    for k in range(8):
        y[k] = x[k] if k < n else 0
    for j in range(8):
        if j < n:
            y[j] += 1
        last = j
    y[0] = last


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


ENDING = (
    (rows, steps().leave("k_step"), "k_first + k_step < k_end"),
    (rows, steps().split("k_step", 4).unroll("k_step_1").pipeline("k_step_0").leave("k_step_0"),
     "k_first + 4 * k_step_0 < k_end"),
    (rows, steps().split("k_step", 3, tail="guard").leave("k_step_0", 2), "3 * k_step_0"),
    (rows, steps().unroll("k_step", 3).leave("k_step"), "k_step < k_end"),
    (first_match, steps().leave("i"), "done < 1"),
    (first_match, steps().unroll("i", 4).leave("i", 10), "max=40 avg=10"),
    (until, steps().leave("i"), "done < 1"),
    (found, steps().leave("i").leave("j"), "i < 18 && done < 1"),
    (length, steps().pipeline("i_at").leave("i_at"), "done < 1"),
    (merged, steps().leave("step"), "step < 17 && done < 1"),
    (largest, steps().leave("k_step"), "&& "),
)  # fmt: skip


def test_what_ends_early_computes_the_same_and_is_proven() -> None:
    cases = []
    for n, (kernel, builder, text) in enumerate(ENDING):
        design = compile_design(kernel.program, builder.build())
        plain = design.hls_cpp.replace("_2 ", " ").replace("_2)", ")").replace("_2;", ";")
        assert text in plain, plain
        assert "loop_tripcount min=0" in plain
        cases.append(Case(n, kernel.program, builder.build()))
    assert not check_levels(cases)


@pytest.mark.parametrize(
    ("kernel", "builder"),
    [
        (rows, steps().leave("r")),  # each row has an end of its own
        (nothing_to_end, steps().leave("k")),  # what is behind the end is assigned
        (nothing_to_end, steps().leave("j")),  # 'last' is read behind the loop
        (
            until,
            steps().interface("t", "axis").leave("i"),
        ),  # who sends it counts what is read
    ],
)
def test_a_loop_that_nothing_ends_is_refused(kernel, builder) -> None:
    with pytest.raises(ScheduleError) as caught:
        _ = compile_design(kernel.program, builder.build()).tree
    assert caught.value.code == "W256"
    assert "ends it early" in caught.value.render()


def test_estimates_have_the_expected_the_fewest_and_the_most_trips() -> None:
    said = weft.estimate(rows, steps().leave("k_step", 2).pipeline("k_step").build())
    unsaid = weft.estimate(rows, steps().leave("k_step").pipeline("k_step").build())
    whole = weft.estimate(rows, steps().pipeline("k_step").flatten("k_step", False).build())
    assert said.latency.minimum < said.latency.average < unsaid.latency.average
    # 12 elements in 4 rows: 3 trips are expected of a row where nobody says how many.
    assert "3 of 8 trips are expected" in " ".join(unsaid.directives)
    assert unsaid.latency.average < unsaid.latency.maximum == whole.latency.maximum


def test_searches_end_loops_where_it_is_worth_it() -> None:
    tool = personality_for(device("xc7z020"), 10.0)
    found = space_of(first_match.program, tool)
    assert Leave("i", 20) in found.schedule(found.plain()).steps
    begun = start_of(first_match.program, Schedule((Leave("i", 5),)))
    found = space_of(first_match.program, tool, start=begun)
    assert Leave("i", 5) in found.schedule(found.plain()).steps
    few = start_of(first_match.program, Schedule((Leave("i", 35),)))
    found = space_of(first_match.program, tool, start=few)
    assert not any(isinstance(s, Leave) for s in found.schedule(found.plain()).steps)
