"""Captured tables: parts of them as operands, and entries at subscripts that are no constants.

Such an entry is a choice among the entries of a small table, that of a ROM of another.

``COEF[k]`` of four entries is ``(COEF[0] if k < 1 else COEF[1]) if k < 2 else ...``: copies of an unrolled loop find their
entry when they are compiled, elsewhere it is a tree of multiplexers, as deep as the subscript has bits.
"""

from __future__ import annotations

import ast
import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import CompareOp, Expr, loads
from dsl.expressions.types import IndexType, IntType
from dsl.expressions.value_range import type_range, value_range
from dsl.expressions.values import Value, plain
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.operands import value
from dsl.frontend.syntax.bases import base_of
from dsl.frontend.table_rows import TableRow, shape_of
from dsl.programs.inline import View
from dsl.programs.program import Array, Storage

MAX_ENTRIES = 64
"""A choice among as many takes one LUT of six inputs for each bit of an entry, as a memory of them does."""


def looked_up(
    ctx: Context, table: object, chain: Sequence[ast.Subscript]
) -> Value | TableRow | None:
    """The entry of a table of numbers, or the row; None where all subscripts are constants, or it is another object.

    Raises:
        LanguageError: W113 it is too large, or no table of numbers; W164 a subscript may be outside.
    """
    if isinstance(table, TableRow):
        return table if not chain else looked_up(ctx, table.table, [*table.links, *chain])
    if not (isinstance(table, (tuple, list)) or hasattr(table, "__array__")):
        return None
    parts = [link.slice for link in chain]
    nodes = [n for p in parts for n in (p.elts if isinstance(p, ast.Tuple) else [p])]
    if any(isinstance(n, ast.Slice) for n in nodes):
        return None
    keys = [value(ctx, n) for n in nodes]
    if all(is_number(k) for k in keys):
        return None
    shape = shape_of(table)
    if shape is not None and len(keys) < len(shape):
        return _row(ctx, table, chain[0].value, keys, shape)
    if _size(table) > MAX_ENTRIES or any(_is_followed(ctx, k) for k in keys):
        from dsl.frontend.arrays.roms import rom_entry  # needs NumPy, which other kernels do not

        return rom_entry(ctx, table, keys, chain[-1])
    return _Table(ctx, chain[-1], nodes).entry(table, keys, 0)


def _row(
    ctx: Context, table: object, base: ast.expr, keys: Sequence[Value], shape: tuple[int, ...]
) -> TableRow:
    links: list[ast.Subscript] = []
    for key in keys:
        place = ast.copy_location(ast.Name("n", ast.Load()), base)
        ctx.given[place] = key
        base = ast.copy_location(ast.Subscript(base, place, ast.Load()), base)
        links.append(base)
    is_steady = all(isinstance(k, int | Affine) for k in keys)
    return TableRow(table, tuple(links), shape[len(keys) :], is_steady)


def without_slices(
    ctx: Context, table: object, chain: list[ast.Subscript]
) -> tuple[object, list[ast.Subscript]]:
    """A part ``T[-3:]`` of a table that is no array, and the subscripts that are left; else both as they are."""
    while chain and isinstance(table, tuple | list) and isinstance(chain[0].slice, ast.Slice):
        ends = _ends(ctx, chain[0].slice)
        if ends is None:
            break
        table, chain = table[ends], chain[1:]
    return table, chain


def entries_of_row(ctx: Context, node: ast.expr) -> int | None:
    """How many numbers a row ``T[i]`` of a captured table, or a name of one, has; None of all else."""
    if isinstance(node, ast.Name) and ctx.names.find(node.id) is None:
        row = ctx.names.constant(node.id)
        shape = row.shape if isinstance(row, TableRow) else shape_of(row)
        return shape[0] if shape is not None and len(shape) == 1 else None
    if not isinstance(node, ast.Subscript) or not is_captured(ctx, base_of(node)):
        return None
    if (part := captured_part(ctx, node)) is not None:
        return part.shape[0] if len(part.shape) == 1 else None
    table = ctx.evaluate(base_of(node))
    link: ast.expr = node
    while isinstance(link, ast.Subscript):
        if not isinstance(table, tuple | list) or isinstance(link.slice, ast.Slice | ast.Tuple):
            return None
        if not table or len({len(r) for r in table if isinstance(r, tuple | list)}) != 1:
            return None
        table, link = table[0], link.value
    is_row = isinstance(table, tuple | list) and all(is_number(plain(x)) for x in table)
    return len(table) if is_row else None  # type: ignore[arg-type]


