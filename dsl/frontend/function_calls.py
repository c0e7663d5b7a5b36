"""What a call of a function without a decorator stands for (see `dsl.frontend.functions`)."""

from __future__ import annotations

import ast
from dataclasses import replace

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Expr, Load
from dsl.expressions.types import IntType
from dsl.frontend.capture import Environment, is_number
from dsl.frontend.context import Context
from dsl.frontend.functions import Function, Given, arguments_of_call, expanded
from dsl.frontend.inlining import call_value, kernel_nodes, program_of
from dsl.frontend.syntax.plain_python import made_plain
from dsl.frontend.syntax.source import surveyed
from dsl.kernels.kernel import Kernel
from dsl.programs.program import Node


def call_function(ctx: Context, function: Function, node: ast.Call) -> object:
    """The value of the call.

    Raises:
        LanguageError: W150 to W154 as of a kernel.
    """
    found = expanded(ctx, function, node)
    if found is not None:
        ctx.expanding.append(function.node)
        try:
            value = ctx.evaluate(found)
        finally:
            ctx.expanding.pop()
        ctx.ahead.known[node] = value
        return value
    given = arguments_of_call(ctx, function, node)
    kernel = _kernel(ctx, function, given)
    _build(ctx, function, kernel, node)
    if not kernel.results:
        message = f"'{function.name}' has no result, and is called inside of an expression"
        raise ctx.error("W153", message, node, "end it with 'return' and the value")
    made = _call(node, given)
    if ctx.ahead.whole is node:
        ctx.ahead.whole = made
    value = call_value(ctx, kernel, made)
    _note_types(ctx, function, given, value)
    ctx.ahead.known[node] = value
    return value


def _note_types(ctx: Context, function: Function, given: tuple[Given, ...], value: object) -> None:
    """Note what results contribute to the types of locals that the arguments are computed of.

    Of ``n = clipped(n + x[i])`` that is what the function gives of an ``n + x[i]`` of the types of ``n`` and ``x``, as of
    ``n += x[i]``: the sum is a bit wider than these, so that ``n`` would get wider each time.
    """
    narrowed = tuple(_narrowed(ctx, g) for g in given)
    if [g.type for g in narrowed] == [g.type for g in given]:
        return
    results = _kernel(ctx, function, narrowed).build_in(ctx.request.building).arguments
    found = value if isinstance(value, tuple) else (value,)
    for made, result in zip(found, results[len(results) - len(found) :], strict=True):
        if isinstance(made, Load):
            ctx.inferred.derived[made.access.array] = [result.dtype]


def _narrowed(ctx: Context, given: Given) -> Given:
    is_integer = given.passed is not None and isinstance(given.type, IntType)
    found = ctx.evaluate(given.passed) if is_integer else None  # type: ignore[arg-type]
    dtype = ctx.inferred.contributed(found) if isinstance(found, Expr) else None
    return given if dtype is None else replace(given, type=dtype)


def function_statement(ctx: Context, function: Function, node: ast.Call) -> tuple[Node, ...]:
    """The statements of a call by itself."""
    given = arguments_of_call(ctx, function, node)
    kernel = _kernel(ctx, function, given)
    _build(ctx, function, kernel, node)
    return kernel_nodes(ctx, kernel, _call(node, given))


def _build(ctx: Context, function: Function, kernel: Kernel, node: ast.Call) -> None:
    """Read the function; of a nested one it is said what it cannot know."""
    try:
        program_of(ctx, kernel, node)
    except LanguageError as error:
        for name in sorted(ctx.names.visible()):
            if function.environment is None and error.message == f"unknown name '{name}'":
                error.help = f"'{name}' is a local of the kernel: pass it to '{function.name}' as an argument"
        raise


def _call(node: ast.Call, given: tuple[Given, ...]) -> ast.Call:
    keywords = [ast.keyword(g.name, g.passed) for g in given if g.passed is not None]
    for keyword in keywords:
        ast.copy_location(keyword, node)
    return ast.copy_location(ast.Call(node.func, [], keywords), node)


def _kernel(ctx: Context, function: Function, given: tuple[Given, ...]) -> Kernel:
    """The kernel of a function for these arguments."""
    assert ctx.helper is not None
    assert isinstance(function.node, ast.FunctionDef)
    around, source = function.environment, function.source
    if around is None:  # nested: it knows what the kernel knows, and its numbers
        own = ctx.request.environment
        numbers = {n: v for n, v in ctx.names.constants().items() if _is_constant(v)}
        around = Environment({**own.overrides, **numbers}, own.enclosing, own.module)
        body = function.node

        def refused(message: str, where: ast.stmt, instead: str) -> Exception:
            return ctx.error("W104", message, where, instead)

        if body not in ctx.plain_functions:
            made_plain(body, refused)  # type: ignore[arg-type]
            ctx.plain_functions.append(body)
        source = surveyed(replace(source, node=body))
    return ctx.helper(function, source, around, given)


def _is_constant(found: object) -> bool:
    return is_number(found) and not isinstance(found, Affine | Expr)
