"""Depths of streams: what runs to its end is accepted, what does not is refused with the waits."""

from __future__ import annotations

import random
import re

import islpy as isl
import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.dataflow.deadlock import Deadlock
from polyhedral.isl.points import points
from polyhedral.isl.text import set_of
from polyhedral.schedule import apply, apply_step
from polyhedral.scop.scheduled import original
from polyhedral.scop.scop import build_scop
from tests.support.flow_oracle import runs_to_its_end, uses_of
from tests.support.random_networks import random_network
from weft import f32

N = 8


@weft.kernel
def pair(A: f32[N], B: f32[N]):
    """Two streams side by side."""
    t: f32[N]
    u: f32[N]
    for i in range(N):
        t[i] = A[i]
        u[i] = A[i] * 2.0
    for i in range(N):
        B[i] = t[i] + u[i]


@weft.kernel
def diamond(A: f32[N], B: f32[N]):
    t: f32[N]
    u: f32[N]
    v: f32[N]
    w: f32[N]
    for i in range(N):
        t[i] = A[i]
        u[i] = A[i] * 2.0
    for i in range(N):
        v[i] = t[i] + 1.0
    for i in range(N):
        w[i] = u[i] * 3.0
    for i in range(N):
        B[i] = v[i] + w[i]


@weft.kernel
def late(A: f32[N], B: f32[N]):
    """All of t is written before u begins, and both are read together."""
    t: f32[N]
    u: f32[N]
    for i in range(N):
        t[i] = A[i]
    for i in range(N):
        u[i] = A[i] * 2.0
    for i in range(N):
        B[i] = t[i] + u[i]


@weft.kernel
def halves(A: f32[N], B: f32[N]):
    """Two words of t for one of u."""
    t: f32[N]
    u: f32[4]
    for i in range(4):
        t[2 * i] = A[2 * i]
        t[2 * i + 1] = A[2 * i + 1]
        u[i] = A[i]
    for i in range(4):
        x: f32 = u[i]
        B[2 * i] = t[2 * i] + x
        B[2 * i + 1] = t[2 * i + 1] + x


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def refused(program: Program, builder: ScheduleBuilder) -> ScheduleError:
    with pytest.raises(ScheduleError) as caught:
        apply(program, builder.build())
    return caught.value


def test_streams_side_by_side_of_one_word_run() -> None:
    apply(pair.program, steps().dataflow().stream("t", 1).stream("u", 1).build())


def test_a_diamond_of_fifos_of_one_word_runs() -> None:
    builder = steps().dataflow()
    for array in "tuvw":
        builder.stream(array, 1)
    state = apply(diamond.program, builder.build())
    assert len(loop_tree(state).processes) == 4


def test_two_words_for_one_run_in_fifos_of_two_words_and_one() -> None:
    groups = [["S0", "S1", "S2"], ["S3", "S4", "S5"]]
    apply(halves.program, steps().dataflow(groups).stream("t", 2).stream("u", 1).build())
    error = refused(halves.program, steps().dataflow(groups).stream("t", 1).stream("u", 1))
    text = error.render()
    assert "error[W219]: the stream 't' of 1 words stops the processes" in text
    assert "process 0 waits for room for t[1] until process 1 reads" in text
    assert "process 1 waits for u[0] until process 0 writes it" in text
    assert 'help: stream("t", depth=2) is enough' in text


def test_a_fifo_beside_a_memory_needs_room_for_everything() -> None:
    error = refused(pair.program, steps().dataflow().stream("t", 7))
    text = error.render()
    assert "process 0 waits for room for t[7] until process 1 reads" in text
    assert "process 1 begins when process 0 has written all of 'u'" in text
    assert 'help: stream("t", depth=8) is enough' in text
    apply(pair.program, steps().dataflow().stream("t", 8).build())


