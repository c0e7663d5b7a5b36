"""A kernel as an object: called on arrays, given schedules."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import weft
from dsl.errors.errors import InputError, LanguageError
from dsl.kernels.kernel import Kernel, schedule_of
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Tile
from weft import f32, i8

N = 4


@weft.kernel
def axpy(alpha: f32, x: weft.const[f32[N]], y: f32[N]):
    """y becomes alpha x + y."""
    for i in range(N):
        y[i] += alpha * x[i]


@axpy.schedule
def fast(s):
    s.tile(["i"], [2]).pipeline("i_1")


def test_a_call_runs_in_place() -> None:
    x = np.arange(4, dtype=np.float32)
    y = np.ones(4, dtype=np.float32)
    assert axpy(2, x, y=y) is None
    assert y.tolist() == [1, 3, 5, 7]
    assert x.tolist() == [0, 1, 2, 3]


def test_integers_wrap_as_the_reference_says() -> None:
    @weft.kernel
    def double(A: i8[2]):
        for i in range(2):
            A[i] = A[i] * 2

    a = np.array([100, -3], dtype=np.int8)
    double(a)
    assert a.tolist() == [-56, -6]


def read_only() -> np.ndarray:
    array = np.ones(4, dtype=np.float32)
    array.flags.writeable = False
    return array


X = np.ones(4, dtype=np.float32)
SIGNATURE = "help: it is axpy(alpha: f32, x: f32[4], y: f32[4])"


@pytest.mark.parametrize(
    ("args", "named", "message", "help_line"),
    [
        ((1, X), {}, "'axpy' is called without 'y'", SIGNATURE),
        ((), {"y": X}, "'axpy' is called without 'alpha', 'x'", SIGNATURE),
        ((1, X, X, X), {}, "'axpy' takes 3 arguments, not 4", SIGNATURE),
        ((1, X), {"z": X}, "'axpy' has no argument 'z'", SIGNATURE),
        ((1, X), {"x": X, "y": X}, "'x' of 'axpy' is given twice", SIGNATURE),
        (
            (1, X, [0, 0, 0, 0]),
            {},
            "'y' of 'axpy' is written, and what is passed is no writable NumPy array",
            "help: pass np.zeros((4,)) or the like",
        ),
        (
            (1, X, read_only()),
            {},
            "'y' of 'axpy' is written, and what is passed is no writable NumPy array",
            "help: pass np.zeros((4,)) or the like",
        ),
    ],
)
def test_a_call_with_wrong_arguments(args, named, message, help_line) -> None:
    with pytest.raises(LanguageError) as caught:
        axpy(*args, **named)
    first, code, carets, last = caught.value.render().splitlines()
    assert first.startswith("test_kernel.py:")
    assert first.endswith(f": error[W155]: {message}")
    assert code.endswith("axpy(*args, **named)")
    assert carets.endswith(" " + "^" * len("axpy(*args, **named)"))
    assert last == help_line


def test_a_call_with_a_wrong_shape() -> None:
    with pytest.raises(InputError, match="shape"):
        axpy(1, X, np.ones(5, dtype=np.float32))


def test_the_schedule_decorator() -> None:
    assert axpy.schedules == {"fast": fast}
    assert fast == Schedule((Tile(("i",), (2,)), Pipeline("i_1")))
    assert [str(step.span) for step in fast] == ["test_kernel.py:30:5", "test_kernel.py:30:5"]
    assert schedule_of(axpy, "fast") is fast
    assert schedule_of(axpy, fast) is fast
    assert schedule_of(axpy, None) == Schedule()
    with pytest.raises(InputError) as caught:
        schedule_of(axpy, "fats")
    assert str(caught.value) == (
        "error[W505]: the kernel 'axpy' has no schedule 'fats'\nhelp: did you mean 'fast'?"
    )


def test_what_a_kernel_says_of_itself() -> None:
    assert isinstance(axpy, Kernel)
    assert isinstance(axpy, weft.Kernel)
    assert (axpy.name, axpy.__doc__, repr(axpy)) == (
        "axpy",
        "y becomes alpha x + y.",
        "<weft kernel axpy>",
    )
    assert axpy.program is axpy.program


def test_it_is_handed_to_other_processes_by_name() -> None:
    assert pickle.loads(pickle.dumps(axpy)) is axpy is copy.deepcopy(axpy)
    sized = pickle.loads(pickle.dumps(axpy.at(N=6)))
    assert sized.program.array("x").shape == (6,)
    assert sized.schedules == axpy.schedules


@pytest.mark.parametrize("name", ["select", "sqrt", "grid", "stmt", "min"])
def test_functions_of_the_language_outside_of_a_kernel(name: str) -> None:
    with pytest.raises(LanguageError) as caught:
        getattr(weft, name)(1, 2)
    assert f"error[W112]: weft.{name} has a meaning inside of a kernel only" in str(caught.value)


def test_casts_outside_of_a_kernel() -> None:
    with pytest.raises(LanguageError) as caught:
        f32(3)
    assert "error[W112]: f32(3) has a meaning inside of a kernel only" in str(caught.value)


def test_what_is_written_is_in_no_other_argument() -> None:
    x = np.arange(8, dtype=np.float32)
    axpy(1, x[::2], x[1::2])
    for one, other in ((x[:4], x[:4]), (x[:4], x[3:7]), (x[:4], x[3::-1])):
        with pytest.raises(LanguageError, match="has elements of what is passed as 'x'"):
            axpy(1, one, other)
    assert x.tolist() == [0, 1, 2, 5, 4, 9, 6, 13]
