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
from dataclasses import dataclass
from typing import TypeVar

from dsl.expressions.affine import Affine
from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.arrays.numpy_arrays import masked
from dsl.frontend.arrays.parts import type_of
from dsl.frontend.arrays.shapes import broadcast, spread
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context
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
    node, target, value, op = _chosen(ctx, node, (target, value, op))
    target = _whole(target)
    view = view_of(ctx, target)
    array = ctx.names.array(view.array) if view is not None else None
    if view is None or not isinstance(array, Array):
        return None
    shape = type_of(view, array).shape
    return _Elements(ctx, node, view, ArrayExprs(ctx, node), shape).statements(array, value, op)


Parts = tuple[ast.Subscript | ast.Name, ast.expr, ast.operator | None]


def _chosen(
    ctx: Context, node: ast.Assign | ast.AugAssign, parts: Parts
) -> tuple[ast.stmt, ast.Subscript | ast.Name, ast.expr, ast.operator | None]:
    """``y[y > 9] = 9`` as ``y[:] = 9 if y > 9 else y``, of each element; all else as it is."""
    target, value, op = parts
    exprs = ArrayExprs(ctx, node)
    found = masked(exprs, target) if isinstance(target, ast.Subscript) else None
    if found is None:
        return node, target, value, op
    array, mask = found
    if op is not None:
        value = exprs.at(ast.BinOp(array, op, value))
    whole = exprs.at(ast.Subscript(array, exprs.at(ast.Slice()), ast.Store()))
    return node, whole, exprs.at(ast.IfExp(mask, value, array)), None


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
    exprs: ArrayExprs
    shape: tuple[int, ...]

    def statements(
        self, array: Array, value: ast.expr, op: ast.operator | None
    ) -> tuple[ast.stmt, ...]:
        exprs = self.exprs
        names = [
            exprs.loop_name(f"{array.name}_{'ijklmnopq'[d % 9]}") for d in range(len(self.shape))
        ]
        at = [Affine.of(name) for name in names]
        found = exprs.of(value)
        if found is not None and broadcast(found.shape, self.shape) != self.shape:
            message = f"{self.ctx.source.text(value)} has the shape {found.shape}, and is assigned to one of {self.shape}"
            raise self.ctx.error("W142", message, value, "as many elements on both sides, or one")
        if found is None:
            exprs.note(value)
        own = 0 if found is None or found.shape != self.shape else found.own.count(self.view)
        is_copied = exprs.refers_to(value, self.view.array) > own
        new = exprs.settled(value) if found is None else spread(found, at)
        if op is not None:
            new = self._at(ast.BinOp(exprs.element(self.view, at), op, new))
        goal = exprs.element(self.view, at, ast.Store())
        if not is_copied:
            return (self._loops(ast.Assign([goal], new), names),)
        ctx = self.ctx
        held = ctx.names.made_array(
            f"{array.name}_held", array.dtype, self.shape, ctx.span(self.node)
        )
        whole = View(held.name, tuple(Slice(Affine(), n) for n in self.shape))
        return (
            self._loops(ast.Assign([exprs.element(whole, at, ast.Store())], new), names),
            self._loops(ast.Assign([goal], exprs.element(whole, at)), names),
        )

    def _loops(self, inside: ast.stmt, names: list[str]) -> ast.stmt:
        inside = self._at(inside)
        for name, extent in reversed(list(zip(names, self.shape, strict=True))):
            call = self._at(ast.Call(self.exprs.given(range), [self.exprs.given(extent)], []))
            target = self._at(ast.Name(name, ast.Store()))
            inside = self._at(ast.For(target, call, [inside], []))
        return inside

    def _at(self, node: Placed) -> Placed:
        return ast.copy_location(node, self.node)
