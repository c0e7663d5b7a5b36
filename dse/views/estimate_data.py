"""An estimate as data: the JSON object and the CSV rows of `weft estimate`, and `qor.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from backends.devices import Device
from dse.estimates.estimation import Estimation, estimated_design, setting
from dse.estimates.outcomes import Outcome, outcomes
from dse.estimates.suggest import RESOURCES, Suggestion
from dse.estimates.support import intervals_of, marks_of
from dse.estimates.words import why
from dse.views.dataflow import region_data
from dse.views.output import SCHEMA_VERSION, as_json
from dsl.errors.errors import ToolError
from qor_gnn.result.qor_estimate import Cycles, LoopEstimate
from qor_gnn.schedule.clock import Clock
from qor_gnn.schedule.reasons import Conflict, Limit, PortLimit, Recurrence, Requested, UnitLimit
from qor_gnn.support.error_sources import SOURCES
from qor_gnn.support.intervals import SURE_PCT

if TYPE_CHECKING:
    from mlir_passes.pipeline import Design
    from qor_gnn.tools.operators.calibration import Calibration

CSV_COLUMNS = (
    *("row", "name", "statements", "level", "copies", "kind"),
    *("trips_min", "trips_max", "trips_avg", "unroll", "asked", "ii", "depth"),
    *("latency_min", "latency_max", "latency_avg", "period_ns", *RESOURCES, "why"),
    *("provenance", "tool", "device", "clock_ns", "clock_estimate_ns", "clock_met"),
)
KINDS: dict[type[Limit], str] = {
    Recurrence: "recurrence",
    PortLimit: "ports",
    UnitLimit: "units",
    Conflict: "conflict",
    Requested: "requested",
}


def as_data(
    found: Estimation,
    names: Mapping[str, str],
    suggested: Sequence[Suggestion] | None = None,
    told: Sequence[Outcome] = (),
) -> dict[str, Any]:
    """Everything that the model said, with where it comes from.

    Args:
        found: the estimate.
        names: what the schedule and the size are called.
        suggested: what would help; None where no explanation is wanted.
        told: what there is to say of the schedule's directives.
    """
    answer, device = found.answer, found.setting.device
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "command": "estimate",
        "kernel": answer.kernel,
        **names,
        "provenance": _provenance(found),
        "latency": {"unit": "cycles", **asdict(answer.latency)},
        "period_ns": answer.period_ns,
        "clock": None if answer.clock is None else _clock(answer.clock),
        "resources": {
            name: _resource(getattr(answer, name), getattr(device, name), answer.provenance)
            for name in RESOURCES
        },
        "bram18_range": answer.bram18_range,
        "intervals": _intervals(found),
        "units": dict(answer.units),
        "loops": [_loop(loop, suggested is not None) for loop in answer.loops],
        "directives": [asdict(outcome) for outcome in told],
    }
    region = region_data(found)
    if region is not None:
        data["dataflow"] = region
    if suggested is not None:
        data["suggestions"] = [_suggestion(s) for s in suggested]
    return data


def as_text(data: dict[str, Any]) -> str:
    """The object as a file's text."""
    return as_json(data)


def _provenance(found: Estimation) -> dict[str, Any]:
    tool, answer, marks = found.setting.tool, found.answer, marks_of(found)
    return {
        "source": answer.provenance,
        "tool": tool.tool,
        "version": tool.version,
        "personality": tool.name,
        "device": answer.device,
        "part": found.setting.device.part,
        "clock_ns": answer.clock_ns,
        "uncertainty": tool.uncertainty,
        "calibration": None if tool.calibration is None else tool.calibration.digest,
        "operators": {
            **found.operators.counts,
            "measured_in_own_projects": list(found.operators.own),
            "extrapolated_between": [
                {"operator": name, "least": least, "most": most}
                for name, least, most in found.operators.ranges
            ],
        },
        "labels": None
        if marks is None
        else {"e": marks.e, "n": marks.n, "largest": marks.largest, "unseen": list(marks.unseen)},
        "notes": list(found.setting.notes),
    }


def _intervals(found: Estimation) -> dict[str, Any] | None:
    """Ends by figure, and why they are as wide as they are."""
    of = intervals_of(found)
    if of is None:
        return None
    return {
        "sure_pct": SURE_PCT,
        **{name: list(ends) for name, ends in of.ends.items()},
        "class": of.level,
        "widened_by": [SOURCES[name] for name in of.sources],
        "unseen": list(of.unseen),
    }


