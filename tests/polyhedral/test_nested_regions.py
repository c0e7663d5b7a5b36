"""Dataflow regions inside of processes of others: what they become, that they mean the same, and what is refused."""

from __future__ import annotations

import random

import pytest

import weft
from dse.space.loops.overlaps import overlapped
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Dataflow
from polyhedral.legality.loop_regions import loop_regions, names_of
from polyhedral.schedule import apply, begun
from tests.support.levels import Case, check_levels
from weft import i32


@weft.kernel
def product(A: i32[24, 30], B: i32[30, 20], C: i32[24, 20]):
    for i in range(24):
        for j in range(20):
            for k in range(30):
                C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def three(A: i32[4, 4, 4, 8], B: i32[4, 4, 4, 8]):
    for a in range(4):
        for b in range(4):
            for c in range(4):
                for j in range(8):
                    B[a, b, c, j] = A[a, b, c, j] * A[a, b, c, 7 - j]


@weft.kernel
def handed_on(A: i32[6, 4, 8], B: i32[6, 4, 8]):
    for i in range(6):
        t: i32[4, 8]
        for k in range(4):
            for j in range(8):
                t[k, j] = A[i, k, j]
            for j in range(8):
                B[i, k, j] = t[k, 7 - j]


def tiles(s: ScheduleBuilder) -> None:
    """A tile of C stays while those of A and B go by; in both loops the last tile is a smaller one."""
    for array in "AB":
        s.interface(array, "m_axi", array)
    s.interface("C", "m_axi", "C", reads="C")
    s.tile(["i", "k"], [7, 8], tail="guard")
    s.buffer("C", "i_0", apart=True)
    s.buffer("A", "k_0")
    s.buffer("B", "k_0")


def nested(s: ScheduleBuilder, inner_first: bool = True) -> None:
    steps = [
        lambda: s.dataflow(at="k_0"),
        lambda: s.dataflow([["take_C", "load_A", "load_B", "S0"]], at="i_0"),
    ]
    for step in steps if inner_first else reversed(steps):
        step()


def built(*parts) -> Schedule:
    s = ScheduleBuilder()
    for part in parts:
        part(s)
    return s.build()


@pytest.mark.parametrize("inner_first", [True, False])
def test_a_process_has_a_region_of_its_own(inner_first):
    schedule = built(tiles, lambda s: nested(s, inner_first))
    outer, inner = loop_regions(apply(product.program, schedule))
    assert set(names_of(inner.processes)) == {("load_A",), ("load_B",), ("S0",)}
    first, second, third = names_of(outer.processes)
    assert (first, third) == (("load_C",), ("store_C",))
    assert set(second) == {"take_C", "load_A", "load_B", "S0"}
    text = weft.compile(product, schedule).hls_cpp
    functions = {f.split("(")[0]: f for f in text.split("static void ")[1:]}
    called = functions["product_take_C"].partition("#pragma HLS dataflow")[2]
    for process in ("product_load_A", "product_load_B", "product_S0"):
        assert f"{process}(" in called
        assert text.index(f"static void {process}(") < text.index("static void product_take_C(")
    top = text.partition('extern "C"')[2].partition("#pragma HLS dataflow")[2]
    assert "product_take_C(A, B, C_buf_in, C_buf, i_0);" in top
    assert "product_S0" not in top


def at_each_level(s: ScheduleBuilder) -> None:
    """Copies of copies at three loops."""
    for array in "AB":
        s.buffer(array, "a", f"{array}1")
        s.buffer(f"{array}1", "b", f"{array}2")
        s.buffer(f"{array}2", "c", f"{array}3")
    for loop in "cba":
        s.dataflow(at=loop)


def in_random_tiles(seed: int) -> Schedule:
    """Sizes that divide and that do not, copies at any of the loops, regions wherever there can be any."""
    rng = random.Random(seed)
    loops = rng.sample(["i", "j", "k"], 3)
    s = ScheduleBuilder()
    s.tile(["i", "j", "k"], [rng.choice([4, 5, 7, 8]) for _ in loops], tail="guard")
    s.reorder([f"{loop}_0" for loop in loops])
    for array in "ABC":
        s.buffer(array, f"{rng.choice(loops)}_0")
    schedule = s.build()
    _, steps = overlapped(begun(product.program, schedule), nested=True)
    return schedule.then(*steps)


def test_they_mean_the_same():
    schedules = [in_random_tiles(seed) for seed in range(16)]
    some = [s for s in schedules if sum(isinstance(step, Dataflow) for step in s) > 1]
    assert len(some) > 1
    cases = [Case(n, product.program, s) for n, s in enumerate([built(tiles, nested), *some[:2]])]
    cases.append(Case(9, three.program, built(at_each_level)))
    failures = check_levels(cases, jit=True)
    assert not failures, failures[0].report()


def test_an_array_of_the_loop_around_is_of_one_process_of_the_loop_inside():
    """Iterations of k run at the same time, and ``t`` is one for all of them."""
    with pytest.raises(ScheduleError) as caught:
        apply(handed_on.program, built(lambda s: s.dataflow(at="k")))
    assert caught.value.code == "W217"
    assert "'t' is in two processes, and is not of one iteration of 'k' alone" in str(caught.value)

    def around(s):
        s.buffer("A", "i")
        s.buffer("B", "i")
        s.dataflow([["S0", "S1"]], at="i")
        s.dataflow(at="k")

    with pytest.raises(ScheduleError) as caught:
        apply(handed_on.program, built(around))
    assert caught.value.code == "W217"


def test_a_function_of_processes_has_none_in_its_loops():
    with pytest.raises(ScheduleError) as caught:
        apply(product.program, built(tiles, nested, lambda s: s.dataflow()))
    assert "the function is a dataflow region itself" in str(caught.value)


def test_time_is_that_of_the_slowest_process_at_each_level():
    """Of many tiles, copies of C are hidden too."""
    found = {}
    for name, parts in {
        "in turn": [tiles],
        "inside": [tiles, lambda s: s.dataflow(at="k_0")],
        "nested": [tiles, nested],
    }.items():
        schedule = built(*parts, lambda s: s.pipeline("S0.j"), lambda s: s.pipeline("store_C_1"))
        found[name] = weft.estimate(
            product, schedule, device="xcu280", tool="vitis-2023.2", clock=3.33
        )
    latency = {name: one.latency.average for name, one in found.items()}
    assert latency["nested"] < latency["inside"] < latency["in turn"]
    loops = {loop.loops: loop for loop in found["nested"].loops}
    outer, inner = loops["i_0",], loops["k_0",]
    assert outer.ii > inner.latency.average
    assert outer.latency.average == pytest.approx(outer.depth + 3 * outer.ii, abs=1)
