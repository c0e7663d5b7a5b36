"""Calls in expressions: casts, the functions of the language, and a few of Python on constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence, Sized
from fractions import Fraction

from dsl.errors.errors import LanguageError, did_you_mean
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, Const, Expr, UnaryOp
from dsl.expressions.intrinsics import INTRINSICS, Intrinsic, intrinsic_of
from dsl.expressions.numeric import convert
from dsl.expressions.types import ArrayType, DType, FixedType, IndexType, IntType, boolean
from dsl.expressions.values import Value
from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.arrays.numpy_calls import converted, named_operator
from dsl.frontend.arrays.numpy_library import library_call
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.arrays.totals import total
from dsl.frontend.capture import describe, dtype_of, is_number, numpy_type
from dsl.frontend.context import Context
from dsl.frontend.fixed_point import is_unasked
from dsl.frontend.function_calls import call_function
from dsl.frontend.functions import function_of
from dsl.frontend.inlining import call_value
from dsl.frontend.logic import truth
from dsl.frontend.number_calls import number_call
from dsl.frontend.operands import as_value, float_of_arguments, value
from dsl.frontend.reductions import is_reduction, reduction
from dsl.frontend.syntax.unsupported import CALLS
from dsl.kernels.kernel import Kernel
from dsl.programs.program import Array

_UNARY = {
    "abs": UnaryOp.ABS,
    "sqrt": UnaryOp.SQRT,
    "exp": UnaryOp.EXP,
    "log": UnaryOp.LOG,
    "tanh": UnaryOp.TANH,
    "sin": UnaryOp.SIN,
    "cos": UnaryOp.COS,
}
_CONVERT: dict[str, Callable[..., Value]] = {"int": int, "float": float, "bool": bool}
_EXTREMA = {"min": BinaryOp.MIN, "max": BinaryOp.MAX}


def call(ctx: Context, node: ast.Call) -> object:
    """The value of a call."""
    number = number_call(ctx, node)
    if number is None:
        number = _retyped(ctx, node)
    if number is not None:
        return number
    of_arrays = total(ctx, node) or library_call(ArrayExprs(ctx, node), node)
    if of_arrays is not None:
        found = ctx.ahead.known[node] = ctx.evaluate(of_arrays)
        return found
    function = _callee(ctx, node.func)
    dtype = dtype_of(function) or numpy_type(function)
    if dtype is not None:
        return _cast(ctx, dtype, node)
    helper = function_of(ctx, function)
    if helper is not None:
        return call_function(ctx, helper, node)
    if isinstance(function, Kernel):
        if function.results:
            return call_value(ctx, function, node)
        raise ctx.error(
            "W153",
            f"the kernel '{function.name}' has no result, and is called inside of an expression",
            node,
            "give it one, as in def f(x: f32) -> f32:, or call it in a statement of its own, and read the array "
            "that it writes",
        )
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Kernel) and getattr(function, "__name__", "") == "at":
        return _specialised(ctx, owner, node)
    intrinsic = intrinsic_of(function)
    if intrinsic is not None:
        return _of_language(ctx, function, intrinsic, node)
    if function in (sum, any, all):
        return reduction(ctx, getattr(function, "__name__", ""), node)
    if function is divmod:
        return _divmod(ctx, node)
    operator = named_operator(ctx, function, node)
    if operator is None:
        operator = converted(ctx, function, node)
    if operator is not None:
        return operator
    if function in (len, int, float, bool, ord):
        return _constant_call(ctx, function, node)
    if function is Fraction:
        return _fraction(ctx, node)
    raise _unknown_call(ctx, function, node)


def _callee(ctx: Context, node: ast.expr) -> object:
    """What is called; a misspelt function is compared with those of the language."""
    try:
        found = ctx.evaluate(node)
        return bool if numpy_type(found) == boolean else found  # np.bool_(2) is True, u1(2) is 0
    except LanguageError as e:
        if e.code == "W130" and isinstance(node, ast.Name) and e.help is None:
            e.help = did_you_mean(node.id, INTRINSICS)
        raise


def _of_language(ctx: Context, function: object, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """A call of a function of the language, under its own name or that of Python or NumPy."""
    is_pairwise = numpy_name(function) in ("minimum", "maximum")
    if is_pairwise and len(node.args) != 2:  # a third is where NumPy writes the result
        instead = "write np.minimum(a, b), or np.min(x) of an array"
        message = f"{ctx.source.text(node.func)}() takes 2 arguments, not {len(node.args)}"
        raise ctx.error("W150", message, node, instead)
    if intrinsic.name in _EXTREMA:
        node = _of_listed(node)
    if intrinsic.name in _EXTREMA and is_reduction(ctx, node):
        return reduction(ctx, intrinsic.name, node)
    return apply(intrinsic, arguments(ctx, intrinsic, node), ctx, node)


def _of_listed(node: ast.Call) -> ast.Call:
    """``max([a, b])`` as ``max(a, b)``."""
    match node:
        case ast.Call(args=[ast.List(elts=values) | ast.Tuple(elts=values)], keywords=[]):
            if len(values) > 1 and not any(isinstance(v, ast.Starred) for v in values):
                return ast.copy_location(ast.Call(node.func, values, []), node)
    return node


def arguments(ctx: Context, intrinsic: Intrinsic, node: ast.Call) -> tuple[Value, ...]:
    """The evaluated arguments of a function of the language, their number checked."""
    name = intrinsic.name
    if name in ("grid", "stmt"):
        code, place = (
            ("W109", "the header of a 'for' loop") if name == "grid" else ("W110", "'with'")
        )
        message = f"weft.{name} stands in {place} only"
        raise ctx.error(code, message, node, f"write {intrinsic.signature}")
    no_keywords(ctx, node, f"{name}()")
    count = len(node.args)
    if name in _EXTREMA:
        if count < 2:
            message = f"{name}() takes two or more values, not {count}"
            raise ctx.error("W150", message, node, f"write {name}(a, b), or {name}(x) of an array")
    elif count != (3 if name == "select" else 1):
        expected = "3 arguments" if name == "select" else "1 argument"
        message = f"{name}() takes {expected}, not {count}"
        raise ctx.error("W150", message, node, f"write {intrinsic.signature}")
    return tuple(value(ctx, a) for a in node.args)


def apply(intrinsic: Intrinsic, args: Sequence[Value], ctx: Context, node: ast.Call) -> Value:
    """A function of the language on its arguments."""
    span = ctx.span(node)
    if intrinsic.name in _EXTREMA:
        return values.extremum(_EXTREMA[intrinsic.name], tuple(args), span)
    if intrinsic.name == "select":
        cond, then, orelse = args
        return values.select(truth(ctx, cond, node), then, orelse, span)
    (of,) = args
    dtype = None if intrinsic.name == "abs" else float_of_arguments(ctx)
    if dtype is not None and (isinstance(of, Affine) or is_unasked(ctx, of) or _is_integer(of)):
        of = values.cast(dtype, of, span)  # as in Python, the root of an integer is a float
    return values.unary(_UNARY[intrinsic.name], of, span)


def _is_integer(of: Value) -> bool:
    return isinstance(of, Expr) and isinstance(of.dtype, IntType | IndexType)


def no_keywords(ctx: Context, node: ast.Call, what: str) -> None:
    """Refuse keyword arguments and ``*``."""
    if node.keywords:
        raise ctx.error("W150", f"{what} takes no keyword arguments", node.keywords[0])


def _cast(ctx: Context, dtype: DType, node: ast.Call) -> Expr:
    no_keywords(ctx, node, f"{dtype}()")
    if len(node.args) != 1:
        message = f"a cast takes 1 value, not {len(node.args)}"
        raise ctx.error("W150", message, node, f"write {dtype}(x)")
    if isinstance(node.args[0], ast.Subscript):
        ctx.converted[node.args[0]] = dtype
    found = ctx.evaluate(node.args[0])
    if isinstance(found, Fraction):
        return _exact_constant(ctx, dtype, found, node)
    return values.cast(dtype, as_value(ctx, node.args[0], found), ctx.span(node))


def _retyped(ctx: Context, node: ast.Call) -> Value | None:
    """``x.astype(T)`` of a number, and ``x.view(T)`` of an integer as one of as many bits; None of all else."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=of, attr="astype" | "view" as name), args=[into], keywords=[]
        ) if view_of(ctx, of) is None:
            pass
        case _:
            return None
    dtype = dtype_of(ctx.evaluate(into)) or numpy_type(ctx.evaluate(into))
    found = ctx.evaluate(of)
    if dtype is None or not isinstance(found, Expr | Affine | int | float):
        return None
    if name == "astype":
        return values.cast(dtype, found, ctx.span(node))
    known = found.dtype if isinstance(found, Expr) else None
    same = isinstance(known, IntType) and isinstance(dtype, IntType) and known.width == dtype.width
    if not same:
        message = f"the bits of {known or 'this'} as {dtype} are not supported in a kernel"
        instead = "pass an argument of these bits, as np_array.view(np.uint32) gives outside, or convert the value with .astype"
        raise ctx.error("W105", message, node, instead)
    return values.cast(dtype, found, ctx.span(node))


