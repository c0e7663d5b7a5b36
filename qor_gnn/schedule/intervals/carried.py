"""Loop-carried dependences of a pipelined nest: iterations from a store to a load of its element.

Accesses of one shape are compared by arithmetic. Where the subscripts of the two move differently
(``L[t, c]`` and ``L[t - 1, 7 - c]``), or hold a remainder, isl says how near they come, over the
loops' own bounds (`polyhedral.dependences.least_distance`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import gcd, lcm

from dsl.expressions.affine import Affine, Atom, Constraint, FloorDiv
from polyhedral.dependences.axes import Axis, Spot
from polyhedral.dependences.least_distance import least_distance
from qor_gnn.body.graph import When
from qor_gnn.design.region import Loop
from qor_gnn.memory.addresses import Addresses, Terms


def starts_anywhere(loop: Loop) -> bool:
    """Where the loop begins is no constant: its counter stands for what it has passed since then."""
    return not all(b.is_const for b in loop.lowers)


@dataclass(slots=True)
class Nest:
    """The loops that run as one pipeline, outermost first, and those around it.

    Attributes:
        trips: iterations of each counter of the pipeline, at the most.
        loops: every loop of the design by its variable.
        env: variables around the pipeline in terms of counters.
        copies: of the innermost loop's body in an iteration.
        independent: arrays of which the tool is told that iterations do not depend on each other through them.
    """

    trips: Mapping[str, int]
    loops: Mapping[str, Loop] = field(default_factory=dict)
    env: Mapping[str, Affine] = field(default_factory=dict)
    copies: int = 1
    independent: frozenset[str] = frozenset()
    _found: dict[tuple[object, ...], int | None] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        """The counters, outermost first."""
        return tuple(self.trips)

    def distance(
        self,
        shapes: tuple[int, int],
        terms: tuple[Sequence[Terms], Sequence[Terms]],
        offsets: tuple[int, ...],
        when: tuple[When, When],
    ) -> int | None:
        """Iterations from a store to the next load of its element, by isl.

        Args:
            shapes: numbers of the shapes of the store and of the load, under which the answer is
                remembered.
            terms: of the subscripts of each.
            offsets: per dimension the constant of the load less that of the store.
            when: iterations in which the store and the load are made.
        """
        key = (*shapes, offsets, when)
        if key not in self._found:
            self._found[key] = self._asked(terms, offsets, when)
        return self._found[key]

    def _asked(
        self,
        terms: tuple[Sequence[Terms], Sequence[Terms]],
        offsets: tuple[int, ...],
        when: tuple[When, When],
    ) -> int | None:
        stored = tuple(self._rewritten(Affine(t)) for t in terms[0])
        loaded = tuple(
            self._rewritten(Affine(t, c)) for t, c in zip(terms[1], offsets, strict=True)
        )
        if any(_apart(*pair) for pair in zip(stored, loaded, strict=True)):
            return None
        axes = tuple(self._axis(v) for v in self.trips)
        ends = (Spot(stored, self._guard(when[0])), Spot(loaded, self._guard(when[1])))
        outer: dict[str, Axis] = {}
        asked = [*stored, *loaded, *(b for a in axes for b in (*a.lowers, *a.uppers))]
        while asked:
            for v in sorted(asked.pop().variables() - self.trips.keys() - outer.keys()):
                outer[v] = self._axis(v)
                asked += [*outer[v].lowers, *outer[v].uppers]
        return least_distance(tuple(outer.values()), axes, *ends)

    def _guard(self, when: When) -> tuple[Constraint, ...]:
        """What is known of the innermost counter where a statement around its loop runs."""
        inner = self.variables[-1]
        if when not in ("first", "last") or self.runs_free(inner):
            return ()
        last = self.trips[inner] - 1 if when == "last" else 0
        return (Constraint(Affine.of(inner) - last, "=="),)

    def runs_free(self, v: str) -> bool:
        """The bounds of a loop are no constants: its variable stands for its first copy."""
        loop = self.loops.get(v)
        return loop is not None and loop.constant_trips is None

    def _step(self, v: str) -> int:
        """By how much a variable that stands for its loop's first copy moves in an iteration."""
        return self._copies(v) * self.loops[v].step if self.runs_free(v) else 1

    def _copies(self, v: str) -> int:
        loop = self.loops[v]
        if v in self.trips:
            return self.copies if v == self.variables[-1] else 1
        return loop.factor

    def _axis(self, v: str) -> Axis:
        """A loop over its counter, or over its variable if its bounds are no constants."""
        if v in self.trips and not self.runs_free(v):
            return Axis(v, (Affine(()),), (Affine((), self.trips[v]),))
        loop = self.loops.get(v)
        if loop is None:  # an argument: it may be anything
            return Axis(v, (), ())
        copies = self._copies(v)
        if loop.constant_trips is not None:
            return Axis(v, (Affine(()),), (Affine((), -(-loop.trips.maximum // copies)),))
        lowers, uppers = (
            tuple(self._rewritten(b.substitute(self.env)) for b in bounds)
            for bounds in (loop.lowers, loop.uppers)
        )
        return Axis(v, lowers, uppers, copies * loop.step)

    def _rewritten(self, e: Affine) -> Affine:
        """An expression of counters with the variables of loops without constant bounds instead."""
        total = Affine((), e.const)
        for atom, k in e.terms:
            total = total + self._term(atom, k)
        return total

    def _term(self, atom: Atom, k: int) -> Affine:
        if isinstance(atom, FloorDiv):
            # What a counter passes in a step may be cancelled from a division: put back here.
            scale = lcm(*(self._step(v) for v in atom.numerator.variables()))
            return (self._rewritten(atom.numerator * scale) // (atom.denominator * scale)) * k
        if not self.runs_free(atom):
            return Affine(((atom, k),))
        loop, step = self.loops[atom], self._step(atom)
        begins = 0 if starts_anywhere(loop) else max(b.const for b in loop.lowers)
        if k % step:  # a division has taken the step away: j // 3 of every third j is a counter
            return ((Affine.of(atom) - begins) // step) * k
        return Affine(((atom, k // step),), -(k // step) * begins)


def carried_distance(
    table: Addresses,
    stored: int,
    loaded: int,
    nest: Nest,
    when: When = "always",
    wanted: When = "always",
) -> int | None:
    """Iterations from a store to the next load of the same element; None where there is none.

    Both run in every iteration of the nest, or only where ``when`` (the store) and ``wanted`` (the
    load) say. Never more than what the iterations have; less where the tool cannot tell elements
    apart.
    """
    s, t = table.shape(stored), table.shape(loaded)
    if s.memory != t.memory or table.memory(stored).name in nest.independent:
        return None
    if s.memory in table.cancelled:
        return 1
    variables, trips = nest.variables, nest.trips
    ends = (when, wanted)
    if s.terms != t.terms or wanted != "always":
        return _between_shapes(table, stored, loaded, nest, ends)
    steps: dict[str, int] = {}
    pairs = zip(s.terms, table.consts[stored], table.consts[loaded], strict=True)
    for dim, (terms, c, d) in enumerate(pairs):
        if dim in dissolved(table, stored, variables):
            continue  # this subscript tells nothing
        if c != d and table.blurs(terms):
            continue  # this subscript tells nothing
        moving = [(a, k) for a, k in terms if a in trips]
        if any(
            not isinstance(a, str) and Affine(((a, 1),)).variables() & trips.keys()
            for a, _ in terms
        ):
            return _between_shapes(table, stored, loaded, nest, ends)
        if not moving:
            if c != d:
                return None
        elif len(moving) == 1:
            atom, k = moving[0]
            if (c - d) % k:
                return None
            step = (c - d) // k
            if steps.setdefault(str(atom), step) != step:
                return None
        elif (c - d) % gcd(*(k for _, k in moving)):
            return None
        elif c == d and _digits(moving, trips):
            if any(steps.setdefault(str(atom), 0) for atom, _ in moving):
                return None
        else:
            return _between_shapes(table, stored, loaded, nest, ends)
    return _least_positive(steps, variables, trips)


def _between_shapes(
    table: Addresses, stored: int, loaded: int, nest: Nest, when: tuple[When, When]
) -> int | None:
    """The distance where arithmetic on equal subscripts does not give it."""
    s, t = table.shape(stored), table.shape(loaded)
    unseen = dissolved(table, stored, nest.variables)
    told = [
        d
        for d, terms in enumerate(s.terms)
        if d not in unseen
        and not (table.consts[stored][d] != table.consts[loaded][d] and table.blurs(terms))
    ]
    offsets = tuple(table.consts[loaded][d] - table.consts[stored][d] for d in told)
    terms = [s.terms[d] for d in told], [t.terms[d] for d in told]
    shapes = (table.shape_of[stored], table.shape_of[loaded])
    return nest.distance(shapes, terms, offsets, when)


def _apart(stored: Affine, loaded: Affine) -> bool:
    """No values of the variables, not the same ones on both sides, make two subscripts equal."""
    step = gcd(*(k for _, k in (*stored.terms, *loaded.terms)))
    offset = loaded.const - stored.const
    return bool(offset % step if step else offset)


def _digits(moving: Sequence[tuple[Atom, int]], trips: Mapping[str, int]) -> bool:
    """The counters are the digits of the subscript: no two of their states give the same one."""
    reach = 0
    for atom, k in sorted(moving, key=lambda term: abs(term[1])):
        if abs(k) <= reach:
            return False
        reach += abs(k) * (trips[str(atom)] - 1)
    return True


def dissolved(table: Addresses, address: int, variables: tuple[str, ...]) -> frozenset[int]:
    """Dimensions that the tool has split completely, where the innermost counter of a flattened nest
    chooses the bank, and another one the word in it.

    Nothing is left of such a subscript: every bank is read at the word, so that which bank it is tells the tool
    nothing of when an element is accessed again. Where no counter moves the word, each bank is one element. A loop
    that asks for some banks of the dimension itself, but not for all, keeps its accesses apart.
    """
    shape, memory = table.shape(address), table.memory(address)
    if not table.banks_hide or len(variables) < 2:
        return frozenset()
    inner, outer = variables[-1], frozenset(variables[:-1])
    return frozenset(
        d
        for d, (terms, split) in enumerate(zip(shape.terms, memory.splits, strict=True))
        if 1 < memory.shape[d] <= split.factor
        and any(_moved(t, outer) for e, t in enumerate(shape.terms) if e != d)
        and not shape.resolved[d]
        and any(a == inner and (abs(k) == 1 or 2 * abs(k) >= split.factor) for a, k in terms)
    )


def _moved(terms: Terms, counters: frozenset[str]) -> bool:
    """Some of the counters move a subscript."""
    return bool(Affine(terms).variables() & counters)


def _least_positive(
    steps: Mapping[str, int], variables: tuple[str, ...], trips: Mapping[str, int]
) -> int | None:
    """The least positive number of iterations with these steps; other counters are free."""
    best: int | None = None
    choices = [
        (steps[v],) if v in steps else tuple({0, min(1, trips[v] - 1), 1 - trips[v]})
        for v in variables
    ]
    for chosen in product(*choices):
        total, stride = 0, 1
        for v, step in zip(reversed(variables), reversed(chosen), strict=True):
            if abs(step) >= trips[v]:
                return None
            total += step * stride
            stride *= trips[v]
        if total > 0 and (best is None or total < best):
            best = total
    return best
