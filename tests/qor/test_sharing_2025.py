"""What shares ports and units in designs of Vitis HLS 2025.1: loads of one state, copies of a nest, rows."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Partition, Pipeline, Step, Unroll
from qor_gnn.area.binding import units_of
from qor_gnn.area.logic import module_logic
from qor_gnn.area.modules import leaves
from qor_gnn.area.multiplexers import multiplexer
from qor_gnn.area.registers import registers
from qor_gnn.area.resources import terms_of
from qor_gnn.area.terms import Sums
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.personality import Personality, personality
from tests.support.tools import under

TOOL = personality("vitis-2025.1-u200-4ns")


def regions_of(p: ProgramBuilder, *steps: Step, tool: Personality = TOOL) -> list[Region]:
    kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)
    return function_latency(Scope(kernel, tool), kernel.functions[0])[1]


@pytest.mark.parametrize(
    ("copies", "ports"),
    # Into a bank of B come one, two and four elements of an iteration; A takes the sums.
    [(2, 0), (4, 2 * 20), (8, 2 * (20 + 2 * multiplexer(3)))],
)
def test_loads_of_one_state_have_a_port_each(copies: int, ports: float) -> None:
    # doitgen with L2 unrolled 8 and 10 times: 19 LUTs for each bank of C4 and copy of L0, not 28.
    p = ProgramBuilder("loads")
    a, b = p.local("A", f64, (64,)), p.local("B", f64, (64, 64))
    i, j = p.loops(i=64, j=64)
    p.compute("S", (i, j), a[j], a[j] + b[i, j])
    (region,) = regions_of(p, Unroll("j", copies), Partition("B", 1, factor=2), Partition("A", 0))
    (leaf,) = leaves([region])
    sums = Sums()
    module_logic([leaf], sums)
    assert sums.lut["port_reads"] == ports


def products(first: int, second: int, tool: Personality = TOOL) -> float:
    """Multiplexers in front of the multipliers of two nests with so many copies."""
    p = ProgramBuilder("products")
    a, b = p.local("A", f64, (60, 60)), p.local("B", f64, (60, 60))
    i, j, k, n = p.loops(i=60, j=60, k=60, n=60)
    p.compute("S", (i, j), b[i, j], a[i, j] * a[i, j])
    p.compute("T", (k, n), a[k, n], b[k, n] * b[k, n])
    regions = regions_of(p, Unroll("i", first), Unroll("k", second), tool=tool)
    return terms_of([regions], units_of(regions)).lut["shared_units"]


def test_modules_of_a_nest_have_a_multiplexer_of_their_own() -> None:
    # 2mm: copies of the first nest cost the same whatever copies the second one has.
    copies = [products(c, 1) - products(1, 1) for c in (2, 5, 10)]
    assert copies == [products(c, 4) - products(1, 4) for c in (2, 5, 10)]
    assert products(5, 4) == 3 * (multiplexer(6) + multiplexer(5) + multiplexer(3))
    joined = under(TOOL, "binding", nests_choose=False)
    assert products(5, 4, joined) == 3 * multiplexer(10)


def test_the_address_of_a_row_whose_elements_have_banks_stands() -> None:
    # doitgen: A[r][q][p] = sum[p] in 30 banks, p by p, costs no shift register of an address.
    p = ProgramBuilder("rows")
    a, s = p.local("A", f64, (20, 30)), p.local("s", f64, (30,))
    q, j = p.loops(q=20, j=30)
    p.compute("S", (q, j), a[q, j], s[j])
    found = []
    for factor in (30, 2):
        regions = regions_of(p, Unroll("q", 2), Partition("A", 1, factor=factor))
        sums = Sums()
        for leaf in leaves(regions):
            registers(leaf, sums, {})
        found.append(sums.lut["long"])
    assert found[0] == 0 < found[1]


def test_what_is_loaded_again_behind_its_store_has_no_address_that_waits() -> None:
    # trmm pipelined over j: B[i][j] is stored by each guarded copy and loaded by the next one.
    p = ProgramBuilder("triangular")
    a, b = p.local("A", f64, (60, 60)), p.local("B", f64, (60, 80))
    i, j, k = p.loops(i=60, j=80, k=60)
    p.compute("S", (i, j, k), b[i, j], b[i, j] + a[k, i] * b[k, j], where=k > i)
    p.compute("T", (i, j), b[i, j], b[i, j] * 0.5, after=("S", j))
    regions = regions_of(p, Pipeline("j"))
    found = terms_of([regions], units_of(regions))
    assert min(found.ff.values()) >= 0
    assert found.ff["addresses"] > 0
