"""Loops of a region tree: their names, their trip counts, and what is left to ask of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from dsl.expressions.affine import Affine
from dsl.schedules.loop_requests import NO_REQUESTS, LoopRequests, PipelineStyle
from polyhedral.looptree.bounds import Bounds
from polyhedral.requests.outside import RETURN
from qor_gnn.design.region import Guard, Loop, Node, Statement, Trips

_EXECUTIONS = 1 << 14


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a loop: ``unroll`` is None where it is not, 0 for completely; ``processes`` are those
    of its body, where that is a dataflow region. A ``sequential`` loop is not pipelined by the tool.
    """

    ii: int | None = None
    unroll: int | None = None
    flatten: bool | None = None
    independent: tuple[str, ...] = ()
    processes: tuple[tuple[str, ...], ...] = ()
    sequential: bool = False
    requests: LoopRequests = NO_REQUESTS


@dataclass(slots=True)
class Names:
    """Variables of loops: the name of the loop, told apart where several have the same."""

    taken: dict[str, int] = field(default_factory=dict)

    def fresh(self, name: str) -> str:
        """A variable for the next loop of that name."""
        name = name or "i"
        count = self.taken[name] = self.taken.get(name, 0) + 1
        return name if count == 1 else f"{name}'{count}"


def loop_of(
    iv: str,
    name: str,
    bounds: Bounds,
    asked: Asked,
    told: Trips | None,
    around: Sequence[Loop],
) -> Loop:
    """A loop without its body.

    Args:
        iv: its variable.
        name: in the schedule.
        bounds: over the variables of the loops around.
        asked: of the loop.
        told: the least and the greatest trip count, where the count is not constant.
        around: the loops around, outermost first.
    """
    count = bounds.trip_count
    unroll = 1 if asked.unroll is None else asked.unroll
    written = unroll == 1 and asked.ii is not None  # a pipeline of one iteration
    if count is not None and unroll >= count and not written:
        unroll = 0
    ii = asked.ii if unroll else None  # nothing is left to pipeline
    leaving = asked.requests.leaving
    if count is not None and leaving is not None and unroll:
        trips = Trips(0, count, leaving.expected(count))
    elif count is not None:
        trips = Trips(count, count, count)
    else:
        trips = _with_average(told or Trips(0, 0, 0), bounds, around)
        if leaving is not None:
            expected = min(trips.average, leaving.expected(trips.maximum))
            trips = Trips(0, trips.maximum, expected)
    return Loop(
        iv,
        name,
        bounds.lowers,
        bounds.uppers,
        bounds.step,
        trips,
        (),
        ii,
        unroll,
        asked.flatten,
        asked.independent,
        automatic=not asked.sequential,
        processes=asked.processes,
        requests=_requests(asked.requests, around)
        if unroll
        else LoopRequests(spread=asked.requests.spread),
    )


def dissolved(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """All loops unrolled completely."""
    found: list[Node] = []
    for node in nodes:
        match node:
            case Loop():
                found.append(replace(node, ii=None, unroll=0, body=dissolved(node.body)))
            case Guard():
                found.append(replace(node, body=dissolved(node.body)))
            case Statement():
                found.append(node)
    return tuple(found)


def called(nodes: tuple[Node, ...], pipeline: tuple[int, PipelineStyle] | None) -> tuple[Node, ...]:
    """The body of a function; of one that is a pipeline, of this interval and style, as a loop of one iteration."""
    if pipeline is None:
        return nodes
    ii, style = pipeline
    first, end = (Affine(),), (Affine((), 1),)
    asked = LoopRequests(style=style)
    return (Loop(RETURN, RETURN, first, end, 1, Trips(1, 1, 1), nodes, ii, requests=asked),)


def _requests(asked: LoopRequests, around: Sequence[Loop]) -> LoopRequests:
    """What is asked of sums and of units holds in all loops inside, too."""
    units: dict[str, int] = {}
    for loop in around:
        units |= dict(loop.requests.allocation)
    every = tuple((units | dict(asked.allocation)).items())
    in_order = asked.unbalanced or any(loop.requests.unbalanced for loop in around)
    return replace(asked, unbalanced=in_order, allocation=every)


def _with_average(told: Trips, bounds: Bounds, around: Sequence[Loop]) -> Trips:
    """Trip counts, with the average over all executions that the loops around have."""
    needed = ((o.iv, Bounds(o.lowers, o.uppers, o.step)) for o in _needed(bounds, around))
    average = _average(bounds, tuple(needed))
    low, high = told.minimum, told.maximum
    return Trips(low, high, min(max(average, low), high))


@lru_cache(maxsize=4096)
def _average(bounds: Bounds, outer: tuple[tuple[str, Bounds], ...]) -> float:
    """The average trip count; kept, as the points of a search have the same loops again and again."""
    budget = max(3, round(_EXECUTIONS ** (1 / max(1, len(outer)))))
    total, executions = _sum(bounds, outer, {}, budget)
    return total / executions if executions else 0.0


def _needed(bounds: Bounds, around: Sequence[Loop]) -> list[Loop]:
    """The outer loops that the bounds depend on, directly or through other loops' bounds."""
    wanted = _variables(bounds)
    found = []
    for outer in reversed(around):
        if outer.iv in wanted:
            wanted |= _variables(outer)
            found.append(outer)
    return found[::-1]


def _variables(loop: Loop | Bounds) -> set[str]:
    return {v for bound in (*loop.lowers, *loop.uppers) for v in bound.variables()}


def _range(bounds: Bounds, env: Mapping[str, int]) -> range:
    low = max(b.evaluate(env) for b in bounds.lowers)
    return range(low, min(b.evaluate(env) for b in bounds.uppers), bounds.step)


def _sum(
    bounds: Bounds, outer: tuple[tuple[str, Bounds], ...], env: dict[str, int], budget: int
) -> tuple[float, float]:
    """Iterations of the loop and executions of it: of evenly spaced iterations of a long loop."""
    if not outer:
        return len(_range(bounds, env)), 1
    iv, around = outer[0]
    every: Sequence[int] = _range(around, env)
    weight = 1.0
    if len(every) > budget:
        weight = len(every) / budget
        every = [every[round(k * (len(every) - 1) / (budget - 1))] for k in range(budget)]
    total = executions = 0.0
    for value in every:
        env[iv] = value
        more, times = _sum(bounds, outer[1:], env, budget)
        total, executions = total + more, executions + times
    env.pop(iv, None)
    return weight * total, weight * executions
