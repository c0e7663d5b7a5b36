"""Conversions in the JIT are those of dsl.expressions.numeric, bit for bit, in every mode."""

import itertools
import math
import random
import struct

import pytest

from dsl.expressions.numeric import convert, frac_of, from_float, round_float, to_float
from dsl.expressions.types import (
    FixedType,
    FloatType,
    IntType,
    Overflow,
    Quant,
    bf16,
    f16,
    f32,
    f64,
)
from dsl.expressions.typing import cast
from tests.mlir.elementwise import elementwise, interesting, run

MODES = list(itertools.product(Quant, Overflow))


def in_every_mode(width, integer, signed):
    return {f"{q.value}_{o.value}": FixedType(width, integer, signed, q, o) for q, o in MODES}


def casts(targets):
    return lambda x: {name: cast(t, x) for name, t in targets.items()}


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(
    "target", [(4, 2, True), (3, 3, False), (1, 1, True), (5, -1, True), (9, 4, False)]
)
@pytest.mark.parametrize("source", [(6, 2), (6, 6), (5, 9), (6, -3)])
def test_fixed_to_fixed_is_exact_for_every_value_and_mode(source, signed, target):
    src = FixedType(*source, signed)
    targets = in_every_mode(*target)
    values = interesting(src, None, 64)
    found = run(elementwise({"x": src}, casts(targets), len(values)), {"x": values})
    for name, dtype in targets.items():
        expected = [convert(x, src.frac, dtype) for x in values]
        assert found[name] == expected, dtype


WIDE = [
    (FixedType(100, 50), FixedType(70, 60, True, Quant.RND_CONV, Overflow.SAT)),
    (FixedType(200, 3), FixedType(65, 1, False, Quant.RND, Overflow.SAT_ZERO)),
    (FixedType(64, 64), FixedType(300, 100)),
    (FixedType(64, -100), FixedType(16, 8, True, Quant.RND_INF, Overflow.SAT_SYM)),
    (FixedType(16, 300), FixedType(64, 32, True, Quant.TRN, Overflow.SAT)),
    (FixedType(16, 300), FixedType(64, 290)),
    (FixedType(33, 20), IntType(100)),
    (FixedType(129, 64, False), IntType(7, False)),
    (IntType(129), FixedType(129, 128, True, Quant.RND_MIN_INF)),
]


@pytest.mark.parametrize(("source", "target"), WIDE, ids=str)
def test_wide_conversions_are_exact(source, target):
    values = interesting(source, random.Random(1), 200)
    program = elementwise({"x": source}, casts({"y": target}), len(values))
    assert run(program, {"x": values})["y"] == [convert(x, frac_of(source), target) for x in values]


def floats_of(dtype: FloatType, count: int) -> list[float]:
    """Finite floats: all kinds of bit patterns."""
    rng = random.Random(2)
    size, code = {"f16": (16, "<e"), "bf16": (16, ""), "f32": (32, "<f"), "f64": (64, "<d")}[
        dtype.name
    ]
    patterns = [rng.getrandbits(size) for _ in range(count)]
    small = [rng.uniform(-40, 40) for _ in range(count)]
    ties = [k / 8 for k in range(-60, 60)]
    found = [0.0, -0.0, *ties]
    for bits in patterns:
        if dtype.name == "bf16":
            found.append(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
        else:
            found.append(struct.unpack(code, bits.to_bytes(size // 8, "little"))[0])
    found += [round_float(x, dtype) for x in small]
    return [x for x in found if math.isfinite(x)]


@pytest.mark.parametrize("source", [f16, bf16, f32, f64], ids=str)
@pytest.mark.parametrize("target", [(8, 4, True), (6, 7, False), (5, -2, True), (16, 16, True)])
def test_float_to_fixed_is_exact_in_every_mode(source, target):
    targets = in_every_mode(*target)
    values = floats_of(source, 300)
    found = run(elementwise({"x": source}, casts(targets), len(values)), {"x": values})
    for name, dtype in targets.items():
        assert found[name] == [from_float(x, dtype) for x in values], dtype


@pytest.mark.parametrize(
    "target",
    [
        IntType(1),
        IntType(8),
        IntType(33, False),
        IntType(100),
        FixedType(200, 150),
        FixedType(1100, 20),
    ],
    ids=str,
)
@pytest.mark.parametrize("source", [f16, f64], ids=str)
def test_float_to_integer_and_wide_fixed_is_exact(source, target):
    values = floats_of(source, 200)
    found = run(elementwise({"x": source}, casts({"y": target}), len(values)), {"x": values})
    assert found["y"] == [from_float(x, target) for x in values]


def same(found, expected):
    """Equal floats, the sign of zero included."""
    return [struct.pack("<d", x) for x in found] == [struct.pack("<d", x) for x in expected]


TO_FLOAT = [
    FixedType(12, 6),
    FixedType(12, -10, False),
    FixedType(12, 18),
    FixedType(12, -120),
    FixedType(12, 130),
    FixedType(40, -1000),
    FixedType(60, 20, False),
    FixedType(100, 50),
    FixedType(300, 150),
    IntType(12),
    IntType(33),
    IntType(64),
    IntType(64, False),
    IntType(100),
    IntType(1100),
]


@pytest.mark.parametrize("source", TO_FLOAT, ids=str)
def test_to_float_rounds_once_to_nearest_even(source):
    values = interesting(source, random.Random(3), 4096)[:4096]
    targets = {t.name: t for t in (f16, bf16, f32, f64)}
    found = run(elementwise({"x": source}, casts(targets), len(values)), {"x": values})
    for name, dtype in targets.items():
        assert same(found[name], [to_float(x, frac_of(source), dtype) for x in values]), dtype


@pytest.mark.parametrize("source", [f16, bf16, f32, f64], ids=str)
def test_float_to_float_rounds_once(source):
    values = floats_of(source, 500)
    targets = {t.name: t for t in (f16, bf16, f32, f64) if t != source}
    found = run(elementwise({"x": source}, casts(targets), len(values)), {"x": values})
    for name, dtype in targets.items():
        if source.width == dtype.width == 16:
            expected = [round_float(round_float(x, f32), dtype) for x in values]
        else:
            expected = [round_float(x, dtype) for x in values]
        assert same(found[name], expected), dtype


def test_doubles_next_to_a_tie_are_not_rounded_twice():
    ties = [1 + 2**-11, 1 + 3 * 2**-11, 2**-24, 3 * 2**-25, 65520.0, 1 + 2**-8, 2.0**-134 * 3]
    values = [s * t * (1 + d) for t in ties for d in (-(2**-52), 0, 2**-52) for s in (1, -1)]
    found = run(elementwise({"x": f64}, casts({"h": f16, "b": bf16}), len(values)), {"x": values})
    assert same(found["h"], [round_float(x, f16) for x in values])
    assert same(found["b"], [round_float(x, bf16) for x in values])
