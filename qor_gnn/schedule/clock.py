"""The clock period that a schedule needs: the target's, unless a chain of operators is longer.

Chains are cut at the usable part of the period wherever there are two operators to cut between, so
only a single combinational operator that is longer than it lengthens the period.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qor_gnn.schedule.regions import Region
from qor_gnn.tools.personality import Personality


def needed_period(functions: Iterable[Iterable[Region]], tool: Personality) -> float:
    """The least period in ns, the part that the tool keeps free included.

    Args:
        functions: the scheduled regions of each function.
        tool: whose clock was aimed at; its pipelined operators keep that.
    """
    longest = max((end for regions in functions for end in _chains(regions)), default=0.0)
    free = tool.clock_ns - tool.usable_ns
    return max(tool.clock_ns, longest + free)


def _chains(regions: Iterable[Region]) -> Iterator[float]:
    """Where in its state each combinational operator ends, in ns."""
    for region in regions:
        if region.body is not None and region.times is not None:
            for node, offset in region.times.offset.items():
                operator = region.body.graph.operator[node]
                if operator is not None:
                    yield offset + operator.delay
        yield from _chains(region.children)
