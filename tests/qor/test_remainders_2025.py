"""Remainders by numbers of banks that are no powers of two, Vitis HLS 2025.1 (xcu200 at 4 ns)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dsl.builder import ProgramBuilder
from dsl.schedule import ScheduleBuilder
from dsl.types import f64
from qor_gnn.compose import function_latency
from qor_gnn.loops import Scope
from qor_gnn.personality import personality
from qor_gnn.resource_leaves import Leaf, leaves
from qor_gnn.resource_places import banks_of
from tests.qor.designs import region_tree

TOOL = personality("vitis-2025.1-u200-4ns")
SIZE = 4096


def body(outer: int, inner: int, banks: int, hide: bool = True, longest: int = 256) -> Leaf:
    """``y[j][k] = x[outer*j + inner*k]``, x in cyclic banks."""
    p = ProgramBuilder("rows")
    x, y = p.placeholder("x", f64, (SIZE,)), p.placeholder("y", f64, (8, 8))
    j, k = p.loops(j=8, k=8)
    p.compute("S", (j, k), y[j, k], x[outer * j + inner * k])
    s = ScheduleBuilder()
    s.partition("x", 0, "cyclic", banks)
    kernel = region_tree(p, s)
    rules = replace(TOOL.rules, counters_hide=hide, longest_interval=longest)
    scope = Scope(kernel, replace(TOOL, rules=rules))
    (leaf,) = leaves(function_latency(scope, kernel.functions[0])[1])
    return leaf


def reached(leaf: Leaf) -> int:
    (load,) = leaf.loads()
    return len(banks_of(leaf.body.addresses, leaf.body.graph.address[load], leaf.steps)[0])


@pytest.mark.parametrize(
    ("outer", "inner", "banks", "expected"),
    [
        (8, 64, 18, 18),  # even, but the tool does not know
        (512, 64, 18, 9),  # multiples of what the innermost counter moves it by
        (64, 8, 18, 9),
        (8, 64, 16, 2),  # low bits, not a remainder
    ],
)
def test_a_counter_hides_the_remainder_unless_it_moves_by_multiples_of_the_innermost(
    outer: int, inner: int, banks: int, expected: int
) -> None:
    assert reached(body(outer, inner, banks)) == expected


def test_other_tools_know_what_all_counters_have_in_common() -> None:
    assert reached(body(8, 64, 18, hide=False)) == 9


def test_loops_that_are_not_pipelined_hide_nothing() -> None:
    leaf = body(8, 64, 18, longest=-1)
    assert not leaf.pipelined
    assert reached(leaf) == 9
