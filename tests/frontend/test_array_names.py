"""Names of parts of arrays, and local arrays by what they are assigned: what Python and NumPy mean by them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft
from dsl.errors.errors import LanguageError
from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(x: i8[8], z: i8[8], m: i8[3, 4], n: i8[4, 3], y: i32[8], q: i32[3, 3], r: i32[3, 4]):\n    "
BODIES = {
    "backwards": "y[:] = x[::-1]\nx[:] = x[::-1]\nb = z[5::-2]\ny[0] = b[0] - b[2]\nx[:3] = b",
    "array": "t = np.array([x[0], 2, 3], np.int32)\nu = np.array([[1, 2], [3, 4]])\ny[0] = t[0] * u[1, 0]",
    "row": "for i in range(3):\n    row = m[i]\n    for j in range(4):\n        y[j] += row[j] * row[-1]",
    "rows": "for row in m:\n    y[0] += row[1]\n    for i, v in enumerate(row):\n        y[i] += v",
    "win": "for i in range(2):\n    w = x[4 * i:4 * i + 4]\n    y[i] = w[0] + w[3] + w.sum()\n    u = w[1:3]\n    u[0] = 5",
    "twice": "for i in range(3):\n    row = m[i]\n    y[i] = row[0]\nfor j in range(2):\n    row = m[j + 1]\n    y[j + 4] = row[1]",
    "aliascol": "c = m[:, 1]\nfor i in range(3):\n    y[i] = c[i] * 2\nc[0] = 3",
    "loopalias": "a = m[0]\nfor i in range(3):\n    b = m[i]\n    y[i] = a[1] * b[2]",
    "augalias": "for row in m:\n    row += 1\n    row[1:3] = 7",
    "pairs": "for a, b, c, d in m:\n    y[0] += a * b - c * d",
    "enumrows": "for i, row in enumerate(m):\n    y[i] = row @ row",
    "ziprows": "for u, v in zip(m, m):\n    y[0] += u @ v",
    "zeros": "t = np.zeros(8, np.int32)\nfor i in range(8):\n    t[x[i] & 7] += z[i]\ny[:] = t",
    "list": "t = [0] * 8\nfor i in range(8):\n    t[7 - i] = x[i] * 3\ny[:] = t",
    "list2": "t = [[0] * 4 for _ in range(3)]\nfor i, j in weft.grid(3, 4):\n    t[i][j] = m[i, j] * 3\nr[:] = t",
    "comp": "t = [v * 3 for v in x]\ny[:] = t",
    "comp2": "t = [x[i] * z[7 - i] for i in range(8)]\ny[:] = t",
    "disp": "t = [x[0], x[1] + 4, 3]\nfor i in range(3):\n    y[i] = t[i]",
    "fullzero": "t = np.full((3, 4), 7)\nt[1, 1] = x[0]\nr[:] = t\ns = np.zeros_like(x)\ns[3] = 1\ny[:] = s",
    "inloop": "for i in range(3):\n    h = [0] * 4\n    for j in range(4):\n        h[x[j] & 3] += 1\n    r[i] = h",
    "renewed": "h = x\nh = h + 1\nh[0] = 5\nh = h[::-1] + h\nfor i in range(3):\n    w = m[i]\n    w = w * w[0]\n    r[i] = w\ny[:] = h",
    "state": "a = np.zeros(4, np.int32)\nfor t in range(8):\n    b = np.zeros(4, np.int32)\n    for s in range(4):\n"
    "        b[s] = max(a[s], a[s ^ 1]) + x[t]\n    if z[t] > 0:\n        a = b\n    a[1] = 3\ny[:4] = a",
    "reset": "t = [0] * 4\nfor i in range(3):\n    t[i] = x[i]\n    r[i, :] = t\n    t = [1] * 4",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


REFUSED = {
    "a = m[0]\n    for i in range(3):\n        y[i] = a[0]\n        a = m[i]": "error[W134]: 'a' is the name of another array",
    "h = x\n    for i in range(2):\n        h = x + z\n    y[:] = h": "help: write h = x.copy() in front of the loop",
    "h = x\n    if x[0]:\n        h = x + z\n    y[:] = h": "help: write h = x.copy()",
    "a = x + z\n    for i in range(3):\n        b = x + i\n        a = b\n        b[0] = 1\n    y[:] = a": "error[W142]: 'a' and 'b' are",
    "a = x + z\n    for i in range(3):\n        b = x + i\n        for j in range(2):\n            a = b\n            a[0] = 1\n    y[:] = a": "error[W142]: 'a' and 'b' are",
    "y[0] = x.mean() > 1": "error[W121]: a mean of integers is a float",
    "y = x + 1": "error[W142]: 'y' is an argument, and the new array is none",
    "t = [[0] * 4] * 3": "error[W142]: the rows of this list are one and the same",
    "t = [0] * x[0]": "error[W144]: the extent x[0] is no positive constant",
    "t = [v for v in x if v > 0]": "error[W105]: a list has a known number of elements",
    "row = m[1]\n    y[0] = row": "error[W142]: row is a part of 'm', not one element",
    "w = x[2:6]\n    y[0] = w[z[0] & 3]": "error[W151]: w[z[0] & 3] is at a subscript that is data",
    "t = [0] * 4\n    u = t\n    t = [1] * 4\n    y[0] = u[0]": "error[W142]: 't' is assigned anew",
}


def test_a_part_ends_where_it_ends(kernel: Load) -> None:
    found = kernel(f"from weft import *\n{HEAD}w = x[2:6]\n    y[0] = w[4]\n")
    with pytest.raises(LanguageError, match="is out of the part"):
        weft.compile(found)


@pytest.mark.parametrize(("body", "message"), REFUSED.items())
def test_what_is_not_clear_is_said(error: Callable[[str], str], body: str, message: str) -> None:
    assert message in error("from weft import *\n" + HEAD + body + "\n")
