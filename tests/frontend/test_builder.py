"""The second front door: the same programs, and errors of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft
from dsl.errors.errors import LanguageError
from tests.frontend.conftest import Load
from weft import f32, fixed, i8, i32

Build = Callable[[], weft.Program]


def gemm() -> weft.Program:
    p = weft.Program("k")
    i, j, k = p.loops(i=4, j=5, k=6)
    alpha, beta = p.placeholder("alpha", f32), p.placeholder("beta", f32)
    A = p.placeholder("A", f32, (4, 6))
    B = p.placeholder("B", f32, (6, 5), const=True)
    C = p.placeholder("C", f32, (4, 5))
    p.compute(None, (i, j), into=C[i, j], value=C[i, j] * beta)
    p.compute(
        "S1", (i, j, k), into=C[i, j], value=C[i, j] + alpha * A[i, k] * B[k, j], after=("S0", None)
    )
    return p


GEMM = """
@weft.kernel
def k(alpha: f32, beta: f32, A: f32[4, 6], B: weft.const[f32[6, 5]], C: f32[4, 5]):
    for i, j in weft.grid(4, 5):
        C[i, j] *= beta
    for i, j, k in weft.grid(4, 5, 6):
        C[i, j] += alpha * A[i, k] * B[k, j]
"""


def shared_loops() -> weft.Program:
    p = weft.Program("k")
    (i,) = p.loops(i=range(1, 9))
    j = p.loop("j", 0, i + 1)
    A = p.placeholder("A", f32, (10, 10))
    acc = p.local("acc", f32, inside=i)
    t = p.local("t", f32, (10,))
    p.compute("first", (i,), into=acc, value=0)
    p.compute("sum", (i, j), into=acc, value=acc + A[i, j], after=("first", i))
    p.compute("upper", (i, j), into=t[j], value=acc, after=("sum", j), where=(i - j > 2) & (j != 3))
    p.compute("last", (i,), into=A[i, i], value=acc, after=("sum", i))
    p.compute("alone", (), into=A[0, 0], value=t[0])
    return p


SHARED = """
@weft.kernel
def k(A: f32[10, 10]):
    t: f32[10]
    for i in range(1, 9):
        with weft.stmt("first"):
            acc: f32 = 0
        for j in range(i + 1):
            with weft.stmt("sum"):
                acc += A[i, j]
            if i - j > 2 and j != 3:
                with weft.stmt("upper"):
                    t[j] = acc
        with weft.stmt("last"):
            A[i, i] = acc
    with weft.stmt("alone"):
        A[0, 0] = t[0]
