"""``while`` loops that are known to end, and ``match``: what Python computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft
from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(x: i8[8], z: i8[8], m: i8[3, 4], n: i8[4, 3], y: i32[8], q: i32[3, 3], r: i32[3, 4]):\n    "
BODIES = {
    "match": "for i in range(8):\n    match x[i] & 7:\n        case 0 | 1:\n            y[i] = 5\n        case n if n > 5:\n            y[i] = n * 2\n        case 3:\n            y[i] = z[i]\n        case _:\n            y[i] = -1",
    "matchjump": "for i in range(8):\n    match x[i] & 3:\n        case 0:\n            continue\n        case 3:\n            break\n    y[i] = 1",
    "while": "i = 0\nwhile i < 8:\n    y[i] = x[i]\n    i += 1\ny[0] += i",
    "while2": "i, s = 2, 0\nwhile i <= 6 and x[i] != 3:\n    s += x[i]\n    i = i + 2\ny[1] = s\ny[0] = i",
    "while3": "w = 7\nwhile w > 0:\n    if x[w] > 40:\n        break\n    y[w] = 1\n    w -= 1\nelse:\n    y[0] = 9",
    "isort": "for i in range(1, 8):\n    key = x[i]\n    j = i - 1\n    while j >= 0 and x[j] > key:\n        x[j + 1] = x[j]\n        j -= 1\n    x[j + 1] = key",
    "bits": "for i in range(8):\n    w = x[i] & 127\n    c = 0\n    while w > 0:\n        c += w & 1\n        w >>= 1\n    y[i] = c",
    "kern": "for i in range(8):\n    w = x[i] & 127\n    c = 0\n    while w > 0:\n        c += 1\n        w &= w - 1\n    y[i] = c",
    "gcd": "for i in range(8):\n    a = x[i] * z[i]\n    b = z[i] * x[7 - i]\n    while b:\n        a, b = b, a % b\n    y[i] = a",
    "bisect": "for k in range(8):\n    lo = 0\n    hi = 8\n    while lo < hi:\n        mid = (lo + hi) // 2\n        if x[mid] < z[k]:\n            lo = mid + 1\n        else:\n            hi = mid\n    y[k] = lo",
    "bisect2": "for k in range(8):\n    lo, hi = 0, 7\n    found = -1\n    while lo <= hi:\n        mid = (lo + hi) >> 1\n        v = x[mid]\n        if v == z[k]:\n            found = mid\n            break\n        elif v < z[k]:\n            lo = mid + 1\n        else:\n            hi = mid - 1\n    y[k] = found",
    "bisect3": "for k in range(8):\n    lo, hi = 0, 8\n    while hi - lo > 1:\n        mid = lo + (hi - lo) // 2\n        if x[mid] <= z[k]:\n            lo = mid\n        else:\n            hi = mid\n    y[k] = lo",
    "bisect4": "for k in range(8):\n    lo, hi = 0, 7\n    while lo < hi:\n        mid = lo + (hi - lo + 1 >> 1)\n        if x[mid] <= z[k]:\n            lo = mid\n        else:\n            hi = mid - 1\n    y[k] = lo",
    "root": "for k in range(8):\n    lo, hi = 0, 12\n    while lo < hi:\n        mid = (lo + hi + 1) // 2\n        if mid * mid <= x[k]:\n            lo = mid\n        else:\n            hi = mid - 1\n    y[k] = lo",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


REFUSED = {
    "i = 0\n    while x[i & 7] > 0:\n        i += 1": "error[W104]: a 'while' loop whose number of iterations is not known",
    "while True:\n        break": "error[W104]: a 'while' loop whose number of iterations is not known",
    "w: i32 = x[0]\n    while w:\n        w >>= 1": "error[W104]: a 'while' loop that ends at 0 may never do so",
    "i = 0\n    while i < 8:\n        if x[i] > 0:\n            continue\n        i += 1": "error[W104]: a 'while' loop whose",
    "lo, hi = 0, 8\n    while lo < hi:\n        m = (lo + hi) // 2\n        if x[m] < 9:\n            lo = m\n        else:\n            hi = m - 1": "error[W104]: a 'while' loop whose",
    "i = 0\n    while i < 8:\n        i += 1\n        i -= 1": "error[W104]: a 'while' loop whose",
    "match x[0]:\n        case [a, b]:\n            y[0] = a": "error[W104]: this case is not supported",
}


def test_what_a_counter_may_be_behind_its_loop_is_known(kernel: Load) -> None:
    lines = BODIES["isort"].replace("\n", "\n    ")
    weft.compile(kernel(f"from weft import *\n{HEAD}{lines}\n"))


@pytest.mark.parametrize(("body", "message"), REFUSED.items())
def test_what_is_not_clear_is_said(error: Callable[[str], str], body: str, message: str) -> None:
    assert message in error("from weft import *\n" + HEAD + body + "\n")
