"""Tables, rows of tables and parts of them, of which a loop takes one entry after the other beside something else.

``zip(x, TAPS[1:])`` of an array and a table, ``enumerate(KERNEL[r])`` of a row that a loop variable decides.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dsl.expressions.affine import Affine
from dsl.expressions.values import plain
from dsl.frontend.arrays.constant_items import constant_of, items_of
from dsl.frontend.arrays.tables import is_captured
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.operands import float_of_arguments
from dsl.frontend.syntax.bases import base_of
from dsl.frontend.table_rows import TableRow


@dataclass(frozen=True, slots=True)
class TablePart:
    """Entries of a table, or of a row: ``extent`` of them, from ``start`` by ``step``.

    Attributes:
        base: the expression that is subscripted.
        items: what they are, in order, where that is known; else they are of a row.
        row: the extents of an entry, of a row.
        is_table: no entry is a value that the kernel computes.
    """

    base: ast.expr
    start: int
    step: int
    extent: int
    items: list[Any] | None
    row: tuple[int, ...] = ()
    is_table: bool = True

    def entries(
        self, ctx: Context, target: ast.expr, place: Affine, at: ast.expr
    ) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Each name of the target with the entry that it is in the iteration at a place."""
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else None
        if self.items is not None and names is not None and _fits(self.items, len(names)):
            for n, name in enumerate(names):
                column = column_of([item[n] for item in self.items])
                base = _given(ctx, at, column, getattr(self.base, "id", "table"))
                part = replace(self, base=base, start=0, step=1, items=[*column])
                yield from part.entries(ctx, name, place, at)
            return
        entry: ast.expr = ast.Subscript(
            self.base, _given(ctx, at, place * self.step + self.start), ast.Load()
        )
        entry = ast.copy_location(entry, at)
        if names is not None and self.row == (len(names),):
            for n, name in enumerate(names):
                inner = ast.Subscript(entry, _given(ctx, at, n), ast.Load())
                yield name, ast.copy_location(inner, at)
            return
        yield target, self._as_float(ctx, entry, at)

    def _as_float(self, ctx: Context, entry: ast.expr, at: ast.expr) -> ast.expr:
        """A fraction in the type that the arguments have."""
        dtype = float_of_arguments(ctx)
        if dtype is None or not any(isinstance(plain(x), float) for x in self.items or []):
            return entry
        return ast.copy_location(ast.Call(_given(ctx, at, dtype), [entry], []), at)


def column_of(column: list[Any]) -> Any:
    """A column as a table: an array of NumPy where its entries are of one."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and all(isinstance(x, numpy.generic | numpy.ndarray) for x in column):
        return numpy.array(column)
    return column


def table_part(ctx: Context, of: ast.expr) -> TablePart | None:
    """The entries of a table or a row that a loop runs over; None of all else."""
    items = items_of(ctx, of)
    if items:
        names = [n.id for n in ast.walk(of) if isinstance(n, ast.Name)]
        base = _given(ctx, of, _whole(ctx, of, items), names[0] if len(names) == 1 else "table")
        return TablePart(base, 0, 1, len(items), items)
    match of:
        case ast.Call(args=[inner], keywords=[]) if ctx.evaluate(of.func) in (
            list,
            tuple,
            reversed,
        ):
            part = table_part(ctx, inner)
            if part is None or ctx.evaluate(of.func) is not reversed:
                return part
            last = part.start + (part.extent - 1) * part.step
            return replace(part, start=last, step=-part.step)
        case ast.Subscript(slice=ast.Slice() as along, value=inner):
            part = table_part(ctx, inner)
            ends = [
                None if e is None else constant_of(ctx, e)
                for e in (along.lower, along.upper, along.step)
            ]
            if part is None or not all(e is None or isinstance(e, int) for e in ends):
                return None
            left = range(part.start, part.start + part.extent * part.step, part.step)[slice(*ends)]  # type: ignore[arg-type]
            return (
                replace(part, start=left.start, step=left.step, extent=len(left)) if left else None
            )
        case ast.Name() | ast.Subscript() if _is_table(ctx, base_of(of)):
            found = ctx.evaluate(of)
            if isinstance(found, TableRow) and found.is_steady:
                return TablePart(of, 0, 1, found.shape[0], None, found.shape[1:])
            if isinstance(found, list) and found:  # of values of the kernel
                return TablePart(of, 0, 1, len(found), None, is_table=False)
    return None


def _is_table(ctx: Context, base: ast.expr) -> bool:
    """Whether a name is that of a captured table, of a row of one, or of a list of values."""
    if base in ctx.given or not isinstance(base, ast.Name):
        return isinstance(ctx.given.get(base), list | tuple | TableRow)
    return is_captured(ctx, base) or isinstance(ctx.names.constant(base.id), list | TableRow)


def _whole(ctx: Context, of: ast.expr, items: list[Any]) -> object:
    found = constant_of(ctx, of)
    return found if hasattr(found, "__array__") else items


def _fits(items: list[Any], count: int) -> bool:
    return all(not is_number(plain(i)) and len(i) == count for i in items)


def _given(ctx: Context, at: ast.expr, value: object, name: str = "table") -> ast.expr:
    made = ast.copy_location(ast.Name(name, ast.Load()), at)
    ctx.given[made] = value
    return made
