"""Scalar locals of which only low bits count."""

from __future__ import annotations

import operator
import random

import numpy as np

HEAD = "from weft import *\n"
KERNEL = """\
@weft.kernel
def k(a: u32[8], b: i16[8], t: u32[16], o: u32[8], p: u8[8]):
    for i in range(8):
        {body}
"""


def made(kernel, body):
    return kernel(HEAD + KERNEL.format(body=body.replace("\n", "\n        ")))


def types(found):
    return {a.name: str(a.dtype) for a in found.program.locals}


def values(found, seed=0):
    rng = np.random.default_rng(seed)
    kinds = ((2**32, 8, "u4"), (2**16, 8, "u2"), (2**32, 16, "u4"), (1, 8, "u4"), (1, 8, "u1"))
    given = [rng.integers(0, n, size).astype(kind) for n, size, kind in kinds]
    given[1] = given[1].view("i2")
    found(*given)
    return given


def test_a_rotation_in_a_local_has_the_bits_of_what_it_goes_into(kernel):
    found = made(kernel, "s = (a[i] >> 6) | (a[i] << 26)\nd = s * 5 + a[i]\no[i] = d ^ s")
    assert types(found) == {"s": "u32", "d": "u32"}
    a, _, _, o, _ = values(found)
    s = (a >> np.uint32(6)) | (a << np.uint32(26))
    assert (o == ((s * np.uint32(5) + a) ^ s)).all()


def test_what_depends_on_all_bits_keeps_them(kernel):
    wide = "s = a[i] << 8\n"
    for use in (
        "o[i] = s >> 8",
        "o[i] = 1 if s > a[i] else 0",
        "o[i] = s // 3",
        "o[i] = max(s, a[i])",
        "o[i] = s % 5",
        "o[i] = t[min(s, 15)]",
        "o[i] = u32(f32(s))",
    ):
        assert types(made(kernel, wide + use))["s"] == "u40", use


def test_a_negative_value_goes_into_more_bits_with_its_sign(kernel):
    found = made(kernel, "s = b[i] * b[i] - a[i]\no[i] = i64(s) >> 2\np[i] = s")
    assert types(found) == {"s": "i34"}
    assert types(made(kernel, "s = b[i] * b[i] - a[i]\np[i] = s")) == {"s": "i8"}


def test_masks_quotients_and_remainders_by_powers_of_two_take_some(kernel):
    assert types(made(kernel, "s = a[i] + 1\no[i] = s & 255")) == {"s": "u8"}
    assert types(made(kernel, "s = a[i] + 1\np[i] = s >> 4")) == {"s": "u12"}
    assert types(made(kernel, "s = a[i] + 1\np[i] = s // 16")) == {"s": "u12"}
    assert types(made(kernel, "s = a[i] + 1\no[i] = t[s % 16]")) == {"s": "u4"}


def test_a_recurrence_that_shifts_to_the_right_needs_all(kernel):
    found = made(kernel, "s: u32 = a[i]\nfor j in range(40):\n    s = (s >> 1) ^ b[i]\np[i] = s")
    assert types(found)["s"] == "u32"


def test_subscripts_of_what_nobody_uses_stay_within(kernel):
    found = made(kernel, "s = min(a[i], 11)\nunused = t[s]\no[i] = s & 3")
    assert types(found)["s"] == "u32"
    values(found)


OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def test_random_locals_have_the_values_of_numpy(kernel):
    """Sums, products, logic and shifts to the left, as ``uint32`` computes them."""
    rng = random.Random(7)
    for _ in range(6):
        names, lines = ["x", "y"], []
        for n in range(5):
            line = rng.choice(names), rng.choice([*OPERATORS]), rng.choice(names), rng.randint(0, 9)
            lines.append(line)
            names.append(f"v{n}")
        texts = [
            f"v{n} = (({p} {op} {q}) << {by}) ^ ~{q}" for n, (p, op, q, by) in enumerate(lines)
        ]
        body = "\n".join(["x = a[i]", "y = t[i]", *texts, "o[i] = v4"])
        a, _, t, o, _ = values(made(kernel, body))
        known = {"x": a, "y": t[:8]}
        for n, (p, op, q, by) in enumerate(lines):
            known[f"v{n}"] = (OPERATORS[op](known[p], known[q]) << np.uint32(by)) ^ ~known[q]
        assert (o == known["v4"]).all(), body
