"""Nests that conditions of the program take apart.

Statements of a nest that run under conditions on its loops (`if u == 1`, a border) do not stay in one nest where
loops inside of those that the conditions tell apart are kept: each case has loops of its own, one after the other,
and bounds that move with loops around drain a pipeline each time. What becomes of the loops is seen in the
loops of the nest as they are without any copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from dse.space.nests.groups import iterations
from dse.space.nests.nest import Case, CaseLoop, Inside
from polyhedral.codegen.generate import nest_nodes
from polyhedral.looptree.tree import Instance, TreeGuard, TreeLoop, TreeNode
from polyhedral.scop.ranges import inner_iterations
from polyhedral.scop.scheduled import Piece, ScheduledScop


def cases_of(
    state: ScheduledScop, names: Sequence[str], levels: tuple[int, int]
) -> tuple[Case, ...]:
    """The loops that are innermost in the nest, each with those around it; nothing where the nest is a perfect one.

    Args:
        state: the program, the loops of the nest in their order.
        names: statements of the nest.
        levels: its band: the first of its loops, and the first behind them.
    """
    piece = state.of_statement(names[0])[0]
    walk = _Walk(frozenset(names), frozenset(piece.names[: levels[0]]), piece.names[slice(*levels)])
    found = tuple(walk.cases(nest_nodes(state, piece.place[0])))
    if len(found) == 1 and tuple(step.loop for step in found[0]) == tuple(walk.band):
        (only,) = found
        if all(step.alone and step.constant for step in only[1:]):
            return ()
    return found


_ONCE = CaseLoop("", 1.0, alone=False, constant=True)
"""What stands beside loops is no pipeline of those around."""


def inside_of(pieces: Sequence[Piece], end: int) -> list[Inside]:
    """In which share of the iterations of the loops inside of its band each piece of a nest runs: copies whose
    condition never holds are not there. Of several pieces of a statement the first has the share of all.

    Args:
        pieces: of the nest.
        end: level of the first loop inside the band.
    """
    longest: dict[str, int] = {}
    total: dict[str, float] = {}
    for piece in pieces:
        for level in range(end, len(piece.dims)):
            name = piece.names[level]
            longest[name] = max(longest.get(name, 1), iterations(piece, level))
    for piece in pieces:
        if len(piece.dims) > end:
            every = prod(longest[name] for name in piece.names[end:])
            runs = inner_iterations(piece, end) / every
            total[piece.name] = total.get(piece.name, 0.0) + runs
    found = []
    for piece in pieces:
        loops = tuple((name, longest[name]) for name in piece.names[end:])
        found.append(Inside(min(1.0, total.get(piece.name, 0.0)), loops) if loops else Inside())
        total[piece.name] = 0.0
    return found


@dataclass(frozen=True, slots=True)
class _Walk:
    """Statements of a nest, names of the loops around it, and of its own."""

    names: frozenset[str]
    around: frozenset[str]
    band: Sequence[str]

    def cases(
        self, nodes: Sequence[TreeNode], outside: Case = (), guarded: bool = False
    ) -> Iterator[Case]:
        """What is innermost among some nodes; what has no loop of its own is in the last of those outside."""
        inside = [node for node in nodes if self.has(node)]
        alone = len(inside) == 1 and not guarded
        plain = False
        for node in inside:
            if not self.loops_in(node):
                plain = True
            elif isinstance(node, TreeGuard):
                yield from self.cases(node.body, outside, guarded=True)
            elif isinstance(node, TreeLoop):
                own = outside
                if node.name in self.band:
                    own = (*outside, _step(node, alone))
                yield from self.cases(node.body, own)
        if plain:
            apart = any(map(self.loops_in, inside))
            yield (*outside, _ONCE) if apart else outside

    def has(self, node: TreeNode) -> bool:
        """Whether a statement of the nest is in a node."""
        if isinstance(node, Instance):
            return node.stmt.name in self.names
        return any(map(self.has, node.body))

    def loops_in(self, node: TreeNode) -> bool:
        """Whether a node has loops around statements of the nest that are not unrolled."""
        if isinstance(node, Instance) or not self.has(node):
            return False
        if isinstance(node, TreeLoop) and (node.name in self.band or node.name in self.around):
            return True
        return any(map(self.loops_in, node.body))


def _step(loop: TreeLoop, alone: bool) -> CaseLoop:
    trips = loop.constant_trip
    average = loop.trip.average if trips is None and loop.trip else float(trips or 1)
    return CaseLoop(loop.name, average, alone, trips is not None)
