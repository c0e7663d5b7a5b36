"""Local arrays by what they are assigned first: ``np.zeros((4, 4))``, ``[0] * 8``, ``[f(v) for v in x]``, ``A @ B``.

Before::

    d = x - y

After::

    d: f32[8]
    d[:] = x - y

Without a type the elements have the type of what is assigned to them (see `dsl.frontend.inferred`).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.values import Value
from dsl.frontend.arrays.expressions import ArrayExprs, method_of
from dsl.frontend.arrays.filled import Made, extent_of, filled, typed
from dsl.frontend.arrays.shapes import At, Shape, numpy_name
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.arrays.view_names import check_name_of_view, check_one_array, of_view
from dsl.frontend.arrays.views import check_view, may_read
from dsl.frontend.context import Ahead, Context
from dsl.frontend.declare import check_name
from dsl.frontend.operands import value
from dsl.frontend.syntax.bit_counts import is_of_bits
from dsl.kernels.kernel import Kernel
from dsl.programs.inline import View
from dsl.programs.program import Array, Storage

Placed = TypeVar("Placed", bound=ast.AST)


def array_assignment(ctx: Context, node: ast.stmt) -> tuple[ast.stmt, ...] | None:
    """The statements that an assignment of a new array to a name stands for; None of any other statement.

    Raises:
        LanguageError: W142, W144 of what is no array with constant extents; W134 the name is that of another.
    """
    match node:
        case ast.Assign(targets=[ast.Name() as target], value=source):
            pass
        case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=parts)) if len(
            goals
        ) == len(parts):
            return _apart(ctx, node, goals, parts)
        case _:
            return None
    found = ctx.names.find(target.id)
    if found is not None and (not isinstance(found, Array) or not found.shape):
        return None
    if found is None and isinstance(ctx.names.constant(target.id), View):
        source = of_view(ctx, target, source)
        node = ast.copy_location(ast.Assign([target], source), node)
    made = _Reader(ctx, node).made(source)
    if made is None:
        check_one_array(ctx, target, source)
        return None
    if found is None:
        check_name_of_view(ctx, target)
    check_view(ctx, target, source)
    if found is not None:
        _check_again(ctx, target, found, made)
    return _Assigned(ctx, node, target, made).statements(found)


def _apart(
    ctx: Context, node: ast.stmt, goals: Sequence[ast.expr], parts: Sequence[ast.expr]
) -> tuple[ast.stmt, ...] | None:
    """``a, b = x.copy(), x + y`` as one assignment after the other, where no value reads a target."""
    names = {g.id for g in goals if isinstance(g, ast.Name)}
    read = {n.id for p in parts for n in ast.walk(p) if isinstance(n, ast.Name)}
    if len(names) != len(goals) or names & read:
        return None
    makers = (ast.Call, ast.BinOp, ast.List, ast.ListComp)
    if not any(isinstance(p, makers) and _Reader(ctx, node).made(p) is not None for p in parts):
        return None
    return tuple(
        ast.copy_location(ast.Assign([goal], part), node)
        for goal, part in zip(goals, parts, strict=True)
    )


def _check_again(ctx: Context, target: ast.Name, found: object, made: Made) -> None:
    """A local array is assigned as a whole again only as one of its shape."""
    assert isinstance(found, Array)
    if found.name in ctx.names.arguments:
        message = (
            f"'{target.id}' is an argument, and the new array is none: the caller would not see it"
        )
        raise ctx.error("W142", message, target, f"assign its elements: {target.id}[:] = ...")
    if found.shape != made.shape:
        message = (
            f"'{target.id}' is an array of the shape {found.shape}, and this is one of {made.shape}"
        )
        raise ctx.error("W142", message, target, "give the new array another name")
    if ctx.names.has_parts(found.name):
        message = f"'{target.id}' is assigned anew, and a part of it has a name"
        raise ctx.error("W142", message, target, "give the new array another name")


class _Reader:
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


class _Assigned:
    """The declaration of a new array, and the statements that set it."""

    def __init__(self, ctx: Context, node: ast.stmt, target: ast.Name, made: Made) -> None:
        self._ctx = ctx
        self._node = node
        self._target = target
        self._made = made
        self._exprs = ArrayExprs(ctx, node)

    def statements(self, found: object) -> tuple[ast.stmt, ...]:
        """What sets the elements; the array is declared where there is none yet."""
        array = found if isinstance(found, Array) else self._declared()
        made = self._made
        in_parts = bool(made.items) or isinstance(made.loop, ast.ListComp)
        if in_parts and isinstance(found, Array) and self._reads_itself():
            held = self._held(found)  # Python computes all elements before the name is another list
            return (*self._set(held, made), self._whole(found, self._name(held)))
        return self._set(array, made)

    def _reads_itself(self) -> bool:
        assert isinstance(self._node, ast.Assign)
        return may_read(self._ctx, self._node.value, self._target.id)

    def _set(self, array: Array, made: Made) -> tuple[ast.stmt, ...]:
        if made.items:
            return tuple(self._items(array))
        new = made.loop or made.fill
        if new is None:
            return ()
        if isinstance(new, ast.ListComp):
            return (self._loops(new, array, []),)
        return (self._whole(array, new),)

    def _whole(self, array: Array, new: ast.expr) -> ast.stmt:
        """``array[:] = new``, of which the value is what is there before."""
        part = self._at(ast.Slice())
        whole = self._at(ast.Subscript(self._name(array), part, ast.Store()))
        return self._at(ast.Assign([whole], new))

    def _held(self, array: Array) -> Array:
        """A local of the same type, also where that is found from what is assigned."""
        names, inferred = self._ctx.names, self._ctx.inferred
        held = names.declare(replace(array, name=names.unique("held"), span=None))
        inferred.know(held.name, inferred.places.get(array.name))
        return held

    def _declared(self) -> Array:
        ctx, made, target = self._ctx, self._made, self._target
        check_name(ctx.source, target.id, "this local", target)
        span = ctx.span(target)
        place = (target.id, target.lineno, target.col_offset)
        dtype = made.dtype
        if dtype is None:
            dtype = self._inferred(place, span)
        array = ctx.names.declare(
            Array(target.id, dtype, made.shape, Storage.LOCAL, False, 0, span)
        )
        ctx.inferred.know(array.name, place if made.dtype is None else None)
        return array

    def _inferred(self, place: tuple[str, int, int], span: Span) -> DType:
        ctx, made = self._ctx, self._made
        given = made.items or (() if made.fill is None else (made.fill,))
        firsts: list[Value] = [value(ctx, n) for n in given] or [made.first]
        found = [ctx.inferred.declared(place, first, span) for first in firsts]
        if made.is_numpy:
            ctx.inferred.keep(place, firsts)
        return found[-1]

    def _items(self, array: Array) -> Iterator[ast.stmt]:
        """An assignment for each element of a list."""
        view = View(array.name, ())
        for n, item in enumerate(self._made.items):
            at: list[Affine] = []
            for extent in reversed(array.shape):
                n, place = divmod(n, extent)
                at.insert(0, Affine.of(place))
            yield self._at(ast.Assign([self._element(view, at)], item))

    def _loops(self, node: ast.ListComp, array: Array, at: list[Affine]) -> ast.stmt:
        """``for n, v in enumerate(x): t[n] = f(v)``."""
        (loop,) = node.generators
        exprs = self._exprs
        var = exprs.loop_name(f"{array.name}_{'ijklmnopq'[len(at) % 9]}")
        target = self._at(ast.Name(var, ast.Store()))
        header: ast.expr = self._at(ast.Call(exprs.given(enumerate), [loop.iter], []))
        pair: ast.expr = self._at(ast.Tuple([target, loop.target], ast.Store()))
        place = Affine.of(var)
        if isinstance(loop.iter, ast.Call):  # a range, whose variable stays affine
            first, step = self._range(loop.iter)
            header, pair = loop.iter, loop.target
            assert isinstance(loop.target, ast.Name)
            place = (Affine.of(loop.target.id) - first) // step if step > 0 else Affine.of(0)
        at = [*at, place]
        inside: ast.stmt
        if isinstance(node.elt, ast.ListComp):
            inside = self._loops(node.elt, array, at)
        else:
            goal = self._element(View(array.name, ()), at)
            inside = self._at(ast.Assign([goal], node.elt))
        return self._at(ast.For(pair, header, [inside], []))

    def _range(self, call: ast.Call) -> tuple[int, int]:
        bounds = [value(self._ctx, a) for a in call.args]
        numbers = [b for b in bounds if isinstance(b, int)]
        of = range(*numbers)
        if of.step < 1:
            message = "the loop of a list counts up"
            raise self._ctx.error("W105", message, call, "write the loop as a statement")
        return of.start, of.step

    def _element(self, view: View, at: list[Affine]) -> ast.expr:
        base = self._name(self._ctx.names.array(view.array))
        parts: list[ast.expr] = [self._exprs.given(i) for i in at]
        return self._at(ast.Subscript(base, self._at(ast.Tuple(parts, ast.Load())), ast.Store()))

    def _name(self, array: Array | None) -> ast.expr:
        assert array is not None
        return self._exprs.given(array, ast.Name(array.name, ast.Load()))

    def _at(self, node: Placed) -> Placed:
        return ast.copy_location(node, self._node)
