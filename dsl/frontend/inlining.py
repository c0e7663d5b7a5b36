"""Calls of other kernels: checked against the callee's arguments, then inlined."""

from __future__ import annotations

import ast
from collections.abc import Collection

from dsl.errors.errors import LanguageError, did_you_mean
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Expr, Load, loads
from dsl.expressions.types import ArrayType
from dsl.expressions.values import Value
from dsl.frontend.ahead import put_ahead
from dsl.frontend.arrays.parts import type_of
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context
from dsl.frontend.operands import value
from dsl.frontend.results import is_array
from dsl.kernels.kernel import Kernel
from dsl.programs.inline import Names, Slice, View, inlined, inlined_locals
from dsl.programs.program import (
    Array,
    Node,
    Program,
    Stmt,
    Storage,
    statements_in,
    variables_in,
)
from dsl.programs.substituted import substituted

MAX_CALL_DEPTH = 32


def call_kernel(ctx: Context, node: ast.Call) -> tuple[Node, ...] | None:
    """The statements of a kernel call, or None where something else is called.

    Raises:
        LanguageError: W150 to W154, or what is wrong in the callee, with a note on the call.
    """
    callee = ctx.evaluate(node.func)
    return kernel_nodes(ctx, callee, node) if isinstance(callee, Kernel) else None


def kernel_nodes(ctx: Context, callee: Kernel, node: ast.Call) -> tuple[Node, ...]:
    """The statements of a call of that kernel; see `call_kernel`."""
    program = program_of(ctx, callee, node)
    return _Call(ctx, program, node, callee).nodes()


def call_value(
    ctx: Context, callee: Kernel, node: ast.Call
) -> Expr | Array | tuple[Expr | Array, ...]:
    """The results of a kernel that is called in an expression; its statements go in front of the statement.

    Raises:
        LanguageError: W150 to W154 as of `call_kernel`; W153 where what it does would not be done when
            Python does it.
    """
    call = _Call(ctx, program_of(ctx, callee, node), node, callee)
    nodes = call.nodes()
    written = {s.target.array for n in nodes for s in statements_in(n)} - {
        a.name for a in ctx.names.locals[call.first :]
    }
    if written and ctx.ahead.whole is not node:
        message = f"'{callee.name}' writes '{min(written)}', and is called inside of an expression"
        instead = "assign its result in a statement of its own: value = ..."
        raise ctx.error("W153", message, node, instead)
    found = call.values()
    result = found[0] if len(found) == 1 else found
    put_ahead(ctx, node, nodes, result)
    return result


def program_of(ctx: Context, callee: Kernel, node: ast.Call) -> Program:
    """The program of a kernel that is called, at the sizes of the caller.

    Raises:
        LanguageError: W152 it is a recursion, W108 calls are nested too deeply, or what is wrong in the callee.
    """
    building = ctx.request.building
    if any(callee.is_same(k) for k in building):
        path = " -> ".join(k.name for k in (*building, callee))
        message = f"the kernel '{callee.name}' calls itself: {path}"
        raise ctx.error("W152", message, node, "hardware has no stack: write a loop")
    if len(building) >= MAX_CALL_DEPTH:
        message = f"kernel calls are nested more than {MAX_CALL_DEPTH} deep"
        raise ctx.error("W108", message, node)
    special = callee.inherit(ctx.request.overrides, ctx.request.module)
    try:
        return special.build_in(building)
    except LanguageError as e:
        e.notes = (*e.notes, f"called at {ctx.span(node)}: {ctx.source.text(node)}")
        raise