def _is_followed(ctx: Context, key: Value) -> bool:
    """Whether a subscript is a local whose type says too little: what it is given is looked at when all is read."""
    if not isinstance(key, Expr) or not isinstance(key.dtype, IntType):
        return False
    local = [
        isinstance(a := ctx.names.array(access.array), Array) and a.storage is Storage.LOCAL
        for access in loads(key)
    ]
    low, high = value_range(key, ctx.names.ranges(), lambda _, dtype: type_range(dtype))
    return bool(local) and all(local) and (low < 0 or high >= MAX_ENTRIES)


def _size(table: object) -> int:
    """The number of entries of a table, of a list by its first rows."""
    if hasattr(table, "__array__"):
        return int(getattr(table, "size", 1))
    if not isinstance(table, (tuple, list)):
        return 1
    return len(table) * _size(table[0]) if table else 0


MAX_POINTS = 4096
"""Values of loop variables that are tried: ``i % 3`` is 0 to 2, which its terms do not tell."""


class _Table:
    def __init__(self, ctx: Context, node: ast.Subscript, nodes: Sequence[ast.expr]) -> None:
        self._ctx = ctx
        self._node = node
        self._nodes = nodes
        self._left = MAX_ENTRIES

    def entry(self, table: object, keys: Sequence[Value], dim: int) -> Value:
        """What a table is at the keys from dimension ``dim`` on."""
        table = plain(table)
        if dim == len(keys):
            self._left -= 1
            is_value = is_number(table) or isinstance(table, Affine | Expr)
            if not is_value or self._left < 0:
                raise self._refused()
            return table  # type: ignore[return-value]
        if not (isinstance(table, (tuple, list)) or hasattr(table, "__array__")):
            raise self._refused()
        rows = [*table]  # type: ignore[misc]
        low, high = self._range(keys[dim], len(rows), dim)
        return self._choice(rows, keys, dim, (low, high))

    def _choice(
        self, rows: Sequence[object], keys: Sequence[Value], dim: int, among: tuple[int, int]
    ) -> Value:
        low, high = among
        if low == high:
            return self.entry(rows[low], keys, dim + 1)
        middle = (low + high + 1) // 2
        then = self._choice(rows, keys, dim, (low, middle - 1))
        orelse = self._choice(rows, keys, dim, (middle, high))
        if is_number(then) and is_number(orelse) and repr(then) == repr(orelse):
            return then  # zeros of floats have signs
        span = self._ctx.span(self._node)
        test = values.compare(CompareOp.LT, keys[dim], middle, span)
        return values.select(test, then, orelse, span)

    def _range(self, key: Value, extent: int, dim: int) -> tuple[int, int]:
        """The first and the last row that the key may be; negative ones count from the end, as in Python."""
        ranges = self._ctx.names.ranges()
        if isinstance(key, int):
            low = high = key
        elif isinstance(key, Affine):
            low, high = _exact(key, ranges)
        elif isinstance(key, Expr) and isinstance(key.dtype, IntType | IndexType):
            low, high = value_range(key, ranges, lambda _, dtype: type_range(dtype))
        else:
            raise self._refused()
        if low < -extent or high >= extent:
            node = self._nodes[dim]
            text = self._ctx.source.text(node)
            base = base_of(self._node)
            is_listed = isinstance(base, ast.Tuple | ast.List) or (
                isinstance(base, ast.Name) and self._ctx.names.constant(base.id) is not None
            )
            kind = "list" if is_listed else "captured table"
            raise self._ctx.error(
                "W164",
                f"the subscript {text} of the {kind} {self._ctx.source.text(base)} may be "
                f"{low} to {high}",
                node,
                f"it must be 0 to {extent - 1}: write min(max({text}, 0), {extent - 1}), or a remainder",
            )
        return low, high

    def _refused(self) -> Exception:
        text = self._ctx.source.text(base_of(self._node))
        return self._ctx.error(
            "W113",
            f"{text} is no captured table of at most {MAX_ENTRIES} numbers, and "
            f"{self._ctx.source.text(self._node)} is not a constant",
            self._node,
            "pass the table as an argument of type weft.const[...], e.g. weft.const[f32[8]]",
        )


