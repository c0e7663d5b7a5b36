"""Triangles in tiles: only blocks that something is in are run, each design is proven and means the same."""

from __future__ import annotations

import random
from functools import cache

import weft
from backends.equivalence import equivalence
from backends.verify import verify_many
from dse.space.space import Choice, Point, Space, space_of
from dse.space.start import Start
from dse.strategies.solve import solve
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Interface, Pack, Tile
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.counts import instance_counts
from polyhedral.schedule import apply
from qor_gnn.tools.personality import personality
from weft import f32, i32

U280 = personality("vitis-2023.2-u280-3.33ns")


@weft.kernel
def lower(A: i32[22, 6], C: i32[22, 22]):
    for i in range(22):
        for k in range(6):
            for j in range(i + 1):
                C[i, j] += A[i, k] * A[j, k]


@weft.kernel
def upper(A: i32[20, 6], C: i32[20, 20]):
    for i in range(20):
        for j in range(i, 20):
            for k in range(6):
                C[i, j] += A[i, k] * A[j, k]


@weft.kernel
def syrk(A: f32[64, 32], C: f32[64, 64]):
    for i in range(64):
        for k in range(32):
            for j in range(i + 1):
                C[i, j] += A[i, k] * A[j, k]


@cache
def tiled(kernel: weft.Kernel, rows: int, lanes: int = 1) -> Space:
    """Tiles of so many rows, copied in words of so many elements while others are worked on; A as a whole."""
    first, whole = Interface("A", "m_axi", "gmem0"), Buffer("A")
    words = tuple(Pack(array, 32 * lanes) for array in ("A", "C") if lanes > 1)
    plain = (first, Interface("C", "m_axi", "gmem1"), *words, whole, Buffer("C"))
    ports = (first, Interface("C", "m_axi", "gmem1", reads="gmem1"), *words)
    tiles = (Tile(("S0.i",), (rows,), tail="guard"), Buffer("C", "S0.i_0", apart=True), whole)
    return space_of(kernel.program, U280, True, start=Start(plain, others=((*ports, *tiles),)))


def of_kind(space: Space, kind: str) -> list[int]:
    """Numbers of the structures whose tiles overlap."""
    return [
        n
        for n, v in enumerate(space.variants)
        if v.overlaps and v.name.startswith(f"as given, iterations overlapped{kind}")
    ]


def test_designs_in_blocks_are_proven_and_mean_the_same():
    rng = random.Random(5)
    designs = []
    for kernel, rows in ((lower, 6), (upper, 5)):
        space = tiled(kernel, rows)
        for number in of_kind(space, ", in blocks")[:1]:
            wanted = len(designs) + 2
            while len(designs) < wanted:
                picked = []
                for nest in space.variants[number].nests:
                    order = rng.randrange(len(nest.orders))
                    loops = nest.orders[order].loops
                    picked.append(Choice(order, tuple(rng.choice(x.factors) for x in loops)))
                schedule = space.schedule(Point(number, tuple(picked)))
                if schedule is None:
                    continue  # too many banks
                designs.append(compile_design(kernel.program, schedule))
                assert equivalence(designs[-1]).verdict == "proven"
    assert len(designs) == 4
    assert all(result.ok for result in verify_many(designs))


def test_blocks_above_the_diagonal_are_left_out():
    space = tiled(syrk, 16, 16)
    (number, *_) = of_kind(space, ", in blocks")
    variant = space.variants[number]
    tree = loop_tree(apply(syrk.program, Schedule(variant.steps)))
    runs = next(n.runs for n in variant.nests if n.leader == "S0")
    assert runs == 4  # tiles
    assert instance_counts(tree)["S0"] == 32 * 64 * 65 // 2
    (nest,) = (n for n in variant.nests if n.leader == "S0")
    for order in nest.orders:
        assert order.loops[0].name == "j_0"  # a pipeline over all blocks of a tile
        assert [x.extent for x in order.loops].count(16) == 2


def test_a_triangle_in_blocks_is_faster_for_the_same_slices():
    space = tiled(syrk, 16, 16)
    cycles = {}
    for kind in (", in rectangles", ", in blocks"):
        (number, *_) = of_kind(space, kind)
        designs = [space.schedule(found.point) for found in solve(space, number, 1600)[:2]]
        found = [
            weft.estimate(syrk, design, device="xcu280", tool="vitis-2023.2")
            for design in designs
            if design is not None
        ]
        cycles[kind] = min(one.latency.average for one in found if one.dsp <= 1600)
    assert cycles[", in blocks"] < 0.95 * cycles[", in rectangles"]
