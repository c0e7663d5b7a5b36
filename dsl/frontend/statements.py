"""Statements of a kernel's body, made into the nodes of a `Program`."""

from __future__ import annotations

import ast

from dsl.expressions.expr import Access, Const
from dsl.expressions.intrinsics import intrinsic_of, stmt
from dsl.expressions.types import boolean
from dsl.frontend.arrays.annotated import annotated_array
from dsl.frontend.arrays.in_place import assigned_in_place
from dsl.frontend.arrays.listed_values import listed_ahead
from dsl.frontend.arrays.local_tables import as_list, local_table
from dsl.frontend.arrays.locals import array_assignment
from dsl.frontend.arrays.renamed import renamed
from dsl.frontend.arrays.several_rows import several_rows
from dsl.frontend.arrays.slice_assignments import element_loops
from dsl.frontend.arrays.split_parts import split_parts
from dsl.frontend.arrays.uneven_assignments import uneven_assignment
from dsl.frontend.assignments import assign, augmented
from dsl.frontend.conditions import DataCond, condition
from dsl.frontend.context import Ahead, Context
from dsl.frontend.copies import Copies
from dsl.frontend.data_bounds import data_bounded
from dsl.frontend.declare import check_name, declare_annotated
from dsl.frontend.function_calls import function_statement
from dsl.frontend.functions import function_of
from dsl.frontend.guarded_reads import in_branches
from dsl.frontend.if_conversion import converted
from dsl.frontend.inlining import call_kernel
from dsl.frontend.iterations import plain_loop
from dsl.frontend.joined_ranges import joined_range
from dsl.frontend.loop_arrays import computed_ahead
from dsl.frontend.loops import headers, interval, runs
from dsl.frontend.scope import LoopName
from dsl.frontend.syntax.geometric import Geometric
from dsl.frontend.syntax.jumps import (
    Flags,
    Jump,
    hoisted,
    jumps_in,
    left_by_jumps,
    needs_skipped,
    returns_in,
    straight,
    unless,
)
from dsl.frontend.syntax.progress import Trips
from dsl.frontend.syntax.unsupported import STATEMENTS
from dsl.frontend.table_loops import Named, table_loop
from dsl.frontend.trip_bounds import UNKNOWN, until
from dsl.frontend.written_out import counted, written_out
from dsl.programs.names import NAME
from dsl.programs.program import If, Loop, Node, Stmt


def body(ctx: Context, statements: list[ast.stmt]) -> tuple[Node, ...]:
    """The nodes of a block, in order."""
    return tuple(node for s in statements for node in statement(ctx, s))


def whole_body(ctx: Context, statements: list[ast.stmt]) -> tuple[Node, ...]:
    """The nodes of a kernel, which ``return`` may leave (see `dsl.frontend.syntax.jumps`)."""
    returns = [*returns_in(statements)]
    if not returns:
        return body(ctx, statements)
    inside = next((r for r, is_inside in returns if is_inside), None)
    flag = ""
    first: tuple[Node, ...] = ()
    if inside is not None:
        flag = ctx.names.made("returned", boolean, ctx.span(inside)).name
        first = (cleared(ctx, flag, inside),)
    plain = left_by_jumps(statements, flag)
    return (*first, *_loop_body(ctx, plain, [*jumps_in(plain)], ""))


def statement(ctx: Context, node: ast.stmt, name: str | None = None) -> tuple[Node, ...]:
    """The nodes of one statement; ``name`` is given by ``with weft.stmt(name)`` around it.

    Raises:
        LanguageError: it is not of the language.
    """
    around, ctx.ahead = ctx.ahead, Ahead(whole=_whole(node))
    try:
        nodes = _of(ctx, node, name)
        return (*ctx.ahead.nodes, *nodes)
    finally:
        ctx.ahead = around


def _whole(node: ast.stmt) -> ast.expr | None:
    """The value of an assignment, which Python evaluates before anything else of it."""
    return node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) else None


