"""What people write first: tables as locals, tuples, loops that are left, rows assigned together, helpers at loop variables."""

from __future__ import annotations

import pytest

from dsl.expressions.expr import Gather, walk
from tests.support.as_python import differences

HEAD = """\
W, H = 6, 5
TAPS = [3, -1, 4, 1, -5, 9, 2, 6]
ROWS = ((1, 2), (30, 40), (5, 7))
SINE = [(i * i) % 101 for i in range(200)]

def last(n):
    return TAPS[-n]

def pixel(m, r, c):
    if r < 0 or r >= H or c < 0 or c >= W:
        return 0
    return m[r, c]

def window(m, r, first, n=2):
    t = 0
    for c in range(first, first + n):
        if c == r:
            continue
        t += m[r, c]
    return t

def swapped(x, i):
    def sign(v):
        return 1 if v > 0 else -1
    low, high = (x[i], x[7 - i]) if x[i] < x[7 - i] else (x[7 - i], x[i])
    return high - low + sign(x[i])

def first_over(x, limit):
    for i in range(8):
        if x[i] > limit:
            return i
    else:
        return -1

@weft.kernel
def k(x: i16[8], m: i32[5, 6], y: i32[8]):
    """

COMPUTED = {
    "tables": """\
kernel = [[1, 2], [0, -1]]
taps = (3, -1, 2)
dirs = ((0, 1), (1, 0), (-1, 0))
for i in range(8):
    y[i] = kernel[i & 1][x[i] & 1] * 10 + sum(t * m[1, j] for j, t in enumerate(taps))
    for dy, dx in dirs:
        y[i] += dy * 2 + dx""",
    "lists": """\
order = list(range(8))
back = list(range(9, -7, -2))
order[2] = order[3]
held = list(x)
few = tuple(x[2:5])
x[3] = 77
for i in range(8):
    y[i] = held[order[i] & 7] + few[i % 3] * back[i]""",
    "loops that are left": """\
for i in range(8):
    n = 0
    for q in (2, 3, 5, 7):
        if x[i] % q == 0:
            break
        if q == 3 and x[i] & 8:
            continue
        n += q
    else:
        n = -1
    y[i] = n""",
    "tuples": """\
for i in range(8):
    if (i, x[i] & 1) != (2, 0):
        y[i] = 1
    if (x[i], i) < (9, 4):
        y[i] += 2
    if (i, x[i] & 3) in ((0, 1), (3, 2), (5, 5)):
        y[i] += 4""",
    "from the end": """\
for i in range(8):
    y[-1 - i] = x[i] + x[~(i & 3)] - x[-1 - (x[i] & 7)]
for i in range(1, 5):
    y[-i] += x[-2 * i]""",
    "tables from the end": """\
w = [1, -2, 3]
tail = TAPS[-3:]
a, b = ROWS[0]
for i in range(8):
    y[i] = a - b + w[-(i % 3) - 1] * x[i] + tail[-1 - i % 3] + TAPS[i - 8] + TAPS[-1 - (x[i] & 7)] + last(i % 4 + 1)
for i in range(-1, -6, -1):
    y[i] += SINE[i] - SINE[-30 * -i - 1] + ROWS[i % 3][i % 2 - 1] + TAPS[i // 4 - 1]
for i in range(3):
    p, q = ROWS[-1 - i]
    y[i] += p * 10 + q""",
    "arrays with a type": """\
a: i32[8] = np.zeros(8)
b: i32[2, 4] = np.ones((2, 4), dtype=int)
c: i32[8] = np.full_like(x, 3)
d: i32[3] = [1, 2, 3]
e: i32[8] = x.copy()
for r in range(2):
    f: i32[8] = np.full(shape=(8,), fill_value=r)
    for i in range(8):
        a[i] += f[i] + b[r, i // 2] * c[i] + d[i % 3]
x[0] = 5
y[:] = a + e""",
    "sorted by stages": """\
n = 2
while n <= 8:
    j = n // 2
    while j > 0:
        for i in range(8):
            other = i ^ j
            if other > i and (x[i] > x[other]) == (i & n == 0):
                x[i], x[other] = x[other], x[i]
        j //= 2
    n *= 2
for gap in (3, 1):
    for i in range(gap, 8):
        j = i
        while j >= gap and y[j - gap] > y[j]:
            y[j], y[j - gap] = y[j - gap], y[j]
            j -= gap""",
    "quotients cut to integers": """\
for i in range(8):
    y[int(i / 2)] += int(x[i] / 7) - int((i - x[i]) / 3) + math.trunc(9 / (x[i] - 100))
    y[i] ^= math.floor((x[i] - 30) / 4) + math.ceil((x[i] - 9) / 5) + x[math.ceil(i / 2)]
    y[i] -= int((x[i] - 20) / -3) + int(x[i] / (i - 9))""",
    "tested behind the body": """\
for i in range(8):
    v = x[i]
    while True:
        y[v % 8] += v % 10
        v //= 10
        if v <= 0:
            break
    a, b = x[i] + 1, i + 1
    while True:
        a, b = b, a % b
        if b == 0:
            break
    y[i] += a
low, high = 0, 7
while True:
    mid = (low + high) // 2
    y[mid] += 1
    if x[mid] < 30:
        low = mid + 1
    else:
        high = mid - 1
    if low > high:
        break""",
    "gaps that are halved": """\
gap = 4
while gap > 0:
    for i in range(gap, 8):
        t = x[i]
        j = i
        while j >= gap and x[j - gap] > t:
            x[j] = x[j - gap]
            j -= gap
        x[j] = t
    gap //= 2""",
    "rows together": """\
m[1], m[0] = m[0] + 1, m[1] * 2
m[2, 1:], m[2, 0] = m[3, :-1].copy(), m[4, 5]
a = x[:4] + 1
b = x[4:] + 2
a, b = a + b, a - b
y[:4], y[4:] = a, b
for v in x[1:] > x[:-1]:
    y[0] += v""",
    "halved under a mask": """\
for i in range(8):
    bit = 128
    n: u8 = 0
    while x[i] & bit == 0 and bit:
        bit >>= 1
        n += 1
    while x[i] & n:
        n //= 2
    pos = 0
    while pos < 20:
        pos += max(1, x[i] & 3)
    y[i] = pos * 100 + n""",
    "helpers": """\
for i in range(5):
    for j in range(6):
        y[i] += pixel(m, i - 1, j + 1) - pixel(m, i, j - 2)
    y[i] += window(m, i, i // 2) + window(m, 4 - i, 2, n=4)
for i in range(8):
    y[i] += swapped(x, i)
y[7] += first_over(x, 30)""",
}


