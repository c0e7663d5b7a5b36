"""Subscripts, bounds and guards: simplified, and never wrong about a sign."""

import itertools
import random

import numpy as np
import pytest

from dsl.expressions.types import IntType
from mlir_passes.emit.affine import Lin, Ranges
from mlir_passes.emit.hls import Argument, HlsSource
from tests.emit.running import body, run, run_all


def box(**bounds) -> Ranges:
    ranges = Ranges()
    for var, (low, high) in bounds.items():
        ranges.enter(var, (Lin((), low),), (Lin((), high),))
    return ranges


i, j = Lin.of("i"), Lin.of("j")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Lin(), "0"),
        (Lin((), -3), "-3"),
        (i * 32 + j, "32 * i + j"),
        (i + -1, "i - 1"),
        (i * -1 + 5, "5 - i"),
        (i * -1 + j * 2 + -3, "2 * j - i - 3"),
        (i * -1 + -4, "-i - 4"),
        (i * -2 - j, "-(2 * i) - j"),
    ],
)
def test_sums(expression, text):
    assert box().cpp(expression).text == text


def test_divisions_of_what_cannot_be_negative_are_those_of_cpp():
    ranges = box(i=(0, 63), j=(-4, 4))
    assert ranges.cpp(ranges.quotient(i + 1, 4)).text == "(i + 1) / 4"
    assert ranges.cpp(ranges.remainder(i, 4)).text == "i % 4"
    assert ranges.cpp(ranges.quotient(j, 4)).text == "weft::floor_div(j, 4)"
    assert ranges.cpp(ranges.remainder(j, 4)).text == "weft::floor_mod(j, 4)"
    assert ranges.helpers == {"weft_math.h"}


def test_divisions_are_simplified():
    ranges = box(i=(0, 9), j=(0, 3))
    assert ranges.quotient(i * 4 + j, 4) == i
    assert ranges.remainder(i * 4 + j, 4) == j
    assert ranges.quotient(i * 8 + 4, 12) == ranges.quotient(i * 2 + 1, 3)
    assert ranges.quotient(j + 8, 4) == Lin((), 2)
    assert ranges.remainder(j + 9, 16) == j + 9
    assert ranges.remainder(i * 6, 3) == Lin()
    assert ranges.cpp(ranges.quotient(i, 4) * 4).text == "4 * (i / 4)"


def test_extremes_are_simplified():
    ranges = box(i=(0, 5))
    assert ranges.extreme([Lin((), 200), i * 32 + 32], largest=False).text == "32 * i + 32"
    assert ranges.extreme([i, i], largest=True).text == "i"
    assert ranges.extreme([i + -2, Lin()], largest=True).text == "std::max(i - 2, 0)"
    assert ranges.extreme([i + -2, i + -3, Lin((), -9)], largest=True).text == "i - 2"


def test_bounds_that_depend_on_outer_loops_are_used():
    ranges = box(i=(0, 9))
    ranges.enter("j", (Lin(),), (i,))  # j <= i
    assert ranges.least(i - j) == 0
    assert ranges.greatest(j - i) == 0
    assert ranges.condition(i - j, False) is True
    assert ranges.condition(j - i + -1, False) is False
    assert ranges.condition(j - i, False).text == "j >= i"


@pytest.mark.parametrize(
    ("constraint", "equality", "text"),
    [
        (i - j, False, "i >= j"),
        (i - j + -1, False, "i > j"),
        (i - j + -3, False, "i > j + 2"),
        (i - j + 3, False, "i >= j - 3"),
        (i + -3, False, "i >= 3"),
        (i * -1 + 7, False, "i < 8"),
        (i * -1, False, "i <= 0"),
        (i - j, True, "i == j"),
        (i + -3, True, "i == 3"),
        (i * -1 + 3, True, "i == 3"),
    ],
)
def test_conditions(constraint, equality, text):
    assert box(i=(-9, 9), j=(-9, 9)).condition(constraint, equality).text == text


def test_what_a_guard_says_holds_inside():
    ranges = box(i=(-4, 9))
    before = ranges.assume([(i + -1, False)])
    assert ranges.cpp(ranges.remainder(i + -1, 2)).text == "(i - 1) % 2"
    ranges.forget(before)
    assert ranges.cpp(ranges.remainder(i + -1, 2)).text == "weft::floor_mod(i + 1, 2)"


