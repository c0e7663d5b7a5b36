"""Tiles of an array in local copies, as a rewriting of the program.

Before, with loops i_0 and i_1, and a tile of A for each iteration of i_0::

    for i_0 in range(4):
      for i_1 in range(8):
        S0: B[8 * i_0 + i_1] = A[8 * i_0 + i_1]

After::

    for i_0 in range(4):
      for load_A_0 in range(8):
        load_A: A_buf[load_A_0] = A[8 * i_0 + load_A_0]
      for i_1 in range(8):
        S0: B[8 * i_0 + i_1] = A_buf[i_1]

Which tiles there are, and that they are enough, is for `polyhedral.transforms.tiles.buffer` to find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from dsl.expressions.expr import Access
from dsl.programs.expanded import with_accesses
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, statements_in
from dsl.programs.scopes import ordered_locals


@dataclass(frozen=True, slots=True)
class Region:
    """The body of a loop, or the whole program, that works on copies.

    Attributes:
        loop: by its number in preorder; None for the program.
        accesses: what statements, by name, access in place of what they do.
        before: what copies in.
        after: what copies out.
        begins: what is in front of the first node that has such a statement.
    """

    loop: int | None
    accesses: Mapping[tuple[str, Access], Access]
    before: tuple[Node, ...]
    after: tuple[Node, ...]
    begins: tuple[Node, ...] = ()


def with_regions(program: Program, arrays: Sequence[Array], regions: Sequence[Region]) -> Program:
    """The program with more local arrays, and regions that work on them."""
    by_loop = {region.loop: region for region in regions}
    body = _Rewriter(by_loop, count()).body(program.body, by_loop.get(None))
    return ordered_locals(replace(program, arrays=(*program.arrays, *arrays), body=body))


@dataclass(frozen=True, slots=True)
class _Rewriter:
    """Copies the program; each node knows the region that it is in, if any."""

    regions: Mapping[int | None, Region]
    numbers: Iterator[int]

    def body(self, nodes: tuple[Node, ...], region: Region | None) -> tuple[Node, ...]:
        """A body that is a region as a whole."""
        inside = self._nodes(nodes, region)
        if region is None:
            return inside
        using = {name for name, _ in region.accesses}
        first = next(
            (
                n
                for n, node in enumerate(nodes)
                if any(s.name in using for s in statements_in(node))
            ),
            0,
        )
        return (*region.before, *inside[:first], *region.begins, *inside[first:], *region.after)

    def _nodes(self, nodes: tuple[Node, ...], region: Region | None) -> tuple[Node, ...]:
        return tuple(self._node(node, region) for node in nodes)

    def _node(self, node: Node, region: Region | None) -> Node:
        match node:
            case Loop(body=body):
                own = self.regions.get(next(self.numbers))
                if own is not None:
                    return replace(node, body=self.body(body, own))
                return replace(node, body=self._nodes(body, region))
            case If(then=then, orelse=orelse):
                first = self._nodes(then, region)
                return replace(node, then=first, orelse=self._nodes(orelse, region))
            case Stmt():
                return node if region is None else _changed(node, region)


def _changed(stmt: Stmt, region: Region) -> Stmt:
    def own(access: Access) -> Access:
        found = region.accesses.get((stmt.name, access))
        return access if found is None else replace(found, span=access.span)

    return with_accesses(stmt, own)
