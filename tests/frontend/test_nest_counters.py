"""Counters that each iteration of a nest changes alike, and bits of loop variables: affine, and what Python computes."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest

from dsl.expressions.affine import Affine
from dsl.expressions.bits import bitwise
from dsl.expressions.expr import BinaryOp
from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(x: i32[64], y: i32[64]):\n    "
AFFINE = {
    "one": "n = 0\nfor i in range(8):\n    for j in range(5):\n        y[n] = x[5 * i + j] * n\n        n += 1",
    "between": "n = 63\nfor i in range(4):\n    n -= 1\n    for j in range(2, 7):\n        for k in range(2):\n            y[n] = x[n] + i\n            n -= 1\n        n -= 1\n    n += 3",
    "several": "p = 0\nfor i in range(4):\n    q = i\n    for j in range(4):\n        acc = 0\n        for k in range(4):\n            acc += x[q] * x[p]\n            q += 4\n        q -= 16\n        y[p] = acc\n        p = p + 1",
    "grid": "n = 4\nfor i, j in itertools.product(range(6), range(1, 7)):\n    y[n] = x[i + j]\n    n += 1",
    "read later": "n = 1\nfor i in range(30):\n    y[n] = x[i]\n    n += 2\ny[0] = n",
    "reset": "n = 0\nfor i in range(4):\n    n = 0\n    for j in range(4):\n        y[i * 4 + n] = x[n]\n        n += 1\n    for j in range(4):\n        n -= 1\n        y[i * 4 + n] += x[n + 12]",
    "masks": "for i in range(64):\n    y[i] = x[i ^ 5] - x[i & ~3] + x[(i & 12) | 3] * x[i >> 2 << 1 | i & 1]",
    "butterfly": "h = 1\nwhile h < 64:\n    for t in range(32):\n        lo = ((t & ~(h - 1)) << 1) | (t & (h - 1))\n        hi = lo | h\n        x[lo], x[hi] = x[lo] + x[hi], x[lo] - x[hi]\n    h <<= 1",
    "distances": "for s in range(5):\n    for i in range(64):\n        y[i] = x[i] + (x[i - (1 << s)] if i >= (1 << s) else 0)\n    for i in range(64):\n        x[i] = y[i]",
}
DATA = {
    "some": "n = 0\nfor i in range(64):\n    if x[i] > 0:\n        y[n] = x[i]\n        n += 1",
    "left": "n = 0\nfor i in range(64):\n    if x[i] > 15:\n        break\n    y[n] = x[i]\n    n += 1",
    "triangle": "n = 0\nfor i in range(8):\n    for j in range(i + 1):\n        y[n] = x[8 * i + j]\n        n += 1",
}


@pytest.mark.parametrize("body", [*AFFINE.values(), *DATA.values()], ids=[*AFFINE, *DATA])
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python("import itertools\n" + HEAD, body)


@pytest.mark.parametrize("body", AFFINE.values(), ids=AFFINE.keys())
def test_their_subscripts_are_affine(kernel: Load, body: str) -> None:
    lines = body.replace("\n", "\n    ")
    made = kernel(f"import itertools\nfrom weft import *\n{HEAD}{lines}\n")
    statements = list(made.program.statements())
    assert not any(i.is_data for s in statements for i in s.target.indices)


RANGES = {"i": (0, 63), "j": (0, 7), "k": (-5, 9)}
OPERATORS: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.AND: lambda a, b: a & b,
    BinaryOp.OR: lambda a, b: a | b,
    BinaryOp.XOR: lambda a, b: a ^ b,
}


def _term(r: random.Random) -> Affine:
    made = Affine.of(r.choice("ijk")) * r.choice([1, 2, 4, 8, -1]) + r.choice([0, 1, 8])
    made = made % r.choice([2, 4, 8]) if r.random() < 0.4 else made
    return made // r.choice([2, 4]) if r.random() < 0.3 else made


def test_bits_of_random_expressions_are_those_of_their_values() -> None:
    r = random.Random(0)
    found = 0
    for _ in range(2_000):
        op, a = r.choice([*OPERATORS]), _term(r)
        b = Affine.of(r.choice([r.randint(-70, 70), 1 << r.randint(0, 6)]))
        b = b if r.random() < 0.6 else _term(r)
        made = bitwise(op, a, b, r.choice([RANGES, {}]))
        if made is None:
            continue
        found += 1
        for _ in range(20):
            at = {v: r.randint(*ends) for v, ends in RANGES.items()}
            assert made.evaluate(at) == OPERATORS[op](a.evaluate(at), b.evaluate(at)), (a, op, b)
    assert found > 1_000


def test_intervals_know_remainders() -> None:
    i, r = Affine.of("i"), random.Random(1)
    for of in (i % 8, 7 - i % 8, i % 16 - i % 4, (i // 4) % 4, (i % 16) * 2 + 1):
        values = [of.evaluate({"i": n}) for n in range(64)]
        assert of.interval(RANGES) == (min(values), max(values))
    names = [f"v{n}" for n in range(12)]  # of many each is looked at once
    total = sum((Affine.of(v) % 32 - Affine.of(v) % 4 for v in names), Affine())
    assert total.interval(dict.fromkeys(names, (0, 255))) == (0, 12 * 28)
    for _ in range(300):
        of = _term(r) - _term(r) * r.choice([1, 2]) + _term(r) % 4
        every = product(*(range(low, high + 1, 3) for low, high in RANGES.values()))
        values = [of.evaluate(dict(zip(RANGES, at, strict=True))) for at in every]
        low, high = of.interval(RANGES)
        assert low <= min(values)
        assert max(values) <= high
