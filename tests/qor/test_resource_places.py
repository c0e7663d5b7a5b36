"""Banks that an access is in indeed, divisions by numbers of banks, selections that are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from dsl.builder.program import ProgramBuilder
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.types import f32, f64
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.area.access_places import banks_of
from qor_gnn.area.address_cost import address_dsp, divisions
from qor_gnn.area.binding import units_of
from qor_gnn.area.index_divisions import index_divisions
from qor_gnn.area.logic import logic, module_logic, port_uses
from qor_gnn.area.modules import Leaf, leaves
from qor_gnn.area.multiplexers import (
    bank_multiplexer,
    divider,
    division_adders,
    multiplexer,
    subtraction,
)
from qor_gnn.area.resources import terms_of
from qor_gnn.area.terms import Sums
from qor_gnn.design.region import Guard, Loop
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.personality import Personality, personality
from tests.qor.designs import region_tree
from tests.support.tools import under

ZU9EG, U200 = "vitis-2022.1-zu9eg-10ns", "vitis-2025.1-u200-4ns"


def regions_of(p: ProgramBuilder, s: ScheduleBuilder, tool: Personality) -> list[Region]:
    """Of a program of one function."""
    kernel = region_tree(p, s)
    return function_latency(Scope(kernel, tool), kernel.functions[0])[1]


def logic_of(bodies: Sequence[Leaf]) -> Sums:
    """The LUT terms of bodies, each by itself."""
    sums = Sums()
    for leaf in bodies:
        logic(leaf, sums)
    return sums


def copied(n: int, unroll: int, banks: int, tool: str = ZU9EG, first: int = 0) -> Leaf:
    """The body of ``y[i] = x[i] * x[i]``, pipelined, from ``first`` on."""
    p = ProgramBuilder("copied")
    (i,) = p.loops(i=range(first, n))
    x, y = p.placeholder("x", f32, (n,)), p.placeholder("y", f32, (n,))
    p.compute("S", (i,), y[i], x[i] * x[i])
    s = ScheduleBuilder()
    s.unroll("S.i", unroll, tail="guard")
    s.pipeline("S.i")
    s.partition("x", 0, "cyclic", banks)
    (leaf,) = leaves(regions_of(p, s, personality(tool)))
    return leaf


def of_loads(leaf: Leaf) -> set[tuple[int, ...]]:
    """The banks of each load of x."""
    table, graph = leaf.body.addresses, leaf.body.graph
    return {banks_of(table, graph.address[n], leaf.steps)[0] for n in leaf.loads()}


def test_a_load_is_in_no_more_banks_than_its_loop_has_iterations() -> None:
    """64 elements in 64 banks, 32 copies: two iterations, so that each copy sees two banks."""
    leaf = copied(64, 32, 64)
    assert leaf.steps == {"i": 2}
    assert of_loads(leaf) == {(k, k + 32) for k in range(32)}
    assert {(p.reached, p.selection) for p in leaf.places.values()} >= {(2, multiplexer(2))}


def test_iterations_that_do_not_divide_the_banks() -> None:
    """60 elements, 60 banks, 25 copies: the residue class modulo 5 has twelve banks, of which three."""
    expected = {tuple(sorted((k + 25 * i) % 60 for i in range(3))) for k in range(25)}
    assert of_loads(copied(60, 25, 60)) == expected


def test_banks_of_several_elements_are_all_possible() -> None:
    """60 elements in 50 banks: the bank is a remainder, of which the tool knows no range."""
    loads = of_loads(copied(60, 20, 50))
    assert loads == {tuple(range(k, 50, 10)) for k in range(10)}


def test_many_iterations_reach_every_bank_of_the_class() -> None:
    leaf = copied(64, 2, 8)
    assert of_loads(leaf) == {(0, 2, 4, 6), (1, 3, 5, 7)}
    load = next(p for p in leaf.places.values() if p.reached > 1)
    assert load.selection == bank_multiplexer(8, 2)


def test_a_loop_from_a_variable_start_may_reach_every_bank() -> None:
    p = ProgramBuilder("rows")
    i, j = p.loops(i=8, j=8)
    x, y = p.placeholder("x", f32, (16,)), p.placeholder("y", f32, (8, 8))
    p.compute("S", (i, j), y[i, j], x[i + j])
    s = ScheduleBuilder()
    s.skew("S.i", "S.j", 1)  # j from i to i + 7
    s.pipeline("S.j")
    s.partition("x", 0, "cyclic", 16)
    (leaf,) = leaves(regions_of(p, s, personality(ZU9EG)))
    assert leaf.steps == {"i": 8}
    assert of_loads(leaf) == {tuple(range(16))}


def test_a_multiplexer_of_fewer_banks_than_the_class_has() -> None:
    assert bank_multiplexer(64, 32, 2) == bank_multiplexer(64, 32)
    assert bank_multiplexer(410, 2, 2) == multiplexer(2) < bank_multiplexer(410, 2)
    assert bank_multiplexer(8, 1, 1) == 0
    assert bank_multiplexer(8, 8) == 0


def rows(factor: int, dimension: int) -> float:
    """LUTs of bank multiplexers of ``y[i, j] = x[i, j]``, or ``x[j, i]``, that dimension of x split
    completely and its loop unrolled.
    """
    p = ProgramBuilder("rows")
    i, j = p.loops(i=60, j=60)
    x, y = p.placeholder("x", f32, (60, 60)), p.placeholder("y", f32, (60, 60))
    p.compute("S", (i, j), y[i, j], x[i, j] if dimension else x[j, i])
    s = ScheduleBuilder()
    s.unroll("S.j", factor)
    s.pipeline("S.j")
    s.partition("x", dimension, "complete")
    return logic_of(leaves(regions_of(p, s, personality(U200)))).lut["banks_pipelined"]


def test_a_row_is_decoded_but_for_the_low_zeros_of_its_step() -> None:
    """60 banks, 30 copies: two iterations. 30 is twice an odd number, so that 30 banks are left."""
    assert rows(30, 1) == 30 * multiplexer(30)
    assert rows(30, 0) == 30 * multiplexer(2)
    assert rows(20, 1) == 20 * multiplexer(15)


def test_constant_addresses_are_free() -> None:
    p = ProgramBuilder("straight")
    (i,) = p.loops(i=8)
    x, y = p.placeholder("x", f32, (64,)), p.placeholder("y", f32, (64,))
    p.compute("S", (i,), y[3 * i], x[5 * i] + x[5 * i + 1])
    found = []
    for factor in (2, 8):
        s = ScheduleBuilder()
        s.unroll("S.i", factor)
        regions = regions_of(p, s, personality(ZU9EG))
        found.append(terms_of([regions], units_of(regions)).lut["addresses"])
    assert found[0] > found[1] == 0


def divided(n: int) -> tuple[int, int]:
    """LUTs and flip-flops of ``n`` rows in 3 banks beyond those of 4 banks: one division each."""
    p = ProgramBuilder("rows")
    i, j = p.loops(i=n, j=8)
    x, y = p.placeholder("x", f32, (n, 8)), p.placeholder("y", f32, (n, 8))
    p.compute("S", (i, j), y[i, j], x[i, j] * x[i, j])

    def fixed(banks: int) -> tuple[int, int]:
        s = ScheduleBuilder()
        s.pipeline("S.j")
        s.partition("x", 0, "cyclic", banks)
        (leaf,) = leaves(regions_of(p, s, personality(U200)))
        sums = logic_of([leaf])
        index_divisions([leaf], sums)
        count = len(divisions(leaf.body, personality(U200).division))
        assert count == (banks & (banks - 1) != 0)
        return round(sums.lut_fixed), round(sums.ff_fixed)

    plain, split = fixed(4), fixed(3)
    return split[0] - plain[0], split[1] - plain[1]


def test_indices_are_divided_where_the_banks_are_no_power_of_two() -> None:
    """In logic what has few bits, else in DSP slices with adders around them."""
    assert divided(30) == divider(5) == (45, 99)
    assert divided(1000) == (division_adders(10, 3), 0) == (9, 0)  # two bits of remainder
    assert division_adders(16, 9) == 11 + 4 * 24


def turning(banks: int, tool: Personality, other: int = 0) -> Leaf:
    """A pipeline that reads x[i + other · j], and the next element, of so many banks."""
    p = ProgramBuilder("turning")
    j, i = p.loops(j=8, i=16)
    x, y = p.placeholder("x", f32, (512,)), p.placeholder("y", f32, (8, 16))
    p.compute("S", (j, i), y[j, i], x[i + other * j] * x[i + other * j + 1])
    s = ScheduleBuilder()
    s.pipeline("S.i")
    s.partition("x", 0, "cyclic", banks)
    (leaf,) = leaves(regions_of(p, s, tool))
    return leaf


def test_a_port_chooses_among_all_accesses_that_come_by() -> None:
    """Banks that are known to differ are known so in each iteration, not once for all."""
    tool = personality(U200)
    uses = port_uses(turning(5, tool))
    assert sorted(n for (kind, _), n in uses.items() if kind == "load") == [2] * 5
    apart = under(tool, "banks", rotating=False)
    assert 5 not in Counter(port_uses(turning(5, apart)).values())


def test_what_moves_by_multiples_of_the_banks_does_not_change_the_bank() -> None:
    """x[i + 51 j] in 17 banks: 16 values of i are all that tells the bank, and no division."""
    leaf = turning(17, personality(U200), 51)
    table, graph = leaf.body.addresses, leaf.body.graph
    first = min(graph.address[n] for n in leaf.loads())
    assert len(banks_of(table, first, leaf.steps)[0]) == 16
    assert {d.rest for d in divisions(leaf.body, personality(U200).division)} == {True}
    assert address_dsp(leaf.body) == 0
    # The index, a comparison and a subtraction of the 5 bits of a bank.
    assert subtraction(9, 17) == (9 + 7) + 2 * (5 + 7)


def selections(*, kept: bool) -> float:
    """LUTs of operators where, of pairs, some are added to an element, or to a scalar."""
    p = ProgramBuilder("sums")
    i, j = p.loops(i=8, j=8)
    x, y = p.placeholder("x", f32, (8, 8)), p.placeholder("y", f32, (8, 8))
    total = p.placeholder("total", f32, (1,))
    target = total[0] if kept else y[i, j]
    p.compute("S", (i, j), target, target + x[i, j])
    s = ScheduleBuilder()
    s.unroll("S.j", 2)
    s.pipeline("S.j")
    kernel = region_tree(p, s)
    ((function,), (outer,)) = kernel.functions, kernel.functions[0].body
    assert isinstance(outer, Loop)
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    below = Constraint(Affine(((outer.iv, 1), (inner.iv, -1))), ">=")
    inner = replace(inner, body=(Guard((below,), inner.body),))
    function = replace(function, body=(replace(outer, body=(inner,)),))
    kernel = replace(kernel, functions=(function,))
    _, regions = function_latency(Scope(kernel, personality(ZU9EG)), function)
    return logic_of(leaves(regions)).lut_fixed


def test_a_guarded_store_needs_no_selection() -> None:
    assert selections(kept=False) == 0
    assert selections(kept=True) > 0


def update(tool: Personality, column: int = 1) -> Sums:
    """Two pipelines that read a column of x, each element of it by itself; one updates y."""
    p = ProgramBuilder("update")
    (i,) = p.loops(i=8)
    x, y = p.placeholder("x", f32, (8, 4)), p.placeholder("y", f32, (64,))
    z = p.placeholder("z", f32, (8,))
    p.compute("S", (i,), y[8 * i], y[8 * i] + x[i, 1])
    p.compute("T", (i,), z[i], x[i, column] + x[i, column])
    s = ScheduleBuilder()
    for name in ("S.i", "T.i"):
        s.pipeline(name)
    s.partition("x", 0, "complete")
    s.partition("y", 0, "cyclic", 16)
    regions = regions_of(p, s, tool)
    return terms_of([regions], units_of(regions))


def test_addresses_that_are_shifted_along_may_be_luts_alone() -> None:
    tool = personality(ZU9EG)
    plain = update(tool)
    luts = update(under(tool, "registers", shifted="lut"))
    # y[8 * i], which is updated, is in one of two banks.
    assert plain.lut["long"] == luts.lut["long"] + 1 >= 2
    assert dict(plain.lut, long=0) == dict(luts.lut, long=0)
    assert plain.ff["long"] > luts.ff["long"]


def stored(shape: tuple[int, ...], *, updated: bool) -> Sums:
    """One pipeline at 2025.1 that stores to one of 4 banks, known when the element is loaded."""
    p = ProgramBuilder("stored")
    counters = p.loops(i=shape[0]) if len(shape) == 1 else p.loops(i=shape[0], j=shape[1])
    c, d = p.placeholder("C", f64, shape), p.placeholder("D", f64, shape)
    p.compute("S", counters, c[counters], (c if updated else d)[counters] * d[counters])
    s = ScheduleBuilder()
    s.pipeline("S.j" if len(shape) > 1 else "S.i")
    s.partition("C", 0, "cyclic", 4)
    tool = personality(U200)
    regions = regions_of(p, s, tool)
    return terms_of([regions], units_of(regions))


def test_an_element_of_a_matrix_that_is_updated_keeps_its_address_in_each_bank() -> None:
    """64 flip-flops and the address's own: 64 rows in 4 banks of 16 words of 16."""
    assert stored((64, 16), updated=True).ff["long"] == 4 * (64 + 4 + 4)
    assert stored((64, 16), updated=False).ff["long"] == 0
    assert stored((64,), updated=True).ff["long"] == 0


