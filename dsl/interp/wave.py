"""Wavefronts: two nested loops whose iterations depend on neighbours, as in Gauss-Seidel.

    for i:                      for w:
      for j:            ->        for all i, j with slope * i + j == w, at once:
        S(i, j)                     S(i, j)

Loops further in run one iteration after the other, each at all points of a front. This is right if every two
iterations of the pair that touch the same element, where one writes it, are on different fronts, the later one
on the later front. It is decided where subscripts are uniform: then such iterations are a constant distance
apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, loads
from dsl.programs.program import Loop, Node, Program, Stmt

Distance = tuple[int, int]


def slope(program: Program, outer: Loop, depth: int) -> int | None:
    """The smallest slope that makes wavefronts of a nest legal, None where there is none.

    Args:
        program: where the arrays are declared.
        outer: at nesting depth ``depth``; it must hold one loop, and that statements, or loops whose
            bounds do not depend on the two and which what is written does not move with.
        depth: locals declared inside of the nest rule wavefronts out.
    """
    if len(outer.body) != 1 or not isinstance(inner := outer.body[0], Loop):
        return None
    statements, further = _inside(inner.body, frozenset({outer.var, inner.var}))
    if statements is None or outer.step != 1 or inner.step != 1:
        return None
    if any(outer.var in bound.variables() for bound in (*inner.lowers, *inner.uppers)):
        return None
    found = 0
    for distance in _distances(program, (outer, inner), statements, further, depth):
        if distance is None:
            return None
        across, along = max(distance, (-distance[0], -distance[1]))  # from the earlier to the later
        if across > 0:
            found = max(found, -((along - 1) // across))
    return found


def _inside(
    nodes: Sequence[Node], pair: frozenset[str]
) -> tuple[list[Stmt] | None, frozenset[str]]:
    """The statements of a body, and the loops around them; None where others run at other points."""
    statements: list[Stmt] = []
    further: frozenset[str] = frozenset()
    for node in nodes:
        if isinstance(node, Stmt):
            statements.append(node)
            continue
        if not isinstance(node, Loop) or any(
            pair & bound.variables() for bound in (*node.lowers, *node.uppers)
        ):
            return None, further
        own, deeper = _inside(node.body, pair)
        if own is None:
            return None, further
        statements += own
        further |= deeper | {node.var}
    return statements, further


def _distances(
    program: Program,
    pair: tuple[Loop, Loop],
    statements: Sequence[Stmt],
    further: frozenset[str],
    depth: int,
) -> Iterator[Distance | None]:
    """Distances between iterations that touch the same element; None where one is not constant, or where
    what is written moves with loops ``further`` in.
    """
    touched = list(chain.from_iterable((s.target, *loads(s.value)) for s in statements))
    if any(program.array(access.array).scope_depth >= depth for access in touched):
        yield None
        return
    for stmt in statements:
        for access in touched:
            if access.array == stmt.target.array:
                if any(further & index.variables() for index in access.indices):
                    yield None
                    return
                yield from _distance(stmt.target, access, pair[0].var, pair[1].var)


def _distance(a: Access, b: Access, i: str, j: str) -> Iterator[Distance | None]:
    """Where ``b`` touches the element of ``a``: how many iterations later, if ever."""
    across: int | None = None
    along: int | None = None
    for mine, theirs in zip(a.indices, b.indices, strict=True):
        if mine.is_data or theirs.is_data:
            yield None
            return
        difference = mine - theirs
        factors = mine.coefficient(i), mine.coefficient(j)
        if not (difference.is_const and _is_uniform(mine, i, j)):
            yield None
            return
        match factors:
            case (0, 0):
                solved = difference.const == 0
            case (factor, 0):
                solved = difference.const % factor == 0
                solved = solved and across in (None, difference.const // factor)
                across = difference.const // factor
            case (0, factor):
                solved = difference.const % factor == 0
                solved = solved and along in (None, difference.const // factor)
                along = difference.const // factor
            case _:
                yield None
                return
        if not solved:
            return  # never the same element
    yield None if across is None or along is None else (across, along)


def _is_uniform(affine: Affine, i: str, j: str) -> bool:
    """Whether the loop variables occur linearly only."""
    rest = affine - Affine.of(i) * affine.coefficient(i) - Affine.of(j) * affine.coefficient(j)
    return not {i, j} & rest.variables()
