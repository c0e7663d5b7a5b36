"""Conversions are those of ap_int and ap_fixed: all quantisation and overflow modes, and floats."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from dsl.expressions.numeric import Exact, bounds, convert, frac_of, from_float, to_float, width_of
from dsl.expressions.types import FixedType, FloatType, IntType, Overflow, Quant
from tests.ap_types.cases import EFFORT, FIXED, INTS, targets, values
from tests.ap_types.cpp import Shown, expected, literal, run, shown, type_name
from tests.support.amount import sample

F32, F64 = FloatType("f32"), FloatType("f64")


def _compare(found: list[str], wanted: list[tuple[str, Shown]]) -> None:
    assert len(found) == len(wanted)
    wrong = [(w, shown(f)) for w, f in zip(wanted, found, strict=True) if shown(f) != w[1]]
    assert not wrong, f"{len(wrong)} of {len(wanted)}: {wrong[:10]}"


def _near_edges(source: Exact, target: Exact, rng: random.Random) -> list[int]:
    """Raws of the source whose values are around the ends of the target and its halves."""
    drop = frac_of(source) - frac_of(target)
    low, high = bounds(source)
    found = []
    for edge in (*bounds(target), 0, 1, -1, rng.randint(*bounds(target))):
        scaled = edge << drop if drop >= 0 else edge >> -drop
        half = 1 << (drop - 1) if drop > 0 else 1
        for delta in (0, half, -half, half - 1, half + 1, 1 - half, -1 - half, 3 * half, -1, 1):
            if low <= scaled + delta <= high:
                found.append(scaled + delta)
    return sorted(set(rng.sample(found, min(len(found), 14))))


@pytest.mark.parametrize("quant", sample([*Quant], 3))
def test_fixed_point_quantises_and_overflows_as_ap_fixed(quant: Quant, tmp_path: Path) -> None:
    rng = random.Random(f"fixed {quant.value}")
    lines, wanted = [], []
    for target in targets(rng, EFFORT):
        if target.quant is not quant:
            continue
        for source in rng.sample((*FIXED, *INTS), 3):
            drop = frac_of(source) - target.frac
            if drop > width_of(source) and quant is not Quant.TRN:
                continue  # the headers look for a bit that is not there and abort
            raws = [*_near_edges(source, target, rng), *rng.sample(values(source, rng), 2)]
            for raw in raws:
                value = convert(raw, frac_of(source), target)
                wanted.append((f"{raw}:{source} -> {target}", expected(value, target)))
                lines.append(f"show({type_name(target)}({literal(raw, source)}));")
    _compare(run(lines, tmp_path), wanted)


def test_integers_wrap_and_fixed_point_is_cut_towards_zero(tmp_path: Path) -> None:
    rng = random.Random("to int")
    lines, wanted = [], []
    for target in INTS:
        for source in rng.sample((*FIXED, *INTS), 3):
            if isinstance(source, FixedType) and source.integer < 1:
                continue  # the headers make -1 of some fractions here, or leave the value undefined
            for raw in values(source, rng, 3):
                value = convert(raw, frac_of(source), target)
                wanted.append((f"{raw}:{source} -> {target}", expected(value, target)))
                lines.append(f"show({type_name(target)}({literal(raw, source)}));")
    _compare(run(lines, tmp_path), wanted)


def test_fractions_below_one_become_zero() -> None:
    # Python's int() is the rule; the headers' to_ap_int_base is wrong where integer < 1.
    for source in (FixedType(8, 0), FixedType(7, -3)):
        for raw in range(bounds(source)[0], bounds(source)[1] + 1):
            assert convert(raw, source.frac, IntType(8)) == int(raw / 2.0**source.frac)


def _doubles(rng: random.Random, target: Exact) -> list[float]:
    low, high = (v / 2.0 ** frac_of(target) for v in bounds(target))
    step = 2.0 ** -frac_of(target)
    found = [0.0, -0.0, low, high, low - step, high + step, low - step / 2, high + step / 2]
    found += [step * (rng.randint(-9, 9) + f) for f in (0.5, 0.25, 0.75, 0.5 + 2**-40, 0.4999)]
    found += [rng.uniform(low, high), 3 * rng.uniform(low, high), 1e30, -1e30, -1e-30, 1e-30]
    return [float(v) for v in found]


def test_doubles_become_fixed_point_as_in_ap_fixed(tmp_path: Path) -> None:
    rng = random.Random("from double")
    lines, wanted = [], []
    for target in targets(rng, 1):
        for x in _doubles(rng, target):
            wanted.append((f"{x!r} -> {target}", expected(from_float(x, target), target)))
            lines.append(f"show({type_name(target)}({x.hex()}));")
    _compare(run(lines, tmp_path), wanted)


def test_doubles_become_integers_as_through_ap_fixed(tmp_path: Path) -> None:
    rng = random.Random("double to int")
    lines, wanted = [], []
    for target in INTS:
        for x in _doubles(rng, target):
            wanted.append((f"{x!r} -> {target}", expected(from_float(x, target), target)))
            # Not ap_int(x): the headers make 1 of -1e-30.
            through = FixedType(target.width, target.width, target.signed, Quant.TRN_ZERO)
            lines.append(f"show({type_name(target)}({type_name(through)}({x.hex()})));")
    _compare(run(lines, tmp_path), wanted)


@pytest.mark.parametrize("target", [F32, F64], ids=str)
def test_fixed_point_becomes_the_nearest_float(target: FloatType, tmp_path: Path) -> None:
    rng = random.Random(f"to {target}")
    name = "to_float" if target is F32 else "to_double"
    lines, wanted = [], []
    for source in FIXED:
        for raw in values(source, rng, 6):
            wanted.append((f"{raw}:{source}", to_float(raw, source.frac, target)))
            lines.append(f"show(double({literal(raw, source)}.{name}()));")
    found = run(lines, tmp_path)
    wrong = [(w, f) for w, f in zip(wanted, found, strict=True) if float.fromhex(f) != w[1]]
    assert not wrong, f"{len(wrong)} of {len(wanted)}: {wrong[:10]}"


def test_integers_become_the_nearest_double(tmp_path: Path) -> None:
    rng = random.Random("int to double")
    lines, wanted = [], []
    for source in INTS:
        for raw in values(source, rng, 6):
            wanted.append((f"{raw}:{source}", to_float(raw, 0, F64)))
            # Not ap_int.to_double() where it is wider than 64 bits: the headers drop the rest.
            same = type_name(FixedType(source.width, source.width, source.signed))
            lines.append(f"show({same}({literal(raw, source)}).to_double());")
    found = run(lines, tmp_path)
    wrong = [(w, f) for w, f in zip(wanted, found, strict=True) if float.fromhex(f) != w[1]]
    assert not wrong, f"{len(wrong)} of {len(wanted)}: {wrong[:10]}"


def test_every_mode_is_covered() -> None:
    found = {(t.quant, t.overflow) for t in targets(random.Random(0), 1)}
    assert found == {(q, o) for q in Quant for o in Overflow}
    assert math.prod((len(Quant), len(Overflow))) == 28
