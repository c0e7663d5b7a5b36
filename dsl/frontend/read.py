"""Reading one kernel: its signature, its body, and the `Program` that they make."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from dsl.arrays.tabulated import tabulated
from dsl.expressions.affine import Affine
from dsl.expressions.types import ArrayType, DType, IntType, f32
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.capture import dtype_of
from dsl.frontend.context import Context, Request
from dsl.frontend.declare import arguments, check_defaults, check_name, check_signature, results
from dsl.frontend.evaluate import evaluate
from dsl.frontend.fixed_point import names_fixed
from dsl.frontend.functions import Given, array_call
from dsl.frontend.guarded_reads import guarded
from dsl.frontend.helper_kernel import HelperKernel
from dsl.frontend.inferred import Inferred
from dsl.frontend.operands import float_of_arguments
from dsl.frontend.own_scalars import with_own_scalars
from dsl.frontend.results import assigned_results, read_with_results, result_names
from dsl.frontend.scope import Names
from dsl.frontend.statements import statement, whole_body
from dsl.frontend.syntax.apart import assigned_apart
from dsl.frontend.syntax.source import FunctionSource, assigned_once, assigned_plainly, surveyed
from dsl.programs.lean import lean
from dsl.programs.program import Array, Program, Storage
from dsl.programs.scopes import ordered_locals


def read_kernel(request: Request) -> Program:
    """The program of a kernel at the sizes that the request says.

    Raises:
        LanguageError: what is wrong with it (see `dsl.errors.codes`), at its place.
    """
    check_signature(request.source)
    inferred = Inferred()
    return lean(tabulated(inferred.settled(lambda: _read(request, inferred))))


def _read(request: Request, inferred: Inferred) -> Program:
    source = request.source
    outside = Context(request, Names((), ()), frozenset(), evaluate)
    returned = result_names(source.node, source.bound)
    made = tuple(results(outside, returned))
    declared = (*arguments(outside), *made)
    check_defaults(declared, request.defaults)
    source = with_own_scalars(source, declared)
    request = replace(request, source=source)

    def read(body: list[ast.stmt]) -> Program:
        return _program(_context(request, declared, inferred), declared, body)

    program = read_with_results(read, source, made)
    check_name(source, source.node.name, "this kernel", source.node)
    return program


def _context(request: Request, declared: Sequence[Array], inferred: Inferred) -> Context:
    source = request.source
    names = Names(declared, source.bound, source.arrays)
    once = assigned_once(source.node) | assigned_apart(source.node)
    plain = assigned_plainly(source.node) | assigned_apart(source.node, parts=True)
    ctx = Context(request, names, source.bound, evaluate, inferred, once, plain, statement)
    inferred.usual = float_of_arguments(ctx)
    inferred.has_fixed = names_fixed(ctx)
    ctx.helper = partial(HelperKernel, read_helper)
    ctx.expand = array_call
    ctx.guard = guarded
    return ctx


def _program(ctx: Context, declared: Sequence[Array], body: list[ast.stmt]) -> Program:
    nodes = whole_body(ctx, body)
    arrays = (*declared, *ctx.names.tables, *ctx.names.locals)
    return ordered_locals(Program(ctx.source.node.name, arrays, nodes, ctx.source.header()))


# ------------------------------------------------------------------------- without a decorator


Known = tuple[dict[str, object], dict[str, tuple[int, int]]]
"""What names stand for, and the ranges of the variables that are free in that."""


def read_helper(request: Request, given: tuple[Given, ...]) -> tuple[Program, int]:
    """The program of a function without a decorator for these arguments, and the number of its results.

    Raises:
        LanguageError: what is wrong with it; W129 the type of a result is not clear.
    """
    declared = tuple(_declared(g, request.source) for g in given if g.passed is not None)
    source = with_own_scalars(request.source, declared, is_typed=False)
    request = replace(request, source=source)
    constants = {
        g.name: Affine.of(g.free) if g.free else g.constant for g in given if g.passed is None
    }
    ranges = {g.free: g.range for g in given if g.free}
    reading = partial(_helper, request, declared, (constants, ranges))
    returns = [n for n in _own(source.node) if isinstance(n, ast.Return) and n.value is not None]
    if not returns:
        return reading((), source.node.body), 0
    last = source.node.body[-1]
    count = len(returns[0].value.elts) if isinstance(returns[0].value, ast.Tuple) else 1
    names = _result_names(source, count)
    if len(returns) == 1 and returns[0] is last:
        types = _types_on_trial(request, declared, (constants, ranges), names)
        made = tuple(_result(n, *t) for n, t in zip(names, types, strict=True))
        return reading(made, assigned_results(source, made)), count
    inferred = Inferred()
    place = [(name, last.lineno, n) for n, name in enumerate(names)]

    def read() -> Program:
        types = [inferred.types.get(p, IntType(32)) for p in place]
        made = tuple(_result(n, t, (1,)) for n, t in zip(names, types, strict=True))
        for p, name in zip(place, names, strict=True):
            inferred.spans[p] = source.span(last)
            inferred.noted.setdefault(p, [])
            inferred.know(name, p)
        return read_with_results(lambda body: reading(made, body, inferred), source, made)

    return inferred.settled(read), count


def _helper(
    request: Request,
    declared: tuple[Array, ...],
    known: Known,
    made: tuple[Array, ...],
    body: list[ast.stmt],
    inferred: Inferred | None = None,
    seen: Callable[[Context], None] | None = None,
) -> Program:
    constants, ranges = known
    types = inferred or Inferred()

    def read() -> Program:
        ctx = _context(request, (*declared, *made), types)
        ctx.names.free.update(ranges)
        for name, found in constants.items():
            ctx.names.bind(name, found)
        program = _program(ctx, (*declared, *made), body)
        if seen is not None:
            seen(ctx)
        return program

    return read() if inferred is not None else types.settled(read)


def _declared(given: Given, source: FunctionSource) -> Array:
    dtype, shape = _parts(given.type)
    span = source.span(source.node.body[0])
    return Array(given.name, dtype, shape, Storage.ARGUMENT, given.const and bool(shape), 0, span)


def _parts(found: ArrayType | DType | None) -> tuple[DType, tuple[int, ...]]:
    if isinstance(found, ArrayType):
        return found.dtype, found.shape
    dtype = dtype_of(found)
    assert dtype is not None
    return dtype, ()


def _result(name: str, dtype: DType, shape: tuple[int, ...]) -> Array:
    return Array(name, dtype, shape or (1,), Storage.ARGUMENT, False, 0, None)


def _result_names(source: FunctionSource, count: int) -> list[str]:
    names = ["result"] if count == 1 else [f"result_{n}" for n in range(count)]
    while any(name in source.bound for name in names):
        names = [f"{name}_" for name in names]
    return names


def _own(node: ast.FunctionDef) -> list[ast.AST]:
    """The nodes of a function, without those that it defines."""
    return [n for s in node.body for n in ast.walk(s)]


def _types_on_trial(
    request: Request,
    declared: tuple[Array, ...],
    known: Known,
    names: list[str],
) -> list[tuple[DType, tuple[int, ...]]]:
    """The types of what the last statement returns, which is read as assignments to locals."""
    source = request.source
    last = source.node.body[-1]
    assert isinstance(last, ast.Return)
    assert last.value is not None
    values = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    assigned: list[ast.stmt] = [
        ast.copy_location(ast.Assign([ast.copy_location(ast.Name(n, ast.Store()), v)], v), last)
        for n, v in zip(names, values, strict=True)
    ]
    node = ast.copy_location(
        ast.FunctionDef(
            source.node.name, source.node.args, [*source.node.body[:-1], *assigned], []
        ),
        source.node,
    )
    trial = replace(request, source=surveyed(replace(source, node=node)))
    found: list[tuple[DType, tuple[int, ...]]] = []

    def seen(ctx: Context) -> None:
        found[:] = [_type_of(ctx, name) for name in names]

    _helper(trial, declared, known, (), node.body, None, seen)
    return found


def _type_of(ctx: Context, name: str) -> tuple[DType, tuple[int, ...]]:
    held = ctx.names.find(name)
    if isinstance(held, Array):
        return held.dtype, held.shape
    constant = ctx.names.constant(name)
    part = part_of(ctx, constant)
    if part is not None:
        return part[1].dtype, part[1].shape
    if isinstance(constant, float):
        return f32, ()
    wide = constant.bit_length() + 1 if isinstance(constant, int) else 0
    return IntType(max(32, wide)), ()
