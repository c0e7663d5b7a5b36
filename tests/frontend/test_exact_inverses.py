"""Floats divided by powers of two."""

from __future__ import annotations

import numpy as np
import pytest

from dsl.programs.pretty import pretty

KERNEL = """\
from weft import *
@weft.kernel
def k(x: {dtype}[8], y: {dtype}[8]):
    for i in range(8):
        y[i] = (x[i] + 1.0) / {by}
"""


@pytest.mark.parametrize("by", ["2.0", "-8.0", "0.25", "2.0**40"])
def test_a_power_of_two_is_a_product_of_the_same_bits(kernel, by):
    found = kernel(KERNEL.format(dtype="f32", by=by))
    assert "/" not in pretty(found.program)
    x = np.array([0.1, -3.0, 1e-38, 3.4e38, np.inf, -1.0, 1e-3, 7.0], np.float32)
    y = np.zeros(8, np.float32)
    found(x, y)
    with np.errstate(over="ignore"):
        wanted = (x + np.float32(1)) / np.float32(power_of(by))
    assert (y == wanted).all()


def power_of(text):
    base, _, exponent = text.partition("**")
    return float(base) ** float(exponent or 1)


@pytest.mark.parametrize(("dtype", "by"), [("f32", "3.0"), ("f32", "2.0**127"), ("f16", "32768.0")])
def test_other_numbers_and_inverses_that_are_not_normal_stay(kernel, dtype, by):
    assert "/" in pretty(kernel(KERNEL.format(dtype=dtype, by=by)).program)
