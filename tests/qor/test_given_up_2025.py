"""What Vitis HLS 2025.1 makes of loops that it wanted to pipeline and gave up, and of indices and banks that
it does not know (xcu200 at 4 ns: a load takes 2 states, an f64 product 7, a sum 6, a division 29).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Partition, Pipeline, Step, Unroll
from qor_gnn.area.access_places import unknown_banks
from qor_gnn.area.address_cost import divisions, exits_dsp
from qor_gnn.area.binding import region_units
from qor_gnn.area.control import FRAME, loop_control, states_of
from qor_gnn.area.index_divisions import index_divisions
from qor_gnn.area.logic import logic, module_logic
from qor_gnn.area.modules import leaves
from qor_gnn.area.multiplexers import ADDER, divider, multiplexer
from qor_gnn.area.registers import registers
from qor_gnn.area.resources import terms_of
from qor_gnn.area.terms import Sums
from qor_gnn.body.graph import LOAD
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.personality import Personality, personality
from tests.support.tools import under

TOOL = personality("vitis-2025.1-u200-4ns")
ROWS, COLUMNS = 60, 80


def regions_of(p: ProgramBuilder, *steps: Step, tool: Personality = TOOL) -> list[Region]:
    kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)
    return function_latency(Scope(kernel, tool), kernel.functions[0])[1]


def innermost(regions: list[Region]) -> list[Region]:
    return [r for each in regions for r in (innermost(each.children) if each.children else [each])]


def updates() -> ProgramBuilder:
    """``E[i][j] -= 0.5 (H[i][j] - H[i][j - 1])``, from the second column on: fdtd-2d."""
    p = ProgramBuilder("updates")
    e, h = p.local("E", f64, (ROWS, COLUMNS)), p.local("H", f64, (ROWS, COLUMNS))
    i, j = p.loops(i=ROWS, j=range(1, COLUMNS))
    p.compute("S", (i, j), e[i, j], e[i, j] - (h[i, j] - h[i, j - 1]) * 0.5)
    return p


def stencil(n: int = 120) -> ProgramBuilder:
    """The mean of nine neighbours in place: seidel-2d."""
    p = ProgramBuilder("stencil")
    a = p.local("A", f64, (n, n))
    t, i, j = p.loops(t=4, i=range(1, n - 1), j=range(1, n - 1))
    total = a[i - 1, j - 1]
    for y, x in [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)][1:]:
        total = total + a[i + y, j + x]
    p.compute("S", (t, i, j), a[i, j], total / 9.0)
    return p


THREE = Partition("A", 0, factor=3), Partition("A", 1, factor=3)


# -------------------------------------------------------------------------------- copies in blocks


def test_operators_of_a_copy_wait_for_the_copy_before() -> None:
    # fdtd-2d-large with L5 at 128: 19 states a copy, its loads are done before.
    (loop,) = innermost(regions_of(updates(), Unroll("j", 32)))
    assert loop.kind == "sequential"
    assert loop.depth == pytest.approx(32 * (6 + 7 + 6), abs=4)


@pytest.mark.parametrize("factor", [8, 16])
def test_a_tree_saves_no_states_there(factor: int) -> None:
    # seidel-2d with L2 at 8 to 64: load 2, four levels of sums, division; two adders. One state more
    # where a store and the next loads share two ports.
    (loop,) = innermost(regions_of(stencil(), Unroll("j", factor)))
    assert loop.kind == "sequential"
    assert loop.depth == pytest.approx(factor * (2 + 4 * 6 + 29), abs=factor)
    assert region_units(loop)["dadd"] == 2


def test_each_copy_computes_its_addresses() -> None:
    found = []
    for factor in (32, 64):
        (leaf,) = leaves(regions_of(updates(), Unroll("j", factor)))
        found.append(Sums())
        logic(leaf, found[-1])
        assert not found[-1].lut["addresses"]
    # A row and a column of two new loads (the store has the address of one) are added: 13 bits for
    # 4,800 words. The offset of one subscript is new in each copy: 7 bits for 80 columns. The products
    # of the rows of E and H with their length are made in each copy, though the loop does not move them.
    each = 2 * (13 + ADDER) + 7 + ADDER + 2 * (13 + ADDER)
    assert found[1].lut_fixed - found[0].lut_fixed == 32 * each


# ------------------------------------------------------------------------------ modules of their own


def test_a_loop_that_was_given_up_is_a_module_with_its_own_state_machine() -> None:
    (nest,) = regions_of(updates(), Unroll("i", 2), Unroll("j", 32))
    first, second = nest.children
    assert first.outlined
    assert second.outlined
    assert states_of(first) == 2  # it is called, and waited for
    bodies = leaves([nest])
    assert [leaf.module for leaf in bodies] == [1, 2]
    sums = Sums()
    loop_control([nest], bodies, sums)
    states = sum(FRAME + leaf.times.states for leaf in bodies)
    counters = sums.ff["fsm"] - states
    assert 0 < counters < 64
    assert sums.lut["fsm"] == sum(multiplexer(FRAME + leaf.times.states + 1) for leaf in bodies)


def test_each_operation_of_such_a_module_is_an_input_of_its_unit() -> None:
    (leaf,) = leaves(regions_of(updates(), Unroll("j", 32)))
    assert leaf.units["dmul"] == 1
    sums = Sums()
    registers(leaf, sums, {})
    module_logic([leaf], sums)
    # 32 products (by a constant: one operand) and 64 sums of two operands.
    assert sums.lut["operands"] >= multiplexer(33) + 2 * multiplexer(65)


def over_time(factor: int) -> tuple[Region, Sums]:
    """jacobi-1d pipelined over time, every element in a register: where the iterations end, and terms."""
    p = ProgramBuilder("over_time")
    a, b = (p.local(name, f64, (8,)) for name in "AB")
    t, i, j = p.loops(t=40, i=range(1, 7), j=range(1, 7))
    p.compute("S", (t, i), b[i], (a[i - 1] + a[i] + a[i + 1]) * 0.3)
    p.compute("T", (t, j), a[j], (b[j - 1] + b[j] + b[j + 1]) * 0.3, after=("S", t))
    (loop,) = regions_of(
        p, Pipeline("t"), Unroll("t", factor), Partition("A", 0), Partition("B", 0)
    )
    return loop, terms_of([[loop]], region_units(loop))


def test_iterations_of_a_pipeline_that_do_not_overlap_share_operands_registers() -> None:
    (once, alone), (_, copied) = over_time(2), over_time(4)
    (leaf,) = leaves([once])
    assert leaf.pipelined
    assert not leaf.overlaps
    # By operations it would be twice as much.
    assert 0 < copied.lut["operands"] < 1.2 * alone.lut["operands"]
    # What copies load again behind a store is loaded once in front of the loop.
    assert copied.ff["before"] == alone.ff["before"]


def test_a_loop_that_nobody_wanted_to_pipeline_is_the_functions_own() -> None:
    tool = under(TOOL, "directives", auto_pipeline=False)
    (loop,) = innermost(regions_of(updates(), tool=tool))
    assert loop.kind == "sequential"
    assert not loop.outlined


def test_what_is_loaded_is_loaded_again_behind_a_store_to_its_array() -> None:
    # seidel-2d with L2 at 2: 18 loads but for the element that the first copy stores, though the two
    # windows have 12 elements.
    found = []
    for tool in (TOOL, under(TOOL, "accesses", merged="all")):
        regions = innermost(regions_of(stencil(), Unroll("j", 2), tool=tool))
        (body,) = (r.body for r in regions if r.body is not None)
        found.append(sum(body.graph.kind[n] == LOAD for n in body.nodes))
    assert found == [17, 12]


# --------------------------------------------------------------------------- pipelines, and indices


def test_the_state_machine_of_a_pipeline_has_the_states_of_its_interval() -> None:
    found = []
    for tool in (TOOL, under(TOOL, "control", states="iteration")):
        regions = regions_of(stencil(), *THREE, tool=tool)
        bodies = leaves(regions)
        (pipeline,) = [leaf for leaf in bodies if leaf.pipelined]
        sums = Sums()
        loop_control(regions, bodies, sums)
        found.append((sums.lut["fsm"], sums.lut["stages"]))
        assert pipeline.period == 46
    assert found[0] == (multiplexer(47), -(-pipeline.times.states // 46))
    assert found[1] == (0, pipeline.times.states)


def test_what_is_selected_in_each_dimension_has_a_register() -> None:
    # Neither the row's bank nor the column's is known: two multiplexers behind each of nine loads.
    found = []
    for tool in (TOOL, under(TOOL, "multiplexers", banks="joint")):
        (leaf,) = (x for x in leaves(regions_of(stencil(), *THREE, tool=tool)) if x.pipelined)
        loads = [n for n in leaf.body.nodes if leaf.body.graph.kind[n] == LOAD]
        sums = Sums()
        registers(leaf, sums, {})
        found.append(sums.ff["selected"])
    assert len(loads) == 9
    assert found[0] == 2 * found[1] > 0


def test_the_bank_of_a_store_is_decoded_in_each_dimension() -> None:
    # One of three rows and one of four columns or so: an enable for each, not for each bank.
    found = []
    for tool in (TOOL, under(TOOL, "multiplexers", banks="joint")):
        (leaf,) = (x for x in leaves(regions_of(stencil(), *THREE, tool=tool)) if x.pipelined)
        graph, table = leaf.body.graph, leaf.body.addresses
        sums = Sums()
        logic(leaf, sums)
        found.append(sums.lut["decoder"])
        banks = [
            [one.banks for one in unknown_banks(table, graph.address[n], leaf.steps)]
            for n in leaf.stores()
        ]
    assert all(len(dimensions) == 2 for dimensions in banks)
    assert found[0] == sum(n - 1 for dimensions in banks for n in dimensions)
    assert found[1] == sum(prod(dimensions) - 1 for dimensions in banks) > found[0]


@pytest.mark.parametrize(("n", "count"), [(120, 3), (600, 0)])
def test_a_narrow_counter_is_divided_though_it_takes_every_element(n: int, count: int) -> None:
    # seidel-2d with all copies of i: a pipeline of 67 states has the 11 of a division of 7 bits.
    (nest,) = regions_of(stencil(n), Partition("A", 1, factor=3), Unroll("i", 2))
    body = nest.children[-1].body
    assert body is not None
    assert len(divisions(body, TOOL.division)) == count


@pytest.mark.parametrize(("factor", "slices"), [(2, 0), (4, 8), (8, 8)])
def test_rows_behind_an_exit_are_divided_as_wide_numbers(factor: int, slices: int) -> None:
    # 118 rows: none are left over at 2; at 4 and 8 the two copies behind the exit that the loop ends
    # at divide two rows that no copy in front of it has. Copies of the loop around share the slices.
    regions = regions_of(stencil(), *THREE, Unroll("i", factor))
    assert exits_dsp(regions) == slices
    regions = regions_of(stencil(), *THREE, Unroll("t", 2), Unroll("i", factor))
    assert exits_dsp(regions) == slices
    assert exits_dsp(regions_of(stencil(), Unroll("i", factor))) == 0


def test_what_tells_the_bank_of_a_row_is_divided_in_front_of_the_loop() -> None:
    # seidel-2d without a directive: 118 iterations at interval 46 and 30 cycles a row. Two copies of i have four
    # rows to divide, and each of their pipelines three columns: 7 bits each.
    (pipeline,) = innermost(regions_of(stencil(), *THREE))
    assert [loop.iv for loop in pipeline.loops] == ["j"]
    plain = replace(TOOL, division=None)
    (pipeline,) = innermost(regions_of(stencil(), *THREE, tool=plain))
    assert [loop.iv for loop in pipeline.loops] == ["t", "i", "j"]
    # What a nest reads of another array than it updates does not keep it from being flattened.
    apart = Partition("H", 0, factor=3), Partition("H", 1, factor=3)
    (pipeline,) = innermost(regions_of(updates(), *apart))
    assert [loop.iv for loop in pipeline.loops] == ["i", "j"]
    sums = Sums()
    index_divisions(leaves(regions_of(stencil(), *THREE, Unroll("i", 2))), sums)
    assert (sums.lut_fixed, sums.ff_fixed) == tuple((4 + 2 * 3) * each for each in divider(7))


@pytest.mark.parametrize(
    ("steps", "waiting"), [(THREE, 9 * 9 * 11), ((Unroll("j", 4),), (4 * 9 - 3) * 14)]
)
def test_addresses_wait_for_loads_of_what_is_updated(steps: tuple[Step, ...], waiting: int) -> None:
    # seidel-2d: each of nine loads may be in nine banks of 1,600 words; with L2 at 4, whose copies cannot be
    # compared, 36 loads but the three that the copy in front stores are of one array of 14,400.
    found = []
    for tool in (TOOL, under(TOOL, "registers", waiting_addresses=False)):
        (leaf,) = leaves(regions_of(stencil(), *steps, tool=tool))
        assert leaf.pipelined
        sums = Sums()
        registers(leaf, sums, {})
        found.append(sums.ff["addresses"])
    assert found[0] - found[1] == waiting


def test_banks_that_are_known_in_time_keep_no_values() -> None:
    # Two copies of j in four banks of columns: low bits tell the bank, and the row's has been divided before.
    found = []
    four = Partition("A", 0, factor=3), Partition("A", 1, factor=4)
    for steps in (THREE, (*four, Unroll("j", 2))):
        for tool in (TOOL, under(TOOL, "registers", waiting_addresses=False)):
            (leaf,) = leaves(regions_of(stencil(), *steps, tool=tool))
            sums = Sums()
            registers(leaf, sums, {})
            found.append(sums.ff["split"])
    assert found[0] == found[1] > 0
    assert found[2] == 0 < found[3]


# ------------------------------------------------------------------------------------- straight code


@pytest.mark.parametrize("copies", [2, 4])
def test_copies_of_a_block_give_a_port_the_same_addresses(copies: int) -> None:
    # jacobi-1d with L1 unrolled completely: each further copy of L0 has 200 to 760 LUTs, a pipeline and 60 states,
    # though it stores 118 elements again; with each store an input of its own it would be 1,700 to 2,900.
    found = []
    for tool in (TOOL, under(TOOL, "multiplexers", inputs="use")):
        p = ProgramBuilder("smooth")
        a, b = p.local("A", f64, (40,)), p.local("B", f64, (40,))
        t, i, k = p.loops(t=8, i=range(1, 39), k=range(1, 39))
        p.compute("S", (t, i), b[i], (a[i - 1] + a[i + 1]) * 0.5)
        p.compute("T", (t, k), a[k], (b[k - 1] + b[k + 1]) * 0.5, after=("S", t))
        regions = regions_of(p, Unroll("t", copies), Unroll("i", 38), tool=tool)
        own = [leaf for leaf in leaves(regions) if not leaf.pipelined]
        sums = Sums()
        for leaf in own:
            registers(leaf, sums, {})
        module_logic(own, sums)
        found.append(sums.lut["port_writes"])
        assert len(own) == copies
    assert multiplexer(39) < found[0] < 2 * multiplexer(39)  # 38 addresses, few registers
    assert found[1] == 2 * multiplexer(38 * copies + 1)


def test_loads_that_may_meet_in_a_bank_are_decoded_in_each() -> None:
    # fdtd-2d with 33 banks: each of 33 neighbours may be in each of them, in the same state. A pipeline of them has
    # 8,300 LUTs more than with a multiplexer for each bank.
    found = []
    for tool in (TOOL, under(TOOL, "multiplexers", banks="joint")):
        p = ProgramBuilder("neighbours")
        e, h = p.local("E", f64, (ROWS, COLUMNS)), p.local("H", f64, (ROWS, COLUMNS))
        i, j = p.loops(i=ROWS, j=COLUMNS - 16)
        p.compute("S", (i, j), h[i, j], e[i, j + 1] - e[i, j])
        steps = Partition("E", 1, factor=9), Partition("H", 1, factor=8), Unroll("j", 8)
        (leaf,) = (x for x in leaves(regions_of(p, *steps, tool=tool)) if x.pipelined)
        sums = Sums()
        logic(leaf, sums)
        module_logic([leaf], sums)
        found.append((sums.lut["decoder"], sums.lut["port_reads"]))
    assert found[0][0] - found[1][0] == 9 * (9 - 1)
    assert found[1][1] - found[0][1] >= 9 * multiplexer(10)
