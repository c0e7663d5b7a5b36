"""The loops of one nest under a vector of factors, without isl: blocks outside, copies inside.

::

    for i in 0..60:                  for i_0 in 0..8:
      for j in 0..70:                  for j in 0..70:
        S(i, j)             i: 7         for i_1 in 0..7: S(7*i_0 + i_1, j)
                            →        for j in 0..70:
                                       for i_1 in 0..4: S(56 + i_1, j)

They are those that the steps of `dse.space.space.nest_steps` make, for nests whose loops have constant
bounds where they are unrolled, and whose statements have all of them around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from dse.space.nests.ended import blocks_of, ends_early
from dse.space.nests.nest import Order, Vector
from dsl.expressions.affine import Affine, Constraint
from dsl.schedules.steps import Tail
from polyhedral.codegen.guards_outside import guards_outside
from polyhedral.looptree.placed import placed
from polyhedral.looptree.tree import TreeGuard, TreeLoop, TreeNode


@dataclass(frozen=True, slots=True)
class Side:
    """Of one loop in one of the nests that it becomes: blocks, copies in each, the first iteration.

    ``rest`` is what the blocks leave; ``guarded`` says that the last block has fewer; ``whole`` that the loop
    is as it was, with about so many iterations.
    """

    blocks: float
    copies: int
    start: int = 0
    rest: bool = False
    guarded: bool = False
    whole: bool = False


Sides = tuple[Side, ...]  # for each loop of the band


def sides_of(order: Order, vector: Vector, tail: Tail) -> list[Sides]:
    """The nests that a nest becomes, in the order in which they run: the blocks, and what they leave."""
    choices: list[list[Side]] = []
    for loop, u in zip(order.band, vector, strict=False):
        extent = loop.extent
        if extent is None or u == 1:
            trips = loop.trips if ends_early(loop, 1) else extent or loop.average
            choices.append([Side(trips, 1, whole=True)])
        elif u == extent:
            choices.append([Side(1, u)])
        elif extent % u and tail == "guard":
            choices.append([Side(blocks_of(loop, u, -(-extent // u)), u, guarded=True)])
        else:
            main, rest = Side(blocks_of(loop, u, extent // u), u), extent % u
            left = Side(1, rest, extent - rest, rest=True)
            choices.append([main, left] if rest else [main])
    return list(product(*choices))


@dataclass(frozen=True, slots=True)
class Band:
    """The loops of a nest as they are before anything is unrolled, and the nodes inside them."""

    loops: tuple[TreeLoop, ...]
    body: tuple[TreeNode, ...]

    def unrolls(self, k: int) -> bool:
        """Whether the loop has constant bounds, which those of no other depend on."""
        own = self.loops[k]
        others = (b for x in self.loops if x is not own for b in (*x.lowers, *x.uppers))
        return own.constant_trip is not None and not any(own.iv in b.variables() for b in others)


def band_of(node: TreeNode, names: Sequence[str]) -> Band | None:
    """The loops of these names, each all that is in the one around; None where they are not so."""
    found: list[TreeLoop] = []
    nodes: tuple[TreeNode, ...] = (node,)
    for name in names:
        (only,) = nodes if len(nodes) == 1 else (None,)
        if not isinstance(only, TreeLoop) or only.name != name or only.step != 1:
            return None
        found.append(only)
        nodes = only.body
    return Band(tuple(found), nodes)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a nest's loops: the position of the pipelined one, its interval, and whether it
    is kept apart from those around.
    """

    pipelined: int | None
    ii: int = 1
    apart: bool = False


def asked_of(order: Order, vector: Vector, tail: Tail, ii: int) -> Asked:
    """As `dse.space.space.nest_steps` asks: the innermost loop that keeps blocks is pipelined."""
    found: int | None = None
    for k, (loop, u) in enumerate(zip(order.band, vector, strict=False)):
        if u == 1:
            found = k if loop.extent != 1 else found
        elif u != loop.extent:
            whole = loop.extent is not None and tail == "remainder" and loop.extent // u == 1
            found = found if whole and loop.extent else k
    early = found is not None and ends_early(order.band[found], vector[found])
    return Asked(found, ii, order.drains or early)


def unrolled(band: Band, sides: Sides, asked: Asked, prefix: str = "") -> tuple[TreeNode, ...]:
    """The nodes of one nest.

    Args:
        band: its loops, nothing unrolled.
        sides: blocks and copies of each.
        asked: of the pipelined loop.
        prefix: of the names of its loops, to tell them from those of other nests.
    """
    values: dict[str, Affine] = {}
    guards: list[Constraint] = []
    blocks: list[TreeLoop] = []
    points: list[TreeLoop] = []
    for k, (loop, side) in enumerate(zip(band.loops, sides, strict=True)):
        uncut = side.whole or side.blocks == loop.constant_trip
        if side.copies == 1 and not side.rest and uncut:
            blocks.append(loop)
            if k == asked.pipelined:
                blocks[-1] = _piped(loop, asked)
            continue
        whole = side.blocks == 1 and not side.rest and side.copies == loop.constant_trip
        low = max(b.const for b in loop.lowers)
        index = Affine((), low + side.start)
        if side.blocks > 1 or (k == asked.pipelined and not side.rest):
            outer = _counted(f"{loop.iv}_0", f"{loop.name}_0", int(side.blocks))
            blocks.append(_piped(outer, asked) if k == asked.pipelined else outer)
            index = index + Affine.of(outer.iv) * side.copies
        if side.copies > 1:
            inner = _counted(f"{loop.iv}_1", loop.name if whole else f"{loop.name}_1", side.copies)
            points.append(replace(inner, unroll=0))
            index = index + Affine.of(inner.iv)
        values[loop.iv] = index
        if side.guarded:
            guards.append(Constraint(Affine((), low + _some(loop, side) - 1) - index, ">="))
    nodes = placed(band.body, values)
    if guards:
        nodes = (TreeGuard(tuple(guards), nodes),)
    for each in reversed((*blocks, *points)):
        lowers, uppers = _bounds(each, values)
        name = f"{prefix}{each.name}"
        nodes = (replace(each, name=name, lowers=lowers, uppers=uppers, body=nodes),)
    return guards_outside(nodes)


def _some(loop: TreeLoop, side: Side) -> int:
    """Iterations of guarded blocks: those of the loop, or all but one where that many fill them."""
    blocks, trips = int(side.blocks), loop.constant_trip or 0
    filled = not (blocks - 1) * side.copies < trips < blocks * side.copies
    return blocks * side.copies - 1 if filled else trips


def _bounds(
    loop: TreeLoop, values: Mapping[str, Affine]
) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
    return (
        tuple(b.substitute(values) for b in loop.lowers),
        tuple(b.substitute(values) for b in loop.uppers),
    )


def _counted(iv: str, name: str, trips: int) -> TreeLoop:
    return TreeLoop(iv, name, (Affine(()),), (Affine((), trips),), 1, ())


def _piped(loop: TreeLoop, asked: Asked) -> TreeLoop:
    """The pipelined loop; `dse.space.space.nest_steps` says where it is not to be flattened."""
    return replace(loop, pipeline_ii=asked.ii, flatten=False if asked.apart else loop.flatten)
