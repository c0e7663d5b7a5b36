"""Does a program that reads copies of some elements, and computes some values again for them, compute what it did?

The argument:

* the statements are the same, in the same loops, but for what they read: some reads are of copies now, or of one copy or
  another by a condition of the loops;
* all that is added assigns to locals that are new. It copies, or it computes again what a statement computes in an
  iteration that it says;
* of every read that is another one, and of every read of what computes again, the last write before it (by isl, followed
  through what copies) is the one that the program had, or computes that one again. A write of what its element has
  already, as ``x = min(x, max(x, y))`` or ``x = y if i != k else x`` where ``i`` is ``k``, is not counted: what was there
  before is.

By induction over the order of the new program all values are what they were, and as its own statements alone assign to
what was there before, so is what they leave. What is looked at is the two programs alone, and the iterations that are
said: not how the second program came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from dsl.expressions.absorption import is_element
from dsl.expressions.affine import Affine, negate
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    children,
)
from dsl.programs.program import Array, Program, Storage
from polyhedral.dependences.value_origins import ValueOrigin, ValueOrigins
from polyhedral.isl.text import affine_text, dims, map_of, set_of
from polyhedral.legality.chosen_otherwise import conditions, keeps
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import Scop, Statement, build_scop

Iterations = Mapping[str, tuple[str, tuple[Affine, ...]]]
"""Of statements that compute again: what another one computes, and in which of its iterations."""

_HOPS = 4096  # through writes that keep what is there, at most

_COMPARED = {
    CompareOp.EQ: "=",
    CompareOp.NE: "!=",
    CompareOp.LT: "<",
    CompareOp.LE: "<=",
    CompareOp.GT: ">",
    CompareOp.GE: ">=",
}


class _OtherError(Exception):
    """The programs differ; the text says where."""


def differs(before: Program, after: Program, again: Iterations) -> str | None:
    """What a program computes otherwise than another one; None where it is proven to compute the same."""
    old, new = build_scop(before), build_scop(after)
    try:
        _check_statements(old, new, again)
        proof = _Proof.of(old, new, again)
        known = {s.name: s for s in old.statements}
        for s in new.statements:
            if s.name in known:
                at = tuple(Affine.of(v) for v in s.variables)
                proof.check(s, known[s.name], at, moved=False)
            elif s.name in again:
                name, at = again[s.name]
                proof.check(s, known[name], at, moved=True)
    except _OtherError as error:
        return str(error)
    return None


def _check_statements(old: Scop, new: Scop, again: Iterations) -> None:
    """What is there before is there behind, and what is added assigns to new locals."""
    if [a for a in new.program.arrays if a in old.program.arrays] != [*old.program.arrays]:
        raise _OtherError("the arrays are other ones")
    arrays = {a.name: a for a in new.program.arrays if a not in old.program.arrays}
    if any(a.storage is not Storage.LOCAL for a in arrays.values()):
        raise _OtherError("an array is added that is no local")
    known = {s.name: s for s in old.statements}
    kept = [s for s in new.statements if s.name in known]
    if [s.name for s in kept] != [*known]:
        raise _OtherError("the statements are other ones")
    text = other_loops(old.statements, kept)
    if text is not None:
        raise _OtherError(text)
    for s in new.statements:
        if s.name in known:
            if s.stmt.target != known[s.name].stmt.target:
                raise _OtherError(f"{s.name} assigns something else")
        elif s.stmt.target.array not in arrays or isinstance(s.stmt.value, Scatter):
            raise _OtherError(f"{s.name} assigns to what is there before")
        elif s.name not in again:
            _check_copy(s, arrays[s.stmt.target.array])


def _check_copy(s: Statement, array: Array) -> None:
    value = s.stmt.value
    if not isinstance(value, Load) or value.dtype != array.dtype:
        raise _OtherError(f"{s.name} is no copy")


@dataclass(frozen=True, eq=False)
class _Proof:
    """The values that both programs read.

    Attributes:
        old, new: the programs.
        again: what computes again.
        was, now: where values come from.
        added: the arrays that are new.
    """

    old: Scop
    new: Scop
    again: Iterations
    was: ValueOrigins
    now: ValueOrigins
    added: frozenset[str]

    @staticmethod
    def of(old: Scop, new: Scop, again: Iterations) -> _Proof:
        """The proof of two programs."""
        known = {s.name for s in old.statements} | {*again}
        copies = frozenset(s.name for s in new.statements) - known
        added = frozenset(a.name for a in new.program.arrays) - {a.name for a in old.program.arrays}
        every = {a.name for a in new.program.arrays}
        was, now = ValueOrigins(old, every, frozenset()), ValueOrigins(new, every, copies)
        return _Proof(old, new, again, was, now, added)

    def check(self, s: Statement, mine: Statement, at: tuple[Affine, ...], *, moved: bool) -> None:
        """Compare a statement with the one that it is, in the iterations ``at`` over its own loops."""
        names = dict(zip(s.variables, dims(len(s.loops)), strict=True))
        target = ", ".join(affine_text(e, names) for e in at)
        to_mine = map_of(f"{{ {s.space} -> s{mine.index}[{target}] }}")
        to_mine = to_mine.intersect_domain(s.domain)
        if not to_mine.range().is_subset(mine.domain):
            raise _OtherError(f"{s.name} is no iteration of {mine.name}")
        if moved and self._dtype(self.new, s) != self._dtype(self.old, mine):
            raise _OtherError(f"{s.name} assigns another type than {mine.name}")
        values = dict(zip(mine.variables, at, strict=True))
        for pair in _pairs(mine.stmt.value, s.stmt.value, values, s, s.domain):
            if moved or pair.now != pair.was:
                self._check_read(s, mine, to_mine, pair)

    @staticmethod
    def _dtype(scop: Scop, s: Statement) -> object:
        return scop.program.array(s.stmt.target.array).dtype

    def _check_read(self, s: Statement, mine: Statement, to_mine: isl.Map, pair: _Pair) -> None:
        """Both see a value of the same iteration of the same statement, or the same element from before the kernel."""
        if any(e.is_data for a in (pair.was, pair.now) for e in a.indices):
            raise _OtherError(f"{s.name} reads elements that data says")
        where = to_mine.intersect_domain(pair.where)
        wanted = {
            name: pairs.apply_range(where.reverse())
            for name, pairs in _by_source(self._settled(self._was(mine, pair.was))).items()
        }
        now = [self._itself(origin) for origin in self.now.of(s, pair.now)]
        found = {
            name: pairs.intersect_range(pair.where)
            for name, pairs in _by_source(self._settled(now)).items()
        }
        left = where.domain()
        for name, pairs in found.items():
            if pairs.is_empty():
                continue
            known = wanted.get(name)
            if known is None or not pairs.is_subset(known):
                raise _OtherError(
                    f"{s.name} reads {pair.now} for {pair.was}, which is not the same"
                )
            left = left.subtract(pairs.range())
        if not left.is_empty():
            raise _OtherError(f"{s.name} reads {pair.now}, which nothing has assigned")

    def _was(self, s: Statement, access: Access) -> list[_Origin]:
        """Where the program reads values from."""
        return [
            self._element(self.old, o)
            if o.source is None
            else _Origin(o.source.name, o.source, o.pairs)
            for o in self.was.of(s, access)
        ]

    def _itself(self, origin: ValueOrigin) -> _Origin:
        """A statement of the program in an iteration: what computes again stands for what it computes."""
        source = origin.source
        if source is None:
            return self._element(self.new, origin)
        at = tuple(Affine.of(v) for v in source.variables)
        name, at = self.again.get(source.name, (source.name, at))
        if all(s.name != name for s in self.old.statements):
            raise _OtherError(f"{source.name} assigns what is read")
        mine = self.old.statement(name)
        names = dict(zip(source.variables, dims(len(source.loops)), strict=True))
        target = ", ".join(affine_text(e, names) for e in at)
        itself = map_of(f"{{ {source.space} -> s{mine.index}[{target}] }}")
        return _Origin(mine.name, mine, origin.pairs.apply_domain(itself))

    @staticmethod
    def _element(scop: Scop, origin: ValueOrigin) -> _Origin:
        """An element as it is before the kernel, of an array by its name."""
        number = int(origin.pairs.get_tuple_name(isl.dim_type.in_)[1:])
        pairs = origin.pairs.reset_tuple_id(isl.dim_type.in_)
        return _Origin(scop.program.arrays[number].name, None, pairs)

    def _settled(self, origins: Sequence[_Origin]) -> list[_Origin]:
        """With what was there before in the place of writes that keep what is there."""
        found: list[_Origin] = []
        todo = list(origins)
        for _ in range(_HOPS):
            if not todo:
                return found
            origin = todo.pop()
            left = origin.pairs
            for access, where in self._kept(origin.source):
                inside = left.intersect_domain(where)
                left = left.subtract(inside)
                if inside.is_empty() or origin.source is None:
                    continue
                before = self.was.of(origin.source, access)
                todo += [self._further(o, inside) for o in before]
            if not left.is_empty():
                found.append(replace(origin, pairs=left))
        raise _OtherError("it is not found in how many steps values are kept")

    def _further(self, origin: ValueOrigin, way: isl.Map) -> _Origin:
        pairs = origin.pairs.apply_range(way)
        if origin.source is None:
            return self._element(self.old, replace(origin, pairs=pairs))
        return _Origin(origin.source.name, origin.source, pairs)

    def _kept(self, source: Statement | None) -> Iterator[tuple[Access, isl.Set]]:
        """In which iterations a statement assigns what its element has, which it reads by the access."""
        if source is None:
            return
        target = source.stmt.target
        plain = not isinstance(source.stmt.value, Scatter) and target in source.reads
        for cond in conditions(source.stmt.value) if plain else ():
            for way in (cond, negate(cond)):  # as a choice on loop variables may be
                points = replace(source, conds=(*source.conds, way)).domain
                if not points.is_empty() and keeps(source, points):
                    yield target, points
        for access in source.reads:
            if (
                access.array != target.array
                or access == target
                or any(e.is_data for a in (access, target) for e in a.indices)
            ):
                continue
            if is_element(source.stmt.value, {access, target}.__contains__):
                element = self.old.access_map(source, target)
                yield access, element.intersect(self.old.access_map(source, access)).domain()


@dataclass(frozen=True, eq=False)
class _Origin:
    """A statement of the program, or an element before the kernel, from which values come; by the name of the statement or array."""

    name: str
    source: Statement | None
    pairs: isl.Map


_Source = tuple[str, bool]
"""A statement; or an array with what it has before the kernel, which the second says."""


def _by_source(origins: Sequence[_Origin]) -> dict[_Source, isl.Map]:
    """The pairs of each source."""
    found: dict[_Source, isl.Map] = {}
    for origin in origins:
        key = origin.name, origin.source is None
        found[key] = found[key].union(origin.pairs) if key in found else origin.pairs
    return found


@dataclass(frozen=True, eq=False)
class _Pair:
    """A read of the one program, what stands for it in the other, and in which iterations."""

    was: Access
    now: Access
    where: isl.Set


def _pairs(
    mine: Expr, its: Expr, values: Mapping[str, Affine], s: Statement, where: isl.Set
) -> Iterator[_Pair]:
    """The reads of two expressions, which must be the same but for these."""
    if isinstance(mine, Load):
        if mine.dtype != its.dtype:
            raise _OtherError(f"{s.name} reads another type")
        if isinstance(its, Load):
            yield _Pair(mine.access, its.access, where)
            return
        if isinstance(its, Select):
            holds = where.intersect(_where(its.cond, s))
            yield from _pairs(mine, its.then, values, s, holds)
            yield from _pairs(mine, its.orelse, values, s, where.subtract(holds))
            return
    if isinstance(mine, Gather | Scatter):
        if mine != its or any(e != Affine.of(v) for v, e in values.items()):
            raise _OtherError(f"{s.name} reads what data says")
        return
    parts, others = children(mine), children(its)
    if _node(mine, values) != _node(its, {}) or len(parts) != len(others):
        raise _OtherError(f"{s.name} computes something else")
    for part, other in zip(parts, others, strict=True):
        yield from _pairs(part, other, values, s, where)


def _node(expr: Expr, values: Mapping[str, Affine]) -> tuple[object, ...]:
    """What an expression is besides its operands, at values of the loops."""
    match expr:
        case Const(value, dtype):
            return Const, type(value), repr(value), dtype
        case Index(affine, dtype):
            return Index, affine.substitute(values), dtype
        case Unary(op=op) | Binary(op=op) | Compare(op=op):
            return type(expr), op, expr.dtype
        case Cast() | Select():
            return type(expr), expr.dtype
        case Load() | Gather() | Scatter():
            return type(expr), expr


def _where(cond: Expr, s: Statement) -> isl.Set:
    """The iterations of a statement where a condition of its loops holds."""
    match cond:
        case Binary(op=BinaryOp.AND, lhs=a, rhs=b):
            return _where(a, s).intersect(_where(b, s))
        case Binary(op=BinaryOp.OR, lhs=a, rhs=b):
            return _where(a, s).union(_where(b, s))
        case Compare(op, Index(a), Index(b)):
            names = dict(zip(s.variables, dims(len(s.loops)), strict=True))
            one, other = affine_text(a, names), affine_text(b, names)
            return set_of(f"{{ {s.space} : {one} {_COMPARED[op]} {other} }}")
        case _:
            raise _OtherError(f"{s.name} chooses by data what it reads")
