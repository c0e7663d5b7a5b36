"""Expressions have the parentheses that they need, no others, and are broken like clang-format."""

import ctypes
import math
import random
import struct
import sys
from collections.abc import Callable

import pytest

from mlir_passes.emit.cpp import (
    Cpp,
    call,
    infix,
    name,
    negative_literal,
    prefix,
    subscript,
    ternary,
)
from mlir_passes.emit.layout import LIMIT
from mlir_passes.emit.lines import assignment, comment, loop_header, statement
from mlir_passes.emit.types import Needs

a, b, c, d = map(name, "abcd")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (infix("*", infix("*", a, b), c), "a * b * c"),
        (infix("*", a, infix("*", b, c)), "a * (b * c)"),
        (infix("+", a, infix("*", b, c)), "a + b * c"),
        (infix("*", infix("+", a, b), c), "(a + b) * c"),
        (infix("-", a, infix("-", b, c)), "a - (b - c)"),
        (infix("-", infix("-", a, b), c), "a - b - c"),
        (infix("/", a, infix("*", b, c)), "a / (b * c)"),
        (infix("*", prefix("-", a), b), "-a * b"),
        (prefix("-", infix("*", a, b)), "-(a * b)"),
        (prefix("-", prefix("-", a)), "-(-a)"),
        (prefix("-", negative_literal("2")), "-(-2)"),
        (infix("-", a, negative_literal("2")), "a - -2"),
        (prefix("!", infix("<", a, b)), "!(a < b)"),
        (infix("&&", infix("<", a, b), infix("<", b, c)), "a < b && b < c"),
        (infix("&&", a, infix("&&", b, c)), "a && b && c"),
        (infix("||", infix("&&", a, b), c), "(a && b) || c"),
        (infix("==", infix("<", a, b), c), "(a < b) == c"),
        (infix("<<", infix("+", a, b), c), "(a + b) << c"),
        (infix("&", infix("==", a, b), c), "(a == b) & c"),
        (infix("|", infix("&", a, b), c), "(a & b) | c"),
        (infix("|", infix("|", a, b), c), "a | b | c"),
        (infix("+", infix(">>", a, b), c), "(a >> b) + c"),
        (ternary(infix("<", a, b), a, b), "a < b ? a : b"),
        (infix("+", ternary(a, b, c), d), "(a ? b : c) + d"),
        (ternary(a, ternary(b, c, d), d), "a ? (b ? c : d) : d"),
        (call("f", infix("+", a, b), c), "f(a + b, c)"),
        (subscript("A", (infix("+", a, b), c)), "A[a + b][c]"),
        (infix("*", a, ternary(b, c, d)), "a * (b ? c : d)"),
    ],
)
def test_parentheses(expression, text):
    assert expression.text == text


def long(prefix_, count):
    return [name(f"{prefix_}{'x' * 12}{n}") for n in range(count)]


def total(op, operands):
    result = operands[0]
    for operand in operands[1:]:
        result = infix(op, result, operand)
    return result


def test_a_long_sum_is_broken_after_an_operator_and_aligned():
    text = statement("y[i] =", total("+", long("a", 9)), 2)
    first, second = text.splitlines()
    assert first.startswith("  y[i] = axxx")
    assert first.endswith(" +")
    assert second.startswith("         axxx")  # under the first operand
    assert len(first) <= LIMIT


def test_a_long_right_side_goes_below_where_it_then_fits():
    text = statement("some_array[with_a_long][subscript_too] +=", total("*", long("b", 5)), 4)
    first, second = text.splitlines()
    assert first == "    some_array[with_a_long][subscript_too] +="
    assert second.startswith("        bxxx")


def test_arguments_are_aligned_behind_the_parenthesis():
    text = statement("y =", call("std::max", total("+", long("a", 4)), total("+", long("b", 4))), 2)
    assert text.splitlines()[1] == " " * 15 + total("+", long("b", 4)).text + ");"


def test_what_follows_a_broken_operand_stands_on_a_line_of_its_own():
    lines = statement("y =", infix("/", total("+", long("a", 8)), name("8.0f")), 2).splitlines()
    assert lines[-1].strip() == "8.0f;"


def test_a_broken_choice_puts_its_branches_below():
    lines = statement("y =", ternary(a, *[total("+", long(p, 4)) for p in "bc"]), 2).splitlines()
    assert [line.strip()[0] for line in lines] == ["y", "?", ":"]


def test_a_long_place_is_broken_between_its_subscripts():
    place = subscript("A", (total("+", long("i", 4)), total("+", long("j", 4))))
    lines = assignment(place, "=", a, 2).splitlines()
    assert lines[1].startswith("   [jxxx")
    assert lines[2] == "       a;"