def random_lin(rng, variables, depth=2) -> tuple:
    """An expression as a function of ranges and of an environment."""
    terms = [(rng.choice(variables), rng.randint(-4, 4)) for _ in range(rng.randint(1, 3))]
    const = rng.randint(-9, 9)
    part = rng.choice([None, "/", "%"]) if depth else None
    if part:
        inner, inner_value = random_lin(rng, variables, depth - 1)
        by, factor = rng.randint(1, 6), rng.choice([-2, -1, 1, 3])

    def make(ranges):
        result = Lin((), const)
        for var, c in terms:
            result += Lin.of(var) * c
        if part:
            fold = ranges.quotient if part == "/" else ranges.remainder
            result += fold(inner(ranges), by) * factor
        return result

    def value(env):
        total = const + sum(c * env[var] for var, c in terms)
        if part:
            x = inner_value(env)
            total += (x // by if part == "/" else x % by) * factor
        return total

    return make, value


def test_random_expressions_are_printed_and_bounded_rightly():
    rng = random.Random(3)
    lines, want, helpers = [], [], set()
    for _ in range(400):
        low, size = rng.randint(-5, 2), rng.randint(0, 6)
        ranges = box(i=(low, low + size))
        ranges.enter("j", (Lin(), i + -3), (i + 4,))
        make, value = random_lin(rng, ["i", "j"])
        lin = make(ranges)
        least, most = ranges.least(lin), ranges.greatest(lin)
        lines.append(f"for (int i = {low}; i <= {low + size}; ++i)")
        lines.append(f"for (int j = std::max(0, i - 3); j <= i + 4; ++j) *y++ = {ranges.cpp(lin)};")
        helpers |= ranges.helpers
        for x in range(low, low + size + 1):
            here = [value({"i": x, "j": y}) for y in range(max(0, x - 3), x + 5)]
            assert all(least <= found <= most for found in here)
            want += here
    n = len(want)
    assert helpers == {"weft_math.h"}
    text = '#include <algorithm>\n#include "weft_math.h"\n'
    text += f'extern "C" void f(int out[{n}]) {{ int *y = out;\n' + "\n".join(lines) + "\n}\n"
    argument = Argument("out", "out", "int", IntType(32), (n,), "out")
    source = HlsSource("f", text, "", (argument,), ("weft_math.h",), False)
    assert run_all([source], [{"out": np.zeros(n, np.int32)}])[0]["out"].tolist() == want


GUARDED = """
func.func @f(%y: memref<12x12xi32> {{hls.name = "y"}}) {{
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 12 {{
    affine.for %j = max affine_map<(d0) -> (0, d0 - 7)>(%i) to min affine_map<(d0) -> (12, d0 + 5)>(%i) {{
      affine.if affine_set<(d0, d1) : ({0})>(%i, %j) {{
        affine.store %one, %y[%i, %j] : memref<12x12xi32>
      }}
    }}
  }}
  return
}}"""


@pytest.mark.parametrize(
    ("constraints", "guard", "holds"),
    [
        ("d0 >= 0, d1 - d0 + 7 >= 0", None, lambda i, j: True),
        ("d0 - 3 >= 0, d1 >= 0", "i >= 3", lambda i, j: i >= 3),
        (
            "d0 - d1 - 1 >= 0, d1 mod 3 == 0",
            "i > j && j % 3 == 0",
            lambda i, j: i > j and j % 3 == 0,
        ),
        ("d0 + d1 - 11 == 0", "i + j == 11", lambda i, j: i + j == 11),
        ("(d0 + d1) floordiv 2 - 4 >= 0", "(i + j) / 2 >= 4", lambda i, j: (i + j) // 2 >= 4),
    ],
)
def test_guards(constraints, guard, holds):
    text = GUARDED.format(constraints)
    emitted = body(text)
    assert ("if (" in emitted) == (guard is not None)
    assert guard is None or f"if ({guard}) {{" in emitted
    want = np.zeros((12, 12), np.int32)
    for a, b in itertools.product(range(12), range(12)):
        if max(0, a - 7) <= b < min(12, a + 5):
            want[a, b] = holds(a, b)
    assert run(text, y=np.zeros((12, 12), np.int32))["y"].tolist() == want.tolist()


def test_a_dead_branch_and_a_loop_that_never_runs_vanish():
    text = """
    func.func @f(%y: memref<8xf32> {hls.name = "y"}, %a: f32 {hls.name = "a"}) {
      affine.for %i = 0 to 8 {
        affine.if affine_set<(d0) : (d0 - 8 >= 0)>(%i) {
          affine.store %a, %y[0] : memref<8xf32>
        } else {
          affine.store %a, %y[%i] : memref<8xf32>
        }
        affine.for %j = 4 to 4 {
          affine.store %a, %y[1] : memref<8xf32>
        }
      }
      return
    }"""
    assert body(text).splitlines()[1:] == [
        "  for (int i = 0; i < 8; ++i) {",
        "    y[i] = a;",
        "  }",
    ]


def test_neighbours_with_one_condition_share_it():
    store = "affine.store %a, %y[{0}] : memref<8xf32>"
    guard = "affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) {{ {0} }}"
    text = f"""
    func.func @f(%y: memref<8xf32> {{hls.name = "y"}}, %a: f32 {{hls.name = "a"}}) {{
      affine.for %i = 0 to 8 {{
        {guard.format(store.format("%i"))}
        {guard.format(store.format("0"))}
      }}
      return
    }}"""
    assert body(text).count("if (") == 1


def test_triangular_loops_read_naturally():
    text = """
    func.func @f(%y: memref<8xf32> {hls.name = "y"}, %a: f32 {hls.name = "a"}) {
      affine.for %i = 0 to 8 {
        affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
          affine.store %a, %y[%j] : memref<8xf32>
        }
        affine.for %k = affine_map<(d0) -> (d0 + 1)>(%i) to 8 step 2 {
          affine.store %a, %y[%k] : memref<8xf32>
        }
      }
      return
    }"""
    assert "for (int j = 0; j <= i; ++j) {" in body(text)
    assert "for (int k = i + 1; k < 8; k += 2) {" in body(text) or "j = i + 1" in body(text)


def test_affine_min_and_max_as_values():
    text = """
    func.func @f(%y: memref<8xf32> {hls.name = "y"}, %a: f32 {hls.name = "a"}) {
      affine.for %i = 0 to 8 {
        %m = affine.min affine_map<(d0) -> (d0 + 2, 5)>(%i)
        memref.store %a, %y[%m] : memref<8xf32>
      }
      return
    }"""
    assert "const int n0 = std::min(i + 2, 5);\n    y[n0] = a;" in body(text)
    got = run(text, y=np.zeros(8, np.float32), a=np.float32(1))["y"]
    assert got.tolist() == [0, 0, 1, 1, 1, 1, 0, 0]
