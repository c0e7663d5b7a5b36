"""Kernels against programs written out by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dsl.expressions.affine import Affine, And, Constraint, Or
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Const,
    Expr,
    Load,
)
from dsl.expressions.types import boolean, f32, f64
from dsl.interp import run
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage
from tests.frontend.conftest import Load as LoadKernel

vi, vj, vk = (Affine.of(name) for name in "ijk")
ZERO = (Affine(),)
LOCAL = Storage.LOCAL


def upto(extent: int) -> tuple[Affine, ...]:
    return (Affine.of(extent),)


def loop(var: str, extent: int, *body: Node) -> Loop:
    return Loop(var, ZERO, upto(extent), 1, body)


def element(name: str, *indices: Affine | int) -> Access:
    return Access(name, tuple(Affine.of(i) for i in indices))


def load(name: str, *indices: Affine | int) -> Load:
    return Load(element(name, *indices), f32)


def op(which: BinaryOp, a: Expr, b: Expr) -> Binary:
    return Binary(which, a, b, f32)


def one(text: str, kernel: LoadKernel) -> Stmt:
    """The single statement of a kernel."""
    [stmt] = kernel(text).program.statements()
    return stmt


def test_gemm(kernel: LoadKernel) -> None:
    text = '''
@weft.kernel
def k(alpha: f32, beta: f32, A: f32[4, 6], B: f32[6, 5], C: f32[4, 5]):
    """The docstring is no statement."""
    for i, j in weft.grid(4, 5):
        C[i, j] *= beta
    for i in range(4):
        for j in range(5):
            for k in range(6):
                C[i, j] += alpha * A[i, k] * B[k, j]
'''
    scaled = Stmt("S0", element("C", vi, vj), op(BinaryOp.MUL, load("C", vi, vj), load("beta")))
    product = op(
        BinaryOp.MUL, op(BinaryOp.MUL, load("alpha"), load("A", vi, vk)), load("B", vk, vj)
    )
    summed = Stmt("S1", element("C", vi, vj), op(BinaryOp.ADD, load("C", vi, vj), product))
    arrays = (
        Array("alpha", f32, ()),
        Array("beta", f32, ()),
        Array("A", f32, (4, 6)),
        Array("B", f32, (6, 5)),
        Array("C", f32, (4, 5)),
    )
    nests = (
        loop("i", 4, loop("j", 5, scaled)),
        loop("i", 4, loop("j", 5, loop("k", 6, summed))),
    )
    program = kernel(text).program
    assert program == Program("k", arrays, nests)
    assert [s.source for s in program.statements()] == [
        "C[i, j] *= beta",
        "C[i, j] += alpha * A[i, k] * B[k, j]",
    ]


def test_triangular_and_imperfect(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[8, 8], x: weft.const[f32[8]]):
    for i in range(1, 8):
        A[i, i] = x[i]
        for j in range(i):
            A[i, j] = x[j]
        for j in range(max(i - 1, 2), min(8, i + 3)):
            A[i, j] = A[j, i]
"""
    first = Stmt("S0", element("A", vi, vi), load("x", vi))
    second = Stmt("S1", element("A", vi, vj), load("x", vj))
    third = Stmt("S2", element("A", vi, vj), load("A", vj, vi))
    nest = Loop(
        "i",
        (Affine.of(1),),
        upto(8),
        1,
        (
            first,
            Loop("j", ZERO, (vi,), 1, (second,)),
            Loop("j", (vi - 1, Affine.of(2)), (Affine.of(8), vi + 3), 1, (third,)),
        ),
    )
    arrays = (Array("A", f32, (8, 8)), Array("x", f32, (8,), const=True))
    assert kernel(text).program == Program("k", arrays, (nest,))


@pytest.mark.parametrize(
    ("header", "lower", "upper", "step"),
    [
        ("range(3, 20, 4)", 3, 20, 4),
        ("range(19, -1, -1)", 0, 20, -1),
        ("range(19, 2, -3)", 3, 20, -3),
        ("range(-2, 5)", -2, 5, 1),
        ("range(N * 2 // 3 + 10 % 4, M ** 2 - 1)", 4, 35, 1),
        ("range(min(N, M), max(20, N, M))", 4, 20, 1),
        ("range(len(A))", 0, 20, 1),
        ("range(A.shape[0] - 1)", 0, 19, 1),
        ("range(int(M / N * 10))", 0, 15, 1),
        ("weft.grid(range(1, 19))", 1, 19, 1),
    ],
)
def test_constant_ranges(
    kernel: LoadKernel, header: str, lower: int, upper: int, step: int
) -> None:
    text = f"@weft.kernel\ndef k(A: f32[20]):\n    for i in {header}:\n        A[i] = 1\n"
    [found] = kernel(text).program.body
    stmt = Stmt("S0", element("A", vi), Const(1.0, f32))
    assert found == Loop("i", (Affine.of(lower),), (Affine.of(upper),), step, (stmt,))


