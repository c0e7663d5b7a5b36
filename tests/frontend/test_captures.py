"""Captured names, sizes, and kernels at other sizes and types."""

from __future__ import annotations

import functools
import runpy
import types
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import weft
from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Const
from dsl.expressions.types import FixedType, f16, f32
from dsl.frontend.function_kernel import FunctionKernel
from dsl.programs.program import Loop
from tests.frontend.conftest import Load
from weft import fixed

N = 4
ROUNDED = np.float32(0.5)
COUNT = np.int64(3)
TABLE = np.array([[1.5, 2.5], [3.5, 4.5]])
NAMED = {"taps": [1, 2, 4]}
Vector = f32[N]
CONFIG = types.SimpleNamespace(size=5, element=f16)
EXACT = Fraction((1 << 80) + 1, 1 << 70)


def constants(kernel: FunctionKernel) -> list[object]:
    return [s.value.value for s in kernel.program.statements() if isinstance(s.value, Const)]


def test_numbers_of_numpy_tables_and_modules() -> None:
    @weft.kernel
    def k(A: Vector, B: CONFIG.element[CONFIG.size]):
        for i in range(COUNT):
            A[i] = ROUNDED
        A[0] = TABLE[1, 0]
        A[1] = TABLE[1][1]
        A[2] = NAMED["taps"][-1]
        B[0] = N

    assert [a.type for a in k.program.arguments] == [f32[4], f16[5]]
    assert constants(k) == [0.5, 3.5, 4.5, 4.0, 4.0]
    [loop, *_] = k.program.body
    assert isinstance(loop, Loop)
    assert loop.uppers == (Affine.of(3),)


def test_sizes_of_the_function_around() -> None:
    kernels = []
    for size in (2, 3):
        element = f16 if size == 2 else f32

        @weft.kernel
        def k(A: element[size]):
            for i in range(size):  # noqa: B023 - known when it is decorated
                A[i] = 0

        kernels.append(k)
    assert [k.program.arguments[0].type for k in kernels] == [f16[2], f32[3]]


def test_fractions_keep_all_their_digits() -> None:
    @weft.kernel
    def k(A: fixed[100, 20][N]):
        A[0] = fixed[100, 20](EXACT)
        A[1] = fixed[16, 8](EXACT)

    assert constants(k) == [EXACT, Fraction(0)]
    assert k.program.statements()[1].value.dtype == FixedType(16, 8)


SIZED = """
ELEMENT = f32

@weft.kernel
def helper(X: ELEMENT[N]):
    for i in range(N):
        X[i] = 0

@weft.kernel(sizes={"mini": {"N": 2}, "mixed": {"N": 3, "ELEMENT": f64}})
def k(A: ELEMENT[N], B: ELEMENT[N + 1]):
    helper(A)
    helper.at(N=N + 1)(B)
"""


def test_at_replaces_captured_names_in_called_kernels_too(kernel: Load) -> None:
    k = kernel(SIZED)
    assert [str(a.type) for a in k.program.arguments] == ["f32[4]", "f32[5]"]
    assert [str(a.type) for a in k.at("mini").program.arguments] == ["f32[2]", "f32[3]"]
    assert [str(a.type) for a in k.at("mixed").program.arguments] == ["f64[3]", "f64[4]"]
    assert [str(a.type) for a in k.at(N=9).program.arguments] == ["f32[9]", "f32[10]"]
    assert k.at("mini").at(N=4).program == k.program
    assert k.at("mini", N=4).program == k.program
    assert k.at() is k


def test_at_shares_the_schedules(kernel: Load) -> None:
    k = kernel(SIZED)
    small = k.at("mini")

    @k.schedule
    def simple(s):
        s.pipeline("i")

    assert small.schedules == {"simple": simple}
    assert small.sizes.keys() == {"mini", "mixed"}


@pytest.mark.parametrize(
    ("size", "overrides", "expected"),
    [
        (
            "mimi",
            {},
            "error[W138]: the kernel 'k' has no size 'mimi'\n{place}help: did you mean 'mini'?",
        ),
        (
            None,
            {"NN": 3},
            "error[W138]: the kernel 'k' captures no 'NN'\n{place}help: did you mean 'N'?",
        ),
        (
            None,
            {"N": "three"},
            "error[W138]: 'N' of 'k' cannot be 'three'\n{place}"
            "help: captured names are replaced by numbers or types",
        ),
    ],
)
def test_at_refuses(
    kernel: Load, size: str | None, overrides: dict[str, object], expected: str
) -> None:
    k = kernel(SIZED)
    with pytest.raises(LanguageError) as caught:
        k.at(size, **overrides)
    text = caught.value.render()
    call = "k.at(size, **overrides)"
    start = text.index("error")
    lines = text[start:].splitlines(keepends=True)
    place = "".join(lines[1:3])
    assert call in place
    assert "^" * len(call) in place
    assert text[start:] == expected.format(place=place)
    assert text.startswith("test_captures.py:")


