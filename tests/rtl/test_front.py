"""The graph of a kernel: regions, pipelines, banks, registers, dependences, refusals."""

import numpy as np
import pytest

import weft
from backends.rtl.front.lower import graph_of, lanes_for
from backends.rtl.graph import (
    DepKind,
    Guarded,
    Kind,
    Loop,
    Memory,
    Pipeline,
    walk,
)
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition
from mlir_passes.pipeline import compile_design
from mlir_passes.provider import passmanager
from tests.examples.discovery import ROOT
from tests.rtl.front_support import graph_of_kernel, mismatch, ops_of, the_pipeline
from weft import f32, fixed, i8, i16, i32


def _gemm_i16():
    from dsl.kernels.loader import load

    return load(f"{ROOT / 'examples' / 'hardware' / 'gemm_i16.py'}:gemm_i16").at("mini")


def test_gemm_with_8_multipliers_is_one_pipeline_of_all_three_loops():
    graph = graph_of_kernel(_gemm_i16(), "mac8")
    (region,) = graph.body
    assert isinstance(region, Pipeline)
    assert [c.trips for c in region.counters] == [16, 16, 2]
    muls = ops_of(graph, Kind.MUL)
    assert [m.width for m in muls] == [32] * 8
    assert all(region.block.ops[u.op].width == 16 for m in muls for u in m.operands)
    assert all(op.place.bank is not None for op in ops_of(graph, Kind.LOAD))
    # The sum of one element is a register; C is only written, in the last iteration of k.
    assert [
        op.place.array for op in ops_of(graph, Kind.LOAD) if op.place.array.startswith("C")
    ] == ["C$r0"]
    (store,) = [op for op in ops_of(graph, Kind.STORE) if op.place.array == "C"]
    assert store.guard
    assert {(d.kind, d.distance) for d in region.block.deps} == {
        (DepKind.ANTI, 0),
        (DepKind.FLOW, 1),
    }


def test_gemm_with_8_multipliers_adds_in_a_tree_with_the_sum_so_far_last():
    graph = graph_of_kernel(_gemm_i16(), "mac8")
    ops = graph.body[0].block.ops
    depth: dict[int, int] = {}
    for op in ops:
        below = max((depth[u.op] for u in op.operands), default=0)
        depth[op.id] = below + (op.kind in (Kind.ADD, Kind.SUB))
    carried = [op.id for op in ops if op.kind is Kind.SELECT]
    (last,) = [op for op in ops if any(u.op in carried for u in op.operands)]
    assert depth[last.id] == 4


def test_gemm_with_64_multipliers_keeps_64_sums_in_registers_around_the_pipeline():
    graph = graph_of_kernel(_gemm_i16(), "mac64")
    region = the_pipeline(graph)
    assert len(ops_of(graph, Kind.MUL)) == 64
    assert len([a for a in graph.arrays if a.memory is Memory.REGISTERS]) == 64
    touched = {op.place.array for op in region.block.ops if op.place is not None}
    assert "C" not in touched
    assert all(d.distance <= 1 for d in region.block.deps)
    stores = [op for op in ops_of(graph, Kind.STORE) if op.place.array == "C"]
    assert sorted(op.place.bank for op in stores) == sorted([*range(8)] * 8)


def test_gemm_with_64_multipliers_and_banks_of_c_is_one_pipeline():
    kernel = _gemm_i16()
    steps = kernel.schedules["mac64"].then(Partition("C", 0, "cyclic", 8))
    design = compile_design(kernel.program, steps)
    graph = graph_of(design.module)
    assert mismatch(kernel.program, graph, kernel.make_inputs(1), steps) is None
    (region,) = graph.body
    assert [c.trips for c in region.counters] == [2, 2, 16]
    assert len([a for a in graph.arrays if a.memory is Memory.REGISTERS]) == 64
    assert len(ops_of(graph, Kind.LOAD)) == 64 + 16
    assert all(d.distance <= 1 for d in region.block.deps)


def test_sums_of_a_nest_live_in_registers_around_it_where_they_share_a_bank():
    @weft.kernel
    def filters(x: i8[3, 14], w: i8[4, 3, 5], y: i32[4, 10]):
        for c in range(10):
            for o in range(4):
                y[o, c] = 0
            for i in range(3):
                for a in range(5):
                    for o in range(4):
                        y[o, c] += w[o, i, a] * x[i, c + a]

    @filters.schedule
    def fast(s):
        s.unroll("S0.o")
        s.unroll("S1.o")
        s.pipeline("a")
        s.partition("w", 0, "complete")

    region = the_pipeline(graph_of_kernel(filters, "fast"))
    assert [c.trips for c in region.counters] == [3, 5]
    assert "y" not in {op.place.array for op in region.block.ops if op.place is not None}


