"""Integer and fixed-point operators in the emitted C++ are those of dsl.expressions.numeric, bit for bit.

Types and numbers are chosen where the headers of ``ap_int`` and ``ap_fixed`` go wrong when they are
used without care: mixed signedness, int with ap_int, the smallest number, fractions that vanish.
"""

import itertools
import random

import pytest

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, CompareOp, Const, Index, UnaryOp
from dsl.expressions.numeric import convert, exact_binary, exact_compare, exact_unary, frac_of
from dsl.expressions.types import FixedType, FloatType, IntType, Overflow, Quant
from dsl.expressions.typing import binary, cast, compare, select, unary
from mlir_passes.construct.module import build_module
from mlir_passes.emit.hls import emit
from tests.emit.running import run_all
from tests.mlir.elementwise import elementwise, interesting, raw, to_python
from tests.mlir.trees import identity_tree
from tests.support.amount import sample

INTS = [
    IntType(8),
    IntType(5, False),
    IntType(1),
    IntType(1, False),
    IntType(33),
    IntType(64, False),
]
WIDE = [IntType(65), IntType(100, False)]
FIXED = [FixedType(5, -2), FixedType(8, 3), FixedType(6, 8, False), FixedType(70, 33)]
DIVISIONS = (BinaryOp.DIV, BinaryOp.FLOORDIV, BinaryOp.MOD)
SHIFTS = (BinaryOp.SHL, BinaryOp.SHR)
RNG = random.Random(4)


def first(*cases):
    """The first case, which runs every time, and others as one, every second of them: g++ compiles what they share once."""
    return [
        pytest.param(cases[:1], id=str(cases[0])),
        pytest.param(sample(cases[1:], 2), id="others", marks=pytest.mark.slow),
    ]


class Batch:
    """Kernels that are compiled together, each with what it must compute."""

    def __init__(self):
        self.sources, self.inputs, self.wants = [], [], []

    def add(self, program, values: dict, want: dict) -> None:
        source = emit(build_module(identity_tree(program)), top=f"k{len(self.sources)}")
        data = {a.name: raw(values.get(a.name, [0] * a.shape[0]), a.dtype) for a in program.arrays}
        self.sources.append(source)
        self.inputs.append(data)
        self.wants.append(want)

    def check(self) -> None:
        results = run_all(self.sources, self.inputs)
        for source, got, want in zip(self.sources, results, self.wants, strict=True):
            for name, expected in want.items():
                found = list(map(to_python, got[name]))
                assert found == expected, f"{name} of\n{source.text}"


def pairs_of(ta, tb, count=150):
    pairs = list(itertools.product(interesting(ta, RNG, 24), interesting(tb, RNG, 24)))
    return RNG.sample(pairs, min(len(pairs), count))


def possible(ops, x, y):
    """The expressions of the operators that these types have."""
    found = {}
    for op in ops:
        try:
            found[op.name] = binary(op, x, y)
        except LanguageError:
            continue
    return found


