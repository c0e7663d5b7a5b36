"""What iterations need of the ones before: the interval that allows it, and the operations on it."""

import random
from functools import partial

import networkx as nx

from backends.rtl.operators.library import spec
from backends.rtl.schedule.problem import problem, recurrent
from backends.rtl.schedule.solve import recurrence_bound
from backends.rtl.schedule.timing import Fabric
from tests.rtl.support.graphs import random_block


def test_recurrences_are_the_circles_of_what_waits_for_what():
    bounds, circles = set(), 0
    for seed in range(60):
        graph, block = random_block(seed)
        period = random.Random(seed).choice((4.0, 8.0, 10.0))
        sought = problem(
            graph,
            block,
            period=period,
            fabric=Fabric(),
            spec=partial(spec, period_ns=period),
            carried=True,
        )
        waits = nx.MultiDiGraph()
        waits.add_nodes_from(range(sought.size))
        for op in range(sought.size):
            for used in sought.operands[op]:
                waits.add_edge(used, op, cycles=sought.timing[used].latency, distance=0)
            for edge in sought.into[op]:
                waits.add_edge(edge.src, op, cycles=edge.latency, distance=edge.distance)

        def late(ii: int, waits=waits) -> bool:
            """Whether a circle takes longer than its iterations."""

            def slack(_a, _b, edges):
                pairs = ((e.get("distance", 0), e.get("cycles", 0)) for e in edges.values())
                return min(ii * distance - cycles for distance, cycles in pairs)

            return nx.negative_edge_cycle(waits, weight=slack)

        found = recurrence_bound(sought, 1)
        assert not late(found), seed
        assert found == 1 or late(found - 1), seed
        inside = {
            op
            for a, b, edge in waits.edges(data=True)
            if edge["distance"]
            for op in (nx.descendants(waits, b) | {b}) & (nx.ancestors(waits, a) | {a})
        }
        assert recurrent(sought) == inside, seed
        bounds.add(found)
        circles += bool(inside)
    assert len(bounds) > 5
    assert circles > 20
