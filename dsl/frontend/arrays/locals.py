"""Local arrays by what they are assigned first: ``np.zeros((4, 4))``, ``[0] * 8``, ``[f(v) for v in x]``, ``A @ B``.

Before::

    d = x - y

After::

    d: f32[8]
    d[:] = x - y

Without a type the elements have the type of what is assigned to them (see `dsl.frontend.inferred`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine
from dsl.expressions.types import DType
from dsl.expressions.values import Value
from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.arrays.filled import Made
from dsl.frontend.arrays.makers import Maker
from dsl.frontend.arrays.view_names import check_name_of_view, check_one_array, of_view
from dsl.frontend.arrays.views import check_view, may_read
from dsl.frontend.context import Context
from dsl.frontend.declare import check_name
from dsl.frontend.fixed_point import type_of_elements
from dsl.frontend.operands import value
from dsl.programs.inline import View
from dsl.programs.program import Array, Storage

Placed = TypeVar("Placed", bound=ast.AST)


def array_assignment(ctx: Context, node: ast.stmt) -> tuple[ast.stmt, ...] | None:
    """The statements that an assignment of a new array to a name stands for; None of any other statement.

    Raises:
        LanguageError: W142, W144 of what is no array with constant extents; W134 the name is that of another.
    """
    match node:
        case ast.Assign(targets=[ast.Name() as target], value=source):
            pass
        case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=parts)) if len(
            goals
        ) == len(parts):
            return _apart(ctx, node, goals, parts)
        case _:
            return None
    found = ctx.names.find(target.id)
    if found is not None and (not isinstance(found, Array) or not found.shape):
        return None
    if found is None and isinstance(ctx.names.constant(target.id), View):
        source = of_view(ctx, target, source)
        node = ast.copy_location(ast.Assign([target], source), node)
    made = Maker(ctx, node).made(source)
    if made is None:
        check_one_array(ctx, target, source)
        return None
    if found is None:
        check_name_of_view(ctx, target)
    check_view(ctx, target, source)
    if found is not None:
        _check_again(ctx, target, found, made)
    return NewArray(ctx, node, target, made).statements(found)


def _apart(
    ctx: Context, node: ast.stmt, goals: Sequence[ast.expr], parts: Sequence[ast.expr]
) -> tuple[ast.stmt, ...] | None:
    """``a, b = x.copy(), x + y`` as one assignment after the other, where no value reads a target."""
    names = {g.id for g in goals if isinstance(g, ast.Name)}
    read = {n.id for p in parts for n in ast.walk(p) if isinstance(n, ast.Name)}
    if len(names) != len(goals) or names & read:
        return None
    makers = (ast.Call, ast.BinOp, ast.List, ast.ListComp)
    if not any(isinstance(p, makers) and Maker(ctx, node).made(p) is not None for p in parts):
        return None
    return tuple(
        ast.copy_location(ast.Assign([goal], part), node)
        for goal, part in zip(goals, parts, strict=True)
    )


def _check_again(ctx: Context, target: ast.Name, found: object, made: Made) -> None:
    """A local array is assigned as a whole again only as one of its shape."""
    assert isinstance(found, Array)
    if found.name in ctx.names.arguments:
        message = (
            f"'{target.id}' is an argument, and the new array is none: the caller would not see it"
        )
        raise ctx.error("W142", message, target, f"assign its elements: {target.id}[:] = ...")
    if found.shape != made.shape:
        message = (
            f"'{target.id}' is an array of the shape {found.shape}, and this is one of {made.shape}"
        )
        raise ctx.error("W142", message, target, "give the new array another name")
    if ctx.names.has_parts(found.name):
        message = f"'{target.id}' is assigned anew, and a part of it has a name"
        raise ctx.error("W142", message, target, "give the new array another name")


class NewArray:
    """The declaration of a new array, and the statements that set it."""

    def __init__(self, ctx: Context, node: ast.stmt, target: ast.Name, made: Made) -> None:
        self._ctx = ctx
        self._node = node
        self._target = target
        self._made = made
        self._exprs = ArrayExprs(ctx, node)

    def statements(self, found: object) -> tuple[ast.stmt, ...]:
        """What sets the elements; the array is declared where there is none yet."""
        array = found if isinstance(found, Array) else self._declared()
        made = self._made
        in_parts = bool(made.items) or isinstance(made.loop, ast.ListComp)
        if in_parts and isinstance(found, Array) and self._reads_itself():
            held = self._held(found)  # Python computes all elements before the name is another list
            return (*self._set(held, made), self._whole(found, self._name(held)))
        return self._set(array, made)

    def _reads_itself(self) -> bool:
        assert isinstance(self._node, ast.Assign)
        return may_read(self._ctx, self._node.value, self._target.id)

    def _set(self, array: Array, made: Made) -> tuple[ast.stmt, ...]:
        if made.items:
            return tuple(self._items(array))
        new = made.loop or made.fill
        if new is None:
            return ()
        if isinstance(new, ast.ListComp):
            return (self._loops(new, array, []),)
        return (self._whole(array, new),)

    def _whole(self, array: Array, new: ast.expr) -> ast.stmt:
        """``array[:] = new``, of which the value is what is there before."""
        part = self._at(ast.Slice())
        whole = self._at(ast.Subscript(self._name(array), part, ast.Store()))
        return self._at(ast.Assign([whole], new))

    def _held(self, array: Array) -> Array:
        """A local of the same type, also where that is found from what is assigned."""
        names, inferred = self._ctx.names, self._ctx.inferred
        held = names.declare(replace(array, name=names.unique("held"), span=None))
        inferred.know(held.name, inferred.places.get(array.name))
        return held

    def _declared(self) -> Array:
        ctx, made, target = self._ctx, self._made, self._target
        check_name(ctx.source, target.id, "this local", target)
        span = ctx.span(target)
        place = (target.id, target.lineno, target.col_offset)
        dtype = made.dtype
        if dtype is None:
            dtype = self._inferred(place, span)
        elif made.loop is not None:
            dtype = type_of_elements(ctx, target.id, dtype, span)
        array = ctx.names.declare(
            Array(target.id, dtype, made.shape, Storage.LOCAL, False, 0, span)
        )
        ctx.inferred.know(array.name, place if made.dtype is None else None)
        return array

    def _inferred(self, place: tuple[str, int, int], span: Span) -> DType:
        ctx, made = self._ctx, self._made
        ctx.inferred.shapes[place] = made.shape
        given = made.items or (() if made.fill is None else (made.fill,))
        firsts: list[Value] = [value(ctx, n) for n in given] or [made.first]
        found = [ctx.inferred.declared(place, first, span) for first in firsts]
        if made.is_numpy:
            ctx.inferred.keep(place, firsts)
        return found[-1]

    def _items(self, array: Array) -> Iterator[ast.stmt]:
        """An assignment for each element of a list."""
        view = View(array.name, ())
        for n, item in enumerate(self._made.items):
            at: list[Affine] = []
            for extent in reversed(array.shape):
                n, place = divmod(n, extent)
                at.insert(0, Affine.of(place))
            yield self._at(ast.Assign([self._element(view, at)], item))

    def _loops(self, node: ast.ListComp, array: Array, at: list[Affine]) -> ast.stmt:
        """``for n, v in enumerate(x): t[n] = f(v)``."""
        (loop,) = node.generators
        exprs = self._exprs
        var = exprs.loop_name(f"{array.name}_{'ijklmnopq'[len(at) % 9]}")
        target = self._at(ast.Name(var, ast.Store()))
        header: ast.expr = self._at(ast.Call(exprs.given(enumerate), [loop.iter], []))
        pair: ast.expr = self._at(ast.Tuple([target, loop.target], ast.Store()))
        place = Affine.of(var)
        if isinstance(loop.iter, ast.Call):  # a range, whose variable stays affine
            first, step = self._range(loop.iter)
            header, pair = loop.iter, loop.target
            assert isinstance(loop.target, ast.Name)
            place = (Affine.of(loop.target.id) - first) // step if step > 0 else Affine.of(0)
        at = [*at, place]
        inside: ast.stmt
        if isinstance(node.elt, ast.ListComp):
            inside = self._loops(node.elt, array, at)
        else:
            goal = self._element(View(array.name, ()), at)
            inside = self._at(ast.Assign([goal], node.elt))
        return self._at(ast.For(pair, header, [inside], []))

    def _range(self, call: ast.Call) -> tuple[int, int]:
        bounds = [value(self._ctx, a) for a in call.args]
        numbers = [b for b in bounds if isinstance(b, int)]
        of = range(*numbers)
        if of.step < 1:
            message = "the loop of a list counts up"
            raise self._ctx.error("W105", message, call, "write the loop as a statement")
        return of.start, of.step

    def _element(self, view: View, at: list[Affine]) -> ast.expr:
        base = self._name(self._ctx.names.array(view.array))
        parts: list[ast.expr] = [self._exprs.given(i) for i in at]
        return self._at(ast.Subscript(base, self._at(ast.Tuple(parts, ast.Load())), ast.Store()))

    def _name(self, array: Array | None) -> ast.expr:
        assert array is not None
        return self._exprs.given(array, ast.Name(array.name, ast.Load()))

    def _at(self, node: Placed) -> Placed:
        return ast.copy_location(node, self._node)
