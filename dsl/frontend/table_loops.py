"""Loops over constants: over the entries of tables, or copies of the body.

Before::

    for dr, row in enumerate(KERNEL):
        for dc, w in enumerate(row):
            acc += w * image[r + dr, c + dc]

After::

    for dr in range(3):
        for dc in range(3):
            acc += KERNEL[dr][dc] * image[r + dr, c + dc]

A search unrolls and pipelines such loops, and each copy of an unrolled one finds its entry when it is compiled. Where the
numbers decide what the body is (they are subscripts, bounds, shifts, divisors), and they are few, the body stands there once
for each of them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dsl.expressions.affine import Affine
from dsl.expressions.intrinsics import grid, intrinsic_of
from dsl.expressions.values import plain
from dsl.frontend.arrays.constant_items import items_of
from dsl.frontend.arrays.tables import is_of_module
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.copies import MAX_COPIES, MAX_NESTED, Copies
from dsl.frontend.operands import float_of_arguments
from dsl.frontend.syntax.value_uses import is_only_row, needs_numbers, stored_in
from dsl.frontend.table_parts import column_of
from dsl.frontend.table_rows import shape_of

FEW = 16
"""Numbers of which copies of a body are as good as a loop."""

FEW_ITEMS = 2
"""As many numbers always grow evenly, which says nothing."""


class Named(ast.Assign):
    """An assignment of an entry of a table, or of a row, to a name that stands for it and is no local."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One name of a loop's target, and what it is in each iteration."""

    name: str
    column: list[Any]

    @property
    def numbers(self) -> list[object]:
        return [plain(x) for x in self.column]

    @property
    def step(self) -> int | None:
        """By how much integers grow from one iteration to the next, where that is always as much."""
        numbers = self.numbers
        if not all(isinstance(x, int) and not isinstance(x, bool) for x in numbers):
            return None
        steps = {b - a for a, b in pairwise(numbers)}  # type: ignore[operator]
        return next(iter(steps or {1})) if len(steps) < 2 else None

    @property
    def is_row(self) -> bool:
        return not is_number(plain(self.column[0]))

    @property
    def table(self) -> object:
        """The column as a table: an array of NumPy where its entries are of one."""
        return column_of(self.column)


def table_loop(ctx: Context, node: ast.For) -> ast.For | Copies | None:
    """A loop over constants as one over ``range``, or as copies of its body; None of all other loops.

    Raises:
        LanguageError: W109 where the items do not fit the loop's variables.
    """
    if _is_of_ranges(ctx, node.iter):
        return None
    items = items_of(ctx, node.iter)
    if items is None:
        return None
    leaves = [*_leaves(ctx, node, node.target, items)]
    if not items:
        return Copies(())
    made = _Loop(ctx, node, leaves)
    return made.loop() if made.is_loop() else _copies(ctx, node, leaves)


def _copies(ctx: Context, node: ast.For, leaves: list[_Leaf]) -> Copies:
    """The body for each of the items; a name that the body changes is a local, which each copy begins with its constant."""
    stored = stored_in(node.body)
    names = {x.name: ctx.names.unique(x.name) if x.name in stored else x.name for x in leaves}
    first: list[ast.stmt] = []
    for name, constant in names.items():
        if name != constant:
            target, value = ast.Name(name, ast.Store()), ast.Name(constant, ast.Load())
            first.append(ast.Assign([target], value))
    for statement in first:
        for part in ast.walk(statement):
            if isinstance(part, ast.stmt | ast.expr):
                ast.copy_location(part, node.iter)
    count = len(leaves[0].column)
    made = [{names[x.name]: plain(x.column[n]) for x in leaves} for n in range(count)]
    return Copies(tuple(made), (*first, *node.body))


def _is_of_ranges(ctx: Context, node: ast.expr) -> bool:
    """Whether it is a range, or a grid of them."""
    if not isinstance(node, ast.Call):
        return False
    called = _function(ctx, node)
    if called is range or intrinsic_of(called) is grid:
        return True
    if getattr(called, "__name__", "") == "ndindex":
        return True
    args = [_function(ctx, a) for a in node.args]
    is_plain = not node.keywords and all(a is range for a in args)
    return is_plain and called in (itertools.product, list, tuple, reversed)


def _function(ctx: Context, node: ast.expr) -> object:
    """What is called, a function from outside; None of methods and all else."""
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Name) or (isinstance(func, ast.Attribute) and is_of_module(ctx, func)):
        return ctx.evaluate(func)
    return None


def _leaves(ctx: Context, node: ast.For, target: ast.expr, items: list[Any]) -> Iterator[_Leaf]:
    match target:
        case ast.Name(id=name):
            yield _Leaf(name, items)
            return
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            if all(_length(item) == len(parts) for item in items):
                for n, part in enumerate(parts):
                    yield from _leaves(ctx, node, part, [item[n] for item in items])
                return
    text = ctx.source.text(node.iter)
    message = f"what the loop runs over does not fit its variables: {ctx.source.text(target)}"
    first = next((i for i in items if _length(i) != len(getattr(target, "elts", ()))), None)
    what = "a number" if first is None or _length(first) is None else f"{_length(first)} items"
    raise ctx.error("W109", message, target, f"{text} gives {what}: write as many names")


