"""Resources and clock period without a tool: the bits are right, and so are the figures."""

import random

import pytest

from backends.rtl.area.cells import cells
from backends.rtl.area.costs import KINDS, TABLED
from backends.rtl.area.cover import INPUTS, cover
from backends.rtl.area.depth import depth
from backends.rtl.area.elaborate import elaborate
from backends.rtl.area.estimate import area, period
from backends.rtl.area.needed import needed
from backends.rtl.area.net import Gate, Net
from backends.rtl.area.timing import paths
from backends.rtl.ir import ModuleBuilder, lit, mux
from backends.rtl.ir.fold import concat
from tests.rtl.evaluate import evaluated, random_expr
from tests.rtl.synthesised import synthesised

WIDTHS = (1, 2, 3, 7, 8, 13)


def randomly(rng):
    """A module of one random expression, the value of each input, and that of the output."""
    b = ModuleBuilder("m")
    leaves = [b.input(f"x{n}", rng.choice(WIDTHS)) for n in range(3)]
    env = {leaf.name: rng.getrandbits(leaf.width) for leaf in leaves}
    expr, wanted = random_expr(rng, leaves, env, 5)
    b.output("y", expr)
    return b.build(), env, wanted


@pytest.mark.parametrize("seed", range(8))
def test_bits_have_the_values_of_their_words(seed):
    rng = random.Random(seed)
    for _ in range(60):
        module, env, wanted = randomly(rng)
        values = [env[ref.name] >> n & 1 for ref in module.inputs for n in range(ref.width)]
        assert evaluated(elaborate(module), values) == wanted
        first = module.inputs[0]
        fixed = ((first.name, tuple(values[: first.width])),)
        assert evaluated(elaborate(module, fixed), values) == wanted


@pytest.mark.parametrize("seed", range(4))
def test_tables_have_four_inputs_and_nothing_else_goes_in(seed):
    rng = random.Random(seed)
    for _ in range(40):
        netlist = elaborate(randomly(rng)[0])
        used = needed(netlist)
        tables = cover(netlist.net, used)
        for node, table in tables.items():
            assert len(table.inputs) <= INPUTS
            todo = [bit >> 1 for bit in netlist.net.inputs[node]]
            while todo:
                n = todo.pop()
                if n and n not in table.inputs:
                    assert netlist.net.gates[n] is not Gate.LEAF
                    todo += [bit >> 1 for bit in netlist.net.inputs[n]]
            made = {n for n in table.inputs if netlist.net.gates[n] is not Gate.LEAF}
            assert made <= set(tables)


def test_a_net_has_each_function_once():
    net = Net()
    a, b, c = net.leaves(3)
    assert net.both(a, b) == net.both(b, a)
    assert net.choose(a, b, b) == b
    assert net.choose(a ^ 1, b, c) == net.choose(a, c, b)
    assert net.choose(a, b, b ^ 1) == net.differ(a, b) ^ 1
    assert net.differ(a ^ 1, b) == net.differ(a, b) ^ 1
    assert net.any_of([a, a ^ 1]) == 1
    assert net.all_of([]) == 1


def accumulator(copies=1, held=False):
    """Registers that add up a product; ``copies`` of them hold the same."""
    b = ModuleBuilder("accumulate")
    x, y = b.input("x", 16), b.input("y", 16)
    enable = b.input("enable")
    product = x.sext(32) * y.sext(32)
    for n in range(copies):
        p = b.reg(f"p{n}", 32, next=product)
        total = b.reg(f"total{n}", 32)
        b.drive(
            total, mux(enable, total + p, total) if held else total + p, None if held else enable
        )
        b.output(f"y{n}", total)
    return b.build()


def test_registers_that_hold_the_same_are_one():
    assert cells(accumulator(1))["flops"] == 64
    # Each accumulator follows itself: only what they add is the same.
    assert cells(accumulator(3))["flops"] == 32 + 3 * 32
    assert cells(accumulator(3))["multipliers"] == 1


def test_a_register_that_keeps_its_value_has_an_enable():
    assert cells(accumulator(held=True)) == cells(accumulator(held=False))


def test_what_no_output_needs_takes_nothing():
    b = ModuleBuilder("part")
    x = b.input("x", 24)
    b.output("y", (x + b.input("z", 24)).low(8))
    assert cells(b.build())["carry"] == 4


def test_constant_inputs_of_an_instance_reach_into_it():
    inner = accumulator()

    def around(y):
        b = ModuleBuilder("around")
        given = {"x": b.input("x", 16), "y": y or b.input("y", 16), "enable": b.input("enable")}
        b.output("out", b.instance(inner, "inner", given)["y0"])
        return b.build()

    assert cells(around(None)) == cells(inner)
    assert cells(around(lit(3, 16)))["multipliers"] == 1
    assert cells(around(lit(4, 16)))["multipliers"] == 0  # a shift
    assert cells(around(lit(0, 16)))["flops"] == 32  # what is added is 0


