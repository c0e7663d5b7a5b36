"""Does a program that reads copies of some elements, and computes some values again for them, compute what it did?

The argument:

* the statements are the same, in the same loops, but for what they read: some reads are of copies now, or of one copy or
  another by a condition of the loops;
* all that is added assigns to locals that are new. It copies, or it computes again what a statement computes in an
  iteration that it says;
* of every read that is another one, and of every read of what computes again, the last write before it (by isl, followed
  through what copies) is the one that the program had, or computes that one again.

By induction over the order of the new program all values are what they were, and as its own statements alone assign to
what was there before, so is what they leave. What is looked at is the two programs alone, and the iterations that are
said: not how the second program came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from dsl.expressions.affine import Affine
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
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import Scop, Statement, build_scop

Iterations = Mapping[str, tuple[str, tuple[Affine, ...]]]
"""Of statements that compute again: what another one computes, and in which of its iterations."""

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
            for name, pairs in _by_source(self.old, self.was.of(mine, pair.was)).items()
        }
        now = [self._itself(origin) for origin in self.now.of(s, pair.now)]
        found = {
            name: pairs.intersect_range(pair.where)
            for name, pairs in _by_source(self.new, now).items()
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

    def _itself(self, origin: ValueOrigin) -> ValueOrigin:
        """What computes again stands for the iteration that it computes."""
        source = origin.source
        if source is None or source.name not in self.again:
            return origin
        name, at = self.again[source.name]
        mine = self.old.statement(name)
        names = dict(zip(source.variables, dims(len(source.loops)), strict=True))
        target = ", ".join(affine_text(e, names) for e in at)
        pairs = origin.pairs
        if pairs.has_tuple_id(isl.dim_type.in_):
            pairs = pairs.reset_tuple_id(isl.dim_type.in_)
        itself = map_of(f"{{ [{', '.join(dims(len(source.loops)))}] -> [{target}] }}")
        return ValueOrigin(mine, pairs.apply_domain(itself))


_Source = tuple[str, bool]
"""A statement; or an array with what it has before the kernel, which the second says."""


def _by_source(scop: Scop, origins: Sequence[ValueOrigin]) -> dict[_Source, isl.Map]:
    """The pairs of each source, without the number of the statement or array in its name."""
    found: dict[_Source, isl.Map] = {}
    for origin in origins:
        pairs = origin.pairs
        name = "" if origin.source is None else origin.source.name
        if pairs.has_tuple_id(isl.dim_type.in_):
            if origin.source is None:
                number = int(pairs.get_tuple_name(isl.dim_type.in_)[1:])
                name = scop.program.arrays[number].name
            pairs = pairs.reset_tuple_id(isl.dim_type.in_)
        key = name, origin.source is None
        found[key] = found[key].union(pairs) if key in found else pairs
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
