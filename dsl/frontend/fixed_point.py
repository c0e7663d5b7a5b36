"""Fixed point that nobody asked for: what an integer and a fraction make, ``i + 0.5``, in a kernel that names no such type.

It is exact as long as it is added and multiplied; a quotient is cut, and so is what a local of its first value's type is
given later. A float is what such a kernel means there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from dsl.errors.errors import LanguageError, Span
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, Expr, Gather, Load
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, fixed, ufixed
from dsl.expressions.values import Value
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.operands import float_of_arguments
from dsl.frontend.syntax.bases import base_of
from dsl.frontend.syntax.source import arguments_of
from dsl.programs.program import Array

_FACTORIES = ("fixed", "ufixed")

Lookup = Callable[[str], object]
"""What a name stands for."""


def is_unasked(ctx: Context, x: Value) -> bool:
    """Whether it is such a value."""
    return isinstance(x, Expr) and isinstance(x.dtype, FixedType) and not names_fixed(ctx)


def type_of_elements(ctx: Context, name: str, dtype: DType, span: Span) -> DType:
    """The type of an array of such values: that of a local that is assigned anew where its elements are.

    Raises:
        LanguageError: W129 see `type_of_unasked`.
    """
    if not isinstance(dtype, FixedType) or names_fixed(ctx):
        return dtype
    stored = (n for n in ast.walk(ctx.source.node) if isinstance(n, ast.Subscript | ast.AugAssign))
    places = (n.target if isinstance(n, ast.AugAssign) else n for n in stored)
    if any(getattr(base_of(n), "id", "") == name and isinstance(n.ctx, ast.Store) for n in places):
        return type_of_unasked(ctx, name, span)
    return dtype


def type_of_unasked(ctx: Context, name: str, span: Span) -> DType:
    """The type of a local that is given such a value first, and others later.

    Raises:
        LanguageError: W129 no argument is a float, whose type it would have.
    """
    usual = _usual(ctx)
    if usual is None:
        raise LanguageError(
            "W129",
            f"the type of '{name}' is not clear: it is an integer and a fraction at first, and assigned anew later",
            span=span,
            help=f"say it: {name}: f32 = ..., or {name}: fixed[32, 16] = ...",
        )
    return usual


def check_is_kept(ctx: Context, goal: Load | Gather, found: Value, span: Span | None) -> None:
    """Refuse such a value for an integer local whose type is that of its first value: in Python it is a fraction then.

    Raises:
        LanguageError: W124 it is refused.
    """
    local = ctx.names.array(goal.access.array)
    if not isinstance(local, Array) or not local.by_value or not isinstance(local.dtype, IntType):
        return
    if is_unasked(ctx, found):
        raise LanguageError(
            "W124",
            f"a fraction does not convert to {local.dtype} by itself, which '{local.name}' is by its first value",
            span=span,
            help=f"declare it, {local.name}: f32 = ..., or cut what is assigned: int(...)",
        )


def quotient_of_unasked(ctx: Context, a: Value, b: Value, span: Span | None) -> Value | None:
    """``a / b`` of integers and fractions: exact by a power of two, else of floats; None of all else.

    Raises:
        LanguageError: W121 no argument is a float, whose type it would have.
    """
    kinds = [_kind(x) for x in (a, b)]
    usual = _usual(ctx)
    if None in kinds or names_fixed(ctx) or (usual is None and "fraction" not in kinds):
        return None
    if is_number(b) and (by := _reciprocal(b)) is not None:
        return values.binary(BinaryOp.MUL, a, by, span)
    if usual is None:
        what = "a quotient of an integer and a fraction is a float in Python, and no type is said that it is computed in"
        raise LanguageError("W121", what, span=span, help="convert an operand: weft.f32(x) / y")
    return values.binary(BinaryOp.DIV, _as(usual, a, span), _as(usual, b, span), span)


def _kind(x: Value) -> str | None:
    """``"integer"`` or ``"fraction"``, literals and choices between these among them; None of floats."""
    if isinstance(x, int | Affine):
        return "integer"
    if isinstance(x, float) or typing.is_open(x) or isinstance(x.dtype, FixedType):
        return "fraction"
    return "integer" if isinstance(x.dtype, IntType | IndexType) else None


def _as(dtype: DType, x: Value, span: Span | None) -> Value:
    if is_number(x) or (isinstance(x, Expr) and typing.is_open(x)):
        return x
    return values.cast(dtype, x, span)


def _reciprocal(number: Value) -> float | None:
    """Of a power of two; None of all else."""
    assert is_number(number)
    mantissa, exponent = abs(number).as_integer_ratio()  # type: ignore[arg-type]
    if 1 not in (mantissa, exponent) or (mantissa * exponent).bit_count() != 1:
        return None
    return 1 / float(number)  # type: ignore[arg-type]


def _usual(ctx: Context) -> DType | None:
    """The float that the arguments are, of a helper those of the kernel that it is read for; None where there is not one."""
    found = float_of_arguments(ctx)
    if found is not None:
        return found
    for node, lookup in _outermost(ctx):
        types = [a.annotation for a in arguments_of(node.args) if a.annotation is not None]
        names = {n.id for t in types for n in ast.walk(t) if isinstance(n, ast.Name)}
        floats = {f for f in map(lookup, sorted(names)) if isinstance(f, FloatType)}
        if len(floats) == 1:
            return floats.pop()
    return None


def names_fixed(ctx: Context) -> bool:
    """Whether the function that is read, or the kernel that it is read for, names a fixed-point type."""
    read = (ctx.source.node, ctx.request.environment.lookup)
    return any(
        _is_fixed(n, lookup) for node, lookup in (read, *_outermost(ctx)) for n in ast.walk(node)
    )


def _outermost(ctx: Context) -> Iterator[tuple[ast.FunctionDef, Lookup]]:
    """The function of the kernel that is being made, and what names stand for in it."""
    for kernel in ctx.request.building[:1]:
        source = getattr(kernel, "source", None)
        space: Mapping[str, object] = getattr(getattr(kernel, "function", None), "__globals__", {})
        if source is not None:
            yield source.node, space.get


def _is_fixed(node: ast.AST, lookup: Lookup) -> bool:
    match node:
        case ast.Name(id=name):
            found = lookup(name)
            return isinstance(found, FixedType) or found is fixed or found is ufixed
        case ast.Attribute(attr=name):
            return name in _FACTORIES
        case ast.Constant(value=str() as text):
            return any(name in text for name in _FACTORIES)
    return False
