"""Result types, literals and their errors."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.affine import Affine
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    CompareOp,
    Const,
    Index,
    Load,
    Unary,
    UnaryOp,
)
from dsl.expressions.types import (
    FixedType,
    FloatType,
    IntType,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    fixed,
    index,
    ufixed,
)
from dsl.expressions.typing import (
    assignable,
    assigned,
    binary,
    binary_type,
    cast,
    common_type,
    compare,
    logical,
    power,
    select,
    unary,
    unary_type,
)

B, U, C = BinaryOp, UnaryOp, CompareOp


def i(width):
    return IntType(width)


def u(width):
    return IntType(width, signed=False)


def of(dtype):
    return Load(Access("x", ()), dtype)


@pytest.mark.parametrize(
    ("a", "op", "b", "result"),
    [
        (i(8), B.ADD, i(8), i(9)),
        (u(8), B.ADD, u(8), u(9)),
        (u(8), B.SUB, u(8), i(9)),
        (i(8), B.ADD, u(8), i(10)),
        (i(8), B.MUL, u(4), i(12)),
        (i(8), B.FLOORDIV, i(4), i(9)),
        (i(8), B.FLOORDIV, u(4), i(8)),
        (u(8), B.FLOORDIV, i(4), i(9)),
        (i(8), B.MOD, i(4), i(4)),
        (i(8), B.MOD, u(4), u(4)),
        (i(8), B.SHL, u(20), i(8)),
        (u(8), B.SHR, i(4), u(8)),
        (i(8), B.AND, u(8), i(9)),
        (u(1), B.OR, u(1), u(1)),
        (i(8), B.MIN, u(8), i(9)),
        (index, B.ADD, index, i(33)),
        (index, B.MUL, i(8), i(40)),
        (fixed[16, 8], B.ADD, fixed[16, 8], fixed[17, 9]),
        (fixed[16, 8, "rnd", "sat"], B.ADD, ufixed[8, 0], fixed[17, 9]),
        (fixed[16, 8], B.MUL, i(8), fixed[24, 16]),
        (fixed[16, 8], B.DIV, fixed[12, 4], fixed[25, 17]),
        (i(8), B.DIV, fixed[12, 4], fixed[17, 17]),
        (ufixed[8, 8], B.SUB, ufixed[8, 4], fixed[13, 9]),
        (fixed[8, 4], B.MAX, i(8), fixed[12, 8]),
        (f32, B.ADD, f32, f32),
        (f16, B.ADD, bf16, f32),
        (f16, B.MUL, f64, f64),
        (f16, B.MUL, i(64), f16),
        (f32, B.DIV, fixed[16, 8], f32),
    ],
)
def test_binary_types(a, op, b, result):
    assert binary_type(op, a, b) == result


@pytest.mark.parametrize(
    ("op", "a", "result"),
    [
        (U.NEG, i(8), i(9)),
        (U.NEG, u(8), i(9)),
        (U.NEG, i(1), i(3)),  # as ap_int: 0 - x with a zero of one bit
        (U.NEG, u(1), i(2)),
        (U.NEG, index, i(33)),
        (U.NEG, fixed[8, 4], fixed[9, 5]),
        (U.NEG, ufixed[8, 4], fixed[9, 5]),
        (U.NEG, f16, f16),
        (U.ABS, i(8), u(8)),
        (U.ABS, fixed[8, 4], ufixed[8, 4]),
        (U.ABS, index, u(32)),
        (U.INVERT, u(8), u(8)),
        (U.NOT, boolean, boolean),
        (U.SQRT, f32, f32),
    ],
)
def test_unary_types(op, a, result):
    assert unary_type(op, a) == result


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (i(8), i(8), i(8)),
        (i(8), u(8), i(9)),
        (fixed[8, 4, "rnd", "sat"], fixed[8, 4, "rnd", "sat"], fixed[8, 4]),
        (fixed[8, 4], u(8), fixed[13, 9]),
        (i(64), f16, f16),
        (f16, bf16, f32),
        (index, index, i(32)),
    ],
)
def test_common_types(a, b, result):
    assert common_type(a, b) == common_type(b, a) == result


# -- literals


@pytest.mark.parametrize(
    ("literal", "other", "const"),
    [
        (1, i(8), Const(1, u(1))),
        (0, i(8), Const(0, u(1))),
        (255, i(8), Const(255, u(8))),
        (-1, i(8), Const(-1, i(1))),
        (-128, i(8), Const(-128, i(8))),
        (True, i(8), Const(1, u(1))),
        (3, f32, Const(3.0, f32)),
        (True, f64, Const(1.0, f64)),
        (0.1, f32, Const(0.10000000149011612, f32)),
        (0.1, f64, Const(0.1, f64)),
        (0.1, bf16, Const(0.10009765625, bf16)),
        (0.5, fixed[16, 8], Const(Fraction(1, 2), ufixed[1, 0])),
        (0.375, i(8), Const(Fraction(3, 8), ufixed[2, -1])),
        (-1.5, fixed[16, 8], Const(Fraction(-3, 2), fixed[3, 2])),
        (4.0, fixed[16, 8], Const(Fraction(4), ufixed[3, 3])),
        (5, fixed[16, 8], Const(5, u(3))),
    ],
)
def test_literals_take_their_type_from_the_other_operand(literal, other, const):
    node = binary(B.ADD, of(other), literal)
    assert isinstance(node, Binary)
    assert node.rhs == const
    assert node.dtype == binary_type(B.ADD, other, const.dtype)
    mirrored = binary(B.ADD, literal, of(other))
    assert isinstance(mirrored, Binary)
    assert mirrored.lhs == const


def test_two_literals_fold_as_in_python():
    assert binary(B.DIV, 1, 4) == 0.25
    assert binary(B.FLOORDIV, -7, 2) == -4
    assert binary(B.MOD, -7, 2) == 1
    assert binary(B.SHL, 1, 20) == 1 << 20
    assert binary(B.MAX, 2, 3.5) == 3.5
    assert compare(C.LT, 1, 2) is True
    assert logical("and", True, False) is False
    assert unary(U.SQRT, 9) == 3.0
    assert unary(U.NOT, True) is False
    assert unary(U.INVERT, 5) == -6
    assert power(3, 4) == 81
    assert select(True, 1, 2) == 1


def test_floats_are_converted_when_the_node_is_made():
    node = binary(B.ADD, of(i(8)), of(f32))
    assert node == Binary(B.ADD, Cast(of(i(8)), f32), of(f32), f32)
    node = binary(B.ADD, of(f16), of(bf16))
    assert node == Binary(B.ADD, Cast(of(f16), f32), Cast(of(bf16), f32), f32)
    assert compare(C.LT, of(f32), of(i(8))).rhs == Cast(of(i(8)), f32)
    chosen = select(of(boolean), of(f64), of(f32))
    assert chosen.orelse == Cast(of(f32), f64)
    # A constant is converted at once.
    assert binary(B.ADD, Const(Fraction(1, 4), fixed[8, 4]), of(f16)).lhs == Const(0.25, f16)
    assert binary(B.ADD, Const(7, i(8)), of(f16)).lhs == Const(7.0, f16)


def test_integers_and_fixed_point_keep_their_types():
    assert binary(B.ADD, of(i(8)), of(fixed[8, 4])).lhs == of(i(8))
    assert compare(C.EQ, of(i(8)), of(u(8))).dtype == boolean
    assert select(of(boolean), of(i(8)), of(u(8))).then == of(i(8))


def test_power_is_a_product_from_left_to_right():
    x = of(f32)
    assert power(x, 0) == 1
    assert power(x, 1) == x
    assert power(x, 3) == Binary(B.MUL, Binary(B.MUL, x, x, f32), x, f32)
    assert power(of(i(8)), 2).dtype == i(16)


def test_casts():
    assert cast(i(4), of(i(8))) == Cast(of(i(8)), i(4))
    assert cast(i(8), of(i(8))) == of(i(8))
    assert cast(i(8), 300) == Const(44, i(8))
    assert cast(i(8), -3.7) == Const(-3, i(8))
    assert cast(fixed[8, 4], 0.3) == Const(Fraction(1, 4), fixed[8, 4])
    assert cast(fixed[8, 4, "rnd", "sat"], 100) == Const(
        Fraction(127, 16), fixed[8, 4, "rnd", "sat"]
    )
    assert cast(f32, 0.1) == Const(0.10000000149011612, f32)
    assert cast(boolean, 2) == Const(0, boolean)
    assert cast(index, Index(Affine.of("n"))).dtype == i(32)


def test_assignment():
    for exact in (i(8), boolean, fixed[8, 4], index):
        assert assignable(exact, f16)
        assert assignable(exact, u(3))
        assert not assignable(f32, exact)
    assert assignable(f64, f16)
    assert assigned(0, f32) == Const(0.0, f32)
    assert assigned(3, i(8)) == Const(3, u(2))
    assert assigned(2.0, i(8)).dtype == ufixed[2, 2]
    assert assigned(of(f64), f32) == of(f64)  # the store converts


# -- errors


def message(call):
    with pytest.raises(LanguageError) as caught:
        call()
    return caught.value.render()


ERRORS = [
    (
        lambda: binary(B.MOD, of(f32), of(i(8))),
        "error[W120]: '%' is not defined for f32 and i8\n"
        "help: '%' is for integers; write / or cast the operands, as in i32(x)",
    ),
    (
        lambda: binary(B.AND, of(fixed[8, 4]), 1),
        "error[W120]: '&' is not defined for fixed[8, 4] and u1\n"
        "help: the bitwise operators are for integers; cast the operands, as in i32(x)",
    ),
    (
        lambda: binary(B.SHL, of(fixed[8, 4]), of(i(3))),
        "error[W120]: '<<' is not defined for fixed[8, 4] and i3\n"
        "help: shifts are for integers, and of fixed point by constants and by unsigned numbers of at most "
        "63; multiply by a power of two instead",
    ),
    (
        lambda: binary(B.SHR, of(fixed[8, 4]), -1),
        "error[W127]: fixed point is shifted by 0 to 4096 places, not by -1\n"
        "help: a shift the other way has the other operator",
    ),
    (
        lambda: compare(C.GT, binary(B.SHL, of(i(8)), of(u(8))), 3),
        "error[W139]: how many bits this shift to the left needs is not known: its amount, of type "
        "u8, may be more than 63\n"
        "help: say how many bits of the result count, as in i32(x << n), or how large the amount "
        "is, as in x << u3(n)",
    ),
    (
        lambda: assigned(binary(B.SHL, 1, of(i(32))), f32),
        "error[W139]: how many bits this shift to the left needs is not known: its amount, of type "
        "i32, may be more than 63\n"
        "help: say how many bits of the result count, as in i32(x << n), or how large the amount "
        "is, as in x << u3(n)",
    ),
    (
        lambda: compare(C.GT, binary(B.SHL, of(i(8)), 4090), 3),
        "error[W128]: the result of this shift by 4090 would have more than 4096 bits\n"
        "help: types have at most 4096 bits",
    ),
    (
        lambda: unary(U.INVERT, of(f32)),
        "error[W120]: '~' is not defined for f32\nhelp: the bitwise operators are for integers",
    ),
    (
        lambda: binary(B.DIV, of(i(8)), 2),
        "error[W121]: '/' is not defined between integers (i8 / u2)\n"
        "help: write // for the integer quotient, or cast an operand to a float or fixed-point "
        "type, as in f32(x) / y",
    ),
    (
        lambda: binary(B.MUL, of(fixed[12, 4]), 0.1),
        "error[W122]: the literal 0.1 has no exact fixed-point type here\n"
        "help: say which type it has: f32(0.1) makes floats, fixed[12, 4](0.1) fixed point",
    ),
    (
        lambda: binary(B.MUL, of(f16), 1e6),
        "error[W123]: the literal 1000000.0 does not fit f16\nhelp: use a wider type",
    ),
    (
        lambda: cast(i(8), float("nan")),
        "error[W123]: the literal nan does not fit i8\nhelp: use a wider type",
    ),
    (
        lambda: assigned(of(f32), i(8)),
        "error[W124]: a value of type f32 does not convert to i8 by itself\n"
        "help: say that it may lose precision: i8(...)",
    ),
    (
        lambda: assigned(2.5, i(8)),
        "error[W124]: the literal 2.5 does not convert to i8 by itself\nhelp: write 2",
    ),
    (
        lambda: binary(B.ADD, select(of(boolean), 1.0, 0.0), select(of(boolean), 0.0, 1.0)),
        "error[W124]: the literal 1.0 has no type here\nhelp: say which, as in f32(1.0)",
    ),
    (
        lambda: select(of(i(8)), 1, 2),
        "error[W125]: the condition of a select needs a truth value (u1), not i8\n"
        "help: compare it, as in x != 0",
    ),
    (
        lambda: logical("and", of(boolean), 2),
        "error[W125]: 'and' needs a truth value (u1), not u2\nhelp: compare it, as in x != 0",
    ),
    (
        lambda: unary(U.NOT, of(i(2))),
        "error[W125]: 'not' needs a truth value (u1), not i2\nhelp: compare it, as in x != 0",
    ),
    (
        lambda: unary(U.SQRT, of(i(8))),
        "error[W126]: sqrt is a function of floats, not of i8\n"
        "help: cast the argument, as in sqrt(f32(x))",
    ),
    (
        lambda: power(of(f32), -1),
        "error[W127]: an exponent is a constant integer from 0 to 64\n"
        "help: write sqrt(x) for x ** 0.5 and 1 / x ** 2 for x ** -2",
    ),
    (
        lambda: binary(B.FLOORDIV, 1, 0),
        "error[W127]: the constant 1 // 0 has no value: integer division or modulo by zero",
    ),
    (
        lambda: binary(B.SHL, 1, 10**9),
        "error[W127]: the constant 1 << 1000000000 has no value: types have at most 4096 bits",
    ),
    (
        lambda: binary(B.MUL, of(i(4000)), of(i(100))),
        "error[W128]: the result of this operation on i4000 and i100 would have 4100 bits\n"
        "help: types have at most 4096 bits; cast an operand to a narrower type",
    ),
]


@pytest.mark.parametrize(
    ("call", "text"), ERRORS, ids=lambda x: x[6:10] if isinstance(x, str) else ""
)
def test_error_texts(call, text):
    assert message(call) == text


def test_errors_carry_the_span(tmp_path):
    source = tmp_path / "k.py"
    source.write_text("y = a / b\n")
    span = Span(str(source), 1, 5, 1, 10)
    assert message(lambda: binary(B.DIV, of(i(8)), of(i(8)), span)).startswith(
        "k.py:1:5: error[W121]: '/' is not defined between integers (i8 / i8)\n"
        "    1 | y = a / b\n"
        "      |     ^^^^^\n"
    )
    node = unary(U.NEG, of(f32), span)
    assert isinstance(node, Unary)
    assert node.span == span


def test_every_fixed_type_shows_its_modes():
    assert str(FixedType(16, 8)) == "fixed[16, 8]"
    assert str(fixed[16, 8, "rnd", "sat"]) == 'fixed[16, 8, "rnd", "sat"]'
    assert isinstance(f32, FloatType)
