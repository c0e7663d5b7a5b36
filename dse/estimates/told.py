"""What an estimate leaves out of what a schedule tells the tool, and what the open backend leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from dse.estimates.estimation import Estimation
from dse.estimates.named_loops import loops_named, statements_of
from dsl.schedules.pragma_steps import (
    Allocation,
    Cache,
    Latency,
    Leave,
    Performance,
    Stable,
    Unbalanced,
)
from dsl.schedules.steps import Pipeline, Step, Unroll
from polyhedral.requests.outside import RETURN

_STYLES = {
    "flp": "a pipeline that flushes may have a longer interval and more registers",
    "frp": "a pipeline that runs free has FIFOs behind it",
}
_OPEN = "the open backend has no such request, and does the same without it"


def left_out(found: Estimation, step: Step) -> Iterator[str]:
    """Sentences about one step; none where all of it is in the figures."""
    is_open = found.setting.tool.is_open
    match step:
        case Pipeline(loop=loop, style=style, rewind=rewind) if style or rewind or loop == RETURN:
            if is_open:
                yield _OPEN
                return
            if style in _STYLES:
                yield f"style {style} is not in the figures: {_STYLES[style]}"
            if rewind:
                yield "the figures are of one call: that the next one begins before its end is not in them"
        case Unroll(skip_exit_check=True):
            yield _OPEN if is_open else "the figures are the same with exit checks"
        case Performance(target_ti=cycles):
            yield (
                _OPEN
                if is_open
                else (
                    f"what the tool chooses to begin anew after {cycles:,} cycles is not in the figures"
                )
            )
        case Latency():
            yield from (_OPEN,) if is_open else _too_long(found, step)
        case Leave():
            yield from (_OPEN,) if is_open else _expected(found, step)
        case Cache(argument=name):
            yield (
                _OPEN
                if is_open
                else (
                    f"no burst is inferred for {name} behind a cache, and what hits is not known: the figures have bursts; "
                    "the pragma is of 2023.2"
                )
            )
        case Stable() if not is_open:
            yield "the figures are of one call: how many calls overlap is not in them"
        case Unbalanced() | Allocation() | Stable() if is_open:
            yield _OPEN
        case _:
            pass


def _too_long(found: Estimation, step: Latency) -> Iterator[str]:
    """Iterations of the loop that take more cycles than they are to."""
    for loop, _ in loops_named(found, step.loop):
        inside = statements_of(loop)
        rows = (
            r for r in found.answer.loops if loop.name in r.loops and inside & set(r.statements)
        )
        depth = max((row.depth for row in rows), default=0)
        if 0 < step.max < depth:
            yield f"an iteration takes {depth:,.0f} cycles in the figures, more than {step.max:,}"


def _expected(found: Estimation, step: Leave) -> Iterator[str]:
    """How many trips count of a loop that ends early, and who says so."""
    for loop, _ in loops_named(found, step.loop):
        by = "as the schedule says" if step.trips else "which nobody said: leave(trips=) does"
        trips, most = loop.trips.average, loop.trips.maximum
        yield f"{trips:,.0f} of {most:,} trips are expected in the average, {by}; none and all of them in its range"
        return
