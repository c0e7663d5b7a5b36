"""Subscripts that are data: proven to stay inside of their arrays whatever the data are.

An access outside is undefined in C++, and nothing checks it in hardware. So the proof is asked for in
front of everything else: by the ranges of the types, of loop variables and of what locals are given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import Access, Cast, Const, Expr, Gather, Load, Scatter, Select, walk
from dsl.expressions.types import FloatType
from dsl.expressions.value_range import Range
from dsl.programs.pretty_expr import MARK, expr_text
from dsl.programs.program import Array, Program, Storage
from polyhedral.legality.kept_conditions import with_kept_conditions
from polyhedral.legality.stored_ranges import StoredRanges
from polyhedral.scop.scop import Scop, Statement

_LEAST_INT = -(1 << 31)
_LEAST = 4  # elements, of which as many as a type has values are worth one of its own
Loops = Mapping[str, Mapping[str, Range]]
"""Ranges of the loop variables around each statement; those of statements that never run are left out."""


def check_data_subscripts(scop: Scop, loops: Loops) -> None:
    """Check every subscript that is data.

    Raises:
        LanguageError: W164 one that is not proven to be inside of the array.
    """
    at_data = [s for s in scop.statements if s.name in loops and any(_elements(s.stmt.value))]
    if not at_data:
        return
    program = scop.program
    error = _error_of(program, at_data, StoredRanges(program, loops))
    if error is None:
        return
    kept = with_kept_conditions(program)
    if kept is not None:
        around = {**loops, **{n: loops[s] for n, s in kept.like.items() if s in loops}}
        if _error_of(program, at_data, StoredRanges(kept.program, around)) is None:
            return
    raise error


def _error_of(
    program: Program, at_data: Sequence[Statement], stored: StoredRanges
) -> LanguageError | None:
    """What is wrong with the first subscript that is not proven; None where all are."""
    for s in at_data:
        for expr in _elements(stored.choice(s.name)):
            error = _unproven(program, s, expr, stored)
            if error is not None:
                return error
    return None


def _elements(value: Expr) -> Iterator[Gather | Scatter]:
    """What is read and written at data."""
    return (expr for expr in walk(value) if isinstance(expr, Gather | Scatter))


def _unproven(
    program: Program, s: Statement, element: Gather | Scatter, stored: StoredRanges
) -> LanguageError | None:
    data, access = iter(element.data), element.access
    array = program.array(access.array)
    within = access.within(array.shape)
    for dim, (index, extent) in enumerate(zip(access.indices, within, strict=True)):
        if not index.is_data:
            continue
        value = next(data)
        low, high = stored.range_of(value, s.name)
        if low >= 0 and high < extent:
            continue
        text = _in_source(access.span, dim, len(access.indices)) or _text(_written(value))
        if low <= _LEAST_INT and _is_cut_float(value):
            limited = f"int(min(max(v, 0.0), {extent - 1}.0))"
            found = f"limit the fraction v before it is an integer, {limited}: one that is too large is none"
            return _outside(array, access, s, dim, text, (low, high), found)
        verb = "write" if isinstance(element, Scatter) else "read"
        instead = _instead(text, low, high, extent, verb) + _or_declared(program, value, extent)
        return _outside(array, access, s, dim, text, (low, high), instead)
    return None


def _outside(
    array: Array, access: Access, s: Statement, dim: int, text: str, held: Range, instead: str
) -> LanguageError:
    extent = access.within(array.shape)[dim]
    return LanguageError(
        "W164",
        f"subscript {dim} of '{array.name}' is {text}, which may be {held[0]} to {held[1]}",
        span=access.span or s.stmt.span,
        notes=[f"{array.name} is {array.type}: subscript {dim} must be 0 to {extent - 1}"],
        help=instead,
    )


def _is_cut_float(value: Expr) -> bool:
    """Whether a float is made an integer in it."""
    return any(isinstance(e, Cast) and isinstance(e.operand.dtype, FloatType) for e in walk(value))


def _written(value: Expr) -> Expr:
    """The subscript as it is written: a condition on it may have been given 0 for all else."""
    match value:
        case Select(then=then, orelse=other) if _is_zero(other):
            return _written(then)
        case Select(then=other, orelse=orelse) if _is_zero(other):
            return _written(orelse)
        case _:
            return value


def _is_zero(value: Expr) -> bool:
    return (isinstance(value, Const) and value.value == 0) or (
        isinstance(value, Cast) and _is_zero(value.operand)
    )


def _in_source(span: Span | None, dim: int, dims: int) -> str | None:
    """A subscript as the kernel has it; None where the place is not that of an access."""
    if span is None or span.end_line != span.line:
        return None
    line = span.source_line()
    try:
        node = ast.parse(line[span.col - 1 : span.end_col - 1].strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    plain = len(parts) == dims and not any(isinstance(n, ast.Slice) for n in parts)
    return ast.unparse(parts[dim]) if plain else None


def _instead(text: str, low: int, high: int, extent: int, verb: str) -> str:
    """What to write so that it is inside."""
    if extent & (extent - 1) == 0 and extent > 1:
        least = "0 <= " if low < 0 else ""
        return (
            f"keep its low bits, ({text}) & {extent - 1}, or {verb} it under a condition, "
            f"if {least}{text} < {extent}"
        )
    clamp = text if low >= 0 else f"max({text}, 0)"
    clamp = clamp if high < extent else f"min({clamp}, {extent - 1})"
    return f"write {clamp}, or a remainder, ({text}) % {extent}"


def _or_declared(program: Program, value: Expr, extent: int) -> str:
    """The type of an argument whose elements are the subscripts, as the columns of a sparse matrix are."""
    value = _written(value)
    while isinstance(value, Cast):
        value = value.operand
    if not isinstance(value, Load | Gather) or extent & (extent - 1) or extent < _LEAST:
        return ""
    of = program.array(value.access.array)
    if of.storage is not Storage.ARGUMENT or not of.shape:
        return ""
    extents = ", ".join(map(str, of.shape))
    return f", or declare {of.name}: u{extent.bit_length() - 1}[{extents}]"


def _text(value: Expr) -> str:
    return expr_text(value).replace(MARK, "")
