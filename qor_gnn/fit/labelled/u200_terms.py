"""C expressions of the fact files as typed expressions, subscripts and conditions of the language.

The text is that of C with casts dropped; what Python writes alike is read by Python's own parser
(never executed). Arithmetic on integers has the width that C gives it: each operation is cut to
the type of the usual arithmetic conversions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dsl.expressions import typing as t
from dsl.expressions.affine import Affine, And, Cond, Constraint, Or, negate
from dsl.expressions.expr import Access, BinaryOp, CompareOp, Const, Expr, Index, Load, UnaryOp
from dsl.expressions.types import DType, FloatType, IntType, boolean, f32, f64

C_TYPES: Mapping[str, DType] = {
    "double": f64,
    "float": f32,
    "char": IntType(8),
    "unsigned char": IntType(8, False),
    "uint8_t": IntType(8, False),
    "short": IntType(16),
    "int": IntType(32),
    "unsigned": IntType(32, False),
    "unsigned int": IntType(32, False),
    "long": IntType(64),
    "unsigned long": IntType(64, False),
}

_BINARY = {
    ast.Add: BinaryOp.ADD,
    ast.Sub: BinaryOp.SUB,
    ast.Mult: BinaryOp.MUL,
    ast.Div: BinaryOp.DIV,
    ast.BitAnd: BinaryOp.AND,
    ast.BitOr: BinaryOp.OR,
    ast.BitXor: BinaryOp.XOR,
    ast.LShift: BinaryOp.SHL,
    ast.RShift: BinaryOp.SHR,
}
_COMPARE = {
    ast.Eq: CompareOp.EQ,
    ast.NotEq: CompareOp.NE,
    ast.Lt: CompareOp.LT,
    ast.LtE: CompareOp.LE,
    ast.Gt: CompareOp.GT,
    ast.GtE: CompareOp.GE,
}
_UNARY_CALLS = {
    "sqrt": UnaryOp.SQRT,
    "exp": UnaryOp.EXP,
    "log": UnaryOp.LOG,
    "tanh": UnaryOp.TANH,
    "fabs": UnaryOp.ABS,
    "abs": UnaryOp.ABS,
}
_NOT = re.compile(r"!(?!=)")


class Inexpressible(Exception):
    """The language has nothing for this; the message says what it is."""


@dataclass(slots=True)
class Names:
    """What names mean in a kernel: arrays and scalars by C name, loop variables in scope.

    ``powers`` collects the bases of ``pow`` with a constant exponent: each wants a scalar of its
    own (see `qor_gnn.fit.labelled.u200_program`), named by ``fresh``.
    """

    types: Mapping[str, DType]
    arrays: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    fresh: str = ""
    powers: list[tuple[str, Expr]] = field(default_factory=list)


def parse(text: str) -> ast.expr:
    """The syntax tree of a C expression.

    Raises:
        Inexpressible: Python has no such syntax.
    """
    source = _NOT.sub(" not ", text.replace("&&", " and ").replace("||", " or ")).strip()
    try:
        return ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError) as e:
        raise Inexpressible(f"the expression '{text}'") from e


# ---------------------------------------------------------------------------------- subscripts


def affine(node: ast.expr, names: Names) -> Affine:
    """An integer expression of loop variables.

    Raises:
        Inexpressible: it is not affine.
    """
    match node:
        case ast.Constant(value=int(value)):
            return Affine((), value)
        case ast.Name(id=name) if name in names.variables:
            return Affine.of(names.variables[name])
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return -affine(x, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=x):
            return affine(x, names)
        case ast.BinOp(left=a, op=ast.Add(), right=b):
            return affine(a, names) + affine(b, names)
        case ast.BinOp(left=a, op=ast.Sub(), right=b):
            return affine(a, names) - affine(b, names)
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            one, other = affine(a, names), affine(b, names)
            if other.is_const:
                return one * other.const
            if one.is_const:
                return other * one.const
    raise Inexpressible(f"'{ast.unparse(node)}' is not affine in the loop variables")


def condition(node: ast.expr, names: Names) -> Cond:
    """A condition on loop variables.

    Raises:
        Inexpressible: it is not affine.
    """
    match node:
        case ast.BoolOp(op=ast.And(), values=parts):
            return And(tuple(condition(p, names) for p in parts))
        case ast.BoolOp(op=ast.Or(), values=parts):
            return Or(tuple(condition(p, names) for p in parts))
        case ast.UnaryOp(op=ast.Not(), operand=x):
            return negate(condition(x, names))
        case ast.Compare(left=a, ops=[op], comparators=[b]):
            more = affine(a, names) - affine(b, names)
            match op:
                case ast.Lt():
                    return Constraint(-more - 1)
                case ast.LtE():
                    return Constraint(-more)
                case ast.Gt():
                    return Constraint(more - 1)
                case ast.GtE():
                    return Constraint(more)
                case ast.Eq():
                    return Constraint(more, "==")
                case ast.NotEq():
                    return negate(Constraint(more, "=="))
    raise Inexpressible(f"the condition '{ast.unparse(node)}'")


def root(node: ast.expr) -> str:
    """The name of the array that an element is of; empty where there is none."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def access(node: ast.expr, names: Names) -> Access:
    """An element ``A[i][j]`` or a scalar.

    Raises:
        Inexpressible: a subscript is not affine, or the name is none of the kernel's.
    """
    name = root(node)
    if name not in names.arrays:
        raise Inexpressible(f"'{ast.unparse(node)}' is no array or scalar of the kernel")
    indices: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        indices.insert(0, node.slice)
        node = node.value
    return Access(names.arrays[name], tuple(affine(i, names) for i in indices))


