"""How often a ``while`` loop runs at most, by types and ranges (see `dsl.frontend.syntax.whiles`)."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence

from dsl.errors.errors import LanguageError
from dsl.expressions import values
from dsl.expressions.expr import Expr
from dsl.expressions.types import IndexType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.expressions.values import Value
from dsl.frontend.arrays.extents import extent_of
from dsl.frontend.context import Context
from dsl.frontend.operands import value
from dsl.frontend.syntax.certain import Within
from dsl.frontend.syntax.conjuncts import Root
from dsl.frontend.syntax.folds import most_folds
from dsl.frontend.syntax.geometric import Counter
from dsl.frontend.syntax.loop_parts import Most
from dsl.frontend.syntax.progress import Closing, Elements, Scaled, Together, Trips
from dsl.programs.program import MAX_EXTENT

MOST_TRIPS = 4096
"""A loop of types alone, ``range(n)`` of an ``i32``, would run for longer than anyone waits."""

UNKNOWN = "a 'while' loop whose number of iterations is not known is not supported in a kernel"

_HELP = "write the most that there may be: for _ in range(most), and 'if not ...: break' in it"


def most_iterations(ctx: Context, node: Most) -> int:
    """The number of iterations after which the loop has ended.

    Raises:
        LanguageError: W104 it is not known.
    """
    return node.more + _most(ctx, node)


def _most(ctx: Context, node: Most) -> int:
    found = [_range(ctx, value(ctx, part), node) for part in node.of]
    if len(found) == 2:  # a bisection: each step leaves less than half of what is between
        (low, _), (_, high) = found
        return max(1, (high - low + 1).bit_length())
    ((low, high),) = found
    if node.base:
        return most_folds(node.base, low, high)
    if node.is_gcd:
        # Lamé: the k-th remainder is at most the smaller number by the k-th Fibonacci number, of 0.6943 bits each.
        return -(-max(-low, high).bit_length() * 14405 // 10000) + 3
    if low < 0 and not node.is_positive:
        name = ast.unparse(node.of[0])
        message = f"a 'while' loop that ends at 0 may never do so: '{name}' may be negative"
        raise ctx.error(
            "W104", message, node, f"give '{name}' an unsigned type, or compare {name} > 0"
        )
    return max(1, high.bit_length())


def _range(ctx: Context, found: Value, node: Most) -> Range:
    affine = values.as_affine(found)
    if affine is not None:
        low, high = affine.interval(ctx.names.ranges())
        if max(abs(low), abs(high)) <= MAX_EXTENT:
            return low, high
    dtype = getattr(found, "dtype", None)
    if isinstance(dtype, IntType):
        return type_range(dtype)
    raise ctx.error("W104", "this 'while' loop has no known number of iterations", node, _HELP)


def most_trips(ctx: Context, node: Trips) -> int:
    """The number of iterations after which the loop has ended, by the best of its reasons.

    Raises:
        LanguageError: W104 by all of them it may run more often than anyone waits.
    """
    found = [*_known_trips(ctx, node)]
    fitting = [
        trips for trips, is_data in found if trips <= (MOST_TRIPS if is_data else MAX_EXTENT)
    ]
    if fitting:
        return max(1, min(fitting))
    test = node.loop.test
    message = UNKNOWN
    if found:
        message = (
            f"this 'while' loop may run {min(found)[0]} times, by the types of what it compares"
        )
    raise ctx.error("W104", message, test, until(ctx.source.text(test)))


def until(test: str) -> str:
    """What to write instead of a ``while`` with that condition."""
    return f"say the most iterations that there may be: 'for _ in range(100):' and, first in it, 'if not ({test}): break'"


def _known_trips(ctx: Context, node: Trips) -> Iterator[tuple[int, bool]]:
    """The trips by each reason, and whether the range of data is in it."""
    for reason in node.reasons:
        try:
            match reason:
                case Closing(gaps=gaps, least=least, by=by, more=more):
                    ends = [_most_of(ctx, gap) for gap in gaps]
                    most = sum(end for end, _ in ends)
                    passes = max(0, (most - least) // by + 1)
                    yield passes + more, any(is_data for _, is_data in ends)
                case Scaled(counter=counter, first=first):
                    trips = _scaled(ctx, counter, first)
                    if trips is not None:
                        yield trips, False
                case Elements(within=within):
                    extent = extent_of(ctx, within.base, within.dim)
                    if extent is not None:
                        yield extent, False
                case Together(counters=counters):
                    extents = [_least_extent(ctx, withins) for withins in counters]
                    known = [extent for extent in extents if extent is not None]
                    if len(known) == len(extents):
                        yield sum(known), False
        except LanguageError:
            continue  # what it is made of has no value in front of the loop


def _least_extent(ctx: Context, withins: Sequence[Within]) -> int | None:
    """The fewest elements that there are along one of several dimensions."""
    found = [extent_of(ctx, within.base, within.dim) for within in withins]
    return min((extent for extent in found if extent is not None), default=None)


def _scaled(ctx: Context, counter: Counter, first: ast.expr) -> int | None:
    """How many values a counter has at most: from the least on where it grows, and from the most where it shrinks."""
    low, high = _range_of(ctx, first)
    least, most = _range_of(ctx, counter.bound)
    if counter.is_up:
        values = counter.values(low, most) if low > 0 else None
    else:
        values = counter.values(high, least) if low >= 0 else None
    return None if values is None else len(values)


def most_root(ctx: Context, node: Root) -> int:
    """The integer square root of the most that its expression may be."""
    return math.isqrt(max(0, _most_of(ctx, node.of)[0]))


def _most_of(ctx: Context, node: ast.expr) -> tuple[int, bool]:
    """The most that an expression may be, and whether that is of data."""
    found = value(ctx, node)
    return _range_of(ctx, node)[1], values.as_affine(found) is None


def _range_of(ctx: Context, node: ast.expr) -> Range:
    found = value(ctx, node)
    affine = values.as_affine(found)
    if affine is not None:
        return affine.interval(ctx.names.ranges())
    assert isinstance(found, Expr)
    if not isinstance(found.dtype, IntType | IndexType):
        raise ctx.error("W104", "this 'while' loop has no known number of iterations", node, _HELP)
    return value_range(found, ctx.names.ranges(), lambda _, dtype: type_range(dtype))
