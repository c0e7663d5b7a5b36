"""``while`` loops of which each iteration comes nearer to the end, whichever way it takes.

Five reasons why there are only so many iterations:

* counters with a limit: each way through the body of ``while i < n and j < m`` adds to ``i`` or to ``j``, so that there are at
  most ``(n - i) + (m - j) - 1`` iterations from there on;
* two ends that meet: each way through ``while lo < hi`` takes ``lo`` up or ``hi`` down;
* elements that are read: ``front`` is another one in each iteration of ``while front < back``, which reads ``queue[front]``, and
  ``queue`` has only so many elements;
* elements that are read, each on its own way: each way through ``while i < n or j < m`` reads ``x[i]`` and adds to ``i``, or reads
  ``y[j]`` and adds to ``j``;
* a chain: in ``while parent[v] != v: v = parent[v]`` nothing but ``v`` decides what comes next. If ``v`` was the same a second
  time it would be for ever; and ``parent`` has only so many elements.

The last three are of programs that Python runs without an ``IndexError`` and to their end.
"""

from __future__ import annotations

import ast
import copy
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dsl.frontend.syntax.certain import Within, subscripts_by
from dsl.frontend.syntax.conjuncts import Gap, conjuncts, endings, gaps, opposite
from dsl.frontend.syntax.geometric import Counter, counter_of
from dsl.frontend.syntax.least_steps import least_steps
from dsl.frontend.syntax.loop_parts import (
    Counted,
    ends_of_sets,
    first_value,
    placed,
    step_of,
    stored,
)
from dsl.frontend.syntax.path_steps import PathSteps
from dsl.frontend.syntax.steady import assigned_names, calls, is_steady, may_write

_MOST_GAPS = 4


@dataclass(frozen=True, slots=True)
class Closing:
    """Gaps that close: at most ``(sum of gaps - least) // by + 1 + more`` iterations."""

    gaps: tuple[ast.expr, ...]
    least: int
    by: int
    more: int


@dataclass(frozen=True, slots=True)
class Elements:
    """At most as many iterations as the array has subscripts there."""

    within: Within


@dataclass(frozen=True, slots=True)
class Together:
    """At most as many iterations as several arrays have subscripts, of each one of those that a counter reads."""

    counters: tuple[tuple[Within, ...], ...]


@dataclass(frozen=True, slots=True)
class Scaled:
    """As many iterations as a counter has values that is multiplied or divided by a constant, from ``first`` on."""

    counter: Counter
    first: ast.expr


Reason = Closing | Elements | Together | Scaled


class Trips(Counted):
    """The most iterations of a loop, for each of several ``reasons``; ``loop`` is what the source says."""

    reasons: tuple[Reason, ...]
    loop: ast.While

    @classmethod
    def made(cls, reasons: Sequence[Reason], loop: ast.While) -> Trips:
        """See the class."""
        trips = cls()
        trips.reasons, trips.loop = tuple(reasons), loop
        return trips

    def change(self, of: Callable[[ast.expr], ast.expr]) -> None:
        """See `Counted`."""

        def changed(reason: Reason) -> Reason:
            match reason:
                case Closing(gaps=gaps):
                    return replace(reason, gaps=tuple(map(of, gaps)))
                case Elements(within=within):
                    return Elements(replace(within, base=of(within.base)))
                case Together(counters=counters):
                    return Together(
                        tuple(tuple(replace(w, base=of(w.base)) for w in ws) for ws in counters)
                    )
                case Scaled(counter=counter, first=first):
                    return Scaled(replace(counter, bound=of(counter.bound)), of(first))

        self.reasons = tuple(map(changed, self.reasons))


def progressing(
    loop: ast.While, before: Sequence[ast.stmt], function: ast.FunctionDef
) -> Trips | None:
    """Why a loop ends; None where it is not seen.

    Args:
        loop: as it is written, with the loops in it.
        before: the statements in front of it in its block.
        function: the one that it is in.
    """
    found = _Progress(loop, before, function)
    reasons: list[Reason] = [*found.closing(), *found.scaled(), *found.elements(), *found.chains()]
    reasons += found.together()
    return Trips.made(reasons, loop) if reasons else None


