"""Loops that count 0, 1, 2, …: the form in which regions are scheduled and become hardware.

A counter from zero by one needs no more bits than its trip count, and subscripts in it lose the
floor divisions that only undid the step: with ``i = 4 n``, ``i // 4`` is ``n``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from backends.rtl.graph import (
    Block,
    Counter,
    Graph,
    Guarded,
    Kind,
    Loop,
    Op,
    Pipeline,
    Region,
    Straight,
)
from dsl.expressions.affine import Affine, Constraint

Values = Mapping[str, Affine]
Ranges = Mapping[str, tuple[int, int]]
"""Of each loop variable around the least and the greatest value."""


def normalise(graph: Graph) -> Graph:
    """The same kernel: counters from zero by one where they have one lower bound, no counter of
    one trip, nothing that never runs, no constraint that always holds.
    """
    return replace(graph, body=_regions(_one_phase(graph.body), {}, {}))


def _one_phase(body: tuple[Region, ...]) -> tuple[Region, ...]:
    """Loops in steps with one lower bound each: where a loop begins decides all that it visits.

    A loop of several becomes one for each of them, run where that is the largest; of a pipeline
    the counters around such a one become loops.
    """
    result: list[Region] = []
    for region in body:
        match region:
            case Straight():
                result.append(region)
            case Guarded():
                result.append(replace(region, body=_one_phase(region.body)))
            case Loop(counter, inner):
                inner = _one_phase(inner)
                if not _has_phases(counter):
                    result.append(Loop(counter, inner))
                for condition, one in _phases(counter):
                    result.append(Guarded(condition, (Loop(one, inner),)))
            case Pipeline():
                result += _pipeline_phases(region)
            case _:
                assert_never(region)
    return tuple(result)


def _pipeline_phases(region: Pipeline) -> tuple[Region, ...]:
    at = next((n for n, c in enumerate(region.counters) if _has_phases(c)), None)
    if at is None:
        return (region,)
    if at > 0:
        inner = replace(region, counters=region.counters[1:])
        return (Loop(region.counters[0], _pipeline_phases(inner)),)
    first, rest = region.counters[0], region.counters[1:]
    result: list[Region] = []
    for condition, one in _phases(first):
        if any(_has_phases(c) for c in rest):
            inner = replace(region, counters=rest)
            result.append(Guarded(condition, (Loop(one, _pipeline_phases(inner)),)))
        else:
            result.append(Guarded(condition, (replace(region, counters=(one, *rest)),)))
    return tuple(result)


def _has_phases(counter: Counter) -> bool:
    return counter.step > 1 and len(set(counter.lowers)) > 1


def _phases(counter: Counter) -> list[tuple[tuple[Constraint, ...], Counter]]:
    """For each lower bound where it is the first of the largest, and the counter from it."""
    if not _has_phases(counter):
        return []
    lowers = tuple(dict.fromkeys(counter.lowers))
    found: list[tuple[tuple[Constraint, ...], Counter]] = []
    for n, low in enumerate(lowers):
        others = [(m, other) for m, other in enumerate(lowers) if m != n]
        condition = tuple(Constraint(low - other - (1 if m < n else 0)) for m, other in others)
        found.append((condition, replace(counter, lowers=(low,))))
    return found


def _regions(body: tuple[Region, ...], values: Values, ranges: Ranges) -> tuple[Region, ...]:
    result: list[Region] = []
    for region in body:
        match region:
            case Straight(block):
                result += _straight(_block(block, values, ranges))
            case Pipeline():
                result += _pipeline(region, values, ranges)
            case Loop():
                result += _loop(region, values, ranges)
            case Guarded():
                result += _guarded(region, values, ranges)
            case _:
                assert_never(region)
    return tuple(result)


def _straight(block: Block) -> list[Region]:
    return [Straight(block)] if block.ops else []


def _loop(loop: Loop, values: Values, ranges: Ranges) -> list[Region]:
    counter, values, ranges, others = normal_counter(loop.counter, values, ranges)
    if counter.trips == 0:
        return []
    if counter.trips == 1:
        values = _fixed(counter, values)
        others = _at_zero(others, counter)
    body = _regions(loop.body, values, ranges)
    if body and others:
        body = (Guarded(others, body),)
    if counter.trips == 1:
        return list(body)
    return [Loop(counter, body)] if body else []


def _fixed(counter: Counter, values: Values) -> Values:
    """Every value with the counter at zero."""
    zero = {counter.iv: Affine()}
    return {name: value.substitute(zero) for name, value in values.items()}


def _at_zero(constraints: Iterable[Constraint], counter: Counter) -> tuple[Constraint, ...]:
    zero = {counter.iv: Affine()}
    return tuple(Constraint(c.expr.substitute(zero), c.kind) for c in constraints)


def _pipeline(pipeline: Pipeline, values: Values, ranges: Ranges) -> list[Region]:
    counters: list[Counter] = []
    within: list[Constraint] = []
    for given in pipeline.counters:
        counter, values, ranges, others = normal_counter(given, values, ranges)
        if counter.trips == 0:
            return []
        within += others
        if counter.trips == 1:
            values = _fixed(counter, values)
            within = [*_at_zero(within, counter)]
        else:
            counters.append(counter)
    block = _within(_block(pipeline.block, values, ranges), tuple(within))
    if not block.ops:
        return []
    if not counters:
        return [Straight(replace(block, deps=tuple(d for d in block.deps if d.distance == 0)))]
    return [Pipeline(tuple(counters), block, pipeline.ii)]


def _guarded(region: Guarded, values: Values, ranges: Ranges) -> list[Region]:
    constraints = _constraints(region.constraints, values, ranges)
    if constraints is None:
        return []
    body = _regions(region.body, values, ranges)
    if not constraints or not body:
        return list(body)
    return [Guarded(constraints, body)]


def normal_counter(
    counter: Counter, values: Values, ranges: Ranges
) -> tuple[Counter, Values, Ranges, tuple[Constraint, ...]]:
    """The counter over the new variables around, and what the old ones are in the new ones.

    Of several lower bounds the counter starts at one; what has to hold besides, for an iteration
    to be one, are constraints.

    Args:
        counter: Over the old variables.
        values: The old variables around, in the new ones.
        ranges: Those of the new variables around.
    """
    lowers = _bounds(counter.lowers, values, max)
    low = max(lowers, key=lambda bound: sum(bound.interval(ranges)))
    step = counter.step
    uppers = tuple((u - low + (step - 1)) // step for u in _bounds(counter.uppers, values, min))
    uppers = _bounds(uppers, {}, min)
    value = low + Affine.of(counter.iv) * step
    others = tuple(Constraint(value - bound) for bound in lowers if bound is not low)
    greatest = max(0, min(b.interval(ranges)[1] for b in uppers) - 1)
    new = Counter(counter.iv, (Affine(),), _binding(uppers, ranges), 1, counter.name)
    return new, {**values, counter.iv: value}, {**ranges, counter.iv: (0, greatest)}, others


def _within(block: Block, constraints: tuple[Constraint, ...]) -> Block:
    """Stores only where the constraints hold."""
    if not constraints:
        return block
    return replace(
        block,
        ops=tuple(
            replace(op, guard=(*op.guard, *constraints)) if op.kind is Kind.STORE else op
            for op in block.ops
        ),
    )


def _binding(uppers: tuple[Affine, ...], ranges: Ranges) -> tuple[Affine, ...]:
    """Without a constant that another bound never exceeds."""
    others = [u for u in uppers if not u.is_const]
    if not others:
        return uppers
    reach = min(u.interval(ranges)[1] for u in others)
    return tuple(u for u in uppers if not u.is_const or u.const < reach)


def _bounds(
    bounds: tuple[Affine, ...], values: Values, pick: Callable[[list[int]], int]
) -> tuple[Affine, ...]:
    """Substituted, each once, the constants merged."""
    new = tuple(dict.fromkeys(b.substitute(values) for b in bounds))
    constants = [b.const for b in new if b.is_const]
    if len(constants) > 1:
        new = (*(b for b in new if not b.is_const), Affine((), pick(constants)))
    return new


def _block(block: Block, values: Values, ranges: Ranges) -> Block:
    """Over the new variables; operations whose guard never holds, stores that is, are dropped."""
    ops: list[Op] = []
    at: dict[int, int] = {}
    for op in block.ops:
        guard = _constraints(op.guard, values, ranges)
        if guard is None and op.kind is Kind.STORE:
            continue
        at[op.id] = len(ops)
        ops.append(_op(op, guard, values, at))
    deps = tuple(
        replace(d, src=at[d.src], dst=at[d.dst]) for d in block.deps if d.src in at and d.dst in at
    )
    return Block(tuple(ops), deps)


def _op(op: Op, guard: tuple[Constraint, ...] | None, values: Values, at: Mapping[int, int]) -> Op:
    never = (Constraint(Affine((), -1)),)
    place = op.place
    if place is not None:
        place = replace(
            place,
            offset=place.offset.substitute(values),
            bank_affine=None if place.bank_affine is None else place.bank_affine.substitute(values),
        )
    return replace(
        op,
        id=at[op.id],
        operands=tuple(replace(u, op=at[u.op]) for u in op.operands),
        affine=None if op.affine is None else op.affine.substitute(values),
        guard=never if guard is None else guard,
        place=place,
    )


def _constraints(
    constraints: tuple[Constraint, ...], values: Values, ranges: Ranges
) -> tuple[Constraint, ...] | None:
    """Over the new variables, without those that always hold; None if they never do."""
    kept: list[Constraint] = []
    for constraint in constraints:
        expr = constraint.expr.substitute(values)
        low, high = expr.interval(ranges)
        if high < 0 or (constraint.kind == "==" and low > 0):
            return None
        if low < 0 or (constraint.kind == "==" and high > 0):
            kept.append(Constraint(expr, constraint.kind))
    return tuple(dict.fromkeys(kept))
