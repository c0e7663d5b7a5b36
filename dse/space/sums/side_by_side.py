"""Few sums, each over many terms, all at work in every iteration: an outer product with partial sums.

Where the elements that are summed up are few, all of them are copies in an iteration of the loop over their terms,
which then waits for an addition. With several accumulators of each, so many terms are added at once, each to its own::

    for n_0 in range(N // 4):
      for n_1 in range(4):      # copies
        for k in range(8):      # copies
          sums_part[k, n_1] += x[4 * n_0 + n_1, k]

Trees of terms need no accumulators, and where elements are many there are copies of these in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from dse.space.loops.regrouped import distributed
from dse.space.nests.nest import Nest, NestLoop, Order
from dse.space.sums.accumulated import Structure
from dsl.schedules.steps import PartialSums, Split, Step
from polyhedral.schedule import tried
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import ScheduledScop

_ADDITIONS = 128  # in an iteration, about: units are shared while an addition takes its cycles
_MOST = 16  # accumulators of an element
_ROUNDS = 8  # iterations that are left, at the least


def side_by_side(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], nests: Sequence[Nest]
) -> Structure | None:
    """The structure with accumulators of its few sums; None where it has none.

    Args:
        name: of the structure.
        state: the program, its statements as they were written.
        steps: that made it.
        nests: of the program distributed.
    """
    parts: list[PartialSums] = []
    for nest in nests:
        for step in _steps(nest, state):
            moved = tried(state, step)
            if moved is not None:
                state = moved
                parts.append(step)
                break
    if not parts:
        return None
    state, apart = distributed(state)
    cuts: list[Step] = []
    for part in parts:
        moved = tried(state, cut := Split(part.loop, part.count))
        if moved is not None:
            state = moved
            cuts.append(cut)
    return f"{name}, sums side by side", state, (*steps, *parts, *apart, *cuts)


def _steps(nest: Nest, state: ScheduledScop) -> Iterator[PartialSums]:
    """Along the outermost loop of the terms of a nest's only sum."""
    sums = [name for name in nest.statements if name in state.reassociated]
    order = nest.orders[0]
    if len(sums) != 1 or len(order.band) < 2:
        return
    count = _count(order)
    for loop in order.band if count > 1 else ():
        terms = _extent(state, sums[0], loop)
        if _is_chain(loop) and terms % count == 0 and terms >= _ROUNDS * count:
            yield PartialSums(sums[0], loop.ref, count)


def _count(order: Order) -> int:
    """Accumulators of each element; 1 where elements are many."""
    elements = prod(
        loop.extent or 2 * round(loop.average) for loop in order.band if not loop.carries
    )
    count = 1
    while 2 * count * elements <= _ADDITIONS and count < _MOST:
        count *= 2
    return count if elements > 1 else 1


def _is_chain(loop: NestLoop) -> bool:
    return any(carry.reduction and not carry.tree for carry in loop.carries)


def _extent(state: ScheduledScop, name: str, loop: NestLoop) -> int:
    """Iterations of a loop from the first to the last that it has in any of its executions."""
    pieces = state.of_statement(name)
    found = [(p, p.names.index(loop.name)) for p in pieces if loop.name in p.names]
    whole = whole_range(found) if found else None
    return 0 if whole is None else whole.extent
