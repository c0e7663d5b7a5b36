"""Programs printed and read back."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest

from dsl.expressions.affine import Affine, And, Cond, Constraint, Or, negate
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Const,
    Expr,
    Index,
    Select,
    Unary,
    UnaryOp,
    walk,
)
from dsl.expressions.types import FixedType, FloatType, IntType, bf16, f32, f64
from dsl.expressions.value_range import truth_where
from dsl.kernels.loader import load
from dsl.programs.lean import lean
from dsl.programs.pretty import pretty
from dsl.programs.pretty_expr import affine_text, cond_text
from dsl.programs.program import Array, If, Loop, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals
from polyhedral.legality.stored_ranges import StoredRanges
from tests.frontend.conftest import Load
from tests.support.random_programs import random_program
from tests.support.round_trip import as_read

vi, vj = Affine.of("i"), Affine.of("j")

TEXT = """\
import weft
from weft import f32


@weft.kernel
def k(A: f32[8, 8], x: weft.const[f32[8]], alpha: f32):
    tmp: f32[8]
    for i, j in weft.grid(8, 8):
        if i >= 1 and (j % 2 == 0 or i != j):
            A[i, j] += alpha * x[i]
        elif i > j:
            A[i, j] = min(x[i], 0.1) if x[j] > 0.0 else -x[j // 2 + 1]
        else:
            with weft.stmt("corner"):
                A[i, 7 - j] = weft.sqrt(abs(A[i, j])) + (2 * i - j % 3)
    for i in range(7, -1, -1):
        acc: f32 = 0.0
        for j in range(max(i, 2), 8):
            acc += A[i, j]
        tmp[i] = acc
    A[0, 0] = tmp[0]
"""


def test_the_text_is_what_a_person_would_write(kernel: Load) -> None:
    body = TEXT[TEXT.index("@") :]
    assert pretty(kernel(body).program) == TEXT


def test_a_long_signature_has_a_line_for_each_argument(kernel: Load) -> None:
    arguments = ", ".join(f"argument_{n}: f32[100, 200]" for n in range(6))
    text = pretty(kernel(f"@weft.kernel\ndef k({arguments}):\n    argument_0[0, 0] = 1\n").program)
    assert "def k(\n    argument_0: f32[100, 200],\n" in text
    assert "    argument_5: f32[100, 200],\n):\n    argument_0[0, 0] = 1.0\n" in text


@pytest.mark.parametrize(
    ("affine", "text"),
    [
        (Affine(), "0"),
        (Affine.of(-3), "-3"),
        (vj - vi, "j - i"),
        (-vi, "-i"),
        (8 - vi, "8 - i"),
        (-vi - 8, "-i - 8"),
        (2 * vi - 3 * vj + 1, "2 * i - 3 * j + 1"),
        (vi // 2, "i // 2"),
        ((vi + 1) // 2 * 3, "3 * ((i + 1) // 2)"),
        (vi % 4, "i % 4"),
        (vi - vi % 4, "4 * (i // 4)"),
        ((2 * vi + vj) % 8 - 5, "(2 * i + j) % 8 - 5"),
        (vj - (vi + 1) % 3 * 2, "j - 2 * ((i + 1) % 3)"),
        ((vi // 2 + vj) // 3, "(j + i // 2) // 3"),
    ],
)
def test_affine(affine: Affine, text: str) -> None:
    assert affine_text(affine) == text


EQUAL = Constraint(vi - vj, "==")


@pytest.mark.parametrize(
    ("cond", "text"),
    [
        (Constraint(vi - 1), "i >= 1"),
        (Constraint(-vi + 7), "i <= 7"),
        (Constraint(vi - vj), "i >= j"),
        (Constraint(vi - vj - 1), "i > j"),
        (Constraint(vi - vj + 2), "i >= j - 2"),
        (EQUAL, "i == j"),
        (Constraint(1 - vi, "=="), "1 == i"),
        (negate(EQUAL), "i != j"),
        (negate(Constraint(vi % 2, "==")), "i % 2 != 0"),
        (And((Constraint(vi), Or((EQUAL, Constraint(vj))))), "i >= 0 and (i == j or j >= 0)"),
        (Or((And((EQUAL, Constraint(vi))), Constraint(vj))), "(i == j and i >= 0) or j >= 0"),
    ],
)
def test_conditions(cond: Cond, text: str) -> None:
    assert cond_text(cond) == text


def test_constants_keep_their_types_and_digits(tmp_path: Path) -> None:
    wide = FixedType(100, 20)
    values: list[tuple[Expr, IntType | FixedType | FloatType]] = [
        (Const(0.1, f64), f64),
        (Const(0.10000000149011612, f32), f32),
        (Const(math.inf, bf16), bf16),
        (Const(-math.inf, f32), f64),
        (Const(3, IntType(7)), IntType(7)),
        (Const(-3, IntType(3)), IntType(7)),
        (Const(Fraction(3, 4), FixedType(8, 4)), FixedType(8, 4)),
        (Const(Fraction((1 << 79) + 1, 1 << 80), wide), wide),
        (Unary(UnaryOp.NEG, Const(3, IntType(4)), IntType(5)), IntType(7)),
        (
            Binary(BinaryOp.ADD, Index(vi), Const(3, IntType(9)), IntType(33)),
            IntType(33),
        ),
    ]
    arrays = tuple(Array(f"A{n}", dtype, (8,)) for n, (_, dtype) in enumerate(values))
    stmts = tuple(Stmt(f"S{n}", Access(f"A{n}", (vi,)), v) for n, (v, _) in enumerate(values))
    loop = Loop("i", (Affine(),), (Affine.of(8),), 1, stmts)
    program = Program("k", arrays, (loop,))
    text = pretty(program)
    assert "A1[i] = 0.1\n" in text
    assert "A2[i] = math.inf\n" in text
    assert read(text, tmp_path) == program


def test_types_that_loops_hide_are_written_in_full(tmp_path: Path) -> None:
    one = (Affine.of("i8"),)
    stmts = (
        Stmt("S0", Access("acc", ()), Const(1, IntType(8))),
        Stmt("S1", Access("A", one), Const(2, IntType(9))),
    )
    loop = Loop("i8", (Affine(),), (Affine.of(4),), 1, stmts)
    arrays = (
        Array("A", IntType(9), (4,)),
        Array("acc", IntType(8), (), Storage.LOCAL, scope_depth=1),
    )
    program = Program("k", arrays, (loop,))
    text = pretty(program)
    assert "from weft import i9\n" in text
    assert "acc: weft.i8 = weft.i8(1)" in text
    assert read(text, tmp_path) == program


def test_an_empty_program(tmp_path: Path) -> None:
    program = Program("k", (Array("A", f32, (4,)),), ())
    assert read(pretty(program), tmp_path) == program


def read(text: str, folder: Path) -> Program:
    file = folder / "printed.py"
    file.write_text(text, encoding="utf-8")
    return load(str(file)).program


def is_normal(program: Program) -> bool:
    """Whether the front end can make it: what it folds is folded, what it refuses is not there."""
    ranges = StoredRanges(program).loops
    for node, _ in program.walk():
        if isinstance(node, Loop):
            for bounds in (node.lowers, node.uppers):
                if len(set(bounds)) < len(bounds) or sum(b.is_const for b in bounds) > 1:
                    return False
        if isinstance(node, Stmt):
            accesses = [node.target, *(e.access for e in walk(node.value) if hasattr(e, "access"))]
            if any(i.is_const and i.const < 0 for a in accesses for i in a.indices):
                return False
            if any(folds(e) for e in walk(node.value)):
                return False
            choices = [e.cond for e in walk(node.value) if isinstance(e, Select)]
            if any(truth_where(c, ranges[node.name]) is not None for c in choices):
                return False  # one of its sides may read anything
    return True


def folds(expr: Expr) -> bool:
    """Whether it is an affine expression that is not written as one `Index`."""
    match expr:
        case Index(affine):
            return affine.is_const
        case Unary(UnaryOp.NEG, operand):
            return isinstance(operand, Index)
        case Binary(op, lhs, rhs) if op in (BinaryOp.ADD, BinaryOp.SUB):
            return isinstance(lhs, Index) and isinstance(rhs, Index)
        case _:
            return False


SEEDS = 250


def test_random_programs_read_back(tmp_path: Path) -> None:
    compared = 0
    for seed in range(SEEDS):
        program = random_program(seed)
        if is_normal(program):
            compared += 1
            text = pretty(program)
            wanted = as_read(lean(ordered_locals(program)))
            assert read(text, tmp_path) == wanted, f"seed {seed}\n{text}"
    assert compared > SEEDS * 0.7


def test_printing_is_a_fixed_point(kernel: Load) -> None:
    program = kernel(TEXT[TEXT.index("@") :]).program
    again = kernel(pretty(program)).program
    assert pretty(again) == pretty(program)
    assert any(isinstance(node, If) for node, _ in again.walk())