def _of(ctx: Context, node: ast.stmt, name: str | None) -> tuple[Node, ...]:
    match node:
        case ast.For():
            return _for(ctx, node)
        case ast.If():
            return _if(ctx, node)
        case Named(targets=[ast.Name(id=entry)]) if ctx.names.find(entry) is None:
            check_name(ctx.source, entry, "this loop variable", node.targets[0])
            ctx.names.bind(entry, ctx.evaluate(node.value))
            return ()
        case ast.Assign() | ast.AugAssign():
            return _assigned(ctx, node, name)
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value) if _is_of_python(
            ctx, node
        ):
            plain = ast.copy_location(ast.Assign([target], value), node)
            return _assigned(ctx, plain, name)
        case ast.AnnAssign():
            made = None if name is not None else annotated_array(ctx, node)
            if made is not None:
                return tuple(n for s in made for n in statement(ctx, s))
            return declare_annotated(ctx, node, name)
        case ast.With():
            return _with(ctx, node)
        case ast.Expr():
            return _expression(ctx, node)
        case ast.Pass():
            return ()
        case ast.Delete(targets=targets) if all(isinstance(t, ast.Name) for t in targets):
            return ()  # a local ends with its loop anyway
        case ast.Assert():
            return _assertion(ctx, node)
        case ast.While(test=test):
            raise ctx.error("W104", UNKNOWN, node, until(ctx.source.text(test)))
        case _:
            what, instead = STATEMENTS.get(type(node), ("this statement", "see the language"))
            raise ctx.error("W104", f"{what} is not supported in a kernel", node, instead)


def _is_of_python(ctx: Context, node: ast.AnnAssign) -> bool:
    """Whether a local is annotated with ``int``, ``float`` or ``bool``, which say no width: its values do."""
    if not isinstance(node.annotation, ast.Name):
        return False
    return ctx.request.environment.lookup(node.annotation.id) in (int, float, bool)


def _assertion(ctx: Context, node: ast.Assert) -> tuple[Node, ...]:
    """``assert N % 4 == 0``: of constants, checked when the kernel is compiled."""
    cond = condition(ctx, node.test)
    if cond is True:
        return ()
    if cond is False:
        message = f"this assertion does not hold: {ctx.source.text(node.test)}"
        raise ctx.error(
            "W104", message, node, "it is of constants, and is checked before anything runs"
        )
    what, instead = STATEMENTS[ast.Assert]
    raise ctx.error("W104", f"{what} is not supported in a kernel", node, instead)


def _assigned(ctx: Context, node: ast.Assign | ast.AugAssign, name: str | None) -> tuple[Node, ...]:
    """An assignment to elements and scalars, or to a part of an array, which is a loop."""
    if name is None and local_table(ctx, node):
        return ()
    node = as_list(ctx, node)
    loops = listed_ahead(ctx, node)
    if loops is None:
        apart = split_parts(ctx, node) or several_rows(ctx, node)
        made = uneven_assignment(ctx, node) if apart is None else apart
        loops = None if made is None else tuple(made)
    if loops is None:
        loops = element_loops(ctx, node)
    if loops is None:
        loops = array_assignment(ctx, node)
    if loops is None:
        loops = renamed(ctx, node)
    if loops is not None and name is not None:
        message = "weft.stmt names one assignment, and this one is of several elements"
        raise ctx.error("W110", message, node, "write the loop over the elements")
    if loops is not None:
        return tuple(n for s in loops for n in statement(ctx, s))
    if isinstance(node, ast.Assign):
        branches = None if name is not None else in_branches(ctx, node)
        if branches is None:
            return assign(ctx, node, name)
        # What either branch assigns is a local, though there is one assignment of it.
        ctx.once -= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return _if(ctx, branches)
    return (augmented(ctx, node, name),)