"""


def operators() -> weft.Program:
    p = weft.Program("k")
    i = p.loop("i", 9, -1, -2)
    j = p.loop("j", (0, i - 3), (10, i + 2))
    A, B = p.placeholder("A", i32, (10,)), p.placeholder("B", f32, (10,))
    F = p.placeholder("F", fixed[16, 8], (10,))
    at = (i, j)
    p.compute(None, at, A[j], (A[i] << 2) + (A[j] >> 1) - (3 & A[i]) + (A[i] | A[j] ^ 5) + ~A[i])
    p.compute(None, at, A[j], A[i] // 3 % (A[j] + 1) + 7 // A[i] - 7 % A[i], after=("S0", j))
    p.compute(None, at, B[j], weft.sqrt(abs(B[i])) + 1 / B[j] - weft.max(B[i], B[j], 2), ("S0", j))
    p.compute(None, at, B[j], weft.select((B[i] > 0) & (i < j) | ~(B[j] <= 1), B[i] ** 2, -B[j]))
    p.compute(None, at, B[j], f32(2 * i + j % 4 - j // 2) + weft.tanh(B[i]), ("S3", i))
    p.compute(None, at, F[j], i8(A[i] - 1) * F[i] + weft.min(F[i], 0.5) + np.int64(2), ("S3", i))
    p.compute(None, at, A[j], i * j + (8 - i), after=("S3", i))
    return p


OPERATORS = """
@weft.kernel
def k(A: i32[10], B: f32[10], F: fixed[16, 8][10]):
    for i in range(9, -1, -2):
        for j in range(max(0, i - 3), min(10, i + 2)):
            A[j] = (A[i] << 2) + (A[j] >> 1) - (3 & A[i]) + (A[i] | A[j] ^ 5) + ~A[i]
            A[j] = A[i] // 3 % (A[j] + 1) + 7 // A[i] - 7 % A[i]
            B[j] = math.sqrt(abs(B[i])) + 1 / B[j] - max(B[i], B[j], 2)
    for i in range(9, -1, -2):
        for j in range(max(0, i - 3), min(10, i + 2)):
            B[j] = B[i] ** 2 if B[i] > 0 and i < j or not B[j] <= 1 else -B[j]
        for j in range(max(0, i - 3), min(10, i + 2)):
            B[j] = f32(2 * i + j % 4 - j // 2) + math.tanh(B[i])
        for j in range(max(0, i - 3), min(10, i + 2)):
            F[j] = i8(A[i] - 1) * F[i] + min(F[i], 0.5) + 2
        for j in range(max(0, i - 3), min(10, i + 2)):
            A[j] = i * j + (8 - i)
"""


@pytest.mark.parametrize(
    ("build", "text"), [(gemm, GEMM), (shared_loops, SHARED), (operators, OPERATORS)]
)
def test_both_doors_make_the_same_program(kernel: Load, build: Build, text: str) -> None:
    assert build().build() == kernel(text).program


def test_a_built_program_is_a_kernel() -> None:
    p = weft.Program("twice")
    (i,) = p.loops(i=3)
    A = p.placeholder("A", f32, (3,))
    assert p.compute(None, (i,), into=A[i], value=A[i] * 2) == "S0"

    @p.schedule
    def fast(s):
        s.pipeline("i")

    array = np.arange(3, dtype=np.float32)
    p(array)
    assert array.tolist() == [0, 2, 4]
    assert p.schedules == {"fast": fast}
    assert p.name == p.program.name == "twice"
    [stmt] = p.program.statements()
    assert stmt.source == "A[i] *= 2.0"
    assert str(stmt.span).startswith("test_builder.py:")


def unplaced() -> weft.Program:
    p = weft.Program("k")
    i, j = p.loops(i=4, j=4)
    A = p.placeholder("A", f32, (4, 4))
    p.compute("S0", (i,), into=A[i, j], value=0)
    return p


def test_the_place_of_an_error_is_the_call() -> None:
    with pytest.raises(LanguageError) as caught:
        unplaced()
    first, code, carets, last = caught.value.render().splitlines()
    call = "p.compute('S0', (i,), into=A[i, j], value=0)".replace("'", '"')
    assert first.endswith(": error[W132]: 'S0' uses the variable 'j', which is no loop around")
    assert code.endswith(f"     {call}")
    assert carets.endswith(" " + "^" * len(call))
    assert last == "help: there is i"


def refused(what: str) -> None:
    p = weft.Program("p")
    i, j = p.loops(i=4, j=4)
    A, x = p.placeholder("A", f32, (4, 4)), p.placeholder("x", f32)
    w = p.placeholder("w", f32, (4,), const=True)
    acc = p.local("acc", f32, inside=i)
    n = p.placeholder("n", i32)
    p.compute("first", (i, j), into=A[i, j], value=x)
    actions: dict[str, Callable[[], object]] = {
        "rank": lambda: A[i],
        "subscript": lambda: A[x, 0],
        "bound": lambda: p.loop("k", 0, n),
        "step": lambda: p.loop("k", 0, 4, 0),
        "stepped": lambda: p.loop("k", (i, j), 9, 2),
        "name": lambda: p.placeholder("for", f32),
        "loop name": lambda: p.loop("2", 4),
        "twice": lambda: p.placeholder("A", f32),
        "extent": lambda: p.placeholder("B", f32, (4, 0)),
        "statement": lambda: p.compute("first", (i,), into=A[i, 0], value=0),
        "scalar": lambda: p.compute(None, (), into=x, value=0),
        "const": lambda: p.compute(None, (i,), into=w[i], value=0),
        "target": lambda: p.compute(None, (i,), into=w, value=0),
        "value": lambda: p.compute(None, (i,), into=A[i, 0], value=w),
        "string": lambda: A[i, 0] + "1",
        "after": lambda: p.compute(None, (i,), into=A[i, 0], value=0, after=("frist", i)),
        "after loop": lambda: p.compute(
            None, (i,), into=A[i, 0], value=0, after=("first", p.loop("k", 4))
        ),
        "after other": lambda: p.compute(None, (j,), into=A[j, 0], value=0, after=("first", i)),
        "loops": lambda: p.compute(None, (i, i), into=A[i, 0], value=0),
        "where": lambda: p.compute(None, (i,), into=A[i, 0], value=0, where=True),
        "truth": lambda: 1 if A[i, 0] > 0 else 0,
        "select": lambda: weft.select(A[i, 0], 1.0, x),
        "sqrt": lambda: weft.sqrt(n),
        "arity": lambda: weft.min(x),
        "other program": lambda: p.compute(
            None, (i,), into=A[i, 0], value=weft.Program("q").placeholder("Z", f32)
        ),
        "local": lambda: (p.compute(None, (), into=acc, value=0), p.build()),
        "float": lambda: p.compute(None, (i,), into=p.local("m", i8), value=x),
    }
    actions[what]()


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("rank", "error[W142]: 'A' has 2 dimensions, but is given 1 subscripts"),
        ("subscript", "error[W140]: the subscript of 'A' is not affine"),
        ("bound", "error[W141]: the bound of loop 'k' is not affine"),
        ("step", "error[W143]: the step 0 is not an integer other than 0"),
        ("stepped", "error[W143]: loop 'k' with step 2 begins at a single value"),
        ("name", "error[W136]: an array cannot be called 'for'"),
        ("loop name", "error[W136]: a loop cannot be called '2'"),
        ("twice", "error[W134]: 'A' is already declared"),
        ("extent", "error[W144]: the extent 0 of 'B' is not a positive integer"),
        ("statement", "error[W137]: the name 'first' is taken by another statement"),
        ("scalar", "error[W135]: 'x' is a scalar argument, and is only read"),
        ("const", "error[W135]: 'w' is declared const, and is only read"),
        ("target", "error[W107]: into= is <weft array w: f32[4]>, not an element of an array"),
        ("value", "error[W113]: the whole array 'w' is not a value of the program"),
        ("string", "error[W113]: '1' is not a value of the program"),
        ("after", "error[W130]: there is no statement 'frist' to come after"),
        ("after loop", "error[W132]: 'first' is not in a loop 'k'"),
        ("after other", "error[W133]: the loop 'i' of 'first' is not loop 1 here"),
        ("loops", "error[W133]: two loops around 'S1' are called 'i'"),
        ("where", "error[W115]: where= is True, not a condition, such as i < j or A[i] > 0"),
        ("truth", "error[W106]: a term has no truth value while the program is built"),
        ("select", "error[W125]: the condition of a select needs a truth value (u1), not f32"),
        ("sqrt", "error[W126]: sqrt is a function of floats, not of i32"),
        ("arity", "error[W150]: write weft.min(a, b), not 1 arguments"),
        ("other program", "error[W130]: 'Z' is no array of the program 'p'"),
        ("local", "error[W131]: 'acc' is local to the body of the loop 'i'"),
        ("float", "error[W124]: a value of type f32 does not convert to i8 by itself"),
    ],
)
def test_refused(what: str, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        refused(what)
    first, code, *_ = caught.value.render().splitlines()
    assert first.endswith(f": {message}")
    assert first.startswith("test_builder.py:")
    assert code.strip()


def test_conditions_of_data_and_of_loops() -> None:
    p = weft.Program("p")
    (i,) = p.loops(i=4)
    x = p.placeholder("x", f32)
    affine, data = i >= 2, x > 0
    assert affine.cond is not None
    assert data.cond is None
    assert (affine & data).cond is None
    assert (affine | (i == 0)).cond is not None
    assert repr(2 * i + 1) == "<weft term 2*i + 1>"
