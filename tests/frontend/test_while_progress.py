"""``while`` loops of which each iteration comes nearer to the end: what Python computes, inside of all arrays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft
from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(x: i8[8], z: i8[8], p: u8[8], y: i32[16]):\n    "
MERGE = """i = j = k = 0
while i < 8 and j < 8:
    if x[i] <= z[j]:
        y[k] = x[i]
        i += 1
    else:
        y[k] = z[j]
        j += 1
    k += 1
while i < 8:
    y[k] = x[i]
    i, k = i + 1, k + 1
while j != 8:
    y[k] = z[j]
    j += 1
    k += 1"""
PARTITION = """lo, hi = 0, 7
while lo <= hi:
    if x[lo] < 5:
        lo += 1
    elif x[hi] > 5:
        hi -= 1
    else:
        x[lo], x[hi] = x[hi], x[lo]
        lo, hi = lo + 1, hi - 1
y[0] = lo"""
UNION = """i = j = n = 0
while i < 8 or j < 8:
    if j >= 8 or (i < 8 and x[i] <= z[j]):
        v = x[i]
        i += 1
    else:
        v = z[j]
        j += 1
    if n == 0 or y[n - 1] != v:
        y[n] = v
        n += 1"""
COMMON = """i = j = n = 0
while i < 8 and j < 8:
    if x[i] == z[j]:
        i += 1
        p[n] = j
        j, n = j + 1, n + 1
    elif x[i] < z[j]:
        i += 1
    else:
        j += 1"""
RECORDS = """at = n = 0
while at + 2 <= 8 and n < 16:
    size = p[at + 1]
    if p[at] == 0:
        break
    y[n] = p[at] + size
    n += 1
    at += 2 + size"""
BODIES = {
    "union": UNION,
    "intersection": COMMON,
    "records": RECORDS,
    "sum of counters": MERGE,
    "two ends": PARTITION,
    "three ways": "low, mid, high = 0, 0, 7\nwhile mid <= high:\n    v = x[mid]\n    if v < 0:\n        x[mid] = x[low]\n"
    "        x[low] = v\n        low += 1\n        mid += 1\n    elif v < 9:\n        mid += 1\n    else:\n"
    "        x[mid] = x[high]\n        x[high] = v\n        high -= 1",
    "queue": "queue = [0] * 8\nhead, tail = 0, 1\nwhile head < tail:\n    u = queue[head]\n    head += 1\n    y[u] = head\n"
    "    for v in range(8):\n        if p[u] & 7 == v and y[v] < 1 and tail < 8:\n            queue[tail] = v\n"
    "            tail += 1",
    "chain": "for v in range(8):\n    r, n = v, 0\n    while r != 0:\n        r = p[r] % 8 if p[r] % 8 < r else 0\n        n += 1\n"
    "    y[v] = n",
    "sentinel": "i = 0\nx[7] = 0\nwhile x[i] != 0:\n    i += 1\ny[0] = i",
    "found": "i, found = 0, False\nwhile i < 8 and not found:\n    if x[i] == z[0]:\n        found = True\n    else:\n        i += 1\n"
    "y[0] = i if found else -1",
    "end of the body": "i = 0\nwhile True:\n    y[i] = x[i]\n    i += 1\n    if i == 8 or x[i] > 10:\n        break",
    "runs": "i = n = 0\nwhile i < 8:\n    j = i + 1\n    while j < 8 and x[j] // 8 == x[i & 7] // 8:\n        j += 1\n"
    "    y[n] = j - i\n    n += 1\n    i = j",
    "square root": "for i in range(8):\n    d, prime = 2, int(p[i] > 1)\n    while d * d <= p[i] and prime:\n"
    "        if p[i] % d == 0:\n            prime = 0\n        d += 1\n    y[i] = prime",
    "changed bound": "row = x[0:4]\ni = 0\nwhile i < min(max(x[1], 0), 8):\n    row[1] = 2\n    y[i] += 1\n    i += 1",
    "changed start": "def less(v):\n    v[1] = 1\n\ni = p[1] & 3\nless(p)\nwhile i < 8:\n    y[i] += 1\n    i += 1",
    "else": "i = 0\nwhile 5 > i and x[i] > 0:\n    i += 2 if x[i] > 9 else 1\n    if x[i & 7] == z[0]:\n        break\nelse:\n    y[0] = i",
    "nested": "i = 0\nwhile i < 8:\n    w, c = p[i], 0\n    while w > 0:\n        c += 1\n        w &= w - 1\n    y[i] = c\n    s = 1\n"
    "    while s <= i:\n        y[i] += s\n        s *= 2\n    i += 1",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


def test_what_they_subscript_is_proven(kernel: Load) -> None:
    for body in BODIES.values():
        lines = body.replace("\n", "\n    ")
        weft.compile(kernel(f"from weft import *\n{HEAD}{lines}\n"))


@pytest.mark.parametrize(
    ("body", "trips"),
    [
        (MERGE, [15, 8, 8]),
        (PARTITION, [8]),
        (BODIES["queue"], [8]),
        (BODIES["square root"], [14]),
        ("n, d = p[0], 0\nwhile n >= 10:\n    n //= 10\n    d += 1\ny[0] = d", [2]),
        ("s, n = 1, p[0]\nwhile s < n:\n    y[0] += 1\n    s *= 2", [8]),
        (
            "i = p[0]\nwhile i < 20:\n    y[0] += i\n    i += 3 if x[0] else 4\n    i += x[1] > 0",
            [7],
        ),
    ],
)
def test_how_often_they_run_at_most(kernel: Load, body: str, trips: list[int]) -> None:
    lines = body.replace("\n", "\n    ")
    program = kernel(f"from weft import *\n{HEAD}{lines}\n").program
    loops = {id(a): a for _, around in program.walk() for a in around if hasattr(a, "uppers")}
    counts = [a.uppers[0].const for a in loops.values() if a.var.startswith("step")]
    assert counts == trips


REFUSED = {
    "i = 0\nwhile i < 8:\n    if x[i] > 0:\n        continue\n    i += 1": "if not (i < 8): break",
    "i = 0\nwhile i < 8:\n    i += 1\n    i -= 1": "whose number of iterations is not known",
    "i = 0\nwhile i != 8:\n    i += 1 + (x[0] > 0)": "whose number of iterations is not known",
    "i, j = 0, 9\nwhile i < 8 or j < 12:\n    i += 1": "whose number of iterations is not known",
    "n = x[0] * 1000 * z[0]\ni = 0\nwhile i < n * n:\n    y[i & 15] += 1\n    i += 1 if x[1] else 2": "may run",
    "a = x[0]\nwhile a != 0:\n    y[a & 7] = a\n    a = y[a & 3]": "whose number of iterations is not known",
}


@pytest.mark.parametrize(("body", "message"), REFUSED.items())
def test_what_may_go_on_is_said(error: Callable[[str], str], body: str, message: str) -> None:
    text = error("from weft import *\n" + HEAD + body.replace("\n", "\n    ") + "\n")
    assert "W104" in text or "W141" in text
    assert message in text