@pytest.mark.parametrize(
    ("bounds", "lowers", "uppers"),
    [
        ("max(i, 2) + 1, 9", (vi + 1, Affine.of(3)), upto(9)),
        ("0, 9 - max(i, 2)", ZERO, (9 - vi, Affine.of(7))),
        ("0, -max(-i, -3, -8)", ZERO, (vi, Affine.of(3))),
        ("0, min(i, 4) * 2", ZERO, (vi * 2, Affine.of(8))),
        ("0, 2 * min(i, 4) // 3", ZERO, (vi * 2 // 3, Affine.of(2))),
        ("max(i, max(1, 3)), min(min(i + 5, 9), 8)", (vi, Affine.of(3)), (vi + 5, Affine.of(8))),
        ("i % 2, (i + 5) // 2", (vi % 2,), ((vi + 5) // 2,)),
    ],
)
def test_affine_bounds(
    kernel: LoadKernel, bounds: str, lowers: tuple[Affine, ...], uppers: tuple[Affine, ...]
) -> None:
    text = (
        "@weft.kernel\ndef k(A: f32[20]):\n    for i in range(6):\n"
        f"        for j in range({bounds}):\n            A[j] = 1\n"
    )
    [outer] = kernel(text).program.body
    assert isinstance(outer, Loop)
    [inner] = outer.body
    assert isinstance(inner, Loop)
    assert (inner.lowers, inner.uppers) == (lowers, uppers)


def test_counting_down_from_a_minimum(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[20]):
    for i in range(6):
        for j in range(min(i + 2, 4), max(i - 2, 0) - 1, -1):
            A[j] = 1
"""
    [outer] = kernel(text).program.body
    assert isinstance(outer, Loop)
    [inner] = outer.body
    assert isinstance(inner, Loop)
    assert inner.lowers == (vi - 2, Affine())
    assert inner.uppers == (vi + 3, Affine.of(5))
    assert inner.step == -1


def test_conditions(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[8, 8]):
    for i, j in weft.grid(8, 8):
        if 1 <= i < j and not i == 4:
            A[i, j] = 1
        elif i % 2 == 0 or j > i + 3:
            A[i, j] = 2
        else:
            A[i, j] = 3
"""

    def store(name: str, value: float) -> Stmt:
        return Stmt(name, element("A", vi, vj), Const(value, f32))

    chain = And((Constraint(vi - 1), Constraint(vj - vi - 1)))
    not_four = Or((Constraint(vi - 5), Constraint(-vi + 3)))
    even = Or((Constraint(vi % 2, "=="), Constraint(vj - vi - 4)))
    inner = If(even, (store("S1", 2.0),), (store("S2", 3.0),))
    node = If(And((chain, not_four)), (store("S0", 1.0),), (inner,))
    expected = (loop("i", 8, loop("j", 8, node)),)
    assert kernel(text).program.body == expected


@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("N < M", 1.0),
        ("N > M or N == 4 and not False", 1.0),
        ("N > M", 2.0),
        ("N != 4", 2.0),
        ("0 < N < 3", 2.0),
        ("M - 6", 2.0),
    ],
)
def test_known_conditions_pick_their_side(kernel: LoadKernel, test: str, value: float) -> None:
    text = (
        f"@weft.kernel\ndef k(A: f32[8]):\n    if {test}:\n        A[0] = 1\n"
        "    else:\n        A[0] = 2\n"
    )
    assert kernel(text).program.body == (Stmt("S0", element("A", 0), Const(value, f32)),)


def test_locals_and_their_scopes(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[8], B: f64[8]):
    tmp: f32[8, 2] = 0.5
    unused: f32[3]
    for i in range(8):
        acc: f32 = 0
        for j in range(2):
            x = A[i] * B[i]
            acc += x
        x: f32 = acc
        A[i] = x
    for i in range(8):
        x = tmp[i, 1] > 0
        A[i] = 1.0 if x else tmp[i, 0]
"""
    program = kernel(text).program
    assert program.locals == (
        Array("tmp", f32, (8, 2), LOCAL),
        Array("acc", f32, (), LOCAL, scope_depth=1),
        Array("x_2", f32, (), LOCAL, scope_depth=1),
        Array("x", f64, (), LOCAL, scope_depth=2),
        Array("x_3", boolean, (), LOCAL, scope_depth=1),
    )
    a, b = Affine.of("tmp_i"), Affine.of("tmp_j")
    init = Stmt("S0", element("tmp", a, b), Const(0.5, f32))
    assert program.body[0] == loop("tmp_i", 8, loop("tmp_j", 2, init))
    assert program.statements()[0].source == "tmp: f32[8, 2] = 0.5"


def test_a_local_first_assigned_under_if_belongs_to_the_loop(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[8]):
    for i in range(8):
        if i > 2:
            x = A[i]
        else:
            x = -A[i]
        A[i] = x
"""
    program = kernel(text).program
    assert program.locals == (Array("x", f32, (), LOCAL, scope_depth=1),)
    assert [s.target.array for s in program.statements()] == ["x", "x", "A"]


def test_nested_subscripts_are_those_of_one_array(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[8, 8]):
    for i in range(7):
        A[i][i + 1] = A[i, 0]
"""
    assert one(text, kernel) == Stmt("S0", element("A", vi, vi + 1), load("A", vi, 0))


def test_statement_names(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[8]):
    A[0] = 1
    with weft.stmt("update"):
        A[0] += 1
    A[0] = 3
    with weft.stmt("init"):
        t: f32[2] = 0.0
    A[1] = t[0]
"""
    names = [s.name for s in kernel(text).program.statements()]
    assert names == ["S0", "update", "S2", "init", "S4"]


def test_spans_are_those_of_the_file(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[8]):
    for i in range(8):  # é
        A[i] = (1 +
                A[i])
"""
    program = kernel(text).program
    [loop_node] = program.body
    stmt = program.statements()[0]
    assert isinstance(loop_node, Loop)
    assert loop_node.span is not None
    assert (loop_node.span.line, loop_node.span.col, loop_node.span.end_col) == (12, 5, 22)
    assert stmt.span is not None
    assert (stmt.span.line, stmt.span.end_line, stmt.span.col) == (13, 14, 9)
    assert stmt.source == "A[i] = 1 + A[i]"
    assert stmt.target.span is not None
    assert stmt.target.span.end_col == 13
    assert program.span is not None
    assert (program.span.line, program.span.col, program.span.end_col) == (11, 1, 6)
    assert program.arguments[0].span is not None
    assert str(program.arguments[0].span) == "k.py:11:7"


def test_columns_count_characters_not_bytes(kernel: LoadKernel) -> None:
    text = '@weft.kernel\ndef k(A: f32[8]):\n    "é"; A[0] = 2\n'
    stmt = one(text, kernel)
    assert stmt.span is not None
    assert (stmt.span.col, stmt.span.end_col) == (10, 18)
    assert stmt.source == "A[0] = 2"


def test_carets_under_a_line_with_tabs(error: Callable[[str], str]) -> None:
    text = "@weft.kernel\ndef k(A: f32[8]):\n\tfor i in range(8):\n\t\tA[i] = B\n"
    assert error(text).splitlines()[1:3] == [
        "   12 | \t\tA[i] = B",
        "      | \t\t       ^",
    ]


def test_empty_loops_are_left_out(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def k(A: f32[8]):
    for i in range(8):
        if i > 2:
            pass
    A[0] = 1
"""
    assert len(kernel(text).program.body) == 1


def test_a_local_may_have_the_name_of_a_loop_elsewhere(kernel: LoadKernel) -> None:
    text = (
        "@weft.kernel\ndef k(x: i32[4], y: i32[4]):\n"
        "    for n in range(4):\n        y[n] = x[n]\n"
        "    for i in range(4):\n        n = x[i] * 2\n        y[i] += n\n"
        "    for n in range(4):\n        y[n] += n\n"
    )
    program = kernel(text).program
    found = run(program, {"x": np.array([3, -1, 4, 1], np.int32), "y": np.zeros(4, np.int32)})
    assert [array.name for array in program.locals] == ["n_2"]
    assert found["y"].tolist() == [9, -2, 14, 6]
