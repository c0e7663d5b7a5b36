"""Distances in units in the last place, and which arrays may have one."""

from __future__ import annotations

import numpy as np
import pytest

from backends.compare import Difference, difference, limited_scale, ulp
from backends.tolerance import magnitudes, tolerances
from dsl import interp
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Binary, BinaryOp, Const, Load, Unary, UnaryOp
from dsl.expressions.types import IntType as Int
from dsl.expressions.types import bf16, f16, f32, f64, fixed
from dsl.programs.program import Array, Loop, Program, Stmt, Storage
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Reassociate, Unroll

i, j = Affine.of("i"), Affine.of("j")


@pytest.mark.parametrize(
    ("dtype", "numpy_type"), [(f16, np.float16), (f32, np.float32), (f64, np.float64)]
)
@pytest.mark.parametrize("value", [1.0, 0.99, 1.5, 2.0, 1e-3, 6e-8, 0.0])
def test_the_unit_is_numpys_spacing(dtype, numpy_type, value: float) -> None:
    held = numpy_type(value)
    assert ulp(dtype, np.asarray(float(held))) == np.spacing(held)


def test_the_unit_of_bfloat16() -> None:
    assert ulp(bf16, np.asarray(1.0)) == 2.0**-7
    assert ulp(bf16, np.asarray(0.0)) == 2.0**-133


def a(dtype, *shape: int) -> Array:
    return Array("A", dtype, shape)