def _exact(key: Affine, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """The range of an affine subscript: of all that its variables may be, where these are not too many."""
    spans = {name: ranges[name] for name in sorted(key.variables())}
    if key.is_linear or math.prod(high - low + 1 for low, high in spans.values()) > MAX_POINTS:
        return key.interval(ranges)
    points = itertools.product(*(range(low, high + 1) for low, high in spans.values()))
    found = [key.evaluate(dict(zip(spans, point, strict=True))) for point in points]
    return min(found), max(found)


@dataclass(frozen=True, slots=True)
class CapturedPart:
    """An array of NumPy that the kernel captures, or a part of one.

    Attributes:
        base: the expression of the array.
        dims: for each of its dimensions a subscript, or the numbers along a slice.
    """

    base: ast.expr
    dims: tuple[ast.expr | range, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the part."""
        return tuple(len(d) for d in self.dims if isinstance(d, range))


def captured_part(ctx: Context, node: ast.expr) -> CapturedPart | None:
    """An array of NumPy that the kernel captures, ``W``, or a part of one, ``W[i, 2:]``; None of all else."""
    base, parts = node, list[ast.expr]()
    if isinstance(node, ast.Subscript):
        base = node.value
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    root = base
    while isinstance(root, ast.Attribute):
        root = root.value
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    row = ctx.names.constant(root.id) if isinstance(root, ast.Name) else None
    if isinstance(row, TableRow):
        return _part_of_row(ctx, row, base, parts)
    if not is_captured(ctx, root) and not isinstance(row, numpy.ndarray):
        return None
    found = ctx.evaluate(base)
    if not isinstance(found, numpy.ndarray) or len(parts) > found.ndim:
        return None
    return _part_of_table(ctx, found.shape, base, parts)


def _part_of_row(
    ctx: Context, row: TableRow, base: ast.expr, parts: list[ast.expr]
) -> CapturedPart | None:
    """A row of an array of NumPy, or a part of one: that of the array at the row's subscripts in front."""
    shape = getattr(row.table, "shape", None)
    keys = [
        k
        for n in row.links
        for k in (n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice])
    ]
    if shape is None or not isinstance(base, ast.Name) or len(keys) + len(parts) > len(shape):
        return None
    whole = ast.copy_location(ast.Name(base.id, ast.Load()), base)
    ctx.given[whole] = row.table
    return _part_of_table(ctx, shape, whole, [*keys, *parts])


def _part_of_table(
    ctx: Context, shape: tuple[int, ...], base: ast.expr, parts: list[ast.expr]
) -> CapturedPart | None:
    dims: list[ast.expr | range] = []
    for part, extent in itertools.zip_longest(parts, shape):
        along = range(extent) if part is None else part
        if isinstance(part, ast.Slice):
            ends = _ends(ctx, part)
            if ends is None:
                return None
            along = range(extent)[ends]
        dims.append(along)
    made = CapturedPart(base, tuple(dims))
    return made if made.shape and all(made.shape) else None


def _ends(ctx: Context, node: ast.Slice) -> slice | None:
    """A slice of constants; None where an end is none."""
    ends: list[int | None] = []
    for each in (node.lower, node.upper, node.step):
        found = None if each is None else ctx.evaluate(each)
        if found is not None and type(found) is not int:
            return None
        ends.append(found)
    return None if ends[2] == 0 else slice(*ends)


def is_captured(ctx: Context, node: ast.expr) -> bool:
    """Whether it is a name from outside, such as ``np``, and no array of the kernel."""
    if not isinstance(node, ast.Name):
        return False
    if node in ctx.given:
        return not isinstance(ctx.given[node], Array | View | Affine | Expr)
    return ctx.names.find(node.id) is None and ctx.names.constant(node.id) is None


def is_of_module(ctx: Context, node: ast.Attribute) -> bool:
    """Whether what it is an attribute of is a name from outside, or an attribute of one: ``np.sum``, not ``x.sum``."""
    root: ast.expr = node.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return is_captured(ctx, root)
