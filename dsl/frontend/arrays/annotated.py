"""Local arrays with a type that are given an array: ``acc: f32[16] = np.zeros(16)``, ``t: i16[3] = [1, 2, 3]``.

The type says what the elements are, as ``np.zeros`` without a ``dtype`` does not; the shapes are the same, or it is an error.
One number for all elements, ``acc: f32[16] = 0.0``, is declared elsewhere (see `dsl.frontend.declare`).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dsl.errors.errors import LanguageError
from dsl.expressions.types import ArrayType, DType, IntType
from dsl.frontend.arrays.filled import Made, says_type
from dsl.frontend.arrays.locals import NewArray
from dsl.frontend.arrays.makers import Maker
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context
from dsl.frontend.declare import declared_array


def annotated_array(ctx: Context, node: ast.AnnAssign) -> tuple[ast.stmt, ...] | None:
    """The statements that set a new array with a type; None where its value is one number, or there is none.

    Raises:
        LanguageError: W142 the value has another shape or type, or is an array that has a name already.
    """
    target, source = node.target, node.value
    if source is None or not isinstance(target, ast.Name):
        return None
    declared = declared_array(ctx, node)
    if declared is not None and part_of(ctx, view_of(ctx, source)) is not None:
        text = ctx.source.text(source)
        raise ctx.error(
            "W142",
            f"{text} is an array that has a name already, and a local with a type is a new one",
            source,
            f"write {text}.copy(), or leave the type out for another name of the same array",
        )
    made = Maker(ctx, node).made(source)
    if made is None:
        return None
    if declared is None or declared.shape != made.shape:
        raise _other_shape(ctx, node, source, declared, made)
    if says_type(ctx, source) and not _is_kept(made, declared.dtype):
        text = ctx.source.text(source)
        message = f"the elements of {text} are not {declared.dtype}, which the declaration says"
        instead = "write the type once, in the declaration"
        raise ctx.error("W142", message, source, instead)
    plain = ast.copy_location(ast.Assign([target], source), node)
    fill = _of_integers(made.fill) if isinstance(declared.dtype, IntType) else made.fill
    typed = replace(made, dtype=declared.dtype, fill=fill)
    return NewArray(ctx, plain, target, typed).statements(None)


def _is_kept(made: Made, dtype: DType) -> bool:
    """Whether an array whose type is said has elements of another: ``int`` says no width, ``float`` none either."""
    if made.dtype is not None:
        return made.dtype == dtype
    return not isinstance(dtype, IntType) or not isinstance(made.first, float)


def _of_integers(fill: ast.expr | None) -> ast.expr | None:
    """``np.zeros`` and ``np.ones`` without a type are floats in NumPy; of integers they are these."""
    if isinstance(fill, ast.Constant) and isinstance(fill.value, float) and fill.value.is_integer():
        return ast.copy_location(ast.Constant(int(fill.value)), fill)
    return fill


def _other_shape(
    ctx: Context, node: ast.AnnAssign, source: ast.expr, declared: ArrayType | None, made: Made
) -> LanguageError:
    assert isinstance(node.target, ast.Name)
    name, text = node.target.id, ctx.source.text(source)
    extents = ", ".join(map(str, made.shape))
    dtype = declared.dtype if declared is not None else ctx.source.text(node.annotation)
    message = (
        f"{text} is an array of the shape {made.shape}, and '{name}' is a scalar"
        if declared is None
        else f"{text} is an array of the shape {made.shape}, and '{name}' is {declared}"
    )
    return ctx.error("W142", message, source, f"write {name}: {dtype}[{extents}] = ...")
