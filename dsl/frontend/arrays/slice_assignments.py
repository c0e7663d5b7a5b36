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
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from dsl.expressions.affine import Affine
from dsl.frontend.arrays.data_rows import data_row
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
    if isinstance(target, ast.Subscript) and (rows := _data_row(ctx, node, (target, value, op))):
        return (rows,)
    view = view_of(ctx, target)
    array = ctx.names.array(view.array) if view is not None else None
    if view is None or not isinstance(array, Array):
        return None
    shape = type_of(view, array).shape
    if op is None and (listed := _listed(ctx, (node, value), view, shape)) is not None:
        return (listed,)
    return _Elements(ctx, node, view, ArrayExprs(ctx, node), shape).statements(array, value, op)


def _data_row(ctx: Context, node: ast.stmt, parts: Parts) -> ast.stmt | None:
    """``sums[label] += x``, of a row at data, as a loop over its elements; None of all others."""
    target, value, op = parts
    exprs = ArrayExprs(ctx, node)
    row = data_row(exprs, target, ast.Store())
    if row is None:
        return None
    base: ast.expr = target
    while isinstance(base, ast.Subscript):
        base = base.value
    array = ctx.evaluate(base)
    assert isinstance(array, Array)
    found = exprs.of(value)
    if found is not None and broadcast(found.shape, row.shape) != row.shape:
        message = f"{ctx.source.text(value)} has the shape {found.shape}, and is assigned to one of {row.shape}"
        raise ctx.error("W142", message, value, "as many elements on both sides, or one")
    if exprs.refers_to(target, array.name) > 1:
        message = f"{ctx.source.text(target)} is a row that '{array.name}' itself decides on"
        instead = "keep the subscript in a scalar of its own first: k = ..., then assign to row k"
        raise ctx.error("W142", message, target, instead)
    if exprs.refers_to(value, array.name):  # the loop would change what it reads
        value = _kept(exprs, value, found is not None)
        found = exprs.of(value)
    if found is None:
        exprs.note(value)
    names = [exprs.loop_name(f"{array.name}_{'ijklmnopq'[d % 9]}") for d in range(len(row.shape))]
    at = [Affine.of(name) for name in names]
    new = exprs.settled(value) if found is None else spread(found, at)
    goal = row.at(at)
    assert isinstance(goal, ast.Subscript)
    inside: ast.stmt = ast.Assign([goal], new) if op is None else ast.AugAssign(goal, op, new)
    return in_loops(exprs, inside, names, row.shape)


def _kept(exprs: ArrayExprs, value: ast.expr, is_array: bool) -> ast.expr:
    """The name of a copy of a value, which is made in front of the statement."""
    name = exprs.ctx.names.unique("held")
    if is_array:
        value = exprs.at(ast.Call(exprs.at(ast.Attribute(value, "copy", ast.Load())), [], []))
    target = exprs.at(ast.Name(name, ast.Store()))
    exprs.ctx.ahead.nodes += exprs.ctx.read(exprs.at(ast.Assign([target], value)))
    return exprs.at(ast.Name(name, ast.Load()))


def _listed(
    ctx: Context, of: tuple[ast.stmt, ast.expr], view: View, shape: tuple[int, ...]
) -> ast.stmt | None:
    """``c[i] = re, im`` and ``m[:] = [[a, b], [c, d]]``: each of the values to its element; None of all others."""
    node, value = of
    values: list[ast.expr] = [value]
    for extent in shape:
        lists = [v for v in values if isinstance(v, ast.Tuple | ast.List)]
        if len(lists) < len(values):
            return None
        if other := next((v for v in lists if len(v.elts) != extent), None):
            message = f"{len(other.elts)} values are assigned to {extent} elements"
            raise ctx.error("W142", message, other, "write a value for each element")
        values = [part for v in lists for part in v.elts]
    exprs = ArrayExprs(ctx, node)
    if any(isinstance(v, ast.Starred) or exprs.of(v) is not None for v in values):
        return None
    places = itertools.product(*map(range, shape))
    goals: list[ast.expr] = [
        exprs.element(view, [Affine.of(n) for n in place], ast.Store()) for place in places
    ]
    if len(goals) == 1:
        return exprs.at(ast.Assign(goals, values[0]))
    targets, source = ast.Tuple(goals, ast.Store()), ast.Tuple(values, ast.Load())
    return exprs.at(ast.Assign([exprs.at(targets)], ast.copy_location(source, value)))


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


def in_loops(
    exprs: ArrayExprs, inside: ast.stmt, names: Sequence[str], shape: Sequence[int]
) -> ast.stmt:
    """A statement in a loop of each name over so many elements."""
    inside = exprs.at(inside)
    for name, extent in reversed(list(zip(names, shape, strict=True))):
        call = exprs.at(ast.Call(exprs.given(range), [exprs.given(extent)], []))
        inside = exprs.at(ast.For(exprs.at(ast.Name(name, ast.Store())), call, [inside], []))
    return inside


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
        return in_loops(self.exprs, inside, names, self.shape)

    def _at(self, node: Placed) -> Placed:
        return ast.copy_location(node, self.node)