def test_a_long_loop_header_is_broken_after_the_semicolons():
    text = loop_header("int i", total("+", long("a", 3)), "i <", total("+", long("b", 3)), "++i", 2)
    first, second = text.splitlines()
    assert first.endswith(";")
    assert second.startswith("       i < bxxx")
    assert second.endswith("; ++i) {")


def test_comments_are_wrapped_outside_of_brackets():
    lines = comment("S0: " + " + ".join("A[i + 1, j]" for _ in range(12)), 4)
    assert len(lines) == 2
    assert all(line.startswith("    // ") and len(line) <= LIMIT for line in lines)
    assert all(line.count("[") == line.count("]") for line in lines)


def test_no_comment_ends_in_a_backslash():
    assert comment("S0: a = b \\", 0) == ["// S0: a = b"]


def test_comments_have_one_line_where_the_source_has_several():
    assert comment("a = (b +\n      c)", 0) == ["// a = (b + c)"]


# ------------------------------------------------------------------------------------- literals


def numbers(rng, count, code):
    size = struct.calcsize(code)
    for _ in range(count):
        yield struct.unpack(code, rng.randbytes(size))[0]


def test_floats_read_back_exactly():
    libc = ctypes.CDLL(None)
    libc.strtof.restype = ctypes.c_float
    libc.strtof.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    needs, rng = Needs(), random.Random(1)
    some = [0.1, 0.5, 1.0, 16777216.0, 1e-45, 1.17549435e-38, 3.4028234663852886e38, 8.0, 100.0]
    values = [struct.unpack("<f", struct.pack("<f", x))[0] for x in some]
    for x in [*values, *numbers(rng, 3000, "<f")]:
        if not math.isfinite(x):
            continue
        text = needs.real(x, "f32").text
        assert text.endswith("f")
        assert "." in text or "e" in text
        assert libc.strtof(text[:-1].encode(), None) == x


def test_doubles_read_back_exactly():
    for x in numbers(random.Random(2), 3000, "<d"):
        if math.isfinite(x):
            text = Needs().real(x, "f64").text
            assert float(text) == x
            assert "." in text or "e" in text


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.5, "f32", "0.5f"),
        (1.0, "f32", "1.0f"),
        (-2.0, "f64", "-2.0"),
        (0.1, "f64", "0.1"),
        (1e-5, "f64", "1e-5"),
        (1e20, "f32", "1e20f"),
        (-0.0, "f32", "-0.0f"),
        (math.inf, "f32", "INFINITY"),
        (-math.inf, "f64", "-INFINITY"),
        (math.nan, "f32", "NAN"),
        (0.25, "f16", "half(0.25f)"),
        (-1.5, "bf16", "weft::bf16(-1.5f)"),
    ],
)
def test_literals(value, dtype, text):
    rounded = value if dtype == "f64" else struct.unpack("<f", struct.pack("<f", value))[0]
    assert Needs().real(rounded, dtype).text == text


def horner(levels: int) -> Cpp:
    e = name("c")
    for n in range(levels):
        e = infix("+", name(f"{n}.5f"), infix("*", name("x"), e))
    return e


def negations(levels: int) -> Cpp:
    e = a
    for _ in range(levels):
        e = prefix("-", e)
    return e


def choices(levels: int) -> Cpp:
    e = b
    for n in range(levels):
        e = ternary(infix("<", a, name(str(n))), b, e)
    return e


def minima(levels: int) -> Cpp:
    e = b
    for _ in range(levels):
        e = call("std::min", a, e)
    return e


def left_nested(levels: int) -> Cpp:
    e = b
    for _ in range(levels):
        e = infix("*", infix("+", e, c), d)
    return e


@pytest.mark.parametrize("build", [horner, negations, choices, minima, left_nested])
def test_deep_expressions_are_laid_out_in_linear_time(build: Callable[[int], Cpp]) -> None:
    def calls(levels: int) -> int:
        """Functions that are called for it, of Python and of C."""
        seen = 0

        def count(_frame: object, event: str, _arg: object) -> None:
            nonlocal seen
            seen += event in ("call", "c_call")

        expression = build(levels)
        before = sys.getprofile()
        sys.setprofile(count)
        text = statement("y[i] =", expression, 4)
        sys.setprofile(before)
        assert "".join(text.split()) == "".join(f"y[i]={expression.text};".split())
        assert max(map(len, text.split("\n"))) <= LIMIT
        return seen

    assert calls(1000) < 5 * calls(250)


def test_wide_sums_in_deep_sums() -> None:
    wide = b
    for n in range(300):
        wide = infix("+", wide, infix("*", subscript("weights", (a, name(str(n)))), c))
    nested = infix("*", infix("+", horner(40), wide), d)
    text = statement("y[i] =", nested, 4)
    assert max(map(len, text.split("\n"))) <= LIMIT
    assert text.count("\n") < 200