@dataclass(frozen=True, slots=True)
class _Progress:
    loop: ast.While
    before: Sequence[ast.stmt]
    function: ast.FunctionDef

    @property
    def _tests(self) -> list[ast.expr]:
        return conjuncts(self.loop.test)

    # ---------------------------------------------------------------------------------- gaps

    def closing(self) -> Iterator[Closing]:
        """The smallest sets of gaps which close together."""
        yield from self._closing(self._tests, [], 0)
        for place, s in enumerate(self.loop.body):
            match s:
                case ast.If(test=test, body=[ast.Break()], orelse=[]):
                    tests = [t for part in opposite(test) for t in conjuncts(part)]
                    yield from self._closing(tests, self.loop.body[:place], 1)
            if any(isinstance(n, ast.Continue) for n in ast.walk(s)):
                return  # an iteration may not get to the conditions behind it

    def _closing(
        self, tests: list[ast.expr], ahead: Sequence[ast.stmt], more: int
    ) -> Iterator[Closing]:
        """Of conditions that hold behind the statements ``ahead`` in each iteration, but in the last ``more``."""
        found = [gap for test in tests for gap in gaps(test)][:_MOST_GAPS]
        found = [gap for gap in found if self._is_known(gap)]
        ending = endings(self._tests, self.loop.body)
        closed: list[set[int]] = []
        for size in range(1, len(found) + 1):
            for chosen in itertools.combinations(range(len(found)), size):
                if any(known <= {*chosen} for known in closed):
                    continue
                made = self._closed([found[n] for n in chosen], ahead, ending, more)
                if made is not None:
                    closed.append({*chosen})
                    yield made

    def _closed(
        self, together: list[Gap], ahead: Sequence[ast.stmt], ending: set[str], more: int
    ) -> Closing | None:
        factors: dict[str, int] = {}
        for gap in together:
            for name, by in self._moving(gap).items():
                factors[name] = factors.get(name, 0) + by
        known = least_steps(self.loop.body, self.function)
        steps = PathSteps(factors, ending, known).of_iteration(self.loop.body)
        if steps is None or steps[1] >= 0:
            return None
        if any(gap.is_unequal for gap in together) and (len(together) > 1 or steps != (-1, -1)):
            return None  # it may be stepped over
        first = PathSteps(factors, (), known).of_block(ahead)
        if first is None or not math.isfinite(first[1]):
            return None
        least = sum(gap.least for gap in together) - max(0, int(first[1]))
        return Closing(tuple(map(self._first, together)), least, int(-steps[1]), more)

    def _moving(self, gap: Gap) -> dict[str, int]:
        changed = {*stored(self.loop.body)}
        return {name: by for name, by in gap.factors.items() if name in changed}

    def _is_known(self, gap: Gap) -> bool:
        """Whether the loop changes nothing in it but counters."""
        inside = {*stored(self.loop.body)}
        if not self._moving(gap) or gap.others & inside:
            return False
        return is_steady(gap.node, self.loop.body, self.function)

    def _first(self, gap: Gap) -> ast.expr:
        """The gap in front of the loop."""
        replaced: dict[str, ast.expr] = {}
        moving = self._moving(gap)
        for name, by in gap.factors.items():
            first = first_value(name, self.before) if name in moving else None
            end = ends_of_sets(name, self.function)[0 if by < 0 else 1]
            if first is not None:
                replaced[name] = first
            elif end is not None:
                replaced[name] = ast.Constant(end)
        made: ast.expr = _Replaced(replaced).visit(copy.deepcopy(gap.node))
        return placed(made, self.loop.test)

    def scaled(self) -> Iterator[Scaled]:
        """A counter that each iteration multiplies or divides by a constant."""
        found = counter_of(self.loop)
        if found is None:
            return
        counter, _ = found
        first = first_value(counter.name, self.before) or ast.Name(counter.name, ast.Load())
        inside = [*stored(self.loop.body)]
        bound = {n.id for n in ast.walk(counter.bound) if isinstance(n, ast.Name)}
        plain = (
            inside.count(counter.name) == 1
            and not bound & {*inside}
            and is_steady(counter.bound, self.loop.body, self.function)
        )
        if plain and not _continues(self.loop.body):
            yield Scaled(counter, placed(copy.deepcopy(first), self.loop.test))

    # ------------------------------------------------------------------------------ elements

    def elements(self) -> Iterator[Elements]:
        """Arrays that are read at another subscript in each iteration."""
        counters = {found[0] for s in ast.walk(self.loop) if (found := _step(s)) is not None}
        for name in sorted(counters):
            ending = endings(self._tests, self.loop.body)
            steps = PathSteps({name: 1}, ending).of_iteration(self.loop.body)
            if steps is not None and (steps[0] >= 1 or steps[1] <= -1):
                yield from self._within(name)

    def _within(self, name: str) -> Iterator[Elements]:
        for within in subscripts_by(name, self._tests, self.loop.body):
            if self._is_one_array(within):
                yield Elements(within)

    def _is_one_array(self, within: Within) -> bool:
        """Whether the loop does not give the array's name to another one."""
        names = {n.id for n in ast.walk(within.base) if isinstance(n, ast.Name)}
        return not names & {*assigned_names(self.loop)}

    def together(self) -> Iterator[Together]:
        """Arrays of which each way through the loop reads another element of one of them."""
        test = self.loop.test
        if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
            return
        compared = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
        names = sorted(compared & {*stored(self.loop.body)})
        known = least_steps(self.loop.body, self.function)
        steps = PathSteps(dict.fromkeys(names, 1), (), known).of_iteration(self.loop.body)
        if steps is None or steps[0] < 1:
            return
        counters = tuple(tuple(self._read_at_steps(name)) for name in names)
        if all(counters):
            yield Together(counters)

    def _read_at_steps(self, name: str) -> list[Within]:
        """The subscripts that a counter is in front of each of its steps, all of which are up; none where one is not."""
        found: list[Within] | None = None
        for ahead in _ahead_of_changes(self.loop.body, name):
            step = _step(ahead[-1])
            if step is None or step[1] < 1:
                return []
            now = [w for w in subscripts_by(name, [], ahead) if self._is_one_array(w)]
            same = {(ast.dump(w.base), w.dim) for w in now}
            kept = now if found is None else found
            found = [w for w in kept if (ast.dump(w.base), w.dim) in same]
        return found or []

    def chains(self) -> Iterator[Elements]:
        """Arrays at a number that alone decides what it is in the next iteration."""
        inside = {*stored(self.loop.body)}
        deciding = {n.id for t in self._tests for n in ast.walk(t) if isinstance(n, ast.Name)}
        before: set[str] = set()
        while deciding != before:
            before = set(deciding)
            deciding |= {*_deciding(self.loop.body, deciding & inside)}
        state = deciding & inside
        if len(state) != 1 or calls(self.loop.body):
            return
        (name,) = state
        if all(_step(s) for p in self.loop.body for s in ast.walk(p) if _changes(s, name)):
            return  # a counter that stands still on some way is a mistake
        if name not in assigned_names(self.loop):
            return
        if may_write(deciding, self.loop.body, self.function):
            return
        yield from self._within(name)


