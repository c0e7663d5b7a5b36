"""Locals whose type nobody wrote, and which are given values later that it may not hold.

``best = x[0]`` makes a local of the type of ``x``, as in C ``auto``; ``best = x[i] * w[i]`` behind it wraps around there, which in
Python it would not. Told of are locals of fewer bits than C's ``int``: a wider one wraps where it does in C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dsl.errors.errors import Note
from dsl.expressions.expr import Cast, Expr, Select
from dsl.expressions.result_types import common_type
from dsl.expressions.types import DType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt

_INT = 32


def narrowed(program: Program) -> list[Note]:
    """A note for each such local, at the first assignment that may not fit."""
    locals_ = {a.name: a for a in program.locals if _is_told_of(a)}
    notes: dict[str, Note] = {}
    for s, ranges in _statements(program.body, {}) if locals_ else ():
        array = locals_.get(s.target.array)
        if array is None or array.name in notes:
            continue
        low, high = value_range(_as_assigned(s.value, array.dtype), ranges, _of_type)
        least, most = type_range(array.dtype)
        if low < least or high > most:
            notes[array.name] = _note(array, s, (low, high))
    return [*notes.values()]


def _is_told_of(array: Array) -> bool:
    narrow = isinstance(array.dtype, IntType) and 1 < array.dtype.width < _INT
    return array.by_value and not array.shape and narrow


def _of_type(_: object, dtype: DType) -> Range:
    return type_range(dtype)


def _as_assigned(value: Expr, dtype: DType) -> Expr:
    """A value without the conversions that no source has, of what a condition decides on: they have no place there."""
    match value:
        case Cast(operand=operand, dtype=found, span=None) if found == dtype and isinstance(
            operand.dtype, IntType
        ):
            return _as_assigned(operand, dtype)
        case Select(then=then, orelse=orelse):
            a, b = _as_assigned(then, dtype), _as_assigned(orelse, dtype)
            if isinstance(a.dtype, IntType) and isinstance(b.dtype, IntType):
                return replace(value, then=a, orelse=b, dtype=common_type(a.dtype, b.dtype))
    return value


def _statements(
    nodes: Sequence[Node], ranges: Mapping[str, Range]
) -> Iterator[tuple[Stmt, Mapping[str, Range]]]:
    """Each statement with ranges of the loop variables around; none of those in loops that never run."""
    for n in nodes:
        match n:
            case Loop():
                low = max(b.interval(ranges)[0] for b in n.lowers)
                high = min(b.interval(ranges)[1] for b in n.uppers) - 1
                if low <= high:
                    yield from _statements(n.body, {**ranges, n.var: (low, high)})
            case If():
                yield from _statements((*n.then, *n.orelse), ranges)
            case _:
                yield n, ranges


def _note(array: Array, s: Stmt, found: Range) -> Note:
    name, dtype = array.name, array.dtype
    low, high = found
    place = f", in line {array.span.line}" if array.span is not None else ""
    wide = max(_INT, 1 + max(low, high, key=lambda v: v.bit_length()).bit_length())
    return Note(
        f"'{name}' is {dtype} by its first value{place}: what it is given here, {low} to {high}, may wrap",
        s.span,
        f"write a type in front, {name}: i{wide} = ..., or {name}: {dtype} = ... where it is to wrap",
    )
