"""That sums between limits never leave their type, and what their composed components may be.

``s = max(s + x, 0)`` is cut to its type in each iteration; composed, it is computed without. That is the same where no
iteration cuts anything: from the value in front of the loop and the ranges of what is added, iteration by iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dsl.expressions.expr import BinaryOp, Expr
from dsl.expressions.types import DType, IntType
from dsl.expressions.value_range import Range, type_range
from dsl.programs.composed import Chain, Choice, Family, Function, Reset, leaves
from polyhedral.legality.recurrences import NoScanError, with_component_types

MOST = 1 << 17  # updates that are followed

Ranges = Callable[[Expr], Range]
"""The range of a value."""


def within(
    family: Family,
    functions: Sequence[Function],
    start: Range,
    count: int,
    factor: int,
    range_of: Ranges,
) -> Family:
    """The ``CLAMP`` of integers with its limits, and components that are wide enough.

    Args:
        family: of the functions.
        functions: the updates of an iteration, in their order; one that conditions leave out is a choice, too.
        start: what the value is in front of the loop.
        count: iterations.
        factor: iterations that are composed.
        range_of: of terms and conditions.

    Raises:
        NoScanError: some iteration may cut the value to its type.
    """
    if count * len(functions) > MOST:
        raise NoScanError(f"{count} iterations are more than are followed for overflows")
    known: dict[int, Range] = {}

    def of(expr: Expr) -> Range:
        if id(expr) not in known:
            known[id(expr)] = range_of(expr)
        return known[id(expr)]

    dtype = family.dtype
    limits = start
    now: Range | None = start
    for number in range(count):
        before = now
        for function in functions:
            assert now is not None
            now = _after(function, now, of)
            if not _holds(type_range(dtype), now):
                raise NoScanError(
                    f"it may be {now[0]} to {now[1]} in iteration {number + 1}, which {dtype} cuts"
                )
            limits = _joined(limits, now)
        if now == before:
            break
    widest = limits
    for function in functions:
        for each in _terms(function, (BinaryOp.MIN, BinaryOp.MAX)):
            widest = _joined(widest, of(each))
    moved, total = widest, (0, 0)
    for _ in range(factor):
        for function in functions:
            moved = _joined(moved, _after(function, moved, of))
            # In the type that a step has it need not fit: the component has a type of its own.
            total = _joined(total, _after(_sums_of(function), total, of, cuts=False))
    types: dict[str, DType] = {
        "scan": type_of(total),
        "least": type_of(moved),
        "most": type_of(moved),
    }
    return with_component_types(family, types, limits)


def _after(function: Function, before: Range, of: Ranges, cuts: bool = True) -> Range:
    """What the value is after a function.

    Args:
        function: what is done to it.
        before: what it was.
        of: the range of a term.
        cuts: each step is in the type that it has in the program.

    Raises:
        NoScanError: some step may cut it to that type.
    """
    match function:
        case Reset(value):
            return of(value)
        case Choice(_, then, orelse):
            return _joined(*(_after(way, before, of, cuts) for way in (then, orelse)))
        case Chain(ops):
            low, high = before
            for each in ops:
                a, b = of(each.term)
                match each.op:
                    case BinaryOp.ADD:
                        low, high = low + a, high + b
                    case BinaryOp.SUB:
                        low, high = low - b, high - a
                    case BinaryOp.MAX:
                        low, high = max(low, a), max(high, b)
                    case _:
                        low, high = min(low, a), min(high, b)
                if cuts and not _holds(type_range(each.dtype), (low, high)):
                    raise NoScanError(f"it may be {low} to {high}, which {each.dtype} cuts")
            return low, high


def _terms(function: Function, ops: tuple[BinaryOp, ...]) -> Iterator[Expr]:
    for leaf in leaves(function):
        if isinstance(leaf, Reset):
            yield leaf.value
        else:
            yield from (each.term for each in leaf.ops if each.op in ops)


def _sums_of(function: Function) -> Function:
    """What a function adds, without limits and resets."""
    match function:
        case Reset():
            return Chain()
        case Choice(cond, then, orelse):
            return Choice(cond, _sums_of(then), _sums_of(orelse))
        case Chain(ops):
            return Chain(tuple(x for x in ops if x.op in (BinaryOp.ADD, BinaryOp.SUB)))


def type_of(values: Range) -> IntType:
    """The narrowest type that holds them."""
    low, high = values
    if low >= 0:
        return IntType(max(1, high.bit_length()), False)
    return IntType(max((-low - 1).bit_length(), high.bit_length() if high > 0 else 0) + 1)


def _holds(outer: Range, inner: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _joined(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])
