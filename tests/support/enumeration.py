"""Brute force: every statement instance of a small program, in order, with what it touches.

No isl here: loops are run, subscripts are evaluated. It is what everything else is tested against,
so it is kept simple enough to be seen right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from dsl.expressions.affine import Affine, cond_holds
from dsl.expressions.expr import Access, loads
from dsl.programs.program import If, Loop, Node, Program, Stmt, Storage
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode

Key = tuple[str, tuple[int, ...]]
"""A statement instance: the statement's name and the values of its loops, outermost first."""

Element = tuple[str, tuple[int, ...], tuple[int, ...]]
"""An array's element: the array, which copy of it (of a local in loops), the subscripts."""


MOST = 10_000
"""More loads than a statement has."""


class TooManyError(Exception):
    """The program has more instances than brute force is willing to look at."""


@dataclass(frozen=True, slots=True)
class Event:
    """One execution of a statement."""

    stmt: Stmt
    point: tuple[int, ...]

    @property
    def key(self) -> Key:
        """Its name: statement and iteration."""
        return self.stmt.name, self.point

    def __str__(self) -> str:
        return f"{self.stmt.name}{list(self.point)}"


def loop_values(loop: Loop, env: Mapping[str, int]) -> range:
    """The values that a loop's variable takes, in order."""
    low = max(b.evaluate(env) for b in loop.lowers)
    high = min(b.evaluate(env) for b in loop.uppers)
    if loop.step > 0:
        return range(low, high, loop.step)
    return range(high - 1, low - 1, loop.step)


def loops_of(program: Program) -> dict[str, tuple[str, ...]]:
    """For each statement the variables of the loops around it, outermost first."""
    return {
        node.name: tuple(n.var for n in around if isinstance(n, Loop))
        for node, around in program.walk()
        if isinstance(node, Stmt)
    }


def program_events(program: Program, limit: int = 1_000_000) -> list[Event]:
    """Every statement instance in program order.

    Raises:
        TooManyError: there are more than ``limit``, loop iterations without any counted too.
    """
    events: list[Event] = []
    budget = [limit]
    _run(program.body, {}, (), events, budget)
    return events


def _run(
    nodes: tuple[Node, ...],
    env: dict[str, int],
    point: tuple[int, ...],
    events: list[Event],
    budget: list[int],
) -> None:
    for node in nodes:
        budget[0] -= 1
        if budget[0] < 0:
            raise TooManyError
        match node:
            case Stmt():
                events.append(Event(node, point))
            case If(cond, then, orelse):
                _run(then if cond_holds(cond, env) else orelse, env, point, events, budget)
            case Loop(var=var, body=body):
                for value in loop_values(node, env):
                    _run(body, {**env, var: value}, (*point, value), events, budget)


def tree_events(tree: LoopTree, limit: int = 1_000_000) -> list[Event]:
    """Every statement instance in the order in which a loop tree executes them."""
    return [event for event, _ in tree_steps(tree, limit)]


def tree_steps(tree: LoopTree, limit: int = 1_000_000) -> Iterator[tuple[Event, dict[str, int]]]:
    """`tree_events`, each with the loop ivs around it."""
    order = loops_of(tree.program)
    budget = [limit]
    yield from _run_tree(tree.body, {}, order, budget)


def _run_tree(
    nodes: tuple[TreeNode, ...],
    env: dict[str, int],
    order: Mapping[str, tuple[str, ...]],
    budget: list[int],
) -> Iterator[tuple[Event, dict[str, int]]]:
    for node in nodes:
        budget[0] -= 1
        if budget[0] < 0:
            raise TooManyError
        match node:
            case Instance(stmt, bindings):
                values = {var: affine.evaluate(env) for var, affine in bindings}
                yield Event(stmt, tuple(values[var] for var in order[stmt.name])), env
            case TreeGuard(constraints, body):
                if all(c.holds(env) for c in constraints):
                    yield from _run_tree(body, env, order, budget)
            case TreeLoop(iv=iv, lowers=lowers, uppers=uppers, step=step, body=body):
                low = max(b.evaluate(env) for b in lowers)
                high = min(b.evaluate(env) for b in uppers)
                for value in range(low, high, step):
                    yield from _run_tree(body, {**env, iv: value}, order, budget)


@dataclass(frozen=True, slots=True)
class Touch:
    """An access that an event makes. ``slot`` is 0 for the write, n for the n-th load; of an access that
    may be of several elements n + `MOST`, n + 2 · `MOST`, … for the others.
    """

    element: Element
    slot: int

    @property
    def is_write(self) -> bool:
        """Whether it writes the element."""
        return self.slot % MOST == 0


class Toucher:
    """Evaluates the accesses of a program's statements."""

    def __init__(self, program: Program) -> None:
        self._vars = loops_of(program)
        self._depth = {
            a.name: a.scope_depth if a.storage is Storage.LOCAL else 0 for a in program.arrays
        }
        self._shape = {a.name: a.shape for a in program.arrays}
        self._accesses: dict[str, tuple[Access, ...]] = {
            s.name: (s.target, *loads(s.value)) for s in program.statements()
        }

    def env(self, event: Event) -> dict[str, int]:
        """The values of the loop variables around an event."""
        return dict(zip(self._vars[event.stmt.name], event.point, strict=True))

    def touches(self, event: Event) -> tuple[Touch, ...]:
        """All that an event writes and reads: of the elements that a write may be of each."""
        env = self.env(event)
        found = []
        for slot, access in enumerate(self._accesses[event.stmt.name]):
            copy = event.point[: self._depth[access.array]]
            for n, indices in enumerate(self._elements(access, env)):
                found.append(Touch((access.array, copy, indices), slot + n * MOST))
        return tuple(found)

    def _elements(self, access: Access, env: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
        """The element; where subscripts are data each that it may be: nobody says which."""
        ways = (
            range(extent) if affine.is_data else (_value(affine, env),)
            for affine, extent in zip(access.indices, self._shape[access.array], strict=True)
        )
        return product(*ways) if access.indices else iter([()])


def _value(affine: Affine, env: Mapping[str, int]) -> int:
    return affine.evaluate(env)
