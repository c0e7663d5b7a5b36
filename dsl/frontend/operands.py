"""Operands: expressions that must stand for a value, and what is said where they do not."""

from __future__ import annotations

import ast
from fractions import Fraction

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Expr
from dsl.expressions.types import DType, FloatType
from dsl.expressions.values import MAX_BITS, Value
from dsl.frontend.capture import describe, is_dtype
from dsl.frontend.context import Context
from dsl.frontend.table_rows import TableRow
from dsl.programs.inline import View
from dsl.programs.program import Array


def value(ctx: Context, node: ast.expr) -> Value:
    """An expression that must be a number, an affine expression or data."""
    return as_value(ctx, node, ctx.evaluate(node))


def as_value(ctx: Context, node: ast.expr, found: object) -> Value:
    """What the expression at ``node`` evaluated to, as a number, an affine expression or data."""
    match found:
        case bool() | int() | float() | Affine():
            return found
        case Fraction():
            return float(found)
        case Array():
            raise ctx.error(
                "W142",
                f"'{found.name}' is an array of type {found.type}, not one element",
                node,
                f"write one of its elements: {example_access(found)}",
            )
    if isinstance(found, Expr):
        return found
    if isinstance(found, View):
        text = ctx.source.text(node)
        message = f"{text} is a part of '{found.array}', not one element"
        raise ctx.error("W142", message, node, f"write one of its elements: {text}[i]")
    if isinstance(found, TableRow):
        text = ctx.source.text(node)
        instead = f"read its entries, {text}[k], or give it a name that is assigned once"
        raise ctx.error("W113", f"{text} is a row of a table, not one value", node, instead)
    what = describe(found)
    instead = "captured names are numbers, tables of numbers that are indexed, types and kernels"
    if is_dtype(found):
        instead = f"call the type to convert a value: {found}(x)"
    elif isinstance(found, (tuple, list)) or hasattr(found, "__array__"):
        instead = "index it with constants, or pass it as an argument: weft.const[f32[8]]"
    raise ctx.error("W113", f"{ctx.source.text(node)} is {what}, not a value", node, instead)


def example_access(array: Array) -> str:
    """How an element of the array is written."""
    return f"{array.name}[{', '.join('ijklmnopq'[: len(array.shape)])}]"


def bounded(ctx: Context, found: object, node: ast.expr) -> object:
    """A constant or a captured object; a number of more bits than any type has is refused (W108)."""
    if isinstance(found, int) and found.bit_length() > MAX_BITS:
        raise ctx.error("W108", f"this number has more than {MAX_BITS} bits", node)
    return found


def float_of_arguments(ctx: Context) -> DType | None:
    """The float type of the kernel's arguments, if they have one."""
    arguments = (ctx.names.array(name) for name in ctx.names.arguments)
    kinds = {a.dtype for a in arguments if a is not None and isinstance(a.dtype, FloatType)}
    return kinds.pop() if len(kinds) == 1 else None


class OfMean(ast.Div):
    """The division of a sum by the number of its terms, which a mean is."""


def no_mean(ctx: Context, node: ast.expr | ast.stmt) -> Exception:
    """The refusal of a mean of integers, which is a float in NumPy (W121)."""
    what = "a mean of integers is a float, and no type is said that it is computed in"
    instead = (
        "convert them first: x.astype(np.float32), or write a quotient of integers: x.sum() // n"
    )
    return ctx.error("W121", what, node, instead)