def test_registers_on_the_way_to_outputs_of_an_instance_that_nothing_needs_are_dropped():
    b = ModuleBuilder("inner")
    y = b.input("x", 24) + b.input("y", 24)
    for n in range(3):
        y = b.reg(f"s{n}", 24, next=y)
    b.output("y_out", y)
    inner = b.build()

    def around(low, high):
        b = ModuleBuilder("around")
        given = {"x": b.input("x", 24), "y": b.input("y", 24)}
        b.output("out", b.instance(inner, "inner", given)["y_out"].bits(high, low))
        return b.build()

    assert cells(around(0, 23))["flops"] == 72
    assert cells(around(8, 15))["flops"] == 24
    assert cells(around(8, 15))["carry"] == 8  # what is below bit 15
    assert cells(around(0, 23))["carry"] == 12
    assert paths(around(0, 3)).inside == paths(around(0, 23)).inside


def test_an_instance_with_one_value_at_two_ports_is_made_for_that():
    b = ModuleBuilder("square")
    x, y = b.input("x", 24), b.input("y", 24)
    crossed = (x.high(12).zext(24) * y.low(12).zext(24)) + (
        x.low(12).zext(24) * y.high(12).zext(24)
    )
    b.output("y_out", crossed)
    inner = b.build()
    b = ModuleBuilder("around")
    value = b.input("value", 24)
    b.output("out", b.instance(inner, "inner", {"x": value, "y": value})["y_out"])
    assert cells(inner)["multipliers"] == 2
    assert cells(b.build())["multipliers"] == 1  # a product is the same the other way round


def test_equal_instances_are_one():
    inner = accumulator()
    b = ModuleBuilder("twice")
    given = {"x": b.input("x", 16), "y": b.input("y", 16), "enable": b.input("enable")}
    for n in range(2):
        b.output(f"out{n}", b.instance(inner, f"inner{n}", given)["y0"])
    assert cells(b.build()) == cells(inner)


def test_a_loop_through_an_instance_and_a_wire_is_followed():
    inner = accumulator()
    b = ModuleBuilder("looped")
    back = b.declare("back", 32)
    given = {"x": back.low(16), "y": b.input("y", 16), "enable": b.input("enable")}
    out = b.instance(inner, "inner", given)["y0"]
    b.drive(back, out ^ b.input("mask", 32))
    b.output("out", out)
    found = cells(b.build())
    assert found["flops"] == 64
    assert found["parities"] == 16  # of the bits that go back


def chain(width, stages=1):
    b = ModuleBuilder("chain")
    x, z = (b.reg(n, width, next=b.input(f"{n}_in", width)) for n in "xz")
    for n in range(stages):
        x = x * z if n % 2 else x + z
    b.output("y", b.reg("y", width, next=x))
    return b.build()


def test_the_longest_path_grows_with_what_is_in_it():
    assert paths(chain(8)).inside < paths(chain(32)).inside < paths(chain(32, 2)).inside
    assert period(chain(8)) < period(chain(32, 2))


def test_a_path_goes_through_instances():
    def build(nested):
        b = ModuleBuilder("sum")
        a, c = b.input("a", 16), b.input("c", 16)
        b.output("y", (a + c) ^ a)
        inner = b.build()
        b = ModuleBuilder("top")
        x, z = (b.reg(n, 16, next=b.input(f"{n}_in", 16)) for n in "xz")
        y = b.instance(inner, "inner", {"a": x, "c": z})["y"] if nested else (x + z) ^ x
        b.output("out", b.reg("out_reg", 16, next=y))
        return paths(b.build()).inside

    # In the instance every input counts as the latest one, and a wire leads there.
    assert build(False) <= build(True) <= build(False) + 1.5


MODULES = {
    "accumulator": accumulator(),
    "three": accumulator(3),
    "sum": chain(32),
    "product": chain(24, 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_yosys_counts_what_is_estimated(name, tmp_path, warm_tools):
    module = MODULES[name]
    done = synthesised(module, tmp_path)
    found = area(module)
    assert (found.ff, found.dsp, found.bram) == (
        done.resources.ff,
        done.resources.dsp,
        done.resources.bram,
    )
    assert found.lut == pytest.approx(done.resources.lut, rel=0.4, abs=12)


def test_every_kind_is_described_and_has_a_cost():
    assert set(TABLED) < set(KINDS)
    assert set(cells(accumulator(2))) <= set(KINDS)


@pytest.mark.parametrize(("bits", "tables"), [(1, 0), (2, 1), (4, 1), (5, 2), (16, 2), (17, 3)])
def test_depth_of_a_conjunction(bits, tables):
    net = Net()
    assert depth(net, [net.all_of(net.leaves(bits))]) == tables


def test_a_row_of_gates_is_no_longer_than_it_has_to_be():
    def row(length):
        b = ModuleBuilder("row")
        x = b.input("x", length)
        found = x[0]
        for n in range(1, length):
            found = found & x[n] if n % 2 else found | x[n]
        b.output("y", found)
        return depth((netlist := elaborate(b.build())).net, netlist.outputs)

    assert row(4) == 1
    assert row(16) == 5


def test_a_product_of_several_multipliers_takes_longer():
    def longest(width):
        b = ModuleBuilder("product")
        x, y, z = (b.reg(name, width) for name in "xyz")
        for reg in (x, y):
            b.drive(reg, b.input(f"{reg.name}_in", width))
        low = x.low(16).zext(32) * y.low(16).zext(32)
        if width > 16:
            crossed = (x.bits(31, 16).zext(16) * y.low(16), y.bits(31, 16).zext(16) * x.low(16))
            low = low + concat(crossed[0] + crossed[1], lit(0, 16))
        b.drive(z, low.low(width))
        b.output("out", z)
        return paths(b.build()).inside

    assert longest(32) > longest(16) + 1
