"""The loops of a schedule as those of the program, for steps after which these are simpler than the ones that were written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd

from dsl.expressions.affine import Affine, Atom, FloorDiv
from dsl.expressions.expr import Access, Const, Expr, Index, Load, map_leaves
from dsl.programs.program import Stmt, map_statements
from polyhedral.legality.program import check_program
from polyhedral.looptree.settled import Range, simplified
from polyhedral.scop.scheduled import Dim, Piece, ScheduledScop, original
from polyhedral.transforms.materialise import Materialised, materialised, over_program


def renewed(state: ScheduledScop, found: Materialised | None = None) -> ScheduledScop:
    """The state over a program whose loops are those of the schedule so far. Divisions in subscripts are left out where
    the ranges of these loops settle them.

    Args:
        state: the schedule so far.
        found: that program, if it is another one than `materialised` makes.

    Raises:
        LanguageError: accesses are not known to be in bounds any more.
    """
    found = found or materialised(state)

    def own(stmt: Stmt) -> Stmt:
        return _settled(stmt, _ranges(found.pieces[stmt.name]))

    body = tuple(map_statements(node, own) for node in found.program.body)
    new = over_program(state, found, check_program(replace(found.program, body=body)))
    return replace(new, pieces=original(new.scop).pieces) if _is_plain(new) else new


def _is_plain(state: ScheduledScop) -> bool:
    """Whether nothing is asked of the loops: then they are those of the program in all respects, to steps that come in
    front of others, too.
    """
    return not state.promised and all(
        dim == Dim(dim.name, dim.uid) for p in state.pieces for dim in p.dims
    )


def _ranges(piece: Piece) -> dict[str, Range]:
    """The least and the greatest iteration of each loop that has bounds."""
    ends = (
        (piece.domain.dim_min_val(k), piece.domain.dim_max_val(k)) for k in range(len(piece.dims))
    )
    return {
        name: (low.to_python(), high.to_python())
        for name, (low, high) in zip(piece.names, ends, strict=True)
        if low.is_int() and high.is_int()
    }  # fmt: skip


def _settled(stmt: Stmt, ranges: Mapping[str, Range]) -> Stmt:
    def of(expr: Affine) -> Affine:
        return _plainer(expr, ranges)

    def element(access: Access) -> Access:
        limits = tuple((of(e), n) for e, n in access.limits)
        return replace(access, indices=tuple(map(of, access.indices)), limits=limits)

    def leaf(expr: Const | Load | Index) -> Expr:
        match expr:
            case Load(access=access):
                return replace(expr, access=element(access))
            case Index(affine=affine):
                return replace(expr, affine=of(affine))
            case _:
                return expr

    return replace(stmt, target=element(stmt.target), value=map_leaves(stmt.value, leaf))


def _plainer(expr: Affine, ranges: Mapping[str, Range]) -> Affine:
    """With divisions left out that always give the same, also inside of others."""
    terms = (_divided(atom, ranges) * c for atom, c in expr.terms)
    return simplified(sum(terms, Affine((), expr.const)), ranges)


def _divided(atom: Atom, ranges: Mapping[str, Range]) -> Affine:
    """A division without what never makes a difference: ``(100*i + j) // 9000`` is ``i // 90`` for ``j`` below 100."""
    if not isinstance(atom, FloorDiv) or not atom.numerator.variables() <= ranges.keys():
        return Affine(((atom, 1),))
    numerator = _plainer(atom.numerator, ranges)
    for step in sorted({gcd(c, atom.denominator) for _, c in numerator.terms}, reverse=True):
        rest = Affine(tuple((a, c) for a, c in numerator.terms if c % step), numerator.const % step)
        low, high = rest.interval(ranges)
        if rest.terms and low >= 0 and high < step:
            numerator = numerator - rest
            break
    return numerator // atom.denominator
