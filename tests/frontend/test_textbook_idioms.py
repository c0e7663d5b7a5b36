"""Idioms of textbooks that NumPy and Python have: rows swapped, triangles updated by slices, folds, stacks, helpers in loops."""

from __future__ import annotations

import pytest

from dsl.errors.errors import LanguageError
from dsl.frontend.syntax.folds import most_folds
from polyhedral.legality.program import check_program

HEAD = """\
def clipped(v, low=-7, high=20):
    if v < low:
        return low
    return high if v > high else v

@weft.kernel
def k(x: i16[8], A: i16[6, 6], q: u8[8], y: i32[8]):
    """

COMPUTED = {
    "rows": """\
p = q[0] % 6
A[[0, 2]] = A[[2, 0]]
A[[p, 1], 2:] = A[[1, p], 2:]
A[1], A[4] = A[4].copy(), A[1].copy()
A &= 255""",
    "triangles": """\
for k in range(6):
    A[k + 1:, k] = A[k + 1:, k] & 15
    for i in range(k + 1, 6):
        A[i, k + 1:] -= (A[i, k] * (A[k, k + 1:] & 7)) & 63
    A[k, k:] //= A[k, k] | 1
    A[:k, k] = k""",
    "overlapping": """\
for i in range(1, 8):
    y[:i] = (y[8 - i:] + 1) & 255
    y[i:] ^= y[:8 - i] & 63
    y[max(0, i - 2):i + 1] += y[0] & 15""",
    "folds": """\
total = 0
for v in q:
    total += v * 900
while total >> 16:
    total = (total & 0xFFFF) + (total >> 16)
y[0] = total
d = q[1] * q[2]
while d > 9:
    d = d // 10 + d % 10
y[1] = d
e = x[0]
while (e >> 3) != 0:
    e = (e & 7) + (e >> 3)
y[2] = e""",
    "stack": """\
stack = [0] * 8
top = 0
for i, v in enumerate(x):
    if v & 1:
        stack[top] = i
        top += 1
    elif v & 2 and top > 0:
        top -= 1
        y[i] = stack[top]""",
    "rows at data": """\
for n, p in enumerate(q):
    for v in A[p % 6]:
        y[n] += max(v, 0)
    for v, w in zip(A[p % 6][::-1], x):
        y[n] ^= v * w & 63""",
    "both ways": """\
tiles = [0] * 8
n = 0
for v in x:
    if v & 3:
        tiles[n] = v & 3
        n += 1
i = k = 0
while i < n:
    if i + 1 < n and tiles[i] == tiles[i + 1]:
        y[k] = 2 * tiles[i]
        i += 2
    else:
        y[k] = tiles[i]
        i += 1
    k += 1""",
    "level": """\
level = 0
n = 0
for i in range(8):
    level = clipped(level + x[i], -100)
    n = clipped((n & 255) // (q[i] | 1), -2) & 511
    y[i] = level * 512 + n""",
    "views": """\
for i in range(4):
    if x[i] > 3:
        row = A[i]
        row &= 31
        row[1:] = row[:-1]
if x[0] & 1:
    for j, row in enumerate(A):
        row[:] = (row + j) & 127
elif x[1] > 0:
    tail = y[2:]
    tail ^= 5
for i in list(range(3)):
    y[i] = max((x[i], q[i])) + min([x[i], 3])""",
}


@pytest.mark.parametrize("body", COMPUTED.values(), ids=COMPUTED)
def test_they_compute_what_python_does(as_in_python, body):
    as_in_python(HEAD, body)


def test_a_slice_of_another_length_is_refused(error):
    body = "for i in range(1, 7):\n        y[:i] = y[i + 1:]\n"
    assert "has another number of elements" in error(f"@weft.kernel\ndef k(y: i32[8]):\n    {body}")


def test_a_stack_that_overflows_is_refused(kernel):
    text = HEAD.replace("x: i16[8]", "x: i16[9]") + COMPUTED["stack"].replace("\n", "\n    ")
    found = kernel(f"from weft import *\n{text.replace('y: i32[8]', 'y: i32[9]')}\n")
    with pytest.raises(LanguageError, match="top, which may be 0 to 8"):
        check_program(found.program)


@pytest.mark.parametrize("value", ["v * v", "v + 1"])
def test_a_type_that_grows_without_end_is_asked_for(error, value):
    text = f"def power(v):\n    w = {value}\n    return w\n\n\n@weft.kernel\ndef k(x: i8[8], y: i32[8]):\n"
    body = "    n = 1\n    for i in range(8):\n        n = power(n + x[i])\n        y[i] = n\n"
    assert "the type of 'n' is not clear" in error(text + body)


@pytest.mark.parametrize("base", [2, 3, 10, 16])
def test_folds_end_within_their_bound(base):
    def folds(number):
        count = 0
        while number // base:
            number, count = number // base + number % base, count + 1
        return count

    for low, high in ((-300, 40), (0, 70), (0, 1000), (-1, 1)):
        assert max(map(folds, range(low, high + 1))) <= most_folds(base, low, high)


def test_a_row_at_data_that_the_loop_may_change_is_refused(error):
    body = "for v in A[q[0] & 3]:\n        A[q[0] & 3, 1] = v + 1\n"
    found = error(f"from weft import *\n@weft.kernel\ndef k(A: i16[4, 6], q: u8[4]):\n    {body}")
    assert "the subscript of 'A' is not affine" in found


def test_lists_that_grow_say_what_to_write(error):
    body = "st = [0] * 4\n    st.append(x[0])\n"
    assert "stack[top] = x; top += 1" in error(f"@weft.kernel\ndef k(x: i8[8]):\n    {body}")
