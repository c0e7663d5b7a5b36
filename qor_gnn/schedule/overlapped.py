"""A loop whose body is a dataflow region: an iteration begins when the slowest process is free.

In csynth's reports of such loops (2023.2, three of Allo's in two kernels) the interval of a region is that of
its slowest process and a cycle, an iteration is two states longer than the region (three where there is one
process), and the loop takes ``iteration + (trips - 1) * interval - 1`` cycles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qor_gnn.design.processes import bodies_of, loop_channels
from qor_gnn.design.region import Loop, Statement, walk
from qor_gnn.schedule.regions import Region

_AROUND = 2  # states of an iteration besides those of the region


def _first_statements(loop: Loop) -> Iterator[str]:
    """Of each process."""
    for nodes in bodies_of(loop.body, loop.processes).values():
        yield next(n.name for n in walk(nodes) if isinstance(n, Statement))


def process_of(regions: Sequence[Region], latency: float) -> Region:
    """A process as a region.

    Args:
        regions: what it runs, as a function of its own.
        latency: its states from its call to its return.
    """
    process = Region("process", (), 1, latency, latency)
    process.children = list(regions)
    return process


def pace(processes: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """States of an iteration, and from one iteration to the next.

    Args:
        processes: when each starts and ends, in states of the region.
    """
    depth = max(end for _, end in processes) + 1 + _AROUND
    return depth, max(end - start for start, end in processes) + 1


def overlapped(loop: Loop, processes: list[Region], iterations: float, prologue: int) -> Region:
    """The loop, its processes being its children.

    Args:
        loop: whose body the processes are, in order.
        processes: each scheduled by itself.
        iterations: of the loop.
        prologue: states in front of it.
    """
    for number, process in enumerate(processes):
        process.beside, process.start = number > 0, 0.0
    for channel in loop_channels(loop):  # in the order of what they read: producers come first
        first, second = processes[channel.producer], processes[channel.consumer]
        second.start = max(second.start, first.start + first.latency + 1)
    depth, interval = pace([(p.start, p.start + p.latency) for p in processes])
    region = Region("nest", (loop,), iterations, depth, 0, prologue)
    region.children, region.interval = processes, interval
    slowest = max(range(len(processes)), key=lambda n: processes[n].latency)
    region.slowest = list(_first_statements(loop))[slowest]
    region.latency = 1 + region.iterations_latency
    return region
