"""Declarations: the kernel's arguments, and its locals with and without a type."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from dsl.errors.errors import LanguageError
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Expr, Load, loads
from dsl.expressions.result_types import common_type
from dsl.expressions.types import (
    ArrayType,
    ConstType,
    DType,
    FixedType,
    IndexType,
    IntType,
    boolean,
)
from dsl.expressions.values import Value
from dsl.frontend.capture import describe, dtype_of, is_number
from dsl.frontend.context import Context
from dsl.frontend.fixed_point import is_unasked, type_of_unasked
from dsl.frontend.inferred import is_of_literals
from dsl.frontend.operands import value
from dsl.frontend.results import result_nodes
from dsl.frontend.syntax.source import FunctionSource, arguments_of
from dsl.programs.names import NAME
from dsl.programs.program import Array, Loop, Node, Stmt, Storage

Placed = ast.expr | ast.stmt | ast.arg

_TYPE_HELP = "types are e.g. f32, i8, u129, fixed[16, 8], f32[N, M] and weft.const[f32[8]]"


def check_name(source: FunctionSource, name: str, what: str, node: Placed) -> None:
    """Refuse a name that no C++ compiler takes (W136)."""
    if not NAME.fullmatch(name):
        raise LanguageError(
            "W136",
            f"{what} is called '{name}', and HLS tools read ASCII names only",
            span=source.span(node),
            help="use letters, digits and underscores",
        )


def check_signature(source: FunctionSource) -> None:
    """Refuse what a kernel's ``def`` line cannot have (W102)."""
    node = source.node
    args = node.args
    problem: tuple[str, ast.expr | ast.arg, str] | None = None
    if args.vararg or args.kwarg:
        star = args.vararg or args.kwarg
        assert star is not None
        problem = ("'*' arguments are", star, "list the arguments one by one")
    if problem is not None:
        what, where, instead = problem
        raise LanguageError(
            "W102",
            f"{what} not supported in a kernel",
            span=source.span(where),
            help=instead,
        )


def check_defaults(declared: Sequence[Array], defaults: Mapping[str, object]) -> None:
    """Refuse default values of arrays, and what is no number (W102)."""
    for array in declared:
        if array.name in defaults and (array.shape or not is_number(defaults[array.name])):
            raise LanguageError(
                "W102",
                f"the argument '{array.name}' has a default value, which a scalar only can have, a number",
                span=array.span,
                help="leave the default value out",
            )


def arguments(ctx: Context) -> Iterator[Array]:
    """The arguments in calling order.

    Raises:
        LanguageError: W103 an argument without a type, W136 a name that it cannot have.
    """
    source = ctx.source
    for arg in arguments_of(source.node.args):
        check_name(source, arg.arg, "this argument", arg)
        if arg.annotation is None:
            instead = f"write {arg.arg}: f32 for a scalar, {arg.arg}: f32[N, M] for an array"
            if arg.arg in ("self", "cls"):
                instead = f"a kernel is no method: leave '{arg.arg}' out, with @staticmethod over @weft.kernel"
            text = f"the argument '{arg.arg}' has no type"
            raise LanguageError("W103", text, span=source.span(arg), help=instead)
        declared = _declared_type(ctx, arg.annotation)
        const = isinstance(declared, ConstType)
        inner = declared.inner if isinstance(declared, ConstType) else declared
        dtype, shape = _parts(inner)
        if isinstance(dtype, IndexType):
            message = f"the argument '{arg.arg}' is an index, which loop variables only are"
            raise ctx.error("W103", message, arg.annotation, "pass a number as i32")
        yield Array(arg.arg, dtype, shape, Storage.ARGUMENT, const, 0, source.span(arg))


def results(ctx: Context, names: Sequence[str]) -> Iterator[Array]:
    """The arrays that the results of a kernel are assigned to, of one element for a scalar (see `dsl.frontend.results`).

    Raises:
        LanguageError: W102 a result that is no scalar, W103 no type.
    """
    for name, node in zip(names, result_nodes(ctx.source.node), strict=True):
        declared = _declared_type(ctx, node)
        if isinstance(declared, ConstType | IndexType):
            what = "weft.const" if isinstance(declared, ConstType) else declared
            message = f"a result is a scalar or an array, not {what}"
            raise ctx.error("W102", message, node, "write its type, as in -> f32 or -> f32[8]")
        dtype, shape = _parts(declared)
        yield Array(name, dtype, shape or (1,), Storage.ARGUMENT, False, 0, ctx.span(node))


def _parts(declared: ArrayType | DType) -> tuple[DType, tuple[int, ...]]:
    if isinstance(declared, ArrayType):
        return declared.dtype, declared.shape
    return declared, ()


def _declared_type(ctx: Context, node: ast.expr) -> ArrayType | ConstType | DType:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = _unquoted(ctx, node, node.value)
    found = ctx.evaluate(node)
    if isinstance(found, (ArrayType, ConstType)):
        return found
    dtype = boolean if found is bool else dtype_of(found)
    if dtype is not None:
        return dtype
    message = f"{ctx.source.text(node)} is {describe(found)}, not a type of the language"
    near = ((float, "write f32 or f64"), (int, "write i32, or any other width"))
    instead = next((text for python, text in near if found is python), _TYPE_HELP)
    raise ctx.error("W103", message, node, instead)