def registers_of(banks: int) -> Sums:
    """A pipeline that reads one element after the other of 8, in so many banks."""
    p = ProgramBuilder("read")
    (i,) = p.loops(i=8)
    x, y = p.placeholder("x", f32, (8,)), p.placeholder("y", f32, (64,))
    p.compute("S", (i,), y[8 * i], x[i] * x[i])
    s = ScheduleBuilder()
    s.pipeline("S.i")
    s.partition("x", 0, "cyclic", banks)
    regions = regions_of(p, s, personality(U200))
    return terms_of([regions], units_of(regions))


def test_what_is_selected_from_single_registers_is_in_one() -> None:
    found = registers_of(8)
    assert found.ff["selected"] == 32
    assert found.ff["complete"] == found.ff["selected_complete"] == 0  # they are there already


def row(read: int) -> Sums:
    """A pipeline along rows of C, all columns in banks, that stores C[i][j] and reads C[i][j - read]."""
    p = ProgramBuilder("row")
    counters = i, j = p.loops(i=8, j=range(1, 8))
    c = p.placeholder("C", f32, (8, 8))
    p.compute("S", counters, c[i, j], c[i, j - read] + c[i, j - read])
    s = ScheduleBuilder()
    s.unroll("S.i", 2)
    s.pipeline("S.j")
    s.partition("C", 1, "complete")
    regions = regions_of(p, s, personality(U200))
    return terms_of([regions], units_of(regions))