def test_at_suggests_what_can_be_replaced(kernel: Load) -> None:
    k = kernel(
        "T, N, SCALE = f32, 4, 0.5\nTABLE = [1, 2]\n\n\n@weft.kernel\ndef k(A: T[N], B: f32[N]):\n"
        "    for i in range(N):\n        A[i] = SCALE * TABLE[0] * abs(B[i])\n"
    )
    with pytest.raises(LanguageError) as caught:
        k.at(size=3)
    assert caught.value.help == "there is N, SCALE, T"


def test_a_kernel_of_a_program_has_no_other_sizes() -> None:
    with pytest.raises(LanguageError, match=r"error\[W138\]: the kernel 'p' captures no 'N'"):
        weft.Program("p").at(N=3)


def test_without_source(tmp_path: Path) -> None:
    code = "import weft\n@weft.kernel\ndef k(A: weft.f32[4]):\n    A[0] = 1\n"
    space: dict[str, FunctionKernel] = {}
    exec(compile(code, "<typed>", "exec"), space)
    with pytest.raises(LanguageError) as caught:
        _ = space["k"].program
    assert caught.value.render() == (
        "error[W101]: the source of kernel 'k' cannot be had (it comes from <typed>)\n"
        "help: put the kernel in a file: it is read from its source, not executed"
    )
    file = tmp_path / "k.py"
    for text, reason in [
        ("import weft\n\n\n\n# gone\n", "no such function at line 2 of"),
        ("def (\n", "k.py no longer parses\n  invalid syntax"),
    ]:
        file.write_text(text, encoding="utf-8")
        exec(compile(code, str(file), "exec"), space)
        with pytest.raises(LanguageError) as caught:
            _ = space["k"].program
        rendered = caught.value.render()
        assert "error[W101]: the source of kernel 'k' cannot be had: " in rendered
        assert reason in rendered


def test_a_file_that_changes_after_it_was_loaded(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    text = "import weft\n@weft.kernel\ndef k(A: weft.f32[4]):\n    A[0] = 1\n"
    file.write_text(text, encoding="utf-8")
    k = runpy.run_path(str(file))["k"]
    file.unlink()
    assert k.program.statements()[0].source == "A[0] = 1"


def test_names_of_another_function_are_not_captured() -> None:
    def decorate(function: Callable[..., object], N: int) -> FunctionKernel:
        return weft.kernel(function)

    def k(A: f32[N]):
        A[0] = N

    assert decorate(k, 9).program.arguments[0].type == f32[4]


def test_sizes_that_are_none() -> None:
    with pytest.raises(LanguageError) as caught:
        weft.kernel(sizes={"mini": 3})
    text = caught.value.render()
    assert "error[W138]: sizes= is not a dict of sizes\n" in text
    assert text.endswith('help: write sizes={"mini": {"N": 8}, "large": {"N": 1024}}')


def make(kind: str) -> object:
    match kind:
        case "lambda":
            return lambda A: A
        case "generator":

            def function(A: f32[4]):
                yield A
        case "async":

            async def function(A: f32[4]):
                A[0] = 1
        case "partial":
            return functools.partial(make, "x")
        case _:
            return int
    return function


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("lambda", "a lambda"),
        ("generator", "a generator"),
        ("async", "an async function"),
        ("partial", "a partial"),
        ("class", "a type"),
    ],
)
def test_only_plain_functions(kind: str, what: str) -> None:
    with pytest.raises(LanguageError) as caught:
        weft.kernel(make(kind))
    text = caught.value.render()
    assert f"error[W102]: @weft.kernel takes a plain function, not {what}\n" in text
    assert text.startswith("test_captures.py:")
    assert text.endswith("help: write def name(A: f32[8]): under it")


def test_annotations_may_be_strings(kernel: Load) -> None:
    k = kernel('@weft.kernel\ndef k(A: "f32[N, M + 1]"):\n    A[0, 0] = 1\n')
    assert k.program.arguments[0].type == f32[4, 7]


def test_a_cast_by_a_captured_name() -> None:
    wide = weft.i40

    @weft.kernel
    def k(A: wide[N]):
        A[0] = wide(3)

    assert str(k.program.statements()[0].value.dtype) == "i40"
