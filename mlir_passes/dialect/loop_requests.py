"""Readers and writers of what is asked of a loop beside its interval and its copies: ``hls.style``, ``hls.rewind``,
``hls.skip_exit_check``, ``hls.spread``, ``hls.latency``, ``hls.target_ti``, ``hls.allocation``, ``hls.unbalanced`` and
``hls.leave``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, get_args

from dsl.schedules.loop_requests import LoopRequests, PipelineStyle
from mlir_passes.dialect import hls
from mlir_passes.dialect.element_types import int_attribute
from mlir_passes.dialect.exits import is_leaving, leaving_attribute, leaving_in
from mlir_passes.provider import ir

STYLES = tuple(style for style in get_args(PipelineStyle) if style)


def request_attributes(asked: LoopRequests) -> dict[str, Any]:
    """The attributes of an ``affine.for``; those of what nothing is asked are left out."""
    found: dict[str, Any] = {}
    if asked.style:
        found["hls.style"] = ir.StringAttr.get(asked.style)
    for name in ("rewind", "skip_exit_check", "unbalanced", "spread"):
        if getattr(asked, name):
            found[f"hls.{name}"] = ir.UnitAttr.get()
    if asked.latency != (0, 0):
        found["hls.latency"] = hls.Latency.get(*map(int_attribute, asked.latency))
    if asked.allocation:
        made = [
            hls.Allocation.get(ir.StringAttr.get(op), int_attribute(limit))
            for op, limit in asked.allocation
        ]
        found["hls.allocation"] = ir.ArrayAttr.get(made)
    if asked.target_ti:
        found["hls.target_ti"] = int_attribute(asked.target_ti)
    if asked.leaving is not None:
        found["hls.leave"] = leaving_attribute(asked.leaving)
    return found


def requests_of(attributes: Any) -> LoopRequests:
    """What the attributes of an ``affine.for`` ask for."""
    latency = (0, 0)
    if "hls.latency" in attributes:
        least, most = (int(p.maybe_downcast().value) for p in attributes["hls.latency"].params)
        latency = (least, most)
    style = str(attributes["hls.style"].value) if "hls.style" in attributes else ""
    return LoopRequests(
        style=cast("PipelineStyle", style),
        rewind="hls.rewind" in attributes,
        skip_exit_check="hls.skip_exit_check" in attributes,
        latency=latency,
        target_ti=int(attributes["hls.target_ti"].value) if "hls.target_ti" in attributes else 0,
        unbalanced="hls.unbalanced" in attributes,
        spread="hls.spread" in attributes,
        allocation=tuple(map(_allocated, attributes.get("hls.allocation", ()))),
        leaving=leaving_in(attributes["hls.leave"]) if "hls.leave" in attributes else None,
    )


def _allocated(attribute: Any) -> tuple[str, int]:
    op, limit = (p.maybe_downcast().value for p in attribute.params)
    return str(op), int(limit)


def _is(*classes: Any) -> Callable[[Any], bool]:
    return lambda attribute: isinstance(attribute, classes)


def _style(attribute: Any) -> bool:
    return isinstance(attribute, ir.StringAttr) and attribute.value in STYLES


REQUEST_CHECKS: dict[str, Callable[[Any], bool]] = {
    "hls.style": _style,
    "hls.rewind": _is(ir.UnitAttr),
    "hls.skip_exit_check": _is(ir.UnitAttr),
    "hls.latency": _is(hls.Latency),
    "hls.allocation": lambda a: (
        isinstance(a, ir.ArrayAttr) and all(isinstance(x, hls.Allocation) for x in a)
    ),
    "hls.target_ti": _is(ir.IntegerAttr),
    "hls.leave": is_leaving,
    "hls.unbalanced": _is(ir.UnitAttr),
    "hls.spread": _is(ir.UnitAttr),
}
"""What each attribute has to be."""


def contradiction_in(
    asked: LoopRequests, ii: int | None, unroll: int | None, trip: int | None
) -> str:
    """Why the requests make no sense on a loop; ``""`` where they do.

    Args:
        asked: of the loop.
        ii: its interval, None where it is not pipelined.
        unroll: its factor, 0 completely, None where it is not unrolled.
        trip: its trip count, None where that varies.
    """
    least, most = asked.latency
    if ii is None and (asked.style or asked.rewind):
        return "is no pipeline, and has a style of one, or is rewound"
    if asked.style == "frp" and asked.rewind:
        return "runs free and is rewound"
    if asked.skip_exit_check and (not unroll or (trip is not None and trip % unroll)):
        return "has no copies that need no exit check"
    if asked.spread and (unroll != 0 or trip is None):
        return "is spread over ports, and not unrolled completely"
    if least < 0 or most < 0 or 0 < most < least or asked.target_ti < 0:
        return f"has a latency of {least} to {most} and a target of {asked.target_ti} cycles"
    if any(limit < 1 for _, limit in asked.allocation):
        return "has no unit of an operator"
    if unroll == 0 and asked.of_loop():
        return f"is unrolled completely, and is asked for {asked.of_loop()[0]}"
    return ""
