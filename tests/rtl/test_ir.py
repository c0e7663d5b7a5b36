"""The register-transfer language: widths, folding, checking and the printed text."""

from __future__ import annotations

import random

import pytest

from backends.rtl.ir import (
    ModuleBuilder,
    NetlistError,
    Ref,
    WidthError,
    concat,
    lit,
    mux,
    repeat,
    to_verilog,
)
from backends.rtl.ir.names import LONGEST, RESERVED, Names
from tests.rtl.evaluate import random_expr, value


def refs(*widths: int) -> list[Ref]:
    return [Ref(f"r{i}", w) for i, w in enumerate(widths)]


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b, c: a + b,
        lambda a, b, c: a & b,
        lambda a, b, c: a.eq(b),
        lambda a, b, c: a.lt(b, signed=True),
        lambda a, b, c: mux(a, b, b),
        lambda a, b, c: mux(c, a, b),
        lambda a, b, c: mux(lit(1, 1), a, b),
        lambda a, b, c: a.bits(8, 0),
        lambda a, b, c: a.bits(2, 3),
        lambda a, b, c: a.sext(7),
        lambda a, b, c: a.zext(0),
        lambda a, b, c: lit(3, 0),
        lambda a, b, c: a[8],
        lambda a, b, c: concat(),
    ],
)
def test_what_does_not_fit_raises_where_it_is_made(make):
    with pytest.raises(WidthError):
        make(*refs(8, 9, 1))


def test_folding_keeps_the_value():
    rng = random.Random(1)
    for _ in range(3000):
        env, leaves = {}, []
        for i in range(3):
            ref = Ref(f"r{i}", rng.choice([1, 1, 2, 5, 8]))
            env[ref.name] = rng.getrandbits(ref.width)
            leaves.append(ref)
        expr, expected = random_expr(rng, leaves, env, depth=4)
        assert value(expr, env) == expected


def test_slices_go_through_what_is_put_together():
    a, b = refs(8, 4)
    assert concat(a, b).bits(11, 4) is a
    assert a.zext(12).low(8) is a
    assert a.sext(12).bits(7, 0) is a
    joined = concat(a.bits(7, 4), a.bits(3, 0))
    assert joined is a
    assert repeat(a[3], 5).width == 5


def test_names_are_legal_and_unique():
    names = Names()
    wishes = [
        "a",
        "a",
        "A",
        "while",
        "clk",
        "a__b",
        "9x",
        "",
        "é",
        "x" * 500,
        "is_unused",
        "a\nb",
        '"',
    ]
    given = [names.take(w) for w in wishes]
    assert len({g.lower() for g in given}) == len(given)
    for name in given:
        assert name.isascii()
        assert name.isidentifier()
        assert name not in RESERVED
        assert "__" not in name
        assert "unused" not in name
        assert len(name) <= LONGEST + 4


def test_a_module_has_the_name_that_is_printed():
    for wish in ("module", "gemm", "9 lives", "clk"):
        b = ModuleBuilder(wish)
        b.output("y", b.input("x"))
        module = b.build()
        assert f"module {module.name} (" in to_verilog(module)
        assert module.name not in RESERVED


def test_a_cycle_through_an_instance_is_found():
    inner = ModuleBuilder("inner")
    inner.output("y", ~inner.input("x"))
    b = ModuleBuilder("outer")
    loop = b.declare("loop")
    b.drive(loop, b.instance(inner.build(), "i", {"x": loop})["y"])
    b.output("y", loop)
    with pytest.raises(NetlistError, match="follows itself"):
        b.build()


def test_a_cycle_through_a_register_is_none():
    b = ModuleBuilder("m")
    r = b.reg("r", 4, reset=3)
    b.drive(r, r + lit(1, 4))
    b.output("y", r)
    assert b.build().resets


@pytest.mark.parametrize(
    "mistake", ["open", "twice", "foreign", "width", "address", "input", "reset"]
)
def test_a_module_that_makes_no_sense_is_refused(mistake):
    b = ModuleBuilder("m")
    x = b.input("x", 8)
    r = b.reg("r", 8, reset=256 if mistake == "reset" else None)
    memory = b.memory("mem", 8, 100)

    def make():
        if mistake == "open":
            b.output("y", x)
            return b.build()
        b.drive(r, x.low(7) if mistake == "width" else x)
        if mistake == "twice":
            b.drive(r, x)
        if mistake == "address":
            b.read(memory, x)
        if mistake == "input":
            inner = ModuleBuilder("inner")
            inner.output("y", inner.input("a", 3))
            b.instance(inner.build(), "i", {"a": x})
        b.output("y", Ref("x", 8) if mistake == "foreign" else r)
        return b.build()

    with pytest.raises(NetlistError):
        make()


def test_only_what_an_output_needs_is_kept():
    b = ModuleBuilder("m")
    x = b.input("x", 8)
    b.reg("dead", 8, next=x)
    memory = b.memory("mem", 8, 16)
    b.write(memory, x.low(4), x)
    b.read(memory, x.low(4))
    b.wire("dead_wire", x + x)
    b.output("y", b.reg("live", 8, next=x))
    m = b.build()
    assert [r.ref.name for r in m.regs] == ["live"]
    assert m.memories == m.writes == m.reads == m.wires == ()


def test_a_signed_product_shows_its_narrow_operands():
    b = ModuleBuilder("m")
    x, y = b.input("x", 8), b.input("y", 4)
    b.output("p", x.sext(12) * y.zext(12))
    assert "$signed({{4{x[7]}}, x}) * $signed({8'd0, y})" in to_verilog(b.build())


def test_modules_of_one_name_are_told_apart():
    def leaf(bias: int):
        b = ModuleBuilder("leaf")
        b.output("y", b.input("x", 4) + lit(bias, 4))
        return b.build()

    b = ModuleBuilder("top")
    x, one = b.input("x", 4), leaf(1)
    for module in (one, one, leaf(2)):
        x = b.instance(module, "i", {"x": x})["y"]
    b.output("y", x)
    text = to_verilog(b.build())
    assert [line.split()[1] for line in text.splitlines() if line.startswith("module")] == [
        "leaf",
        "leaf_2",
        "top",
    ]
