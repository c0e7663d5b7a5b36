"""Automatic partitioning: each rule on a small nest, all of them on the U200 data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import mean

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.affine import Affine
from dsl.expressions.types import f64
from dsl.schedules.schedule import ScheduleBuilder
from dsl.schedules.steps import Partition, Pipeline, Step, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.area.local_memories import local_memories
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel, Loop, Trips
from qor_gnn.fit.labelled.u200 import designs, kernels
from qor_gnn.fit.labelled.u200_design import Directives, plain, source_tree, written
from qor_gnn.fit.labelled.u200_program import Converted, convert
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.memory.automatic_pipelines import pipes
from qor_gnn.tools.personality import personality
from tests.support.labelled import is_whole, labelled

DATA = labelled("hlsfactory-u200")
Build = Callable[[ProgramBuilder], None]

TOOL = personality("vitis-2025.1-u200-4ns")


def kernel(build: Build, *steps: Step) -> Kernel:
    p = ProgramBuilder("k")
    build(p)
    return with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)


def banks(build: Build, *steps: Step, kept: frozenset[str] = frozenset()) -> dict[str, list[int]]:
    design, _ = partitioned(kernel(build, *steps), TOOL, kept)
    return {m.name: [s.factor for s in m.splits] for m in design.memories if m.banks > 1}


def copies(build: Build, *steps: Step) -> dict[str, int]:
    return {name: n for name, n in partitioned(kernel(build, *steps), TOOL)[1].items() if n > 1}


def matvec(p: ProgramBuilder) -> None:
    a, x, y = (p.local(n, f64, s) for n, s in (("A", (120, 120)), ("x", (120,)), ("y", (120,))))
    i, j = p.loops(i=120, j=120)
    p.compute("S0", (i, j), y[i], y[i] + a[i, j] * x[j])


def update(p: ProgramBuilder) -> None:
    a, b, c = (p.local(n, f64, s) for n, s in (("A", (60, 80)), ("B", (80, 70)), ("C", (60, 70))))
    i, k, j = p.loops(i=60, k=80, j=70)
    p.compute("S0", (i, k, j), c[i, j], c[i, j] + a[i, k] * b[k, j])


def two_rows(p: ProgramBuilder) -> None:
    e, h = p.local("E", f64, (60, 80)), p.local("H", f64, (60, 80))
    i, j = p.loops(i=range(1, 60), j=80)
    p.compute("S0", (i, j), e[i, j], e[i, j] - (h[i, j] - h[i - 1, j]))


def window(p: ProgramBuilder) -> None:
    a, b = p.local("A", f64, (40, 118)), p.local("B", f64, (40, 118))
    i, j = p.loops(i=40, j=range(1, 117))
    p.compute("S0", (i, j), b[i, j], a[i, j - 1] + a[i, j] + a[i, j + 1])


def strided(p: ProgramBuilder) -> None:
    m, s = p.local("m", f64, (4096,)), p.local("s", f64)
    (k,) = p.loops(k=64)
    p.compute("S0", (k,), s, s + m[64 * k])


def neighbours(p: ProgramBuilder, extent: int = 32768) -> None:
    """A stencil over a cube in one dimension; its result, of 32,768 elements, is too short."""
    a, b = p.local("A", f64, (39304,)), p.local("B", f64, (extent,))
    i, j, k = p.loops(i=range(1, 33), j=range(1, 33), k=32)
    at = 1156 * i + 34 * j + k + 1
    around = a[at + 1156] + a[at - 1156] + a[at + 34] + a[at - 34] + a[at + 1] + a[at - 1]
    p.compute("S0", (i, j, k), b[at], a[at] + around)


def short_rows(p: ProgramBuilder) -> None:
    a, c, s = (p.local(n, f64, x) for n, x in (("A", (20, 30)), ("C", (30, 30)), ("s", (30,))))
    q, t, r = p.loops(q=20, t=30, r=30)
    p.compute("S0", (q, t), s[t], 0.0)
    p.compute("S1", (q, t, r), s[t], s[t] + a[q, r] * c[r, t], after=("S0", t))
    (u,) = p.loops(u=30)
    p.compute("S2", (q, u), a[q, u], s[u], after=("S0", q))


@pytest.mark.parametrize(
    ("factor", "expected"),
    [(2, None), (3, 3), (4, 2), (5, 5), (6, 3), (15, 15), (16, 8), (30, 15), (60, 120), (64, 120)],
)
def test_half_the_factor_is_enough_for_two_ports(factor: int, expected: int | None) -> None:
    found = banks(matvec, Unroll("j", factor))
    assert found == ({} if expected is None else {"A": [1, expected], "x": [expected]})


def test_reads_and_writes_share_the_ports() -> None:
    assert banks(two_rows, Unroll("j", 4)) == {"E": [1, 4], "H": [1, 4]}


def test_what_an_outer_flattened_loop_updates_again_has_one_write_port() -> None:
    assert banks(update, Unroll("j", 4)) == {}
    assert copies(update, Unroll("j", 4)) == {"C": 2}
    unflattened = (Unroll("k", 2), Unroll("j", 4))
    assert banks(update, *unflattened) == {"B": [1, 2], "C": [1, 4]}
    assert copies(update, *unflattened) == {}


def test_windows_have_a_bank_for_each_offset() -> None:
    assert banks(window) == {"A": [1, 3]}
    assert banks(window, Unroll("j", 4)) == {"A": [1, 6], "B": [1, 2]}


def test_strides_have_the_least_modulus_without_conflicts() -> None:
    assert banks(strided, Unroll("k", 4)) == {"m": [5]}
    assert banks(strided, Unroll("k", 8)) == {"m": [9]}


@pytest.mark.parametrize(
    ("unroll", "factor", "kept"),
    # What keeps u·5 + 2 elements apart is 9, 20, 39, 53, 134 banks; u stores of two a state take
    # u / 2 states: 9, 20, 20, 14, 17. Half of the even ones; there a bank has 2, 4 and 8 accesses.
    [(1, 9, 1), (2, 10, 1), (4, 10, 3), (8, 7, 7), (16, 17, 1)],
)
def test_a_pipeline_that_waits_for_another_array_has_fewer_banks_and_copies_of_them(
    unroll: int, factor: int, kept: int
) -> None:
    steps = (Unroll("k", unroll),)
    assert banks(neighbours, *steps) == {"A": [factor]}
    assert copies(neighbours, *steps) == ({"A": kept} if kept > 1 else {})


def test_each_copy_of_a_bank_is_a_memory() -> None:
    found = local_memories(kernel(neighbours, Unroll("k", 4)), TOOL, frozenset()).cost()
    assert (found.bram18, found.uram) == (32, 30)  # B is deeper than a URAM; 10 banks, three times


@pytest.mark.parametrize(("outer", "split"), [(4, False), (8, True), (16, True), (32, False)])
def test_a_copy_that_stays_inside_has_an_array_split_that_others_index_beyond_its_end(
    outer: int, split: bool
) -> None:
    # The first of 4 copies ends at i = 29, of 8 at 25: 1156 · 29 is more than 32,768. The last of 32 is i = 32.
    found = banks(neighbours, Unroll("i", outer), Unroll("k", 4))
    assert found == ({"A": [39], "B": [2]} if split else {"A": [10]})


def test_a_pipeline_that_waits_for_nothing_has_a_bank_for_each_access() -> None:
    def long_enough(p: ProgramBuilder) -> None:
        neighbours(p, 39304)

    assert banks(long_enough, Unroll("k", 4))["A"] == [39]


def test_short_loops_are_unrolled_unless_somebody_wrote_a_factor() -> None:
    assert [p.loop.name for p in pipes(kernel(short_rows), TOOL.directives.short)] == [
        "t",
        "u",
    ]
    kept = frozenset({"r"})
    assert [p.loop.name for p in pipes(kernel(short_rows), TOOL.directives.short, kept)] == [
        "r",
        "u",
    ]


def test_invariant_rows_are_hoisted_but_not_where_the_tool_unrolled() -> None:
    assert banks(short_rows)["A"] == [1, 30]
    asked = banks(short_rows, Pipeline("t"))
    assert "A" not in asked
    assert asked["C"] == [30, 1]


def columns(p: ProgramBuilder) -> None:
    a, r = p.local("A", f64, (124, 116)), p.local("r", f64, (124,))
    s, q = p.local("s", f64, (116,)), p.local("q", f64, (124,))
    i, j = p.loops(i=124, j=116)
    p.compute("S0", (i,), q[i], 0.0)
    p.compute("S1", (i, j), s[j], s[j] + r[i] * a[i, j], after=("S0", i))


def test_rows_in_registers_are_kept_twice_where_they_are_read_first() -> None:
    assert copies(columns, Pipeline("i")) == {"s": 2}
    assert banks(columns, Pipeline("i")) == {"A": [1, 116]}
    assert copies(columns) == {}


def test_what_was_asked_for_stays() -> None:
    steps = (Partition("A", 0, "cyclic", 3), Unroll("j", 4))
    assert banks(matvec, *steps) == {"A": [3, 1], "x": [2]}


def test_most_designs_have_the_block_memory_of_their_report() -> None:
    facts = kernels(DATA)
    found = {name: convert(f) for name, f in facts.items()}
    trees = {n: (c, plain(c)) for n, c in found.items() if isinstance(c, Converted)}
    bram: dict[str, list[bool]] = {name: [] for name in trees}
    uram: dict[str, list[bool]] = {name: [] for name in trees}
    for row in designs(DATA)[:: 10 if is_whole(DATA) else 1]:
        if row.kernel not in trees:
            continue
        converted, tree = trees[row.kernel]
        asked = Directives.parse(row.directives).effective(converted.program)
        kept = written(facts[row.kernel], converted)
        cost = local_memories(with_directives(tree, asked.pragmas), TOOL, kept).cost()
        bram[row.kernel].append(cost.bram18 == row.labels.bram18)
        uram[row.kernel].append(cost.uram == row.labels.uram)
    assert sum(map(len, bram.values())) > 500
    # A mean over kernels: the excerpt has all designs of some kernels and few of the others.
    assert mean(mean(right) for right in bram.values() if right) > 0.93
    assert mean(mean(right) for right in uram.values() if right) > 0.98


def faces(p: ProgramBuilder) -> None:
    a, b = p.local("A", f64, (20, 20, 20)), p.local("B", f64, (20, 20, 20))
    i, j, k = p.loops(i=range(1, 19), j=range(1, 19), k=range(1, 19))
    near = a[i + 1, j, k] + a[i - 1, j, k] + a[i, j + 1, k] + a[i, j - 1, k]
    p.compute("S0", (i, j, k), b[i, j, k], near + a[i, j, k + 1] + a[i, j, k - 1])


def test_a_window_with_gaps_is_split_as_its_accesses_want_ports() -> None:
    # The rows j - 1 … j + 2 are within reach, but only in one plane: two banks of two ports do.
    assert banks(faces, Unroll("j", 2))["A"] == [3, 2, 20]


def test_an_update_in_place_with_other_rows_of_the_array_keeps_two_copies() -> None:
    def triangle(p: ProgramBuilder) -> None:
        a, b = p.local("A", f64, (70, 70)), p.local("B", f64, (70, 80))
        i, j, k = p.loops(i=70, j=80, k=70)
        p.compute("S0", (i, j, k), b[i, j], b[i, j] + a[k, i] * b[k, j], where=k > i)

    assert copies(triangle) == {}
    assert copies(triangle, Unroll("k", 10)) == {"B": 2}
    assert copies(triangle, Unroll("k", 20), Unroll("i", 3)) == {"B": 2}


def test_a_pipeline_that_fails_asks_for_no_banks() -> None:
    def rows(p: ProgramBuilder) -> None:
        a, s = p.local("A", f64, (90, 90)), p.local("s", f64, (90,))
        i, j, k = p.loops(i=90, j=90, k=90)
        p.compute("S0", (i, j, k), s[i], s[i] + a[i, k])

    design = kernel(rows, Pipeline("i"))
    (loop,) = design.functions[0].body
    assert isinstance(loop, Loop)
    (inner,) = loop.body
    assert isinstance(inner, Loop)
    variable = replace(inner, lowers=(Affine.of(loop.iv),), trips=Trips(1, 90, 45.5))
    function = replace(design.functions[0], body=(replace(loop, body=(variable,)),))
    assert partitioned(design, TOOL)[0].memories[0].banks > 1
    assert partitioned(replace(design, functions=(function,)), TOOL)[0].memories[0].banks == 1


def scanned(step: int, factor: int) -> dict[str, list[int]]:
    """Banks of a recurrence along rows, which another loop stands beside: nothing is flattened."""
    p = ProgramBuilder("scan")
    a, b, x, y = (p.placeholder(n, f64, (60, 60)) for n in "abxy")
    i, j, k = p.loops(i=60, j=range(1, 59), k=range(1, 59))
    at = j if step > 0 else 59 - j
    p.compute("S", (i, j), a[i, at], a[i, at - step] * x[i, at])
    p.compute("T", (i, k), b[i, k], y[i, k] + y[i, k])
    s = ScheduleBuilder()
    s.fuse(("S", "T"), 1)
    tree = kernel_of_tree(loop_tree(apply(p.build(), s.build())))
    inside = replace(tree, memories=tuple(replace(m, argument=False) for m in tree.memories))
    design, _ = partitioned(with_directives(inside, (Unroll("j", factor),)), TOOL, frozenset("ijk"))
    return {m.name: [s.factor for s in m.splits] for m in design.memories if m.banks > 1}


def test_what_the_iteration_before_has_stored_is_in_a_register() -> None:
    """Only stores want ports then: two a bank."""
    assert scanned(1, 8) == {"a": [1, 4], "x": [1, 4]}
    assert scanned(1, 29) == {"a": [1, 29], "x": [1, 29]}


def test_a_recurrence_whose_subscripts_count_down_is_through_memory() -> None:
    """A bank for each element in reach; with too many copies the loop is given up, and has none."""
    assert scanned(-1, 8) == {"a": [1, 9], "x": [1, 4]}
    assert scanned(-1, 29) == {}
