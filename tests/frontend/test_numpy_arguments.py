"""Every argument that a function of NumPy has is read as NumPy reads it, or refused: none is dropped."""

from __future__ import annotations

import inspect
import linecache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dsl import interp
from dsl.errors.errors import WeftError
from dsl.kernels.loader import load

CALLS = {
    "any max min amax all": "m",
    "sum mean": "f.reshape(4, 2)",
    "sum median": "x",
    "var std cumsum cumprod argmax argmin sort diff": "f",
    "clip": "x, 2, 5",
    "sign square abs floor rint round": "f",
    "add minimum maximum mod bitwise_and inner vdot dot": "x, y",
    "arange zeros ones identity hanning": "8",
    "full linspace": "8, 3",
    "eye tri": "4, 2",
    "logspace geomspace": "1, 3, 8",
    "roll repeat tile": "x, 2",
    "flip ravel transpose copy diag diagonal tril triu count_nonzero": "m",
    "reshape": "x, (4, 2)",
    "array asarray zeros_like ones_like": "f",
    "full_like": "f, 7",
    "pad": "x, 2",
    "convolve kron": "x, x[:3]",
    "cross": "x[:3], x[3:6]",
    "concatenate stack hstack vstack column_stack": "(x, y)",
    "matmul": "m, m[0]",
    "trace": "m[:2]",
    "bincount": "abs(x)",
}
"""Functions by what they are called with."""
VALUES = {
    "dtype": ["np.int8", "np.float32", "bool", "np.bool_"],
    "axis": ["0", "1"],
    "where": ["x > 0", "m > 0"],
    "mode": ["'valid'", "'edge'"],
    "shape": ["(4,)"],
    "axes": ["(0, 1)"],
    "min": ["3"],
    "max": ["3"],
    "out": ["y"],
    "weights": ["f"],
    "minlength": ["130"],
}
"""What is passed for an argument; 1, True and 'F' for all others."""
UFUNC = ("out", "where", "dtype", "axis", "keepdims")
KNOWN = {"array": ("dtype", "ndmin", "order"), "arange": ("dtype", "start", "stop", "step")}
"""Of those that have no signature."""
HEAD = "x: i16[8], y: i32[8], m: i8[4, 2], f: f32[8]"


def _arguments(name: str) -> list[str]:
    function = getattr(np, name)
    if isinstance(function, np.ufunc):
        return [*UFUNC]
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        parameters = ()  # type: ignore[assignment]
    given = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [*given, *KNOWN.get(name, ("dtype", "axis", "out", "mode", "minlength", "weights"))]


def _calls(name: str, base: str) -> list[str]:
    named = [
        f"{argument}={value}"
        for argument in dict.fromkeys(_arguments(name))
        for value in VALUES.get(argument, ["1", "True", "'F'"])
    ]
    passed = ["", *named, "1", "-1", "None", "y", "np.int8", "(1, 0)"]
    calls = [f"np.{name}({base}{', ' if p else ''}{p})" for p in passed]
    first, _, rest = base.partition(", ")
    if hasattr(np.ndarray, name) and first.isidentifier():
        calls += [f"{first}.{name}({', '.join(p for p in (rest, q) if p)})" for q in passed]
    return calls


def _inputs() -> dict[str, Any]:
    return {
        "x": np.array([3, -2, 7, 2, 120, -9, 4, 5], np.int16),
        "y": np.array([90, 5, -6, 4, 3, 200, 1, 8], np.int32),
        "m": np.array([[3, -4], [0, 1], [7, 7], [-8, 2]], np.int8),
        "f": np.array([0.5, -2.75, 100.5, 90.25, 1.75, 2.5, -0.25, 8.0], np.float32),
    }


def _in_numpy(call: str) -> tuple[Any, Any]:
    """What NumPy makes of it, and of ``y``, in wide integers, whose sums are as wide as they need to be.

    None where it refuses it, or where its value is nothing that a kernel has.
    """
    wide = {n: v.astype(np.int64) if v.dtype.kind == "i" else v for n, v in _inputs().items()}
    try:
        found = np.asarray(eval(call, {"np": np, "abs": abs}, wide))
    except (TypeError, ValueError, IndexError):
        return None, None
    return (None if found.dtype == object or not found.size else found), wide["y"]


def _in_weft(file: Path, body: str, shape: tuple[int, ...]) -> dict[str, Any] | None:
    """What the arguments are after a kernel with that body; None where it is refused."""
    file.write_text(
        "import numpy as np\nimport weft\nfrom weft import i8, i16, i32, f32, f64\n\n@weft.kernel\n"
        f"def k({HEAD}, r: f64[{', '.join(map(str, shape)) or 1}]):\n    {body}\n"
    )
    linecache.checkcache(str(file))
    try:
        return interp.run(load(f"{file}:k").program, {**_inputs(), "r": np.zeros(shape or 1)})
    except WeftError:
        return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("names", "base"), CALLS.items(), ids=[n.replace(" ", "-") for n in CALLS])
def test_no_argument_is_dropped(tmp_path: Path, names: str, base: str) -> None:
    wrong, read = [], 0
    for name in names.split():
        for n, call in enumerate(_calls(name, base)):
            right, y = _in_numpy(call)
            if right is None:
                continue
            bodies = [f"v = {call}\n    r[:] = v", f"r[:] = {call}"]
            for body in bodies if right.shape else [f"r[0] = {call}"]:
                found = _in_weft(tmp_path / f"{name}{n}.py", body, right.shape)
                if found is None:
                    continue
                read += 1
                if not np.allclose(found["r"], right, rtol=1e-5) or (found["y"] != y).any():
                    wrong.append(f"{body}: {found['r']} and not {right}")
    assert wrong == []
    assert read
