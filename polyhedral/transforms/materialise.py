"""The loops of a schedule as those of a program: what rewrites the program after loops were changed.

A schedule so far, with a remainder nest::

    for i_0 in range(2):              # i = 4 * i_0 + i_1
      for i_1 in range(4):
        S0(i)
    for i_1 in range(2):
      S0(i)

The program, whose statements are those iterations and run in that order::

    for i_0 in range(2):
      for i_1 in range(4):
        S0: A[4 * i_0 + i_1] = ...
    for i_0 in range(2, 3):
      for i_1 in range(2):
        S0_2: A[4 * i_0 + i_1] = ...

Each piece becomes a statement; the first one of a statement keeps its name. The loops stay what they
are to the steps that follow: their names, identities and annotations are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from dsl.expressions.affine import Affine, Cond
from dsl.expressions.expr import Access, Const, Expr, Index, Load, map_leaves
from dsl.programs.names import unused
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals
from polyhedral.isl.conditions import condition_of, limits_of
from polyhedral.isl.text import affine_text, conjunction, positional, set_of
from polyhedral.legality.lifetimes import components
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.scheduled import Dim, Piece, ScheduledScop, original
from polyhedral.scop.scop import Scop


@dataclass(frozen=True, eq=False)
class Materialised:
    """A program of the loops of a schedule.

    Attributes:
        program: whose statements are pieces.
        pieces: that of each statement, by its name.
    """

    program: Program
    pieces: Mapping[str, Piece]

    def array(self, name: str) -> Array | None:
        """An array as it is in the program; None for a local that only statements without iterations use."""
        return next((a for a in self.program.arrays if a.name == name), None)


def materialised(state: ScheduledScop) -> Materialised:
    """The program that runs as the schedule says."""
    taken = {p.name for p in state.pieces}
    names: dict[str, Piece] = {}
    for piece in state.pieces:
        first = piece.name not in names
        names[piece.name if first else unused(piece.name, taken | names.keys())] = piece
    body = program_nodes([Spanned(name, p, p.domain) for name, p in names.items()])
    old = state.scop.program
    arrays = tuple(
        replace(a, scope_depth=_depth(state, a)) if a.storage is Storage.LOCAL else a
        for a in old.arrays
    )
    return Materialised(ordered_locals(replace(old, arrays=arrays, body=body)), names)


@dataclass(frozen=True, eq=False)
class Spanned:
    """A piece that becomes a statement.

    Attributes:
        name: of the statement.
        piece: its iterations and its place.
        span: what its loops run over; of them the iterations are told by a condition.
    """

    name: str
    piece: Piece
    span: isl.Set


def program_nodes(pieces: Sequence[Spanned]) -> tuple[Node, ...]:
    """The loops and statements of some pieces, in the order of their places."""
    return _nodes(pieces, 0, [])


def _depth(state: ScheduledScop, array: Array) -> int:
    """The loops to one iteration of which a local belongs. Where they are not the same everywhere it
    belongs to all: that no two of its lives meet is proven already.
    """
    depth = array.scope_depth
    own = [p for p in state.pieces if p.statement.touches(array.name)]
    as_written = all(
        p.bindings[:depth] == tuple((n, Affine.of(n)) for n in p.names[:depth]) for p in own
    )
    if as_written and all(shared_levels(own[0], p) >= depth for p in own[1:]):
        return depth  # its loops are as they were, and still those of all its accesses
    groups = components(state, array)
    return groups[0][1] if groups is not None and len(groups) == 1 else 0


def _nodes(pieces: Sequence[Spanned], level: int, around: Sequence[Loop]) -> tuple[Node, ...]:
    """What stands in the body of a loop: pieces by their places, those that share a loop together."""
    groups: dict[int, list[Spanned]] = {}
    for part in pieces:
        groups.setdefault(part.piece.place[level], []).append(part)
    found: list[Node] = []
    for _, group in sorted(groups.items()):
        first = group[0].piece
        if len(first.dims) == level:
            found.append(_statement(group[0].name, first, around))
            continue
        dim = first.dims[level]
        inside = _together(group, level)
        lowers, uppers = limits_of(inside, first.names[: level + 1])
        loop = Loop(dim.name, lowers, uppers, 1, (), dim.span)
        found.append(replace(loop, body=_nodes(group, level + 1, [*around, loop])))
    return tuple(found)


def _together(pieces: Sequence[Spanned], level: int) -> isl.Set:
    """What the loops down to a level run over in any of some pieces."""
    whole: isl.Set | None = None
    for part in pieces:
        inner = len(part.piece.dims) - level - 1
        own = part.span.project_out(isl.dim_type.set, level + 1, inner)
        whole = own if whole is None else whole.union(own)
    assert whole is not None
    return whole


def _statement(name: str, piece: Piece, around: Sequence[Loop]) -> Node:
    stmt = placed_statement(piece, name)
    cond = narrowed(piece.domain, piece.names, around)
    return stmt if cond is None else If(cond, (stmt,), (), stmt.span)


def narrowed(points: isl.Set, names: Sequence[str], around: Sequence[Loop]) -> Cond | None:
    """The condition that is left of the points inside of the loops; None where there is none."""
    where = positional(names)
    parts = [
        text
        for loop in around
        for text in (
            *(f"{where[loop.var]} >= {affine_text(e, where)}" for e in loop.lowers),
            *(f"{where[loop.var]} < {affine_text(e, where)}" for e in loop.uppers),
        )
    ]
    loops = set_of(f"{{ [{', '.join(where.values())}] : {conjunction(parts)} }}")
    if loops.is_subset(points):
        return None
    return condition_of(points.gist(loops), names)


def placed_statement(piece: Piece, name: str) -> Stmt:
    """A statement over the loops of one of its pieces."""
    values = dict(piece.bindings)

    def own(access: Access) -> Access:
        indices = tuple(e.substitute(values) for e in access.indices)
        limits = tuple(
            (e, n) for e, n in access.limits if e.is_data
        )  # the others have been checked
        return replace(access, indices=indices, limits=limits)

    def leaf(expr: Const | Load | Index) -> Expr:
        match expr:
            case Load(access=access):
                return replace(expr, access=own(access))
            case Index(affine=affine):
                return replace(expr, affine=affine.substitute(values))
            case _:
                return expr

    stmt = piece.statement.stmt
    return replace(stmt, name=name, target=own(stmt.target), value=map_leaves(stmt.value, leaf))


def over_program(state: ScheduledScop, found: Materialised, scop: Scop) -> ScheduledScop:
    """The state over a program that has the materialised statements, and maybe new ones.

    Args:
        state: the schedule.
        found: its program.
        scop: of that program, or of one with more statements in the same loops.
    """
    pieces: list[tuple[Piece, tuple[int, ...]]] = []
    known: dict[tuple[int, ...], Piece] = {}
    for own in original(scop, moving=True).pieces:  # in the loops of the pieces, as these are
        piece = found.pieces.get(own.name)
        if piece is None:
            pieces.append((own, own.place))
            continue
        bindings = tuple((name, Affine.of(name)) for name in piece.names)
        same = replace(piece, statement=own.statement, bindings=bindings)
        pieces.append((same, own.place))
        for level in range(len(piece.dims)):
            known.setdefault(own.place[: level + 1], piece)
    alike = [
        (piece if piece.name in found.pieces else _in_known_loops(piece, place, known), place)
        for piece, place in pieces
    ]
    parts: dict[str, list[str]] = {}
    for name, piece in found.pieces.items():
        parts.setdefault(piece.name, []).append(name)
    # Of statements without iterations nothing is left, nor of locals that only these touch.
    arrays = {a.name for a in scop.program.arrays}
    new = replace(
        state.of_arrays(arrays),
        scop=scop,
        reassociated=frozenset(n for name in state.reassociated for n in parts.get(name, ())),
        operators=tuple(replace(o, stmt=n) for o in state.operators for n in parts.get(o.stmt, ())),
    )
    return new.with_places(alike)


def _in_known_loops(
    piece: Piece, place: Sequence[int], known: Mapping[tuple[int, ...], Piece]
) -> Piece:
    """A new statement's piece in the loops that it shares with statements there were before; loops
    of its own that have one name are copies of one loop.
    """
    found = list(piece.dims)
    for level, dim in enumerate(piece.dims):
        other = known.get(tuple(place[: level + 1]))
        if other is not None:
            found[level] = other.dims[level]
        else:
            found[level] = replace(dim, uid=(dim.name,))
    return replace(piece, dims=tuple(found))


def unrolled_as_made(piece: Piece, loops: Sequence[Dim]) -> Piece:
    """A new statement whose own loops are unrolled as they were made."""
    for level, loop in enumerate(loops):
        if loop.uid == (loop.name,) and loop.unroll is not None:
            own = replace(piece.dims[level], unroll=0, lane=loop.lane, held=loop.held)
            piece = piece.with_dim(level, own)
    return piece
