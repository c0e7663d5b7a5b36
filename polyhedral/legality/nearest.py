"""How many iterations ago a statement has assigned what a term of it is computed from, at the least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import inf

import islpy as isl

from dsl.expressions.expr import Access, Expr, loads
from polyhedral.dependences.direct import flows_within, writes_seen
from polyhedral.isl.text import dims, map_of
from polyhedral.scop.scop import Scop, Statement, common_loops


def nearest(
    scop: Scop, s: Statement, terms: Sequence[Expr], level: int | None = None
) -> list[float]:
    """For each term the iterations of a loop; infinite where it needs no earlier value of the statement.

    Args:
        scop: the program.
        s: a statement in a loop.
        terms: of its value.
        level: of the loop, counted from the outermost; None for the innermost one.
    """
    level = len(s.loops) - 1 if level is None else level
    inside = [t for t in scop.statements if common_loops(s, t) > level]
    users: dict[str, list[tuple[str, int]]] = {}
    for d in flows_within(scop, inside):
        if d.source in inside and d.sink in inside:
            apart = _apart(d.pairs, level)
            if apart is not None:
                users.setdefault(d.source.name, []).append((d.sink.name, apart))
    known: dict[str, int] = {s.name: 0}
    open_ = [(0, s.name)]
    while open_:
        so_far, name = heappop(open_)
        for user, apart in users.get(name, ()) if known[name] == so_far else ():
            if so_far + apart < known.get(user, inf) and user != s.name:
                known[user] = so_far + apart
                heappush(open_, (known[user], user))
    return [
        min((n for a in loads(term) for n in _read(scop, s, a, known, level)), default=inf)
        for term in terms
    ]


def _read(
    scop: Scop, s: Statement, access: Access, known: dict[str, int], level: int
) -> Iterator[int]:
    """The distances over the writes that a read sees."""
    for source, pairs in writes_seen(scop, s, access):
        apart = _apart(pairs, level) if source.name in known else None
        if apart is not None:
            yield known[source.name] + apart


def _apart(pairs: isl.Map, level: int) -> int | None:
    """The fewest iterations of a loop between pairs of one execution of it."""
    a, b = dims(pairs.dim(isl.dim_type.in_), "x"), dims(pairs.dim(isl.dim_type.out), "y")
    names = (pairs.get_tuple_name(kind) for kind in (isl.dim_type.in_, isl.dim_type.out))
    source, sink = names
    same = " and ".join(f"x{k} = y{k}" for k in range(level)) or "true"
    text = f"{{ [{source}[{', '.join(a)}] -> {sink}[{', '.join(b)}]] -> [y{level} - x{level}] : {same} }}"
    apart = map_of(text).intersect_domain(pairs.wrap()).range()
    if apart.is_empty():
        return None
    low, high = apart.dim_min_val(0), apart.dim_max_val(0)
    return min(abs(low.to_python()), abs(high.to_python())) if low.is_int() and high.is_int() else 0
