"""Which iteration of a loop makes a choice that stays: of a statement ``t = e if c else t``.

It is the last one where ``c`` holds, if nothing in the loop changes what ``c`` reads, or each iteration has
elements of its own for that, which are ready before it chooses; or the first one::

    if x[i] == key:                 # at = i if not done and x[i] == key else at
        at = i                      # done = done | x[i] == key
        break

or, beside an extremum, one that has the value which is the extremum in the end::

    if x[i] < best:                 # cond = x[i] < best
        best = x[i]                 # best = min(best, x[i])
        at = i                      # at = i if cond else at

of these the first where only what is less replaces it, the last where what is as small does, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from dsl.expressions import typing
from dsl.expressions.affine import Affine
from dsl.expressions.choices import both, parts_of
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Select,
    Unary,
    UnaryOp,
    loads,
    map_leaves,
    walk,
)
from dsl.expressions.types import boolean
from dsl.programs.located import Match, trips
from dsl.programs.program import If, Loop, Program, Stmt, Storage


class NoMatchError(Exception):
    """No iteration is known to make the choice; the text says why."""


def match_of(program: Program, name: str, level: int) -> Match:
    """Which iteration makes the choice of a statement.

    Args:
        program: the kernel.
        name: the statement.
        level: of its loops, the outermost that is searched, counted from the outermost.

    Raises:
        NoMatchError: none is known to.
    """
    choice = _Choice.of(program, name, level)
    choice.check()
    value = choice.stmt.value
    if not isinstance(value, Select) or value.orelse != Load(choice.target, value.orelse.dtype):
        raise NoMatchError(f"{name} is no choice between a value and what {choice.target} was")
    condition, chosen = (choice.resolved(x, choice.stmt) for x in (value.cond, value.then))
    choice.check_value(chosen)
    parts = parts_of(condition)
    moving = [p for p in parts if choice.changes(p)]
    rest = tuple(p for p in parts if p not in moving)
    if not moving:
        found = Match(condition, chosen)
    elif len(moving) > 1:
        raise NoMatchError(f"{_written(moving, choice)} are changed in '{choice.loop.var}'")
    elif (flag := _opposite_bit(moving[0])) is not None:
        found = _first_before(choice, flag, rest, chosen)
    else:
        found = _extreme(choice, moving[0], rest, chosen)
    read = (*loads(found.condition), *loads(found.value))
    if any(choice.may_be(a, choice.target) for a in read):
        raise NoMatchError(f"{name} reads {choice.target} to choose")
    return found


@dataclass(frozen=True, slots=True)
class _Choice:
    """The statement, what is around it, and all statements of the searched loop, in order."""

    program: Program
    stmt: Stmt
    around: tuple[Loop | If, ...]
    level: int
    inside: tuple[tuple[Stmt, tuple[Loop | If, ...]], ...]

    @staticmethod
    def of(program: Program, name: str, level: int) -> _Choice:
        every = [(n, around) for n, around in program.walk() if isinstance(n, Stmt)]
        stmt, around = next(one for one in every if one[0].name == name)
        loop = [a for a in around if isinstance(a, Loop)][level]
        inside = tuple(one for one in every if any(a is loop for a in one[1]))
        return _Choice(program, stmt, around, level, inside)

    @property
    def target(self) -> Access:
        return self.stmt.target

    @property
    def loops(self) -> list[Loop]:
        return [a for a in self.around if isinstance(a, Loop)]

    @property
    def loop(self) -> Loop:
        return self.loops[self.level]

    def check(self) -> None:
        """The loops are of constant bounds, and the element is chosen in them by this statement alone."""
        searched = self.loops[self.level :]
        for loop in searched:
            if not trips(loop):
                raise NoMatchError(f"the iterations of '{loop.var}' are no constant number")
        used = {v for index in self.target.indices for v in index.variables()}
        for loop in searched:
            if loop.var in used:
                raise NoMatchError(f"{self.target} is another element along '{loop.var}'")
        if any(index.is_data for index in self.target.indices):
            raise NoMatchError(f"{self.target} is an element that data choose")
        array = self.program.array(self.target.array)
        if array.scope_depth > self.level:
            raise NoMatchError(f"'{array.name}' is another one in each iteration")
        for other, _ in self.inside:
            touched = (other.target, *loads(other.value))
            if other.name != self.stmt.name and any(self.may_be(a, self.target) for a in touched):
                raise NoMatchError(f"{other.name} accesses {self.target} in '{self.loop.var}'")

    def check_value(self, value: Expr) -> None:
        """What is chosen is known behind the loop from the number of the iteration."""
        variables = {loop.var for loop in self.loops[self.level :]}
        for part in walk(value):
            if isinstance(part, Gather):
                raise NoMatchError(f"what is chosen is read at a computed place of {part.access}")
            if not isinstance(part, Load):
                continue
            used = {v for index in part.access.indices for v in index.variables()}
            if used & variables or self.changes(part):
                raise NoMatchError(f"what is chosen is read from {part.access}, not computed")

    def may_be(self, a: Access, b: Access) -> bool:
        """Whether both may be one element, in different iterations too."""
        if a.array != b.array:
            return False
        variables = {loop.var for loop in self.loops[self.level :]}
        differences = (
            x - y
            for x, y in zip(a.indices, b.indices, strict=True)
            if not variables & (x.variables() | y.variables())
        )
        return not any(d.is_const and d.const != 0 for d in differences)

    def changes(self, expr: Expr) -> bool:
        """Whether the loop changes what an expression reads, but for what is an iteration's own."""
        return any(self.is_changed(a) and not self.is_own(a) for a in loads(expr))

    def is_own(self, access: Access) -> bool:
        """Whether no iteration assigns the element of another one, and it can be read behind the loops."""
        if self.program.array(access.array).scope_depth > self.level:
            return False
        places = [n for n, index in enumerate(access.indices) if _counts(index)]
        told = {v for n in places for v in access.indices[n].variables()}
        if not {loop.var for loop in self.loops[self.level :]} <= told:
            return False
        writing = (s.target for s, _ in self.inside if s.target.array == access.array)
        return all(t.indices[n] == access.indices[n] for t in writing for n in places)

    def is_changed(self, access: Access) -> bool:
        """Whether the loop may assign an element."""
        return any(self.may_be(s.target, access) for s, _ in self.inside)

    def place(self, stmt: Stmt) -> int:
        return next(n for n, (s, _) in enumerate(self.inside) if s.name == stmt.name)

    def beside(self, access: Access) -> Stmt:
        """The one statement of the loop that changes an element, in the same body as the choice."""
        writing = [one for one in self.inside if self.may_be(one[0].target, access)]
        if len(writing) != 1 or writing[0][0].target != access or not self._is_beside(*writing[0]):
            raise NoMatchError(f"{access} is changed in other places, too")
        return writing[0][0]

    def _is_beside(self, stmt: Stmt, around: tuple[Loop | If, ...]) -> bool:
        if len(around) != len(self.around):
            return False
        if any(a is not b for a, b in zip(around, self.around, strict=True)):
            return False
        return _side(around[-1], stmt) == _side(around[-1], self.stmt)

    def resolved(self, expr: Expr, at: Stmt) -> Expr:
        """The expression with the values of scalars of one iteration in place of these.

        Raises:
            NoMatchError: it reads another extremum or flag than there is in front of the iteration.
        """

        def leaf(x: Const | Load | Index) -> Expr:
            if not isinstance(x, Load) or x.access.indices:
                return x
            array = self.program.array(x.access.array)
            is_own = array.storage is Storage.LOCAL and array.scope_depth > self.level
            if not is_own:
                self._check_not_yet(x.access, at)
                return x
            stmt = self.beside(x.access)
            if self.place(stmt) >= self.place(at):
                raise NoMatchError(f"'{array.name}' is read before it is assigned")
            return typing.cast(array.dtype, self.resolved(stmt.value, stmt))

        for access in loads(expr):
            if access.indices:
                self._check_not_yet(access, at)
        return map_leaves(expr, leaf)

    def _check_not_yet(self, access: Access, at: Stmt) -> None:
        """What is read is the same behind the loops: not assigned in front of it, or from there on no more."""
        place = self.place(at)
        for stmt, _ in self.inside[place:] if self.is_own(access) else self.inside[:place]:
            if self.may_be(stmt.target, access):
                when = "after" if self.place(stmt) >= place else "before"
                raise NoMatchError(f"{stmt.name} changes {access} {when} it is read")


