"""Calls of functions without a decorator: lambdas, nested functions, and those of the user's modules.

One that returns an expression is put in the place of the call, with the arguments in the place of its parameters::

    def clipped(v, top=20):
        return min(max(v, 0), top)

    y[i] = clipped(x[i])            # min(max(x[i], 0), 20)

Any other is read as a kernel, for the types of the arguments that it is called with; a constant argument is a constant in
it, so that a recursion over constants ends.
"""

from __future__ import annotations

import ast
import copy
import functools
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dsl.errors.errors import LanguageError
from dsl.expressions import typing
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Expr
from dsl.expressions.types import ArrayType, DType, IndexType, IntType
from dsl.expressions.values import plain
from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.arrays.parts import part_of, type_of
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.capture import MISSING, Environment, environment, is_number
from dsl.frontend.context import Context
from dsl.frontend.syntax.functions import Definition, only_expression, stored_in
from dsl.frontend.syntax.source import FunctionSource, file_lines, function_source
from dsl.programs.inline import View
from dsl.programs.program import Array

_FOREIGN = frozenset({*sys.stdlib_module_names, "numpy", "scipy", "torch", "weft", "dsl"})
MAX_CALL_DEPTH = 32
MAX_EXPANSIONS = 10_000
LIBRARY = ("dsl.frontend.arrays.library", "dsl.frontend.arrays.formulas")
"""Functions of NumPy, in the language itself."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is called by its text.

    ``environment`` are the names around one that is not inside of the kernel; ``source`` is where it stands.
    """

    name: str
    node: Definition
    source: FunctionSource
    environment: Environment | None = None
    defaults: Mapping[str, object] = field(default_factory=dict)
    module: Mapping[str, object] = field(default_factory=dict)

    @property
    def expression(self) -> ast.expr | None:
        """What it returns, where it does nothing else, and has no functions of its own that a caller does not know."""
        own = self.environment is not None and bool(self.source.functions)
        return None if own else only_expression(self.node)

    def parameters(self) -> list[str]:
        """In calling order."""
        args = self.node.args
        return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


@dataclass(frozen=True, slots=True)
class Given:
    """An argument of a function that is read as a kernel: a constant, or the type of what is passed.

    ``passed`` is None of a constant, and of an affine expression of the caller's loop variables: the function is read with
    the variable ``free`` for that, of such a ``range``, so that its subscripts and conditions are affine, too.
    """

    name: str
    constant: object = None
    type: ArrayType | DType | None = None
    const: bool = False
    passed: ast.expr | None = field(default=None, compare=False)
    free: str = field(default="", compare=False)
    range: tuple[int, int] = field(default=(0, 0), compare=False)

    def key(self) -> object:
        """What says whether two calls are of the same kernel."""
        held = None if self.free else self.constant
        known = repr(held) if is_number(held) or isinstance(held, str) else id(held)
        return self.name, known, self.type, self.const


def function_of(ctx: Context, found: object) -> Function | None:
    """What is called as such a function: a nested one, or one of a module of the user's."""
    if isinstance(found, Function):
        return found
    if not isinstance(found, types.FunctionType):
        return None
    top = str(found.__module__ or "").split(".")[0]
    if top in _FOREIGN and found.__module__ not in LIBRARY:
        return None
    source = _source(found)
    if source is None:
        return None
    own = found.__globals__ is ctx.request.module
    around = environment(found, {}, ctx.request.overrides if own else {})
    node = source.node if found.__name__ != "<lambda>" else _lambda(found, source)
    if node is None:
        return None
    return Function(found.__name__, node, source, around, _defaults(found), found.__globals__)


def nested(ctx: Context, name: str) -> Function | None:
    """A function that the kernel itself defines."""
    node = ctx.source.functions.get(name)
    if node is None:
        return None
    given = dict(_own_defaults(ctx, node))
    return Function(name, node, ctx.source, None, given, ctx.request.module)


def _own_defaults(ctx: Context, node: Definition) -> Iterator[tuple[str, object]]:
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d]
    for arg, default in pairs:
        yield arg.arg, ctx.evaluate(default)


