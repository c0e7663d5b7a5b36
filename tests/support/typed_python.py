"""Kernels of any types executed as the Python functions that they are, with `tests.support.typed_numbers`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dsl.expressions.types import DType, FixedType, FloatType, fixed, ufixed
from tests.support.typed_numbers import FLOATS, Val, both, finite, frac_of, stored


class Typed:
    """A type in the text of a kernel: it converts, and with subscripts it is that of an array."""

    def __init__(self, dtype: DType, shape: tuple[int, ...] = ()) -> None:
        self.dtype, self.shape = dtype, shape

    def __getitem__(self, shape: int | tuple[int, ...]) -> Typed:
        return Typed(self.dtype, shape if isinstance(shape, tuple) else (shape,))

    def __call__(self, x: Any) -> Any:
        if not self.shape:
            return stored(self.dtype, x)
        array = TypedArray.of(np.full(self.shape, None, object), self.dtype)
        array[...] = x
        return array


class _Fixed:
    def __init__(self, made: Any) -> None:
        self._made = made

    def __getitem__(self, of: Any) -> Typed:
        return Typed(self._made[of])


class TypedArray(np.ndarray):
    """An array of `Val` that converts what is assigned to its elements."""

    dtype_of: DType | None = None

    @classmethod
    def of(cls, values: Any, dtype: DType) -> TypedArray:
        found = np.asarray(values, object).view(cls)
        found.dtype_of = dtype
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.dtype_of = getattr(other, "dtype_of", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, TypedArray) else x for x in inputs]
        if kw.get("out"):
            kw["out"] = tuple(o.view(np.ndarray) for o in kw["out"])
        return getattr(ufunc, method)(*plain, **kw)

    def __setitem__(self, key: Any, value: Any) -> None:
        dtype = self.dtype_of
        assert dtype is not None
        if isinstance(value, np.ndarray | list):
            value = np.frompyfunc(lambda e: stored(dtype, e), 1, 1)(np.asarray(value, object))
        else:
            value = stored(dtype, value)
        np.ndarray.__setitem__(self.view(np.ndarray), key, value)


class _Declared(ast.NodeTransformer):
    """Assignments to declared locals convert, as their types say; whole arrays are assigned by element."""

    def __init__(self, arrays: set[str]) -> None:
        self._types: dict[str, ast.expr] = {}
        self._arrays = arrays

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        assert isinstance(node.target, ast.Name)
        self._types[node.target.id] = node.annotation
        value = node.value or ast.Constant(0)
        return self._assigned(node.target, value)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        (target,) = node.targets
        if isinstance(target, ast.Name) and target.id in self._types:
            return self._assigned(target, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        read = ast.Name(node.target.id, ast.Load())
        value = ast.BinOp(read, node.op, node.value)
        if node.target.id in self._arrays:
            whole = ast.Subscript(read, ast.Slice(), ast.Store())
            return ast.Assign([whole], value)
        if node.target.id in self._types:
            return self._assigned(node.target, value)
        return ast.Assign([node.target], value)

    def _assigned(self, target: ast.Name, value: ast.expr) -> ast.Assign:
        converted = ast.Call(self._types[target.id], [value], [])
        return ast.Assign([ast.Name(target.id, ast.Store())], converted)


def _chosen(first: Any, *rest: Any, larger: bool) -> Any:
    found = first
    for x in rest:
        p, q, name = both(found, x)
        other = (q > p) if larger else (q < p)
        v = q if other else p
        found = Val(v, 0, name) if name else Val(v, max(frac_of(found), frac_of(x)))
    return found


def _root(x: Val) -> Val:
    return finite(np.sqrt(x.v), x.float)


class _Weft:
    kernel = staticmethod(lambda f: f)
    sqrt = staticmethod(_root)


def executed(
    text: str, arrays: Mapping[str, Any], dtypes: Mapping[str, DType], space: Mapping[str, Any]
) -> dict[str, Any]:
    """The bits that the function ``k`` of a text leaves in its array arguments.

    Args:
        text: of the kernel; its names of types are all in ``space`` or those of fixed point.
        arrays: raw values of each argument, as `Kernel.make_inputs` gives them.
        dtypes: of the arguments.
        space: what else the text refers to.

    Raises:
        NotFiniteError: a float left the finite numbers.
    """
    held: dict[str, Any] = {}
    for name, raw in arrays.items():
        held[name] = from_raw(np.asarray(raw), dtypes[name])
    tree = _Declared({n for n, a in held.items() if isinstance(a, np.ndarray)}).visit(
        ast.parse(text)
    )
    names = {
        "weft": _Weft(),
        "np": np,
        "fixed": _Fixed(fixed),
        "ufixed": _Fixed(ufixed),
        "min": lambda *a: _chosen(*a, larger=False),
        "max": lambda *a: _chosen(*a, larger=True),
        **space,
    }
    with np.errstate(all="ignore"):
        exec(compile(ast.fix_missing_locations(tree), "<kernel>", "exec"), names)
        names["k"](**held)
    return {n: _to_raw(a, dtypes[n]) for n, a in held.items() if isinstance(a, np.ndarray)}


def from_raw(raw: Any, dtype: DType) -> Any:
    def one(r: Any) -> Val:
        if isinstance(dtype, FloatType):
            return Val(FLOATS[dtype.name](r), 0, dtype.name, dtype)
        frac = dtype.frac if isinstance(dtype, FixedType) else 0
        return Val(Fraction(int(r)) / Fraction(2) ** frac, frac, "", dtype)

    if raw.ndim == 0:
        return one(raw[()])
    return TypedArray.of(np.frompyfunc(one, 1, 1)(raw.astype(object)), dtype)


def _to_raw(array: TypedArray, dtype: DType) -> Any:
    if isinstance(dtype, FloatType):
        return np.array([x.v for x in array.ravel()], FLOATS[dtype.name]).reshape(array.shape)
    frac = dtype.frac if isinstance(dtype, FixedType) else 0
    return np.array([int(x.v * Fraction(2) ** frac) for x in array.ravel()], object).reshape(
        array.shape
    )
