"""Do two statements under loops run their iterations in an order that is asked for?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import islpy as isl

from polyhedral.scop.scop import Statement


class Placed(Protocol):
    """What runs iterations of a statement: a piece of it under a schedule, or a store.

    ``place`` has the static position in each loop's body (Kelly and Pugh's 2d+1 form), ``times``
    goes from the statement's iterations to the values of the loops around.
    """

    @property
    def statement(self) -> Statement:
        """What it runs iterations of."""

    @property
    def place(self) -> tuple[int, ...]:
        """One more than the loops around."""

    @property
    def times(self) -> isl.Map:
        """Iteration to loops' variables."""


def shared_loops(p: Sequence[int], q: Sequence[int]) -> int:
    """How many loops two places are both in."""
    limit = min(len(p), len(q)) - 1
    n = 0
    while n < limit and p[n] == q[n]:
        n += 1
    return n


def shared_levels(p: Placed, q: Placed) -> int:
    """How many loops two of them share."""
    return shared_loops(p.place, q.place)


def reversed_pairs(ordered: isl.Map, p: Placed, q: Placed) -> isl.Map | None:
    """Of the pairs, those (iteration of p, iteration of q) that run in the wrong order, or None."""
    shared = shared_levels(p, q)
    # With all shared loops equal, the static place decides.
    tie_ok = p is not q and p.place[shared] < q.place[shared]
    if shared == 0 and tie_ok:
        return None
    pairs = ordered.apply_domain(p.times).apply_range(q.times)
    if shared == 0:
        bad = pairs
    else:
        mine, others = len(p.place) - 1, len(q.place) - 1
        deltas = (
            pairs.project_out(isl.dim_type.in_, shared, mine - shared)
            .project_out(isl.dim_type.out, shared, others - shared)
            .deltas()
        )
        if deltas.intersect(_not_positive(shared, not tie_ok)).is_empty():
            return None
        bad = pairs.intersect(lex_order(mine, others, shared, not tie_ok))
    if bad.is_empty():
        return None
    return bad.apply_domain(p.times.reverse()).apply_range(q.times.reverse())


@lru_cache(maxsize=64)
def _not_positive(n: int, strict: bool) -> isl.Set:
    """Integer vectors that are lexicographically negative, with zero if ``strict``."""
    names = [f"x{k}" for k in range(n)]
    cases = [
        " and ".join([f"{name} = 0" for name in names[:k]] + [f"{names[k]} < 0"]) for k in range(n)
    ]
    if strict:
        cases.append(" and ".join(f"{name} = 0" for name in names))
    return isl.Set(f"{{ [{', '.join(names)}] : {' or '.join(f'({c})' for c in cases)} }}")


@lru_cache(maxsize=64)
def lex_order(n_in: int, n_out: int, shared: int, strict: bool) -> isl.Map:
    """Pairs of iterations whose first ``shared`` loops say that the second runs first."""
    a, b = [f"a{k}" for k in range(n_in)], [f"b{k}" for k in range(n_out)]
    cases = [
        " and ".join([f"{a[i]} = {b[i]}" for i in range(k)] + [f"{b[k]} < {a[k]}"])
        for k in range(shared)
    ]
    if strict:
        cases.append(" and ".join(f"{a[i]} = {b[i]}" for i in range(shared)))
    text = " or ".join(f"({c})" for c in cases)
    return isl.Map(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {text} }}")
