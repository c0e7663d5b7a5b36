"""The fast path: parallel loops as whole NumPy slices, the rest one iteration after the other.

Iterations of a parallel loop advance together, statement by statement. What is left with no
parallel loop around or inside runs as the closures of the plain path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import numpy as np

from dsl.expressions.affine import Affine
from dsl.interp import scan, vector
from dsl.interp.memory import Memory, Store, local
from dsl.interp.plan import IfPlan, LoopPlan, Plan, StmtPlan, at_once
from dsl.interp.scalar import Env
from dsl.interp.scalar_nest import Action, compile_plan
from dsl.interp.space import Ints, Kind, Space, evaluate, holds

ELEMENTS_AT_ONCE = 1 << 16
"""A parallel loop runs in pieces of about so many elements, so that they stay in the cache."""


class FastRun:
    """One run of a program.

    Args:
        memory: the arrays, changed in place.
        depth: that of the deepest loop.
        chunk: parallel loops run in pieces of about so many elements.
        narrow: wavefronts of fewer iterations on the average are not worth it.
    """

    def __init__(self, memory: Memory, depth: int, chunk: int, narrow: int) -> None:
        self.memory = memory
        self.depth = depth
        self.chunk = chunk
        self.narrow = narrow
        self._actions: dict[int, Action] = {}

    def run(self, plans: tuple[Plan, ...]) -> None:
        """Run a whole program."""
        self._sequence(plans, Space((), {}, {}, Kind()))

    def _sequence(self, plans: tuple[Plan, ...], space: Space) -> None:
        if 0 in space.shape:
            return
        for plan in plans:
            if not space.shape and not at_once(plan):
                self._one_by_one(plan, space)
                continue
            match plan:
                case StmtPlan():
                    vector.store(plan, space, self.memory)
                case IfPlan():
                    self._branch(plan, space)
                case LoopPlan():
                    self._loop(plan, space)
                case _:
                    assert_never(plan)

    def _one_by_one(self, plan: Plan, space: Space) -> None:
        action = self._actions.get(id(plan))
        if action is None:
            action = self._actions[id(plan)] = compile_plan(plan, self.memory)
        env: Env = [0] * self.depth
        for slot, name in enumerate(plan.names):
            env[slot] = space.ints[name]
        action(env)

    def _branch(self, plan: IfPlan, space: Space) -> None:
        mask = holds(plan.cond, space)
        if isinstance(mask, bool):
            self._sequence(plan.then if mask else plan.orelse, space)
            return
        self._sequence(plan.then, space.keep(mask))
        if plan.orelse:
            self._sequence(plan.orelse, space.keep(~mask))

    def _loop(self, plan: LoopPlan, space: Space) -> None:
        loop, stride = plan.loop, abs(plan.loop.step)
        low = _extreme([evaluate(bound, space) for bound in loop.lowers], max, np.maximum)
        high = _extreme([evaluate(bound, space) for bound in loop.uppers], min, np.minimum)
        first = low if loop.step > 0 else high - 1
        counts = (high - low + stride - 1) // stride
        if not isinstance(first, int) or not isinstance(counts, int):
            self._ragged(plan, space, np.asarray(first), np.maximum(counts, 0))
        elif plan.parallel:
            self._together(plan, space, first, counts)
        elif plan.total is not None and scan.pays(space, counts):
            scan.add_up(plan, space, self.memory, first, counts)
        elif plan.slope is None or not self._waves(plan, space, first, counts):
            inner = space.fork()
            for value in range(first, first + counts * loop.step, loop.step):
                inner.ints[loop.var] = value
                self._body(plan, inner)

    def _waves(self, plan: LoopPlan, space: Space, first: int, count: int) -> bool:
        """Run two loops as wavefronts (see `wave`); False if the fronts would be short."""
        (inner,) = plan.body
        assert isinstance(inner, LoopPlan)
        assert plan.slope is not None
        low = _extreme([evaluate(bound, space) for bound in inner.loop.lowers], max, np.maximum)
        high = _extreme([evaluate(bound, space) for bound in inner.loop.uppers], min, np.minimum)
        if not (isinstance(low, int) and isinstance(high, int)):
            return False
        last, slope = first + count - 1, plan.slope
        fronts = range(slope * first + low, slope * last + high)
        if count * (high - low) < self.narrow * len(fronts):
            return False
        for front in fronts:
            begin, end = first, last
            if slope:
                begin = max(begin, -((high - 1 - front) // slope))
                end = min(end, (front - low) // slope)
            points = space.along(plan.loop.var, begin, 1, end - begin + 1)
            points = points.ramp(inner.loop.var, len(space.shape), front - slope * begin, -slope)
            self._body(inner, points)
        return True

    def _together(self, plan: LoopPlan, space: Space, start: int, count: int) -> None:
        loop = plan.loop
        around = max(1, int(np.prod(space.shape)))
        piece = max(1, self.chunk // (plan.weight * around))
        for begin in range(0, count, piece):
            size = min(piece, count - begin)
            part = space.along(loop.var, start + begin * loop.step, loop.step, size)
            self._body(plan, part)

    def _ragged(self, plan: LoopPlan, space: Space, first: Ints, counts: Ints) -> None:
        """Bounds that differ between the iterations of the space."""
        loop = plan.loop
        if plan.parallel:
            self._body(plan, space.spread(loop.var, first, loop.step, counts))
            return
        points = space.points()
        starts = np.broadcast_to(first, space.shape).ravel()
        left = np.broadcast_to(counts, space.shape).ravel()
        for trip in range(int(left.max(initial=0))):
            running = left > trip
            values = starts[running] + trip * loop.step
            self._body(plan, points.keep(running).table(loop.var, values))

    def _body(self, plan: LoopPlan, space: Space) -> None:
        if 0 in space.shape:
            return
        if not plan.fresh:
            self._sequence(plan.body, space)
            return
        if not space.shape:
            for array in plan.fresh:
                self.memory[array.name].forget()
            self._sequence(plan.body, space)
            return
        self._with_copies(plan, space)

    def _with_copies(self, plan: LoopPlan, space: Space) -> None:
        """Run the body with a copy of its locals for each iteration of the space."""
        inner = space
        kept: dict[str, Store] = {}
        for array in plan.fresh:
            names = [f"%{array.name}.{axis}" for axis in range(len(space.shape))]
            for axis, name in enumerate(names):
                inner = inner.ramp(name, axis, 0, 1)
            kept[array.name] = self.memory[array.name]
            prefix = tuple(map(Affine.of, names))
            old = kept[array.name]
            self.memory[array.name] = local(array, old.inside, space.shape, prefix)
        self._sequence(plan.body, inner)
        self.memory.update(kept)


def _extreme(
    values: list[int | Ints], choose: Callable[[list[int]], int], each: np.ufunc
) -> int | Ints:
    """The largest or smallest of several bounds, in each iteration."""
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values):
        return choose(numbers)
    arrays = np.broadcast_arrays(*values)
    return each.reduce(arrays)  # type: ignore[no-any-return]
