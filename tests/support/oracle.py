"""Ground truth about orders of execution, by brute force: which dependences does one violate?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dsl.expressions.expr import loads
from dsl.programs.program import Program, Storage
from polyhedral.looptree.tree import LoopTree
from tests.support.enumeration import (
    MOST,
    Element,
    Event,
    Key,
    Touch,
    Toucher,
    loops_of,
    program_events,
    tree_events,
    tree_steps,
)


@dataclass(frozen=True, slots=True)
class Violation:
    """Two events that touch one element, one of them writing, in the wrong order."""

    earlier: Event
    later: Event
    element: Element

    def __str__(self) -> str:
        name, copy, indices = self.element
        where = f"{name}{list(indices)}" + (f" of iteration {list(copy)}" if copy else "")
        return f"{self.earlier} must run before {self.later}: both touch {where}"


@dataclass(slots=True)
class _Latest:
    """The access of each kind that runs last in the new order, by statement for relaxed ones."""

    position: int = -1
    event: Event | None = None

    def note(self, position: int, event: Event) -> None:
        if position > self.position:
            self.position, self.event = position, event


class Oracle:
    """The instances of a program in program order, with what they touch.

    ``relaxed`` statements may do their reduction in any order: pairs of accesses to the
    accumulated element by that statement alone do not count as dependences.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.events = program_events(program)
        self.toucher = Toucher(program)
        self.touches = [self.toucher.touches(e) for e in self.events]
        self._accumulated = {
            s.name: _accumulating_slots(program, s.name) for s in program.statements()
        }

    def violation(
        self,
        position: Mapping[Key, int] | Mapping[Key, tuple[int, ...]],
        relaxed: Iterable[str] = (),
    ) -> Violation | None:
        """A memory dependence that an order reverses or leaves open, None where there is none.

        Args:
            position: of every instance, a number or vector that orders them; two instances at the
                same position are unordered.
            relaxed: statements whose reduction was released.
        """
        rank = {p: n for n, p in enumerate(sorted(set(position.values())))}  # type: ignore[type-var]
        free = frozenset(relaxed)
        writes: dict[tuple[Element, str], _Latest] = {}
        reads: dict[tuple[Element, str], _Latest] = {}
        classes: dict[Element, set[str]] = {}
        for event, touches in zip(self.events, self.touches, strict=True):
            here = rank[position[event.key]]
            marks = [(t, self._class(event, t, free)) for t in touches]
            for touch, mine in marks:
                for other in classes.get(touch.element, ()):
                    if mine and other == mine:
                        continue
                    tables = (writes, reads) if touch.is_write else (writes,)
                    for table in tables:
                        latest = table.get((touch.element, other))
                        if latest and latest.event and latest.position >= here:
                            return Violation(latest.event, event, touch.element)
            for touch, mine in marks:
                classes.setdefault(touch.element, set()).add(mine)
                table = writes if touch.is_write else reads
                table.setdefault((touch.element, mine), _Latest()).note(here, event)
        return None

    def _class(self, event: Event, touch: Touch, free: frozenset[str]) -> str:
        """Accesses of the same class need no order; the empty class is of those that do."""
        name = event.stmt.name
        return name if name in free and touch.slot % MOST in self._accumulated[name] else ""

    def is_dependence(
        self, first: Key, second: Key, array: str, relaxed: Iterable[str] = ()
    ) -> bool:
        """Whether both instances exist, in this order, and depend on each other via the array."""
        place = {e.key: n for n, e in enumerate(self.events)}
        if first not in place or second not in place or place[first] >= place[second]:
            return False
        free = frozenset(relaxed)
        marks = [
            [(t, self._class(self.events[n], t, free)) for t in self.touches[n]]
            for n in (place[first], place[second])
        ]
        return any(
            a.element == b.element
            and a.element[0] == array
            and (a.is_write or b.is_write)
            and not (mine and mine == other)
            for a, mine in marks[0]
            for b, other in marks[1]
        )

    def sources(
        self, order: Sequence[tuple[Event, Mapping[str, tuple[int, ...]]]]
    ) -> dict[tuple[Key, int], Key | None]:
        """For each read of a local, which instance wrote the value.

        Args:
            order: events with, for each local, which physical copy of it they see.
        """
        last: dict[tuple[str, tuple[int, ...], tuple[int, ...]], Key] = {}
        found: dict[tuple[Key, int], Key | None] = {}
        local = {a.name for a in self.program.arrays if a.storage is Storage.LOCAL}
        for event, copies in order:
            touches = self.toucher.touches(event)
            for touch in touches:
                if touch.is_write:
                    continue
                name, _, indices = touch.element
                if name in local:
                    found[event.key, touch.slot] = last.get((name, copies[name], indices))
            for touch in touches:
                name, _, indices = touch.element
                if touch.is_write and name in local:
                    last[name, copies[name], indices] = event.key
        return found

    def expected_sources(self) -> dict[tuple[Key, int], Key | None]:
        """`sources` in program order, where each scope has a copy of its own."""
        depth = {a.name: a.scope_depth for a in self.program.locals}
        return self.sources([(e, {n: e.point[:d] for n, d in depth.items()}) for e in self.events])

    def tree_faults(self, tree: LoopTree, relaxed: Iterable[str] = ()) -> list[str]:
        """What is wrong with the order in which a loop tree runs the program; empty when right.

        Checked: every instance exactly once, every dependence kept, and every local's value read
        from the copy and the instance that it is read from in program order.
        """
        relaxed = frozenset(relaxed)
        done = tree_events(tree, limit=20 * len(self.events) + 10_000)
        if faults := self.instance_faults(done):
            return faults
        position = {e.key: n for n, e in enumerate(done)}
        if (violation := self.violation(position, relaxed)) is not None:
            return [str(violation)]
        return self._flow_faults(tree, relaxed)

    def instance_faults(self, done: Sequence[Event]) -> list[str]:
        """Instances that are missing, invented or run twice."""
        expected = Counter(e.key for e in self.events)
        actual = Counter(e.key for e in done)
        if expected == actual:
            return []
        missing, extra = expected - actual, actual - expected
        found = [f"{len(missing)} instances are missing, such as {k}" for k in [*missing][:1]]
        return found + [f"{len(extra)} instances are too many, such as {k}" for k in [*extra][:1]]

    def _flow_faults(self, tree: LoopTree, relaxed: frozenset[str]) -> list[str]:
        names = [a.name for a in self.program.arrays if a.storage is Storage.LOCAL]
        if not names:
            return []
        expected = self.expected_sources()
        physical = []
        placed = {p.array: p.iv for p in tree.placements}
        for event, env in tree_steps(tree):
            copies = {n: _copy(placed.get(n), env) for n in names}
            physical.append((event, copies))
        actual = self.sources(physical)
        for read, source in expected.items():
            (name, _), slot = read
            other = actual[read]
            if source == other:
                continue
            if name in relaxed and slot % MOST in self._accumulated[name]:
                continue  # any partial sum will do; `violation` has checked the others
            if source and other and source[0] == other[0] and source[0] in relaxed:
                continue  # another one of its iterations comes last
            return [f"{read[0]}, load {slot}: the value is of {other}, not of {source}"]
        return []


def _copy(iv: str | None, env: Mapping[str, int]) -> tuple[int, ...]:
    """Which copy of a local declared inside the loop ``iv`` is seen there."""
    if iv is None:
        return ()
    ivs = list(env)
    return tuple(env[v] for v in ivs[: ivs.index(iv) + 1]) if iv in env else (-1,)


def _accumulating_slots(program: Program, name: str) -> frozenset[int]:
    """Slots of the write and of the loads of the very same element, for a reduction."""
    stmt = next(s for s in program.statements() if s.name == name)
    same = [n for n, access in enumerate(loads(stmt.value), 1) if access == stmt.target]
    return frozenset((0, *same))


def point_of(program: Program, stmt: str, values: Mapping[str, int]) -> Key:
    """The key of an instance given by loop variable names."""
    return stmt, tuple(values[v] for v in loops_of(program)[stmt])
