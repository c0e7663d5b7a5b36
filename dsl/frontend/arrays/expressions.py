"""Expressions of whole arrays, ``A @ B.T + c``: their shapes, and the expression of each of their elements.

Shapes go together as in NumPy: along the last dimensions, where one of extent 1 is repeated. A product of matrices and
a sum along an axis is a sum for each element.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from dsl.expressions.affine import Affine
from dsl.expressions.intrinsics import intrinsic_of
from dsl.frontend.arrays.axes import (
    PRODUCTS,
    along,
    axes_of,
    check_arguments,
    element_type,
    keeps,
    kept,
    permuted,
)
from dsl.frontend.arrays.data_rows import data_row
from dsl.frontend.arrays.elementwise import NOT_ELEMENTWISE
from dsl.frontend.arrays.numpy_arrays import is_mask, masked, numpy_array, picked
from dsl.frontend.arrays.numpy_library import library_call
from dsl.frontend.arrays.parts import part_of, type_of
from dsl.frontend.arrays.shapes import (
    ArrayExpr,
    At,
    Shape,
    broadcast,
    numpy_name,
    operands_of,
    replaced,
    spread,
)
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.arrays.subscripted import subscripted
from dsl.frontend.arrays.tables import CapturedPart, captured_part, is_captured, is_of_module
from dsl.frontend.capture import dtype_of, numpy_type
from dsl.frontend.context import Context
from dsl.frontend.results import is_array
from dsl.kernels.kernel import Kernel
from dsl.programs.inline import Slice, View
from dsl.programs.program import Array

Placed = TypeVar("Placed", bound=ast.AST)

REDUCTIONS = {
    "sum": builtins.sum,
    "max": builtins.max,
    "amax": builtins.max,
    "min": builtins.min,
    "amin": builtins.min,
    "any": builtins.any,
    "all": builtins.all,
}
OTHER_METHODS = (
    *("reshape", "ravel", "flatten", "clip", "cumsum", "argmax", "argmin", "var", "std", "prod"),
)
"""Methods of arrays that are read elsewhere."""
_OF_ONE = (len, sum, any, all)
_ELEMENTWISE = (ast.UnaryOp, ast.Compare, ast.IfExp, ast.BoolOp, ast.BinOp)


@dataclass(slots=True)
class ArrayExprs:
    """Reads expressions of the statement ``node``; ``hoisted`` are the scalars that it computes once, in front of it,
    ``scalars`` what stands for them."""

    ctx: Context
    node: ast.expr | ast.stmt
    used: set[str] = field(default_factory=set)
    hoisted: set[ast.expr] = field(default_factory=set)
    scalars: dict[ast.expr, ast.expr] = field(default_factory=dict)

    def of(self, node: ast.expr) -> ArrayExpr | None:
        """The expression as one of arrays; None where it is a scalar or something else.

        Raises:
            LanguageError: W142 shapes that do not go together.
        """
        if isinstance(node, ast.Subscript) and (row := data_row(self, node)) is not None:
            return row
        view = view_of(self.ctx, node)
        if view is not None:
            array = self.ctx.names.array(view.array)
            assert array is not None
            return ArrayExpr(type_of(view, array).shape, lambda at: self.element(view, at), (view,))
        if (table := captured_part(self.ctx, node)) is not None:
            return ArrayExpr(table.shape, lambda at: self._entry(table, at))
        match node:
            case ast.Subscript():
                found = picked(self, node) or subscripted(self, node)
                return found if found is not None and found.shape else None
            case ast.Attribute(value=inside, attr="T"):
                return self._transposed(self.of(inside))
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self._product(self.of(left), self.of(right), node)
            case ast.Call():
                return self._call(node)
        return self._elementwise(node) if isinstance(node, _ELEMENTWISE) else None

    # ---------------------------------------------------------------------------- elementwise

    def _elementwise(self, node: ast.expr, given: Sequence[ast.expr] = ()) -> ArrayExpr | None:
        """An operator of elements; ``given`` are arguments that are passed as they are."""
        operands = [part for part in operands_of(node) if part not in given]
        parts = {part: found for part in operands if (found := self.of(part)) is not None}
        if not parts:
            return None
        self._check_truths(node)
        shape = self._joined(list(parts.values()), node)
        own = tuple(v for p in parts.values() if p.shape == shape for v in p.own)
        is_choice = isinstance(node, ast.IfExp | ast.BoolOp)
        others = [part for part in operands if part not in parts and not is_choice]
        for part in others:
            self.note(part)

        def at(places: Sequence[Affine]) -> ast.expr:
            new = {part: spread(found, places) for part, found in parts.items()}
            return replaced(node, {**new, **{part: self.settled(part) for part in others}})

        return ArrayExpr(shape, at, own)

    def _check_truths(self, node: ast.expr) -> None:
        """Refuse a sum or a difference of arrays of truth values (W120): NumPy's ``+`` of them is ``|``."""
        is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
        if isinstance(node, ast.Call):
            is_sum = numpy_name(self.ctx.evaluate(node.func)) in ("add", "subtract")
        if not is_sum or not all(is_mask(self, part) for part in operands_of(node)):
            return
        message = f"{self.ctx.source.text(node)} is of truth values, whose sum is 'or' in NumPy"
        instead = "write | or ^; to count them, convert one: (x > 3) * 1 + (y > 3)"
        raise self.ctx.error("W120", message, node, instead)

    def settled(self, node: ast.expr) -> ast.expr:
        """A scalar, of which sums and calls are computed in front of the statement, as NumPy computes them first."""
        if self._is_total(node):
            if node not in self.scalars:
                self.scalars[node] = self.given(self.ctx.evaluate(node))
            return self.scalars[node]
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            return replaced(node, {part: self.settled(part) for part in operands_of(node)})
        return node

    def note(self, node: ast.expr) -> None:
        """Note what `settled` computes once."""
        if self._is_total(node):
            self.hoisted.add(node)
        elif isinstance(node, ast.BinOp | ast.UnaryOp):
            for part in operands_of(node):
                self.note(part)

    def is_method(self, node: ast.Call) -> bool:
        """Whether a call is of a method of an array."""
        return method_of(self.ctx, node) is not None

    def _is_total(self, node: ast.expr) -> bool:
        """Whether it is a call that makes one number of arrays or of a generator."""
        if not isinstance(node, ast.Call):
            return False
        if method_of(self.ctx, node) is not None:
            return True
        node = self.ctx.rewritten.get(node, node)
        function = self.ctx.evaluate(node.func)
        return (
            function in _OF_ONE[1:]
            or numpy_name(function) in (*REDUCTIONS, "mean", *PRODUCTS)
            or (function in (min, max) and len(node.args) == 1)
            or isinstance(function, Kernel)
        )

    def _joined(self, parts: Sequence[ArrayExpr], node: ast.expr) -> Shape:
        shape = parts[0].shape
        for part in parts[1:]:
            joined = broadcast(shape, part.shape)
            if joined is None:
                message = f"{self.ctx.source.text(node)} is of arrays of the shapes {shape} and {part.shape}"
                instead = "as many elements along each dimension, or one"
                raise self.ctx.error("W142", message, node, instead)
            shape = joined
        return shape

    # ---------------------------------------------------------------------------------- calls

    def _call(self, node: ast.Call) -> ArrayExpr | None:
        method = method_of(self.ctx, node)
        if (method is None or method in OTHER_METHODS) and library_call(self, node) is not None:
            node = self.ctx.rewritten[node]
        elif method is not None and method not in OTHER_METHODS:
            assert isinstance(node.func, ast.Attribute)
            return self._named(method, node.func.value, node.args, node)
        if (known := numpy_array(self, node)) is not None:
            return known
        if isinstance(node.func, ast.Attribute) and not is_of_module(self.ctx, node.func):
            return None  # a method of a number
        function = self.ctx.evaluate(node.func)
        expand = self.ctx.expand
        if expand is not None and (inside := expand(self.ctx, function, node)) is not None:
            return self.of(inside)
        name = numpy_name(function)
        if name in NOT_ELEMENTWISE:
            return None
        if name in (*REDUCTIONS, "mean", "transpose", *PRODUCTS, "copy") and node.args:
            return self._named(name, node.args[0], node.args[1:], node)
        if function in _OF_ONE or (function in (min, max) and len(node.args) == 1):
            return None
        if isinstance(function, Kernel) and any(map(is_array, _results(function))):
            result = self.ctx.evaluate(node)
            return self.whole(result) if isinstance(result, Array) else None
        if isinstance(function, Kernel):
            formal = function.program.arguments
            whole = [n for a, n in zip(formal, node.args, strict=False) if a.shape]
            return self._elementwise(node, whole) if len(whole) < len(node.args) else None
        is_known = intrinsic_of(function) or dtype_of(function) or numpy_type(function) or name
        return self._elementwise(node) if is_known or function in (int, float, bool) else None

    def whole(self, array: Array) -> ArrayExpr:
        """All of an array of the kernel."""
        view = View(array.name, tuple(Slice(Affine(), n) for n in array.shape))
        return ArrayExpr(array.shape, lambda at: self.element(view, at), (view,))

    def _named(
        self, name: str, of: ast.expr, args: Sequence[ast.expr], node: ast.Call
    ) -> ArrayExpr | None:
        """A method of an array, or the function of NumPy of that name."""
        if masked(self, of) is not None:
            return None
        array = self.of(of)
        if array is None:
            return None
        if name in PRODUCTS:
            check_arguments(self, node, name, args)
            return self._product(array, self.of(args[0]) if args else None, node)
        if name == "copy":
            check_arguments(self, node, name, args)
            return ArrayExpr(array.shape, array.at)
        if name == "transpose":
            return permuted(self, array, node, args)
        if name == "astype" and len(args) == 1:
            check_arguments(self, node, name, args)
            cast = args[0]
            return ArrayExpr(
                array.shape, lambda at: self.at(ast.Call(cast, [array.at(at)], [])), array.own
            )
        check_arguments(self, node, name, args)
        rank = len(array.shape)
        axes = axes_of(self, node, args, rank)
        if keeps(self, node):
            return kept(self, node, axes, rank, self.materialised)
        if axes is None:
            return None
        return along(self, name, array, axes, element_type(self, name, node))

    def materialised(self, node: ast.expr, name: str = "") -> Array:
        """A new array that holds an expression of arrays, assigned in front of the statement."""
        name = name or self.ctx.names.unique("along")
        target = self.at(ast.Name(name, ast.Store()))
        self.ctx.ahead.nodes += self.ctx.read(self.at(ast.Assign([target], node)))
        found = self.ctx.names.find(name)
        assert isinstance(found, Array)
        return found

    # ------------------------------------------------------------------------------- products

    def _product(
        self, a: ArrayExpr | None, b: ArrayExpr | None, node: ast.expr
    ) -> ArrayExpr | None:
        """``a @ b`` of vectors and matrices; None where one of them is no array, or both are vectors."""
        if a is None or b is None:
            return None
        text = self.ctx.source.text(node)
        if len(b.shape) > 2:
            message = f"{text} is by an array of more than two dimensions"
            raise self.ctx.error("W142", message, node, "write the loops over the matrices")
        if a.shape[-1] != b.shape[0]:
            message = f"{text} is a product of the shapes {a.shape} and {b.shape}"
            instead = "the rows of the second are as many as the columns of the first"
            raise self.ctx.error("W142", message, node, instead)
        rows = len(a.shape) - 1
        shape = (*a.shape[:-1], *b.shape[1:])
        if not shape:
            return None

        def at(places: Sequence[Affine]) -> ast.expr:
            def term(k: Sequence[Affine]) -> ast.expr:
                left, right = a.at([*places[:rows], *k]), b.at([*k, *places[rows:]])
                return self.at(ast.BinOp(left, ast.Mult(), right))

            return self.total("sum", a.shape[-1:], term)

        return ArrayExpr(shape, at)

    def _transposed(self, array: ArrayExpr | None) -> ArrayExpr | None:
        if array is None or len(array.shape) < 2:
            return array
        return ArrayExpr(array.shape[::-1], lambda at: array.at(at[::-1]))

    # ---------------------------------------------------------------------------------- parts

    def total(self, name: str, shape: Shape, term: At) -> ast.expr:
        """``sum(term(k) for k in range(extent))``, or another reduction, over as many loops as there are extents."""
        letters = ("k",) if len(shape) == 1 else "ijklmnopq"
        names = [self.loop_name(f"{name}_{letters[d % len(letters)]}") for d in range(len(shape))]
        loops = [
            ast.comprehension(
                self.at(ast.Name(var, ast.Store())),
                self.at(ast.Call(self.given(range), [self.given(extent)], [])),
                [],
                0,
            )
            for var, extent in zip(names, shape, strict=True)
        ]
        terms = ast.GeneratorExp(term([Affine.of(var) for var in names]), loops)
        return self.at(ast.Call(self.given(REDUCTIONS[name]), [self.at(terms)], []))

    def loop_name(self, base: str) -> str:
        """A name for a loop that no loop around and no other of the statement has."""
        name = self.ctx.names.unique_loop(base, {*self.ctx.names.loops(), *self.used})
        self.used.add(name)
        return name

    def element(
        self, view: View, at: Sequence[Affine], use: ast.expr_context | None = None
    ) -> ast.expr:
        """An element of a part of an array."""
        base = self.given(self.ctx.names.array(view.array), ast.Name(view.array, ast.Load()))
        indices: list[ast.expr] = [self.given(i) for i in view.placed(tuple(at))]
        subscripts = self.at(ast.Tuple(indices, ast.Load()))
        return self.at(ast.Subscript(base, subscripts, use or ast.Load()))

    def _entry(self, table: CapturedPart, at: Sequence[Affine]) -> ast.expr:
        """An entry of a captured table."""
        places = iter(at)
        indices: list[ast.expr] = [
            self.given(next(places) * d.step + d.start) if isinstance(d, range) else d
            for d in table.dims
        ]
        return self.at(
            ast.Subscript(table.base, self.at(ast.Tuple(indices, ast.Load())), ast.Load())
        )

    def given(self, value: object, node: ast.expr | None = None) -> ast.expr:
        """An expression that stands for that."""
        made: ast.expr = self.at(node or ast.Constant(0))
        self.ctx.given[made] = value
        return made

    def at(self, node: Placed) -> Placed:
        return ast.copy_location(node, self.node)

    def refers_to(self, node: ast.expr, array: str) -> int:
        """How often an expression names an array or a part of it, in what is computed for each element."""
        if node in self.hoisted:
            return 0
        if isinstance(node, ast.Name):
            found = self.ctx.names.find(node.id) or self.ctx.names.constant(node.id)
            part = part_of(self.ctx, found)
            return int(part is not None and part[0].array == array)
        inside = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        loops = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.comprehension)]
        inside += [part for loop in loops for part in (loop.iter, *loop.ifs)]
        return sum(self.refers_to(n, array) for n in inside)


def _results(kernel: Kernel) -> Sequence[Array]:
    """The arrays that a kernel's results are assigned to."""
    arguments = kernel.program.arguments if kernel.results else ()
    return arguments[len(arguments) - kernel.results :]


def method_of(ctx: Context, node: ast.Call) -> str | None:
    """The name of the method of an array that is called, else None."""
    func = node.func
    if not isinstance(func, ast.Attribute) or is_captured(ctx, func.value):
        return None
    known = (*REDUCTIONS, "mean", "transpose", "copy", "astype", *PRODUCTS, *OTHER_METHODS)
    if func.attr not in known:
        return None
    exprs = ArrayExprs(ctx, node)
    is_of_arrays = masked(exprs, func.value) is not None or exprs.of(func.value) is not None
    return func.attr if is_of_arrays else None
