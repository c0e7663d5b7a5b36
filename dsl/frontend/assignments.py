"""Assignments to elements and scalars: also several at once, ``a[i], a[j] = a[j], a[i]``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.elements import assignment
from dsl.expressions.expr import Access, Binary, Expr, Gather, Load, loads
from dsl.expressions.types import IndexType, IntType
from dsl.expressions.updates import update
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.slices import of_sliced, view_of
from dsl.frontend.arrays.subscript import element_of
from dsl.frontend.arrays.tables import entries_of_row
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.declare import check_name, declare_assigned
from dsl.frontend.evaluate import binary
from dsl.frontend.extrema import bound_of, bounds_a_loop
from dsl.frontend.fixed_point import check_is_kept
from dsl.frontend.operands import example_access, value
from dsl.frontend.scope import LoopName
from dsl.programs.inline import View
from dsl.programs.program import Array, Node, Stmt, statements_in


def assign(ctx: Context, node: ast.Assign, name: str | None) -> tuple[Stmt, ...]:
    """The statements of an assignment.

    Of several targets each value is taken before any is assigned, as in Python: through a scalar
    where an assignment in front of it changes what it reads.

    Raises:
        LanguageError: W107 a target that cannot be assigned, W110 several under one name.
    """
    pairs = [pair for target in node.targets for pair in _pairs(ctx, target, node.value)]
    if name is None:
        pairs = [pair for pair in pairs if not _bound(ctx, *pair)]
        if not pairs:
            return ()
    if len(pairs) == 1:
        return (_one(ctx, node, name, *pairs[0]),)
    if name is not None:
        message = "weft.stmt names one assignment"
        raise ctx.error("W110", message, node, "write one assignment for each target")
    known = {id(v): value(ctx, v) for _, v in pairs}
    held: list[Stmt] = []
    changed: set[str] = set()
    goals = []
    for target, source in pairs:
        found = known[id(source)]
        if isinstance(found, Expr) and changed.intersection(a.array for a in loads(found)):
            keep = _held(ctx, found, source)
            held.append(keep)
            found = Load(keep.target, ctx.names.dtype_of(keep.target.array))
        before = len(ctx.ahead.nodes)
        goal = _goal(ctx, target, found)
        _check_later(ctx, target, ctx.ahead.nodes[before:], changed)
        changed.add(goal.access.array)
        ctx.inferred.note(goal.access.array, known[id(source)])
        goals.append((goal, assigned(ctx, found, goal, source)))
    return (*held, *(_statement(ctx, node, None, *pair) for pair in goals))


def _check_later(
    ctx: Context, target: ast.expr, nodes: Sequence[Node], changed: Collection[str]
) -> None:
    """Refuse a call or a sum in the subscript of a target that reads what targets in front of it change."""
    read = {a.array for n in nodes for s in statements_in(n) for a in loads(s.value)}
    if early := read.intersection(changed):
        message = f"{ctx.source.text(target)} is found before '{min(early)}' is assigned, on which it depends"
        raise ctx.error("W153", message, target, "assign one after the other")


def _pairs(ctx: Context, target: ast.expr, source: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Each target with its value."""
    if not isinstance(target, ast.Tuple | ast.List):
        return [(target, source)]
    count = len(target.elts)
    if isinstance(source, ast.Call | ast.Attribute):
        source = _several(ctx, source)
    if any(isinstance(goal, ast.Starred) for goal in target.elts):
        return _starred(ctx, target, source)
    if (elements := _elements_of(ctx, source, count)) is not None:
        source = elements
    if not isinstance(source, ast.Tuple | ast.List) or len(source.elts) != count:
        message = f"{count} targets are not assigned by {ctx.source.text(source)}"
        raise ctx.error("W107", message, target, f"write {count} values, as in a, b = b, a")
    every = zip(target.elts, source.elts, strict=True)
    return [pair for goal, part in every for pair in _pairs(ctx, goal, part)]