@functools.cache
def _source(function: types.FunctionType) -> FunctionSource | None:
    """Where a function stands; None where its text cannot be had."""
    lines = file_lines(function)
    if not lines:
        return None
    if function.__name__ == "<lambda>":
        module = ast.Module(ast.parse("".join(lines)).body, [])
        holder = ast.FunctionDef("lambda", _no_arguments(), list(module.body), [])
        return FunctionSource(function.__code__.co_filename, lines, holder)
    try:
        return function_source(function, lines)
    except LanguageError:
        return None


def _no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


def _lambda(function: types.FunctionType, source: FunctionSource) -> ast.Lambda | None:
    """The only lambda on its line."""
    line = function.__code__.co_firstlineno
    found = [n for n in ast.walk(source.node) if isinstance(n, ast.Lambda) and n.lineno == line]
    return found[0] if len(found) == 1 else None


def _defaults(function: types.FunctionType) -> dict[str, object]:
    code, held = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    named = dict(zip(positional[len(positional) - len(held) :], held, strict=True))
    return {name: plain(v) for name, v in {**named, **(function.__kwdefaults__ or {})}.items()}


def bound_arguments(ctx: Context, function: Function, node: ast.Call) -> dict[str, ast.expr]:
    """What is passed for each parameter.

    Raises:
        LanguageError: W150 there are too few or too many, or it takes any number of them.
    """
    args, names = function.node.args, function.parameters()
    keyword_only = len(args.kwonlyargs)
    positional = names[: len(names) - keyword_only]
    known = {k.arg for k in node.keywords}
    passed = dict(zip(positional, node.args, strict=False))
    bad = (
        args.vararg is not None
        or args.kwarg is not None
        or len(node.args) > len(positional)
        or any(isinstance(a, ast.Starred) for a in node.args)
        or not known <= {*names} - passed.keys()
    )
    passed |= {k.arg: k.value for k in node.keywords if k.arg is not None}
    for name in names:
        if name not in passed and name in function.defaults:
            passed[name] = ast.copy_location(ast.Constant(0), node)
            ctx.given[passed[name]] = function.defaults[name]
    if bad or len(passed) != len(names):
        message = f"{ctx.source.text(node)} does not fit '{function.name}({', '.join(names)})'"
        raise ctx.error("W150", message, node, "pass one argument for each parameter")
    return {name: passed[name] for name in names}


# ------------------------------------------------------------------------------------ expressions


def expanded(ctx: Context, function: Function, node: ast.Call) -> ast.expr | None:
    """The expression that a function returns, of the arguments; None where it is more than an expression."""
    body = function.expression
    if body is None:
        return None
    if ctx.expanding.count(function.node) >= MAX_CALL_DEPTH:
        message = f"'{function.name}' calls itself more than {MAX_CALL_DEPTH} deep"
        instead = "hardware has no stack: write a loop, or let a constant end it"
        raise ctx.error("W152", message, node, instead)
    ctx.expansions += 1
    if ctx.expansions > MAX_EXPANSIONS:
        message = f"more than {MAX_EXPANSIONS:,} calls of functions are put in place"
        raise ctx.error("W108", message, node, "write a loop, or @weft.kernel over the function")
    passed = bound_arguments(ctx, function, node)
    made = _Substituted(ctx, function, node, passed)
    return made.visit(copy.deepcopy(body))


class _Substituted(ast.NodeTransformer):
    """Puts arguments in the place of parameters, and what else is known in the place of names."""

    def __init__(
        self, ctx: Context, function: Function, node: ast.Call, passed: Mapping[str, ast.expr]
    ) -> None:
        self._ctx = ctx
        self._function = function
        self._node = node
        self._values: dict[str, object] = {}
        self._arrays: dict[str, ast.expr] = {}
        for name, arg in passed.items():
            if _is_array(ctx, arg):
                self._arrays[name] = arg
            else:
                self._values[name] = ctx.evaluate(arg)
        body = function.expression
        assert body is not None
        taken = {*ctx.bound, *ctx.names.visible()}
        self._own: dict[str, str] = {}
        for name in sorted(stored_in(body)):
            number = 1
            while f"{name}_{number}" in taken or ctx.names.is_array(f"{name}_{number}"):
                number += 1
            self._own[name] = f"{name}_{number}"

    def visit(self, node: ast.AST) -> ast.expr:
        if isinstance(node, ast.expr):
            ast.copy_location(node, self._node)
        return super().visit(node)  # type: ignore[no-any-return]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in self._own:
            node.id = self._own[name]
        elif name in self._arrays:
            return self._arrays[name]
        elif name in self._values:
            self._ctx.given[node] = self._values[name]
        elif self._function.environment is not None:
            found = self._function.environment.lookup(name)
            if found is MISSING:
                message = f"unknown name '{name}' in '{self._function.name}'"
                raise self._ctx.error("W130", message, self._node)
            node.id = f"{name}'"
            self._ctx.given[node] = found
        return node


