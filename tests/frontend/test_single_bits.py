"""Scalar locals that keep one masked bit."""

from __future__ import annotations

import numpy as np

from dsl.programs.pretty import pretty

HEAD = "from weft import *\n"
KERNEL = """\
@weft.kernel
def k(a: u8[8], b: i8[8], o: u8[8]):
    for i in range(8):
        {body}
"""


def made(kernel, body):
    return kernel(HEAD + KERNEL.format(body=body.replace("\n", "\n        ")))


def types(found):
    return {a.name: str(a.dtype) for a in found.program.locals}


def test_a_doubling_in_a_finite_field_asks_one_bit(kernel):
    found = made(kernel, "x = a[i]\nhi = x & 0x80\nx = x << 1\nif hi:\n    x = x ^ 0x1D\no[i] = x")
    assert types(found)["hi"] == "u1"
    assert "hi: u1 = u1(x >> 7)" in pretty(found.program)
    data = np.arange(8, dtype=np.uint8) * 37
    out = np.zeros(8, np.uint8)
    found(data, np.zeros(8, np.int8), out)
    wide = data.astype(int)
    assert (out == ((wide << 1) ^ (wide >> 7) * 0x1D) % 256).all()


def test_the_sign_and_bits_beyond_it_are_bits_too(kernel):
    for mask, bit in ((128, 7), (512, 9), (1, 0)):
        found = made(kernel, f"s = b[i] & {mask}\no[i] = 1 if s != 0 else 2")
        assert types(found) == {"s": "u1"}
        data = np.array([-128, -1, 0, 1, 5, 127, 2, -7], np.int8)
        out = np.zeros(8, np.uint8)
        found(np.zeros(8, np.uint8), data, out)
        assert (out == np.where((data.astype(int) >> bit) & 1, 1, 2)).all()


def test_what_is_read_or_made_otherwise_stays(kernel):
    for body in (
        "s = a[i] & 8\no[i] = s",  # its value
        "s = a[i] & 8\no[i] = 1 if s > 0 else 2",  # an order
        "s = a[i] & 8\no[i] = 1 if s == 8 else 2",  # another number
        "s = a[i] & 12\no[i] = 1 if s else 2",  # two bits
        "s = a[i] & 8\nif i > 3:\n    s = a[i]\no[i] = 1 if s else 2",  # also something else
        "s = a[i] & 8\no[i] = a[(s + 1) & 7] if s else 2",  # a subscript
    ):
        assert types(made(kernel, body))["s"] != "u1", body
