"""Values that pipelines update in place or copy, Vitis HLS 2025.1 (xcu200 at 4 ns)."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.area.modules import Leaf, leaves
from qor_gnn.area.registers import Pools, registers
from qor_gnn.area.terms import Sums
from qor_gnn.body.graph import LOAD
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import personality
from tests.qor.designs import region_tree
from tests.support.tools import under

TOOL = personality("vitis-2025.1-u200-4ns")
EARLY = under(TOOL, "accesses", updates="asap")
COLUMNS = 8


def row(late: bool, interval: int = 6, copies: int = 1, neighbour: bool = False) -> Leaf:
    """``s[j] += r[i] * A[i][j]``, so many copies of j; of a neighbour of s instead of A."""
    p = ProgramBuilder("row")
    a, r = p.placeholder("A", f64, (16, COLUMNS)), p.placeholder("r", f64, (16,))
    s = p.placeholder("s", f64, (COLUMNS + 1,))
    i, j = p.loops(i=16, j=COLUMNS)
    p.compute("S", (i, j), s[j], s[j] + r[i] * (s[j + 1] if neighbour else a[i, j]))
    schedule = ScheduleBuilder()
    schedule.unroll("S.j", copies)
    schedule.pipeline("S.j", interval)
    kernel = region_tree(p, schedule)
    scope = Scope(kernel, TOOL if late else EARLY)
    found = leaves(function_latency(scope, kernel.functions[0])[1])
    (leaf,) = (leaf for leaf in found if leaf.pipelined)
    return leaf


def started(leaf: Leaf, name: str) -> list[int]:
    """When the elements of an array are loaded."""
    graph, table = leaf.body.graph, leaf.body.addresses
    nodes = (n for n in leaf.body.nodes if graph.kind[n] == LOAD)
    mine = (n for n in nodes if table.memory(graph.address[n]).name == name)
    return sorted(leaf.times.start[n] for n in mine)


def test_an_old_value_is_loaded_when_the_sum_wants_it() -> None:
    # bicg, each copy of L1: a word less than with s[j] in a shift register from the first state on.
    early, late = row(late=False), row(late=True)
    (add,) = (n for n in late.body.nodes if late.body.graph.kind[n] == "add")
    assert started(early, "s") == [0]
    assert started(late, "s") == [late.times.start[add] - TOOL.accesses.load]
    assert started(late, "A") == started(early, "A")


def test_its_counter_and_its_address_are_kept_and_no_word_is_shifted() -> None:
    # What copies of bicg's L1 have more than words: 28 flip-flops of addresses of 7 bits, 37 of 9.
    found = []
    for leaf in (row(late=False), row(late=True)):
        sums = Sums()
        registers(leaf, sums, {})
        found.append(sums)
    early, late = found
    assert early.ff["long"] - late.ff["long"] == 64 + 64
    assert late.ff["addresses"] - early.ff["addresses"] == 4 * 4  # 9 elements: 4 bits
    assert late.lut["long"] == early.lut["long"] - 1


def test_it_waits_no_longer_than_a_port_is_free() -> None:
    # Four loads and four stores of a bank of two ports are all that it can do at interval 4.
    early, late = (row(late=late, interval=4, copies=4) for late in (False, True))
    assert early.period == 4
    uses = [t % 4 for t in started(late, "s")]
    assert started(late, "s") != started(early, "s")
    assert all(uses.count(t) <= 2 for t in uses)


def test_nothing_waits_at_interval_one_nor_where_other_elements_are_loaded() -> None:
    for neighbour, interval in ((True, 6), (False, 1)):
        early, late = (row(late, interval, neighbour=neighbour) for late in (False, True))
        assert early.times.start == late.times.start


@pytest.mark.parametrize(
    ("shape", "counted", "words"), [((16,), True, 0), ((16,), False, 1), ((16, 8), True, 1)]
)
def test_a_loop_that_copies_a_vector_has_no_register_for_it(
    shape: tuple[int, ...], counted: bool, words: int
) -> None:
    # bicg without a copy of L1, extrapolated: 283 flip-flops besides the units, for five copied arrays and all else.
    p = ProgramBuilder("move")
    a, b = p.placeholder("a", f64, shape), p.placeholder("b", f64, shape)
    loops = p.loops(**dict(zip("ij", shape, strict=False)))
    at = loops if len(shape) > 1 else loops[0]
    p.compute("S", loops, b[at], a[at])
    kernel = region_tree(p, ScheduleBuilder())
    tool = under(TOOL, "control", counted_copies=counted)
    (leaf,) = leaves(function_latency(Scope(kernel, tool), kernel.functions[0])[1])
    shared: Pools = {}
    registers(leaf, Sums(), shared)
    assert leaf.pipelined
    assert sum(shared.values()) == 64 * words
