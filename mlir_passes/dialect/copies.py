"""What is left to ask of a loop that has fewer iterations than its unroll factor."""

from __future__ import annotations

from dataclasses import replace

from dsl.schedules.loop_requests import NO_REQUESTS
from mlir_passes.dialect.attributes import LoopInfo


def fitted(info: LoopInfo, trip_count: int | None) -> LoopInfo:
    """What is asked of a copy of a loop that may have fewer iterations than its factor.

    Unrolled by as much as it has iterations it is unrolled completely, and nothing is left to
    pipeline.
    """
    if info.unroll is None or info.unroll == 0 or trip_count is None or info.unroll < trip_count:
        return info
    return replace(info, unroll=0, ii=None, requests=NO_REQUESTS)