def _starred(
    ctx: Context, target: ast.Tuple | ast.List, source: ast.expr
) -> list[tuple[ast.expr, ast.expr]]:
    """``rows, *rest = x.shape``: the name with the star stands for a tuple of the constants that are left."""
    goals = target.elts
    place = next(n for n, goal in enumerate(goals) if isinstance(goal, ast.Starred))
    parts = source.elts if isinstance(source, ast.Tuple | ast.List) else []
    end = len(parts) - (len(goals) - place - 1)
    star = goals[place]
    assert isinstance(star, ast.Starred)
    held = tuple(ctx.evaluate(part) for part in parts[place : max(place, end)])
    names = [goal for goal in goals if isinstance(goal, ast.Starred)]
    known = isinstance(star.value, ast.Name) and len(names) == 1 and all(map(is_number, held))
    if not known or end < place or ctx.names.find(getattr(star.value, "id", "")) is not None:
        message = f"{ctx.source.text(target)} is not assigned by {ctx.source.text(source)}"
        instead = "a name with a star is one of constants: rows, *rest = x.shape"
        raise ctx.error("W107", message, star, instead)
    assert isinstance(star.value, ast.Name)
    check_name(ctx.source, star.value.id, "this constant", star)
    ctx.names.bind(star.value.id, held)
    pairs = [
        *zip(goals[:place], parts[:place], strict=True),
        *zip(goals[place + 1 :], parts[end:], strict=True),
    ]
    return [pair for goal, part in pairs for pair in _pairs(ctx, goal, part)]


def _elements_of(ctx: Context, source: ast.expr, count: int) -> ast.expr | None:
    """``(x[0], x[1], x[2])`` of an array of three elements; None of all else."""
    if not isinstance(source, ast.Name | ast.Subscript):
        return None
    if entries_of_row(ctx, source) == count:
        return _at_constants(source, count)
    part = part_of(ctx, view_of(ctx, source))
    if part is None or part[1].shape != (count,):
        return None
    view, _ = part
    base = ast.copy_location(ast.Name(view.array, ast.Load()), source)
    ctx.given[base] = ctx.names.array(view.array)
    elements: list[ast.expr] = []
    for n in range(count):
        places: list[ast.expr] = []
        for place in view.placed((Affine.of(n),)):
            node = ast.copy_location(ast.Constant(0), source)
            ctx.given[node] = place
            places.append(node)
        key = ast.copy_location(ast.Tuple(places, ast.Load()), source)
        elements.append(ast.copy_location(ast.Subscript(base, key, ast.Load()), source))
    return ast.copy_location(ast.Tuple(elements, ast.Load()), source)


def _at_constants(row: ast.expr, count: int) -> ast.expr:
    """``(T[i][0], T[i][1])``."""
    elements: list[ast.expr] = [
        ast.Subscript(row, ast.copy_location(ast.Constant(n), row), ast.Load())
        for n in range(count)
    ]
    for e in elements:
        ast.copy_location(e, row)
    return ast.copy_location(ast.Tuple(elements, ast.Load()), row)


def _bound(ctx: Context, target: ast.expr, source: ast.expr) -> bool:
    """Whether the target is a name that stands for a number, an affine expression, or a part of an array from here on.

    It is no local then: ``r = 2 * i + p`` leaves ``x[r]`` the affine access that it is, and ``row = A[i]`` is no copy.
    """
    if not isinstance(target, ast.Name) or ctx.names.find(target.id):
        return False
    is_clear = target.id in ctx.plain or target.id in ctx.once
    if is_clear and (view := _part(ctx, source)) is not None:
        if not ctx.names.can_bind(target.id):
            message = f"'{target.id}' is the name of another array in what is around this loop"
            raise ctx.error("W134", message, target, "give the part of the array another name")
        check_name(ctx.source, target.id, "this part of an array", target)
        ctx.names.bind(target.id, view)
        return True
    if target.id not in ctx.once:
        return False
    found = ctx.evaluate(source)
    is_known = is_number(found) or isinstance(found, Affine)
    if isinstance(found, bool) or not (is_known or _is_extreme(ctx, target.id, found)):
        return False
    check_name(ctx.source, target.id, "this constant", target)
    ctx.names.bind(target.id, found)
    return True


def _is_extreme(ctx: Context, name: str, found: object) -> bool:
    """Whether a value is the minimum or maximum of affine expressions, and loops are bounded by its name."""
    if not isinstance(found, Binary) or not bounds_a_loop(ctx.source.node, name):
        return False
    return bound_of(found) is not None


def _part(ctx: Context, source: ast.expr) -> View | None:
    """The part of an array that an expression is, or the array that a kernel returns."""
    if source in ctx.ahead.known or isinstance(source, ast.Call):
        found = part_of(ctx, ctx.evaluate(source))
        return None if found is None else found[0]
    return view_of(ctx, source)