def _exact_constant(ctx: Context, dtype: DType, number: Fraction, node: ast.Call) -> Expr:
    """A constant with more digits than a float has."""
    frac = number.denominator.bit_length() - 1
    if not isinstance(dtype, FixedType) or number.denominator != 1 << frac:
        return typing.cast(dtype, float(number), ctx.span(node))
    raw = convert(number.numerator, frac, dtype)
    return Const(Fraction(raw) / Fraction(2) ** dtype.frac, dtype)


def _specialised(ctx: Context, kernel: Kernel, node: ast.Call) -> Kernel:
    """``other.at("mini")`` or ``other.at(N=20)``."""
    sizes = [ctx.evaluate(a) for a in node.args]
    overrides = {k.arg: ctx.evaluate(k.value) for k in node.keywords if k.arg is not None}
    places = [*node.args, *(k.value for k in node.keywords)]
    for found, place in zip([*sizes, *overrides.values()], places, strict=False):
        if isinstance(found, (Affine, Expr, Array)):
            raise ctx.error("W138", "a kernel is specialised to constants only", place)
    if len(sizes) > 1 or not all(isinstance(s, str) for s in sizes):
        raise ctx.error("W138", "at() takes the name of a size, then names with values", node)
    try:
        return kernel.at(*sizes, **overrides)  # type: ignore[arg-type]
    except LanguageError as e:
        e.span = ctx.span(node)
        raise


