"""What routing leaves of the LUTs and flip-flops that csynth prints, in a user's own projects."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from backends.vitis.facts.project import Totals

Resource = Literal["lut", "ff"]
RESOURCES: tuple[Resource, ...] = ("lut", "ff")
_FEW = 2  # projects, below which there is nothing to judge a share by


@dataclass(frozen=True, slots=True)
class Share:
    """The routed part of what csynth prints.

    Attributes:
        resource: which.
        designs, projects: how many show it.
        median, least, most: of the projects' median shares.
        before, after: median relative error of what csynth prints as it is, and times the median share of
            the other projects, on projects left out in turn.
    """

    resource: Resource
    designs: int
    projects: int
    median: float
    least: float
    most: float
    before: float
    after: float

    @property
    def kept(self) -> bool:
        """It is nearer to what was routed, on projects that had no part in it."""
        return self.after < self.before


def shares(totals: Sequence[tuple[str, Totals]]) -> list[Share]:
    """The shares of each resource that two projects or more show.

    Args:
        totals: designs that were placed and routed, with their project.
    """
    found = []
    for resource in RESOURCES:
        by: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for project, total in totals:
            said, was = getattr(total.estimated, resource), getattr(total.routed, resource)
            if said and was:
                by[project].append((said, was))
        if len(by) >= _FEW:
            found.append(_share(resource, by))
    return found


def _share(resource: Resource, by: dict[str, list[tuple[int, int]]]) -> Share:
    own = {
        project: statistics.median(was / said for said, was in rows) for project, rows in by.items()
    }
    before, after = [], []
    for project, rows in by.items():
        share = statistics.median(s for other, s in own.items() if other != project)
        before += [abs(said / was - 1) for said, was in rows]
        after += [abs(share * said / was - 1) for said, was in rows]
    return Share(
        resource,
        sum(map(len, by.values())),
        len(by),
        statistics.median(own.values()),
        min(own.values()),
        max(own.values()),
        statistics.median(before),
        statistics.median(after),
    )