def _length(item: Any) -> int | None:
    return None if is_number(plain(item)) else len(item)


class _Loop:
    """The loop over tables: ``counter`` is the name that counts its iterations, ``even`` are those that are affine in it."""

    def __init__(self, ctx: Context, node: ast.For, leaves: list[_Leaf]) -> None:
        self._ctx, self._node, self._leaves = ctx, node, leaves
        self._count = len(leaves[0].column)
        self._stored = stored_in(node.body)
        is_alone = isinstance(node.target, ast.Name)
        steps = {1, leaves[0].step} - {0, None} if is_alone and self._count > 1 else {1}
        counts = [x for x in leaves if x.step in steps and x.name not in self._stored]
        self._counter = counts[0] if counts and (is_alone or self._is_numbered()) else None
        rest = [x for x in leaves if x is not self._counter]
        self._even = [
            x for x in rest if self._count > FEW_ITEMS and x.step is not None and self._needs([x])
        ]
        self._open = [x for x in rest if x not in self._even]

    def _is_numbered(self) -> bool:
        """Whether the first name counts, as in ``enumerate``."""
        of = self._node.iter
        return _function(self._ctx, of) is enumerate

    def _needs(self, leaves: list[_Leaf]) -> bool:
        return needs_numbers(self._node.body, {x.name for x in leaves})

    def is_loop(self) -> bool:
        """Whether a loop over tables does the same, and is no worse than copies of the body."""
        rows = [x for x in self._open if x.is_row]
        body = self._node.body
        if any(shape_of(x.table) is None for x in self._open):
            return False  # rows of different length
        if any(x.name in self._stored for x in rows):
            return False
        if self._count > MAX_COPIES or self._count * self._ctx.copies > MAX_NESTED:
            return True
        if not all(is_only_row(body, x.name) for x in rows):
            return False
        is_beside = isinstance(self._node.iter, ast.Call)
        if not self._open:
            return is_beside or self._counter is not None or self._count > FEW
        if self._needs(self._open):
            return is_beside and self._count > FEW and not rows
        return is_beside or self._count > FEW or bool(rows)

    def loop(self) -> ast.For:
        """The loop over a range, in which the names stand for entries."""
        ctx, counter = self._ctx, self._counter
        start, step = 0, 1
        if counter is None:
            name = self._leaves[0].name
            var = ctx.names.unique_loop(f"{name}_i", ctx.names.loops())
        else:
            assert counter.step is not None
            var, step = counter.name, counter.step
            (start,) = [x for x in counter.numbers[:1] if isinstance(x, int)]
        place = Affine.of(var) - start
        first: list[ast.stmt] = []
        for leaf in (x for x in self._leaves if x is not counter):
            entry = self._entry(leaf, place)
            kind = ast.Assign if leaf.name in self._stored else Named
            name_ = self._at(ast.Name(leaf.name, ast.Store()))
            first.append(self._at(kind([name_], entry)))
        ends = [self._given(n) for n in (start, start + self._count * step, step)]
        over = self._at(ast.Call(self._given(range), ends, []))
        target = self._at(ast.Name(var, ast.Store()))
        body = [*first, *self._node.body]
        return ast.copy_location(ast.For(target, over, body, self._node.orelse), self._node)

    def _entry(self, leaf: _Leaf, place: Affine) -> ast.expr:
        """The entry at a place, of floats in the type that the arguments have; of what grows evenly a multiple of it."""
        first = leaf.numbers[0]
        if leaf in self._even and isinstance(first, int):
            return self._given(place * (leaf.step or 0) + first)
        table = self._given(leaf.table, self._table_name())
        entry: ast.expr = self._at(ast.Subscript(table, self._given(place), ast.Load()))
        dtype = float_of_arguments(self._ctx)
        if any(isinstance(x, float) for x in leaf.numbers) and dtype is not None:
            entry = self._at(ast.Call(self._given(dtype), [entry], []))
        return entry

    def _table_name(self) -> str:
        """The name that a memory of the entries has: that of what is run over, where it is one."""
        called = {c.func for c in ast.walk(self._node.iter) if isinstance(c, ast.Call)}
        names = {
            n.id for n in ast.walk(self._node.iter) if isinstance(n, ast.Name) and n not in called
        }
        return names.pop() if len(names) == 1 else "table"

    def _given(self, value: object, name: str = "table") -> ast.expr:
        made: ast.expr = self._at(ast.Name(name, ast.Load()))
        self._ctx.given[made] = value
        return made

    def _at(self, made: Any) -> Any:
        return ast.copy_location(made, self._node.iter)