def _for(ctx: Context, node: ast.For) -> tuple[Node, ...]:
    """A loop; one that ``break`` can leave runs on without effect (see `dsl.frontend.syntax.jumps`)."""
    if isinstance(node.iter, Geometric):
        values = counted(ctx, node, node.iter)
        return _copies(ctx, node, values) if isinstance(values, Copies) else body(ctx, values)
    plain = table_loop(ctx, node)
    if plain is None and (ahead := computed_ahead(ctx, node)) is not None:
        return body(ctx, ahead)
    plain = plain or plain_loop(ctx, node)
    if plain is None and (bounded := data_bounded(ctx, node)) is not None:
        return bounded
    made = plain or written_out(ctx, node) or joined_range(ctx, node)
    if isinstance(made, Copies):
        return _copies(ctx, node, made)
    given, node = node, made or node
    jumps = [*jumps_in(node.body)]
    breaks = next((j for j in jumps if isinstance(j, ast.Break)), None)
    done = "" if breaks is None else _flag(ctx, given, breaks)
    before = () if breaks is None else (cleared(ctx, done, breaks),)
    loops = headers(ctx, node)
    for header in loops:
        check_name(ctx.source, header.target.id, "this loop variable", header.target)
        ranges = ctx.names.ranges()
        held, some = interval(header, ranges), runs(header, ranges)
        ctx.names.enter(LoopName(header.target.id, ctx.span(header.target), held, some))
    meets, ctx.meets = ctx.meets, ctx.meets or _is_of_while(node.iter)
    inside = _loop_body(ctx, node.body, jumps, done)
    ctx.meets = meets
    span = ctx.source.between(node, node.iter)
    for header in reversed(loops):
        ctx.names.leave()
        if inside:  # a loop without statements does nothing, and is left out
            var = header.target.id
            inside = (Loop(var, header.lowers, header.uppers, header.step, inside, span),)
    return (*before, *inside, *body(ctx, _orelse(node, breaks, done)))


def _is_of_while(over: ast.expr) -> bool:
    return isinstance(over, ast.Call) and any(isinstance(a, Trips) for a in over.args)


def _copies(ctx: Context, node: ast.For, copies: Copies) -> tuple[Node, ...]:
    """The body for each of the constants that the loop runs over; behind a ``break`` they do nothing."""
    inside = node.body if copies.body is None else [*copies.body]
    jumps = [*jumps_in(inside)]
    breaks = next((j for j in jumps if isinstance(j, ast.Break)), None)
    done = "" if breaks is None else _flag(ctx, node, breaks)
    found: list[Node] = [] if breaks is None else [cleared(ctx, done, breaks)]
    around, ctx.copies = ctx.copies, ctx.copies * max(1, len(copies.constants))
    for constants in copies.constants:
        with ctx.names.copy(constants, ast.unparse(node.target), ctx.span(node.target)):
            found += _loop_body(ctx, inside, jumps, done)
    ctx.copies = around
    return (*found, *body(ctx, _orelse(node, breaks, done)))


def _orelse(node: ast.For, breaks: Jump | None, done: str) -> list[ast.stmt]:
    """What a loop does behind its last iteration, where no ``break`` left it."""
    return node.orelse if breaks is None or not node.orelse else [unless(breaks, done, node.orelse)]


def _loop_body(
    ctx: Context, statements: list[ast.stmt], jumps: list[Jump], done: str
) -> tuple[Node, ...]:
    if not jumps:
        return body(ctx, statements)
    statements = hoisted(statements, lambda loop: _reserved(ctx, loop))
    skipped = ""
    first: tuple[Node, ...] = ()
    if needs_skipped(statements):
        skipped = ctx.names.made("skipped", boolean, ctx.span(jumps[0])).name
        first = (cleared(ctx, skipped, jumps[0]),)
    plain = straight(statements, Flags(done, skipped))
    if done:
        plain = [unless(jumps[0], done, plain)]
    return (*first, *body(ctx, plain))


def _reserved(ctx: Context, loop: ast.For) -> str:
    """The name of a loop's flag, for what is read before the loop is."""
    return ctx.flags.setdefault(loop, ctx.names.unique("done"))


def _flag(ctx: Context, loop: ast.For, place: ast.stmt) -> str:
    """The scalar that is 1 after a ``break`` of the loop."""
    reserved = ctx.flags.get(loop)
    return ctx.names.made("done", boolean, ctx.span(place), reserved).name


def cleared(ctx: Context, flag: str, place: ast.stmt) -> Stmt:
    """``flag = 0``."""
    span = ctx.span(place)
    name = ctx.name_statement(None, span)
    return Stmt(name, Access(flag, (), span), Const(0, boolean), span, f"{flag} = 0")


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
        if (assigned := assigned_in_place(ctx, expr)) is not None:
            return statement(ctx, assigned)
        nodes = call_kernel(ctx, expr)
        if nodes is not None:
            return nodes
        function = function_of(ctx, ctx.evaluate(expr.func))
        if function is not None and function.expression is None:
            return function_statement(ctx, function, expr)
    ctx.evaluate(expr)
    message = "this statement has no effect"
    raise ctx.error("W104", message, node, "assign the value to an element or a scalar")
