"""Calls of NumPy that are calls of functions in the language (see `dsl.frontend.arrays.library`)."""

from __future__ import annotations

import ast

from dsl.errors.errors import LanguageError
from dsl.frontend.arrays.shapes import ArrayExpr, Exprs, numpy_name
from dsl.frontend.arrays.tables import is_of_module

_OF_ONE = ("cumsum", "argmax", "argmin", "sort", "var", "std")
_NAMES = (*_OF_ONE, "pad", "concatenate", "convolve")
_METHODS = ("cumsum", "argmax", "argmin", "var", "std")


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
        name = numpy_name(ctx.evaluate(func))
    if name not in _NAMES or not args:
        return None
    made = _Made(exprs, node, name)
    called, passed = made.arguments(args)
    from dsl.frontend.arrays import library  # needs NumPy, which other kernels do not

    function = exprs.given(getattr(library, called), ast.Name(called, ast.Load()))
    found = exprs.at(ast.Call(function, passed, []))
    ctx.rewritten[node] = found
    return found


class _Made:
    def __init__(self, exprs: Exprs, node: ast.Call, name: str) -> None:
        self._exprs = exprs
        self._node = node
        self._name = name
        self._keywords = {k.arg: k.value for k in node.keywords}

    def arguments(self, args: list[ast.expr]) -> tuple[str, list[ast.expr]]:
        """The name of the function, and what is passed to it."""
        name = self._name
        if name in _OF_ONE:
            if len(args) > 1 or self._keywords:
                raise self._refused(f"write np.{name}(x), of an array of one dimension")
            self._vector(args[0])
            return name, args
        if name == "concatenate":
            parts = args[0].elts if isinstance(args[0], ast.Tuple | ast.List) else []
            if len(parts) != 2 or len(args) > 1 or self._keywords:
                raise self._refused("it is of two arrays: np.concatenate((a, b))")
            for part in parts:
                self._vector(part)
            return name, parts
        return self._padded(args) if name == "pad" else self._convolved(args)

    def _padded(self, args: list[ast.expr]) -> tuple[str, list[ast.expr]]:
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
