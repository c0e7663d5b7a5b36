"""What a run has found: its results, the Pareto front, the best design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.devices import device
from dse.estimates.routed import OF_CSYNTH, Place
from dse.evaluators.base import Limits, Result, Status, judged
from dse.evaluators.fidelities import ROUTED
from dse.run.folder.directory import RunDirectory
from dse.run.studies.study import objective_values
from dsl.errors.errors import InputError
from qor_gnn.result import pareto
from qor_gnn.routed.predict import Routed


@dataclass(frozen=True, slots=True)
class Design:
    """A design of a run: its key and figures, and the objectives as they are ranked.

    ``promoted`` has what costlier evaluators found of it, by their names.
    """

    key: str
    result: Result
    values: tuple[float, ...]
    promoted: Mapping[str, Result] = field(default_factory=dict, hash=False)


def limits_of(run: RunDirectory) -> Limits:
    """The limits that a run was made with."""
    manifest = run.manifest
    return Limits(
        manifest["limits"],
        manifest["latency_limit"],
        manifest.get("supported", False),
        place_of(manifest) if manifest.get("budget") == ROUTED else None,
    )


def place_of(manifest: Mapping[str, Any]) -> Place:
    """What figures after routing depend on, by a run's manifest.

    Raises:
        ToolError: W403, the manifest names a device that is not known.
    """
    return Place(device(manifest["device"]), manifest["clock_ns"])


def routed_of(manifest: Mapping[str, Any], result: Result) -> Routed | None:
    """What is expected of a design after placement and routing, where the run shows that; None where it does not,
    or where the figures are of routed designs.
    """
    if not manifest.get("routed") or result.provenance not in OF_CSYNTH:
        return None
    return place_of(manifest).routed(result.resources)


def designs(run: RunDirectory, *, refuted: bool = False) -> tuple[Design, ...]:
    """All designs with figures that keep to the limits, best first by the first objective; of level ones
    those first that labels of the tool show.

    Those that a costlier evaluator found to be wrong are left out; ``refuted`` gives these alone.
    """
    objectives: Sequence[str] = run.manifest["objectives"]
    limits = limits_of(run)
    found: list[Design] = []
    for key in run.point_keys():
        result = run.result(key)
        if result is None or judged(result, limits).status is not Status.OK:
            continue
        values = objective_values(result, objectives, run.manifest.get("clock_ns"))
        if values is None:
            continue
        promoted = run.promoted(key)
        if any(better.refuted for better in promoted.values()) == refuted:
            found.append(Design(key, result, values, promoted))
    return tuple(sorted(found, key=lambda d: (d.values, not d.result.supported, d.key)))


def front(found: Sequence[Design]) -> tuple[Design, ...]:
    """The designs that no other is at least as good as in all objectives; one of equals, a supported one if
    there is one.
    """
    ranked = sorted(found, key=lambda d: (not d.result.supported, d.key))
    return tuple(pareto.front(ranked, lambda d: d.values))


def supported(found: Sequence[Design]) -> tuple[Design, ...]:
    """The designs that labels of the tool show."""
    return tuple(design for design in found if design.result.supported)


def both_fronts(run: RunDirectory) -> tuple[Design, ...]:
    """The designs of the front, and of the front of those that labels show."""
    found = designs(run)
    both = (*front(found), *front(supported(found)))
    return tuple({design.key: design for design in both}.values())


def nearest(run: RunDirectory) -> Result | None:
    """The result that is least over the limits, each relative to its limit; None where no point has
    figures."""
    limits = limits_of(run)
    every = map(run.result, run.point_keys())
    evaluated = [judged(r, limits) for r in every if r is not None and r.evaluated]
    return min(evaluated, key=lambda r: (over(r, limits), r.latency or 0.0), default=None)


def over(result: Result, limits: Limits) -> float:
    """By how much a result exceeds the limit that it exceeds most, relative to it."""
    return max(limits.excess(result).values(), default=0.0)


def best(run: RunDirectory, *, inside: bool = False) -> Design:
    """The design that is best in the first objective.

    Args:
        run: that found it.
        inside: of those that labels of the tool show.

    Raises:
        InputError: W526 the run has found none within its limits, or within the labels.
    """
    found = designs(run)
    if not found:
        raise InputError("W526", f"{run.path} has no design within its limits")
    if inside and not (found := supported(found)):
        message = f"{run.path} has no design that labels of the tool show"
        raise InputError("W526", message, help="explore with --supported, or export --best")
    return found[0]
