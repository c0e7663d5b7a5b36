"""What is multiplied by a product that copies share waits for it, Vitis HLS 2025.1 (xcu200 at 4 ns)."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.area.modules import Leaf, leaves
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import personality
from tests.qor.designs import region_tree
from tests.support.tools import under

TOOL = personality("vitis-2025.1-u200-4ns")


def row_of_product(copies: int, waits: int, interval: int = 6) -> Leaf:
    """``c[k][j] = a[k] * s[k] * b[k][j]``, so many copies of j."""
    p = ProgramBuilder("row")
    a, s, b, c = (p.placeholder(n, f64, (16, 8)[: 1 + (n in "bc")]) for n in "asbc")
    k, j = p.loops(k=16, j=8)
    p.compute("S", (k, j), c[k, j], a[k] * s[k] * b[k, j])
    schedule = ScheduleBuilder()
    schedule.unroll("S.j", copies)
    schedule.partition("b", 1, "cyclic", copies)
    schedule.partition("c", 1, "cyclic", copies)
    schedule.pipeline("S.j", interval)
    kernel = region_tree(p, schedule)
    scope = Scope(kernel, under(TOOL, "binding", shared_product=waits))
    found = leaves(function_latency(scope, kernel.functions[0])[1])
    (leaf,) = (leaf for leaf in found if leaf.pipelined)
    return leaf


def wanted(leaf: Leaf) -> dict[str, set[int]]:
    """Until when what is loaded of each array is wanted."""
    graph, table = leaf.body.graph, leaf.body.addresses
    found: dict[str, set[int]] = {}
    for n in leaf.loads():
        found.setdefault(table.memory(graph.address[n]).name, set()).add(leaf.last[n])
    return found


def test_factors_of_a_shared_product_wait_four_states_more() -> None:
    before, after = wanted(row_of_product(4, 0)), wanted(row_of_product(4, 4))
    assert TOOL.binding.shared_product == 4
    assert after["b"] == {states + 4 for states in before["b"]}
    assert {name: after[name] for name in "as"} == {name: before[name] for name in "as"}


@pytest.mark.parametrize(("copies", "interval"), [(1, 6), (4, 1)])
def test_not_a_product_that_one_takes_nor_at_interval_one(copies: int, interval: int) -> None:
    leaf = row_of_product(copies, 4, interval)
    assert wanted(leaf) == wanted(row_of_product(copies, 0, interval))
