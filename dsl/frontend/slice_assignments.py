"""Assignments to parts of arrays, made into loops over their elements.

Before::

    y[1:8] = x[1:8] - x[0:7]

After::

    for y_i in range(7):
        y[1 + y_i] = x[1 + y_i] - x[y_i]

As in NumPy, all of the value is computed before anything is assigned: through an array of its own, where the value
reads other elements of what is assigned.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from dsl.expressions.affine import Affine
from dsl.frontend.context import Context
from dsl.frontend.slices import type_of, view_of
from dsl.programs.inline import Slice, View
from dsl.programs.program import Array

Placed = TypeVar("Placed", bound=ast.AST)


def element_loops(ctx: Context, node: ast.stmt) -> tuple[ast.stmt, ...] | None:
    """The loops that an assignment to a part of an array stands for; None of any other statement.

    Raises:
        LanguageError: W142 the shapes do not go together.
    """
    match node:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            op = None
        case ast.AugAssign(target=ast.Subscript() | ast.Name() as target, op=op, value=value):
            pass
        case _:
            return None
    target = _whole(target)
    view = view_of(ctx, target)
    array = ctx.names.array(view.array) if view is not None else None
    if view is None or not isinstance(array, Array):
        return None
    shape = type_of(view, array).shape
    names = [
        ctx.names.unique_loop(f"{array.name}_{'ijklmnopq'[d % 9]}", ctx.names.loops())
        for d in range(len(shape))
    ]
    return _Elements(ctx, node, view, tuple(names), shape).statements(array, value, op)


def _whole(target: ast.Subscript | ast.Name) -> ast.Subscript | ast.Name:
    """``y[...]`` as ``y[:]``."""
    if isinstance(target, ast.Name):
        return target
    if isinstance(target.slice, ast.Constant) and target.slice.value is ...:
        part = ast.copy_location(ast.Slice(), target)
        return ast.copy_location(ast.Subscript(target.value, part, target.ctx), target)
    return target


@dataclass(frozen=True, slots=True)
class _Elements:
    """The elements of the part ``view`` of an array: one for each value of the loops ``names`` over ``shape``."""

    ctx: Context
    node: ast.stmt
    view: View
    names: tuple[str, ...]
    shape: tuple[int, ...]

    def statements(
        self, array: Array, value: ast.expr, op: ast.operator | None
    ) -> tuple[ast.stmt, ...]:
        goal = self._element(self.view, ast.Store())
        is_copied = self._reads_others(value)
        if op is not None:
            old = self._element(self.view, ast.Load())
            value = self._at(ast.BinOp(old, op, value))
        new = self._of_elements(value)
        if not is_copied:
            return (self._loops(ast.Assign([goal], new)),)
        ctx = self.ctx
        held = ctx.names.made_array(
            f"{array.name}_held", array.dtype, self.shape, ctx.span(self.node)
        )
        whole = View(held.name, tuple(Slice(Affine(), n) for n in self.shape))
        return (
            self._loops(ast.Assign([self._element(whole, ast.Store())], new)),
            self._loops(ast.Assign([goal], self._element(whole, ast.Load()))),
        )

    def _loops(self, inside: ast.stmt) -> ast.stmt:
        inside = self._at(inside)
        for name, extent in reversed(list(zip(self.names, self.shape, strict=True))):
            call = self._at(ast.Call(self._given(range), [self._given(extent)], []))
            target = self._at(ast.Name(name, ast.Store()))
            inside = self._at(ast.For(target, call, [inside], []))
        return inside

    def _of_elements(self, node: ast.expr) -> ast.expr:
        """An element of what is computed for all of them."""
        view = view_of(self.ctx, node)
        if view is not None:
            return self._element(view, ast.Load(), node)
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.IfExp | ast.BoolOp) or (
            isinstance(node, ast.Call) and self._is_elementwise(node)
        ):
            made = copy.copy(node)
            for name, field in ast.iter_fields(node):
                if isinstance(field, ast.expr):
                    setattr(made, name, self._of_elements(field))
                elif isinstance(field, list) and name != "ops":
                    parts = [self._of_elements(f) if isinstance(f, ast.expr) else f for f in field]
                    setattr(made, name, parts)
            return made
        return node

    def _is_elementwise(self, call: ast.Call) -> bool:
        """Whether a function is of elements: all but ``len``, and those that make one number of an array."""
        function = self.ctx.evaluate(call.func)
        return function not in (len, sum, any, all) and (
            len(call.args) > 1 or function not in (min, max)
        )

    def _reads_others(self, value: ast.expr) -> bool:
        """Whether the value reads what is assigned, but for the element in the place of each."""
        if (view := view_of(self.ctx, value)) is not None:
            return view.array == self.view.array and view.dims != self.view.dims
        if isinstance(value, ast.Subscript):  # one element, which is the same for all
            base = value.value
            while isinstance(base, ast.Subscript):
                base = base.value
            if (whole := view_of(self.ctx, base)) is not None and whole.array == self.view.array:
                return True
        return any(self._reads_others(n) for n in _parts(value))

    def _element(self, view: View, use: ast.expr_context, node: ast.expr | None = None) -> ast.expr:
        """The element of a part of an array; one of fewer dimensions is the same along the first loops."""
        slices = [d for d in view.dims if isinstance(d, Slice)]
        mine = self.names[len(self.names) - len(slices) :] if len(slices) <= len(self.names) else ()
        extents = tuple(s.extent for s in slices)
        if node is not None and extents != self.shape[len(self.shape) - len(slices) :]:
            message = f"{self.ctx.source.text(node)} has the shape {extents}, and is assigned to one of {self.shape}"
            instead = "as many elements on both sides, or one"
            raise self.ctx.error("W142", message, node, instead)
        indices = view.placed(tuple(map(Affine.of, mine)))
        base = self._at(ast.Name(view.array, ast.Load()))
        self.ctx.given[base] = self.ctx.names.array(view.array)
        parts: list[ast.expr] = [self._given(i) for i in indices]
        return self._at(ast.Subscript(base, self._at(ast.Tuple(parts, ast.Load())), use))

    def _given(self, value: object) -> ast.expr:
        node: ast.expr = self._at(ast.Constant(0))
        self.ctx.given[node] = value
        return node

    def _at(self, node: Placed) -> Placed:
        return ast.copy_location(node, self.node)


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            yield part
