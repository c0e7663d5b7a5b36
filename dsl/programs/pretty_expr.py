"""Expressions, affine expressions and conditions as text of the language.

The text reads back to an equal expression: a cast that the language inserts by itself and the type
of a literal are left out exactly where reading puts them back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product

from dsl.errors.errors import LanguageError
from dsl.expressions import values
from dsl.expressions.affine import Affine, And, Cond, Constraint, FloorDiv, Or
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
    walk,
)
from dsl.expressions.numeric import round_float
from dsl.expressions.types import ArrayType, DType, FloatType, boolean
from dsl.expressions.values import Value

# How tightly an operator binds, as in Python.
TERNARY, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = range(
    13
)
_LEVEL = {
    BinaryOp.ADD: SUM,
    BinaryOp.SUB: SUM,
    BinaryOp.MUL: PRODUCT,
    BinaryOp.DIV: PRODUCT,
    BinaryOp.FLOORDIV: PRODUCT,
    BinaryOp.MOD: PRODUCT,
    BinaryOp.AND: BIT_AND,
    BinaryOp.OR: BIT_OR,
    BinaryOp.XOR: BIT_XOR,
    BinaryOp.SHL: SHIFT,
    BinaryOp.SHR: SHIFT,
}
_LOGICAL = {BinaryOp.AND: ("and", AND), BinaryOp.OR: ("or", OR)}

MARK = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands before the name of a type: what that is called depends on the program's other names."""

Maker = Callable[[], Value]
Text = tuple[str, int]
"""Text and how tightly its outermost operator binds."""


def type_text(dtype: DType | ArrayType) -> str:
    """A type, marked."""
    return f"{MARK}{dtype}"


def within(text: Text, level: int) -> str:
    """The text as an operand of something that binds at ``level``."""
    return text[0] if text[1] >= level else f"({text[0]})"


# ------------------------------------------------------------------------------------- affine


def affine_text(affine: Affine, level: int = TERNARY) -> str:
    """``2 * i + j % 4 - 1``."""
    return within(_affine(affine), level)


def _affine(affine: Affine) -> Text:
    return _sum(*_parts(affine))


def _parts(affine: Affine) -> tuple[list[tuple[int, Text]], int]:
    """Coefficients and what they multiply, and the constant."""
    affine, parts = _without_modulos(affine)
    terms = [(c, (a, ATOM) if isinstance(a, str) else _floor_div(a)) for a, c in affine.terms]
    return [*terms, *parts], affine.const


def _sum(parts: list[tuple[int, Text]], const: int) -> Text:
    text: Text | None = None
    if const > 0 and all(c < 0 for c, _ in parts):  # `8 - i`
        text, const = (str(const), ATOM), 0
    # A positive term first: `j - i`, not `-i + j`.
    for c, part in sorted(parts, key=lambda p: p[0] < 0):
        body = part if abs(c) == 1 else (f"{abs(c)} * {within(part, SIGN)}", PRODUCT)
        if text is None:
            text = body if c > 0 else (f"-{within(body, SIGN)}", SIGN)
        else:
            text = (f"{text[0]} {'+' if c > 0 else '-'} {within(body, PRODUCT)}", SUM)
    if text is None:
        return str(const), ATOM if const >= 0 else SIGN
    if const:
        text = (f"{text[0]} {'+' if const > 0 else '-'} {abs(const)}", SUM)
    return text


def _floor_div(atom: FloorDiv) -> Text:
    return f"{affine_text(atom.numerator, PRODUCT)} // {atom.denominator}", PRODUCT


def _without_modulos(affine: Affine) -> tuple[Affine, list[tuple[int, Text]]]:
    """``k * n - k * d * (n // d)`` is ``k * (n % d)``: those parts taken out."""
    found: list[tuple[int, Text]] = []
    for atom, c in affine.terms:
        if not isinstance(atom, FloorDiv) or c % atom.denominator:
            continue
        factor = -c // atom.denominator
        rest = affine - (atom.numerator % atom.denominator) * factor
        if len(rest.terms) == len(affine.terms) - 1 - len(atom.numerator.terms):
            affine = rest
            numerator = affine_text(atom.numerator, PRODUCT)
            found.append((factor, (f"{numerator} % {atom.denominator}", PRODUCT)))
    return affine, found


def access_text(access: Access) -> str:
    """``A[i, j + 1]``, or a scalar's name."""
    if not access.indices:
        return access.array
    return f"{access.array}[{', '.join(affine_text(i) for i in access.indices)}]"


