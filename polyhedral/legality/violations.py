"""Is a schedule legal? Exactly: no dependence pair may run in the wrong order.

For each dependence and each pair of pieces that hold its ends, the differences of the shared loops
are a set of integer vectors; the schedule is legal when none of them is lexicographically negative
(or zero with the sink placed before the source).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property, partial

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Step
from polyhedral.dependences.direct import DepKind
from polyhedral.dependences.memory_order import memory_order
from polyhedral.isl.text import first_point
from polyhedral.scop.execution_order import Placed, reversed_pairs
from polyhedral.scop.moved import moved
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.scop.scop import Scop, Statement, common_loops, reduction_access


@dataclass(frozen=True, slots=True)
class Witness:
    """One pair of iterations that would run in the wrong order.

    ``source`` and ``sink`` are statement names with the values of their loop variables in the
    program; ``source`` must run first. ``distance`` is their difference in the loops they share.
    """

    kind: DepKind
    array: str
    source: tuple[str, tuple[int, ...]]
    sink: tuple[str, tuple[int, ...]]
    distance: tuple[int, ...]

    def __str__(self) -> str:
        vector = f", distance ({', '.join(map(str, self.distance))})" if self.distance else ""
        first, second = (f"{s}[{', '.join(map(str, at))}]" for s, at in (self.source, self.sink))
        arrow = f"{self.source[0]} -> {self.sink[0]} through {self.array}"
        return f"{arrow}{vector}: {first} must run before {second}"


@dataclass(frozen=True, eq=False)
class Violation:
    """Iterations of two pieces that would run in the wrong order. The witness is only sampled when
    asked for. ``pairs``: original iterations, source to sink.
    """

    scop: Scop
    source: Placed
    sink: Placed
    pairs: isl.Map

    @cached_property
    def witness(self) -> Witness:
        """A concrete pair: of the lexicographically first source, the nearest sink."""
        point = first_point(self.pairs.wrap())
        source, sink = self.source.statement, self.sink.statement
        values = tuple(
            point.get_coordinate_val(isl.dim_type.set, k).to_python()
            for k in range(len(source.loops) + len(sink.loops))
        )
        first, second = values[: len(source.loops)], values[len(source.loops) :]
        shared = common_loops(source, sink)
        distance = tuple(b - a for a, b in zip(first[:shared], second[:shared], strict=True))
        kind, array = _conflict(self.scop, (source, first), (sink, second))
        return Witness(kind, array, (source.name, first), (sink.name, second), distance)

    @property
    def is_reduction(self) -> bool:
        """Whether only the order of one reduction is at stake."""
        statement = self.source.statement
        target = reduction_access(statement) if statement is self.sink.statement else None
        return target is not None and target.array == self.witness.array


def _conflict(
    scop: Scop, source: tuple[Statement, tuple[int, ...]], sink: tuple[Statement, tuple[int, ...]]
) -> tuple[DepKind, str]:
    """Through which array, and how, two concrete iterations depend on each other."""
    first, second = (list(_touched(scop, s, at)) for s, at in (source, sink))
    kinds = {(True, False): DepKind.FLOW, (False, True): DepKind.ANTI, (True, True): DepKind.OUTPUT}
    found = [
        (kinds[a_writes, b_writes], array)
        for array, element, a_writes in first
        for other, same, b_writes in second
        if array == other and _may_be(element, same) and (a_writes or b_writes)
    ]
    order = list(DepKind)
    return min(found, key=lambda conflict: order.index(conflict[0]))


def _may_be(a: tuple[int | None, ...], b: tuple[int | None, ...]) -> bool:
    return all(None in (x, y) or x == y for x, y in zip(a, b, strict=True))


def _touched(
    scop: Scop, s: Statement, at: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int | None, ...], bool]]:
    """Array, element (behind its scope; None where a subscript is data) and whether it is written,
    per access of an iteration.
    """
    env = dict(zip(s.variables, at, strict=True))
    for access, writes in [(a, False) for a in s.reads] + [(s.stmt.target, True)]:
        scope = at[: scop.program.array(access.array).scope_depth]
        element = (None if e.is_data else e.evaluate(env) for e in access.indices)
        yield access.array, (*scope, *element), writes


Remedy = Callable[[Violation], str | None]
"""What would make a step legal that a violation forbids, as a help line."""


class IllegalStep(ScheduleError):
    """W203: a step reverses a dependence. Cheap to make; the text is built when it is read.

    Args:
        found: the violations, of which the first is told.
        step: what was asked for.
        remedy: a help line for a violation, or None; asked when the text is built.
    """

    def __init__(
        self, found: Callable[[], Iterator[Violation]], step: Step, remedy: Remedy
    ) -> None:
        super().__init__("W203", "", span=step.span)
        self.found = found
        self.step = step
        self.remedy = remedy

    @cached_property
    def violation(self) -> Violation:
        """The first in the order of the program."""
        return next(self.found())

    @property
    def witness(self) -> Witness:
        """The pair of iterations that proves it."""
        return self.violation.witness

    def render(self) -> str:
        """The full message, with a concrete pair of iterations."""
        kind = self.witness.kind.value
        article = "an" if kind[0] in "ao" else "a"
        self.message = f"{describe(self.step)} reverses {article} {kind} dependence"
        self.notes = (str(self.witness), *_statement_notes(self.violation))
        self.help = self.remedy(self.violation)
        return super().render()


def _statement_notes(violation: Violation) -> Iterator[str]:
    seen: set[str] = set()
    for piece in (violation.source, violation.sink):
        stmt = piece.statement.stmt
        if stmt.span is not None and stmt.name not in seen:
            seen.add(stmt.name)
            yield f"{stmt.name} is at {stmt.span}" + (f": {stmt.source}" if stmt.source else "")


def describe(step: Step) -> str:
    """``tile([i, j], [32, 32])``: the step as short text."""
    values = [getattr(step, f.name) for f in fields(step) if f.name != "span"]
    defaults = [f.default for f in fields(step) if f.name != "span"]
    given = [v for v, default in zip(values, defaults, strict=True) if v != default]
    texts = [f"[{', '.join(map(str, v))}]" if isinstance(v, tuple) else str(v) for v in given]
    return f"{step.kind}({', '.join(texts)})"


def violations(
    state: ScheduledScop,
    changed: frozenset[str] | None = None,
    before: ScheduledScop | None = None,
    *,
    in_order: bool = True,
) -> Iterator[Violation]:
    """Every pair of pieces that the state would run in the wrong order.

    Args:
        state: the pieces in their new places.
        changed: only look at pairs that touch these statements; None looks at all.
        before: a legal state, from which one step has led here.
        in_order: as statements follow each other in the program; else where one is likely comes
            first.
    """
    pieces: dict[int, list[Piece]] = defaultdict(list)
    for piece in state.pieces:
        pieces[piece.statement.index].append(piece)
    statements = state.scop.statements
    order, step = memory_order(state.scop), None if before is None else moved(before, state)
    asked = order.between
    if step is not None:
        asked = partial(order.touched if in_order else order.touched_likely, step)
    for (source, sink), pairs in asked(state.reassociated):
        names = {statements[source].name, statements[sink].name}
        if changed is not None and not names & changed:
            continue
        for p in pieces[source]:
            for q in pieces[sink]:
                bad = reversed_pairs(pairs, p, q)
                if bad is not None:
                    yield Violation(state.scop, p, q, bad)