def test_what_is_written_late_is_waited_for() -> None:
    groups = [["S0", "S1"], ["S2"]]
    error = refused(late.program, steps().dataflow(groups).stream("t", 6).stream("u", 1))
    assert isinstance(error, Deadlock)
    assert error.array == "t"
    assert 'help: stream("t", depth=8) is enough' in error.render()
    apply(late.program, steps().dataflow(groups).stream("t", 8).stream("u", 1).build())
    apart = steps().dataflow().stream("t", 1).stream("u", 1)  # a process each: A is read by two
    assert refused(late.program, apart).code == "W217"


def test_the_refusal_points_at_the_stream_that_is_full() -> None:
    error = refused(pair.program, steps().dataflow().stream("t", 1).pipeline("S2.i"))
    assert error.span is not None
    assert 'stream("t", 1)' in error.span.excerpt()


def test_a_later_step_may_make_room_for_an_order_that_stops() -> None:
    """Only the complete schedule is asked: a stream alone stops where two of them run."""
    state = apply(pair.program, steps().dataflow().build())
    for step in steps().stream("t", 1).stream("u", 1).build():
        state = apply_step(state, step)
    assert {s.array for s in state.streams} == {"t", "u"}


@weft.kernel
def large(A: f32[800, 900], B: f32[800, 900]):
    t: f32[800, 900]
    u: f32[800, 900]
    for i, j in weft.grid(800, 900):
        t[i, j] = A[i, j]
        u[i, j] = A[i, j] * 2.0
    for i, j in weft.grid(800, 900):
        B[i, j] = t[i, j] + u[i, j]


def test_what_is_too_large_to_be_run_is_refused_with_a_depth_that_is_safe() -> None:
    error = refused(large.program, steps().dataflow().stream("t", 1).stream("u", 1))
    text = error.render()
    assert "whether they end is not known: more than" in text
    assert 'help: stream("t", depth=720000) has room for all that is written' in text


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_networks_are_accepted_exactly_where_they_run(first: int) -> None:
    told = {True: 0, False: 0}
    for seed in range(first, first + 60):
        program, schedule = random_network(seed)
        state = original(build_scop(program))
        for step in schedule:
            state = apply_step(state, step)
        assert state.dataflow is not None
        uses = uses_of(state, state.dataflow.processes)
        depths = {s.array: s.depth for s in state.streams}
        runs = runs_to_its_end(state, uses, depths)
        told[runs] += 1
        if runs:
            apply(program, schedule)
            continue
        error = _caught(program, schedule)
        assert isinstance(error, Deadlock), seed
        assert error.help is not None
        larger = re.findall(r'stream\("(\w+)", depth=(\d+)\)', error.help)
        assert runs_to_its_end(state, uses, depths | {a: int(d) for a, d in larger}), seed
    assert min(told.values()) > 5, told


def _caught(program: Program, schedule: Schedule) -> ScheduleError:
    with pytest.raises(ScheduleError) as caught:
        apply(program, schedule)
    return caught.value


@pytest.mark.parametrize("seed", range(30))
def test_points_of_a_set(seed: int) -> None:
    """Every point once, with strides, unions and existential divisions."""
    rng = random.Random(seed)
    parts = []
    for _ in range(rng.randint(1, 3)):
        a, b, m = rng.randint(-2, 2), rng.randint(-3, 3), rng.randint(2, 4)
        parts.append(
            f"0 <= i < {rng.randint(3, 9)} and {a}*i + {b} <= j < {rng.randint(4, 9)} + {a}*i "
            f"and (i + {a}*j) mod {m} = {rng.randrange(m)}"
        )
    found = set_of(f"{{ [i, j] : {' or '.join(f'({part})' for part in parts)} }}")
    if found.is_empty():
        return
    columns = points(found, 10_000)
    assert columns is not None
    got = list(zip(*(column.tolist() for column in columns), strict=True))
    known: list[tuple[int, int]] = []

    def told(point: isl.Point) -> None:
        x, y = (point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(2))
        known.append((x, y))

    found.foreach_point(told)
    assert sorted(got) == sorted(known)
    assert len(set(got)) == len(got)
    assert points(found, 1) is None or len(got) == 1
