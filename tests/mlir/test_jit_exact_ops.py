"""Integer and fixed-point operators in the JIT are those of dsl.expressions.numeric, bit for bit."""

import itertools
import random

import pytest

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, CompareOp, Const, Index, UnaryOp
from dsl.expressions.numeric import (
    exact_binary,
    exact_compare,
    exact_unary,
    frac_of,
    signed_of,
    wrap,
)
from dsl.expressions.types import FixedType, IntType
from dsl.expressions.typing import binary, cast, compare, select, unary
from tests.mlir.elementwise import elementwise, interesting, run

SMALL = [IntType(4), IntType(3, False), IntType(1), IntType(1, False)]
LARGE = [
    IntType(7),
    IntType(32),
    IntType(33, False),
    IntType(64),
    IntType(64, False),
    IntType(65),
    IntType(100, False),
    IntType(128),
    IntType(200),
]
FIXED = [FixedType(6, 3), FixedType(5, 7, False), FixedType(4, -2), FixedType(70, 33), IntType(5)]
DIVISIONS = (BinaryOp.DIV, BinaryOp.FLOORDIV, BinaryOp.MOD)
SHIFTS = (BinaryOp.SHL, BinaryOp.SHR)


def possible(ops, x, y):
    """The expressions of the operators that these types have."""
    found = {}
    for op in ops:
        try:
            found[op.name] = binary(op, x, y)
        except LanguageError:
            continue
    return found


def check_binary(ta, tb, pairs):
    others = tuple(op for op in BinaryOp if op not in DIVISIONS + SHIFTS)
    for ops in (DIVISIONS, SHIFTS, others):
        valid = [
            (a, b)
            for a, b in pairs
            if not (b == 0 and ops is DIVISIONS) and not (b < 0 and ops is SHIFTS)
        ]
        program = elementwise(
            {"x": ta, "y": tb}, lambda x, y, ops=ops: possible(ops, x, y), len(valid)
        )
        found = run(program, {"x": [a for a, _ in valid], "y": [b for _, b in valid]})
        for name, values in found.items():
            op = BinaryOp[name]
            result = program.array(name).dtype
            expected = [exact_binary(op, a, ta, b, tb, result) for a, b in valid]
            assert values == expected, (op, ta, tb)


@pytest.mark.parametrize(("ta", "tb"), list(itertools.product(SMALL, SMALL)), ids=str)
def test_every_operator_on_every_pair_of_narrow_integers(ta, tb):
    check_binary(
        ta, tb, list(itertools.product(interesting(ta, None, 16), interesting(tb, None, 16)))
    )


@pytest.mark.parametrize(
    ("ta", "tb"),
    [
        *zip(LARGE, LARGE, strict=True),
        *zip(LARGE, reversed(LARGE), strict=True),
        (IntType(32), IntType(8)),
    ],
    ids=str,
)
def test_every_operator_on_wide_integers(ta, tb):
    rng = random.Random(4)
    xs, ys = interesting(ta, rng, 20), interesting(tb, rng, 20)
    ys += [y for y in (31, 32, 33, 64) if y in interesting(tb, rng, 1) or y < 2**5]
    check_binary(ta, tb, list(itertools.product(xs, ys)))


@pytest.mark.parametrize(("ta", "tb"), list(itertools.product(FIXED, FIXED)), ids=str)
def test_every_operator_on_fixed_point(ta, tb):
    rng = random.Random(5)
    pairs = list(itertools.product(interesting(ta, rng, 64), interesting(tb, rng, 64)))
    check_binary(ta, tb, rng.sample(pairs, min(len(pairs), 400)))


@pytest.mark.parametrize(
    ("ta", "tb"), list(itertools.product([*SMALL, *FIXED, IntType(65)], FIXED)), ids=str
)
def test_comparisons_are_by_exact_value(ta, tb):
    rng = random.Random(6)
    pairs = list(itertools.product(interesting(ta, rng, 64), interesting(tb, rng, 64)))
    program = elementwise(
        {"x": ta, "y": tb},
        lambda x, y: {op.name: compare(op, x, y) for op in CompareOp},
        len(pairs),
    )
    found = run(program, {"x": [a for a, _ in pairs], "y": [b for _, b in pairs]})
    for op in CompareOp:
        expected = [exact_compare(op, a, frac_of(ta), b, frac_of(tb)) for a, b in pairs]
        assert found[op.name] == expected, op


