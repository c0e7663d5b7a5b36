"""Failures that may go otherwise another time: a session that goes on with a run tries them again."""

from __future__ import annotations

from collections.abc import Mapping

from dse.evaluators.base import Result, Status
from dse.run.folder.directory import RunDirectory


def may_change(result: Result, seconds: float) -> bool:
    """Whether another try within so many seconds may end otherwise.

    A time-out does with more time than it had, a failure of a tool always may. That a design is wrong
    stays so.
    """
    match result.status:
        case Status.TIMEOUT:
            return result.seconds < seconds
        case Status.TOOL_ERROR:
            return not result.refuted
        case _:
            return False


def lasting(results: Mapping[str, Result]) -> dict[str, Result]:
    """Those that hold however often they are tried, by their keys."""
    return {key: r for key, r in results.items() if not may_change(r, float("inf"))}


def failed(run: RunDirectory, seconds: float) -> set[str]:
    """Keys of the designs that are worth another try."""
    return {
        k for k in run.point_keys() if (r := run.result(k)) is not None and may_change(r, seconds)
    }


def failed_promotions(run: RunDirectory, evaluator: str, seconds: float) -> set[str]:
    """Keys of the designs whose promotion is worth another try."""
    found = {key: run.promoted(key).get(evaluator) for key in run.point_keys()}
    return {key for key, r in found.items() if r is not None and may_change(r, seconds)}
