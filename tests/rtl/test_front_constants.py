"""Multiplication and division by constants, and elements of tables of them."""

import random

import pytest

import weft
from backends.rtl.front.lower import graph_of
from backends.rtl.front.values.builder import Builder
from backends.rtl.front.values.constants import reciprocal, two_digits
from backends.rtl.front.values.operate import operate
from backends.rtl.front.values.val import Val, constant
from backends.rtl.graph import Kind, Pipeline, Straight, walk
from dsl.arrays.inputs import random_inputs
from dsl.expressions.numeric import wrap
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Unroll
from mlir_passes.pipeline import compile_design
from tests.rtl.front_support import compared
from weft import f32, i32


def _run(builder: Builder, result: Val, inputs: dict[str, int]) -> int:
    values: list[int] = []
    for op in builder.ops:
        if op.kind is Kind.CONST:
            value = op.value
        elif op.kind is Kind.INPUT:
            value = inputs[op.name]
        else:
            uses = [wrap(values[u.op], builder.ops[u.op].width, u.signed) for u in op.operands]
            value = operate(op, uses, flush=False)
        values.append(value & ((1 << op.width) - 1))
    if result.const is not None:
        return result.const
    found = wrap(values[result.op], builder.ops[result.op].width, result.signed)
    assert result.low <= found <= result.high
    return found


def _expected(kind: Kind, a: int, d: int) -> int:
    if kind is Kind.FLOORDIV:
        return a // d
    quotient = abs(a) // d * (1 if a >= 0 else -1)
    return quotient if kind is Kind.DIV else a - quotient * d


@pytest.mark.parametrize("kind", [Kind.DIV, Kind.FLOORDIV, Kind.REM])
@pytest.mark.parametrize("signed", [True, False])
def test_divisions_by_constants_are_exact_for_all_small_dividends(kind: Kind, signed: bool):
    for width in (1, 4, 7):
        for divisor in (*range(1, 20), 100, 127, 128, 129, 1000):
            builder = Builder()
            a = builder.argument("a", width, signed)
            result = builder.divide(kind, a, constant(divisor), 12)
            assert not {Kind.DIV, Kind.FLOORDIV, Kind.REM} & {op.kind for op in builder.ops}
            for raw in range(1 << width):
                value = wrap(raw, width, signed)
                assert _run(builder, result, {"a": raw}) == _expected(kind, value, divisor)


@pytest.mark.parametrize("kind", [Kind.DIV, Kind.FLOORDIV, Kind.REM])
def test_divisions_of_wide_numbers_by_constants_are_exact(kind: Kind):
    rng = random.Random(1)
    for width in (16, 32, 34, 50):
        for divisor in (3, 7, 10, 641, (1 << 31) - 1, rng.randrange(1, 1 << width)):
            builder = Builder()
            a = builder.argument("a", width, True)
            result = builder.divide(kind, a, constant(divisor), width + 1)
            top = (1 << (width - 1)) // divisor * divisor
            near = [x + e for x in (0, divisor, -divisor, top, -top) for e in (-1, 0, 1)]
            near += [rng.randrange(-(1 << (width - 1)), 1 << (width - 1)) for _ in range(50)]
            for value in near:
                value = wrap(value, width, True)
                raw = value & ((1 << width) - 1)
                assert _run(builder, result, {"a": raw}) == _expected(kind, value, divisor)


def test_the_reciprocal_of_a_product_has_about_as_many_bits_as_the_dividend():
    m, _, _ = reciprocal(-(1 << 31), (1 << 31) - 1, 9)
    assert m.bit_length() <= 33


def test_factors_of_two_digits_are_shifts_and_an_addition():
    for factor in range(-4, 300):
        found = two_digits(factor)
        if found is not None:
            upper, lower, minus = found
            assert (1 << upper) + (-1 if minus else 1) * (1 << lower) == factor
        builder = Builder()
        a = builder.argument("a", 9, True)
        product = builder.mul(a, constant(factor))
        for value in (-256, -3, 0, 7, 255):
            assert _run(builder, product, {"a": value & 511}) == value * factor
    assert [f for f in range(40) if two_digits(f)] == [
        *(3, 5, 6, 7, 9, 10, 12, 14, 15, 17, 18, 20, 24, 28, 30, 31, 33, 34, 36),
    ]


WEIGHTS = [(k * 40503) % 65521 - 30000 for k in range(16)]
HALVES = [0.5 - k / 16 for k in range(16)]


@weft.kernel
def weighed(x: i32[4, 16], g: f32[4, 16], y: i32[4], z: f32[4, 16]):
    for i in range(4):
        for k in range(16):
            y[i] += WEIGHTS[k] * x[i, k]
            z[i, k] = HALVES[15 - k] * g[i, k]


@pytest.mark.parametrize("copies", [4, 0])
def test_elements_of_tables_that_copies_know_are_not_loaded(copies: int) -> None:
    schedule = Schedule((Unroll("k", copies),))
    graph = graph_of(compile_design(weighed.program, schedule).module)
    tables = {table.name for table in weighed.program.tables}
    loaded = {
        op.place.array
        for region in walk(graph.body)
        if isinstance(region, Straight | Pipeline)
        for op in region.block.ops
        if op.kind is Kind.LOAD and op.place is not None
    }
    assert loaded & tables == (tables if copies else set())
    difference, _ = compared(weighed.program, graph, random_inputs(weighed.program), schedule)
    assert difference is None
