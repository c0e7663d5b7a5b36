"""Remainders by numbers of banks that are no powers of two, Vitis HLS 2025.1 (xcu200 at 4 ns)."""

from __future__ import annotations

import pytest

import weft
from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.area.access_places import banks_of
from qor_gnn.area.bank_remainders import remainders
from qor_gnn.area.modules import Leaf, leaves
from qor_gnn.area.registers import registers
from qor_gnn.area.terms import Sums
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import personality
from tests.qor.designs import region_tree
from tests.support.tools import under
from weft import f32

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
    hiding = under(TOOL, "banks", hidden_by_others=hide)
    scope = Scope(kernel, under(hiding, "directives", longest_interval=longest))
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


# ------------------------------------------------------------------------- what waits for remainders


def row_by_column(copies: int, banks: int) -> Leaf:
    """``y[j] += z[k] * x[j + 64*k]``, so many copies of k, x in cyclic banks: interval 6."""
    p = ProgramBuilder("columns")
    x, z, y = (p.placeholder(name, f64, (n,)) for name, n in (("x", SIZE), ("z", 64), ("y", 64)))
    j, k = p.loops(j=64, k=64)
    p.compute("S", (j, k), y[j], y[j] + z[k] * x[j + 64 * k])
    s = ScheduleBuilder()
    s.unroll("S.k", copies)
    s.partition("x", 0, "cyclic", banks)
    s.partition("z", 0, "cyclic", copies // 2)
    kernel = region_tree(p, s)
    scope = Scope(kernel, TOOL)
    found = leaves(function_latency(scope, kernel.functions[0])[1])
    (leaf,) = (leaf for leaf in found if leaf.pipelined)
    assert leaf.period == 6
    return leaf


def kept(leaf: Leaf) -> dict[str, float]:
    """Amounts of FF terms."""
    sums = Sums()
    registers(leaf, sums, {})
    return dict(sums.ff)


@pytest.mark.parametrize(("copies", "banks", "values"), [(2, 3, 1), (4, 5, 2), (8, 9, 2)])
def test_all_banks_are_read_ahead_of_the_remainder_where_their_ports_take_all_loads(
    copies: int, banks: int, values: int
) -> None:
    leaf = row_by_column(copies, banks)
    found = remainders(leaf)
    assert len(found.loads) == copies
    assert found.words == banks * 2 * values
    assert not found.beside
    assert kept(leaf)["loaded_pipelined"] == 64 * found.words


@pytest.mark.parametrize("banks", [4, 8])
def test_low_bits_are_there_at_once(banks: int) -> None:
    assert not remainders(row_by_column(banks, banks)).loads


def test_nothing_waits_where_a_bank_is_read_for_the_load_that_it_is_the_bank_of() -> None:
    leaf = row_by_column(16, 17)  # of 12 that two ports take in six states
    found = remainders(leaf)
    assert len(found.loads) == 16
    assert found.words == 0
    # The other factors are loaded with them: of these none is in a shift register.
    assert len(found.beside) == 32
    found_in = kept(leaf)
    assert found_in["long"] == 128  # y
    assert found_in.get("split", 0) == 0


def test_one_load_by_itself_counts_through_the_banks() -> None:
    p = ProgramBuilder("vector")
    x, y = p.placeholder("x", f64, (390,)), p.placeholder("y", f64, (64,))
    j, k = p.loops(j=64, k=390)
    p.compute("S", (j, k), y[j], y[j] + x[k])
    s = ScheduleBuilder()
    s.partition("x", 0, "cyclic", 13)
    kernel = region_tree(p, s)
    (leaf,) = leaves(function_latency(Scope(kernel, TOOL), kernel.functions[0])[1])
    assert not remainders(leaf).loads


@weft.kernel
def scaled_sum(x: f32[64], y: f32[64]):
    for i in range(64):
        y[i] += 2.5 * x[i]


@pytest.mark.parametrize("tool", ["vitis-2022.1", "vitis-2023.2", "vitis-2025.1"])
def test_more_banks_by_powers_of_two_cost_no_states(tool: str) -> None:
    """The bank is bits of the index: nothing is divided, whether copies fill all banks or some of them."""
    found = []
    for banks in (2, 4, 8, 16, 32):
        schedule = ScheduleBuilder().split("i", 2).unroll("i_1").pipeline("i_0")
        schedule = schedule.partition("x", 0, "cyclic", banks).partition("y", 0, "cyclic", banks)
        found.append(weft.estimate(scaled_sum, schedule.build(), tool=tool).latency.maximum)
    assert found == sorted(found, reverse=True)
