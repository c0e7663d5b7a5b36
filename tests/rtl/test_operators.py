"""The operators in Verilator against NumPy and Python, at different numbers of stages."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from backends.rtl.graph import Kind
from backends.rtl.ir import ModuleBuilder, Ref, lit, to_verilog
from backends.rtl.operators import measured
from backends.rtl.operators.library import Key, at_depth, expression, instantiate, spec
from backends.rtl.tools import check, find_verilator, find_yosys, lint
from tests.rtl.evaluate import value
from tests.rtl.operator_cases import (
    F32,
    ROUNDED,
    SPECIAL,
    TESTS,
    conversion_cases,
    float_key,
    float_words,
    integer_cases,
    integer_words,
    scalar_results,
    wrong,
)
from tests.rtl.stream import Case, design, operands, run
from tests.support.amount import sample

DEPTHS = {
    Kind.FADD: (1, 4, 5, 8),
    Kind.FSUB: (2, 3),
    Kind.FMUL: (1, 2, 3, 5),
    Kind.FDIV: (4, 9, 14),
    Kind.FSQRT: (4, 9, 14),
    Kind.FEXP: (3, 6, 10),
    **dict.fromkeys(TESTS, (0, 1)),
}
DEEP = {kind: range(1, 13) for kind in ROUNDED} | {
    Kind.FDIV: (1, 5, 9, 13, 18, 26),
    Kind.FSQRT: (1, 5, 9, 13, 18, 25),
    Kind.FEXP: range(2, 15),
    **dict.fromkeys(TESTS, range(3)),
}
MANY = 1_000_000


def float_cases(depths) -> list[Case]:
    return [Case(float_key(kind), d) for kind, ds in depths.items() for d in ds]


def signs() -> list[Case]:
    return [Case(Key(kind, 32, (F32,)), 0) for kind in (Kind.FNEG, Kind.FABS)]


def special_pairs() -> np.ndarray:
    """Every special number with every other."""
    table = np.array(SPECIAL, dtype=np.uint64)
    a, b = np.meshgrid(table, table)
    flat = np.stack([a.ravel(), b.ravel()], axis=1)
    return np.concatenate([flat, np.zeros_like(flat)], axis=1)


def test_floats_are_those_of_numpy(tmp_path, runtime):
    rng = np.random.default_rng(7)
    words = np.concatenate([special_pairs(), float_words(rng, 20_000)])
    cases = float_cases(DEPTHS)
    for case, got in zip(cases, run(tmp_path, runtime, cases, words), strict=True):
        assert not wrong(case, words, got), case


def test_integers_and_conversions_are_those_of_python(tmp_path, runtime):
    rng = np.random.default_rng(8)
    words = integer_words(rng, 1_500)
    floats = conversion_cases() + signs()
    cases = integer_cases() + floats
    # The conversions' operands are moderate floats in the low halves.
    words[400:, 0] = float_words(rng, 1_100)[:, 0] | (words[400:, 0] & np.uint64(0xFFFFFFFF << 32))
    for case, got in zip(cases, run(tmp_path, runtime, cases, words), strict=True):
        assert not wrong(case, words, got), case


@pytest.mark.slow
@pytest.mark.parametrize("kind", sample(list(DEEP), 4))
def test_a_million_floats_at_every_depth(tmp_path, runtime, kind):
    words = float_words(np.random.default_rng(list(DEEP).index(kind)), MANY + 30)
    cases = float_cases({kind: DEEP[kind]})
    for case, got in zip(cases, run(tmp_path, runtime, cases, words), strict=True):
        assert not wrong(case, words, got), case


@pytest.mark.usefixtures("warm_tools")
def test_operators_are_clean_for_verilator_and_yosys(tmp_path):
    cases = float_cases({k: d[:1] for k, d in DEPTHS.items()})
    cases += integer_cases() + conversion_cases() + signs()
    text, _ = design(cases)
    linted = lint(find_verilator(), text, "operators", tmp_path)
    assert linted.ok, linted.log
    checked = check(find_yosys(), text, "operators", tmp_path)
    assert checked.ok, checked.log


def test_depth_follows_the_period():
    add = float_key(Kind.FADD)
    slow, usual, fast = (spec(add, period) for period in (20.0, 10.0, 6.0))
    assert 1 <= slow.latency < usual.latency < fast.latency
    assert usual.delay_in_ns <= 9.0
    assert usual.delay_out_ns == 0
    assert fast.ff > usual.ff > slow.ff > 32
    word = Key(Kind.ADD, 32, ((32, True), (32, True)))
    assert spec(word, 10.0).latency == 0
    assert 1.5 < spec(word, 10.0).delay_in_ns < 5
    product = Key(Kind.MUL, 32, ((16, True), (16, True)))
    assert (spec(product, 10.0).latency, spec(product, 10.0).dsp) == (0, 1)
    wide = Key(Kind.MUL, 64, ((32, True), (32, True)))
    assert spec(wide, 5.0).latency > spec(wide, 10.0).latency
    assert spec(wide, 10.0).dsp == 4
    assert at_depth(add, 7).latency == 7


def test_what_was_measured_is_there():
    rows = measured.rows()
    data = json.loads(measured.DATA.read_text(encoding="utf-8"))
    assert set(data["tools"]) == {"yosys", "nextpnr-ecp5"}
    kinds = {row.kind for row in rows}
    used = set(Kind) - {
        *(Kind.CONST, Kind.INDEX, Kind.INPUT, Kind.LOAD, Kind.STORE, Kind.RESIZE),
        *(Kind.FNEG, Kind.FABS),
    }
    used -= {k for k in used if k.name == "HOLDS"}
    assert {measured.ALIKE.get(k, k).value for k in used} == kinds
    # A float sum, product and comparison at 100 MHz.
    for kind in ("fadd", "fmul", "fdiv", "fsqrt", "fexp"):
        assert min(r.period_ns for r in rows if r.kind == kind) < 10, kind
    for kind in used:
        for pipelined in (False, True):
            assert 0.2 < measured.scale_of(kind, 20, pipelined=pipelined).time < 3
    # A DSP block is slower alone than in the sums of tiles.
    short, wide = (measured.scale_of(Kind.MUL, w, pipelined=False).time for w in (16, 32))
    assert wide < short
    # Between measured widths, and beyond them.
    choices = [measured.scale_of(Kind.SELECT, w, pipelined=False).time for w in (8, 16, 40, 64, 99)]
    assert choices[0] == choices[1] < choices[2] < choices[3] == choices[4]


def test_constants_are_exact_for_every_operand():
    """All operands of up to 5 bits, all constants of up to 4, every combination of signs."""
    for kind in (Kind.MUL, Kind.DIV, Kind.FLOORDIV, Kind.REM):
        for width in (1, 3, 5):
            words = np.zeros((1 << width, 4), dtype=np.uint64)
            words[:, 0] = np.arange(1 << width)
            for bits in range(4):
                for a_sign, b_sign in itertools.product((False, True), repeat=2):
                    for constant in range(1 << (bits + 1)):
                        shape = ((width, a_sign), (bits + 1, b_sign))
                        key = Key(kind, width + 2, shape, None, (None, constant))
                        words[:, 1] = constant
                        _exact(key, words)


def test_divisions_of_constants_are_exact():
    """All dividends of up to 4 bits by all divisors of up to 4, every combination of signs."""
    for kind in (Kind.DIV, Kind.FLOORDIV, Kind.REM):
        for bits, width in itertools.product(range(1, 5), repeat=2):
            words = np.zeros((1 << width, 4), dtype=np.uint64)
            words[:, 1] = np.arange(1 << width)
            for a_sign, b_sign in itertools.product((False, True), repeat=2):
                for constant in range(1 << bits):
                    shape = ((bits, a_sign), (width, b_sign))
                    words[:, 0] = constant
                    _exact(Key(kind, 6, shape, None, (constant, None)), words)


def test_wide_divisions_by_constants_are_exact():
    rng = np.random.default_rng(9)
    for width, sign in ((16, True), (31, False), (32, True), (33, True)):
        for constant in (3, 7, 9, 10, 100, 255, 641, 65_535, 1 << 15):
            words = integer_words(rng, 60)
            near = rng.integers(0, 1 << 14, size=60).astype(np.uint64) * np.uint64(constant)
            words[30:, 0] = near[30:] - rng.integers(0, 2, size=30).astype(np.uint64)
            words[:, 1] = constant
            for kind in (Kind.DIV, Kind.FLOORDIV, Kind.REM):
                shape = ((width, sign), (17, False))
                _exact(Key(kind, width, shape, None, (None, constant)), words)


def _exact(key: Key, words: np.ndarray) -> None:
    inputs = [
        Ref(f"x{n}", width) if known is None else lit(known, width)
        for n, ((width, _), known) in enumerate(zip(key.operands, key.constants, strict=True))
    ]
    output = expression(key, tuple(inputs), split=True)
    want = scalar_results(key, words)
    for *row, w in zip(*operands(key, words), want, strict=True):
        found = {f"x{n}": x for n, x in enumerate(row)}
        assert w is None or value(output, found) == w, (key, row)


def test_a_division_by_a_constant_takes_few_stages():
    shape = ((32, True), (32, True))
    general = spec(Key(Kind.DIV, 32, shape), 10.0)
    by_nine = spec(Key(Kind.DIV, 32, shape, None, (None, 9)), 10.0)
    assert by_nine.latency <= 4 < 10 < general.latency
    assert by_nine.lut < general.lut / 3


def test_a_constant_operand_costs_no_hardware():
    b = ModuleBuilder("m")
    x = b.input("x", 8)
    key = Key(Kind.MUL, 12, ((8, False), (4, False)))
    b.output("y", instantiate(b, key, spec(key, 10.0), (x, lit(4, 4)), "by_four"))
    assert "*" not in to_verilog(b.build())


def test_operands_of_other_widths_are_refused():
    b = ModuleBuilder("m")
    key = Key(Kind.ADD, 8, ((8, False), (8, False)))
    with pytest.raises(ValueError, match="given"):
        instantiate(b, key, spec(key, 10.0), (b.input("x", 8), b.input("y", 7)), "sum")
    with pytest.raises(ValueError, match="no operator"):
        spec(Key(Kind.LOAD, 8, ((8, False),)), 10.0)


def test_a_module_is_made_once():
    b = ModuleBuilder("m")
    key = float_key(Kind.FADD)
    x, y = b.input("x", 32), b.input("y", 32)
    found = spec(key, 10.0)
    first = instantiate(b, key, found, (x, y), "a")
    b.output("z", instantiate(b, key, found, (first, y), "b"))
    assert to_verilog(b.build()).count("\nmodule") == 1