def test_elements_that_the_nest_stores_are_not_there_ahead() -> None:
    assert row(0).ff["complete"] == 2 * 8 * 32
    assert row(1).ff["complete"] == row(1).ff["addresses"] == 0


def test_modules_may_share_the_elements_of_an_array() -> None:
    tool = personality(ZU9EG)
    assert update(tool).ff["complete"] == 2 * 8 * 32
    shared = under(tool, "registers", elements="row")
    assert update(shared).ff["complete"] == 8 * 32
    assert update(shared, column=2).ff["complete"] == 2 * 8 * 32


def test_a_block_divides_subscripts_as_well() -> None:
    """What stands beside loops is a body without counters of its own."""
    p = ProgramBuilder("beside")
    i, j, k = p.loops(i=9, j=9, k=9)
    x, y = p.placeholder("x", f32, (9,)), p.placeholder("y", f32, (9,))
    z = p.placeholder("z", f32, (9, 9))
    p.compute("R", (i, j), z[i, j], x[j] + x[j])
    p.compute("S", (i,), y[i], x[i] * x[i])
    p.compute("T", (i, k), y[i], y[i] + z[i, k])
    s = ScheduleBuilder()
    s.fuse(("R", "S", "T"), 1)
    s.partition("x", 0, "cyclic", 3)
    blocks = [b for b in leaves(regions_of(p, s, personality(U200))) if not b.body.variables]
    assert [len(divisions(b.body, personality(U200).division)) for b in blocks] == [1]


