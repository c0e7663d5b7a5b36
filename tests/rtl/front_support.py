"""Graphs held against the interpreter, and their dependences against what happens."""

from __future__ import annotations

import random

import numpy as np

from backends.rtl.front.evaluate import evaluate
from backends.rtl.front.lower import graph_of
from backends.rtl.graph import FLOATS, Dep, Graph, Kind, Op, Straight, walk
from backends.rtl.graph import Pipeline as PipelineRegion
from backends.tolerance import tolerances
from dsl import interp
from dsl.arrays.inputs import storage_dtype
from dsl.errors.errors import ScheduleError
from dsl.expressions.numeric import wrap
from dsl.expressions.types import FloatType
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Unroll
from mlir_passes.pipeline import compile_design
from polyhedral.schedule import apply
from tests.support.random_schedules import Walk, nests_of, random_walk


def raw_bits(dtype, values) -> list[int]:
    array = np.asarray(values)
    if isinstance(dtype, FloatType):
        return [int(v) for v in array.astype(np.float32).view(np.uint32).ravel()]
    mask = (1 << dtype.width) - 1
    return [int(v) & mask for v in array.ravel().tolist()]


def from_bits(dtype, raws, shape):
    if isinstance(dtype, FloatType):
        return np.array(raws, dtype=np.uint32).view(np.float32).reshape(shape)
    signed = getattr(dtype, "signed", True)
    flat = [wrap(r, dtype.width, signed) for r in raws]
    result = np.empty(len(flat), dtype=storage_dtype(dtype))
    result[:] = flat
    return result.reshape(shape)


def run_graph(program, graph: Graph, inputs, *, flush: bool = False, watch=None):
    arrays, scalars = {}, {}
    for a in program.arguments:
        if a.shape:
            arrays[a.name] = raw_bits(a.dtype, inputs[a.name])
        else:
            (scalars[a.name],) = raw_bits(a.dtype, inputs[a.name])
    raws = evaluate(graph, arrays, scalars, flush=flush, watch=watch)
    return {a.name: from_bits(a.dtype, raws[a.name], a.shape) for a in program.arguments if a.shape}


def compared(program, graph: Graph, inputs, schedule) -> tuple[str | None, Watcher]:
    """What differs from the interpreter, bit for bit where that is promised."""
    assert_well_formed(graph)
    expected = interp.run(program, inputs)
    watcher = Watcher()
    actual = run_graph(program, graph, inputs, watch=watcher)
    loose = tolerances(program, schedule)
    for name in actual:
        a, b = np.asarray(expected[name]), actual[name]
        if name in loose:
            same = np.isclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True)
        elif a.dtype.kind == "f":
            same = (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))
        else:
            same = a == b
        if not np.all(same):
            where = np.argwhere(~np.asarray(same))[0]
            found = f"{a[tuple(where)]} expected, {b[tuple(where)]} found"
            return f"{name}{list(where)}: {found}", watcher
    return watcher.fault(), watcher


def mismatch(program, graph: Graph, inputs, schedule) -> str | None:
    return compared(program, graph, inputs, schedule)[0]


class Watcher:
    """Collects the pairs of accesses that touch the same element in one run of a region."""

    def __init__(self) -> None:
        self.run = -1
        self.touched: dict[tuple[str, int, int], list[tuple[int, Op]]] = {}
        self.nearest: dict[tuple[int, int, int], int] = {}
        self.regions: dict[int, PipelineRegion | Straight] = {}

    def __call__(self, region, run, iteration, op, element) -> None:
        if run != self.run:
            self.run, self.touched = run, {}
        self.regions[id(region)] = region
        earlier = self.touched.setdefault(element, [])
        for at, other in earlier:
            if op.id != other.id and Kind.STORE in (op.kind, other.kind):
                key = (id(region), other.id, op.id)
                distance = iteration - at
                self.nearest[key] = min(distance, self.nearest.get(key, distance))
        earlier.append((iteration, op))

    def fault(self) -> str | None:
        """A pair that no dependence covers."""
        for (region, src, dst), distance in self.nearest.items():
            dep = self.deps(region).get((src, dst))
            if dep is None or dep.distance > distance:
                return f"{src} -> {dst} at distance {distance} is not covered: {dep}"
        return None

    def deps(self, region: int) -> dict[tuple[int, int], Dep]:
        return {(d.src, d.dst): d for d in self.regions[region].block.deps}

    def inexact(self) -> list[tuple[Dep, int | None]]:
        """Dependences that ask for more than any pair of this run, and what the pairs need."""
        found = []
        for region in self.regions:
            for (src, dst), dep in self.deps(region).items():
                seen = self.nearest.get((region, src, dst))
                if seen != dep.distance:
                    found.append((dep, seen))
        return found


def hardware_walk(rng: random.Random, program: Program, length: int) -> Walk:
    """A random schedule, then pipelined, unrolled and partitioned at random."""
    walk = random_walk(rng, program, length)
    for _ in range(6):
        nests = [n for n in nests_of(walk.scheduled) if n.loops]
        arrays = [a for a in program.arrays if a.shape]
        kind = rng.choice(("pipeline", "pipeline", "unroll", "partition"))
        if kind == "partition" and arrays:
            array = rng.choice(arrays)
            scheme = rng.choice(("cyclic", "block", "complete"))
            factor = 0 if scheme == "complete" else rng.choice((2, 3, 4))
            step = Partition(array.name, rng.randrange(len(array.shape)), scheme, factor)
        elif nests and kind == "unroll":
            step = Unroll(rng.choice(rng.choice(nests).loops), rng.choice((0, 2, 2, 3)))
        elif nests:
            step = Pipeline(rng.choice(rng.choice(nests).loops[-2:]), rng.choice((1, 1, 1, 2)))
        else:
            continue
        longer = walk.schedule.then(step)
        try:
            scheduled = apply(program, longer)
        except ScheduleError:
            continue
        walk.schedule, walk.scheduled = longer, scheduled
    return walk


def assert_well_formed(graph: Graph) -> None:
    """Operands come first, floats have 32 bits, a dependence is between accesses of one array."""
    for region in walk(graph.body):
        if not isinstance(region, PipelineRegion | Straight):
            continue
        ops = region.block.ops
        for n, op in enumerate(ops):
            assert op.id == n
            assert all(u.op < n for u in op.operands)
            if op.kind in FLOATS or op.kind is Kind.FROM_FLOAT:
                assert all(ops[u.op].width == 32 for u in op.operands), op
            if op.kind is Kind.CONST:
                assert op.value >> op.width == 0
        for dep in region.block.deps:
            assert ops[dep.src].place.array == ops[dep.dst].place.array
            assert dep.distance > 0 or dep.src < dep.dst


def graph_of_kernel(kernel, name: str = "") -> Graph:
    schedule = kernel.schedules[name] if name else Schedule()
    design = compile_design(kernel.program, schedule)
    graph = graph_of(design.module, design.scheduled.reassociated)
    inputs = kernel.make_inputs(3)
    assert mismatch(kernel.program, graph, inputs, schedule) is None
    return graph


def blocks(graph: Graph):
    return [r for r in walk(graph.body) if isinstance(r, Straight | PipelineRegion)]


def ops_of(graph: Graph, kind: Kind) -> list[Op]:
    return [op for r in blocks(graph) for op in r.block.ops if op.kind is kind]


def the_pipeline(graph: Graph) -> PipelineRegion:
    (found,) = [r for r in walk(graph.body) if isinstance(r, PipelineRegion)]
    return found
