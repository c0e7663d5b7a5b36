"""What testbenches expect: the interpreter's results, whoever computes them."""

from pathlib import Path

import numpy as np
import pytest

import weft
from backends.expected import cannot_fail, expected
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.kernels.loader import load_kernels
from tests.support.profiles import BALANCED, FAST
from tests.support.random_programs import random_program
from weft import f32, i32

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@weft.kernel
def chained(a: f32[1000], n: i32[1000]):
    for t in range(3000):
        for i in range(2, 1000):
            a[i] = (a[i - 1] + a[i - 2] + a[1]) * 0.25
            n[i] = n[i - 1] * 3 + n[i - 2]


@weft.kernel
def divided(n: i32[1000]):
    for t in range(3000):
        for i in range(2, 1000):
            n[i] = n[i - 1] // n[i - 2] + n[1]


def same(program) -> None:
    inputs = random_inputs(program, 3)
    want, got = interp.run(program, inputs), expected(program, inputs, long=-1)
    assert got.keys() == want.keys()
    for name, array in want.items():
        assert got[name].dtype == array.dtype
        assert got[name].shape == array.shape
        assert np.array_equal(got[name], array, equal_nan=array.dtype.kind == "f"), name


def test_compiled_kernels_give_what_the_interpreter_gives() -> None:
    compiled = 0
    for file in sorted((EXAMPLES / "polybench").glob("*.py")):
        for kernel in load_kernels(file).values():
            program = kernel.at("mini").program if "mini" in kernel.sizes else None
            if program is not None and cannot_fail(program):
                same(program)
                compiled += 1
    assert compiled >= 10


@pytest.mark.parametrize("profile", [FAST, BALANCED], ids=lambda p: p.name)
def test_random_programs_too(profile) -> None:
    compiled = 0
    for seed in range(60):
        program = random_program(seed, profile)
        if cannot_fail(program):
            same(program)
            compiled += 1
    assert compiled > 10


def test_long_chains_are_compiled(monkeypatch) -> None:
    assert interp.one_by_one(chained.program) == 2 * 3000 * 998

    def never(*_):
        raise AssertionError("this takes seconds")

    monkeypatch.setattr("dsl.interp.run", never)
    inputs = random_inputs(chained.program, 1)
    assert expected(chained.program, inputs)["n"].shape == (1000,)
    with pytest.raises(AssertionError, match="takes seconds"):
        expected(divided.program, random_inputs(divided.program, 1))


def test_what_runs_at_once_is_not_counted() -> None:
    @weft.kernel
    def added(a: f32[4000], b: f32[4000]):
        for t in range(1000):
            for i in range(4000):
                a[i] = a[i] + b[i]

    assert interp.one_by_one(added.program) == 0


def test_a_kernel_that_may_fail_is_interpreted() -> None:
    @weft.kernel
    def cast(a: f32[8], n: i32[8]):
        for i in range(8):
            n[i] = i32(a[i])

    @weft.kernel
    def local(a: f32[8]):
        s: f32 = 0.0
        for i in range(8):
            s += a[i]
        a[0] = s

    assert cannot_fail(chained.program)
    assert not any(cannot_fail(k.program) for k in (divided, cast, local))
    with pytest.raises(weft.WeftError, match="divi"):
        expected(divided.program, {"n": np.zeros(1000, np.int32)})


def test_inputs_are_checked_all_the_same() -> None:
    with pytest.raises(weft.InputError):
        expected(chained.program, {"a": np.zeros(1000, np.float32)})