def test_a_store_is_forwarded_and_a_local_of_one_iteration_vanishes():
    @weft.kernel
    def smooth(x: i16[12], y: i16[12]):
        for i in range(12):
            t: i32 = x[i] * 3
            u: i32 = t + x[i]
            y[i] = u

    @smooth.schedule
    def fast(s):
        s.pipeline("i")

    graph = graph_of_kernel(smooth, "fast")
    assert [a.name for a in graph.arrays] == ["x", "y"]
    assert len(ops_of(graph, Kind.LOAD)) == 1
    assert the_pipeline(graph).block.deps == ()


def test_what_stands_around_a_pipelined_loop_runs_in_its_first_and_last_iteration():
    @weft.kernel
    def rows(A: i16[6, 10], s: i32[6]):
        for i in range(6):
            acc: i32 = 0
            for j in range(10):
                acc += A[i, j]
            s[i] = acc // 3

    @rows.schedule
    def fast(s):
        s.pipeline("j")

    graph = graph_of_kernel(rows, "fast")
    region = the_pipeline(graph)
    assert len(region.counters) == 2
    (store,) = [op for op in ops_of(graph, Kind.STORE) if op.place.array == "s"]
    assert store.guard
    assert not ops_of(graph, Kind.FLOORDIV)  # a product with 1/3 and a shift
    assert len(ops_of(graph, Kind.MUL)) == 1


def test_a_nest_is_not_flattened_where_its_rows_depend_on_each_other():
    @weft.kernel
    def solve(L: f32[40, 40], b: f32[40], x: f32[40]):
        for i in range(40):
            x[i] = b[i]
            for j in range(i):
                x[i] -= L[i, j] * x[j]
            x[i] = x[i] / L[i, i]

    @solve.schedule
    def fast(s):
        s.pipeline("j")

    @solve.inputs
    def inputs(kernel, seed):
        rng = np.random.default_rng(seed)
        return {"L": (np.eye(40) * 8 + rng.random((40, 40))).astype(np.float32)}

    graph = graph_of_kernel(solve, "fast")
    assert len(the_pipeline(graph).counters) == 1


def test_flattening_can_be_forbidden():
    @weft.kernel
    def add(A: i16[6, 10], B: i16[6, 10]):
        for i, j in weft.grid(6, 10):
            B[i, j] += A[i, j]

    @add.schedule
    def apart(s):
        s.pipeline("j")
        s.flatten("j", False)

    @add.schedule
    def whole(s):
        s.pipeline("j")

    assert isinstance(graph_of_kernel(add, "apart").body[0], Loop)
    assert isinstance(graph_of_kernel(add, "whole").body[0], Pipeline)


@pytest.mark.parametrize(
    ("scheme", "factor", "banks"), [("cyclic", 4, 4), ("block", 4, 4), ("complete", 0, 16)]
)
def test_unrolled_accesses_have_static_banks_where_the_residues_say_so(scheme, factor, banks):
    @weft.kernel
    def scale(x: i16[16], y: i16[16]):
        for i in range(16):
            y[i] = x[i] + 1

    @scale.schedule
    def wide(s):
        s.split("i", 4)
        if scheme == "block":
            s.interchange("i_0", "i_1")
            s.unroll("i_0")
            s.pipeline("i_1")
        else:
            s.unroll("i_1")
            s.pipeline("i_0")
        s.partition("x", 0, scheme, factor)
        s.partition("y", 0, scheme, factor)

    graph = graph_of_kernel(scale, "wide")
    assert graph.array("x").banks == banks
    static = [op.place.bank is not None for op in ops_of(graph, Kind.LOAD)]
    assert static == [scheme != "complete"] * 4


def test_a_stencil_in_place_has_the_least_distance():
    @weft.kernel
    def smooth(x: i32[32]):
        for i in range(3, 32):
            x[i] = x[i - 3] + x[i]

    @smooth.schedule
    def fast(s):
        s.pipeline("i")

    deps = the_pipeline(graph_of_kernel(smooth, "fast")).block.deps
    assert {d.distance for d in deps if d.kind is DepKind.FLOW} == {3}


def test_a_tail_is_a_guarded_region_where_there_are_loops_and_else_a_guard():
    @weft.kernel
    def rows(x: i32[10, 3], y: i32[10]):
        for i in range(10):
            y[i] = i
        for i in range(10):
            for j in range(3):
                x[i, j] += y[i]

    @rows.schedule
    def fours(s):
        s.unroll("S0.i", 4, tail="guard")
        s.unroll("S1.i", 4, tail="guard")

    graph = graph_of_kernel(rows, "fours")
    guarded = [r for r in walk(graph.body) if isinstance(r, Guarded)]
    assert len(guarded) == 2
    assert all(isinstance(r.body[0], Loop) for r in guarded)
    assert [bool(op.guard) for op in ops_of(graph, Kind.STORE)][:4] == [False, False, True, True]