def _counts(index: Affine) -> bool:
    """Whether a subscript is another number for each value of the one loop variable in it."""
    return len(index.terms) == 1 and isinstance(index.terms[0][0], str)


def _side(parent: Loop | If, stmt: Stmt) -> int:
    """In which body of what is around it a statement stands."""
    if isinstance(parent, Loop):
        return 0
    return 0 if any(n is stmt for n in parent.then) else 1


def _first_before(choice: _Choice, flag: Load, rest: tuple[Expr, ...], value: Expr) -> Match:
    """The first iteration where the flag's condition holds: from then on it is 1."""
    setting = choice.beside(flag.access)
    found = setting.value
    if not isinstance(found, Binary) or found.op is not BinaryOp.OR or found.lhs != flag:
        raise NoMatchError(f"{setting.name} may make '{flag.access}' 0 again")
    if choice.place(setting) < choice.place(choice.stmt):
        raise NoMatchError(f"{setting.name} changes '{flag.access}' before it is read")
    when = parts_of(choice.resolved(found.rhs, setting))
    if set(when) != set(rest) or any(map(choice.changes, rest)):
        raise NoMatchError(f"{setting.name} ends the loop under another condition")
    return Match(reduce(both, rest), value, True, flag, dead=_flag_dead(choice, setting))


