"""Arguments that are only read, as `Stable` and `Cache` promise."""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.programs.program import Array, Storage
from dsl.schedules.pragma_steps import Cache, Stable
from polyhedral.dataflow.ports import FIFO_MODES
from polyhedral.scop.scheduled import ScheduledScop


def check_read_only(state: ScheduledScop) -> None:
    """What both steps need of the schedule as a whole.

    Raises:
        ScheduleError: W215 what is no argument, is written, or is not where the step needs it; W220 stable without
            processes.
    """
    for stable in state.stables:
        array = _argument(state, stable.argument, stable)
        if state.dataflow is None and not state.overlaps:
            raise ScheduleError(
                "W220",
                f"'{array.name}' is stable only for processes",
                span=stable.span,
                help="dataflow() first makes processes of the nests",
            )
        _check_mode(state, array, stable)
    for cache in state.caches:
        _check_cache(state, _argument(state, cache.argument, cache), cache)


def _argument(state: ScheduledScop, name: str, step: Stable | Cache) -> Array:
    """The argument, which nothing writes."""
    array = state.scop.program.array(name)
    if array.storage is not Storage.ARGUMENT:
        text = f"'{name}' is a local: {step.kind} is said of arguments"
        raise ScheduleError("W215", text, span=step.span, help="leave it out")
    _check_unwritten(state, name, step)
    return array


def _check_unwritten(state: ScheduledScop, name: str, step: Stable | Cache) -> None:
    for piece in state.pieces:
        if piece.statement.stmt.target.array == name:
            raise ScheduleError(
                "W215",
                f"'{name}' is written by {piece.name}: {step.kind} is said of what is only read",
                span=step.span,
                help="leave it out",
            )


def _check_mode(state: ScheduledScop, array: Array, step: Stable) -> None:
    for asked in state.interfaces:
        if asked.argument == array.name and asked.mode in FIFO_MODES:
            raise ScheduleError(
                "W215",
                f"'{array.name}' is behind {asked.mode}, through which each element passes once: it is not stable",
                span=step.span,
                help="leave one of the two out",
            )


def _check_cache(state: ScheduledScop, array: Array, step: Cache) -> None:
    """It is in memory outside, by elements, and so is nothing behind its port that is written."""
    port = next((i for i in state.interfaces if i.argument == array.name), None)
    if port is None or port.mode != "m_axi":
        raise ScheduleError(
            "W215",
            f"'{array.name}' is not in memory outside, and needs no cache",
            span=step.span,
            help=f'interface("{array.name}", "m_axi") puts it there',
        )
    if any(p.array == array.name for p in state.packs):
        raise ScheduleError(
            "W215",
            f"'{array.name}' is packed: its words are copied, and none is read twice",
            span=step.span,
            help="leave one of the two out",
        )
    for other in state.interfaces:
        if other.mode == "m_axi" and port.bundle in (other.bundle, other.reads or other.bundle):
            _check_unwritten_beside(state, other.argument, array.name, step)


def _check_unwritten_beside(state: ScheduledScop, other: str, name: str, step: Cache) -> None:
    if any(p.statement.stmt.target.array == other for p in state.pieces):
        raise ScheduleError(
            "W215",
            f"'{name}' shares its port with '{other}', which is written: a cache is of a port that is only read",
            span=step.span,
            help="give it a bundle of its own",
        )