@pytest.mark.parametrize("dtype", [*SMALL, *LARGE, *FIXED], ids=str)
def test_unary_operators(dtype):
    ops = [UnaryOp.NEG, UnaryOp.ABS]
    ops += [UnaryOp.INVERT] * isinstance(dtype, IntType)
    ops += [UnaryOp.NOT] * (dtype == IntType(1, False))
    values = interesting(dtype, random.Random(7), 100)
    program = elementwise(
        {"x": dtype}, lambda x: {op.name: unary(op, x) for op in ops}, len(values)
    )
    found = run(program, {"x": values})
    for op in ops:
        result = program.array(op.name).dtype
        assert found[op.name] == [exact_unary(op, x, result) for x in values], op


@pytest.mark.parametrize(
    "dtype", [IntType(4), IntType(9, False), IntType(32), IntType(64)], ids=str
)
@pytest.mark.parametrize("number", [-7, -1, 1, 3, 4, 40])
def test_division_and_shifts_by_constants(dtype, number):
    ops = [BinaryOp.FLOORDIV, BinaryOp.MOD]
    ops += [BinaryOp.SHL, BinaryOp.SHR] * (number > 0)
    values = interesting(dtype, random.Random(8), 100)
    program = elementwise(
        {"x": dtype}, lambda x: {op.name: binary(op, x, number) for op in ops}, len(values)
    )
    found = run(program, {"x": values})
    for op in ops:
        stmt = next(s for s in program.statements() if s.target.array == op.name)
        assert isinstance(stmt.value.rhs, Const)
        result = stmt.value.dtype
        expected = [
            exact_binary(op, x, dtype, number, stmt.value.rhs.dtype, result) for x in values
        ]
        assert found[op.name] == expected, op


def test_select_takes_the_common_type():
    a, b = IntType(6), FixedType(7, 3, False)
    pairs = list(itertools.product(interesting(a, None, 64), interesting(b, None, 128)))
    program = elementwise(
        {"x": a, "y": b}, lambda x, y: {"z": select(compare(CompareOp.LT, x, y), x, y)}, len(pairs)
    )
    found = run(program, {"x": [x for x, _ in pairs], "y": [y for _, y in pairs]})
    frac = frac_of(program.array("z").dtype)
    assert frac == 4
    assert found["z"] == [x << 4 if x << 4 < y else y for x, y in pairs]


@pytest.mark.parametrize(
    "target", [IntType(3), IntType(9, False), IntType(65), IntType(65, False)], ids=str
)
@pytest.mark.parametrize("source", [IntType(8), IntType(64, False), IntType(100)], ids=str)
def test_integer_conversions_wrap(source, target):
    values = interesting(source, random.Random(9), 256)
    program = elementwise({"x": source}, lambda x: {"y": cast(target, x)}, len(values))
    expected = [wrap(x, target.width, signed_of(target)) for x in values]
    assert run(program, {"x": values})["y"] == expected


def test_constants_of_any_width():
    wide = IntType(200)
    numbers = [0, 1, -1, 2**63, -(2**63), 2**64, -(2**199), 2**199 - 1, 12345678901234567890123]
    program = elementwise(
        {"x": wide}, lambda x: {f"y{n}": cast(wide, v) for n, v in enumerate(numbers)}, 1
    )
    assert run(program, {"x": [0]}) == {f"y{n}": [v] for n, v in enumerate(numbers)}


def test_an_index_is_an_i32():
    i = Affine.of("i")
    exprs = {
        "a": cast(IntType(32), Index(i * 3 - 5)),
        "b": binary(BinaryOp.MUL, Index((i + 1) // 2), Index(i % 3)),
    }
    program = elementwise({"x": IntType(8)}, lambda _: exprs, 10)
    assert program.array("b").dtype == IntType(64)
    found = run(program, {"x": [0] * 10})
    assert found["a"] == [3 * k - 5 for k in range(10)]
    assert found["b"] == [(k + 1) // 2 * (k % 3) for k in range(10)]
