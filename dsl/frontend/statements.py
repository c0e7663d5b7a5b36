"""Statements of a kernel's body, made into the nodes of a `Program`."""

from __future__ import annotations

import ast

from dsl.expressions import values
from dsl.expressions.expr import Access, Expr, Load
from dsl.expressions.intrinsics import intrinsic_of, stmt
from dsl.expressions.types import DType
from dsl.frontend.conditions import DataCond, condition
from dsl.frontend.context import Context
from dsl.frontend.declare import check_name, declare_annotated, declare_assigned
from dsl.frontend.evaluate import binary
from dsl.frontend.if_conversion import converted
from dsl.frontend.inlining import call_kernel
from dsl.frontend.loops import headers, interval
from dsl.frontend.operands import example_access, value
from dsl.frontend.scope import LoopName
from dsl.frontend.subscript import access_of
from dsl.frontend.unsupported import STATEMENTS
from dsl.programs.names import NAME
from dsl.programs.program import Array, If, Loop, Node, Stmt


def body(ctx: Context, statements: list[ast.stmt]) -> tuple[Node, ...]:
    """The nodes of a block, in order."""
    return tuple(node for s in statements for node in statement(ctx, s))


def statement(ctx: Context, node: ast.stmt, name: str | None = None) -> tuple[Node, ...]:
    """The nodes of one statement; ``name`` is given by ``with weft.stmt(name)`` around it.

    Raises:
        LanguageError: it is not of the language.
    """
    match node:
        case ast.For():
            return _for(ctx, node)
        case ast.If():
            return _if(ctx, node)
        case ast.Assign():
            return (_assign(ctx, node, name),)
        case ast.AugAssign():
            return (_augmented(ctx, node, name),)
        case ast.AnnAssign():
            return declare_annotated(ctx, node, name)
        case ast.With():
            return _with(ctx, node)
        case ast.Expr():
            return _expression(ctx, node)
        case ast.Pass():
            return ()
        case _:
            what, instead = STATEMENTS.get(type(node), ("this statement", "see the language"))
            raise ctx.error("W104", f"{what} is not supported in a kernel", node, instead)


def _for(ctx: Context, node: ast.For) -> tuple[Node, ...]:
    loops = headers(ctx, node)
    for header in loops:
        check_name(ctx.source, header.target.id, "this loop variable", header.target)
        held = interval(header, ctx.names.ranges())
        ctx.names.enter(LoopName(header.target.id, ctx.span(header.target), held))
    inside = body(ctx, node.body)
    span = ctx.source.between(node, node.iter)
    for header in reversed(loops):
        ctx.names.leave()
        if inside:  # a loop without statements does nothing, and is left out
            var = header.target.id
            inside = (Loop(var, header.lowers, header.uppers, header.step, inside, span),)
    return inside


def _if(ctx: Context, node: ast.If) -> tuple[Node, ...]:
    cond = condition(ctx, node.test)
    if isinstance(cond, bool):
        return body(ctx, node.body if cond else node.orelse)
    if isinstance(cond, DataCond):
        return converted(ctx, node, cond, body)
    then, orelse = body(ctx, node.body), body(ctx, node.orelse)
    if not then and not orelse:
        return ()
    return (If(cond, then, orelse, ctx.source.between(node, node.test)),)


