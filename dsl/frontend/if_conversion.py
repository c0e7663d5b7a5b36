"""``if`` on data: both branches are read, and become statements that choose (see `dsl.programs.predicated`)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from dsl.expressions.expr import Access, Expr, Gather, Load, loads, walk
from dsl.expressions.types import boolean
from dsl.frontend.conditions import DataCond
from dsl.frontend.context import Context
from dsl.programs.names import unused
from dsl.programs.predicated import Branches, overwrites, predicated
from dsl.programs.program import If, Node, Stmt, map_statements, statements_in

Body = Callable[[Context, list[ast.stmt]], tuple[Node, ...]]


def converted(ctx: Context, node: ast.If, cond: DataCond, body: Body) -> tuple[Node, ...]:
    """The nodes of ``node``, whose condition is ``cond``; ``body`` reads a block.

    An affine part of the condition becomes an `If` around: what it decides alone is not chosen. The
    block that then runs in both of its branches is there twice.
    """
    start = len(ctx.statements)
    overwritten, ctx.overwritten = ctx.overwritten, False
    then, then_locals = _block(ctx, node.body, body)
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        ctx.overwritten = overwritten or any(_steps(s) for n in then for s in statements_in(n))
    orelse, else_locals = _block(ctx, node.orelse, body)
    ctx.overwritten = overwritten
    given = _given(ctx, start)
    stepped = {s.target.array for n in then for s in statements_in(n) if _steps(s)}
    moved = frozenset(stepped if ctx.meets else ())
    branches = Branches(then, orelse, then_locals, else_locals, given, moved)
    chosen = _chosen(ctx, cond.data, branches, node.test)
    if cond.affine is not None:
        span = ctx.source.between(node, node.test)
        sides = (chosen, orelse) if cond.is_and else (then, chosen)
        chosen = (If(cond.affine, *sides, span),) if any(sides) else ()
    assigned = {n.target.array for n in orelse if isinstance(n, Stmt)}
    ctx.names.end_branch((then_locals - assigned) | else_locals)
    return _named(ctx, chosen, start, given)


def _block(
    ctx: Context, statements: list[ast.stmt], body: Body
) -> tuple[tuple[Node, ...], set[str]]:
    """The nodes of a block, and the locals that are declared in it."""
    before = len(ctx.names.locals)
    nodes = body(ctx, statements)
    return nodes, {a.name for a in ctx.names.locals[before:]}


def _chosen(ctx: Context, cond: Expr, branches: Branches, node: ast.expr) -> tuple[Node, ...]:
    """The statements of both branches; the condition is kept where they change what it reads, and that of an ``elif``
    in front of what the branches before it do where it reads at data, of which their scalars may say what it is.
    """
    if not overwrites(cond, branches) and not (ctx.overwritten and _reads_at_data(cond)):
        return predicated(cond, branches, ctx.names.dtype_of)
    span = ctx.span(node)
    name = ctx.names.made("cond", boolean, span).name
    target = Access(name, (), span)
    text = ctx.source.text(node)
    text = ast.unparse(node) if text in ("break", "continue") else text
    keep = Stmt(name, target, cond, span, f"{name} = {text}")
    kept = Load(target, boolean)
    ahead, branches = _conditions_ahead(branches)
    of_elif = predicated(kept, ahead, ctx.names.dtype_of, cond)
    return (keep, *of_elif, *predicated(kept, branches, ctx.names.dtype_of, cond))


def _reads_at_data(cond: Expr) -> bool:
    return any(
        isinstance(e, Gather) and any(True for d in e.data for _ in loads(d)) for e in walk(cond)
    )


def _steps(stmt: Stmt) -> bool:
    """Whether it changes a scalar by which elements may be chosen."""
    return not stmt.target.indices and any(a.array == stmt.target.array for a in loads(stmt.value))


def _conditions_ahead(branches: Branches) -> tuple[Branches, Branches]:
    """The kept conditions that the second branch begins with, and the rest: where they hold the first branch does not
    run, and what it does to what they read is not what they ask for.
    """
    count = 0
    if not any(_steps(s) for n in branches.then for s in statements_in(n)):
        return replace(branches, then=(), orelse=()), branches
    for node in branches.orelse:
        kept = isinstance(node, Stmt) and node.target.array in branches.else_locals
        if not kept or not _reads_at_data(node.value):  # type: ignore[union-attr]
            break
        count += 1
    ahead, rest = branches.orelse[:count], branches.orelse[count:]
    return replace(branches, then=(), orelse=ahead), replace(branches, orelse=rest)


def _given(ctx: Context, start: int) -> frozenset[str]:
    """The names of statements since the ``start``-th that the author gave."""
    names = list(ctx.statements)[start:]
    return frozenset(name for n, name in enumerate(names, start) if name != f"S{n}")


def _named(
    ctx: Context, nodes: tuple[Node, ...], start: int, given: frozenset[str]
) -> tuple[Node, ...]:
    """The statements named anew in their final order: some are one now, others are there twice."""
    for name in list(ctx.statements)[start:]:
        del ctx.statements[name]

    def named(stmt: Stmt) -> Stmt:
        name = unused(stmt.name, ctx.statements) if stmt.name in given else None
        return replace(stmt, name=ctx.name_statement(name, stmt.span))

    return tuple(map_statements(n, named) for n in nodes)
