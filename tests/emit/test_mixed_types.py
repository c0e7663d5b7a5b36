"""Operands of two types wherever C++ wants one: ``?:``, min and max, comparisons, shifts.

Every expression is compiled by g++ and compared with the interpreter bit for bit. Elements of what
is only read are ``const`` objects, results of operators are of the base classes of ``ap_int`` and
``ap_fixed``, comparisons are ``bool``, literals ``int``: each of them meets each of the others.
"""

import itertools
import random
from collections.abc import Iterator

import pytest

from backends.verify import verify_many
from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, Cast, CompareOp, Expr, Load, UnaryOp, walk
from dsl.expressions.types import (
    DType,
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
from dsl.expressions.typing import assigned, binary, cast, compare, select, settled, unary
from dsl.programs.program import Array, Loop, Program, Stmt
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.support.amount import TIMES, sample

TYPES: tuple[DType, ...] = (
    IntType(1, False),
    IntType(1),
    IntType(8),
    IntType(8, False),
    IntType(32),
    IntType(64, False),
    IntType(70),
    FixedType(12, 4),
    FixedType(9, 3, False),
    FixedType(8, -2),
    FixedType(10, 5, True, Quant.RND, Overflow.SAT),
    f16,
    bf16,
    f32,
    f64,
)
COUNT = 12
RNG = random.Random(3)
# Each two types once, in either order: most expressions have their operands in both.
PAIRS = [RNG.choice([(a, b), (b, a)]) for a, b in itertools.combinations_with_replacement(TYPES, 2)]
RNG.shuffle(PAIRS)
FIRST, BATCH = 8, 12  # in all runs; of the others at once: g++ compiles what they share once
APART = (
    2 if TIMES == 1 else 1
)  # of the expressions of two types every second one, in turn; all of them in long runs


def expressions(a: Expr, b: Expr, c: Expr) -> Iterator[Expr]:
    """Expressions of two elements, and of one whose type is that of their difference.

    Those that these types do not have raise `LanguageError` when they are made.
    """
    add, sub, mul = BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL
    low, high = BinaryOp.MIN, BinaryOp.MAX
    less = compare(CompareOp.LT, a, b)
    makers = (
        lambda: select(less, a, b),
        lambda: select(less, unary(UnaryOp.NEG, a), binary(low, b, binary(sub, a, b))),
        lambda: select(less, binary(sub, a, b), c),
        lambda: select(less, c, binary(sub, b, a)),
        lambda: select(less, binary(sub, a, b), binary(sub, b, a)),
        lambda: select(less, binary(high, binary(sub, a, b), c), c),
        lambda: select(less, unary(UnaryOp.ABS, a), binary(mul, a, b)),
        lambda: select(less, unary(UnaryOp.ABS, c), c),
        lambda: select(less, 1, a),
        lambda: select(less, b, -3),
        lambda: select(less, select(compare(CompareOp.EQ, a, b), a, c), unary(UnaryOp.NEG, b)),
        lambda: unary(UnaryOp.NEG, select(less, a, unary(UnaryOp.NEG, b))),
        lambda: unary(UnaryOp.ABS, binary(sub, binary(low, a, b), binary(high, a, 1))),
        lambda: binary(low, unary(UnaryOp.NEG, a), binary(add, b, c)),
        lambda: compare(CompareOp.GE, binary(add, a, b), binary(low, a, b)),
        lambda: compare(CompareOp.LT, unary(UnaryOp.NEG, a), b),
        lambda: compare(CompareOp.NE, select(less, a, b), c),
        lambda: binary(add, less, compare(CompareOp.GT, a, 0)),
        lambda: unary(UnaryOp.NEG, less),
        lambda: select(less, compare(CompareOp.GT, a, 1), less),
        lambda: select(less, binary(BinaryOp.SHL, a, 3), a),
        lambda: select(less, binary(BinaryOp.SHR, a, 2), b),
        lambda: binary(BinaryOp.SHL, a, cast(IntType(3, False), b)),
        lambda: select(less, a, binary(BinaryOp.SHR, b, cast(IntType(3, False), a))),
        lambda: select(less, unary(UnaryOp.INVERT, a), b),
        lambda: binary(BinaryOp.XOR, select(less, a, b), binary(BinaryOp.OR, a, c)),
        lambda: select(less, binary(BinaryOp.FLOORDIV, a, 3), binary(BinaryOp.MOD, b, 5)),
        lambda: select(less, binary(BinaryOp.DIV, a, 3), b),
        lambda: binary(high, binary(mul, a, less), b),
    )
    for make in makers:
        try:
            yield settled(make())
        except LanguageError as error:
            if error.code not in ("W120", "W121"):
                raise


def mixed(ta: DType, tb: DType, first: int = 0) -> Program:
    """``y<k>[i]`` is the k-th expression of ``a[i]``, ``b[i]`` and ``c[i]``, from ``first`` on."""
    i = Affine.of("i")
    a, b = (Load(Access(n, (i,)), t) for n, t in (("a", ta), ("b", tb)))
    tc = binary(BinaryOp.SUB, a, b).dtype
    found = list(expressions(a, b, Load(Access("c", (i,)), tc)))[first::APART]
    # An operator's cast of a float to an integer would be undefined where it does not fit.
    exprs = [e for e in found if not _casts_a_float(e)]
    arrays = [Array(n, t, (COUNT,)) for n, t in (("a", ta), ("b", tb), ("c", tc))]
    arrays += [Array(f"y{k}", e.dtype, (COUNT,)) for k, e in enumerate(exprs)]
    body = tuple(
        Stmt(f"S{k}", Access(f"y{k}", (i,)), assigned(e, e.dtype)) for k, e in enumerate(exprs)
    )
    return Program("mixed", tuple(arrays), (Loop("i", (Affine(),), (Affine.of(COUNT),), 1, body),))


def _casts_a_float(expr: Expr) -> bool:
    return any(
        isinstance(e, Cast)
        and isinstance(e.operand.dtype, FloatType)
        and not isinstance(e.dtype, FloatType)
        for e in walk(expr)
    )


def check(pairs: list[tuple[DType, DType]]) -> None:
    designs = [
        compile_design(mixed(ta, tb, n % APART), Schedule()) for n, (ta, tb) in enumerate(pairs)
    ]
    results = verify_many(designs, jit=True, cxx=True, chunk=len(designs))
    for (ta, tb), result in zip(pairs, results, strict=True):
        for level in (result.interp, result.jit, result.cxx):
            assert level.status in ("ok", "vacuous"), f"{ta}, {tb}: {level.status}: {level.detail}"


def test_operands_of_two_types():
    check(PAIRS[:FIRST])


@pytest.mark.slow
@pytest.mark.parametrize("first", sample(range(FIRST, len(PAIRS), BATCH), len(PAIRS)))
def test_operands_of_every_two_types(first):
    check(PAIRS[first : first + BATCH])


LITERALS = (
    0,
    1,
    -1,
    7,
    -128,
    255,
    2**31,
    -(2**31),
    2**32 + 1,
    -(2**40),
    2**63,
    -(2**63),
    2**64,
    2**69 + 1,
)
# One of each kind that C++ or the types tell apart: an int, a long, what is wider; the least of each.
KINDS = (0, -1, 7, 2**31, -(2**31), 2**63, -(2**63), 2**69 + 1)
EXACT = tuple(t for t in TYPES if not isinstance(t, FloatType))


def with_literals(dtype: DType, literals: tuple[int, ...]) -> Iterator[Expr]:
    """Every operator between an element and a literal, on either side, where there is one."""
    x = Load(Access("a", (Affine.of("i"),)), dtype)
    for literal, op in itertools.product(literals, BinaryOp):
        divides = op in (BinaryOp.DIV, BinaryOp.FLOORDIV, BinaryOp.MOD)
        shifts = op in (BinaryOp.SHL, BinaryOp.SHR)
        right = not (literal == 0 and divides) and not (shifts and not 0 <= literal < 300)
        for lhs, rhs in ((x, literal), (literal, _nonzero(x) if divides else x)):
            if (lhs is x and not right) or (lhs is not x and shifts):
                continue
            try:
                yield settled(binary(op, lhs, rhs))
            except LanguageError as error:
                if error.code not in ("W120", "W121"):
                    raise
    for literal, op in itertools.product(literals, CompareOp):
        yield compare(op, x, literal)
    for literal in literals:
        yield select(compare(CompareOp.GT, x, literal), x, literal)
        yield unary(UnaryOp.NEG, select(compare(CompareOp.LT, x, 1), literal, x))


def _nonzero(x: Expr) -> Expr:
    """An element, or 1 where it is zero."""
    return select(compare(CompareOp.EQ, x, 0), 1, x)


def check_literals(dtype: DType, literals: tuple[int, ...]) -> None:
    exprs = list(with_literals(dtype, literals))
    arrays = [Array("a", dtype, (COUNT,))]
    arrays += [Array(f"y{k}", e.dtype, (COUNT,)) for k, e in enumerate(exprs)]
    i = Affine.of("i")
    body = tuple(Stmt(f"S{k}", Access(f"y{k}", (i,)), e) for k, e in enumerate(exprs))
    loop = Loop("i", (Affine(),), (Affine.of(COUNT),), 1, body)
    design = compile_design(Program("literals", tuple(arrays), (loop,)), Schedule())
    (result,) = verify_many([design], jit=True, cxx=True)
    for level in (result.interp, result.jit, result.cxx):
        assert level.status == "ok", f"{dtype}: {level.status}: {level.detail}"


def test_operators_with_literals():
    check_literals(IntType(8), LITERALS)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", sample([t for t in EXACT if t != IntType(8)], 8), ids=str)
def test_operators_of_every_type_with_literals(dtype):
    check_literals(dtype, KINDS)