def _constant_call(ctx: Context, function: object, node: ast.Call) -> Value:
    """``len(A)``, and Python's ``int``, ``float``, ``bool`` and ``ord`` on constants."""
    name = getattr(function, "__name__", "")
    if len(node.args) != 1 or node.keywords:
        raise ctx.error("W150", f"{name}() takes 1 argument", node)
    view = view_of(ctx, node.args[0])
    found = ctx.evaluate(node.args[0]) if view is None else view
    if function is len:
        if (part := part_of(ctx, found)) is not None:
            return part[1].shape[0]
        if isinstance(found, Sized):
            return len(found)
    elif function is ord:
        if isinstance(found, str) and len(found) == 1:
            return ord(found)
    elif is_number(found):
        try:
            return _CONVERT[name](found)
        except (OverflowError, ValueError) as e:
            message = f"the constant {ctx.source.text(node)} has no value: {e}"
            raise ctx.error("W114", message, node) from None
    raise _unknown_call(ctx, function, node)


def _divmod(ctx: Context, node: ast.Call) -> tuple[Value, Value]:
    """``q, r = divmod(a, b)``: ``a // b`` and ``a % b``."""
    if len(node.args) != 2 or node.keywords:
        raise ctx.error("W150", "divmod() takes 2 arguments", node)
    a, b = (value(ctx, n) for n in node.args)
    if isinstance(a, int | float) and isinstance(b, int | float) and b != 0:
        return divmod(a, b)
    span = ctx.span(node)
    return values.binary(BinaryOp.FLOORDIV, a, b, span), values.binary(BinaryOp.MOD, a, b, span)


def _fraction(ctx: Context, node: ast.Call) -> Fraction:
    """``Fraction(a, b)``: a constant with more digits than a float has."""
    match [ctx.evaluate(a) for a in node.args]:
        case [int(numerator), int(denominator)] if denominator and not node.keywords:
            return Fraction(numerator, denominator)
    message = f"the constant {ctx.source.text(node)} has no value"
    raise ctx.error("W114", message, node, "write Fraction(numerator, denominator)")


def _unknown_call(ctx: Context, function: object, node: ast.Call) -> LanguageError:
    name = getattr(function, "__name__", "")
    if isinstance(function, (Affine, Expr)):
        name = ctx.source.text(node.func)
        what = "a loop variable" if isinstance(function, Affine) else "a value"
        message = f"{name} is {what}, and is called"
        return ctx.error("W111", message, node, f"write weft.{name}(x) for the type")
    if isinstance(function, ArrayType):
        instead = f"an array is declared, not called: tmp: {function}"
    else:
        instead = CALLS.get(name) or (
            f"the functions of a kernel are {', '.join(sorted(INTRINSICS.keys() - {'grid', 'stmt'}))}, "
            "casts such as f32(x), and other kernels"
        )
    text = ctx.source.text(node.func)
    what = describe(function)
    message = f"{text}(...) is not supported in a kernel"
    if what not in (text, f"the Python function {text}", f"the function {text}"):
        message += f": {text} is {what}"
    return ctx.error("W111", message, node, instead)
