"""Scalar locals of integers that are 0 or 1."""

from __future__ import annotations

import numpy as np

from dsl.expressions.expr import Binary, BinaryOp
from dsl.programs.pretty import pretty

HEAD = "from weft import *\n"
KERNEL = """\
@weft.kernel
def k(a: u8[8], b: i8[8], o: i16[4]):
    f = 0
    g: i8 = 1
    for i in range(8):
        {body}
    o[0] = f
    o[1] = g
"""


def made(kernel, body):
    return kernel(HEAD + KERNEL.format(body=body.replace("\n", "\n        ")))


def types(found):
    return {a.name: str(a.dtype) for a in found.program.locals}


def run(found, seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 9, 8).astype(np.uint8)
    b = rng.integers(-4, 5, 8).astype(np.int8)
    out = np.zeros(4, np.int16)
    found(a, b, out)
    return [*map(int, a)], [*map(int, b)], [*map(int, out)]


def test_flags_are_bits_and_what_sets_them_is_a_reduction(kernel):
    found = made(
        kernel,
        "if a[i] > 7:\n    f = 1\nif b[i] < -3:\n    g = 0\no[2] += 3 * f + (0 if g else 5)",
    )
    assert types(found) == {"f": "u1", "g": "u1"}
    ops = [s.value.op for s in found.program.statements() if isinstance(s.value, Binary)]
    assert ops[:2] == [BinaryOp.OR, BinaryOp.AND]
    for seed in range(6):
        a, b, out = run(found, seed)
        f, g, total = 0, 1, 0
        for x, y in zip(a, b, strict=True):
            f, g = f | (x > 7), g & (y >= -3)
            total += 3 * f + (0 if g else 5)
        assert out[:3] == [f, g, total]


def test_what_turns_is_the_parity_of_its_condition(kernel):
    found = made(kernel, "if a[i] & 1:\n    f = 1 - f\ng = f if b[i] != 0 else g\no[2] += f == g")
    assert types(found) == {"f": "u1", "g": "u1"}
    assert "f ^= a[i] & 1 != 0" in pretty(found.program)
    for seed in range(6):
        a, b, out = run(found, seed)
        f, g, same = 0, 1, 0
        for x, y in zip(a, b, strict=True):
            f ^= x & 1
            g = f if y else g
            same += f == g
        assert out[:3] == [f, g, same]


def test_comparisons_with_numbers_ask_the_bit(kernel):
    for test, holds in (
        ("f != 0", (False, True)),
        ("f == 0", (True, False)),
        ("1 > f", (True, False)),
        ("f < 2", (True, True)),
        ("f != b[i]", None),
    ):
        found = made(kernel, f"if a[i] > 5:\n    f = 1\nif {test}:\n    o[3] += 1")
        assert types(found)["f"] == "u1", test
        a, b, out = run(found, 1)
        f = count = 0
        for x, y in zip(a, b, strict=True):
            f |= x > 5
            count += f != y if holds is None else holds[f]
        assert out[3] == count, test


def test_what_may_be_another_number_stays(kernel):
    for body in (
        "f += 1",
        "f = f - 1 if b[i] else f",
        "f = g\ng = -1",  # through another flag
    ):
        assert types(made(kernel, body))["f"] != "u1", body
