"""Calls of other kernels."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dsl.arrays.inputs import storage_dtype
from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Binary, BinaryOp, Const, Load
from dsl.expressions.types import f32, f64
from dsl.interp import ExecutionError
from dsl.programs.program import Array, Loop, Program, Stmt, Storage
from polyhedral.legality.program import check_program
from tests.frontend.conftest import Load as LoadKernel


def test_arrays_loops_locals_and_statements_are_renamed(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def scale(X: f32[4], a: f32):
    for i in range(4):
        t = X[i] * a
        with weft.stmt("store"):
            X[i] = t

@weft.kernel
def k(A: f32[4], B: f32[4], alpha: f32):
    t: f32 = 0.0
    for i in range(3):
        scale(A, alpha)
    scale(B, 2)
"""

    def scaled(array: str, var: str, local: str, names: tuple[str, str], factor) -> Loop:
        index = (Affine.of(var),)
        product = Binary(BinaryOp.MUL, Load(Access(array, index), f32), factor, f32)
        body = (
            Stmt(names[0], Access(local, ()), product),
            Stmt(names[1], Access(array, index), Load(Access(local, ()), f32)),
        )
        return Loop(var, (Affine(),), (Affine.of(4),), 1, body)

    alpha = Load(Access("alpha", ()), f32)
    inner = scaled("A", "scale_i", "scale_t", ("S1", "store"), alpha)
    expected = Program(
        "k",
        (
            Array("A", f32, (4,)),
            Array("B", f32, (4,)),
            Array("alpha", f32, ()),
            Array("t", f32, (), Storage.LOCAL),
            Array("scale_t", f32, (), Storage.LOCAL, scope_depth=2),
            Array("scale_t_2", f32, (), Storage.LOCAL, scope_depth=1),
        ),
        (
            Stmt("S0", Access("t", ()), Const(0.0, f32)),
            Loop("i", (Affine(),), (Affine.of(3),), 1, (inner,)),
            scaled("B", "i", "scale_t_2", ("S3", "scale_store"), Const(2.0, f32)),
        ),
    )
    program = kernel(text).program
    assert program == expected
    span = program.statements()[1].span
    assert span is not None
    assert span.line == 13  # that of the callee


def test_scalars_are_passed_by_value(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def fill(X: f32[4], a: f32):
    for i in range(4):
        X[i] = a

@weft.kernel
def k(A: f32[4], x: f64):
    for i in range(4):
        fill(A, A[i] + x)
    fill(X=A, a=x)
"""
    program = kernel(text).program
    assert [(a.name, a.dtype, a.scope_depth) for a in program.locals] == [
        ("fill_a_2", f32, 0),
        ("fill_a", f32, 1),
    ]
    copy, store, *_ = program.statements()
    assert copy.target == Access("fill_a", ())
    assert copy.value.dtype == f64
    assert copy.source == "fill_a = A[i] + x"
    assert store.value == Load(Access("fill_a", ()), f32)


def test_a_loop_that_has_the_name_of_an_array_is_renamed(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def zero(X: f32[4]):
    for j in range(4):
        if j > 1:
            X[j] = j

@weft.kernel
def k(A: f32[4], j: f32):
    zero(A)
    A[0] = j
"""
    [loop, _] = kernel(text).program.body
    assert isinstance(loop, Loop)
    assert loop.var == "zero_j"


def test_calls_nest(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def one(X: f32[4]):
    t: f32[4] = 1.0
    for i in range(4):
        X[i] += t[i]

@weft.kernel
def two(X: f32[4]):
    one(X)
    one(X)

@weft.kernel
def k(A: f32[4]):
    two(A)
    t: f32 = 3.0
    A[0] = t
"""
    program = kernel(text).program
    assert [a.name for a in program.locals] == ["two_one_t", "two_one_t_2", "t"]
    assert [s.name for s in program.statements()] == [f"S{n}" for n in range(6)]


def test_an_array_may_be_passed_twice(kernel: LoadKernel) -> None:
    text = """
@weft.kernel
def add(X: f32[4], Y: f32[4]):
    for i in range(4):
        Y[i] += X[i]

@weft.kernel
def k(A: f32[4]):
    add(A, A)
"""
    [stmt] = kernel(text).program.statements()
    assert {a.array for a in (stmt.target,)} == {"A"}


def test_a_program_that_was_built_can_be_called(kernel: LoadKernel) -> None:
    text = """
p = weft.Program("fill")
X = p.placeholder("X", f32, (4,))
(i,) = p.loops(i=4)
p.compute("set", (i,), into=X[i], value=i)

@weft.kernel
def k(A: f32[4]):
    p(A)
"""
    program = kernel(text).program
    assert [s.name for s in program.statements()] == ["set"]
    assert program.statements()[0].target.array == "A"


PARTS = """
@weft.kernel
def scale(x: i32[4]):
    for k in range(4):
        x[k] *= 2
    for k in range(3):
        x[k + 1] += x[k]

@weft.kernel
def middle(v: i32[6]):
    scale(v[1:5])
    scale(v[2:])

@weft.kernel
def count(x: i32[4], h: i32[16]):
    for i in range(4):
        h[x[i] & 15] += 1

@weft.kernel
def k(a: i32[16], b: i32[5, 4], c: i32[3, 8], x: i32[5, 5], h: i32[2, 20]):
    for i in range(4):
        scale(a[4 * i:4 * i + 4])
    scale(a[1::4])
    scale(a[3:11:2])
    for i in range(5):
        scale(b[i])
    scale(b[1:5, 2])
    for i in range(3):
        middle(c[i, i:i + 6])
    scale(c[1][2:6])
    for i in range(2):
        count(x[i, i:i + 4], h[1 - i, :16])
        count(x[1:, i], h[i, :16])
"""


def test_parts_of_arrays_are_those_of_numpy(kernel: LoadKernel) -> None:
    k = kernel(PARTS)
    names = dict.fromkeys(("scale", "middle", "count", "k"))
    bare = re.sub(r"(\w+): i32\[[^]]*\]", r"\1", PARTS).replace("@weft.kernel\n", "")
    exec(bare, names)
    check_program(k.program)
    rng = np.random.default_rng(3)
    shapes = {a.name: (a.shape, storage_dtype(a.dtype)) for a in k.program.arguments}
    arrays = {n: rng.integers(0, 9, shape).astype(dtype) for n, (shape, dtype) in shapes.items()}
    wanted = {n: a.copy() for n, a in arrays.items()}
    names["k"](**wanted)
    k(**arrays)
    assert all(np.array_equal(arrays[n], wanted[n]) for n in arrays)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "x[k + 1] = 0",
            "A[k + 1] is out of the part that was passed: its subscript is 4 for k = 3",
        ),
        ("x[k] = x[2 * k]", "its subscript is 4 for k = 2"),
        ("x[n[0] & 7] = 0", "which may be 0 to 7"),
    ],
)
def test_a_part_is_not_left(kernel: LoadKernel, line: str, message: str) -> None:
    """Though the array goes on."""
    k = kernel(
        f"""
@weft.kernel
def part(x: f32[4], n: i32[1]):
    for k in range(4):
        {line}

@weft.kernel
def k(A: f32[8], n: i32[1]):
    part(A[:4], n)
"""
    )
    with pytest.raises(LanguageError) as caught:
        check_program(k.program)
    assert message in caught.value.render()
    with pytest.raises(ExecutionError):
        k(np.zeros(8, np.float32), np.full(1, 7, np.int32))