def gather_text(access: Access, data: Sequence[Expr]) -> str:
    """``t[k, x[i]]``."""
    values_ = iter(data)
    parts = (expr_text(next(values_)) if i.is_data else affine_text(i) for i in access.indices)
    return f"{access.array}[{', '.join(parts)}]"


# --------------------------------------------------------------------------------- conditions


def cond_text(cond: Cond, level: int = TERNARY) -> str:
    """``i >= 1 and i + j < 8``."""
    match cond:
        case Constraint():
            return within((_constraint(cond), COMPARE), level)
        case And(parts):
            joined = " and ".join(cond_text(p, NOT) for p in parts) if parts else "True"
            return within((joined, AND if len(parts) > 1 else NOT), level)
        case Or(parts):
            if len(parts) == 2 and (different := _different(parts)):
                return within((different, COMPARE), level)
            joined = " or ".join(cond_text(p, AND + 1) for p in parts) if parts else "False"
            return within((joined, OR if len(parts) > 1 else NOT), level)


def _constraint(constraint: Constraint) -> str:
    """The terms with a minus sign go to the other side."""
    parts, const = _parts(constraint.expr)
    left = [p for p in parts if p[0] > 0]
    right = [(-c, text) for c, text in parts if c < 0]
    if constraint.kind == "==":
        return _sides(left, "==", right, const)
    if left and right and const == -1:  # a - b - 1 >= 0
        return _sides(left, ">", right, 0)
    return _sides(left, ">=", right, const)


def _sides(left: list[tuple[int, Text]], op: str, right: list[tuple[int, Text]], const: int) -> str:
    """``left + const op right``, a lone constant on the right hand side."""
    if left:
        return f"{_sum(left, 0)[0]} {op} {_sum(right, -const)[0]}"
    if op == "==":  # not turned: -i + 1 == 0 and i - 1 == 0 are different conditions
        return f"{const} == {_sum(right, 0)[0]}"
    return f"{_sum(right, 0)[0]} <= {const}"


def _different(parts: tuple[Cond, ...]) -> str | None:
    """``a - b - 1 >= 0 or b - a - 1 >= 0`` is ``a != b``."""
    match parts:
        case (Constraint(above, ">="), Constraint(below, ">=")) if above + 1 == -(below + 1):
            return _constraint(Constraint(above + 1, "==")).replace("==", "!=")
    return None


# -------------------------------------------------------------------------------- expressions


def stored_text(expr: Expr, target: DType) -> str:
    """The right hand side of an assignment to an element of type ``target``."""
    if isinstance(expr, Binary) and expr.op is BinaryOp.SHL:
        for lhs, amount in _shift_spellings(expr):
            shift = partial(values.binary, BinaryOp.SHL, lhs, amount)
            if _same(lambda s=shift: values.assigned(s(), target), expr):  # type: ignore[misc]
                return f"{_operand(lhs, SHIFT)} << {_operand(amount, SUM)}"
    for operand in _spellings(expr):
        if _same(lambda o=operand: values.assigned(o, target), expr):  # type: ignore[misc]
            return _operand(operand, TERNARY)
    return expr_text(expr)


def update_text(load: Load | Gather, expr: Binary) -> str | None:
    """The right hand side of ``target op= …`` where that is read as ``target = expr``."""
    for rhs in _spellings(expr.rhs):
        made = partial(values.binary, expr.op, load, rhs)
        if _same(lambda m=made: values.assigned(m(), load.dtype), expr):  # type: ignore[misc]
            return _operand(rhs, TERNARY)
    return None


def expr_text(expr: Expr, level: int = TERNARY) -> str:
    """An expression; its types are as they would be read."""
    return within(_expr(expr), level)


def _expr(expr: Expr) -> Text:
    match expr:
        case Const():
            return f"{type_text(expr.dtype)}({_number(expr)})", ATOM
        case Load(access):
            return access_text(access), ATOM
        case Gather(access, data):
            return gather_text(access, data), ATOM
        case Scatter(value=value):
            return _expr(value)
        case Index(affine):
            return _affine(affine)
        case Cast(operand, dtype):
            return f"{type_text(dtype)}({expr_text(operand)})", ATOM
        case Unary():
            return _unary(expr)
        case Binary():
            return _binary(expr)
        case Compare(op, lhs, rhs):
            a, b = _pair(expr, (lhs, rhs), lambda a, b: values.compare(op, a, b))
            return f"{_operand(a, BIT_OR)} {op.value} {_operand(b, BIT_OR)}", COMPARE
        case Select(cond, then, orelse):
            a, b = _pair(expr, (then, orelse), lambda a, b: values.select(cond, a, b))
            test = expr_text(cond, OR)
            return f"{_operand(a, OR)} if {test} else {_operand(b, TERNARY)}", TERNARY