def _continues(statements: Sequence[ast.stmt]) -> bool:
    return any(isinstance(j, ast.Continue) for s in statements for j in ast.walk(s))


def _deciding(statements: Sequence[ast.stmt], names: set[str]) -> Iterator[str]:
    """What decides on the values of names, and on whether the loop is left."""
    for s in statements:
        leaves = any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in ast.walk(s))
        if leaves or names & {*stored([s])}:
            if isinstance(s, ast.For | ast.While):
                yield from (n.id for n in ast.walk(s) if isinstance(n, ast.Name))
            elif isinstance(s, ast.If):
                yield from (n.id for n in ast.walk(s.test) if isinstance(n, ast.Name))
                yield from _deciding([*s.body, *s.orelse], names)
            else:
                yield from (n.id for n in ast.walk(s) if isinstance(n, ast.Name))


def _ahead_of_changes(statements: Sequence[ast.stmt], name: str) -> Iterator[list[ast.stmt]]:
    """The statements of its block up to each one that changes a name, which is the last of them."""
    for place, s in enumerate(statements):
        blocks = [getattr(s, part, None) or [] for part in ("body", "orelse")]
        if isinstance(s, ast.If):
            for block in blocks:
                yield from _ahead_of_changes(block, name)
        elif name in stored([s]):
            yield [*statements[: place + 1]]


def _changes(s: ast.AST, name: str) -> bool:
    return isinstance(s, ast.Assign | ast.AugAssign) and name in stored([s])


def _step(node: ast.AST) -> tuple[str, int] | None:
    return step_of(node) if isinstance(node, ast.stmt) else None


class _Replaced(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self._values = values

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, Counted):
            node.change(self.visit)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self._values.get(node.id)
        return node if found is None else copy.deepcopy(found)
