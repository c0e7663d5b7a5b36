"""Arrays that provably carry no dependence in a pipelined loop, where a tool may not see it.

Only arrays that the loop both reads and writes through different subscripts are of interest, also where each of these is
both read and written, as where two elements are swapped; the rest is plain to any tool. A tool may flatten the perfect nest above a pipelined loop into it, so
none of those loops may carry a dependence either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import islpy as isl

from polyhedral.looptree.tree import TreeLoop, TreeNode
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.scop.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class LoopOrigin:
    """Where a tree loop comes from: its level and the pieces that run in it."""

    level: int
    pieces: tuple[Piece, ...]


def independent(
    state: ScheduledScop, body: tuple[TreeNode, ...], origins: Mapping[str, LoopOrigin]
) -> tuple[tuple[str, str], ...]:
    """Pairs (array, iv of a pipelined loop).

    ``origins`` has the loops whose iterations are those of a scheduled loop: the distances of
    others are not those of the schedule, and nothing is said of them.
    """
    found: list[tuple[str, str]] = []
    for loop, chain in _pipelined(body, ()):
        if not all(outer.iv in origins for outer in chain):
            continue
        origin = origins[loop.iv]
        first = origins[chain[0].iv].level
        found += [
            (array, loop.iv)
            for array in _candidates(state, origin.pieces)
            if not _carried(state, origin, first, array)
        ]
    return tuple(found)


def _pipelined(
    nodes: tuple[TreeNode, ...], chain: tuple[TreeLoop, ...]
) -> Iterator[tuple[TreeLoop, tuple[TreeLoop, ...]]]:
    """Each pipelined loop with the perfect nest that ends in it, outermost first."""
    for node in nodes:
        if isinstance(node, TreeLoop):
            # An only child continues the perfect nest of its parent.
            above = chain if len(nodes) == 1 else ()
            if node.pipeline_ii is not None:
                yield node, (*above, node)
            else:
                yield from _pipelined(node.body, (*above, node))
        elif hasattr(node, "body"):
            yield from _pipelined(node.body, ())


def _candidates(state: ScheduledScop, pieces: tuple[Piece, ...]) -> list[str]:
    """Arrays read and written through different subscripts; locals of a scope left out, since
    their one storage serves every iteration, and those whose elements share words: writing one writes the others anew.
    """
    written = {p.statement.stmt.target for p in pieces}
    read = {a for p in pieces for a in p.statement.reads}
    found = []
    in_words = {r.array for r in state.reshapes}
    for array in state.scop.program.arrays:
        targets = {a.indices for a in written if a.array == array.name}
        sources = {a.indices for a in read if a.array == array.name}
        apart = array.scope_depth == 0 and array.name not in in_words
        if targets and sources and len(targets | sources) > 1 and apart:
            found.append(array.name)
    return found


def _carried(state: ScheduledScop, origin: LoopOrigin, first: int, array: str) -> bool:
    """Whether a dependence through the array is carried by the levels ``first`` to the loop's."""
    for p in origin.pieces:
        for q in origin.pieces:
            for pairs in _conflicts(state.scop, p.statement, q.statement, array):
                shared = shared_levels(p, q)
                timed = pairs.apply_domain(p.times).apply_range(q.times)
                deltas = (
                    timed.project_out(isl.dim_type.in_, shared, len(p.dims) - shared)
                    .project_out(isl.dim_type.out, shared, len(q.dims) - shared)
                    .deltas()
                )
                if not deltas.intersect(_moves(shared, first, origin.level)).is_empty():
                    return True
    return False


def _conflicts(scop: Scop, s: Statement, t: Statement, array: str) -> Iterator[isl.Map]:
    """Pairs of iterations where ``s`` writes an element that ``t`` reads or writes."""
    if s.stmt.target.array != array:
        return
    for access in (*t.reads, t.stmt.target):
        if access.array == array:
            writes = scop.access_map(s, s.stmt.target)
            yield writes.apply_range(scop.access_map(t, access).reverse())


def _moves(n: int, first: int, last: int) -> isl.Set:
    """Distances that are 0 outside of level ``first`` and not all 0 in ``first .. last``."""
    names = [f"x{k}" for k in range(n)]
    outer = [f"{name} = 0" for name in names[:first]]
    some = " or ".join(f"{name} != 0" for name in names[first : last + 1])
    return isl.Set(f"{{ [{', '.join(names)}] : {' and '.join([*outer, f'({some})'])} }}")