def _unquoted(ctx: Context, node: ast.expr, text: str) -> ast.expr:
    """A type written as a string: ``A: "f32[N]"``; places inside it are those of the string."""
    try:
        inner = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ctx.error("W103", f"{text!r} is not a type", node, _TYPE_HELP) from None
    for part in ast.walk(inner):
        if isinstance(part, ast.expr):
            ast.copy_location(part, node)
    return inner


# ------------------------------------------------------------------------------------ locals


def declared_array(ctx: Context, node: ast.AnnAssign) -> ArrayType | None:
    """The type that a local is annotated with where it is that of an array; None of a scalar."""
    found = _declared_type(ctx, node.annotation)
    return found if isinstance(found, ArrayType) else None


def declare_annotated(ctx: Context, node: ast.AnnAssign, name: str | None) -> tuple[Node, ...]:
    """``acc: f32``, ``acc: f32 = 0.0``, ``tmp: f32[N, M]`` or ``tmp: f32[N, M] = 0.0``."""
    target = node.target
    if not isinstance(target, ast.Name):
        message = "a type is given to a plain name only"
        raise ctx.error("W107", message, target, "assign to the element without a type")
    check_name(ctx.source, target.id, "this local", target)
    declared = _declared_type(ctx, node.annotation)
    if isinstance(declared, ConstType):
        message = "a local is not weft.const"
        raise ctx.error("W103", message, node.annotation, f"write {declared.inner}")
    dtype, shape = _parts(declared)
    if isinstance(dtype, IndexType):
        message = "a local is not an index, which loop variables only are"
        raise ctx.error("W103", message, node.annotation, "write i32")
    found = None if node.value is None else value(ctx, node.value)
    span = ctx.span(target)
    array = ctx.names.declare(Array(target.id, dtype, shape, Storage.LOCAL, False, 0, span))
    ctx.inferred.know(array.name, None)
    if found is None or node.value is None:
        return ()
    expr = values.assigned(found, dtype, ctx.span(node.value))
    loops = tuple(_loop_names(ctx, array))
    access = Access(array.name, tuple(map(Affine.of, loops)), span)
    whole = ctx.span(node)
    nest: Node = Stmt(ctx.name_statement(name, whole), access, expr, whole, ctx.source.text(node))
    for var, extent in reversed(list(zip(loops, shape, strict=True))):
        nest = Loop(var, (Affine(),), (Affine.of(extent),), 1, (nest,), whole)
    return (nest,)


def _loop_names(ctx: Context, array: Array) -> Iterator[str]:
    """Names for the loops that initialise an array: ``tmp_i``, ``tmp_j``, …"""
    around = ctx.names.loops()
    for dim in range(len(array.shape)):
        letter = "ijklmnopq"[dim] if dim < 9 else f"d{dim}"
        yield ctx.names.unique_loop(f"{array.name}_{letter}", around)


def _is_of_numbers(ctx: Context, operand: Expr) -> bool:
    """Whether an integer is computed of nothing but entries of tables of Python's numbers, which have no type."""
    read = [access.array for access in loads(operand)]
    is_integer = isinstance(operand.dtype, IntType) and operand.dtype != boolean
    return is_integer and bool(read) and ctx.names.of_numbers.issuperset(read)


def declare_assigned(ctx: Context, target: ast.Name, found: Value) -> tuple[Access, DType]:
    """The first assignment ``x = value``: it declares a scalar of the value's type, or, of a literal, of the type that
    is inferred (see `dsl.frontend.inferred`).
    """
    check_name(ctx.source, target.id, "this local", target)
    operand, span = values.operand(found), ctx.span(target)
    place = (target.id, target.lineno, target.col_offset)
    inferred = is_of_literals(found) and (
        isinstance(operand, int | float) or typing.is_open(operand) or target.id not in ctx.once
    )
    if target.id in ctx.source.untyped:
        inferred = isinstance(operand, Load) and not isinstance(operand.dtype, FixedType)
    if inferred:
        dtype = ctx.inferred.declared(place, found, span)
    else:
        assert not isinstance(operand, int | float)
        dtype = typing.settled(operand, span).dtype
        dtype = IntType(32) if isinstance(dtype, IndexType) else dtype
        if target.id not in ctx.once and is_unasked(ctx, operand):
            dtype = type_of_unasked(ctx, target.id, span)
        if target.id not in ctx.once and _is_of_numbers(ctx, operand):
            dtype = common_type(
                dtype, IntType(32)
            )  # as of literals, and of an entry of a smaller table
    local = Array(target.id, dtype, (), Storage.LOCAL, False, 0, span, by_value=not inferred)
    array = ctx.names.declare(local)
    ctx.inferred.know(array.name, place if inferred else None, found)
    return Access(array.name, (), span), dtype