def _dot():
    @weft.kernel
    def dots(A: f32[6, 70], x: f32[70], y: f32[6]):
        for i in range(6):
            for j in range(9 * i + 2, 70):
                y[i] += A[i, j] * x[j]

    @dots.schedule
    def in_order(s):
        s.pipeline("j")

    @dots.schedule
    def in_any_order(s):
        s.pipeline("j")
        s.reassociate("S0")

    @dots.schedule
    def unrolled(s):
        s.pipeline("j")
        s.unroll("j", 4, tail="guard")
        s.reassociate("S0")

    return dots


def test_sums_of_floats_are_interleaved_only_where_their_order_is_free():
    graph = graph_of_kernel(_dot(), "in_order")
    assert {d.distance for d in the_pipeline(graph).block.deps if d.kind is DepKind.FLOW} == {1}
    graph = graph_of_kernel(_dot(), "in_any_order")
    assert [d.distance for d in the_pipeline(graph).block.deps if d.kind is DepKind.FLOW] == [8]
    (partial,) = [a for a in graph.arrays if not a.argument]
    assert (partial.memory, partial.depth) == (Memory.LUTRAM, 8)
    assert len(ops_of(graph, Kind.FADD)) == 1 + 7


def test_there_are_more_partial_sums_than_cycles_from_one_to_its_next():
    assert [lanes_for(n) for n in (1, 2, 3, 6, 7, 14, 15)] == [4, 4, 8, 8, 16, 16, 32]


def test_sums_of_floats_are_trees_only_where_their_order_is_free():
    def longest(graph):
        depth: dict[int, int] = {}
        for op in the_pipeline(graph).block.ops:
            below = max((depth[u.op] for u in op.operands), default=0)
            depth[op.id] = below + (op.kind is Kind.FADD)
        return max(depth.values())

    assert longest(graph_of_kernel(_dot(), "unrolled")) == 3


def test_a_stencil_loads_one_element_of_each_row_an_iteration():
    @weft.kernel
    def cross(A: i16[20, 40], B: i32[20, 40]):
        for i, j in weft.grid(20, 40):
            if i > 0 and i < 19 and j > 0 and j < 39:
                B[i, j] = A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]

    @cross.schedule
    def fast(s):
        s.pipeline("j")

    region = the_pipeline(graph_of_kernel(cross, "fast"))
    loads = [op for op in region.block.ops if op.kind is Kind.LOAD and op.place.array == "A"]
    assert len(loads) == 3
    assert len(region.counters) == 1


def test_a_short_stencil_that_has_its_ports_needs_no_window():
    @weft.kernel
    def pairs(A: i16[40], B: i32[40]):
        for j in range(39):
            B[j] = A[j] + A[j + 1]

    @pairs.schedule
    def fast(s):
        s.pipeline("j", ii=2)

    region = the_pipeline(graph_of_kernel(pairs, "fast"))
    assert len([op for op in region.block.ops if op.kind is Kind.LOAD]) == 2


def test_a_product_that_is_cut_has_as_many_bits():
    @weft.kernel
    def products(a: i16[4], b: i16[4], c: i8[4]):
        for i in range(4):
            c[i] = a[i] * b[i] + a[i]

    graph = graph_of_kernel(products)
    assert [op.width for op in ops_of(graph, Kind.MUL)] == [8]
    assert [op.width for op in ops_of(graph, Kind.ADD)] == [8]


def test_fixed_point_becomes_integers():
    @weft.kernel
    def rounded(a: fixed[12, 4][16], b: fixed[8, 4, "rnd_conv", "sat"][16]):
        for i in range(16):
            b[i] = a[i] * a[i] - a[i] / 3

    graph = graph_of_kernel(rounded)
    assert {op.kind for op in ops_of(graph, Kind.MUL)}
    assert not ops_of(graph, Kind.FROM_FLOAT)


def test_a_load_that_stands_outside_of_the_loop_that_uses_it_keeps_its_value():
    @weft.kernel
    def rows(y: i16[8], z: i16[8, 4]):
        for i in range(8):
            for j in range(4):
                z[i, j] += y[i]
            y[i] = y[i] * 3

    module = compile_design(rows.program).module
    with module.context:
        hoisting = "builtin.module(func.func(affine-loop-invariant-code-motion))"
        passmanager.PassManager.parse(hoisting).run(module.operation)
    graph = graph_of(module)
    assert mismatch(rows.program, graph, rows.make_inputs(1), Schedule()) is None
    assert [a.name for a in graph.arrays if not a.argument] == ["y$v"]


def test_locals_that_nothing_reads_any_more_are_gone():
    @weft.kernel
    def rows(x: i16[8], y: i16[8, 4]):
        for i in range(8):
            t: i32 = x[i] * 3
            u: i32 = t + 1
            for j in range(4):
                y[i, j] += j
            y[i, 0] = u

    graph = graph_of_kernel(rows)
    assert {a.name for a in graph.arrays if not a.argument} == {"u"}