def loaded(kernel, name):
    text = HEAD + COMPUTED[name].replace("\n", "\n    ") + "\n"
    return kernel(f"import math\nimport numpy as np\nfrom weft import *\n{text}"), text


@pytest.mark.parametrize("name", COMPUTED)
def test_they_do_what_python_does(kernel, name):
    found, text = loaded(kernel, name)
    for seed in range(2):
        assert differences(found, text, seed, 60) == []


def test_subscripts_of_helpers_are_those_of_the_loops(kernel):
    found, _ = loaded(kernel, "helpers")
    accesses = [e for s in found.program.statements() for e in walk(s.value)]
    assert not any(isinstance(e, Gather) for e in accesses)


def test_lists_that_are_only_read_are_no_memories(kernel):
    found, _ = loaded(kernel, "tables")
    assert not [a.name for a in found.program.locals if a.shape]


@pytest.mark.parametrize("rows", ["A[1], A[0] = A[0].copy(), A[1]", "A[0], A[1] = A[1], A[0]"])
def test_a_row_that_is_read_behind_its_assignment_is_refused(error, rows):
    found = error(f"@weft.kernel\ndef k(A: i32[2, 3]):\n    {rows}")
    assert "is no copy: NumPy reads it when 'A' has been assigned" in found


def test_entries_of_tables_of_floats_are_floats_next_to_integers(kernel):
    table = "W = [[0.1 * i + j for i in range(4)] for j in range(2)]\n"
    body = "for i in range(4):\n        y[0] += W[i & 1][i] * x[i]\n"
    found = kernel(
        f"from weft import u8\n{table}@weft.kernel\ndef k(x: u8[4], y: f32[1]):\n    {body}"
    )
    assert found.program.statements()[0].value.dtype.name == "f32"
