"""What operators must compute, over arrays: NumPy for floats, Python's integers for the rest."""

from __future__ import annotations

import numpy as np

from backends.rtl.front.values.operate import operate
from backends.rtl.graph import FLOATS, Kind, Op
from backends.rtl.operators.library import Key
from dsl.expressions.types import FixedType, Overflow, Quant
from tests.rtl.evaluate import signed
from tests.rtl.stream import Case, operands

F32 = (32, False)
ROUNDED = (Kind.FADD, Kind.FSUB, Kind.FMUL, Kind.FDIV)
TESTS = (Kind.FEQ, Kind.FNE, Kind.FLT, Kind.FLE)
SPECIAL = (
    *(0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x3F800001, 0x40000000),
    *(0x00800000, 0x80800000, 0x00800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000),
    *(0x7FC00000, 0xFFC00000, 0x7F800001, 0x00000001, 0x807FFFFF, 0x34000000, 0x42B17217),
)


def float_key(kind: Kind) -> Key:
    binary = kind in ROUNDED or kind in TESTS
    return Key(kind, 1 if kind in TESTS else 32, (F32,) * (2 if binary else 1))


def float_words(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Operands for floats: anything, near in magnitude, nearly cancelling, small, and special."""
    words = rng.integers(0, 1 << 32, size=(steps, 4), dtype=np.uint64)
    part = rng.integers(0, 8, size=steps)
    sign_and_fraction = np.uint64(0x807FFFFF)

    def exponents(low: int, high: int) -> np.ndarray:
        return rng.integers(low, high, size=steps).astype(np.uint64) << np.uint64(23)

    moderate = [(w & sign_and_fraction) | exponents(110, 145) for w in words[:, :2].T]
    for column in (0, 1):
        chosen = np.isin(part, (1, 2, 3, 4))
        words[chosen, column] = moderate[column][chosen]
    close = part == 2
    near = words[:, 0] ^ rng.integers(0, 16, size=steps).astype(np.uint64)
    near ^= rng.integers(0, 2, size=steps).astype(np.uint64) << np.uint64(31)
    words[close, 1] = near[close]
    edges = part == 5  # products and quotients about the least normal number
    total = exponents(1, 140)
    rest = (np.uint64(127) << np.uint64(23)) - (total & np.uint64(0x7F800000)) % (127 << 23)
    words[edges, 0] = ((words[:, 0] & sign_and_fraction) | total)[edges]
    words[edges, 1] = ((words[:, 1] & sign_and_fraction) | rest)[edges]
    short = part == 6  # few bits: ties
    mask = np.uint64(0xFFF00000)
    words[short, 0] &= mask
    special = np.array(SPECIAL, dtype=np.uint64)
    for column in (0, 1):
        chosen = rng.integers(0, 12, size=steps) == 0
        words[chosen, column] = rng.choice(special, size=steps)[chosen]
    return words


def _float(bits: np.ndarray) -> np.ndarray:
    """As floats, subnormal ones flushed."""
    bits = bits.astype(np.uint32)
    tiny = (bits & 0x7F800000) == 0
    return np.where(tiny, bits & 0x80000000, bits).astype(np.uint32).view(np.float32)


def _bits(values: np.ndarray) -> np.ndarray:
    bits = values.astype(np.float32).view(np.uint32)
    bits = np.where((bits & 0x7F800000) == 0, bits & 0x80000000, bits)
    return np.where(np.isnan(values), 0x7FC00000, bits).astype(np.uint64)


def float_results(kind: Kind, words: np.ndarray) -> np.ndarray:
    """By NumPy: in binary32, of `exp` in binary64 and then rounded."""
    a, b = _float(words[:, 0]), _float(words[:, 1])
    with np.errstate(all="ignore"):
        match kind:
            case Kind.FADD:
                return _bits(a + b)
            case Kind.FSUB:
                return _bits(a - b)
            case Kind.FMUL:
                return _bits(a * b)
            case Kind.FDIV:
                return _bits(a / b)
            case Kind.FSQRT:
                return _bits(np.sqrt(a))
            case Kind.FEXP:
                return _bits(np.exp(a.astype(np.float64)))
            case Kind.FEQ:
                return (a == b).astype(np.uint64)
            case Kind.FNE:
                return (a != b).astype(np.uint64)
            case Kind.FLT:
                return (a < b).astype(np.uint64)
            case Kind.FLE:
                return (a <= b).astype(np.uint64)
    raise ValueError(kind)


def scalar_results(key: Key, words: np.ndarray) -> list[int | None]:
    """One by one by the meaning of the graph's operations; None where there is none."""
    columns = []
    for column, (width, sign) in zip(operands(key, words), key.operands, strict=True):
        columns.append([signed(v, width) if sign else v for v in column])
    op = Op(0, key.kind, key.width, fixed=key.fixed)
    divides = key.kind in (Kind.DIV, Kind.FLOORDIV, Kind.REM)
    mask = (1 << min(key.width, 64)) - 1
    found: list[int | None] = []
    for x in zip(*columns, strict=True):
        if (divides and x[1] == 0) or (
            key.kind is Kind.FROM_FLOAT and x[0] & 0x7F800000 == 0x7F800000
        ):
            found.append(None)
        else:
            found.append(int(operate(op, list(x), True)) & mask)
    return found


def wrong(case: Case, words: np.ndarray, got: np.ndarray) -> list[tuple[int, object, int]]:
    """The first rows in which an operator is wrong: number, what was right, what came."""
    looked = len(words) - case.depth
    words, got = words[:looked], got[:looked]
    kind = case.key.kind
    if kind in FLOATS and kind not in (Kind.FNEG, Kind.FABS, Kind.FROM_FLOAT):
        want = float_results(kind, words)
        away = got != want
        if kind is Kind.FEXP:
            away = np.abs(got.astype(np.int64) - want.astype(np.int64)) > 1
        rows = np.flatnonzero(away)[:3]
        return [(int(i), hex(int(want[i])), int(got[i])) for i in rows]
    pairs = zip(scalar_results(case.key, words), got.tolist(), strict=True)
    return [(i, w, g) for i, (w, g) in enumerate(pairs) if w is not None and w != g][:3]


def integer_words(rng: np.random.Generator, steps: int) -> np.ndarray:
    """All pairs of 4-bit operands, then random words with the ends of ranges among them."""
    words = rng.integers(0, 1 << 64, size=(steps, 4), dtype=np.uint64)
    ends = np.array(
        [0, 1, 2**64 - 1, 2**63, 0x8000000080008080, 0x7FFFFFFF7FFF7F7F], dtype=np.uint64
    )
    for column in range(4):
        chosen = rng.integers(0, 5, size=steps) == 0
        words[chosen, column] = rng.choice(ends, size=steps)[chosen]
    pairs = np.arange(min(256, steps), dtype=np.uint64)
    words[: len(pairs), 0] = pairs & np.uint64(15)
    words[: len(pairs), 1] = pairs >> np.uint64(4)
    return words


def integer_cases() -> list[Case]:
    """Each operator, narrow and wide, of every combination of signs, with and without stages."""
    cases: list[Case] = []
    division = (Kind.DIV, Kind.FLOORDIV, Kind.REM)
    for kind in (*division, Kind.ADD, Kind.SUB, Kind.MUL, Kind.LT, Kind.LE, Kind.EQ, Kind.NE):
        one = kind in (Kind.LT, Kind.LE, Kind.EQ, Kind.NE)
        for a_sign in (False, True):
            for b_sign in (False, True):
                cases.append(Case(Key(kind, 1 if one else 8, ((4, a_sign), (4, b_sign))), 0))
    for sign in (False, True):
        for kind in (Kind.AND, Kind.OR, Kind.XOR):
            cases.append(Case(Key(kind, 40, ((33, sign), (17, not sign))), 0))
        cases.append(Case(Key(Kind.SHL, 40, ((33, sign), (6, False))), 0))
        cases.append(Case(Key(Kind.SHR, 33, ((33, sign), (6, False))), 1))
        cases.append(Case(Key(Kind.SELECT, 40, ((1, False), (33, sign), (17, True))), 0))
        cases.append(Case(Key(Kind.ADD, 64, ((64, sign), (50, True))), 0))
        cases.append(Case(Key(Kind.SUB, 64, ((64, sign), (64, True))), 3))
        cases.append(Case(Key(Kind.ADD, 128, ((128, sign), (128, True))), 4))
        cases.append(Case(Key(Kind.MUL, 32, ((32, sign), (32, sign))), 2))
        cases.append(Case(Key(Kind.MUL, 64, ((32, sign), (32, True))), 3))
        cases.append(Case(Key(Kind.MUL, 64, ((64, sign), (25, False))), 1))
        cases.append(Case(Key(Kind.DIV, 33, ((32, sign), (32, True))), 9))
        cases.append(Case(Key(Kind.FLOORDIV, 33, ((32, sign), (12, not sign))), 4))
        cases.append(Case(Key(Kind.REM, 20, ((16, sign), (20, True))), 5))
    return cases


def conversion_cases() -> list[Case]:
    """Every mode of rounding and of overflow, at different places of the point."""
    cases: list[Case] = []
    shapes = ((16, 8), (8, 12), (32, 16), (40, 3), (1, 1), (24, 24))
    for i, quant in enumerate(Quant):
        for j, overflow in enumerate(Overflow):
            width, integer = shapes[(i + j) % len(shapes)]
            fixed = FixedType(width, integer, (i + j // 2) % 3 > 0, quant, overflow)
            cases.append(Case(Key(Kind.FROM_FLOAT, width, (F32,), fixed), (i + j) % 3))
    for n, (width, integer) in enumerate((*shapes, (64, 20), (63, 80))):
        fixed = FixedType(width, integer, n % 3 > 0)
        cases.append(Case(Key(Kind.TO_FLOAT, 32, ((width, fixed.signed),), fixed), n % 4))
    return cases
