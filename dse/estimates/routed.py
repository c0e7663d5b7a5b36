"""Estimates after placement and routing: by `qor_gnn.routed`, of the totals that an estimate has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from backends.devices import Device
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.routed.fabric import fabric_delay
from qor_gnn.routed.laws import COUNTS, shipped
from qor_gnn.routed.predict import Routed, Totals, routed
from qor_gnn.tools.personality import personality

PROVENANCE = "fitted"
DECIDED = ("lut", "ff", "bram18")
"""What limits are held against after routing, where that is asked for: DSP slices are those that csynth binds."""
UPPER_ENDS = "LUT, FF and BRAM18 are upper ends after placement and routing"
OF_CSYNTH = ("model", "csynth")
"""Provenances of figures that are csynth's, or its view."""
ALREADY = "the figures of the open backend are expected after placement and routing already"


@dataclass(frozen=True, slots=True)
class Place:
    """What figures after routing depend on, beside csynth's totals.

    Attributes:
        device: that the design is for, by its speed grade.
        clock_ns: the target period.
    """

    device: Device
    clock_ns: float

    def routed(self, counts: Mapping[str, int]) -> Routed:
        """What is expected of a design.

        Args:
            counts: csynth's, by resource.
        """
        delay = fabric_delay(self.device)
        return routed(Totals(counts, self.clock_ns, self.device.family, delay))

    def largest(self, name: str, limit: int) -> int:
        """The most that csynth can count of LUT, FF or BRAM18 where the upper end keeps to a limit.

        Of a design that has nothing else: no design of more does, so that bounds can go by it.
        """
        least, most = 0, 1
        while self._upper(name, most) <= limit:
            least, most = most, 2 * most
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if self._upper(name, middle) <= limit else (least, middle)
        return least

    def _upper(self, name: str, used: int) -> int:
        return self.routed({**dict.fromkeys(COUNTS, 0), name: used}).upper[name]


def routed_of(answer: QorEstimate, device: Device) -> Routed | None:
    """What placement and routing are expected to make of an estimated design.

    Args:
        answer: csynth's view of it.
        device: that it is for.

    The interval of BRAM18 holds those of the whole range that csynth may count.

    Returns:
        None where the figures are those of the open backend: these are of routed designs (`ALREADY`).
    """
    if personality(answer.tool).is_open:
        return None
    counts = {name: n for name in COUNTS if (n := getattr(answer, name)) is not None}
    place = Place(device, max(answer.clock_ns, answer.period_ns or 0.0))
    found = place.routed(counts)
    if answer.bram18_range is None:
        return found
    ends = [place.routed({**counts, "bram18": n}).figures["bram18"] for n in answer.bram18_range]
    low, high = min(e.low for e in ends), max(e.high for e in ends)
    figures = {**found.figures, "bram18": replace(found.figures["bram18"], low=low, high=high)}
    return replace(found, figures=figures)


def source() -> str:
    """What the figures stand on, for people."""
    laws = shipped()
    return (
        f"{PROVENANCE} to csynth and implementation reports of {laws.designs} designs of {laws.projects} public "
        "projects on AMD parts"
    )
