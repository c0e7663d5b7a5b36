"""Loops over arrays, ``enumerate``, ``zip``, ``reversed`` and constants, made into loops over ``range``.

Before::

    for i, v in enumerate(x):
        y[i] = 2 * v

After::

    for i in range(len(x)):
        v = x[i]
        y[i] = 2 * v

Constants that are no ``range``, as in ``for dy, dx in ((0, 1), (1, 0))``, are no loop in hardware: the body stands
there once for each of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

from dsl.expressions.affine import Affine
from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.arrays.parts import type_of, within
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context
from dsl.frontend.copies import Copies
from dsl.frontend.syntax.value_uses import stored_in
from dsl.frontend.table_loops import Named
from dsl.frontend.table_parts import table_part
from dsl.frontend.table_rows import TableRow
from dsl.programs.inline import Slice, View
from dsl.programs.program import Array

Node = TypeVar("Node", bound=ast.AST)

_HELP = (
    "write 'for i in range(start, stop, step):', 'for i, j in weft.grid(n, m):', or loop over arrays of "
    "one dimension, as with enumerate(x) and zip(x, y)"
)


def plain_loop(ctx: Context, node: ast.For) -> ast.For | Copies | None:
    """The same loop over ``range``, or constants for copies of its body; None where it is plain already.

    Raises:
        LanguageError: W109 what cannot be looped over.
    """
    made = _Iteration(ctx, node)
    match node.iter:
        case ast.Call() if _is_in_shape(node.iter):
            return made.over(None, 0, node.iter)
        case ast.Call(func=func):
            called = ctx.evaluate(func)
            if called in (list, tuple) and _is_call_of_range(ctx, node.iter):
                return _with_iter(node, node.iter.args[0])
            if called is reversed:
                return made.backwards(node.iter)
            if called is enumerate:
                return made.numbered(node.iter)
            if called is zip:
                return made.over(None, 0, node.iter)
            return None
        case ast.Tuple() | ast.List():
            return made.over(None, 0, made.table(node.iter))
    if table_part(ctx, node.iter) is not None:
        return made.over(None, 0, node.iter)
    found = ctx.evaluate(node.iter) if view_of(ctx, node.iter) is None else None
    if isinstance(found, TableRow):
        raise made.refused_row(node.iter)
    if found is None or isinstance(found, Array):
        return made.over(None, 0, node.iter)
    return None


def _is_call_of_range(ctx: Context, call: ast.Call) -> bool:
    """Whether it is ``list(range(...))``."""
    match call:
        case ast.Call(args=[ast.Call(func=func)], keywords=[]):
            return ctx.evaluate(func) is range
    return False


def _with_iter(node: ast.For, over: ast.expr) -> ast.For:
    return ast.copy_location(ast.For(node.target, over, node.body, node.orelse), node)


def _constants(ctx: Context, node: ast.expr) -> list[object]:
    """The constants of a tuple or list, which may be tuples again."""
    assert isinstance(node, ast.Tuple | ast.List)
    return [
        _constants(ctx, n) if isinstance(n, ast.Tuple | ast.List) else ctx.evaluate(n)
        for n in node.elts
    ]


class _Iteration:
    def __init__(self, ctx: Context, node: ast.For) -> None:
        self._ctx = ctx
        self._node = node
        self._of_tables: set[ast.expr] = set()

    def numbered(self, call: ast.Call) -> ast.For | Copies:
        """``for i, v in enumerate(x, start)``."""
        target, args = self._node.target, call.args
        given = [*args[1:], *(k.value for k in call.keywords if k.arg == "start")]
        known = (
            len(args) > 0 and len(given) < 2 and len(given) == len(args) - 1 + len(call.keywords)
        )
        pair = isinstance(target, ast.Tuple) and len(target.elts) == 2 and known
        if not pair or not isinstance(target.elts[0], ast.Name):  # type: ignore[attr-defined]
            raise self.refused("enumerate(x) gives a number and an element", call)
        start = self._ctx.evaluate(given[0]) if given else 0
        if not isinstance(start, int):
            raise self.refused("enumerate begins at an integer constant", given[0])
        number, element = target.elts  # type: ignore[attr-defined]
        return self.over(number, start, self.table(args[0]), element)

    def table(self, of: ast.expr) -> ast.expr:
        """What a loop runs over beside something else; constants that are written there are a table."""
        if not isinstance(of, ast.Tuple | ast.List):
            return of
        return self._known(_constants(self._ctx, of), ast.Name("table", ast.Load()))

    def over(
        self, number: ast.Name | None, start: int, of: ast.expr, target: ast.expr | None = None
    ) -> ast.For:
        """The loop over the elements of an array, or of several in a ``zip``; ``number`` counts them from ``start``."""
        ctx = self._ctx
        target = target or self._node.target
        if number is None:
            base = target.id if isinstance(target, ast.Name) else "n"
            var = ctx.names.unique_loop(f"{base}_i", ctx.names.loops())
            number = self._at(ast.Name(var, ast.Store()))
        place = Affine.of(number.id) - start
        pairs = [*self._pairs(target, of, place)]
        extent = min(length for _, _, length in pairs)
        stored = stored_in(self._node.body)
        first: list[ast.stmt] = []
        for name, entry, _ in pairs:
            is_kept = isinstance(name, ast.Name) and name.id not in stored
            kind = Named if entry in self._of_tables and is_kept else ast.Assign
            first.append(self._at(kind([name], entry)))
        return self._loop(number, (start, start + extent), [*first, *self._node.body])

    def _pairs(
        self, target: ast.expr, of: ast.expr, place: Affine
    ) -> Iterator[tuple[ast.expr, ast.expr, int]]:
        """Each target with the element that it is, and the number of elements."""
        ctx = self._ctx
        in_shape = isinstance(of, ast.Call) and _is_in_shape(of)
        if isinstance(of, ast.Call) and not in_shape and ctx.evaluate(of.func) is zip:
            targets = target.elts if isinstance(target, ast.Tuple) else []
            if len(targets) != len(of.args) or of.keywords:
                raise self.refused("zip gives an element of each of its arrays", of)
            for inner, part in zip(targets, of.args, strict=True):
                yield from self._pairs(inner, self.table(part), place)
            return
        view = self._view(of)
        array = ctx.names.array(view.array) if view is not None else None
        if in_shape:
            expr = ArrayExprs(ctx, self._node).of(of)
            if expr is not None and len(expr.shape) == 1:
                yield target, expr.at([place]), expr.shape[0]
                return
        if array is None and (table := table_part(ctx, of)) is not None:
            for name, entry in table.entries(ctx, target, place, self._node.iter):
                if table.is_table:
                    self._of_tables.add(entry)
                yield name, entry, table.extent
            return
        if (
            view is None
            and isinstance(of, ast.Subscript)
            and isinstance(ctx.evaluate(of), TableRow)
        ):
            raise self.refused_row(of)
        if view is None or not isinstance(array, Array):
            text = ctx.source.text(of)
            raise self.refused(
                f"a loop runs over range(...), weft.grid(...) or arrays, not over {text}", of
            )
        shape = type_of(view, array).shape
        yield from ((t, e, shape[0]) for t, e in self._elements(target, view, place, shape))

    def _view(self, of: ast.expr) -> View | None:
        """An array or a part of one, also ``reversed(x)``."""
        if not isinstance(of, ast.Call):
            return view_of(self._ctx, of)
        plain_ = len(of.args) == 1 and not of.keywords
        if not plain_ or _is_in_shape(of) or self._ctx.evaluate(of.func) is not reversed:
            return None
        view = self._view(of.args[0])
        if view is None:
            return None
        first = next(n for n, d in enumerate(view.dims) if isinstance(d, Slice))
        along = view.dims[first]
        assert isinstance(along, Slice)
        start = along.start + (along.extent - 1) * along.step
        back = Slice(start, along.extent, -along.step)
        return View(view.array, (*view.dims[:first], back, *view.dims[first + 1 :]))

    def _elements(
        self, target: ast.expr, view: View, place: Affine, shape: tuple[int, ...]
    ) -> Iterator[tuple[ast.expr, ast.expr]]:
        """A target with the element, or the row, at a place; several of which each is an element of the row."""
        base = self._known(self._ctx.names.array(view.array), ast.Name(view.array, ast.Load()))
        if isinstance(target, ast.Tuple) and len(shape) == 2 and len(target.elts) == shape[1]:
            for n, part in enumerate(target.elts):
                at = view.placed((place, Affine.of(n)))
                subscripts = self._at(ast.Tuple([self._known(i) for i in at], ast.Load()))
                yield part, self._at(ast.Subscript(base, subscripts, ast.Load()))
            return
        rest = [Slice(Affine(), extent) for extent in shape[1:]]
        part_ = within(view, [place, *rest])
        if rest:
            yield target, self._known(part_, ast.Name(view.array, ast.Load()))
            return
        indices = [d for d in part_.dims if isinstance(d, Affine)]
        subscripts = self._at(ast.Tuple([self._known(i) for i in indices], ast.Load()))
        yield target, self._at(ast.Subscript(base, subscripts, ast.Load()))

    def backwards(self, call: ast.Call) -> ast.For | Copies:
        """``for i in reversed(range(a, b))``, ``for v in reversed(x)``."""
        inner = call.args[0] if len(call.args) == 1 else call
        if isinstance(inner, ast.Call) and self._ctx.evaluate(inner.func) is range:
            args = inner.args
            if not 1 <= len(args) <= 2:
                raise self.refused("reversed(range(...)) is of a range with step 1", call)
            low: ast.expr = args[0] if len(args) == 2 else self._known(0)
            bounds = [self._less(args[-1]), self._less(low), self._known(-1)]
            return self._over_range(self._node.target, bounds, self._node.body)
        if inner is call or (self._view(call) is None and table_part(self._ctx, call) is None):
            raise self.refused(f"{self._ctx.source.text(call)} is no range and no array", call)
        return self.over(None, 0, call)

    def _loop(
        self, target: ast.expr, bounds: tuple[int, int], body: list[ast.stmt], step: int = 1
    ) -> ast.For:
        return self._over_range(target, [self._known(b) for b in (*bounds, step)], body)

    def _over_range(self, target: ast.expr, args: list[ast.expr], body: list[ast.stmt]) -> ast.For:
        call = ast.copy_location(ast.Call(self._known(range), args, []), self._node.iter)
        node = ast.For(target, call, body, self._node.orelse)
        return ast.copy_location(node, self._node)

    def _less(self, node: ast.expr) -> ast.expr:
        """``node - 1``."""
        return ast.copy_location(ast.BinOp(node, ast.Sub(), self._known(1)), node)

    def _known(self, value: object, node: ast.expr | None = None) -> ast.expr:
        """An expression that stands for that."""
        made: ast.expr = self._at(node or ast.Constant(0))
        self._ctx.given[made] = value
        return made

    def _at(self, node: Node) -> Node:
        return ast.copy_location(node, self._node.iter)

    def refused_row(self, node: ast.expr) -> Exception:
        """Of a row of a table at a subscript that is data, which may change in the loop."""
        text = self._ctx.source.text(node)
        message = f"{text} is a row of a table at a subscript that is data"
        instead = f"run over the subscripts, for k in range(len({text})):, and read {text}[k]"
        return self._ctx.error("W109", message, node, instead)

    def refused(self, message: str, node: ast.expr) -> Exception:
        return self._ctx.error("W109", message, node, _HELP)


def _is_in_shape(node: ast.Call) -> bool:
    """Whether it is a view of an array in another shape."""
    return isinstance(node.func, ast.Attribute) and node.func.attr in ("reshape", "ravel")
