"""Loop indices as numbers: a value, and a bound of a loop, is an ``int`` in C++ and must fit one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.affine import Affine, FloorDiv
from dsl.expressions.expr import Binary, BinaryOp, Cast, Const, Index, walk
from dsl.expressions.types import DType, IndexType, IntType
from polyhedral.isl.text import affine_text, positional
from polyhedral.scop.scop import Statement

LOW, HIGH = -(1 << 31), (1 << 31) - 1


def check_index(s: Statement, ranges: Mapping[str, tuple[int, int]]) -> None:
    """Check what a statement, and the loops around it, compute of loop variables.

    Args:
        s: The statement.
        ranges: For every loop variable a range that holds its values.

    Raises:
        LanguageError: W162 an index, or a part of it, that does not fit 32 bits; W163 a shift by
            a negative number; each exact, with an example iteration.
    """
    for loop in s.loops:
        for bound in (*loop.lowers, *loop.uppers):
            _check_fits(s, bound, ranges, f"a bound of the loop '{loop.var}'", loop.span)
    for expr in walk(s.stmt.value):
        if isinstance(expr, Index):
            _check_fits(s, expr.affine, ranges, f"{expr.affine} as a value", s.stmt.span)
        elif isinstance(expr, Binary) and expr.op in (BinaryOp.SHL, BinaryOp.SHR):
            _check_shift(s, expr, ranges)


def _parts(expr: Affine) -> Iterator[Affine]:
    """The whole, each product in it, and what is divided in it: C++ computes each as ``int``."""
    yield expr
    for term in expr.terms:
        if len(expr.terms) > 1 or expr.const:
            yield Affine((term,))
        if isinstance(term[0], FloorDiv):
            yield from _parts(term[0].numerator)


def _check_fits(
    s: Statement,
    expr: Affine,
    ranges: Mapping[str, tuple[int, int]],
    what: str,
    span: Span | None,
) -> None:
    for part in _parts(expr):
        low, high = part.interval(ranges)
        if low >= LOW and high <= HIGH:
            continue  # interval arithmetic suffices; isl decides the rest exactly
        text = affine_text(part, positional(s.variables))
        example = _example(s, f"{text} < {LOW} or {text} > {HIGH}")
        if example is None:
            continue
        found = f"it is {expr.evaluate(example)}"
        if part != expr:
            found += f", and {part} in it is {part.evaluate(example)}"
        raise LanguageError(
            "W162",
            f"{what} does not fit 32 bits: {found}{_where(example, expr)}",
            span=span,
            notes=[f"an index is an i32: {LOW} to {HIGH}"],
            help="compute it of values with a type, as in i64(i) * 100000"
            if what.endswith("as a value")
            else "make the loop shorter, or two loops of it",
        )


def _check_shift(s: Statement, expr: Binary, ranges: Mapping[str, tuple[int, int]]) -> None:
    amount = expr.rhs
    match amount:
        case Cast(Index(affine=affine) as index, dtype) if _holds(dtype, *affine.interval(ranges)):
            amount = index
    match amount:
        case Const(value=int(value)) if value < 0:
            other = BinaryOp.SHR if expr.op is BinaryOp.SHL else BinaryOp.SHL
            found, instead = f"{value}", f"shift the other way: {other.value} {-value}"
        case Index(affine=affine) if affine.interval(ranges)[0] < 0:
            example = _example(s, f"{affine_text(affine, positional(s.variables))} < 0")
            if example is None:
                return
            found = f"{affine.evaluate(example)}{_where(example, affine)}"
            instead = "guard the statement with an affine if"
        case _:
            return
    raise LanguageError(
        "W163",
        f"the shift amount of {expr.op.value} is {found}",
        span=expr.span or s.stmt.span,
        help=instead,
    )


def _holds(dtype: DType, low: int, high: int) -> bool:
    """Numbers of a range are the same in this type: elsewhere they wrap, and may not be negative."""
    if isinstance(dtype, IndexType):
        return True
    if not isinstance(dtype, IntType) or not dtype.signed:
        return False
    limit = 1 << (dtype.width - 1)
    return -limit <= low and high < limit


def _example(s: Statement, condition: str) -> dict[str, int] | None:
    """The first iteration of the statement where a condition holds."""
    bad = s.domain.intersect(isl.Set(f"{{ {s.space} : {condition} }}"))
    if bad.is_empty():
        return None
    point = bad.lexmin().sample_point()
    return {
        v: point.get_coordinate_val(isl.dim_type.set, k).to_python()
        for k, v in enumerate(s.variables)
    }


def _where(example: Mapping[str, int], expr: Affine) -> str:
    used = expr.variables()
    where = ", ".join(f"{v} = {x}" for v, x in example.items() if v in used)
    return f" for {where}" if where else ""
