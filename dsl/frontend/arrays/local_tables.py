"""Lists and tuples of constants that a kernel only reads: tables, as those that are captured.

Before::

    weights = [1, 2, 1]
    for k in range(3):
        total += weights[k] * x[k]

After::

    for k in range(3):
        total += [1, 2, 1][k] * x[k]

As a local array each would be a memory that is written in front of the loop, of numbers that no reader knows.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence

from dsl.expressions.values import plain
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.arrays.tables import entries_of_row, is_captured, without_slices
from dsl.frontend.arrays.trial import computed_shape
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.declare import check_name
from dsl.frontend.syntax.bases import base_of
from dsl.frontend.syntax.value_uses import is_only_row
from dsl.frontend.table_rows import TableRow

_AROUND = ("enumerate", "zip", "reversed", "sorted")
_FOLDED = ("sum", "min", "max", "any", "all")
_PURE = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)


def local_table(ctx: Context, node: ast.stmt) -> bool:
    """Whether a statement gives a table of constants its name, which stands for it from here on."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name) as target], value=source):
            pass
        case _:
            return False
    if name not in ctx.once or ctx.names.find(name) is not None:
        return False
    if isinstance(source, ast.Subscript) and _is_read_row(ctx, source, name):
        check_name(ctx.source, name, "this row of a table", target)
        ctx.names.bind(name, ctx.evaluate(source))
        return True
    table = _table(ctx, source)
    if table is None or not _is_only_subscripted(ctx.source.node, name, _rank(table)):
        return False
    check_name(ctx.source, name, "this table", target)
    ctx.names.bind(name, table)
    return True


def _is_read_row(ctx: Context, source: ast.Subscript, name: str) -> bool:
    """Whether it is a row ``KERNEL[r]`` of a captured table, of which nothing is written."""
    if not is_captured(ctx, base_of(source)) or entries_of_row(ctx, source) is None:
        return False
    found = ctx.evaluate(source)
    is_steady = isinstance(found, TableRow) and found.is_steady
    return is_steady and is_only_row([ctx.source.node], name, 1)


def as_list(ctx: Context, node: ast.Assign | ast.AugAssign) -> ast.Assign | ast.AugAssign:
    """``x = (a, b)`` as ``x = [a, b]``, and ``x = list(range(8))`` as what its elements are: a local array is declared so."""
    match node:
        case ast.Assign(targets=[ast.Name()] as targets, value=ast.Tuple(elts=[_, *_]) as source):
            return _assigned(node, targets, _listed(source))
        case ast.Assign(
            targets=[ast.Name()] as targets,
            value=ast.Call(func=ast.Name() as func, args=[of], keywords=[]),
        ) if ctx.evaluate(func) in (list, tuple):
            made = _elements_of(ctx, of)
            return node if made is None else _assigned(node, targets, made)
    return node


def _assigned(node: ast.Assign, targets: list[ast.expr], value: ast.expr) -> ast.Assign:
    return ast.copy_location(ast.Assign(targets, ast.copy_location(value, node.value)), node)


def _elements_of(ctx: Context, of: ast.expr) -> ast.expr | None:
    """The list of a range, or of the elements of an array of one dimension; None of all else."""
    if isinstance(of, ast.Call) and ctx.evaluate(of.func) is range:
        return _range(ctx, of)
    part = part_of(ctx, view_of(ctx, of))
    if part is not None and len(part[1].shape) == 1:
        return ast.Call(_at(of, ast.Attribute(of, "copy", ast.Load())), [], [])
    shape = computed_shape(ctx, of) if part is None else None
    return of if shape is not None and len(shape) == 1 else None


