"""Assignments to slices whose length a loop variable decides, made into loops over their elements.

Before::

    A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]

After::

    for at in range(k + 1, 8):
        A[i, at] -= A[i, k] * A[k, at]

As in NumPy, all of the value is computed before anything is assigned: through an array of its own, where the value may
read what other elements of the slice are assigned.
"""

from __future__ import annotations

import ast

from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.uneven import (
    AtPlace,
    UnevenSlice,
    is_element,
    is_line,
    length_of,
    parts_of,
    slice_at,
    slices_of,
)
from dsl.frontend.context import Context
from dsl.frontend.operands import value
from dsl.programs.inline import View


def uneven_assignment(ctx: Context, node: ast.Assign | ast.AugAssign) -> list[ast.stmt] | None:
    """The loops; None of an assignment to anything else, and of values that are not understood.

    Raises:
        LanguageError: W142 another number of elements on the right.
    """
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    target = targets[0]
    if len(targets) != 1 or not isinstance(target, ast.Subscript) or not is_line(ctx, target):
        return None
    goal = slice_at(ctx, target)
    if goal is None:
        return None
    if (length := length_of(goal)) is not None and length.is_const:
        return [] if length.const <= 0 else None
    sources = [*slices_of(ctx, node.value)]
    if None in sources:
        return None
    slices = [s for s in sources if s is not None]
    if any(not _as_long(goal, s) for s in slices):
        message = f"{ctx.source.text(node.value)} has another number of elements than {ctx.source.text(target)}"
        raise ctx.error("W142", message, node.value, "as many elements on both sides, or one")
    loops = _Loops(ctx, node, goal, slices)
    if not all(loops.is_apart(n) for part in parts_of(target) for n in ast.walk(part)):
        return None  # which elements they are depends on them
    return loops.statements()


def is_uneven_assignment(ctx: Context, node: ast.AST) -> bool:
    """Whether it assigns to such a slice what is computed from such slices, elements and numbers, all of which have
    ends that are plain to be inside: ``x[:i]``, ``x[i + 1 :]``.
    """
    match node:
        case ast.Assign(targets=[ast.Subscript() as target], value=source):
            pass
        case ast.AugAssign(target=ast.Subscript() as target, value=source):
            pass
        case _:
            return False
    return _is_plain_line(ctx, target) and _is_plain(ctx, source)


def _is_plain(ctx: Context, node: ast.expr) -> bool:
    match node:
        case ast.Constant() | ast.Name():
            return True
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
            return _is_plain(ctx, left) and _is_plain(ctx, right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_plain(ctx, operand)
        case ast.Subscript():
            is_slice = any(isinstance(n, ast.Slice) for n in parts_of(node))
            return _is_plain_line(ctx, node) if is_slice else is_element(ctx, node)
    return False


def _is_plain_line(ctx: Context, node: ast.Subscript) -> bool:
    along = next((n for n in parts_of(node) if isinstance(n, ast.Slice)), None)
    if along is None or not is_line(ctx, node):
        return False
    ends = [n for n in (along.lower, along.upper) if n is not None]
    return all(isinstance(n, ast.Name) or _is_next(n) for n in ends)


def _is_next(node: ast.expr) -> bool:
    """Whether it is ``i + 1``."""
    match node:
        case ast.BinOp(left=ast.Name(), op=ast.Add(), right=ast.Constant(value=1)):
            return True
    return False


def _as_long(a: UnevenSlice, b: UnevenSlice) -> bool:
    if length_of(a) is None or length_of(b) is None:
        return (a.low, a.high) == (b.low, b.high)
    return length_of(a) == length_of(b)


class _Loops:
    """The loops of one assignment."""

    def __init__(
        self,
        ctx: Context,
        node: ast.Assign | ast.AugAssign,
        goal: UnevenSlice,
        slices: list[UnevenSlice],
    ) -> None:
        self._ctx = ctx
        self._node = node
        self._goal = goal
        self._slices = slices
        self._place = AtPlace(ctx, node.value, goal, [goal, *slices])

    def statements(self) -> list[ast.stmt]:
        place, goal, node = self._place, self._goal, self._node
        new = place.element(node.value)
        to = place.element(goal.node, ast.Store())
        if all(self.is_apart(n) for n in ast.walk(node.value)):
            if isinstance(node, ast.AugAssign):
                assert isinstance(to, ast.Subscript)
                return [self._loop(ast.AugAssign(to, node.op, new))]
            return [self._loop(ast.Assign([to], new))]
        if isinstance(node, ast.AugAssign):
            new = place.at(ast.BinOp(place.element(goal.node), node.op, new))
        ctx = self._ctx
        part = part_of(ctx, ctx.evaluate(goal.node.value))
        assert part is not None
        shape = (part[1].shape[goal.place],)
        name = f"{part[0].array}_held"
        held = ctx.names.made_array(name, part[1].dtype, shape, ctx.span(node))
        return [
            self._loop(ast.Assign([self._kept(held, ast.Store())], new)),
            self._loop(ast.Assign([to], self._kept(held, ast.Load()))),
        ]

    def _kept(self, held: object, use: ast.expr_context) -> ast.expr:
        place = self._place
        at = place.at(ast.Name(place.var, ast.Load()))
        return place.at(ast.Subscript(place.given(held), at, use))

    def _loop(self, inside: ast.stmt) -> ast.stmt:
        place, goal = self._place, self._goal
        ends = [place.given(goal.low), place.given(goal.high)]
        over = place.at(ast.Call(place.given(range), ends, []))
        target = place.at(ast.Name(place.var, ast.Store()))
        return ast.copy_location(
            ast.For(target, over, [ast.copy_location(inside, self._node)], []), self._node
        )

    def is_apart(self, node: ast.AST) -> bool:
        """Whether each iteration reads nothing there that other iterations assign."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            return True
        ctx, goal = self._ctx, self._goal
        read = part_of(ctx, ctx.evaluate(node.value))
        written = part_of(ctx, ctx.evaluate(goal.node.value))
        if read is None or written is None or read[0].array != written[0].array:
            return True
        if not _is_whole(read[0]) or not _is_whole(written[0]):
            return False
        own = next((s for s in self._slices if s.node is node), None)
        if own is not None:
            return own.place == goal.place and own.low == goal.low
        index = values.as_affine(value(ctx, parts_of(node)[goal.place]))
        if index is None:
            return False
        ranges = ctx.names.ranges()
        if isinstance(goal.low, Affine) and (goal.low - index).interval(ranges)[0] > 0:
            return True
        return isinstance(goal.high, Affine) and (index - goal.high).interval(ranges)[0] >= 0


def _is_whole(view: View) -> bool:
    """Whether it is all of the array, so that subscripts are those of the array."""
    return all(not isinstance(d, Affine) and d.start == Affine() and d.step == 1 for d in view.dims)
