"""Do two programs of the same statements hand on the same values, whatever locals hold these?"""

from __future__ import annotations

from dataclasses import replace

from polyhedral.dependences.direct import Dependence, array_flows
from polyhedral.isl.text import coordinates, first_point
from polyhedral.scop.scop import Scop


def changed_flow(before: Scop, after: Scop, old: str, new: str) -> str | None:
    """What reads another value than before, in one line; None if nothing does.

    Args:
        before: a program.
        after: the same statements, some of which access another local in place of one.
        old: the local before.
        new: the other one.
    """
    was, now = _flow(before, (old,)), _flow(after, (old, new))
    for key in dict.fromkeys((*was, *now)):
        mine, other = was.get(key), now.get(key)
        if mine is not None and other is not None and mine.pairs.is_equal(other.pairs):
            continue
        lost = mine if other is None else other if mine is None else _difference(mine, other)
        assert lost is not None
        point = first_point(lost.pairs.wrap())
        values = coordinates(point, len(lost.source.loops) + len(lost.sink.loops))
        first, second = values[: len(lost.source.loops)], values[len(lost.source.loops) :]
        writes, reads = (
            f"{s.name}[{', '.join(map(str, at))}]"
            for s, at in ((lost.source, first), (lost.sink, second))
        )
        return f"{writes} writes what {reads} reads"
    return None


def _difference(mine: Dependence, other: Dependence) -> Dependence:
    lost = mine.pairs.subtract(other.pairs)
    return replace(mine, pairs=lost if not lost.is_empty() else other.pairs.subtract(mine.pairs))


def _flow(scop: Scop, arrays: tuple[str, ...]) -> dict[tuple[str, str], Dependence]:
    """From each write to what reads its value, by both statements."""
    known = {a.name for a in scop.program.arrays}
    found: dict[tuple[str, str], Dependence] = {}
    for array in arrays:
        for d in array_flows(scop, array) if array in known else ():
            key = (d.source.name, d.sink.name)
            other = found.get(key)
            pairs = d.pairs if other is None else d.pairs.union(other.pairs)
            found[key] = replace(d, pairs=pairs)
    return found
