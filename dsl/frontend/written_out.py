"""Loops over a few constants that are written out: their variable is a number in each copy of the body.

Before::

    for s in range(4):
        half = 1 << s
        for i in range(0, 16, 2 * half):
            x[i] += x[i + half]

After::

    for i in range(0, 16, 2):
        x[i] += x[i + 1]
    for i in range(0, 16, 4):
        x[i] += x[i + 2]
    ...
"""

from __future__ import annotations

import ast

from dsl.frontend.arrays.uneven import is_uneven_total
from dsl.frontend.arrays.uneven_assignments import is_uneven_assignment
from dsl.frontend.context import Context
from dsl.frontend.copies import MAX_COPIES, MAX_NESTED, Copies
from dsl.frontend.loops import Header, headers
from dsl.frontend.operands import value
from dsl.frontend.syntax.geometric import Geometric
from dsl.frontend.syntax.growth import needs_constant
from dsl.frontend.trip_bounds import UNKNOWN, until


def written_out(ctx: Context, node: ast.For) -> Copies | None:
    """The copies of a loop in whose body bounds are affine only so; None of any other loop."""
    if not isinstance(node.target, ast.Name) or not isinstance(node.iter, ast.Call):
        return None
    if ctx.evaluate(node.iter.func) is not range:
        return None
    if not needs_constant(
        node,
        ctx.names.loops(),
        is_array=ctx.names.is_array,
        is_loop=lambda n: is_uneven_total(ctx, n) or is_uneven_assignment(ctx, n),
    ):
        return None
    (header,) = headers(ctx, node)
    trips = _values(header)
    if trips is None or len(trips) > MAX_COPIES or len(trips) * ctx.copies > MAX_NESTED:
        return None
    return Copies(tuple({node.target.id: n} for n in trips))


def counted(ctx: Context, node: ast.For, values: Geometric) -> Copies | list[ast.stmt]:
    """The copies of a loop over the values of a counter, or the statements that do the same.

    Raises:
        LanguageError: W104 the values are not known.
    """
    first, bound = value(ctx, values.first), value(ctx, values.counter.bound)
    known = None
    if type(first) is int and type(bound) is int:
        known = values.counter.values(first, bound)
    if values.otherwise is not None and (
        known is None
        or len(known) * ctx.copies > MAX_NESTED
        or not needs_constant(node, ctx.names.loops(), is_data=True, is_array=ctx.names.is_array)
    ):
        return values.otherwise
    if known is None:
        raise ctx.error("W104", UNKNOWN, values.loop, until(ctx.source.text(values.loop.test)))
    assert isinstance(node.target, ast.Name)
    return Copies(tuple({node.target.id: n} for n in known))


def _values(header: Header) -> range | None:
    """What the variable of a loop with constant bounds is, in order."""
    if not all(b.is_const for b in (*header.lowers, *header.uppers)):
        return None
    low = max(b.const for b in header.lowers)
    high = min(b.const for b in header.uppers)
    found = range(low, high, abs(header.step))
    if header.step > 0:
        return found
    return range(high - 1, low - 1, header.step)
