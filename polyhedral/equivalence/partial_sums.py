"""Does a program with partial sums add up what the program without them accumulates?

The step makes ``X[f] = X[f] op e`` (S) into three statements over accumulators Z: one starts them (I),
S accumulates into them, one adds them to X (U). For each accumulator what runs must be I, then any
number of S, then U, and so on; each iteration of S must reach, through one U, the element of X that it
accumulates into in the program as it was written; and what else touches X must run before or after U
as it runs before or after S there. All else must be as it was. That the order of the accumulation is
free is what the step asked for.

Of a statement whose element is data, what is shown is shown of the program that accumulates into all elements
that it may be, in both: whatever is added to those that it is not, the neutral element as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from dsl.expressions import typing
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    map_leaves,
    stored_value,
)
from dsl.programs.partial import IDEMPOTENT, elements_of
from dsl.programs.program import Array, Program, Storage, map_statements, variables_in
from polyhedral.dependences.memory_order import program_order
from polyhedral.equivalence.refutation import Refutation, source_note
from polyhedral.equivalence.relations import instance_text
from polyhedral.isl.text import coordinates, first_point
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import (
    Scop,
    Statement,
    accumulate_alike,
    build_scop,
    reduction_access,
)


def sum_of(before: Program, after: Program) -> str:
    """The statement that adds the accumulators up: in any order, as all of the sum."""
    names = {s.name for s in before.statements()}
    return next(
        s.name
        for s in reversed(after.statements())
        if s.name not in names and s.target.array in {a.name for a in before.arrays}
    )


def check_partial_sums(
    before: Program, after: Program, name: str, free: frozenset[str] = frozenset()
) -> Refutation | None:
    """Compare a program with what partial sums of one of its statements made of it.

    Args:
        before: the program.
        after: the other one.
        name: the statement.
        free: others that may accumulate in any order, by what the schedule says.
    """
    used = variables_in(before) | variables_in(after)
    old, new = (build_scop(_everywhere(each, name, used)) for each in (before, after))
    statement = old.statement(name)
    text = _other_subscripts(before, after, name) or _other_program(old, new, name)
    if text is not None:
        return _refused(statement, text)
    spread = _spread(old, new, name)
    if isinstance(spread, str):
        return _refused(statement, spread)
    return _not_in_turn(spread) or _out_of_order(spread, free)


@dataclass(frozen=True, eq=False)
class _Spread:
    """The statement without (``plain``) and with accumulators, and what starts and ends these."""

    old: Scop
    new: Scop
    plain: Statement
    sums: Statement
    start: Statement
    end: Statement
    array: str

    def before(self, first: Statement, second: Statement) -> isl.Map:
        """Iterations of two statements with one accumulator, where the first runs first."""
        mine, others = (self.new.access_map(s, self.accumulator(s)) for s in (first, second))
        same = mine.apply_range(others.reverse())
        order = program_order(first, second)
        return isl.Map.empty(same.get_space()) if order is None else same.intersect(order)

    def accumulator(self, s: Statement) -> Access:
        """The accumulator that one of the three touches."""
        accesses = (s.stmt.target, *s.reads)
        return next(a for a in accesses if a.array == self.array)


def _refused(statement: Statement, text: str, note: str = "") -> Refutation:
    notes = (*((note,) if note else ()), *source_note(statement))
    text = f"partial sums of {statement.name}: {text}"
    return Refutation("W339", text, statement.stmt.span, notes)


def _everywhere(program: Program, name: str, used: frozenset[str]) -> Program:
    """The program with a statement for all elements that it may assign to, one after the other.

    Args:
        program: one of two.
        name: the statement.
        used: names of loop variables in both.
    """
    stmt = next(s for s in program.statements() if s.name == name)
    value = stored_value(stmt.value)
    if not isinstance(stmt.value, Scatter) or not isinstance(value, Binary):
        return program
    elements = elements_of(program, stmt, "element", used)

    def one(side: Expr) -> Expr:
        is_own = isinstance(side, Gather) and side.access == stmt.target
        return Load(elements.access, side.dtype) if is_own else side

    value = replace(value, lhs=one(value.lhs), rhs=one(value.rhs))
    every = elements.around(replace(stmt, target=elements.access, value=value), stmt.span)
    body = tuple(map_statements(n, lambda s: every if s is stmt else s) for n in program.body)
    return replace(program, body=body)


def _other_subscripts(before: Program, after: Program, name: str) -> str | None:
    """Whether it is other data where the statement accumulates."""
    mine, other = (
        next(s.value for s in program.statements() if s.name == name) for program in (before, after)
    )
    if not isinstance(mine, Scatter):
        return None
    same = isinstance(other, Scatter) and other.data == mine.data
    return None if same else "it accumulates at other subscripts"


# ------------------------------------------------------------------------------- what is new


def _other_program(old: Scop, new: Scop, name: str) -> str | None:
    """What differs besides the statement, two new statements and a new local."""
    kept = [s for s in new.statements if any(s.name == t.name for t in old.statements)]
    if len(kept) != len(old.statements) or len(new.statements) != len(kept) + 2:
        return "they do not add two statements to the program"
    for mine, other in zip(old.statements, kept, strict=True):
        same = mine.name == other.name and mine.variables == other.variables
        if not same or (mine.name != name and mine.stmt != other.stmt):
            return f"{mine.name} is another statement"
    if (text := other_loops(old.statements, kept)) is not None:
        return text
    arrays = set(old.program.arrays)
    added = [a for a in new.program.arrays if a not in arrays]
    if len(added) != 1 or len(new.program.arrays) != len(arrays) + 1:
        return "they do not add one array to the program"
    if added[0].storage is not Storage.LOCAL or old.program.arguments != new.program.arguments:
        return "the arguments are other ones"
    return None


def _spread(old: Scop, new: Scop, name: str) -> _Spread | str:
    """The four statements, if they have the form that they should have; else what is wrong."""
    plain, sums = old.statement(name), new.statement(name)
    names = {s.name for s in old.statements}
    target = reduction_access(plain)
    (array,) = (a for a in new.program.arrays if a not in set(old.program.arrays))
    if target is None or sums.stmt.target.array != array.name:
        return "it does not accumulate into the accumulators"
    if array.dtype != old.program.array(target.array).dtype:
        return "the accumulators are of another type"
    touching = [s for s in new.statements if s.touches(array.name)]
    added = [s for s in new.statements if s.name not in names]
    writing = [s for s in added if s.stmt.target.array == array.name]
    ending = [s for s in added if s.stmt.target.array == target.array]
    if len(writing) != 1 or len(ending) != 1 or len(touching) != 3:
        return "the accumulators are not started once and added once"
    found = _Spread(old, new, plain, sums, writing[0], ending[0], array.name)
    return _wrong_form(found, target, array) or found


def _wrong_form(spread: _Spread, target: Access, array: Array) -> str | None:
    value, accumulated = spread.plain.stmt.value, spread.sums.stmt.value
    assert isinstance(value, Binary)

    def leaf(expr: Const | Load | Index) -> Expr:
        own = isinstance(expr, Load) and expr.access == spread.sums.stmt.target
        return Load(target, array.dtype) if own else expr

    if reduction_access(spread.sums) is None or map_leaves(accumulated, leaf) != value:
        return "it accumulates something else"
    start, end = spread.start.stmt.value, spread.end.stmt
    if value.op in IDEMPOTENT:
        if not (isinstance(start, Load) and start.access.array == target.array):
            return "the accumulators do not start from the element"
    elif start != typing.const(1 if value.op is BinaryOp.MUL else 0, array.dtype):
        return "the accumulators do not start from the neutral element"
    op = BinaryOp.ADD if value.op is BinaryOp.SUB else value.op
    own = Load(end.target, array.dtype)
    other = Load(spread.accumulator(spread.end), array.dtype)
    if end.value != typing.binary(op, own, other):
        return "the accumulators are not added up"
    return None


# ----------------------------------------------------------------------------------- in turn


def _reached(spread: _Spread) -> isl.Map:
    """Iterations of S with those of U that add what they accumulated: none of I is between."""
    s, i, u = spread.sums, spread.start, spread.end
    lost = spread.before(s, i).apply_range(spread.before(i, u))
    return spread.before(s, u).subtract(lost)


def _started(spread: _Spread) -> isl.Map:
    """Iterations of I with those of S that go on from there: none of U is between."""
    s, i, u = spread.sums, spread.start, spread.end
    added = spread.before(i, u).apply_range(spread.before(u, s))
    return spread.before(i, s).subtract(added)


def _not_in_turn(spread: _Spread) -> Refutation | None:
    """For each accumulator I, then S, then U; and each S through one U to its element."""
    s, i, u = spread.sums, spread.start, spread.end
    started, reached = _started(spread).range(), _reached(spread)
    for missing, of, text in (
        (s.domain.subtract(started), s, "goes to an accumulator that is not started"),
        (s.domain.subtract(reached.domain()), s, "is not added to any element"),
        (_images(reached), s, "is added more than once"),
        (u.domain.subtract(spread.before(i, u).range()), u, "adds what is not started"),
    ):
        if not missing.is_empty():
            return _refused(spread.plain, f"{_first(of, missing)} {text}")
    through = reached.apply_range(spread.new.access_map(u, u.stmt.target))
    target = spread.plain.stmt.target
    direct = spread.old.access_map(spread.plain, target)
    if not _anonymous(through).is_equal(_anonymous(direct)):
        other = _anonymous(through).subtract(_anonymous(direct)).domain()
        return _refused(spread.plain, f"{_first(s, other)} is added to another element")
    return _from_another_element(spread)


def _from_another_element(spread: _Spread) -> Refutation | None:
    """An accumulator that starts from an element is added to that element."""
    i, u = spread.start, spread.end
    if not isinstance(i.stmt.value, Load):
        return None
    last = spread.before(i, u).subtract(spread.before(i, i).apply_range(spread.before(i, u)))
    read = spread.new.access_map(i, i.stmt.value.access)
    same = read.apply_range(spread.new.access_map(u, u.stmt.target).reverse())
    other = last.subtract(same)
    if other.is_empty():
        return None
    return _refused(
        spread.plain, f"{_first(u, other.range())} adds what started from another element"
    )


def _images(pairs: isl.Map) -> isl.Set:
    """Those with more than one image."""
    if pairs.is_single_valued():
        return isl.Set.empty(pairs.get_space().domain())
    same = pairs.reverse().apply_range(pairs)
    other = same.subtract(isl.Map.identity(same.get_space())).domain()
    return pairs.intersect_range(other).domain()


def _anonymous(relation: isl.Map) -> isl.Map:
    """Without the names of its tuples: statements and arrays have other numbers in each program."""
    return relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)


def _first(statement: Statement, points: isl.Set) -> str:
    at = coordinates(first_point(points), len(statement.loops))
    return instance_text(statement.name, at)


# --------------------------------------------------------------------------------- the order


def _out_of_order(spread: _Spread, free: frozenset[str]) -> Refutation | None:
    """Others that touch an element are on the same side of U as of S; and those that write it on the
    same side of an I that reads it. Those that are ``free`` and accumulate by the same operator may be anywhere.
    """
    array = spread.plain.stmt.target.array
    ends, starts = _anonymous(_reached(spread)), _read_by_start(spread)
    for other in spread.old.statements:
        if other is spread.plain or not other.touches(array):
            continue
        if other.name in free and accumulate_alike(spread.plain, other):
            continue
        now = spread.new.statement(other.name)
        for access in dict.fromkeys((other.stmt.target, *other.reads)):
            if access.array != array:
                continue
            here = spread.old.access_map(spread.plain, spread.plain.stmt.target)
            same = here.apply_range(spread.old.access_map(other, access).reverse())
            later = _ordered(same, spread.plain, other)
            earlier = _ordered(same.reverse(), other, spread.plain)
            wrong = [
                _not_before(ends.reverse().apply_range(later), spread.end, now),
                _not_before(earlier.apply_range(ends), now, spread.end),
            ]
            if access is other.stmt.target:
                wrong.append(_not_before(earlier.apply_range(starts), now, spread.start))
            if not all(pairs.is_empty() for pairs in wrong):
                text = f"{other.name} touches {array} while they are added up"
                return _refused(spread.plain, text)
    return None


def _read_by_start(spread: _Spread) -> isl.Map:
    """Iterations of S with those of I whose value their accumulator started from, where that is the
    element itself.
    """
    pairs = _anonymous(_started(spread).reverse())
    reads = isinstance(spread.start.stmt.value, Load)
    return pairs if reads else isl.Map.empty(pairs.get_space())


def _ordered(same: isl.Map, first: Statement, second: Statement) -> isl.Map:
    """The pairs of which the first runs first in the program."""
    order = program_order(first, second)
    return _anonymous(isl.Map.empty(same.get_space()) if order is None else same.intersect(order))


def _not_before(pairs: isl.Map, first: Statement, second: Statement) -> isl.Map:
    """The pairs of iterations of two statements of which the first does not run first."""
    order = program_order(first, second)
    return pairs if order is None else pairs.subtract(_anonymous(order))
