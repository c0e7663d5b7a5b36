"""Calls of `weft.Program` with what does not fit: a code and the user's line, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from dsl.errors.errors import LanguageError
from weft import f32

HUGE = 10**5000
Call = Callable[[Any, Any, Any, Any], object]
"""Of a program, its array ``A: f32[8, 8]`` and its loop variables ``i`` and ``j``."""


def made() -> tuple[Any, Any, Any, Any]:
    p = weft.Program("k")
    a = p.placeholder("A", f32, (8, 8))
    (i,) = p.loops(i=8)
    return p, a, i, p.loop("j", 0, i + 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, A, i, j: p.placeholder("B", "f32", (8,)), "W115]: dtype= is 'f32', not a type"),
        (lambda p, A, i, j: p.placeholder("B", f32[8]), "W115]: dtype= is ArrayType("),
        (lambda p, A, i, j: p.placeholder("B", f32, 8), "W115]: shape= is 8, not a tuple of extents"),
        (lambda p, A, i, j: p.placeholder("B", f32, (2.0,)), "W144]: the extent 2.0 of 'B' is not"),
        (lambda p, A, i, j: p.placeholder("B", f32, (True,)), "W144]: the extent True of 'B'"),
        (lambda p, A, i, j: p.placeholder("B", f32, (HUGE,)), "W144]: the extent an integer of 16610"),
        (lambda p, A, i, j: p.placeholder("B", f32, (8,), cons=True), "W115]: placeholder has no arg"),
        (lambda p, A, i, j: p.placeholder("B"), "W115]: placeholder is called without 'dtype'"),
        (lambda p, A, i, j: p.local("t", f32, (8,), inside="i"), "W115]: inside= is 'i', not a loop"),
        (lambda p, A, i, j: p.local("t", f32, (8,), i), "W115]: local takes 3 arguments, not 4"),
        (lambda p, A, i, j: p.loops(8), "W115]: loops takes 0 arguments, not 1"),
        (lambda p, A, i, j: p.loops(k="8"), "W113]: '8' is not a value of the program"),
        (lambda p, A, i, j: p.loops(k=HUGE), "W108]: an integer of 16610 bits is more than 8192"),
        (lambda p, A, i, j: p.loops(k=2**63), "W108]: the bound 9223372036854775808 of loop 'k'"),
        (lambda p, A, i, j: p.loops(k=range(0, 9, 2**70)), "W143]: the step an integer of 71 bits"),
        (lambda p, A, i, j: p.loop("k", 0, 2**i), "W127]: the exponent of 2 is a term"),
        (lambda p, A, i, j: p.loop("k", 0, 9, 1.5), "W143]: the step 1.5 is not an integer"),
        (lambda p, A, i, j: p.compute("S", i, A[i, i], 1.0), "W115]: loops= is <weft term i>, not a"),
        (lambda p, A, i, j: p.compute("S", ("i",), A[i, i], 1.0), "W115]: loops= is 'i', not a tuple"),
        (lambda p, A, i, j: p.compute("S", (i, j), A, 1.0), "W107]: into= is <weft array A"),
        (lambda p, A, i, j: p.compute("S", (i, j), A[i, j], "x"), "W113]: 'x' is not a value"),
        (lambda p, A, i, j: p.compute("S", (i, j), A[i, j], HUGE), "W108]: an integer of 16610 bits"),
        (lambda p, A, i, j: p.compute("S", (i, j), A[i, j]), "W115]: compute is called without 'value'"),
        (lambda p, A, i, j: p.compute("S", (i, j), A[i, j], 1.0, wher=i < j), "W115]: compute has no"),
        (lambda p, A, i, j: p.compute("S", (i, j), A[i, j], 1.0, where=True), "W115]: where= is True"),
        (lambda p, A, i, j: p.compute("S", (i, j), A[i, j], 1.0, "S0"), "W115]: after= is 'S0', not"),
        (lambda p, A, i, j: p.compute("S", (i, j), A[i, j], 1.0, ("S0", "i")), "W115]: after= is ('S0'"),
        (lambda p, A, i, j: p.compute(3, (i, j), A[i, j], 1.0), "W136]: a statement cannot be called 3"),
        (lambda p, A, i, j: bool(i < j), "W106]: a term has no truth value"),
        (lambda p, A, i, j: i in [j], "W106]: a term has no truth value"),
        (lambda p, A, i, j: A[i:j, 0], "W113]: slice("),
        (lambda p, A, i, j: f32(HUGE), "W112]: f32(an integer of 16610 bits) has a meaning"),
        (lambda p, A, i, j: f32(A), "W112]: f32(<weft array A: f32[8, 8]>) has a meaning inside of"),
        (lambda p, A, i, j: f32(type(i)), "W112]: f32(<class 'dsl.builder.terms.LoopVar'>) has a"),
        (lambda p, A, i, j: weft.sqrt(A), "W112]: weft.sqrt has a meaning inside of a kernel only"),
        (lambda p, A, i, j: weft.max(A, i), "W113]: the whole array 'A' is not a value of the program"),
        (lambda p, A, i, j: weft.grid(8, i), "W112]: weft.grid has a meaning inside of a kernel only"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(call: Call, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        call(*made())
    text = caught.value.render()
    assert f"error[{message}" in text  # error[W115] among them
    assert "lambda p, A, i, j:" in text
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_a_misspelt_keyword_names_the_nearest() -> None:
    with pytest.raises(LanguageError) as caught:
        made()[0].placeholder("B", f32, (8,), cons=True)
    assert caught.value.help == (
        "did you mean 'const'? write p.placeholder(name, dtype, shape=(), const=False)"
    )


def test_numbers_of_numpy_are_numbers() -> None:
    p, a, i, j = made()
    b = p.placeholder("B", f32, [np.int64(3)])
    assert b.shape == (3,)
    p.compute("S", [i, j], a[i, j], np.float32(2))
    assert len(p.program.statements()) == 1


def test_a_function_of_the_language_takes_numbers_before_terms() -> None:
    p, a, i, j = made()
    p.compute("S", (i, j), a[i, j], weft.max(0, 1.0, a[i, i]))
    found = np.full((8, 8), -1, np.float32)
    p(found)
    assert (found == np.where(np.tri(8), 1, -1)).all()


@pytest.mark.parametrize("position", [1, 2])
def test_iterating_over_terms_and_arrays_ends(position: int) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(made()[position])
