"""``while`` loops whose counter is multiplied or divided by a constant, made into loops over its values.

Before::

    s = 1
    while s < 16:
        x[s] += x[s - 1]
        s *= 2

After::

    s = 1
    for s_at in (1, 2, 4, 8):
        x[s_at] += x[s_at - 1]

The values are found when the loop is read, since its ends may be captured sizes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

from dsl.frontend.syntax.conjuncts import conjuncts
from dsl.frontend.syntax.loop_parts import Counted, update_of

MOST_VALUES = 64
_STEPS: dict[type[ast.operator], tuple[Callable[[int, int], int], int]] = {
    ast.Mult: (operator.mul, 2),
    ast.LShift: (operator.lshift, 1),
    ast.FloorDiv: (operator.floordiv, 2),
    ast.RShift: (operator.rshift, 1),
}
"""What a step does, and the least constant by which it ends."""
_TESTS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.NotEq: operator.ne,
}


@dataclass(frozen=True, slots=True)
class Counter:
    """``while name <test> bound: …; name <step> by``."""

    name: str
    test: ast.cmpop
    bound: ast.expr
    step: ast.operator
    by: int

    @property
    def is_up(self) -> bool:
        """Whether it grows."""
        return isinstance(self.step, ast.Mult | ast.LShift)

    def values(self, first: int, bound: int) -> list[int] | None:
        """What the counter is in each iteration; None where these are more than `MOST_VALUES`."""
        holds, (change, _) = _TESTS[type(self.test)], _STEPS[type(self.step)]
        found: list[int] = []
        while holds(first, bound):
            if len(found) == MOST_VALUES:
                return None
            found.append(first)
            first = change(first, self.by)
        return found


class Geometric(Counted):
    """What a loop runs over: the values of a counter from ``first`` on.

    ``changed`` says to those who count assignments that the loop changes it. ``otherwise`` are the statements that do the same where these are not known, None where there are none; ``loop`` is
    what the source says.
    """

    _fields = ("changed",)
    changed: ast.Name
    counter: Counter
    first: ast.expr
    loop: ast.While
    otherwise: list[ast.stmt] | None

    @classmethod
    def made(
        cls,
        counter: Counter,
        first: ast.expr,
        loop: ast.While,
        otherwise: list[ast.stmt] | None,
    ) -> Geometric:
        """See the class."""
        values = cls()
        values.changed = ast.copy_location(ast.Name(counter.name, ast.Store()), loop.test)
        values.counter, values.first = counter, first
        values.loop, values.otherwise = loop, otherwise
        return values

    def change(self, of: Callable[[ast.expr], ast.expr]) -> None:
        """See `Counted`."""
        self.counter = replace(self.counter, bound=of(self.counter.bound))
        self.first = of(self.first)
        for s in self.otherwise or ():
            of(s)  # type: ignore[arg-type]


def counter_of(loop: ast.While) -> tuple[Counter, int] | None:
    """The counter of such a loop, and the place in the body of what changes it; None of any other."""
    names = {n.id for n in ast.walk(loop.test) if isinstance(n, ast.Name)}
    steps = [(step, n) for n, s in enumerate(loop.body) if (step := _step(s)) is not None]
    found = [(step, n) for step, n in steps if step[0] in names]
    if len(found) != 1:
        return None
    ((step, place),) = found
    counter = _tested(loop, step)
    return None if counter is None else (counter, place)


def _tested(loop: ast.While, step: tuple[str, ast.operator, int]) -> Counter | None:
    name, op, by = step
    for condition in conjuncts(loop.test):
        match condition:
            case ast.Name(id=left) if left == name:
                zero = ast.copy_location(ast.Constant(0), loop.test)
                return Counter(name, ast.NotEq(), zero, op, by)
            case ast.Compare(left=ast.Name(id=left), ops=[test], comparators=[bound]) if (
                left == name
            ):
                return Counter(name, test, bound, op, by) if type(test) in _TESTS else None
    return None


def _step(last: ast.stmt) -> tuple[str, ast.operator, int] | None:
    """``s *= 2`` and ``s = s // 2``."""
    found = update_of(last)
    if found is None:
        return None
    name, op, by = found
    known = _STEPS.get(type(op))
    return (name, op, by) if known is not None and by >= known[1] else None
