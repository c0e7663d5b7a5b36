"""isl's AST of one top-level nest, over as few time dimensions as tell its pieces apart.

isl's AST generation errs on some domains with strides: it loses iterations or shifts a part of them
by one (Grosser, Verdoolaege, Cohen, Polyhedral AST generation is more than scanning polyhedra,
2015, shift strided components onto each other). What it makes is therefore proven, and there are
three ways to ask for it, from the plainest loops to the safest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import islpy as isl

from dsl.expressions.affine import Affine, Constraint
from polyhedral.codegen.ast_expr import alternatives
from polyhedral.isl.effort import TooMuchWork, limited
from polyhedral.isl.text import constraint_text, dims, map_of, positional, set_of
from polyhedral.scop.conjunctions import Conjunction, both, conjunctions
from polyhedral.scop.scheduled import Piece
from polyhedral.scop.scop import Statement, origin_of


class Style(Enum):
    """What the loops run over.

    EXACT: the iterations; isl takes them apart into loops and guards as it likes.
    RELAXED: one loop a scheduled loop over a hull of them without strides, each instance guarded
    by the conditions of its statement. BOXED: over the bounding box, guarded by the whole domain.
    """

    EXACT = "exact"
    RELAXED = "relaxed"
    BOXED = "boxed"


class TooLargeError(Exception):
    """The nest comes out too large, or takes isl too long: ask for it in another style."""


@dataclass(frozen=True, slots=True)
class Nest:
    """``times[k]`` is the loop level of time dimension k, None where it is a static place;
    ``guards[n]`` is what instances of piece n are guarded by, over the names of its loops.
    """

    pieces: list[Piece]
    times: list[int | None]
    ast: isl.AstNode
    guards: list[list[Conjunction]]


def build_nest(pieces: list[Piece], style: Style, operations: int = 0) -> Nest:
    """The AST of the pieces of one top-level nest.

    Args:
        pieces: all with the same ``place[0]``.
        style: what the loops run over.
        operations: of isl at most; 0 for any number.

    Raises:
        TooLargeError: isl needs more.
    """
    try:
        with limited(operations):
            return _built(pieces, style)
    except TooMuchWork as error:
        raise TooLargeError from error


def _built(pieces: list[Piece], style: Style) -> Nest:
    deepest = max(len(p.dims) for p in pieces)
    told = [
        k > 0 and len({p.place[k] if k < len(p.place) else -1 for p in pieces}) > 1
        for k in range(deepest + 1)
    ]
    times: list[int | None] = []
    for k in range(deepest + 1):
        times += [None] if told[k] else []
        times += [k] if k < deepest else []
    hulls = [_hull(piece, style) for piece in pieces]
    union: isl.UnionMap | None = None
    for n, (piece, hull) in enumerate(zip(pieces, hulls, strict=True)):
        names = dims(len(piece.dims), "t")
        vector: list[str] = []
        for k in range(deepest + 1):
            vector += [str(piece.place[k]) if k < len(piece.place) else "0"] if told[k] else []
            vector += [names[k] if k < len(names) else "0"] if k < deepest else []
        time = map_of(f"{{ p{n}[{', '.join(names)}] -> [{', '.join(vector)}] }}")
        one = isl.UnionMap.from_map(time.intersect_domain(hull.set_tuple_name(f"p{n}")))
        union = one if union is None else union.union(one)
    assert union is not None
    guards = [_guards(piece, hull, style) for piece, hull in zip(pieces, hulls, strict=True)]
    return Nest(pieces, times, _ast(union, times, style), guards)


def _ast(schedule: isl.UnionMap, times: list[int | None], style: Style) -> isl.AstNode:
    build = isl.AstBuild.from_context(_context())
    ids = isl.IdList.alloc(isl.DEFAULT_CONTEXT, len(times))
    for k in range(len(times)):
        ids = ids.add(isl.Id(f"c{k}"))
    build = build.set_iterators(ids)
    if style is not Style.EXACT:
        loops = [k for k, level in enumerate(times) if level is not None]
        space = ", ".join(dims(len(times)))
        atomic = "; ".join(f"[{space}] -> atomic[{k}]" for k in loops)
        build = build.set_options(isl.UnionMap(f"{{ {atomic} }}"))
    return build.node_from_schedule_map(schedule)


def _context() -> isl.Set:
    context = isl.DEFAULT_CONTEXT
    # Guards must fit an affine.if (a conjunction), upper bounds a min.
    context.set_ast_build_allow_or(0)
    context.set_ast_build_atomic_upper_bound(1)
    context.set_ast_build_detect_min_max(1)
    return isl.Set("{ : }")


# ----------------------------------------------------------------------------- hulls and guards


def _hull(piece: Piece, style: Style) -> isl.Set:
    match style:
        case Style.EXACT:
            return piece.hull
        case Style.RELAXED:
            return _boxed(isl.Set.from_basic_set(piece.hull.remove_divs().simple_hull()), piece)
        case Style.BOXED:
            return _boxed(isl.Set.universe(piece.hull.get_space()), piece)


def _boxed(outer: isl.Set, piece: Piece) -> isl.Set:
    """The set within the bounding box of what the loops of the piece run over."""
    kind = isl.dim_type.set
    for k in range(len(piece.dims)):
        outer = outer.lower_bound_val(kind, k, piece.hull.dim_min_val(k))
        outer = outer.upper_bound_val(kind, k, piece.hull.dim_max_val(k))
    return outer


def _guards(piece: Piece, hull: isl.Set, style: Style) -> list[Conjunction]:
    match style:
        case Style.EXACT:
            return [piece.guards]
        case Style.RELAXED:
            values = dict(piece.bindings)
            needed = [
                [_needed(part, values, piece, hull) for part in condition]
                for condition in domain_guards(piece.statement)
            ]
            return both([piece.guards], *needed)
        case Style.BOXED:
            build = isl.AstBuild.from_context(_context())
            names = {f"t{k}": Affine.of(name) for k, name in enumerate(piece.names)}
            # A condition is one of parameters.
            kind, parameter, domain = isl.dim_type.set, isl.dim_type.param, piece.domain
            for k, name in enumerate(names):
                domain = domain.set_dim_name(kind, k, name)
            domain = domain.move_dims(parameter, 0, kind, 0, len(names)).params()
            return alternatives(build.expr_from_set(domain), names)


def _needed(
    part: Conjunction, values: Mapping[str, Affine], piece: Piece, hull: isl.Set
) -> Conjunction:
    """The constraints, over the piece's loops, without those that hold on the whole hull."""
    names = positional(piece.names)
    space = ", ".join(names.values())
    found = (Constraint(c.expr.substitute(values), c.kind) for c in part)
    return tuple(
        c
        for c in found
        if not hull.is_subset(set_of(f"{{ [{space}] : {constraint_text(c, names)} }}"))
    )


def domain_guards(statement: Statement) -> list[list[Conjunction]]:
    """The domain of a statement, over its loop variables: conditions that must all hold, each as
    conjunctions that exclude each other.
    """
    always: list[Constraint] = []
    for loop in statement.loops:
        var = Affine.of(loop.var)
        always += [Constraint(var - low) for low in loop.lowers]
        always += [Constraint(high - var - 1) for high in loop.uppers]
        if abs(loop.step) > 1:
            origin, step = origin_of(loop)
            always.append(Constraint((var - origin) % abs(step), "=="))
    return [[tuple(always)], *(conjunctions(cond) for cond in statement.conds)]
