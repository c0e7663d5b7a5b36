"""Calls of NumPy that are calls of functions in the language (see `dsl.frontend.arrays.library`)."""

from __future__ import annotations

import ast

from dsl.errors.errors import LanguageError
from dsl.frontend.arrays.joined import ends_of
from dsl.frontend.arrays.shapes import ArrayExpr, Exprs, numpy_name
from dsl.frontend.arrays.synonyms import synonym
from dsl.frontend.arrays.tables import is_of_module

_OF_ONE = ("cumsum", "cumprod", "argmax", "argmin", "sort", "argsort", "var", "std", "median")
_NAMES = (*_OF_ONE, "prod", "pad", "concatenate", "convolve", "bincount", "accumulate")
_METHODS = ("cumsum", "argmax", "argmin", "var", "std", "prod")


def library_call(exprs: Exprs, node: ast.Call) -> ast.Call | None:
    """The call that a call of NumPy stands for; None of all others.

    Raises:
        LanguageError: W142 arrays that are not of one dimension, W150 arguments that are not known.
    """
    ctx = exprs.ctx
    if node in ctx.rewritten:
        return ctx.rewritten[node]
    func = node.func
    name, args = "", list(node.args)
    if isinstance(func, ast.Attribute) and not is_of_module(ctx, func):
        if func.attr not in _METHODS or exprs.of(func.value) is None:
            return None
        name, args = func.attr, [func.value, *args]
    else:
        if (other := synonym(exprs, node)) is not None:
            ctx.rewritten[node] = other
            return other
        name = _name(exprs, func)
    if name not in _NAMES or not args or _is_read_elsewhere(exprs, name, args, node):
        return None
    made = _Made(exprs, node, name)
    called, passed = made.arguments(args)
    from dsl.frontend.arrays import library  # needs NumPy, which other kernels do not

    function = exprs.given(getattr(library, called), ast.Name(called, ast.Load()))
    found = exprs.at(ast.Call(function, passed, []))
    ctx.rewritten[node] = found
    return found


def _name(exprs: Exprs, func: ast.expr) -> str:
    """The name of a function of NumPy, or of Python that is the same."""
    called = exprs.ctx.evaluate(func)
    if called is sorted:
        return "sort"
    if getattr(called, "__name__", "") == "accumulate" and _accumulated(exprs, func):
        return "accumulate"
    return numpy_name(called)


def _accumulated(exprs: Exprs, func: ast.expr) -> str:
    """The operator of ``np.maximum.accumulate``; an empty text of all else."""
    inside = exprs.ctx.evaluate(func.value) if isinstance(func, ast.Attribute) else None
    name = numpy_name(inside)
    return _ACCUMULATED.get(name, "")


_ACCUMULATED = {"maximum": "cummax", "minimum": "cummin", "add": "cumsum", "multiply": "cumprod"}


def _is_read_elsewhere(exprs: Exprs, name: str, args: list[ast.expr], node: ast.Call) -> bool:
    """Whether it is of arrays of more dimensions, or of others than two vectors (`numpy_arrays`)."""
    if name == "concatenate":
        parts = args[0].elts if isinstance(args[0], ast.Tuple | ast.List) else []
        arrays = [exprs.of(p) for p in parts]
        return (
            len(parts) != 2
            or any(a is None or len(a.shape) != 1 for a in arrays)
            or bool(node.keywords)
            or len(args) > 1
        )
    if name not in ("pad", "var", "std"):
        return False
    array = exprs.of(args[0])
    if name == "pad" and _mode(exprs, args, node) in _KINDS:
        return False
    return array is not None and len(array.shape) > 1


_KINDS = {"edge": 0, "symmetric": 1, "reflect": 2, "wrap": 3}
"""What `dsl.frontend.arrays.library.pad_like` calls modes of ``np.pad``."""


def _mode(exprs: Exprs, args: list[ast.expr], node: ast.Call) -> object:
    said = [*args[2:3], *(k.value for k in node.keywords if k.arg == "mode")]
    return exprs.ctx.evaluate(said[0]) if said else "constant"


