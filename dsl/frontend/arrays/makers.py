"""What an expression makes an array of: ``np.zeros((4, 4))``, ``[0] * 8``, ``[f(v) for v in x]``, ``A @ B``."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import TypeVar

from dsl.expressions.affine import Affine
from dsl.expressions.types import DType, IndexType, IntType
from dsl.frontend.arrays.expressions import ArrayExprs, method_of
from dsl.frontend.arrays.filled import Made, extent_of, filled, typed
from dsl.frontend.arrays.shapes import At, Shape, numpy_name
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Ahead, Context
from dsl.frontend.operands import value
from dsl.frontend.syntax.bit_counts import is_of_bits
from dsl.kernels.kernel import Kernel
from dsl.programs.program import Array

Placed = TypeVar("Placed", bound=ast.AST)


class Maker:
    """What an expression makes an array of."""

    def __init__(self, ctx: Context, node: ast.stmt) -> None:
        self._ctx = ctx
        self._node = node

    def made(self, source: ast.expr) -> Made | None:
        """The array that the expression makes; None where it makes none."""
        if is_of_bits(source):
            return None
        match source:
            case ast.Call():
                found = filled(self._ctx, source) or self._array_of(source)
                if found is not None:
                    return found
            case ast.BinOp(left=ast.List() as items, op=ast.Mult(), right=count):
                return self._repeated(items, extent_of(self._ctx, count))
            case ast.List(elts=[_, *_]):
                return self._listed(source)
            case ast.ListComp():
                return self._comprehended(source)
        if isinstance(source, ast.Call) and self._is_result(source):
            return None
        exprs = ArrayExprs(self._ctx, self._node)
        array = exprs.of(source) if view_of(self._ctx, source) is None else None
        if array is None:
            return None
        dtype = self._type_on_trial(exprs, array.shape, array.at)
        return Made(array.shape, dtype, loop=source)

    def _is_result(self, call: ast.Call) -> bool:
        """Whether it is the array that a kernel returns, which a name then stands for."""
        if method_of(self._ctx, call) is not None:
            return False
        function = self._ctx.evaluate(call.func)
        return isinstance(function, Kernel) and isinstance(self._ctx.evaluate(call), Array | tuple)

    def _array_of(self, call: ast.Call) -> Made | None:
        """``np.array([a, b], dtype)``."""
        if method_of(self._ctx, call) is not None or not call.args:
            return None
        name = numpy_name(self._ctx.evaluate(call.func))
        if name not in ("array", "asarray") or not isinstance(
            call.args[0], ast.List | ast.ListComp
        ):
            return None
        found = self.made(call.args[0])
        return found if found is None else typed(self._ctx, found, call, call.args[1:])

    def _repeated(self, items: ast.List, count: int) -> Made:
        """``[0.0] * 8``."""
        if len(items.elts) == 1 and not _is_list(items.elts[0]):
            return Made((count,), None, fill=items.elts[0])
        if any(_is_list(e) for e in items.elts):
            message = "the rows of this list are one and the same, which Python changes together"
            instead = "write [[0] * 4 for _ in range(4)]"
            raise self._ctx.error("W142", message, items, instead)
        return Made((len(items.elts) * count,), None, items=tuple(items.elts) * count)

    def _listed(self, node: ast.List) -> Made:
        """``[a, b]`` or ``[[a, b], [c, d]]``."""
        elements = [part for e in node.elts for part in self._starred(e)]
        rows = [self._listed(e) if isinstance(e, ast.List) else e for e in elements]
        made = [r for r in rows if isinstance(r, Made)]
        if not made:
            return Made((len(rows),), None, items=tuple(elements))
        if len(made) != len(rows) or any(r.shape != made[0].shape for r in made):
            raise self._ctx.error("W142", "the rows of this list have different lengths", node)
        items = tuple(item for r in made for item in r.items)
        return Made((len(rows), *made[0].shape), None, items=items)

    def _starred(self, node: ast.expr) -> list[ast.expr]:
        """The elements of ``*x``; all else is one element."""
        if not isinstance(node, ast.Starred):
            return [node]
        found = ArrayExprs(self._ctx, self._node).of(node.value)
        if found is None or len(found.shape) != 1:
            message = "what has a star in a list is an array of one dimension"
            raise self._ctx.error("W142", message, node, "write its elements: x[0], x[1]")
        return [found.at([Affine.of(n)]) for n in range(found.shape[0])]

    def _comprehended(self, node: ast.ListComp) -> Made:
        """``[f(i) for i in range(8)]``, also of rows."""
        extents: list[int] = []
        inside: ast.expr = node
        while isinstance(inside, ast.ListComp):
            (loop, *more) = inside.generators
            if more or loop.ifs:
                message = "a list has a known number of elements, one loop and no 'if'"
                raise self._ctx.error("W105", message, inside, "write nested 'for' loops")
            extents.append(self._count(loop.iter))
            inside = inside.elt
        if isinstance(inside, ast.BinOp) and isinstance(inside.left, ast.List):
            row = self._repeated(inside.left, extent_of(self._ctx, inside.right))
            if row.fill is not None and isinstance(row.fill, ast.Constant):
                return Made((*extents, *row.shape), None, fill=row.fill)
        if isinstance(inside, ast.Constant):
            return Made(tuple(extents), None, fill=inside)
        trial = ast.GeneratorExp(inside, [])
        nested: ast.expr = node
        while isinstance(nested, ast.ListComp):
            trial.generators += nested.generators
            nested = nested.elt
        dtype = self._trial(lambda: inside, trial.generators)
        return Made(tuple(extents), dtype, loop=node)

    def _count(self, node: ast.expr) -> int:
        """The number of iterations of a loop of a list."""
        ctx = self._ctx
        if isinstance(node, ast.Call) and ctx.evaluate(node.func) is range:
            bounds = [value(ctx, a) for a in node.args]
            if bounds and all(isinstance(b, int) for b in bounds):
                count = len(range(*bounds))  # type: ignore[arg-type]
                if count:
                    return count
        array = ArrayExprs(ctx, node).of(node) if not isinstance(node, ast.Call) else None
        if array is None:
            message = "a list has a constant number of elements"
            raise ctx.error("W144", message, node, "loop over range(n), or over an array")
        return array.shape[0]

    def _type_on_trial(self, exprs: ArrayExprs, shape: Shape, at: At) -> DType:
        names = [exprs.loop_name(f"of_{d}") for d in range(len(shape))]
        loops = [
            ast.comprehension(
                self._at(ast.Name(name, ast.Store())),
                self._at(ast.Call(exprs.given(range), [exprs.given(extent)], [])),
                [],
                0,
            )
            for name, extent in zip(names, shape, strict=True)
        ]
        return self._trial(lambda: at([Affine.of(name) for name in names]), loops)

    def _trial(self, element: Callable[[], ast.expr], loops: list[ast.comprehension]) -> DType:
        """The type of an element, which the loops are read for on trial."""
        ctx = self._ctx
        before = ctx.names, dict(ctx.statements), dict(ctx.flags), ctx.ahead
        ctx.names, ctx.ahead = copy.deepcopy(ctx.names), Ahead()
        try:
            ctx.read(self._loops_of(element(), loops))
            dtype = ctx.names.locals[-1].dtype
        finally:
            ctx.names, ctx.statements, ctx.flags, ctx.ahead = before
        return IntType(32) if isinstance(dtype, IndexType) else dtype

    def _loops_of(self, element: ast.expr, loops: list[ast.comprehension]) -> ast.stmt:
        name = self._ctx.names.unique("element")
        inside: ast.stmt = self._at(ast.Assign([self._at(ast.Name(name, ast.Store()))], element))
        for loop in reversed(loops):
            inside = self._at(ast.For(loop.target, loop.iter, [inside], []))
        return inside

    def _at(self, node: Placed) -> Placed:
        return ast.copy_location(node, self._node)


def _is_list(node: ast.expr) -> bool:
    inside = node.left if isinstance(node, ast.BinOp) else node
    return isinstance(inside, ast.List | ast.ListComp)