def _is_array(ctx: Context, node: ast.expr) -> bool:
    if view_of(ctx, node) is not None:
        return True
    return ArrayExprs(ctx, node).of(node) is not None


# ------------------------------------------------------------------------------------ statements


def arguments_of_call(ctx: Context, function: Function, node: ast.Call) -> tuple[Given, ...]:
    """The arguments of a function that is read as a kernel.

    Raises:
        LanguageError: W150 they do not fit; W151 an expression of arrays.
    """
    assigned = stored_in(function.node)
    passed = bound_arguments(ctx, function, node)
    return tuple(_given(ctx, name, arg, name in assigned) for name, arg in passed.items())


def _given(ctx: Context, name: str, arg: ast.expr, is_assigned: bool) -> Given:
    view = view_of(ctx, arg)
    part = part_of(ctx, ctx.evaluate(arg) if view is None and isinstance(arg, ast.Name) else view)
    if part is not None:
        view, array = part
        whole = ctx.names.array(view.array)
        assert whole is not None
        return Given(name, type=type_of(view, whole), const=array.const, passed=arg)
    if arg not in ctx.ahead.known and _is_array(ctx, arg):
        ctx.ahead.known[arg] = _materialised(ctx, name, arg)
    found = ctx.evaluate(arg)
    if isinstance(found, Array | View):
        part = part_of(ctx, found)
        assert part is not None
        return Given(name, type=part[1].type, const=part[1].const, passed=arg)
    if isinstance(found, Affine) and not found.is_const and not is_assigned:
        free = f"{name}@{len(ctx.request.building)}"  # the name of no variable
        return Given(name, found, free=free, range=found.interval(ctx.names.ranges()))
    if isinstance(found, Affine | Expr) or (is_number(found) and is_assigned):
        return Given(name, type=_scalar_type(ctx, found, arg), passed=arg)
    return Given(name, constant=found)


def _materialised(ctx: Context, name: str, arg: ast.expr) -> object:
    """A new array that holds an expression of arrays, assigned in front of the statement."""
    base, number = f"{name}_of", 1
    while ctx.names.find(f"{base}_{number}") is not None or f"{base}_{number}" in ctx.bound:
        number += 1
    return ArrayExprs(ctx, arg).materialised(arg, f"{base}_{number}")


def array_call(ctx: Context, found: object, node: ast.Call) -> ast.expr | None:
    """What a call of a function is of arrays: its expression, or the array that it returns; None of all others."""
    function = function_of(ctx, found)
    if function is None:
        return None
    made = expanded(ctx, function, node)
    if made is not None:
        return made
    if not any(_is_array(ctx, a) for a in (*node.args, *(k.value for k in node.keywords))):
        return None
    value = ctx.evaluate(node)
    if not isinstance(value, Array | View):
        return None
    name = ast.copy_location(ast.Name(function.name, ast.Load()), node)
    ctx.given[name] = value
    return name


def _scalar_type(ctx: Context, found: object, arg: ast.expr) -> DType:
    if isinstance(found, Affine | bool | int):
        return IntType(32)
    if not isinstance(found, Expr):
        message = f"the type of {ctx.source.text(arg)} is not clear"
        raise ctx.error("W129", message, arg, "convert it: weft.f32(x)")
    dtype = typing.settled(found, ctx.span(arg)).dtype
    return IntType(32) if isinstance(dtype, IndexType) else dtype
