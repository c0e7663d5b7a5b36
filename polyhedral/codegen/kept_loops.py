"""Loops of one iteration that a request is for, as a pipeline: isl leaves them out of its AST, and they are put back.

Without the loop there would be nothing to hang the pragma on, and so nothing that unrolls the loops
inside it. Before, for ``i_0`` that is pipelined and always 0::

    for i_1 in range(8):
      S(i_1)

After::

    for i_0 in range(0, 1):
      for i_1 in range(8):
        S(i_1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from dsl.expressions.affine import Affine
from polyhedral.codegen.independent import LoopOrigin
from polyhedral.looptree.tree import Instance, TreeLoop, TreeNode, below
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop


def left_out(state: ScheduledScop, origins: Mapping[str, LoopOrigin]) -> frozenset[LoopId]:
    """The loops that are pipelined, or of which something else is asked, of which no copy is among the loops of a tree.

    Args:
        state: the schedule.
        origins: where the loops of the tree come from.
    """
    asked = {
        d.uid
        for p in state.pieces
        for d in p.dims
        if d.pipeline_ii is not None or d.requests.of_loop()
    }
    return frozenset(asked - {o.pieces[0].dims[o.level].uid for o in origins.values()})


@dataclass(frozen=True, slots=True)
class Keeper:
    """Puts the loops ``kept`` into the nodes of a nest of ``pieces``.

    ``origins`` are those of the loops that are there; the new ones are added. ``fresh`` makes the
    name of a variable unique.
    """

    kept: frozenset[LoopId]
    pieces: list[Piece]
    origins: dict[str, LoopOrigin]
    fresh: Callable[[str], str]

    def put_back(self, nodes: tuple[TreeNode, ...]) -> tuple[TreeNode, ...]:
        """The nodes with each of the loops around what it holds."""
        for uid in self.kept:
            levels = {p.level(uid) for p in self.pieces} - {None}
            for level in levels:
                assert level is not None, "None is taken out"
                nodes = self._in_loops(nodes, uid, level)
        return nodes

    def _in_loops(
        self, nodes: tuple[TreeNode, ...], uid: LoopId, level: int
    ) -> tuple[TreeNode, ...]:
        found: list[TreeNode] = []
        for copy, group in groupby(nodes, lambda node: self._copy_of(node, uid, level)):
            if copy is not None:
                found.append(self._loop(copy, tuple(group), level))
                continue
            for node in group:
                if isinstance(node, Instance):
                    found.append(node)
                else:
                    found.append(replace(node, body=self._in_loops(node.body, uid, level)))
        return tuple(found)

    def _copy_of(self, node: TreeNode, uid: LoopId, level: int) -> _Copy | None:
        """The one copy of the loop, and its one iteration, that all below a node is in; None where
        there is none, or loops around it are below the node.
        """
        copies: set[_Copy | None] = set()
        for one in below(node):
            if isinstance(one, TreeLoop) and self.origins[one.iv].level < level:
                return None
            if isinstance(one, Instance):
                copies.add(self._copy_around(one, uid, level))
        return copies.pop() if len(copies) == 1 else None

    def _copy_around(self, instance: Instance, uid: LoopId, level: int) -> _Copy | None:
        piece = self._piece(instance)
        if piece.level(uid) != level:
            return None
        return _Copy(instance.place[: level + 1], instance.time[level])

    def _loop(self, copy: _Copy, nodes: tuple[TreeNode, ...], level: int) -> TreeLoop:
        inside = [n for node in nodes for n in below(node) if isinstance(n, Instance)]
        pieces = tuple(dict.fromkeys(map(self._piece, inside)))
        dim = pieces[0].dims[level]
        iv = self.fresh(dim.name)
        self.origins[iv] = LoopOrigin(level, pieces)
        bounds = (copy.iteration,), (copy.iteration + 1,)
        return TreeLoop(iv, dim.name, *bounds, 1, nodes, dim.pipeline_ii, dim.unroll, dim.flatten,
                        sequential=dim.sequential, requests=dim.requests, span=dim.span)  # fmt: skip

    def _piece(self, instance: Instance) -> Piece:
        return next(p for p in self.pieces if p.place == instance.place)


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy of a loop, and the value of its variable."""

    place: tuple[int, ...]
    iteration: Affine