def _range(ctx: Context, of: ast.Call) -> ast.expr | None:
    """``[first + n * step for n in range(count)]``; None of ends that are no constants."""
    ends = [e for a in of.args if isinstance(e := ctx.evaluate(a), int)]
    if of.keywords or not 1 <= len(of.args) == len(ends) <= 3 or ends[2:] == [0]:
        return None
    found = range(*ends)
    name = ctx.names.unique_loop("n", ctx.names.loops())
    number: ast.expr = ast.Name(name, ast.Load())
    if found.step != 1:
        number = ast.BinOp(number, ast.Mult(), ast.Constant(found.step))
    if found.start:
        number = ast.BinOp(number, ast.Add(), ast.Constant(found.start))
    func, count = ast.Name("range", ast.Load()), ast.Constant(len(found))
    ctx.given[func] = range
    over = ast.Call(func, [count], [])
    made = ast.ListComp(number, [ast.comprehension(ast.Name(name, ast.Store()), over, [], 0)])
    for node in ast.walk(made):
        if isinstance(node, ast.expr):
            _at(of, node)
    return made


def _at(place: ast.expr, node: ast.expr) -> ast.expr:
    return ast.copy_location(node, place)


def _listed(node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Tuple):
        return node
    return ast.copy_location(ast.List([_listed(e) for e in node.elts], ast.Load()), node)


def _table(ctx: Context, source: ast.expr) -> object:
    """A list of numbers, or of lists of one length; an array of NumPy where its type is said; None of all else."""
    match source:
        case ast.List() | ast.Tuple():
            return _numbers(ctx, source)
        case ast.Call(func=ast.Attribute() as func, args=[ast.List() as items, *types]):
            if numpy_name(ctx.evaluate(func)) not in ("array", "asarray"):
                return None
        case ast.Name() | ast.Subscript(slice=ast.Slice()):
            return _named(ctx, source)
        case _:
            return None
    given = [*types, *(k.value for k in source.keywords if k.arg == "dtype")]
    numbers = _numbers(ctx, items)
    if numbers is None or len(given) != len(types) + len(source.keywords) or len(given) > 1:
        return None
    dtype = ctx.evaluate(given[0]) if given else None
    if not isinstance(dtype, type) or not hasattr(dtype, "dtype"):
        return None  # its elements are found from what is assigned to them
    try:
        return sys.modules["numpy"].array(numbers, dtype)
    except (OverflowError, ValueError):
        return None


def _named(ctx: Context, source: ast.Name | ast.Subscript) -> list[object] | None:
    """A table that has a name already, or the part of it along a slice of constants."""
    base = base_of(source)
    if not isinstance(base, ast.Name) or ctx.names.find(base.id) is not None:
        return None
    table = ctx.evaluate(base)
    chain = [source] if isinstance(source, ast.Subscript) else []
    if chain and chain[0].value is not base:
        return None
    found, left = without_slices(ctx, table, chain)
    return None if left or not isinstance(found, tuple | list) else _copied(found)


def _copied(table: Sequence[object]) -> list[object] | None:
    """Lists of numbers, or of lists of one length, of such ones or tuples; None of all else."""
    found = [_copied(x) if isinstance(x, tuple | list) else x for x in table]
    numbers = [is_number(plain(x)) and not isinstance(x, bool) for x in found]
    lengths = {len(x) for x in found if isinstance(x, list)}
    is_table = all(numbers) or (len(lengths) == 1 and not any(numbers) and None not in found)
    return found if found and is_table else None


def _numbers(ctx: Context, node: ast.List | ast.Tuple) -> list[object] | None:
    """The numbers that are written there, all of them floats where some are."""
    found = _elements(ctx, node)
    if found is None or not any(isinstance(x, float) for x in _flat(found)):
        return found
    return _floats(found)


def _elements(ctx: Context, node: ast.List | ast.Tuple) -> list[object] | None:
    found: list[object] = []
    for e in node.elts:
        if isinstance(e, ast.List | ast.Tuple):
            found.append(_elements(ctx, e))
        elif _is_pure(ctx, e) and is_number(number := plain(ctx.evaluate(e))):
            found.append(None if isinstance(number, bool) else number)
        else:
            return None
    kinds = {_rank(x) if isinstance(x, list) else 0 for x in found}
    lengths = {len(x) for x in found if isinstance(x, list)}
    return found if found and None not in found and len(kinds) == 1 and len(lengths) < 2 else None