def _unary(expr: Unary) -> Text:
    match expr.op:
        case UnaryOp.NEG | UnaryOp.INVERT:
            return f"{expr.op.value}{expr_text(expr.operand, SIGN)}", SIGN
        case UnaryOp.NOT:
            return f"not {expr_text(expr.operand, NOT)}", NOT
        case UnaryOp.ABS:
            return f"abs({expr_text(expr.operand)})", ATOM
        case _:
            return f"weft.{expr.op.value}({expr_text(expr.operand)})", ATOM


def _binary(expr: Binary) -> Text:
    op = expr.op
    if op is BinaryOp.SHL:
        return _shift_left(expr)
    a, b = _pair(expr, (expr.lhs, expr.rhs), lambda a, b: values.binary(op, a, b))
    if op in (BinaryOp.MIN, BinaryOp.MAX):
        return f"{op.value}({_operand(a, TERNARY)}, {_operand(b, TERNARY)})", ATOM
    truths = all(e.dtype == boolean and not isinstance(e, Const) for e in (expr.lhs, expr.rhs))
    word, level = _LOGICAL[op] if truths and op in _LOGICAL else (op.value, _LEVEL[op])
    return f"{_operand(a, level)} {word} {_operand(b, level + 1)}", level


def _shift_left(expr: Binary) -> Text:
    """``u16(x << 8)``: the conversion says how many bits are kept, whatever stands around."""
    for lhs, amount in _shift_spellings(expr):
        shift = partial(values.binary, BinaryOp.SHL, lhs, amount)
        if _same(lambda s=shift: values.cast(expr.dtype, s()), expr):  # type: ignore[misc]
            text = f"{_operand(lhs, SHIFT)} << {_operand(amount, SUM)}"
            return f"{type_text(expr.dtype)}({text})", ATOM
    raise AssertionError(f"no spelling of {expr}")


def _shift_spellings(expr: Binary) -> list[tuple[Value, Value]]:
    """Ways to write the operands of a shift, shortest first.

    Its own conversion of what is shifted is left out, but not where the amount is one of loop
    variables: how large those get, which the reader of the text knows, is not known here.
    """
    shortest: list[Value] = []
    known = not any(isinstance(e, Index) for e in walk(expr.rhs))
    if isinstance(expr.lhs, Cast) and known:
        shortest = _spellings(expr.lhs.operand)
    return list(product([*shortest, *_spellings(expr.lhs)], _spellings(expr.rhs)))


def _pair(
    expr: Expr, operands: tuple[Expr, Expr], make: Callable[[Value, Value], Value]
) -> tuple[Value, Value]:
    """The shortest spelling of two operands that is read as ``expr`` again."""
    for a, b in product(*map(_spellings, operands)):
        if _same(lambda a=a, b=b: make(a, b), expr):  # type: ignore[misc]
            return a, b
    return operands


def _spellings(expr: Expr) -> list[Value]:
    """Ways to write an operand, shortest first: a literal, a value without its cast, in full."""
    match expr:
        case Const(dtype=dtype):
            number = _literal(expr)
            return [expr] if number is None else [number, expr]
        case Cast(operand, dtype) if isinstance(dtype, FloatType):
            return [*_spellings(operand), expr]
        case Index(affine):
            return [affine]
        case _:
            return [expr]


def _same(make: Maker, expr: Expr) -> bool:
    try:
        made = values.operand(make())
    except LanguageError:
        return False  # this spelling is not of the language
    return type(made) is type(expr) and made == expr


def _operand(value: Value, level: int) -> str:
    match value:
        case Affine():
            return affine_text(value, level)
        case bool() | int() | float():
            text = _literal_text(value)
            return within((text, SIGN if text.startswith("-") else ATOM), level)
        case _:
            return expr_text(value, level)


def _literal(const: Const) -> int | float | None:
    """The literal that a constant would be written as, or None where none is exact."""
    value = const.value
    if isinstance(value, Fraction):
        as_float = float(value)
        return as_float if Fraction(as_float) == value else None
    if isinstance(const.dtype, FloatType) and isinstance(value, float) and math.isfinite(value):
        for digits in range(1, 17):
            short = float(f"{value:.{digits}g}")
            if round_float(short, const.dtype) == value:
                return short
    return value


def _number(const: Const) -> str:
    literal = _literal(const)
    if literal is None:
        assert isinstance(const.value, Fraction)
        return f"Fraction({const.value.numerator}, {const.value.denominator})"
    return _literal_text(literal)


def _literal_text(value: int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "math.nan" if math.isnan(value) else f"{'-' if value < 0 else ''}math.inf"
    return repr(value)