def f(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_the_same_bits() -> None:
    same = f(1.0, np.nan, np.inf, -0.0)
    assert difference(a(f32, 4), same, same.copy()) == Difference("A", 0, 0.0)


def test_one_unit_is_wrong_unless_allowed() -> None:
    want, got = f(1.0, 2.0), f(1.0, np.nextafter(np.float32(2), np.float32(3)))
    assert difference(a(f32, 2), want, got) == Difference(
        "A", 1, 1.0, "A[1] is 2.0000002, expected 2.0"
    )
    assert difference(a(f32, 2), want, got, tolerance=1) == Difference("A", 0, 1.0)


@pytest.mark.parametrize(("want", "got"), [(0.0, -0.0), (np.nan, 1.0), (np.inf, 3e38), (1.0, -1.0)])
def test_what_is_never_the_same(want: float, got: float) -> None:
    assert difference(a(f32, 1), f(want), f(got)).wrong == 1


def test_what_no_tolerance_covers() -> None:
    for want, got in ((np.nan, 1.0), (np.inf, 3e38), (np.inf, -np.inf)):
        found = difference(a(f32, 1), f(want), f(got), tolerance=1000)
        assert (found.wrong, found.max_ulp) == (1, np.inf)
    assert difference(a(f32, 1), f(0.0), f(-0.0), tolerance=1).wrong == 0


def test_the_scale_of_cancelled_sums() -> None:
    want, got = f(1e-6), f(1.2e-6)
    assert difference(a(f32, 1), want, got, tolerance=10).wrong == 1
    assert difference(a(f32, 1), want, got, tolerance=10, scale=f(1.0)).wrong == 0


def test_integers_are_counted_in_ones() -> None:
    want, got = np.array([1, 2], np.int8), np.array([1, 4], np.int8)
    assert difference(a(Int(7), 2), want, got) == Difference("A", 1, 2.0, "A[1] is 4, expected 2")
    # An integer that depends on an inexact float may be one off.
    assert difference(a(Int(7), 2), want, got, tolerance=100).wrong == 1
    assert difference(a(Int(7), 2), want, want + np.int8(1), tolerance=100).wrong == 0


def test_wide_integers_and_scalars() -> None:
    big = 1 << 100
    want, got = np.array([big], object), np.array([big + 3], object)
    assert difference(a(Int(200), 1), want, got).max_ulp == 3.0
    zero = difference(a(fixed[8, 4]), np.array(1, np.int8), np.array(2, np.int8))
    assert zero.first == "A is 2, expected 1"


def test_a_scale_is_limited() -> None:
    assert limited_scale(f(np.inf), f(1.0)) is None
    limited = limited_scale(f(1e30, 2.0), f(4.0, 1.0))
    assert limited is not None
    assert limited.tolist() == [4.0 * 65536, 2.0]


def access(name: str, *indices: Affine) -> Access:
    return Access(name, indices)


def load(name: str, *indices: Affine) -> Load:
    return Load(access(name, *indices), f32)


def loop(var: str, upper: int | Affine, *body, lower: int | Affine = 0, step: int = 1) -> Loop:
    return Loop(var, (Affine.of(lower),), (Affine.of(upper),), step, body)


def matvec() -> Program:
    """``y[i] += A[i, j] * x[j]`` for j <= i, then ``z[i] = y[i]`` and ``w[i] = x[i]``."""
    product = Binary(BinaryOp.MUL, load("A", i, j), load("x", j), f32)
    total = Binary(BinaryOp.SUB, load("y", i), product, f32)
    body = (
        loop("i", 6, loop("j", i + 1, Stmt("S0", access("y", i), total))),
        loop("i", 6, Stmt("S1", access("z", i), load("y", i))),
        loop("i", 6, Stmt("S2", access("w", i), load("x", i))),
    )
    arrays = [Array("A", f32, (6, 6)), *(Array(n, f32, (6,)) for n in "xyzw")]
    return Program("k", tuple(arrays), body)


def test_without_reassociation_all_is_exact() -> None:
    assert tolerances(matvec(), Schedule((Unroll("S0.j"),))) == {}


def test_reassociation_reaches_what_depends_on_it() -> None:
    # S0 adds up to 6 terms, S1 copies 1: 4 · (1 + 6 + 1).
    assert tolerances(matvec(), Schedule((Reassociate("S0"),))) == {"y": 32, "z": 32}


def test_reassociation_of_integers_is_exact() -> None:
    total = Binary(BinaryOp.ADD, Load(access("s"), Int(32)), Load(access("a", i), Int(32)), Int(33))
    body = (loop("i", 9, Stmt("S0", access("s"), total)),)
    program = Program("k", (Array("s", Int(32), ()), Array("a", Int(32), (9,))), body)
    assert tolerances(program, Schedule((Reassociate("S0"),))) == {}


@pytest.mark.parametrize(
    ("op", "exact"),
    [(UnaryOp.EXP, False), (UnaryOp.LOG, False), (UnaryOp.TANH, False), (UnaryOp.SQRT, True)],
)
def test_exp_log_and_tanh_are_not_defined_to_the_last_bit(op: UnaryOp, exact: bool) -> None:
    body = (loop("i", 6, Stmt("S0", access("y", i), Unary(op, load("x", i), f32))),)
    program = Program("k", (Array("x", f32, (6,)), Array("y", f32, (6,))), body)
    assert (tolerances(program, Schedule()) == {}) is exact


def test_a_local_passes_inexactness_on() -> None:
    body = (
        Stmt("S0", access("t"), Unary(UnaryOp.EXP, load("x"), f32)),
        Stmt("S1", access("y", Affine.of(0)), load("t")),
    )
    local = Array("t", f32, (), Storage.LOCAL)
    program = Program("k", (Array("x", f32, ()), Array("y", f32, (1,)), local), body)
    assert set(tolerances(program, Schedule())) == {"t", "y"}


def test_the_chain_counts_iterations_with_steps_and_shifts() -> None:
    value = Unary(UnaryOp.EXP, load("x", j), f32)
    body = (loop("i", 10, loop("j", i + 8, Stmt("S0", access("s"), value), lower=i - 2, step=3)),)
    program = Program("k", (Array("s", f32, ()), Array("x", f32, (99,))), body)
    # i: 10 iterations; j: from at least -2 to less than 17 by 3, at most 7.
    assert tolerances(program, Schedule()) == {"s": 4 * (1 + 70)}


def test_magnitudes_add_what_the_program_subtracts() -> None:
    program = matvec()
    ones = {"A": np.ones((6, 6), np.float32), **{n: np.ones(6, np.float32) for n in "xyzw"}}
    assert interp.run(program, ones)["y"].tolist() == [0, -1, -2, -3, -4, -5]
    assert interp.run(magnitudes(program), ones)["z"].tolist() == [2, 3, 4, 5, 6, 7]


def test_magnitudes_have_no_signs() -> None:
    value = Binary(BinaryOp.ADD, Unary(UnaryOp.NEG, load("x"), f32), Const(-3.0, f32), f32)
    program = Program(
        "k", (Array("x", f32, ()), Array("y", f32, (1,))),
        (Stmt("S0", access("y", Affine.of(0)), value),),
    )  # fmt: skip
    inputs = {"x": np.float32(2), "y": np.zeros(1, np.float32)}
    assert interp.run(magnitudes(program), inputs)["y"].tolist() == [5.0]