class _Made:
    def __init__(self, exprs: Exprs, node: ast.Call, name: str) -> None:
        self._exprs = exprs
        self._node = node
        self._name = name
        self._keywords = {k.arg: k.value for k in node.keywords}

    def arguments(self, args: list[ast.expr]) -> tuple[str, list[ast.expr]]:
        """The name of the function, and what is passed to it."""
        name = self._name
        if name == "cumsum" and (axis := self._axis(args)) is not None:
            return f"cumsum_{axis}", args[:1]
        if name in (*_OF_ONE, "prod"):
            if len(args) > 1 or self._keywords:
                raise self._refused(f"write np.{name}(x), of an array of one dimension")
            found = self._vector(args[0])
            if name == "median":
                name = "median_odd" if found.shape[0] % 2 else "median_even"
            return name, args
        if name == "concatenate":
            assert isinstance(args[0], ast.Tuple | ast.List)
            return name, args[0].elts
        if name == "accumulate":
            if len(args) > 1 or self._keywords:
                raise self._refused("write np.maximum.accumulate(x)")
            self._vector(args[0])
            return _accumulated(self._exprs, self._node.func), args[:1]
        if name == "bincount":
            return self._counted(args)
        return self._padded(args) if name == "pad" else self._convolved(args)

    def _axis(self, args: list[ast.expr]) -> int | None:
        """That of a matrix along which sums run; None of an array of one dimension."""
        array = self._exprs.of(args[0])
        if array is None or len(array.shape) != 2:
            return None
        said = [*args[1:], *(v for k, v in self._keywords.items() if k == "axis")]
        axis = self._exprs.ctx.evaluate(said[0]) if len(said) == 1 else None
        if type(axis) is not int or not -2 <= axis < 2 or self._keywords.keys() - {"axis"}:
            raise self._refused("write np.cumsum(m, axis=0), or np.cumsum(m.ravel())")
        return axis % 2

    def _counted(self, args: list[ast.expr]) -> tuple[str, list[ast.expr]]:
        least = self._keywords.pop("minlength", None)
        if least is None or self._keywords or len(args) != 1:
            raise self._refused("write np.bincount(x, minlength=16), for numbers below 16")
        self._vector(args[0])
        return "bincount", [args[0], least]

    def _padded_alike(self, args: list[ast.expr], kind: int) -> tuple[str, list[ast.expr]]:
        instead = 'write np.pad(x, (1, 1), mode="edge"), or of a matrix np.pad(m, ((1, 1), (2, 2)), mode="edge")'
        array = self._exprs.of(args[0])
        said = [*args[1:2], *(v for k, v in self._keywords.items() if k == "pad_width")]
        rank = 0 if array is None else len(array.shape)
        if array is None or rank not in (1, 2) or len(said) != 1 or len(args) > 3:
            raise self._refused(instead)
        if self._keywords.keys() - {"mode", "pad_width"}:
            raise self._refused(instead)
        ends = ends_of(self._exprs, said[0], rank, self._node)
        for extent, end in zip(array.shape, ends, strict=True):
            if kind and max(end) > extent - (kind == 2):
                raise self._refused("pad with no more elements than the array has to give")
        widths = [self._exprs.given(n) for end in ends for n in end]
        called = "pad_like" if rank == 1 else "pad_matrix_like"
        return called, [args[0], *widths, self._exprs.given(kind)]

    def _padded(self, args: list[ast.expr]) -> tuple[str, list[ast.expr]]:
        kind = _KINDS.get(str(_mode(self._exprs, args, self._node)))
        if kind is not None:
            return self._padded_alike(args, kind)
        instead = "write np.pad(x, (before, after), constant_values=0)"
        value = self._keywords.pop("constant_values", None)
        mode = self._keywords.pop("mode", None)
        width = self._keywords.pop("pad_width", None)
        rest = [*([width] if width is not None else []), *args[1:]]
        if len(rest) == 2 and mode is None:
            mode = rest.pop()
        known = mode is None or self._exprs.ctx.evaluate(mode) == "constant"
        if len(rest) != 1 or self._keywords or not known:
            raise self._refused(instead)
        ends = rest[0].elts if isinstance(rest[0], ast.Tuple) else [rest[0], rest[0]]
        if len(ends) != 2 or any(type(self._exprs.ctx.evaluate(e)) is not int for e in ends):
            raise self._refused(instead)
        self._vector(args[0])
        return "pad", [args[0], *ends, value if value is not None else self._exprs.given(0)]

    def _convolved(self, args: list[ast.expr]) -> tuple[str, list[ast.expr]]:
        instead = 'write np.convolve(x, taps, "full"), or "same" or "valid"'
        mode = self._keywords.pop("mode", args[2] if len(args) == 3 else None)
        found = "full" if mode is None else self._exprs.ctx.evaluate(mode)
        if len(args) < 2 or found not in ("full", "same", "valid") or self._keywords:
            raise self._refused(instead)
        a, v = args[:2]
        if self._vector(a).shape < self._vector(v).shape:
            a, v = v, a
        return f"convolve_{found}", [a, v]

    def _vector(self, node: ast.expr) -> ArrayExpr:
        found = self._exprs.of(node)
        if found is None or len(found.shape) != 1:
            raise self._refused("its operand is an array of one dimension: call it for each row")
        return found

    def _refused(self, instead: str) -> LanguageError:
        text = self._exprs.ctx.source.text(self._node)
        message = f"{text} is not supported in a kernel"
        return self._exprs.ctx.error("W111", message, self._node, instead)