def corrected(x, y):
    """Whether long division of the magnitudes by digits of 32 bits has to add a divisor back: the headers of
    ``ap_private`` leave that out where they are wrong about the sign of what is left (LLVM mended its own in 2017).
    """
    base = 1 << 32
    left, divisor = abs(x), abs(y)
    if divisor < base:
        return False
    shift = -divisor.bit_length() % 32
    left, divisor = left << shift, divisor << shift
    digits = (divisor.bit_length()) // 32
    top, second = divisor >> 32 * (digits - 1), (divisor >> 32 * (digits - 2)) % base
    for place in reversed(range(max(left.bit_length() // 32 - digits + 2, 0))):
        upper = left >> 32 * (place + digits - 1)
        third = (left >> 32 * (place + digits - 2)) % base if place + digits >= 2 else 0
        digit, rest = divmod(upper, top)
        while rest < base and (digit >= base or digit * second > rest * base + third):
            digit, rest = digit - 1, rest + top
        exact = (left >> 32 * place) // divisor
        if digit > exact:
            return True
        left -= exact * divisor << 32 * place
    return False


def add_binary(batch, ta, tb):
    others = tuple(op for op in BinaryOp if op not in DIVISIONS + SHIFTS)
    for ops in (DIVISIONS, SHIFTS, others):
        pairs = [
            (a, b)
            for a, b in pairs_of(ta, tb)
            if not (ops is DIVISIONS and (b == 0 or corrected(a << abs(frac_of(tb)), b)))
            and not (b < 0 and ops is SHIFTS)
        ]
        if not pairs:
            continue
        program = elementwise(
            {"x": ta, "y": tb}, lambda x, y, ops=ops: possible(ops, x, y), len(pairs)
        )
        want = {
            a.name: [exact_binary(BinaryOp[a.name], x, ta, y, tb, a.dtype) for x, y in pairs]
            for a in program.arrays[2:]
        }
        batch.add(program, {"x": [x for x, _ in pairs], "y": [y for _, y in pairs]}, want)


@pytest.mark.parametrize("types", first(*INTS))
def test_operators_of_integers(types):
    batch = Batch()
    for ta, tb in itertools.product(types, INTS):
        add_binary(batch, ta, tb)
    batch.check()


@pytest.mark.parametrize(
    "pairs",
    first((IntType(8), WIDE[0]), (WIDE[1], IntType(8)), *itertools.product(WIDE, WIDE)),
)
def test_operators_of_wide_integers(pairs):
    batch = Batch()
    for ta, tb in pairs:
        add_binary(batch, ta, tb)
    batch.check()


@pytest.mark.parametrize("types", first(*FIXED, IntType(6, False)))
def test_operators_of_fixed_point(types):
    batch = Batch()
    for ta, tb in itertools.product(types, [*FIXED, IntType(6)]):
        add_binary(batch, ta, tb)
    batch.check()


def test_comparisons_are_by_exact_value():
    batch = Batch()
    types = [*INTS[:4], IntType(33, False), *FIXED]
    for ta, tb in RNG.sample(list(itertools.product(types, types)), 16):
        pairs = pairs_of(ta, tb)
        program = elementwise(
            {"x": ta, "y": tb},
            lambda x, y: {op.name: compare(op, x, y) for op in CompareOp},
            len(pairs),
        )
        want = {
            op.name: [int(exact_compare(op, x, frac_of(ta), y, frac_of(tb))) for x, y in pairs]
            for op in CompareOp
        }
        batch.add(program, {"x": [x for x, _ in pairs], "y": [y for _, y in pairs]}, want)
    batch.check()


def test_unary_operators():
    batch = Batch()
    for dtype in [*INTS, *WIDE, *FIXED]:
        ops = [UnaryOp.NEG, UnaryOp.ABS]
        ops += [UnaryOp.INVERT] * isinstance(dtype, IntType)
        ops += [UnaryOp.NOT] * (dtype == IntType(1, False))
        values = interesting(dtype, RNG, 60)
        program = elementwise(
            {"x": dtype}, lambda x, ops=ops: {op.name: unary(op, x) for op in ops}, len(values)
        )
        want = {
            op.name: [exact_unary(op, v, program.array(op.name).dtype) for v in values]
            for op in ops
        }
        batch.add(program, {"x": values}, want)
    batch.check()


def test_operators_with_constants():
    batch = Batch()
    ops = [op for op in BinaryOp if op is not BinaryOp.DIV]
    for dtype in [IntType(8), IntType(32, False), IntType(70)]:
        for number in (-7, -1, 1, 3, 4, 40, 2**40):
            mine = [op for op in ops if op not in SHIFTS or 0 <= number < 64]
            values = interesting(dtype, RNG, 40)
            program = elementwise(
                {"x": dtype},
                lambda x, mine=mine, number=number: {op.name: binary(op, x, number) for op in mine},
                len(values),
            )
            want = {}
            for stmt in program.statements():
                op, constant = BinaryOp[stmt.target.array], stmt.value.rhs
                assert isinstance(constant, Const)
                want[op.name] = [
                    exact_binary(op, v, dtype, number, constant.dtype, stmt.value.dtype)
                    for v in values
                ]
            batch.add(program, {"x": values}, want)
    batch.check()


@pytest.mark.parametrize(
    "quants", first(Quant.RND_CONV, *(q for q in Quant if q is not Quant.RND_CONV))
)
def test_conversions_quantise_and_overflow_by_the_modes(quants):
    batch = Batch()
    sources = [
        FixedType(10, 4),
        FixedType(9, 3, False),
        FixedType(31, -3),
        IntType(7),
        FixedType(6, 9),
    ]
    for quant, overflow in itertools.product(quants, Overflow):
        targets = [
            FixedType(6, 3, True, quant, overflow),
            FixedType(5, 6, False, quant, overflow),
            FixedType(4, -1, True, quant, overflow),
        ]
        for source in sources:
            values = interesting(source, RNG, 120)
            program = elementwise(
                {"x": source},
                lambda x, targets=targets: {f"y{n}": cast(t, x) for n, t in enumerate(targets)},
                len(values),
            )
            want = {
                f"y{n}": [convert(v, frac_of(source), t) for v in values]
                for n, t in enumerate(targets)
            }
            batch.add(program, {"x": values}, want)
    batch.check()


def test_conversions_to_integers_cut_towards_zero_and_wrap():
    batch = Batch()
    for source in [*FIXED, FixedType(40, 0), IntType(33), IntType(64, False)]:
        values = interesting(source, RNG, 100)
        targets = [IntType(3), IntType(9, False), IntType(65)]
        program = elementwise(
            {"x": source},
            lambda x, targets=targets: {f"y{n}": cast(t, x) for n, t in enumerate(targets)},
            len(values),
        )
        want = {
            f"y{n}": [convert(v, frac_of(source), t) for v in values] for n, t in enumerate(targets)
        }
        batch.add(program, {"x": values}, want)
    batch.check()


def test_selects_have_one_type():
    batch = Batch()
    types = [
        IntType(6),
        IntType(6, False),
        FixedType(7, 3, False),
        FixedType(5, 5),
        IntType(1, False),
    ]
    for ta, tb in itertools.combinations(types, 2):
        pairs = pairs_of(ta, tb)
        program = elementwise(
            {"x": ta, "y": tb},
            lambda x, y: {
                "z": select(compare(CompareOp.LT, x, y), x, y),
                "c": select(compare(CompareOp.LT, x, y), x, 3),
            },
            len(pairs),
        )
        frac = frac_of(program.array("z").dtype)
        scaled = [(x << frac - frac_of(ta), y << frac - frac_of(tb)) for x, y in pairs]
        less = [exact_compare(CompareOp.LT, x, frac, y, frac) for x, y in scaled]
        want = {"z": [x if c else y for (x, y), c in zip(scaled, less, strict=True)]}
        three = 3 << frac_of(program.array("c").dtype)
        up = frac_of(program.array("c").dtype) - frac_of(ta)
        want["c"] = [x << up if c else three for (x, _), c in zip(pairs, less, strict=True)]
        batch.add(program, {"x": [x for x, _ in pairs], "y": [y for _, y in pairs]}, want)
    batch.check()


def test_constants_of_any_width():
    wide = IntType(1100)
    numbers = [0, -1, 2**31, -(2**31), 2**63, -(2**63), 2**64 - 1, 2**64, -(2**1099), 2**1099 - 1]
    batch = Batch()
    program = elementwise(
        {"x": IntType(8)}, lambda _: {f"y{n}": cast(wide, v) for n, v in enumerate(numbers)}, 1
    )
    batch.add(program, {"x": [0]}, {f"y{n}": [v] for n, v in enumerate(numbers)})
    assert "#define AP_INT_MAX_W 2048" in batch.sources[0].text
    batch.check()


def test_results_at_the_limit_of_the_widths():
    """An int literal would count 32 bits and be too wide."""
    wide = IntType(4090, False)
    program = elementwise({"x": wide}, lambda x: {"y": binary(BinaryOp.MUL, x, 3)}, 2)
    batch = Batch()
    values = [1, 2**4090 - 1]
    batch.add(program, {"x": values}, {"y": [3 * v for v in values]})
    assert "x[i] * ap_uint<2>(3)" in batch.sources[0].text
    batch.check()


def test_an_index_is_an_i32():
    i = Affine.of("i")
    exprs = {
        "a": cast(IntType(32), Index(i * 3 - 5)),
        "b": binary(BinaryOp.MUL, Index((i + 1) // 2), Index(i % 3)),
        "c": binary(BinaryOp.MUL, Index(i * 30000), Index(i * 70000)),
        "d": cast(FloatType("f32"), Index(i)),
        "e": binary(BinaryOp.FLOORDIV, Index(i - 4), 3),
        "f": select(compare(CompareOp.LT, Index(i), 4), Index(i), -1),
    }
    program = elementwise({"x": IntType(8)}, lambda _: exprs, 10)
    batch = Batch()
    want = {
        "a": [3 * k - 5 for k in range(10)],
        "b": [(k + 1) // 2 * (k % 3) for k in range(10)],
        "c": [k * 30000 * k * 70000 for k in range(10)],
        "d": [float(k) for k in range(10)],
        "e": [(k - 4) // 3 for k in range(10)],
        "f": [k if k < 4 else -1 for k in range(10)],
    }
    batch.add(program, {"x": [0] * 10}, want)
    text = batch.sources[0].text
    assert "a[i] = 3 * i - 5;" in text
    assert "d[i] = float(i);" in text
    batch.check()


def test_conversions_may_drop_more_bits_than_there_are():
    """The headers assert where the last bit that is kept lies beyond the first one that there is."""
    sources = [IntType(1, False), IntType(3), IntType(32), IntType(64, False), FixedType(8, -3)]
    kernels, inputs, wants = [], [], []
    for source, quant in itertools.product(sources, (Quant.TRN, Quant.RND_ZERO, Quant.RND_INF)):
        targets = [
            FixedType(8, 8 + above, signed, quant, overflow)
            for above in (1, 2, 9, 33, 65)
            for signed in (True, False)
            for overflow in (Overflow.WRAP, Overflow.SAT)
        ]
        values = interesting(source, RNG, 12)
        program = elementwise(
            {"x": source},
            lambda x, targets=targets: {f"y{n}": cast(t, x) for n, t in enumerate(targets)},
            len(values),
        )
        kernels.append(emit(build_module(identity_tree(program)), top=f"k{len(kernels)}"))
        inputs.append({a.name: raw([0] * len(values), a.dtype) for a in program.arrays})
        inputs[-1]["x"] = raw(values, source)
        wants.append(
            {
                f"y{n}": [convert(v, frac_of(source), target) for v in values]
                for n, target in enumerate(targets)
            }
        )
    for got, want in zip(run_all(kernels, inputs), wants, strict=True):
        for name, expected in want.items():
            assert list(map(to_python, got[name])) == expected, name
