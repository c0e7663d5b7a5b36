"""Which clock periods of a range are worth a search: those at which an operator of the kernel changes its latency.

A design takes the same cycles at all periods between two such changes, so that the shortest of them is
the best in time. Where nothing changes, and in wide gaps, periods in equal ratios stand in: chains of
logic are cut otherwise at a longer period.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from dsl.errors.errors import InputError
from dsl.programs.program import Program
from qor_gnn.tools.personality import Personality

SHORTEST, LONGEST = 1.0, 1000.0  # ns: those of a single clock
_STEPS = 48  # into which a range is cut to look for changes
_RATIO = 1.03  # of periods that are told apart
_DIGITS = 2

Latencies = Callable[[float], tuple[int, ...]]
"""The latencies of all operations in cycles, at a period in ns."""


def checked_range(low: float, high: float) -> tuple[float, float]:
    """The two ends of a range of clock periods in ns.

    Raises:
        InputError: W405, it is empty, or has periods that nothing is searched at.
    """
    if not SHORTEST <= low <= LONGEST or not SHORTEST <= high <= LONGEST:
        raise InputError(
            "W405",
            f"clock periods from {low:g} to {high:g} ns are not between {SHORTEST:g} and {LONGEST:g}",
            help="give the shorter one first, both in ns, as 3..10",
        )
    if high <= low:
        raise InputError(
            "W405",
            f"there is no clock period from {low:g} to {high:g} ns",
            help="give the shorter one first, as 3..10; or a single one, as 5",
        )
    return low, high


def latencies_of(program: Program, tool_at: Callable[[float], Personality]) -> Latencies:
    """The latencies of a kernel's operations by clock.

    Args:
        program: of the kernel.
        tool_at: the tool at a period in ns.
    """
    from dsl.schedules.schedule import Schedule
    from polyhedral.codegen.generate import loop_tree
    from polyhedral.schedule import apply
    from qor_gnn.design.from_tree import kernel_of_tree
    from qor_gnn.design.region import Statement, walk

    tree = kernel_of_tree(loop_tree(apply(program, Schedule())))
    nodes = (node for function in tree.functions for node in walk(function.body))
    statements = [node for node in nodes if isinstance(node, Statement)]
    ops = [op for statement in statements for op in statement.ops if op.computes]

    def at(clock: float) -> tuple[int, ...]:
        tool = tool_at(clock)
        return tuple(tool.operator_of(op).distance for op in ops)

    return at


def periods(latencies: Latencies, low: float, high: float, most: int) -> tuple[float, ...]:
    """The periods in ns to search at, the most promising first: the one whose cycle times all latencies is shortest.

    Args:
        latencies: of the kernel's operations.
        low, high: the range in ns.
        most: periods at most.
    """
    changes = sorted({low, *_changes(latencies, low, high)})
    by_time = sorted(changes, key=lambda clock: (clock * (1 + sum(latencies(clock))), clock))
    found = list(
        dict.fromkeys((by_time[0], low))
    )  # the shortest, too: most of a pipeline waits for nothing
    for clock in (*by_time, high, *_even(low, high, most)):
        if all(_apart(clock, other) for other in found):
            found.append(clock)
    return tuple(found[:most])


def _changes(latencies: Latencies, low: float, high: float) -> list[float]:
    """The shortest periods, rounded up, at which something takes fewer cycles than at shorter ones."""
    grid = _even(low, high, _STEPS)
    found = []
    for left, right in pairwise(grid):
        if latencies(left) != latencies(right):
            found.append(_first(latencies, left, right))
    return found


def _first(latencies: Latencies, left: float, right: float) -> float:
    """The shortest period between two at which all latencies are those of the longer one."""
    aim, step = latencies(right), 10.0**-_DIGITS
    while right - left > step:
        between = (left + right) / 2
        if latencies(between) == aim:
            right = between
        else:
            left = between
    rounded = round(right, _DIGITS)
    return rounded if latencies(rounded) == aim else round(rounded + step, _DIGITS)


def _even(low: float, high: float, count: int) -> Sequence[float]:
    """Periods in equal ratios, both ends among them."""
    ratio = (high / low) ** (1 / max(1, count - 1))
    return [low, *(round(low * ratio**n, _DIGITS) for n in range(1, count - 1)), high]


def _apart(one: float, other: float) -> bool:
    return max(one, other) / min(one, other) >= _RATIO
