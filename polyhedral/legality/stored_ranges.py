"""Ranges of what integer elements, and scalars of all types, hold, from all that is written to them, whatever the data are.

Of an array it is one range for all elements; of a scalar one for each place of the program, so that what follows
``if index > 88: index = 88`` knows of it::

    for i in range(64):
        step = STEP[index]        # index is 0 to 88 here
        index += CHANGE[code[i]]  # -1 to 96
        if index < 0: index = 0
        if index > 88: index = 88
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import cast

from dsl.expressions.expr import Access, Const, Expr, loads, walk
from dsl.expressions.real_range import converted
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.value_range import Range, type_range
from dsl.programs.program import If, Loop, Node, Program, Stmt, Storage, statements_in
from polyhedral.legality.counters import Counters
from polyhedral.legality.flags import meant, resolved_values
from polyhedral.legality.scalar_cases import (
    Case,
    Cases,
    Choice,
    hull,
    joined,
    limited,
    range_in,
    split,
)

PLAIN = 3  # passes before ends that grow are moved to the next limit, and between two such moves of all arrays
MOST_PASSES = 60  # after which an end that grows is that of the type
MOST_LIMITS = 256


class StoredRanges:
    """Ranges of the values of a program; of arguments those of their types.

    They are the least that hold themselves: from nothing, what statements write from what is in the ranges so far is
    added until nothing is new. An end that keeps growing is moved to the next number that the program compares with.
    """

    def __init__(
        self,
        program: Program,
        loops: Mapping[str, Mapping[str, Range]] | None = None,
        own: Collection[str] = (),
    ) -> None:
        """Find them.

        Args:
            program: the kernel.
            loops: ranges of the variables around each statement, without statements that never run.
            own: arguments of which nothing is read that the program has not written.
        """
        self.loops = all_loop_ranges(program) if loops is None else loops
        self.types = {
            a.name: a.dtype
            for a in program.arrays
            if (a.storage is Storage.LOCAL or a.name in own)
            and (isinstance(a.dtype, IntType) or not a.shape)
        }
        self.tables = {
            a.name: (min(a.contents), max(a.contents))
            for a in program.tables
            if isinstance(a.dtype, IntType)
        }
        resolved = resolved_values(program)
        self.values = resolved.values
        self._choices = {
            name: Choice(value, resolved.meanings.get(name, {}))
            for name, value in resolved.choices.items()
        }
        self.counters = Counters(program, all_loop_ranges(program), self.values)
        self.known: dict[str, Range] = {}
        self._scalars = {a.name for a in program.arrays if a.name in self.types and not a.shape}
        self._read = {
            s.name: tuple(
                {
                    a.array
                    for value in (self.values[s.name], self._choices[s.name].value)
                    for a in loads(value)
                    if a.array in self.types
                }
            )
            for s in program.statements()
        }
        self._limits = _limits(program, self.values)
        self._at: dict[str, Cases] = {}
        self._heads: dict[int, Case] = {}
        self._found: dict[str, dict[object, list[tuple[Case, Range]]]] = defaultdict(dict)
        self._settle(program)

    def stored(self, access: Access, dtype: DType, at: str = "") -> Range:
        """Of what an access reads, anywhere or in the statement ``at``."""
        if access.array in self.tables:
            return self.tables[access.array]
        here = joined(self._at.get(at, ())).get(access.array)
        return here or self.known.get(access.array, type_range(dtype))

    def range_of(self, value: Expr, at: str) -> Range:
        """Of an integer expression in the statement ``at``, in which flags stand as in `choice`."""
        told = meant(value, self._choices[at].meanings)
        found = [self._in_case(value, told, case, at) for case in self._at.get(at) or ({},)]
        return min(low for low, _ in found), max(high for _, high in found)

    def _in_case(self, value: Expr, told: Expr, case: Case, at: str) -> Range:
        ranges = [range_in(v, case, self.loops[at], self.stored) for v in (value, told)]
        low, high = max(low for low, _ in ranges), min(high for _, high in ranges)
        return (low, high) if low <= high else ranges[0]

    def choice(self, at: str) -> Expr:
        """What the statement ``at`` assigns, in which flags stand that are what they were set to."""
        return self._choices[at].value

    def _settle(self, program: Program) -> None:
        number, self._changed = 0, True
        while self._changed:
            number += 1
            self._changed, self._pass = False, number
            self._block(program.body, ({},))
            if not self._changed:
                # What nothing has written yet is written by statements that are not understood, if it is read at all.
                for name in {n for s in self.loops for n in self._read[s]} - self.known.keys():
                    self.known[name] = type_range(self.types[name])
                    self._changed = True

    def _block(self, nodes: tuple[Node, ...], now: Cases) -> Cases:
        """What scalars hold behind a block."""
        for node in nodes:
            match node:
                case Stmt() if node.name in self.loops:
                    now = self._after(node, now)
                case Loop(body=body):
                    now = self._looped(node, body, now)
                case If(then=then, orelse=orelse):
                    now = limited((*self._block(then, now), *self._block(orelse, now)))
                case _:
                    pass
        return now

    def _looped(self, loop: Loop, body: tuple[Node, ...], now: Cases) -> Cases:
        """What scalars hold behind a loop: those that it changes in all cases the same, the others as in front of it."""
        changed = {s.target.array for node in body for s in statements_in(node)} & self._scalars
        head = self._heads.get(id(loop), {})
        first = _only(joined((*now, head)), changed)
        end = joined(self._block(body, limited([{**_without(c, changed), **first} for c in now])))
        self._heads[id(loop)] = self._grown(head, _only(end, changed))
        last = _only(joined((first, end)), changed)
        return limited([{**_without(case, changed), **last} for case in now])

    def _after(self, stmt: Stmt, now: Cases) -> Cases:
        """What scalars hold behind a statement; arrays get what it writes."""
        now = tuple(self._counted(case, stmt) for case in now)
        self._at[stmt.name] = limited([self._part(case, stmt) for case in now])
        name = stmt.target.array
        if name not in self.types:
            return now
        found: list[Case] = []
        for case in now:
            for part, new in self._outcomes(stmt, self._part(case, stmt)):
                self._note(name, new)
                found.append({**case, **part, name: new} if name in self._scalars else case)
        return limited(found) if found else now

    def _part(self, case: Case, stmt: Stmt) -> Case:
        """What a statement reads of a case."""
        return {n: case[n] for n in self._read[stmt.name] if n in case}

    def _outcomes(self, stmt: Stmt, case: Case) -> list[tuple[Case, Range]]:
        """What a statement writes in a case, and in which cases of it; nothing where it reads what is not written yet."""
        others = [n for n in self._read[stmt.name] if n not in self._scalars]
        if len(case) + len(others) < len(self._read[stmt.name]) or any(
            n not in self.known for n in others
        ):
            return []
        key = (*sorted(case.items()), *(self.known[n] for n in others))
        if key not in self._found[stmt.name]:
            self._found[stmt.name][key] = self._written(stmt, case)
        return self._found[stmt.name][key]

    def _note(self, name: str, new: Range) -> None:
        """What a statement may write to an array or a scalar."""
        held = self.known.get(name)
        if held is not None and hull(held, new) == held:
            return
        self._changed = True
        found = new if held is None else hull(held, new)
        moves = name not in self._scalars and self._pass > PLAIN
        self.known[name] = self._widened(name, held, found) if moves else found

    def _counted(self, case: Case, stmt: Stmt) -> Case:
        """A case where a statement reads it: counters have not got further than so many iterations."""
        found = dict(case)
        for name in self._read[stmt.name]:
            counted = self.counters.range_of(name, stmt.name) if name in case else None
            if counted is not None:
                low, high = max(case[name][0], counted[0]), min(case[name][1], counted[1])
                found[name] = (low, high) if low <= high else case[name]
        return found

    def _grown(self, head: Case, end: Case) -> Case:
        """What iterations leave to those behind them, with the ends moved that have grown for some passes."""
        found = dict(head)
        for name, held in end.items():
            before = head.get(name)
            joined = held if before is None else hull(before, held)
            if joined == before:
                continue
            self._changed = True
            moves = before is not None and self._pass > PLAIN and self._pass % PLAIN == 0
            found[name] = self._widened(name, before, joined) if moves else joined
        return found

    def _widened(self, name: str, before: Range | None, now: Range) -> Range:
        """Each end that has grown at the next limit; at last at what a counter counts to, and what the type holds."""
        low, high = self.counters.range_of(name) or type_range(self.types[name])
        if before is None or self._pass > MOST_PASSES:
            return (
                low if before is None or now[0] < before[0] else now[0],
                high if before is None or now[1] > before[1] else now[1],
            )
        least, most = now
        if least < before[0]:
            place = bisect.bisect_right(self._limits, least)
            least = max(low, self._limits[place - 1]) if place else low
        if most > before[1]:
            place = bisect.bisect_left(self._limits, most)
            most = min(high, self._limits[place]) if place < len(self._limits) else high
        return min(least, now[0]), max(most, now[1])

    def _written(self, stmt: Stmt, case: Case) -> list[tuple[Case, Range]]:
        name, value, loops = stmt.target.array, self.values[stmt.name], self.loops[stmt.name]
        whole, counted = type_range(self.types[name]), self.counters.range_of(name)
        dtype = self.types[name]
        if isinstance(dtype, IntType) and not isinstance(value.dtype, IntType | IndexType):
            return [(case, whole)]
        if name in self._scalars:
            parts = split(value, self._choices[stmt.name], case, loops, self.stored)
        else:
            parts = [(case, range_in(value, case, loops, self.stored))]
        found: list[tuple[Case, Range]] = []
        for part, held in parts:
            low, high = held if isinstance(dtype, IntType) else cast(Range, converted(held, dtype))
            if counted is not None:
                low, high = max(low, counted[0]), min(high, counted[1])
            fits = whole[0] <= low <= high <= whole[1]
            found.append((part, (low, high) if fits else whole))
        return found


def _only(case: Case, names: set[str]) -> Case:
    return {name: held for name, held in case.items() if name in names}


def _without(case: Case, names: set[str]) -> Case:
    return {name: held for name, held in case.items() if name not in names}


def _limits(program: Program, values: Mapping[str, Expr]) -> list[int]:
    """Numbers at which ranges are likely to end: constants, extents, and what is next to them."""
    found = {extent for a in program.arrays for extent in a.shape}
    for value in values.values():
        found |= {
            int(e.value) for e in walk(value) if isinstance(e, Const) and math.isfinite(e.value)
        }
    near = sorted({n + d for n in found for d in (-1, 0, 1)})
    return near if len(near) <= MOST_LIMITS else near[:: len(near) // MOST_LIMITS + 1]


def all_loop_ranges(program: Program) -> Mapping[str, Mapping[str, Range]]:
    """Ranges of the variables of the loops around each statement, conditions left out."""
    return {
        node.name: _loop_ranges([a for a in around if isinstance(a, Loop)])
        for node, around in program.walk()
        if isinstance(node, Stmt)
    }


def _loop_ranges(loops: list[Loop]) -> Mapping[str, Range]:
    found: dict[str, Range] = {}
    for loop in loops:
        low = max(b.interval(found)[0] for b in loop.lowers)
        high = min(b.interval(found)[1] for b in loop.uppers)
        found[loop.var] = (low, max(low, high - 1))
    return found
