"""Inputs that a kernel's own function makes: converted, completed, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import InputError
from weft import f16, f32, fixed, i8, u70

SIZES = {"mini": {"N": 3}}
N = 6


def fresh() -> Any:
    """A kernel of many types, without inputs of its own."""

    @weft.kernel(sizes=SIZES)
    def mixed(a: f32, n: i8, x: f16[N], y: fixed[8, 4][N], z: i8[N], w: u70[N]):
        for i in range(N):
            x[i] = a * x[i]
            y[i] = y[i] + n
            z[i] = z[i] + n
            w[i] = w[i] + 1

    return mixed


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[n], b[n]) for n in a)


def test_without_a_function_they_are_random() -> None:
    kernel = fresh()
    assert same(kernel.make_inputs(3), random_inputs(kernel.program, 3))
    assert not same(kernel.make_inputs(3), kernel.make_inputs(4))


def test_a_function_gets_the_sized_kernel_and_the_seed() -> None:
    kernel = fresh()
    seen = []

    @kernel.inputs
    def own(kernel, seed):
        seen.append((kernel.program.array("x").shape, seed))
        return {"x": np.full(kernel.program.array("x").shape, seed)}

    assert kernel.at("mini").make_inputs(7)["x"].tolist() == [7, 7, 7]
    assert kernel.make_inputs(2)["x"].tolist() == [2] * 6
    assert seen == [((3,), 7), ((6,), 2)]
    assert own(kernel, 1)["x"].tolist() == [1] * 6, "it stays the function that it was"


def test_a_specialised_kernel_sees_a_function_that_comes_later() -> None:
    kernel = fresh()
    small = kernel.at("mini")
    kernel.inputs(lambda kernel, seed: {"z": np.array([1, 2, 3])})
    assert small.make_inputs()["z"].tolist() == [1, 2, 3]


def test_what_it_leaves_out_is_random() -> None:
    kernel = fresh()
    kernel.inputs(lambda kernel, seed: {"a": 2})
    made, random = kernel.make_inputs(5), random_inputs(kernel.program, 5)
    assert made.pop("a") == 2
    random.pop("a")
    assert same(made, random)


def test_numbers_become_those_of_the_argument() -> None:
    kernel = fresh()

    @kernel.inputs
    def own(kernel, seed):
        return {
            "a": 0.1,
            "n": np.int64(-3),
            "x": np.full(N, 0.1),
            "y": np.full(N, 1.5, np.float32),
            "z": np.arange(N),
            "w": np.arange(N, dtype=np.uint8),
        }

    made = kernel.make_inputs()
    assert (made["a"], made["n"]) == (np.float32(0.1), -3)
    assert made["x"].dtype == np.float16
    assert made["x"][0] == np.float16(0.1)
    assert (made["y"].dtype, made["y"][0]) == (np.int8, 24)
    assert (made["z"].dtype, made["z"].tolist()) == (np.int8, [0, 1, 2, 3, 4, 5])
    assert (made["w"].dtype, made["w"][5]) == (object, 5)
    kernel(**made)
    assert (made["y"][0], made["z"][5]) == (24 - 3 * 16, 2)


def test_arrays_of_the_function_itself_stay_as_they_are() -> None:
    kernel = fresh()
    mine = np.zeros(N, np.int8)
    kernel.inputs(lambda kernel, seed: {"z": mine, "n": 1})
    made = kernel.make_inputs()
    kernel(**made)
    assert made["z"].tolist() == [1] * N
    assert not mine.any()


def test_a_kernel_built_by_a_program_has_them_too() -> None:
    p = weft.Program("ones")
    x = p.placeholder("x", f32, (4,))
    (i,) = p.loops(i=4)
    p.compute("S", (i,), into=x[i], value=x[i] + 1.0)
    p.inputs(lambda kernel, seed: {"x": np.ones(4)})
    assert p.make_inputs()["x"].tolist() == [1.0] * 4


def returning(value: Any) -> Any:
    kernel = fresh()

    @kernel.inputs
    def own(kernel, seed):
        return value

    return kernel


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"x": np.zeros(3)}, "error[W542]: own makes wrong inputs for 'mixed': 'x' is f16[6], "
                             "but the array's shape is (3,)"),
        ({"q": 1}, "error[W541]: own makes wrong inputs for 'mixed': mixed has no argument 'q'"),
        ({"z": np.full(N, 200)}, "error[W544]: own makes wrong inputs for 'mixed': 'z' is i8[6], "
                                 "but the value 200 is not in -128..127"),
        ({"n": 200}, "error[W544]: own makes wrong inputs for 'mixed': 'n' is i8, but the value "
                     "200 is not in -128..127"),
        ({"z": np.zeros(N)}, "error[W543]: own makes wrong inputs for 'mixed': 'z' is i8[6], held "
                             "as int8, but the array is float64"),
        ({"y": np.full(N, np.nan)}, "error[W544]: own makes wrong inputs for 'mixed': element "
                                    "(0,) is nan, not a number of fixed[8, 4]"),
        ({"x": [1.0] * N}, "error[W542]: own makes wrong inputs for 'mixed': 'x' is f16[6]: give "
                           "a NumPy array of that shape"),
        ([1, 2], "error[W545]: own returns a list, not a dict of inputs for 'mixed'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_them(value: object, said: str) -> None:
    with pytest.raises(InputError) as caught:
        returning(value).make_inputs()
    first, source, carets, *_ = caught.value.render().splitlines()
    assert first.partition(": ")[2] == said
    assert source.endswith("@kernel.inputs")
    assert carets.strip("| ").strip("^") == ""


def test_an_exception_of_the_function_is_shown_where_it_is() -> None:
    kernel = fresh()

    @kernel.inputs
    def own(kernel, seed):
        raise KeyError("no such thing")

    with pytest.raises(InputError) as caught:
        kernel.make_inputs()
    first, source, *_ = caught.value.render().splitlines()
    assert first.endswith("error[W545]: own makes no inputs for 'mixed': KeyError: 'no such thing'")
    assert source.endswith('raise KeyError("no such thing")')


def test_a_function_that_cannot_be_called() -> None:
    kernel = fresh()

    @kernel.inputs
    def own(kernel):
        return {}

    with pytest.raises(InputError, match="takes 1 positional argument but 2 were given") as caught:
        kernel.make_inputs()
    assert caught.value.help == "it is called with the kernel, at its size, and a seed"