def together(tool: Personality) -> Leaf:
    """A pipeline at interval 2: y[i] *= z[i], and v[i] = x[i] z[i]: one multiplier."""
    p = ProgramBuilder("together")
    (i,) = p.loops(i=16)
    x, y, z, v = (p.placeholder(name, f32, (16,)) for name in "xyzv")
    p.compute("S", (i,), y[i], y[i] * z[i])
    p.compute("T", (i,), v[i], x[i] * z[i], after=("S", i))
    s = ScheduleBuilder()
    s.pipeline("S.i", 2)
    (leaf,) = leaves(regions_of(p, s, tool))
    return leaf


def test_a_load_and_a_store_have_a_port_each_and_a_value_one_input() -> None:
    """y's two ports need no multiplexers; z[i] is one input of the multiplier, x[i] and y[i] are two."""
    tool = personality(U200)
    shared = under(tool, "multiplexers", ports_apart=False, inputs="use")
    leaf, other = together(tool), together(shared)
    assert max(port_uses(leaf).values()) == 1 < max(port_uses(other).values())
    sums, more = Sums(), Sums()
    module_logic([leaf], sums)
    module_logic([other], more)
    assert (sums.lut["operands"], more.lut["operands"]) == (multiplexer(3), 2 * multiplexer(3))
    assert sums.lut["port_reads"] == 0 < more.lut["port_reads"]
