"""How often a ``while`` loop runs at most, by types and ranges (see `dsl.frontend.syntax.whiles`)."""

from __future__ import annotations

from dsl.expressions import values
from dsl.expressions.types import IntType
from dsl.expressions.value_range import type_range
from dsl.expressions.values import Value
from dsl.frontend.context import Context
from dsl.frontend.operands import value
from dsl.frontend.syntax.loop_parts import Most
from dsl.programs.program import MAX_EXTENT

_HELP = "write the most that there may be: for _ in range(most), and 'if not ...: break' in it"


def most_iterations(ctx: Context, node: Most) -> int:
    """The number of iterations after which the loop has ended.

    Raises:
        LanguageError: W104 it is not known.
    """
    found = [_range(ctx, value(ctx, part), node) for part in node.of]
    if len(found) == 2:  # a bisection: each step leaves less than half of what is between
        (low, _), (_, high) = found
        return max(1, (high - low + 1).bit_length())
    ((low, high),) = found
    if node.is_gcd:
        # Lamé: the k-th remainder is at most the smaller number by the k-th Fibonacci number, of 0.6943 bits each.
        return -(-max(-low, high).bit_length() * 14405 // 10000) + 3
    if low < 0 and not node.is_positive:
        name = ctx.source.text(node.of[0])
        message = f"a 'while' loop that ends at 0 may never do so: '{name}' may be negative"
        raise ctx.error(
            "W104", message, node, f"give '{name}' an unsigned type, or compare {name} > 0"
        )
    return max(1, high.bit_length())


def _range(ctx: Context, found: Value, node: Most) -> tuple[int, int]:
    affine = values.as_affine(found)
    if affine is not None:
        low, high = affine.interval(ctx.names.ranges())
        if max(abs(low), abs(high)) <= MAX_EXTENT:
            return low, high
    dtype = getattr(found, "dtype", None)
    if isinstance(dtype, IntType):
        return type_range(dtype)
    raise ctx.error("W104", "this 'while' loop has no known number of iterations", node, _HELP)
