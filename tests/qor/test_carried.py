"""Loop-carried distances against the iterations of the loops, and the intervals that follow."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import networkx as nx
import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.affine import Affine
from dsl.expressions.types import f32
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Step, Unroll
from polyhedral.banks.splits import Split
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Loop, Memory, Trips
from qor_gnn.estimate import estimate
from qor_gnn.memory.addresses import Addresses, site
from qor_gnn.result.qor_estimate import LoopEstimate
from qor_gnn.schedule.intervals.carried import Nest, carried_distance
from qor_gnn.schedule.loops import running
from qor_gnn.tools.personality import personality

TOOLS = ("vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns", "vitis-2025.1-u200-4ns")


def loop(iv: str, lower: Affine, upper: Affine, step: int, most: int) -> Loop:
    return Loop(iv, iv, (lower,), (upper,), step, Trips(0, most, most / 2), ())


def random_nest(rng: random.Random) -> list[Loop]:
    """A loop around a pipeline of one or two, of which only the first may have variable bounds."""
    loops: list[Loop] = []
    pipeline = rng.randint(1, 2)
    for level in range(1 + pipeline):
        low = Affine((), rng.choice((0, 0, 1, 3)))
        varies = level == 1 and rng.random() < 0.7
        if varies and rng.random() < 0.5:
            low = Affine.of("v0") + rng.choice((0, 1))
        extent = rng.randint(2, 6)
        up = Affine.of("v0") + extent if varies else low + extent
        step = rng.choice((1, 1, 1, 2))
        # The most iterations: of all values of the loop around.
        own = loop(f"v{level}", low, up, step, 1)
        most = max((len(list(values(own, {"v0": v}))) for v in range(16)), default=0)
        loops.append(loop(f"v{level}", low, up, step, max(1, most)))
    return loops


def values(one: Loop, env: dict[str, int]) -> Iterator[int]:
    low = max(b.evaluate(env) for b in one.lowers)
    return iter(range(low, min(b.evaluate(env) for b in one.uppers), one.step))


def subscript(rng: random.Random, names: list[str]) -> Affine:
    total = Affine((), rng.randint(-3, 3))
    for name in names:
        total = total + Affine.of(name) * rng.choice((0, 0, 1, 1, 2, -1))
    kind = rng.random()
    if kind < 0.1:
        return total // rng.choice((2, 3))
    return total % rng.choice((2, 3, 4)) if kind < 0.3 else total


def least(loops: list[Loop], copies: int, stored: list[Affine], loaded: list[Affine]) -> int | None:
    """The first copy stores, the first copy of a later iteration loads the element: how much later."""
    best = None
    for around in values(loops[0], {}):
        points = list(points_of(loops[1:], {"v0": around}, copies))
        at = [tuple(e.evaluate(env) for e in stored) for env in points]
        to = [tuple(e.evaluate(env) for e in loaded) for env in points]
        for n, m in itertools.combinations(range(len(points)), 2):
            if at[n] == to[m]:
                best = m - n if best is None else min(best, m - n)
    return best


def points_of(loops: list[Loop], env: dict[str, int], copies: int) -> Iterator[dict[str, int]]:
    if not loops:
        yield env
        return
    every = copies if len(loops) == 1 else 1
    for value in list(values(loops[0], env))[::every]:
        yield from points_of(loops[1:], {**env, loops[0].iv: value}, copies)


@pytest.mark.parametrize("seed", range(300))
def test_the_distance_is_that_of_the_iterations(seed: int) -> None:
    rng = random.Random(seed)
    loops = random_nest(rng)
    copies = rng.choice((1, 1, 2))
    names = [one.iv for one in loops]
    dims = rng.randint(1, 2)
    stored = [subscript(rng, names) for _ in range(dims)]
    loaded = [subscript(rng, names) for _ in range(dims)]
    if rng.random() < 0.4:  # the same but for constants
        loaded = [e + rng.randint(-2, 2) for e in stored]
    env = {loops[0].iv: running(loops[0], 1)}
    own = {**env, **{x.iv: running(x, 1) for x in loops[1:-1]}}
    own[names[-1]] = running(loops[-1], copies)
    table = Addresses([Memory("A", f32, (64,) * dims, (Split(),) * dims)])
    s, t = (
        site(table, 0, [e.substitute(own) for e in indices], frozenset()).place(table, {})
        for indices in (stored, loaded)
    )
    trips = {x.iv: x.trips.maximum for x in loops[1:]}
    trips[names[-1]] = -(-trips[names[-1]] // copies)
    begins = {x.iv for x in loops if not all(b.is_const for b in x.lowers)}
    if any(not e.is_linear and e.variables() & begins for e in (*stored, *loaded)):
        table.cancelled.add(0)
    nest = Nest(trips, {x.iv: x for x in loops}, env, copies)
    found = carried_distance(table, s, t, nest)
    exact = least(loops, copies, stored, loaded)
    if exact is not None:
        assert found is not None
        assert found <= exact
        if all(x.constant_trips is not None for x in loops):
            assert found == exact
    elif found is not None:
        same = table.shape(s).terms == table.shape(t).terms  # compared by arithmetic alone
        assert same or table.cancelled


# ----------------------------------------------------------------------------------- intervals


def rows(kind: str) -> Program:
    """Each row is made of elements of the row before that lie elsewhere in it."""
    p = ProgramBuilder("rows")
    a, w = p.placeholder("L", f32, (32, 8)), p.placeholder("w", f32, (8,))
    t, c = p.loops(t=range(1, 32), c=8)
    value = {
        "ends": lambda: (a[t - 1, 0] + a[t - 1, 7]) * w[c],
        "reversed": lambda: a[t - 1, 7 - c] * w[c],
        "constant": lambda: a[t - 1, 3] * w[c],
        "half": lambda: a[t - 1, c // 2] * w[c],
    }[kind]()
    p.compute("S", (t, c), a[t, c], value)
    return p.build()


def pipelined(program: Program, tool: str, *steps: Step) -> LoopEstimate:
    kernel = kernel_of_tree(loop_tree(apply(program, Schedule(steps))))
    return estimate(kernel, tool).loops[-1]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    # The last element that a row reads of the one before, and so the iterations between.
    ("kind", "distance"),
    [("ends", 1), ("reversed", 1), ("constant", 5), ("half", 8)],
)
def test_a_row_waits_for_the_one_before(kind: str, distance: int, tool: str) -> None:
    one = pipelined(rows(kind), tool, Pipeline("c"))
    operators = {"ends": ("add", "mul")}.get(kind, ("mul",))
    assert len(one.loops) == 2
    # An addition and a product take at least two cycles each in every library.
    assert one.ii >= -(-2 * len(operators) // distance)
    assert any(getattr(limit, "distance", None) == distance for limit in one.limits)


# ------------------------------------------------------------------- through several statements


def chained(rng: random.Random) -> tuple[Program, list[tuple[int, int, int, str]]]:
    """Statements that each store an array of their own from one or two that earlier iterations
    stored: the program, and (statement, statement it reads, iterations before, operator).
    """
    count = rng.randint(2, 4)
    p = ProgramBuilder("chained")
    arrays = [p.placeholder(f"a{n}", f32, (64,)) for n in range(count)]
    x = p.placeholder("x", f32, (64,))
    (i,) = p.loops(i=range(4, 64))
    edges = []
    for n in range(count):
        source, distance = rng.randrange(count), rng.randint(1, 4)
        operator = rng.choice(("add", "mul"))
        old = arrays[source][i - distance]
        value = old + x[i] if operator == "add" else old * x[i]
        after = (f"S{n - 1}", i) if n else None
        p.compute(f"S{n}", (i,), arrays[n][i], value, after=after)
        edges.append((n, source, distance, operator))
    return p.build(), edges


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("seed", range(30))
def test_a_cycle_through_several_arrays_bounds_the_interval(seed: int, tool: str) -> None:
    program, edges = chained(random.Random(seed))
    states = {kind: personality(tool).operator(kind, "f32", 32).distance for kind in ("add", "mul")}
    graph = nx.DiGraph()
    for sink, source, distance, operator in edges:
        graph.add_edge(source, sink, delay=states[operator], distance=distance)
    least = 1
    for cycle in nx.simple_cycles(graph):
        around = [graph.edges[a, b] for a, b in itertools.pairwise([*cycle, cycle[0]])]
        delay, distance = (sum(e[k] for e in around) for k in ("delay", "distance"))
        least = max(least, -(-delay // distance))
    kernel = kernel_of_tree(loop_tree(apply(program, Schedule((Pipeline("i"),)))))
    one = estimate(kernel, tool).loops[-1]
    assert one.ii >= least
    assert one.ii == max(limit.interval for limit in one.limits)


# ------------------------------------------------------------- around the innermost loop of a nest


def filtered_rows(columns: int, back: int) -> Program:
    """A row's sum begins with a product of what an earlier row's sum came to."""
    p = ProgramBuilder("filtered")
    y, a = p.placeholder("y", f32, (40,)), p.placeholder("a", f32, (32,))
    s = p.local("s", f32)
    t, k = p.loops(t=range(back, 32), k=columns)
    p.compute("S0", (t,), s, y[t - back] * a[t])
    p.compute("S1", (t, k), s, s + a[k], after=("S0", t))
    p.compute("S2", (t,), y[t], s * 1.0, after=("S1", t))
    return p.build()


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("back", [1, 2])
@pytest.mark.parametrize("columns", [2, 4, 7])
def test_what_a_row_begins_with_has_passed_every_sum_of_the_row_before(
    columns: int, back: int, tool: str
) -> None:
    program = filtered_rows(columns, back)
    kernel = kernel_of_tree(loop_tree(apply(program, Schedule((Pipeline("k"),)))))
    found = estimate(kernel, tool)
    add, mul = (personality(tool).operator(kind, "f32", 32).distance for kind in ("add", "mul"))
    rows = (32 - back) // back  # that wait for each other
    assert found.latency.average >= rows * (2 * mul + columns * add)
    if len(found.loops[-1].loops) == 2:  # flattened
        assert found.loops[-1].ii * back * columns >= 2 * mul + columns * add


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("factor", [2, 3, 4, 6])
def test_a_division_by_the_factor_of_an_unrolled_loop_is_a_counter(factor: int, tool: str) -> None:
    p = ProgramBuilder("divided")
    a, x = p.placeholder("A", f32, (5, 30)), p.placeholder("x", f32, (30,))
    (i,) = p.loops(i=5)
    j, k = p.loops(j=i + 1, k=range(1, 14))
    p.compute("S", (i, j, k), a[j, k], a[j // 3, j * 2] + x[k])
    steps = (Unroll("j", factor), Pipeline("k"))
    kernel = kernel_of_tree(loop_tree(apply(p.build(), Schedule(steps))))
    assert estimate(kernel, tool).latency.average > 0