def _several(ctx: Context, source: ast.expr) -> ast.expr:
    """What stands for several values, such as a call with several results, as a tuple of expressions."""
    found = ctx.evaluate(source)
    if not isinstance(found, tuple):
        return source
    parts: list[ast.expr] = [ast.copy_location(ast.Constant(n), source) for n in range(len(found))]
    ctx.ahead.known.update(zip(parts, found, strict=True))
    return ast.copy_location(ast.Tuple(parts, ast.Load()), source)


def _held(ctx: Context, found: Expr, source: ast.expr) -> Stmt:
    """The value in a scalar of its type, before it changes."""
    span = ctx.span(source)
    kept = typing.settled(found, span)
    dtype = IntType(32) if isinstance(kept.dtype, IndexType) else kept.dtype
    target = Access(ctx.names.made("held", dtype, span).name, (), span)
    name = ctx.name_statement(None, span)
    return Stmt(name, target, kept, span, f"{target} = {ctx.source.text(source)}")


def _goal(ctx: Context, target: ast.expr, found: values.Value) -> Load | Gather:
    """What is assigned: an element or scalar, also one that this declares."""
    if isinstance(target, ast.Name) and ctx.names.find(target.id) is None:
        return Load(*declare_assigned(ctx, target, found))
    return writable(ctx, target)


def _one(
    ctx: Context, node: ast.Assign, name: str | None, target: ast.expr, source: ast.expr
) -> Stmt:
    if source is ctx.ahead.whole and isinstance(source, ast.Call):
        value(ctx, source)  # what it calls runs before the subscripts of the target are computed
    if isinstance(target, ast.Name) and ctx.names.find(target.id) is None:
        found = value(ctx, source)
        goal: Load | Gather = Load(*declare_assigned(ctx, target, found))
    else:
        goal = writable(ctx, target)
        found = value(ctx, source)
        ctx.inferred.note(goal.access.array, found)
    made = update(assigned(ctx, found, goal, source), goal)
    return _statement(ctx, node, name, goal, made)


def augmented(ctx: Context, node: ast.AugAssign, name: str | None) -> Stmt:
    """The statement of ``+=`` and the like."""
    target = node.target
    if isinstance(target, ast.Name) and ctx.names.find(target.id) is None:
        raise ctx.names.missing(
            target.id, ctx.span(target), ctx.request.environment.names(), bound=True
        )
    goal = writable(ctx, target)
    by = value(ctx, node.value)
    ctx.inferred.note(goal.access.array, by, node.op)
    found = binary(ctx, node.op, goal, by, node)
    return _statement(ctx, node, name, goal, assigned(ctx, found, goal, node))


def assigned(
    ctx: Context, found: values.Value, goal: Load | Gather, node: ast.expr | ast.stmt
) -> Expr:
    """The value of an assignment to an element or scalar."""
    check_is_kept(ctx, goal, found, ctx.span(node))
    return values.assigned(found, goal.dtype, ctx.span(node))


def _statement(
    ctx: Context, node: ast.stmt, name: str | None, goal: Load | Gather, expr: Expr
) -> Stmt:
    span = ctx.span(node)
    target, value_ = assignment(goal, expr)
    return Stmt(ctx.name_statement(name, span), target, value_, span, ctx.source.text(node))


def writable(ctx: Context, node: ast.expr) -> Load | Gather:
    """The element or scalar that an assignment writes.

    Raises:
        LanguageError: W107 no element or scalar; W135 it must not be written; W142 a whole array.
    """
    match node:
        case ast.Name():
            return _writable_name(ctx, node)
        case ast.Subscript():
            found = element_of(ctx, of_sliced(ctx, node))
            if isinstance(found, tuple) and isinstance(found[0], Array):
                array, goal = found
                check_writable(ctx, array, node)
                assert isinstance(goal, Load | Gather)
                return goal
            message = f"{ctx.source.text(node)} is no element of an array"
            instead = "assign to an argument or a local: captured tables are constant"
            raise ctx.error("W107", message, node, instead)
        case _:
            message = "this cannot be assigned to in a kernel"
            raise ctx.error("W107", message, node, "assign to A[i, j] or to a scalar")


def _writable_name(ctx: Context, node: ast.Name) -> Load:
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
            return Load(Access(scalar.name, (), ctx.span(node)), scalar.dtype)
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
    """Refuse a write to a constant argument, or to a scalar one that a loop has the name of, too (W135)."""
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
            f"'{array.name}' is a scalar argument, and a loop has its name, too",
            node,
            "give the loop another name",
        )
