"""Dataflow regions: true first words, the slowest process, full FIFOs, what channels cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import weft
from dsl.kernels.loader import load
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Stream
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply_step
from polyhedral.scop.scheduled import original
from polyhedral.scop.scop import build_scop
from qor_gnn.dataflow.events import Fifo, Process, run_events
from qor_gnn.dataflow.region import RegionTime
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Channel
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import QorEstimate
from weft import f32

U280 = "vitis-2023.2-u280-3.33ns"
N = 64


@weft.kernel
def early(A: f32[N], B: f32[N]):
    """Each element is there as soon as it is computed."""
    t: f32[N]
    for i in range(N):
        t[i] = A[i] * 2.0
    for i in range(N):
        B[i] = t[i] + 1.0


@weft.kernel
def late(A: f32[N], B: f32[N]):
    """The first element is there only after a reduction over all."""
    t: f32[N]
    for i in range(N):
        s: f32 = 0.0
        for k in range(N):
            s += A[k]
        t[i] = s
    for i in range(N):
        B[i] = t[i] + 1.0


@weft.kernel
def slow_reader(A: f32[N], B: f32[N, N]):
    t: f32[N]
    for i in range(N):
        t[i] = A[i] * 2.0
    for i in range(N):
        v: f32 = t[i]
        for j in range(N):
            B[i, j] = v


def told(program: Program, builder: ScheduleBuilder) -> QorEstimate:
    design = compile_design(program, builder.build())
    tree, module = kernel_of_tree(design.tree), kernel_of_module(design.module)
    assert tree == module
    return estimate(tree, U280)


def with_depth(schedule: Schedule, depth: int) -> Schedule:
    *steps, stream = schedule.steps
    assert isinstance(stream, Stream)
    return Schedule((*steps, replace(stream, depth=depth)))


def region(answer: QorEstimate) -> RegionTime:
    assert answer.region is not None
    return answer.region


def plain() -> ScheduleBuilder:
    return ScheduleBuilder()


def test_a_memory_of_two_halves_waits_for_its_producer() -> None:
    found = region(told(early.program, plain().dataflow()))
    first, second = found.processes
    assert first.waited == 0
    assert second.start == first.end + 1
    assert second.waits_for == "t"
    assert found.latency == second.end + 1 == first.latency + second.latency + 2
    assert found.interval == max(first.latency, second.latency) + 1


def test_a_stream_overlaps() -> None:
    serial = told(early.program, plain())
    memory = told(early.program, plain().dataflow())
    stream = told(early.program, plain().dataflow().stream("t"))
    assert stream.latency.average < 0.7 * memory.latency.average
    assert memory.latency.average == pytest.approx(serial.latency.average, abs=4)
    first, second = region(stream).processes
    # Both run at one element a cycle: the second ends a pipeline's depth after the first.
    assert second.end - first.end < 20
    assert region(stream).channels[0].first < 12


def test_the_first_word_is_the_true_one() -> None:
    """After a reduction a word leaves in the last iteration of it, not in the first."""
    found = told(late.program, plain().pipeline("k").dataflow().stream("t"))
    word = region(found).channels[0].first
    inner = next(x for x in found.loops if "k" in x.loops)
    assert N * inner.ii <= word < N * inner.ii + 20
    first, second = region(found).processes
    assert first.end - 10 < second.end < first.end + 20


def test_a_full_fifo_makes_the_writer_wait() -> None:
    small = region(told(slow_reader.program, plain().dataflow().stream("t", depth=2)))
    large = region(told(slow_reader.program, plain().dataflow().stream("t", depth=N)))
    assert small.latency == pytest.approx(large.latency, abs=2)  # the reader is the slower one
    assert large.processes[0].waited == 0
    assert small.processes[0].waits_for == "t"
    # The writer ends two words before the reader takes its last.
    assert 2 * N < small.processes[1].end - small.processes[0].end < 4 * N
    assert small.interval == pytest.approx(large.interval, abs=2 * N)


def test_depth_matters_where_words_come_in_rows() -> None:
    kernel = load("examples/dataflow/two_products.py:two_products")
    latencies = []
    for depth in (16, 190, 400):
        schedule = with_depth(kernel.schedules["streamed"], depth)
        tree = compile_design(kernel.program, schedule).tree
        latencies.append(estimate(kernel_of_tree(tree), U280).latency.average)
    assert latencies[0] > 1.5 * latencies[1] > 1.5 * latencies[2] * 0.9
    assert latencies[2] < 7_700_000  # the slower of the two, and a row


def test_units_are_not_shared_and_channels_cost() -> None:
    serial, memory = told(early.program, plain()), told(early.program, plain().dataflow())
    assert serial.dsp <= memory.dsp
    assert dict(memory.units) == {"fadd": 1, "fmul": 1}
    deep = told(early.program, plain().dataflow().stream("t", depth=N))
    assert deep.lut is not None
    assert memory.lut is not None
    assert deep.lut != memory.lut
    kernel = load("examples/dataflow/two_products.py:two_products")
    tree = compile_design(kernel.program, kernel.schedules["memories"]).tree
    halves = estimate(kernel_of_tree(tree), U280)
    tree = compile_design(kernel.program, with_depth(kernel.schedules["streamed"], 16)).tree
    stream = estimate(kernel_of_tree(tree), U280)
    assert halves.bram18 is not None
    assert stream.bram18 is not None
    assert halves.bram18 - stream.bram18 == round(2 * 180 * 190 * 32 / 16384)


def test_one_process_of_all_is_the_function() -> None:
    serial = told(late.program, plain())
    state = original(build_scop(late.program))
    for step in plain().dataflow([["S0", "S3"]]).build():  # as a schedule it is refused
        state = apply_step(state, step)
    whole = estimate(kernel_of_tree(loop_tree(state)), U280)
    assert region(whole).channels == ()
    assert whole.latency.average == pytest.approx(serial.latency.average, abs=2)
    assert (whole.dsp, whole.units) == (serial.dsp, serial.units)


def brute_force(at: list[list[float]], fifos: list[Fifo], depth: int) -> list[list[float]]:
    """Cycle by cycle: each process makes its next event when its own time and its words allow."""
    times: list[list[float]] = [[] for _ in at]
    for now in range(10_000):
        for n, own in enumerate(at):
            k = len(times[n])
            if k == len(own):
                continue
            delay = times[n][-1] - own[k - 1] if k else 0
            ready = own[k] + delay <= now
            for f in fifos:
                for word in range(len(f.write)):
                    if f.channel.consumer == n and f.read[word] == k:
                        sent = times[f.channel.producer]
                        ready &= len(sent) > f.write[word] and sent[f.write[word]] < now
                    if f.channel.producer == n and f.write[word] == k and word >= depth:
                        taken = times[f.channel.consumer]
                        ready &= (
                            len(taken) > f.read[word - depth] and taken[f.read[word - depth]] < now
                        )
            if ready:
                times[n].append(float(now))
    return times


@pytest.mark.parametrize("seed", range(12))
def test_events_are_those_of_a_simulation(seed: int) -> None:
    """Three processes in a chain with random times, against cycle by cycle."""
    random = np.random.default_rng(seed)
    words, depth = 12, int(random.integers(1, 5))
    middle = np.cumsum(random.integers(1, 6, 2 * words)).astype(float)
    at = [
        np.cumsum(random.integers(1, 9, words)).astype(float),
        middle,
        np.cumsum(random.integers(1, 9, words)).astype(float),
    ]
    order = np.arange(words)
    room = (order[:-depth], order[depth:])
    fifos = [
        Fifo(Channel("a", 0, 1, depth), order, 2 * order, room),
        Fifo(Channel("b", 1, 2, depth), 2 * order + 1, order, room),
    ]
    processes = [Process(float(t[-1]), t, np.zeros(len(t))) for t in at]
    run_events(processes, fifos, [])
    wanted = brute_force([t.tolist() for t in at], fifos, depth)
    assert [(p.at + p.delay).tolist() for p in processes] == wanted
