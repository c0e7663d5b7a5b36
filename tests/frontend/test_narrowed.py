"""Notes on locals whose type is that of their first value, and which are given wider ones."""

from __future__ import annotations

from dsl.programs.narrowed import narrowed

KERNEL = """\
@weft.kernel
def k(x: i8[8], w: i16[8], n: i32[8], u: u8[8], y: i32[8]):
    {body}
"""


def notes(kernel, body):
    text = "from weft import *\n" + KERNEL.format(body=body.replace("\n", "\n    "))
    return [n.render() for n in narrowed(kernel(text).program)]


def test_a_wider_value_is_told_of_with_both_places(kernel):
    found = notes(
        kernel,
        "best = x[0]\nfor i in range(8):\n    if w[i] > best:\n        best = w[i]\ny[0] = best",
    )
    assert found == [
        "k.py:15:13: note: 'best' is i8 by its first value, in line 12: what it is given here, -128 to 32767, may wrap\n"
        "   15 |             best = w[i]\n"
        "      |             ^^^^^^^^^^^\n"
        "help: write a type in front, best: i32 = ..., or best: i8 = ... where it is to wrap"
    ]


def test_updates_and_differences_are_told_of(kernel):
    assert len(notes(kernel, "t = x[0]\nt += w[1]\nd = u[0]\nd = u[1] - u[2]\ny[0] = t + d")) == 2


def test_what_fits_or_was_asked_for_is_not(kernel):
    body = """\
a = x[0]
a = max(a, x[1])
a = i8(w[0])
a = (a + x[2]) >> 1
b: i8 = x[0]
b = w[0]
c = u[0]
for i in range(8):
    c = (c << 1) & 255
    if 0 <= w[i] < 256:
        c = w[i]
s = 0
s += w[0]
m = n[0]
m += n[1]
y[0] = a + b + c + s + m"""
    assert notes(kernel, body) == []
