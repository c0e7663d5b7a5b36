"""Is a schedule legal? Exactly: no dependence pair may run in the wrong order.

For each dependence and each pair of pieces that hold its ends, the differences of the shared loops
are a set of integer vectors; the schedule is legal when none of them is lexicographically negative
(or zero with the sink placed before the source).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache

import islpy as isl

from dsl.errors import ScheduleError
from dsl.steps import Step
from polyhedral.dependences import Dependence, DepKind, common_loops, dependences
from polyhedral.scheduled import Piece, ScheduledScop
from polyhedral.scop import Scop, Statement


@dataclass(frozen=True, eq=False)
class Order:
    """The dependences of a program, grouped by their statements, computed when first needed."""

    scop: Scop
    reassociated: frozenset[str]

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        """All of them."""
        return dependences(self.scop, self.reassociated)

    @cached_property
    def between(self) -> dict[tuple[int, int], tuple[Dependence, ...]]:
        """Those between two statements (by index); relations that another covers left out."""
        groups: dict[tuple[int, int], list[Dependence]] = defaultdict(list)
        for dep in self.dependences:
            group = groups[dep.source.index, dep.sink.index]
            if not any(dep.pairs.plain_is_equal(other.pairs) for other in group):
                group.append(dep)
        return {key: tuple(group) for key, group in groups.items()}


@lru_cache(maxsize=256)
def order_of(scop: Scop, reassociated: frozenset[str]) -> Order:
    """The (cached) dependences of a program."""
    return Order(scop, reassociated)


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
    """A dependence that pieces would break. The witness is only sampled when asked for."""

    dependence: Dependence
    source: Piece
    sink: Piece
    pairs: isl.Map  # of iterations of the new loops, source to sink

    @cached_property
    def witness(self) -> Witness:
        """A concrete pair, the lexicographically first of the violating ones."""
        times = self.pairs.wrap().lexmin().sample_point()
        values = [
            times.get_coordinate_val(isl.dim_type.set, k).to_python()
            for k in range(len(self.source.dims) + len(self.sink.dims))
        ]
        n = len(self.source.dims)
        source = _original(self.source, values[:n])
        sink = _original(self.sink, values[n:])
        shared = common_loops(self.dependence.source, self.dependence.sink)
        distance = tuple(b - a for a, b in zip(source[:shared], sink[:shared], strict=True))
        dep = self.dependence
        return Witness(
            dep.kind, dep.array, (self.source.name, source), (self.sink.name, sink), distance
        )


def _original(piece: Piece, times: list[int]) -> tuple[int, ...]:
    env = dict(zip(piece.names, times, strict=True))
    return tuple(e.evaluate(env) for _, e in piece.bindings)


class IllegalStep(ScheduleError):
    """W203: a step reverses a dependence. Cheap to make; the text is built when it is read."""

    def __init__(self, violation: Violation, step: Step, help_line: str | None) -> None:
        super().__init__("W203", "", span=step.span, help=help_line)
        self.violation = violation
        self.step = step

    @property
    def witness(self) -> Witness:
        """The pair of iterations that proves it."""
        return self.violation.witness

    def render(self) -> str:
        """The full message, with a concrete pair of iterations."""
        kind = self.violation.dependence.kind.value
        article = "an" if kind[0] in "ao" else "a"
        self.message = f"{describe(self.step)} reverses {article} {kind} dependence"
        self.notes = (str(self.witness), *_statement_notes(self.violation))
        return super().render()


def _statement_notes(violation: Violation) -> Iterator[str]:
    seen: set[str] = set()
    for piece in (violation.source, violation.sink):
        stmt = piece.statement.stmt
        if stmt.span is not None and stmt.name not in seen:
            seen.add(stmt.name)
            yield f"{stmt.name} is at {stmt.span}" + (f": {stmt.source}" if stmt.source else "")


def describe(step: Step) -> str:
    """``interchange(i, j)``: the step as short text."""
    parts: list[str] = []
    for f in fields(step):
        value = getattr(step, f.name)
        if f.name == "span" or value == f.default:
            continue
        parts.append(", ".join(map(str, value)) if isinstance(value, tuple) else str(value))
    return f"{step.kind}({', '.join(parts)})"


def violations(
    state: ScheduledScop, order: Order, changed: frozenset[str] | None = None
) -> Iterator[Violation]:
    """Every (dependence, pair of pieces) that the state would run in the wrong order.

    Args:
        state: the pieces in their new places.
        order: the program's dependences.
        changed: only look at dependences that touch these statements; None looks at all.
    """
    pieces: dict[int, list[Piece]] = defaultdict(list)
    for piece in state.pieces:
        pieces[piece.statement.index].append(piece)
    for (source, sink), deps in order.between.items():
        if changed is not None and not _touches(state.scop.statements, source, sink, changed):
            continue
        for p in pieces[source]:
            for q in pieces[sink]:
                for dep in deps:
                    bad = _reversed_pairs(dep, p, q)
                    if bad is not None:
                        yield Violation(dep, p, q, bad)


def _touches(
    statements: tuple[Statement, ...], source: int, sink: int, changed: frozenset[str]
) -> bool:
    return statements[source].name in changed or statements[sink].name in changed


def shared_levels(p: Piece, q: Piece) -> int:
    """How many loops two pieces share."""
    limit = min(len(p.dims), len(q.dims))
    n = 0
    while n < limit and p.place[n] == q.place[n]:
        n += 1
    return n


def _reversed_pairs(dep: Dependence, p: Piece, q: Piece) -> isl.Map | None:
    """The pairs (iteration of p, iteration of q) that run in the wrong order, None if none."""
    shared = shared_levels(p, q)
    # With all shared loops equal, the static place decides.
    tie_ok = p is not q and p.place[shared] < q.place[shared]
    if shared == 0 and tie_ok:
        return None
    pairs = dep.pairs.apply_domain(p.times).apply_range(q.times)
    if shared == 0:
        return None if pairs.is_empty() else pairs
    deltas = (
        pairs.project_out(isl.dim_type.in_, shared, len(p.dims) - shared)
        .project_out(isl.dim_type.out, shared, len(q.dims) - shared)
        .deltas()
    )
    bad = deltas.intersect(_not_positive(shared, strict=not tie_ok))
    if bad.is_empty():
        return None
    order = _lex_order(len(p.dims), len(q.dims), shared, not tie_ok)
    return pairs.intersect(order)


@lru_cache(maxsize=64)
def _not_positive(n: int, strict: bool) -> isl.Set:
    """Integer vectors that are lexicographically negative, with zero if ``strict``."""
    names = [f"x{k}" for k in range(n)]
    cases = [
        " and ".join([f"{name} = 0" for name in names[:k]] + [f"{names[k]} < 0"]) for k in range(n)
    ]
    if strict:
        cases.append(" and ".join(f"{name} = 0" for name in names))
    return isl.Set(f"{{ [{', '.join(names)}] : {' or '.join(f'({c})' for c in cases)} }}")


@lru_cache(maxsize=64)
def _lex_order(n_in: int, n_out: int, shared: int, strict: bool) -> isl.Map:
    """Pairs of iterations whose first ``shared`` loops say that the second runs first."""
    a, b = [f"a{k}" for k in range(n_in)], [f"b{k}" for k in range(n_out)]
    cases = [
        " and ".join([f"{a[i]} = {b[i]}" for i in range(k)] + [f"{b[k]} < {a[k]}"])
        for k in range(shared)
    ]
    if strict:
        cases.append(" and ".join(f"{a[i]} = {b[i]}" for i in range(shared)))
    text = " or ".join(f"({c})" for c in cases)
    return isl.Map(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {text} }}")