# -------------------------------------------------------------------------------------- values


def value(node: ast.expr, names: Names) -> Expr:
    """A typed expression.

    Raises:
        Inexpressible: an operator, a function or a subscript that the language does not have.
    """
    match node:
        case ast.Constant(value=float(number)):
            return Const(number, f64)
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Const(number, IntType(32))
        case ast.Name(id=name) if name in names.variables:
            return Index(Affine.of(names.variables[name]))
        case ast.Name() | ast.Subscript():
            return Load(access(node, names), names.types[root(node)])
        case ast.UnaryOp(op=ast.UAdd(), operand=x):
            return value(x, names)
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return _cut(t.unary(UnaryOp.NEG, value(x, names)))
        case ast.UnaryOp(op=ast.Not(), operand=x):
            return t.unary(UnaryOp.NOT, _truth(x, names))
        case ast.BinOp(left=a, op=op, right=b) if type(op) in _BINARY:
            return _binary(_BINARY[type(op)], value(a, names), value(b, names), node)
        case ast.BoolOp(op=both, values=parts):
            word = "and" if isinstance(both, ast.And) else "or"
            return _joined("&" if word == "and" else "|", [_truth(p, names) for p in parts])
        case ast.Compare(left=a, ops=[order], comparators=[b]) if type(order) in _COMPARE:
            return t.compare(_COMPARE[type(order)], value(a, names), value(b, names))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, arguments, names)
    raise Inexpressible(f"the expression '{ast.unparse(node)}'")


def _truth(node: ast.expr, names: Names) -> Expr:
    found = value(node, names)
    if found.dtype == boolean:
        return found
    return t.compare(CompareOp.NE, found, 0)


def _joined(op: str, parts: list[Expr]) -> Expr:
    result = parts[0]
    for part in parts[1:]:
        result = t.binary(BinaryOp(op), result, part)
    return result


def _binary(op: BinaryOp, a: Expr, b: Expr, node: ast.expr) -> Expr:
    if op is BinaryOp.DIV and not isinstance(c_type(a.dtype, b.dtype), FloatType):
        raise Inexpressible(f"the integer division '{ast.unparse(node)}'")
    result = t.binary(op, a, b)
    return (
        result if isinstance(result.dtype, FloatType) else t.cast(c_type(a.dtype, b.dtype), result)
    )


def c_type(a: DType, b: DType) -> DType:
    """The type of ``a op b`` in C: the usual arithmetic conversions."""
    floats = [x for x in (a, b) if isinstance(x, FloatType)]
    if floats:
        return max(floats, key=lambda x: x.width)
    first, second = _promoted(a), _promoted(b)
    if first.width != second.width:
        return first if first.width > second.width else second
    return IntType(first.width, first.signed and second.signed)


def _promoted(dtype: DType) -> IntType:
    if isinstance(dtype, IntType) and dtype.width >= 32:
        return dtype
    return IntType(32)


def _cut(expr: Expr) -> Expr:
    """The result of an operation on one integer, in its C type."""
    if isinstance(expr.dtype, FloatType):
        return expr
    width = 64 if isinstance(expr.dtype, IntType) and expr.dtype.width > 33 else 32
    return t.cast(IntType(width), expr)


def _call(name: str, arguments: list[ast.expr], names: Names) -> Expr:
    if name == "select" and len(arguments) == 3:
        c, a, b = arguments
        chosen = t.select(_truth(c, names), value(a, names), value(b, names))
        assert not isinstance(chosen, int | float)
        return chosen
    if name in _UNARY_CALLS and len(arguments) == 1:
        return t.unary(_UNARY_CALLS[name], value(arguments[0], names))
    if name == "pow" and len(arguments) == 2:
        return _power(arguments[0], arguments[1], names)
    raise Inexpressible(f"the function '{name}'")


def _power(base: ast.expr, exponent: ast.expr, names: Names) -> Expr:
    """``pow(x, n)`` with a whole ``n`` as a product of a scalar that holds ``x``."""
    number = exponent.value if isinstance(exponent, ast.Constant) else None
    if not isinstance(number, int | float) or number not in (2, 3, 4):
        raise Inexpressible(f"pow with the exponent '{ast.unparse(exponent)}'")
    scalar = f"{names.fresh}_base{len(names.powers) or ''}"
    first = value(base, names)
    names.powers.append((scalar, first))
    load = Load(Access(scalar, ()), first.dtype)
    result: Expr = load
    for _ in range(int(number) - 1):
        result = t.binary(BinaryOp.MUL, result, load)
    return result
