"""Reports of ``hlsfactory-u200`` that cannot be true: the tool has lost a loop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dsl.schedules.steps import Unroll
from qor_gnn.design.region import loops_in
from qor_gnn.fit.labelled.u200 import Row
from qor_gnn.fit.labelled.u200_design import Directives, plain
from qor_gnn.fit.labelled.u200_program import Converted

FASTER = 1 / 50
"""Of what copies explain: the tool's own pipelines are worth a factor of ten."""


def faulty(rows: Sequence[Row], trips: Mapping[str, int]) -> list[Row]:
    """Reports of designs that are faster than the copies of one loop can make them.

    Args:
        rows: of one kernel.
        trips: of its loops. A loop that is unrolled completely is gone, so that the one around can
            be pipelined: it says nothing.
    """
    series: dict[tuple[str, Directives], list[tuple[int, Row]]] = defaultdict(list)
    for row in rows:
        given = Directives.parse(row.directives)
        for loop, most in trips.items():
            if given.factor(loop) < most:
                rest = (p for p in given.pragmas if not (isinstance(p, Unroll) and p.loop == loop))
                series[loop, Directives(tuple(rest))].append((given.factor(loop), row))
    found: dict[Row, None] = {}
    for several in series.values():
        for factor, row in several:
            least = max(r.labels.latency * f for f, r in several if f <= factor) / factor
            if row.labels.latency < FASTER * least:
                found[row] = None
    return list(found)


def trips_of(kernel: Converted) -> dict[str, int]:
    """The most iterations of each loop."""
    loops = (x for f in plain(kernel).functions for x in loops_in(f.body))
    return {loop.name: loop.trips.maximum for loop in loops}