def _flag_dead(choice: _Choice, setting: Stmt) -> frozenset[str]:
    """The statement that sets the flag, where the choice alone asks for it."""
    array = setting.target.array
    readers = {
        s.name for s in choice.program.statements() for a in loads(s.value) if a.array == array
    }
    own = choice.program.array(array).storage is Storage.LOCAL
    needed = not own or not readers <= {setting.name, choice.stmt.name}
    return frozenset() if needed else frozenset({setting.name})


def _extreme(choice: _Choice, part: Expr, rest: tuple[Expr, ...], value: Expr) -> Match:
    """The iteration that has the extremum."""
    if not isinstance(part, Compare):
        raise NoMatchError(f"{_written([part], choice)} is changed in '{choice.loop.var}'")
    sides = [(part.rhs, part.lhs, part.op), (part.lhs, part.rhs, _turned(part.op))]
    for old, candidate, op in sides:
        if not isinstance(old, Load) or not choice.is_changed(old.access):
            continue
        if choice.changes(candidate):
            break
        kind = {CompareOp.LT: BinaryOp.MIN, CompareOp.LE: BinaryOp.MIN}.get(op, BinaryOp.MAX)
        if op in (CompareOp.EQ, CompareOp.NE):
            break
        setting = choice.beside(old.access)
        if choice.place(setting) < max(map(choice.place, _reading(choice, old.access))):
            break
        updates = _updated(choice.resolved(setting.value, setting), kind, old)
        if updates is None or updates != _under(rest, candidate, updates):
            break
        improved = op in (CompareOp.LT, CompareOp.GT)
        condition = reduce(both, rest, typing.compare(CompareOp.EQ, candidate, old))
        dead = _dead(choice)
        return Match(condition, value, improved, None, old, improved, dead)
    raise NoMatchError(f"{_written([part], choice)} is no minimum or maximum of what it compares")


def _reading(choice: _Choice, wanted: Access) -> Iterator[Stmt]:
    """The statements that the choice comes from, those that read an element."""
    pending, seen = [choice.stmt], set()
    while pending:
        stmt = pending.pop()
        seen.add(stmt.name)
        for access in loads(stmt.value):
            if access == wanted:
                yield stmt
            for other, _ in choice.inside:
                own = choice.program.array(other.target.array).scope_depth > choice.level
                if own and other.target.array == access.array and other.name not in seen:
                    pending.append(other)


def _updated(value: Expr, kind: BinaryOp, old: Load) -> Expr | None:
    """``e`` of ``min(old, e)``, ``max(old, e)``."""
    if not isinstance(value, Binary) or value.op is not kind:
        return None
    return value.rhs if value.lhs == old else value.lhs if value.rhs == old else None


def _under(rest: tuple[Expr, ...], candidate: Expr, updates: Expr) -> Expr | None:
    """What updates the extremum, if it is the candidate where the other conditions hold and else what never is
    an extremum: a constant at the end of the type.
    """
    if not rest:
        return candidate
    if not isinstance(updates, Select):
        return None
    where = set(parts_of(updates.cond))
    taken, left = updates.then, updates.orelse
    if where != set(rest):
        where, taken, left = {typing.unary(UnaryOp.NOT, updates.cond)}, left, taken
    is_candidate = where == set(rest) and taken == typing.cast(taken.dtype, candidate)
    return updates if is_candidate and isinstance(left, Const) else None


def _dead(choice: _Choice) -> frozenset[str]:
    """The statements that compute conditions for the choice alone."""
    found: set[str] = set()
    for access in loads(choice.stmt.value):
        readers = {
            s.name
            for s in choice.program.statements()
            if access.array in {a.array for a in loads(s.value)}
        }
        array = choice.program.array(access.array)
        own = array.storage is Storage.LOCAL and array.scope_depth > choice.level
        if own and readers == {choice.stmt.name}:
            found |= {s.name for s, _ in choice.inside if s.target.array == access.array}
    return frozenset(found)


def _turned(op: CompareOp) -> CompareOp:
    pairs = {CompareOp.LT: CompareOp.GT, CompareOp.LE: CompareOp.GE}
    return {**pairs, **{b: a for a, b in pairs.items()}}.get(op, op)


def _opposite_bit(expr: Expr) -> Load | None:
    """The bit of ``not bit``."""
    match expr:
        case Unary(UnaryOp.NOT, Load() as bit) if bit.dtype == boolean:
            return bit
        case _:
            return None


def _written(parts: list[Expr], choice: _Choice) -> str:
    return ", ".join(dict.fromkeys(str(a) for p in parts for a in loads(p) if choice.is_changed(a)))