def _with(ctx: Context, node: ast.With) -> tuple[Node, ...]:
    call = node.items[0].context_expr
    if (
        not isinstance(call, ast.Call)
        or intrinsic_of(ctx.evaluate(call.func)) is not stmt
        or len(node.items) != 1
        or node.items[0].optional_vars is not None
    ):
        message = "'with' is not supported in a kernel, but for weft.stmt"
        raise ctx.error("W110", message, call, f"write {stmt.signature}")
    given = ctx.evaluate(call.args[0]) if len(call.args) == 1 and not call.keywords else None
    if not isinstance(given, str):
        message = "weft.stmt takes the statement's name"
        raise ctx.error("W110", message, call, f"write {stmt.signature}")
    if not NAME.fullmatch(given):
        message = f"{given!r} cannot be the name of a statement"
        instead = "use letters, digits and underscores, and begin with a letter"
        raise ctx.error("W136", message, call.args[0], instead)
    named = node.body[0]
    if len(node.body) != 1 or not isinstance(named, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        message = "weft.stmt names one assignment"
        where = node.body[1] if len(node.body) > 1 else named
        raise ctx.error("W110", message, where, "put the 'with' around that assignment only")
    if isinstance(named, ast.AnnAssign) and named.value is None:
        message = "weft.stmt names one assignment, and this declaration assigns nothing"
        raise ctx.error("W110", message, named, "give the local a value, or name nothing")
    return statement(ctx, named, given)


def _expression(ctx: Context, node: ast.Expr) -> tuple[Node, ...]:
    expr = node.value
    if isinstance(expr, ast.Constant) and isinstance(expr.value, str):
        return ()  # a docstring, or a comment in a string
    if isinstance(expr, ast.Call):
        nodes = call_kernel(ctx, expr)
        if nodes is not None:
            return nodes
    ctx.evaluate(expr)
    message = "this statement has no effect"
    raise ctx.error("W104", message, node, "assign the value to an element or a scalar")


# ------------------------------------------------------------------------------- assignments


def _assign(ctx: Context, node: ast.Assign, name: str | None) -> Stmt:
    if len(node.targets) != 1:
        message = "several targets in one assignment are not supported in a kernel"
        raise ctx.error("W107", message, node.targets[1], "write one assignment for each")
    target = node.targets[0]
    if isinstance(target, ast.Name) and ctx.names.find(target.id) is None:
        found = value(ctx, node.value)
        access, dtype = declare_assigned(ctx, target, found)
    else:
        access, dtype = writable(ctx, target)
        found = value(ctx, node.value)
    return _statement(ctx, node, name, access, assigned(ctx, found, dtype, node.value))


def _augmented(ctx: Context, node: ast.AugAssign, name: str | None) -> Stmt:
    target = node.target
    if isinstance(target, ast.Name) and ctx.names.find(target.id) is None:
        raise ctx.names.missing(
            target.id, ctx.span(target), ctx.request.environment.names(), bound=True
        )
    access, dtype = writable(ctx, target)
    found = binary(ctx, node.op, Load(access, dtype), value(ctx, node.value), node)
    return _statement(ctx, node, name, access, assigned(ctx, found, dtype, node))


def assigned(ctx: Context, found: values.Value, dtype: DType, node: ast.expr | ast.stmt) -> Expr:
    """The value of an assignment to an element of that type."""
    return values.assigned(found, dtype, ctx.span(node))


def _statement(ctx: Context, node: ast.stmt, name: str | None, access: Access, expr: Expr) -> Stmt:
    span = ctx.span(node)
    return Stmt(ctx.name_statement(name, span), access, expr, span, ctx.source.text(node))


def writable(ctx: Context, node: ast.expr) -> tuple[Access, DType]:
    """The element or scalar that an assignment writes, and its type.

    Raises:
        LanguageError: W107 no element or scalar; W135 it must not be written; W142 a whole array.
    """
    match node:
        case ast.Name():
            return _writable_name(ctx, node)
        case ast.Subscript():
            found = access_of(ctx, node)
            if isinstance(found, tuple) and isinstance(found[0], Array):
                array, access = found
                check_writable(ctx, array, node)
                return access, array.dtype
            message = f"{ctx.source.text(node)} is no element of an array"
            instead = "assign to an argument or a local: captured tables are constant"
            raise ctx.error("W107", message, node, instead)
        case ast.Tuple() | ast.List():
            message = "an assignment to several targets is not supported in a kernel"
            raise ctx.error("W107", message, node, "assign one after the other, through a local")
        case _:
            message = "this cannot be assigned to in a kernel"
            raise ctx.error("W107", message, node, "assign to A[i, j] or to a scalar")


def _writable_name(ctx: Context, node: ast.Name) -> tuple[Access, DType]:
    match ctx.names.find(node.id):
        case LoopName():
            raise ctx.error(
                "W135",
                f"'{node.id}' is a loop variable, which only its loop changes",
                node,
                "use another name for the value",
            )
        case Array(shape=()) as scalar:
            check_writable(ctx, scalar, node)
            return Access(scalar.name, (), ctx.span(node)), scalar.dtype
        case Array() as array:
            raise ctx.error(
                "W142",
                f"'{node.id}' is an array of type {array.type}, and is not assigned as a whole",
                node,
                f"assign its elements: {example_access(array)} = ...",
            )
        case None:
            raise ctx.names.missing(node.id, ctx.span(node), (), bound=True)


def check_writable(ctx: Context, array: Array, node: ast.expr) -> None:
    """Refuse a write to a constant or scalar argument (W135)."""
    if array.const:
        raise ctx.error(
            "W135",
            f"'{array.name}' is declared weft.const, and is only read",
            node,
            "declare it without weft.const, or write to another array",
        )
    if not array.shape and array.name in ctx.names.arguments:
        raise ctx.error(
            "W135",
            f"'{array.name}' is a scalar argument, passed by value, and is only read",
            node,
            f"copy it to a local first, or take an array of one element: {array.name}: "
            f"{array.dtype}[1]",
        )
