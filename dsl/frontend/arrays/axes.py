"""Reductions along axes, ``m.max(axis=(1, 3))``, ``m.mean(axis=0, keepdims=True)``: a loop for each element.

What keeps its dimensions is there to be repeated along them, as in ``m - m.mean(axis=1, keepdims=True)``: it is computed
once, into an array in front of the statement.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Sequence

from dsl.expressions.affine import Affine
from dsl.expressions.types import FloatType
from dsl.frontend.arrays.shapes import ArrayExpr, At, Exprs, Shape
from dsl.frontend.arrays.tables import is_of_module
from dsl.frontend.capture import dtype_of, numpy_type
from dsl.frontend.operands import OfMean
from dsl.programs.program import Array

PRODUCTS = ("dot", "matmul", "inner", "vdot")
_ALONE = "write the axis alone; np.where(condition, x, 0) is of some elements"
_REDUCTION: tuple[int, tuple[str, ...], str] = (1, ("axis", "keepdims"), _ALONE)
_ARGUMENTS: dict[str, tuple[int, tuple[str, ...], str]] = {
    **dict.fromkeys(("sum", "mean"), (1, ("axis", "keepdims", "dtype"), _ALONE)),
    **{name: (1, (), f"write np.{name}(a, b)") for name in PRODUCTS},
    "copy": (0, ("order",), "write x.copy()"),
    "astype": (1, ("order", "copy", "casting", "subok"), "write x.astype(np.int16)"),
}
"""How many arguments are read behind the array, and which by name; and what to write instead. Where NumPy stores elements
and when it refuses a conversion changes no value."""
Materialised = Callable[[ast.expr], Array]
"""The new array, in front of the statement, that holds an expression of arrays."""


def axes_of(
    exprs: Exprs, node: ast.Call, args: Sequence[ast.expr], rank: int
) -> tuple[int, ...] | None:
    """The axes that a reduction is along, in order; None where it is of all elements.

    Raises:
        LanguageError: W142 one that the array does not have.
    """
    given = next((k.value for k in node.keywords if k.arg == "axis"), args[0] if args else None)
    if given is None:
        return None
    parts = given.elts if isinstance(given, ast.Tuple) else [given]
    known = [exprs.ctx.evaluate(p) for p in parts]
    if known == [None]:
        return None
    found: list[int] = []
    for axis in known:
        is_axis = type(axis) is int and -rank <= axis < rank
        if not is_axis or axis % rank in found:  # type: ignore[operator]
            text = exprs.ctx.source.text(given)
            message = f"the axis {text} is none of an array of {rank} dimensions"
            raise exprs.ctx.error("W142", message, node, f"write 0 to {rank - 1}")
        found.append(axis % rank)  # type: ignore[operator]
    return None if len(found) == rank else tuple(sorted(found))


def check_arguments(exprs: Exprs, node: ast.Call, name: str, args: Sequence[ast.expr]) -> None:
    """Refuse arguments of these functions that are not read (W111): ``where=``, ``initial=``, ``out=``."""
    most, read, instead = _ARGUMENTS.get(name, _REDUCTION)
    unknown = [k.arg for k in node.keywords if k.arg not in read]
    if not unknown and len(args) <= most:
        return
    text = exprs.ctx.source.text(node)
    message = f"{text} is not supported in a kernel" + (f": '{unknown[0]}'" if unknown else "")
    raise exprs.ctx.error("W111", message, node, instead)


def element_type(exprs: Exprs, name: str, node: ast.Call) -> ast.expr | None:
    """What a reduction computes in, ``dtype=``: its terms are converted to it, and so is its result.

    Raises:
        LanguageError: W111 a mean in integers.
    """
    given = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    found = None if given is None else exprs.ctx.evaluate(given)
    if given is None or name != "mean":
        return given
    if found is not float and not isinstance(dtype_of(found) or numpy_type(found), FloatType):
        text = exprs.ctx.source.text(node)
        message = f"{text} is not supported in a kernel: 'dtype'"
        raise exprs.ctx.error("W111", message, node, "a mean is one of floats: dtype=np.float32")
    return given


def reduced(exprs: Exprs, name: str, shape: Shape, term: At, to: ast.expr | None) -> ast.expr:
    """A reduction over loops; ``to`` is the type that it computes in."""

    def converted(part: ast.expr) -> ast.expr:
        return part if to is None else exprs.at(ast.Call(to, [part], []))

    if name != "mean":
        return converted(exprs.total(name, shape, lambda at: converted(term(at))))
    count = exprs.given(math.prod(shape))
    total = exprs.total("sum", shape, lambda at: converted(term(at)))
    return exprs.at(ast.BinOp(total, OfMean(), count))


def keeps(exprs: Exprs, node: ast.Call) -> bool:
    """Whether a reduction keeps the dimensions that it is along."""
    given = next((k.value for k in node.keywords if k.arg == "keepdims"), None)
    return given is not None and bool(exprs.ctx.evaluate(given))


def permuted(exprs: Exprs, array: ArrayExpr, node: ast.Call, args: Sequence[ast.expr]) -> ArrayExpr:
    """``np.transpose(x, axes)``, ``x.transpose(2, 0, 1)``; the axes backwards where none are said.

    Raises:
        LanguageError: W142 what is no order of the axes.
    """
    given = [*args, *(k.value for k in node.keywords)]
    parts = [p for g in given for p in (g.elts if isinstance(g, ast.Tuple | ast.List) else [g])]
    rank = len(array.shape)
    axes = [exprs.ctx.evaluate(p) for p in parts] or [*range(rank)][::-1]
    known = [a % rank for a in axes if isinstance(a, int) and -rank <= a < rank]
    if sorted(known) != [*range(rank)] or any(k.arg != "axes" for k in node.keywords):
        text = exprs.ctx.source.text(node)
        message = f"{text} does not give the order of {rank} axes"
        raise exprs.ctx.error("W142", message, node, "write each of them once: x.transpose(1, 0)")

    def at(places: Sequence[Affine]) -> ast.expr:
        placed = dict(zip(known, places, strict=True))
        return array.at([placed[d] for d in range(rank)])

    return ArrayExpr(tuple(array.shape[a] for a in known), at)


def along(
    exprs: Exprs, name: str, array: ArrayExpr, axes: Sequence[int], to: ast.expr | None
) -> ArrayExpr:
    """The reduction of an array along axes; ``to`` is the type that it computes in."""
    extents = tuple(array.shape[a] for a in axes)
    rest = [d for d in range(len(array.shape)) if d not in axes]

    def at(places: Sequence[Affine]) -> ast.expr:
        def term(k: Sequence[Affine]) -> ast.expr:
            known = {**dict(zip(rest, places, strict=True)), **dict(zip(axes, k, strict=True))}
            return array.at([known[d] for d in range(len(array.shape))])

        return reduced(exprs, name, extents, term, to)

    return ArrayExpr(tuple(array.shape[d] for d in rest), at)


def kept(
    exprs: Exprs, node: ast.Call, axes: Sequence[int] | None, rank: int, made: Materialised
) -> ArrayExpr:
    """A reduction that keeps its dimensions, each of extent 1."""
    inside = exprs.at(copy.copy(node))
    inside.keywords = [k for k in node.keywords if k.arg != "keepdims"]
    if axes is None:  # one number
        number = exprs.ctx.ahead.known.get(node)
        if number is None:
            number = exprs.ctx.ahead.known[node] = exprs.ctx.evaluate(inside)
        return ArrayExpr((1,) * rank, lambda at: exprs.given(number))
    array = exprs.ctx.ahead.known.get(node)
    if array is None:
        array = exprs.ctx.ahead.known[node] = made(inside)
    assert isinstance(array, Array)
    found = exprs.whole(array)
    along_, shape = {*axes}, iter(found.shape)
    extents = tuple(1 if d in along_ else next(shape) for d in range(rank))
    return ArrayExpr(
        extents, lambda at: found.at([place for d, place in enumerate(at) if d not in along_])
    )


def squares_of(exprs: Exprs, node: ast.Call) -> ast.expr | None:
    """``np.linalg.norm(x)``, also along axes, and ``var`` and ``std`` of matrices, as sums of squares; None of all else."""
    func = node.func
    name, args = _named(exprs, node)
    if not name or not args:
        return None
    of, rest = args[0], args[1:]
    array = exprs.of(of)
    if array is None or (len(array.shape) < 2 and name != "norm"):
        return None
    keywords = {k.arg: k for k in node.keywords}
    unknown = keywords.keys() - {"axis", "keepdims"}
    if unknown or len(rest) > (
        name != "norm"
    ):  # behind what a norm is of, NumPy has the kind of norm
        text = exprs.ctx.source.text(node)
        instead = f"write np.{'linalg.' if name == 'norm' else ''}{name}(x, axis=1)"
        raise exprs.ctx.error("W142", f"{text} is no array of a kernel", func, instead)
    axis = [keywords["axis"]] if "axis" in keywords else [ast.keyword("axis", a) for a in rest]
    return _squares(exprs, name, of, axis, [keywords[k] for k in ("keepdims",) if k in keywords])


def _named(exprs: Exprs, node: ast.Call) -> tuple[str, list[ast.expr]]:
    """The function and its arguments, that of a method included; an empty name of all others."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in ("norm", "var", "std"):
        return "", []
    if not is_of_module(exprs.ctx, func):
        return ("", []) if func.attr == "norm" else (func.attr, [func.value, *node.args])
    module = getattr(exprs.ctx.evaluate(func), "__module__", "")
    return (func.attr, [*node.args]) if str(module).startswith("numpy") else ("", [])


def _squares(
    exprs: Exprs, name: str, of: ast.expr, axis: list[ast.keyword], rest: list[ast.keyword]
) -> ast.expr:
    import numpy as np

    def called(function: object, part: ast.expr, keywords: Sequence[ast.keyword]) -> ast.expr:
        named = exprs.given(function, ast.Name(getattr(function, "__name__", ""), ast.Load()))
        return exprs.at(ast.Call(named, [part], [*keywords]))

    if name != "norm":
        mean = called(np.mean, of, [*axis, ast.keyword("keepdims", exprs.given(True))])
        of = exprs.at(ast.BinOp(of, ast.Sub(), mean))
    squares = exprs.at(ast.BinOp(of, ast.Mult(), of))
    found = called(np.sum if name == "norm" else np.mean, squares, [*axis, *rest])
    return found if name == "var" else called(np.sqrt, found, [])