def _clock(clock: Clock) -> dict[str, Any]:
    return {**asdict(clock), "met": clock.met}


def _resource(used: int | None, available: int, provenance: str) -> dict[str, Any]:
    return {
        "used": used,
        "available": available,
        "share": None if used is None or not available else used / available,
        "provenance": None if used is None else provenance,
    }


def _loop(loop: LoopEstimate, explain: bool) -> dict[str, Any]:
    data = asdict(loop)
    data["units"] = dict(loop.units)
    data["why"] = why(loop)
    data["limits"] = [_limit(limit) for limit in loop.limits]
    if not explain:
        del data["path"]
    return data


def _limit(limit: Limit) -> dict[str, Any]:
    return {"kind": KINDS[type(limit)], **asdict(limit)}


def _suggestion(s: Suggestion) -> dict[str, Any]:
    return {
        "loop": s.loop,
        "python": list(s.python),
        "schedule": json.loads(s.schedule.to_json()),
        "latency": asdict(s.answer.latency),
        "resources": {name: getattr(s.answer, name) for name in RESOURCES},
    }


def as_rows(found: Estimation) -> list[dict[str, Any]]:
    """A row for each loop, and one for the design, with `CSV_COLUMNS`."""
    answer = found.answer
    source = {
        "provenance": answer.provenance,
        "tool": answer.tool,
        "device": answer.device,
        "clock_ns": answer.clock_ns,
    }
    rows: list[dict[str, Any]] = [
        {
            "row": "loop",
            "name": list(loop.loops),
            "statements": list(loop.statements),
            "level": loop.level,
            "copies": loop.copies,
            "kind": loop.kind,
            "trips_min": loop.trips.minimum,
            "trips_max": loop.trips.maximum,
            "trips_avg": exact(loop.trips.average),
            "unroll": loop.unroll,
            "asked": loop.asked,
            "ii": exact(loop.ii) if loop.kind == "pipeline" else None,
            "depth": exact(loop.depth),
            **_latencies(loop.latency),
            "dsp": loop.dsp if loop.kind != "nest" else None,
            "why": why(loop),
            **source,
        }
        for loop in answer.loops
    ]
    resources = {name: getattr(answer, name) for name in RESOURCES}
    total = {**_latencies(answer.latency), "period_ns": answer.period_ns, **resources}
    if answer.clock is not None:
        total |= {"clock_estimate_ns": answer.clock.estimate_ns, "clock_met": answer.clock.met}
    return [*rows, {"row": "design", "name": answer.kernel, **total, **source}]


def _latencies(cycles: Cycles) -> dict[str, Any]:
    return {
        "latency_min": cycles.minimum,
        "latency_max": cycles.maximum,
        "latency_avg": exact(cycles.average),
    }


def exact(value: float) -> str:
    """All digits of a count: a table's rounding would lose them."""
    return str(int(value)) if value == int(value) else repr(value)


def only_asked(
    tool: str | None, device: Device, clock: float, calibration: Calibration | None = None
) -> bool:
    """Whether the figures of a project are of designs of which the tool pipelines only what it is asked to.

    False where there are no figures, as where no operator library fits the clock.
    """
    try:
        found = setting(tool, device, clock, calibration=calibration).tool
    except ToolError:
        return False
    return not found.is_open and not found.directives.auto_pipeline


def qor_json(
    design: Design,
    device: Device,
    clock: float,
    tool: str | None = None,
    calibration: Calibration | None = None,
    beside: Callable[[Estimation], dict[str, Any]] = lambda _: {},
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The file ``qor.json`` for an exported project, and what there is to say about it.

    There is no file where no operator library fits the clock or knows an operator: a note says so.

    Args:
        design: what is exported.
        device: what for.
        clock: the target period in ns.
        tool: the personality whose figures it has; None for that of the device.
        calibration: measurements of the user's own.
        beside: what there is to say of the estimate, too.
    """
    try:
        where = setting(tool, device, clock, calibration=calibration)
        # The part may be another one of the family than the device's usual one.
        of_part = replace(where, device=device)
        found = estimated_design(design, of_part)
    except ToolError as error:
        return {}, (f"no qor.json, as there is no estimate: {error.message}",)
    data = as_data(found, {"schedule": "schedule.json"}, told=outcomes(found)) | beside(found)
    return {"qor.json": as_text(data)}, found.setting.notes