class _Call:
    """One call: the names that the callee's arrays, loops and statements get here."""

    def __init__(self, ctx: Context, callee: Program, node: ast.Call, kernel: Kernel) -> None:
        results = kernel.results
        self._defaults = kernel.defaults
        self._free = kernel.free
        self._ctx = ctx
        self._callee = callee
        self._node = node
        self._arrays: dict[str, str] = {}
        self._views: dict[str, View] = {}
        self._scalars: dict[str, Expr] = {}
        self._copies: list[Stmt] = []
        self.first = len(ctx.names.locals)
        arguments = callee.arguments
        self._formal = arguments[: len(arguments) - results]
        self._results = arguments[len(arguments) - results :]
        self._callee_loops = variables_in(callee)

    def nodes(self) -> tuple[Node, ...]:
        """The nodes to put in the place of the call."""
        ctx, callee = self._ctx, self._callee
        for argument, node in self._actuals():
            if argument.shape:
                self._bind_array(argument, node)
            else:
                self._bind_scalar(argument, node)
        for array in self._results:
            base, span = f"{callee.name}_{array.name}", ctx.span(self._node)
            if is_array(array):
                whole = ctx.names.made_array(base, array.dtype, array.shape, span)
                self._arrays[array.name] = whole.name
                continue
            made = ctx.names.made(base, array.dtype, span)
            self._views[array.name] = View(made.name, ())
        for array in callee.tables:
            shape, words = array.shape, array.contents
            table = ctx.names.table(array.name, array.dtype, shape, words, array.span)
            self._arrays[array.name] = table.name
        for array in callee.locals:
            self._arrays[array.name] = ctx.names.unique(f"{callee.name}_{array.name}")
        for array in inlined_locals(callee, self._arrays, ctx.names.depth):
            ctx.names.add_unnamed(array)
        names = Names(self._arrays, self._scalars, self._loop_name, self._stmt_name, self._views)
        nodes = inlined(callee, names, ctx.names.loops())
        return (*self._copies, *(substituted(n, self._free) for n in nodes))

    def values(self) -> tuple[Expr | Array, ...]:
        """The results, which the nodes compute."""
        return tuple(map(self._value, self._results))

    def _value(self, result: Array) -> Expr | Array:
        if is_array(result):
            made = self._ctx.names.array(self._arrays[result.name])
            assert made is not None
            return made
        span = self._ctx.span(self._node)
        return Load(Access(self._views[result.name].array, (), span), result.dtype)

    def _actuals(self) -> list[tuple[Array, ast.expr]]:
        """Each argument of the callee with what is passed for it."""
        ctx, callee, node = self._ctx, self._callee, self._node
        formal = {a.name: a for a in self._formal}
        signature = f"its arguments are {', '.join(f'{a.name}: {a.type}' for a in self._formal)}"
        passed: dict[str, ast.expr] = dict(zip(formal, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg not in formal or keyword.arg in passed:
                name = keyword.arg or "**"
                known = formal.keys() - passed.keys()
                message = f"'{callee.name}' has no argument '{name}'"
                if name in passed:
                    message = f"'{name}' of '{callee.name}' is given twice"
                raise ctx.error("W150", message, keyword, did_you_mean(name, known))
            passed[keyword.arg] = keyword.value
        for name in formal.keys() - passed.keys():
            if name in self._defaults:
                passed[name] = ast.copy_location(ast.Constant(0), node)
                ctx.given[passed[name]] = self._defaults[name]
        count = max(len(node.args) + len(node.keywords), len(passed))
        if count != len(formal):
            wanted = "1 argument" if len(formal) == 1 else f"{len(formal)} arguments"
            message = f"'{callee.name}' takes {wanted}, not {count}"
            raise ctx.error("W150", message, node, signature)
        return [(array, passed[name]) for name, array in formal.items()]

    def _bind_array(self, formal: Array, node: ast.expr) -> None:
        ctx, callee = self._ctx, self._callee
        text = ctx.source.text(node)
        view = view_of(ctx, node)
        actual = ctx.names.array(view.array) if view is not None else ctx.evaluate(node)
        if not isinstance(actual, Array):
            kind = "a value" if not isinstance(actual, (Affine, Expr)) else "one element"
            if isinstance(actual, Load) and not actual.access.indices:
                kind = "a scalar"
            raise ctx.error(
                "W151",
                f"'{formal.name}' of '{callee.name}' is an array {formal.type}, and "
                f"{text} is {kind}",
                node,
                "pass an array by its name, or a part of one, as in A[i, :]",
            )
        passed = actual.type if view is None else type_of(view, actual)
        if passed != formal.type:
            raise ctx.error(
                "W151",
                f"'{formal.name}' of '{callee.name}' is {formal.type}, and {text} is {passed}",
                node,
                self._resize_help(formal, passed),
            )
        if actual.const and any(s.target.array == formal.name for s in callee.statements()):
            raise ctx.error(
                "W154",
                f"'{callee.name}' writes '{formal.name}', and {text} is declared weft.const",
                node,
                "pass an array that may be written",
            )
        self._arrays[formal.name] = actual.name
        if view is not None:
            self._check_data(formal, view, node)
            self._views[formal.name] = view

    def _check_data(self, formal: Array, view: View, node: ast.expr) -> None:
        """What is accessed at a subscript that is data begins with the first element."""
        slices = [d for d in view.dims if isinstance(d, Slice)]
        moved = [d.start != Affine() or d.step != 1 for d in slices]
        for stmt in self._callee.statements():
            for access in (stmt.target, *loads(stmt.value)):
                pairs = zip(access.indices, moved, strict=access.array == formal.name)
                if access.array == formal.name and any(i.is_data and m for i, m in pairs):
                    raise self._ctx.error(
                        "W151",
                        f"'{self._callee.name}' accesses '{formal.name}' at a subscript that is data, and "
                        f"{self._ctx.source.text(node)} does not begin with the first element",
                        node,
                        "pass the whole array, and where the part begins",
                    )

    def _resize_help(self, formal: Array, actual: ArrayType) -> str:
        if formal.dtype != actual.dtype:
            return f"copy it into a local {formal.type} that converts the elements"
        if len(formal.shape) != len(actual.shape):
            return "pass an array of the same rank"
        return (
            f"call '{self._callee.name}' at that size, as in {self._callee.name}.at(N=8)(...), "
            "if its sizes are captured names"
        )

    def _bind_scalar(self, formal: Array, node: ast.expr) -> None:
        """A constant or a scalar argument of the same type is read directly; else it is copied."""
        ctx = self._ctx
        if isinstance(ctx.evaluate(node), Array):
            message = (
                f"'{formal.name}' of '{self._callee.name}' is a scalar {formal.dtype}, and "
                f"{ctx.source.text(node)} is an array"
            )
            raise ctx.error("W151", message, node, "pass one of its elements")
        found: Value = value(ctx, node)
        expr = values.assigned(found, formal.dtype, ctx.span(node))
        direct = isinstance(expr, Load) and expr.access.array in ctx.names.arguments
        if isinstance(expr, Const):
            self._scalars[formal.name] = _constant(expr, formal)
        elif direct and expr.dtype == formal.dtype and not expr.access.indices:  # type: ignore[union-attr]
            self._scalars[formal.name] = expr
        else:
            self._copy(formal, expr, node)

    def _copy(self, formal: Array, expr: Expr, node: ast.expr) -> None:
        ctx, span = self._ctx, self._ctx.span(node)
        name = ctx.names.unique(f"{self._callee.name}_{formal.name}")
        depth = ctx.names.depth
        ctx.names.add_unnamed(Array(name, formal.dtype, (), Storage.LOCAL, False, depth, span))
        target = Access(name, (), span)
        source = f"{name} = {ctx.source.text(node)}"
        self._copies.append(Stmt(ctx.name_statement(None, span), target, expr, span, source))
        self._arrays[formal.name] = name

    def _loop_name(self, var: str, around: Collection[str]) -> str:
        """Its own name unless that is a loop's around or an array's here."""
        ctx = self._ctx
        if var not in around and not ctx.names.is_array(var):
            return var
        taken = self._callee_loops.union(around)
        return ctx.names.unique_loop(f"{self._callee.name}_{var}", taken)

    def _stmt_name(self, stmt: Stmt, position: int) -> str:
        """Numbered anew, or the name that the callee's author gave, made unique."""
        ctx = self._ctx
        given: str | None = None
        if stmt.name != f"S{position}":
            base = f"{self._callee.name}_{stmt.name}"
            given, number = stmt.name, 0
            while given in ctx.statements:
                number += 1
                given = base if number == 1 else f"{base}_{number}"
        return ctx.name_statement(given, stmt.span)


def _constant(expr: Const, formal: Array) -> Expr:
    """A constant argument as the value that the callee's scalar would hold."""
    number = expr.value
    if isinstance(number, (int, float)):
        return typing.cast(formal.dtype, number)
    return typing.cast(formal.dtype, expr)
