"""Elements of arrays from what stands in the brackets: one way for both front doors."""

from __future__ import annotations

from collections.abc import Sequence

from dsl.errors.errors import Span
from dsl.expressions import typing, values
from dsl.expressions.affine import with_data
from dsl.expressions.expr import Access, Expr, Gather, Load, Scatter
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.values import Value


def is_subscript(value: Value) -> bool:
    """Whether a value can be a subscript: affine, or an integer that is data."""
    affine = values.as_affine(value) is not None
    return affine or (isinstance(value, Expr) and isinstance(value.dtype, IntType | IndexType))


def element(
    array: str, dtype: DType, subscripts: Sequence[Value], span: Span | None
) -> Load | Gather:
    """The element at these subscripts, of which each passes `is_subscript`.

    It is a `Load` where all are affine, else a `Gather`.
    """
    indices, data = with_data((values.as_affine(value), value) for value in subscripts)
    access = Access(array, indices, span)
    if not data:
        return Load(access, dtype)
    return Gather(access, tuple(_settled(value, span) for value in data), dtype)


def assignment(element: Load | Gather, value: Expr) -> tuple[Access, Expr]:
    """The target of a statement that assigns ``value`` to an element, and the statement's value."""
    access = element.access
    return access, Scatter(access, element.data, value) if isinstance(element, Gather) else value


def assigned_element(target: Access, value: Expr, dtype: DType) -> Load | Gather:
    """The element that a statement of this target and value assigns, as it was in front of it."""
    if isinstance(value, Scatter):
        return Gather(target, value.data, dtype)
    return Load(target, dtype)


def _settled(value: Value, span: Span | None) -> Expr:
    assert isinstance(value, Expr)
    return typing.settled(value, span)