def _is_pure(ctx: Context, node: ast.expr) -> bool:
    """Whether nothing but constants is computed there, also by functions of a module, such as ``math.cos``."""
    match node:
        case ast.Name():
            return ctx.names.find(node.id) is None
        case ast.Attribute(value=value):
            return is_captured(ctx, value)
        case ast.Call(func=ast.Attribute() as func, args=args, keywords=[]):
            return is_captured(ctx, func.value) and all(_is_pure(ctx, a) for a in args)
        case ast.expr():
            parts = ast.iter_child_nodes(node)
            return isinstance(node, _PURE) and all(
                _is_pure(ctx, p) if isinstance(p, ast.expr) else isinstance(p, _PURE) for p in parts
            )


def _flat(found: object) -> Iterator[object]:
    for x in found if isinstance(found, list) else [found]:
        yield from _flat(x) if isinstance(x, list) else [x]


def _floats(found: list[object]) -> list[object]:
    return [_floats(x) if isinstance(x, list) else float(x) for x in found]  # type: ignore[arg-type]


def _rank(table: object) -> int:
    """The number of dimensions."""
    if isinstance(table, list):
        return 1 + _rank(table[0])
    return int(getattr(table, "ndim", 0))


def _is_only_subscripted(function: ast.AST, name: str, rank: int) -> bool:
    """Whether elements of it are read, and nothing else is done with the name: no part of it, no other name for it."""
    uses, good = 0, 0
    for n in ast.walk(function):
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load):
            uses += 1
        elif isinstance(n, ast.FunctionDef | ast.Lambda) and n is not function:
            inside = {m.id for m in ast.walk(n) if isinstance(m, ast.Name)}
            if name in inside:
                return False
    for n in ast.walk(function):
        good += _reads(n, name, rank, function)
    return 0 < uses == good


def _reads(node: ast.AST, name: str, rank: int, function: ast.AST) -> int:
    """How often a node reads elements, or the length, of what has the name: in the node itself, not inside of it."""
    match node:
        case ast.Subscript(ctx=ast.Load()):
            return int(_subscripts(node, name) == rank)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=found)]):
            return int(found == name)
        case ast.Call(func=ast.Name(id=func), args=[ast.Name(id=found)]) if func in _FOLDED:
            return int(found == name and rank == 1)
        case ast.For(target=target, iter=over) | ast.comprehension(target=target, iter=over):
            rows = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
            is_read = rank == 1 or not _writes(function, rows)
            return _runs_over(over, name) if is_read else 0
    return 0


def _writes(function: ast.AST, rows: set[str]) -> bool:
    """Whether an element of what has one of these names may be written: it is a target, or is handed on."""
    for n in ast.walk(function):
        match n:
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                written: list[ast.expr] = [n.value]
            case ast.Call(func=func, args=args):
                written = [] if getattr(func, "id", "") in (*_AROUND, *_FOLDED, "len") else [*args]
                written += [func.value] if isinstance(func, ast.Attribute) else []
            case ast.Assign(value=ast.Name() as other) | ast.AugAssign(target=ast.Name() as other):
                written = [other]
            case _:
                continue
        if any(isinstance(b := base_of(w), ast.Name) and b.id in rows for w in written):
            return True
    return False


def _subscripts(node: ast.Subscript, name: str) -> int:
    """How many subscripts without slices are behind the name, where it is the base; else none."""
    count = 0
    base: ast.expr = node
    while isinstance(base, ast.Subscript):
        parts = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
        if any(isinstance(p, ast.Slice | ast.Starred | ast.List) for p in parts):
            return 0
        count += len(parts)
        base = base.value
    return count if isinstance(base, ast.Name) and base.id == name else 0


def _runs_over(over: ast.expr, name: str) -> int:
    """How often a loop runs over it, or a part of it, by itself or beside something else."""
    match over:
        case ast.Call(func=ast.Name(id=func), args=args) if func in _AROUND:
            return sum(_runs_over(a, name) for a in args)
        case ast.Subscript(slice=ast.Slice(), value=of):
            return _runs_over(of, name)
        case ast.Name(id=found):
            return int(found == name)
    return 0
