"""LUTs and block RAM that a search plans with: what designs may have, by what evaluations say of the estimates.

Estimates err: nothing is left out because of them. What is expected to be over a limit comes after what is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log

from dse.area.designs import Area, Areas
from dse.evaluators.base import Limits, Result
from dse.space.nests.nest import Vector
from dse.space.space import Point
from dse.strategies.estimates import Errors, Estimates, Structure, structure_of

PLANNED = ("lut", "bram18")
"""Names of what is planned with."""
_NEAR = log(1.5)  # intervals at which designs of the same copies err alike


@dataclass(frozen=True, slots=True)
class FabricPlan:
    """What there is to plan with.

    Attributes:
        areas: estimates what designs take.
        lut: LUTs, as they are estimated.
        bram18: blocks.
        ranked: LUTs that ranking estimates, over those that plans of the variant counted so far: plans do not know
            schedules, and of shared units not all.
    """

    areas: Areas
    lut: float
    bram18: float = inf
    ranked: float = 1.0

    @property
    def planned(self) -> float:
        """LUTs, as plans count them."""
        return self.lut / self.ranked

    def excess(self, area: Area) -> float:
        """The share by which a design takes more; below 0 where it takes less."""
        return self._over(area, self.lut)

    def excess_planned(self, area: Area) -> float:
        """The same of what a plan counts."""
        return self._over(area, self.planned)

    def _over(self, area: Area, lut: float) -> float:
        return max(area.lut / lut, area.bram18 / max(1.0, self.bram18)) - 1


_Copies = tuple[int, tuple[tuple[int, Vector], ...]]


def _copies(point: Point) -> _Copies:
    """All of a point but the intervals."""
    return point.variant, tuple([(choice.order, choice.vector) for choice in point.choices])


def _apart(one: Point, other: Point) -> float:
    """The logarithm of how many times as long an interval of one of them is, at the most."""
    pairs = zip(one.choices, other.choices, strict=True)
    return max((abs(log(a.ii / b.ii)) for a, b in pairs), default=0.0)


@dataclass(slots=True)
class FabricBudget:
    """The limits on LUTs and block RAM, and the errors of the estimates so far.

    Attributes:
        estimates: of the points of the search.
        lut, bram18: the limits, infinite where there are none.
        limits: on all resources: what they count of a design.
    """

    estimates: Estimates
    lut: float
    bram18: float
    limits: Limits = field(default_factory=Limits)
    _errors: dict[str, Errors] = field(default_factory=lambda: {name: Errors() for name in PLANNED})
    _known: dict[_Copies, list[tuple[Point, float]]] = field(default_factory=dict)
    """Designs of the same copies, each with its LUTs over those estimated."""
    _ranked: Errors = field(default_factory=Errors)
    """LUTs that ranking estimates over those that were planned."""

    def plan(self, variant: int, share: float = 1.0, most: float = inf) -> FabricPlan | None:
        """What a variant's designs are planned with; None where nothing is limited or known.

        Args:
            variant: its number.
            share: of the LUTs that may be used.
            most: LUTs, as estimated.
        """
        if self.free:
            return None
        lut = share * self.lut / self._off("lut", (variant,))
        bram18 = self.bram18 / self._off("bram18", (variant,))
        ranked = self._ranked.factor((variant,))
        return FabricPlan(self.estimates.areas, min(lut, most), bram18, ranked)

    def rank(self, point: Point, planned: float) -> None:
        """Learn what ranking estimates of a point for which a plan counted so many LUTs."""
        estimated = self.lut_of(point)
        if planned and estimated:
            self._ranked.add((point.variant,), log(estimated / planned))

    def lut_of(self, point: Point) -> float:
        """LUTs of a point, as estimated."""
        return self.estimates.area(point).lut

    @property
    def free(self) -> bool:
        """Whether there is nothing to plan with."""
        return self.estimates.areas.each is None or (self.lut == inf and self.bram18 == inf)

    def excess(self, point: Point) -> float:
        """The share by which a point is expected to be over a limit; below 0 where it is not."""
        if self.free:
            return -1.0
        area, structure = self.estimates.area(point), structure_of(point)
        off = self._alike(point) or self._off("lut", structure)
        lut = area.lut * off / self.lut
        bram18 = area.bram18 * self._off("bram18", structure) / max(1.0, self.bram18)
        return max(lut, bram18) - 1

    def share(self, point: Point, budget: int) -> float:
        """The largest share of a limit that a point is expected to take.

        Args:
            point: of the space.
            budget: DSP slices that a design may use.
        """
        slices = self.estimates.figures(point).dsp / max(1, budget)
        return max(slices, 1 + self.excess(point))

    def learn(self, point: Point, result: Result) -> None:
        """What came of a point: of what is predicted the upper end, as that is what keeps to a limit or does not."""
        if self.free or not result.evaluated:
            return
        area, structure = self.estimates.area(point), structure_of(point)
        # The limits of routed designs are in what csynth counts here.
        counted = self.limits.counted(result) if self.limits.routed is None else result.resources
        for name, estimated in (("lut", area.lut), ("bram18", area.bram18)):
            found = counted.get(name, 0)
            if not found or not estimated:
                continue
            self._errors[name].add(structure, log(found / estimated))
            if name == "lut":
                self._known.setdefault(_copies(point), []).append((point, found / estimated))

    def _alike(self, point: Point) -> float | None:
        """LUTs over those estimated of the design whose intervals are nearest, all else the same: they err alike."""
        known = self._known.get(_copies(point), ())
        far, _, off = min(
            ((_apart(point, other), n, off) for n, (other, off) in enumerate(known)),
            default=(inf, 0, 0.0),
        )
        return off if far <= _NEAR else None

    def _off(self, name: str, structure: Structure) -> float:
        """What was found over what was estimated: of all designs, of the variant's, of the structure's."""
        return self._errors[name].factor(structure)


def fabric_budget(estimates: Estimates, limits: Limits) -> FabricBudget:
    """The budget of a search by its limits; of routed designs what csynth may count."""
    named = limits.resources
    lut, bram18 = (
        float(limits.most(name, 0)) if name in named else inf for name in ("lut", "bram18")
    )
    return FabricBudget(estimates, max(1.0, lut), bram18, limits)
