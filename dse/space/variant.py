"""One structure of a program: the steps that make it, and its nests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dse.space.costs.at_once import Overlap
from dse.space.nests.early_exits import EarlyExit
from dse.space.nests.nest import Nest
from dsl.programs.program import Program
from dsl.schedules.steps import Partition, Pipeline, Step


@dataclass(frozen=True, slots=True)
class Variant:
    """One structure: the steps that make it, and its nests in execution order.

    ``program`` is the kernel with what the steps add to it, ``made`` are partitions that they bring with them.
    All nests run at the same time where they are ``beside`` one another, as processes with FIFOs between them.
    ``overlaps`` are the loops whose iterations overlap. Of what is ``certain`` no copies wait for one another, or but for
    registers of their own, which is where estimates of other structures are far too low. ``like`` names a structure whose
    copies wait for the same, so that how far an estimate of the one is off tells of the other. ``exits`` are loops that may
    end early.
    """

    name: str
    steps: tuple[Step, ...]
    nests: tuple[Nest, ...]
    program: Program
    made: tuple[Partition, ...] = ()
    beside: bool = False
    overlaps: tuple[Overlap, ...] = ()
    certain: bool = False
    like: str = ""
    exits: tuple[EarlyExit, ...] = ()

    @property
    def family(self) -> str:
        """The structures whose copies wait for the same: how many statements an iteration has does not matter."""
        return re.sub(r"\d+", "", self.like or self.name)

    @property
    def is_settled(self) -> bool:
        """Whether all that computes is as its steps say."""
        return all(o.given or not o.operations for nest in self.nests for o in nest.orders)

    @property
    def size(self) -> int:
        """Number of points."""
        total = 1
        for nest in self.nests:
            total *= nest.size
        return total


def any_interval(variant: Variant, but: Sequence[Step] = ()) -> Variant:
    """The structure with the intervals of the pipelines that its steps make open to choice, those of some steps kept."""
    loops = [s.loop for s in variant.steps if isinstance(s, Pipeline) and s not in but]

    def opened(nest: Nest) -> Nest:
        own = next((loop for loop in loops if loop.partition(".")[0] in nest.statements), "")
        orders = (replace(o, pipeline=own) if o.given else o for o in nest.orders)
        return replace(nest, orders=tuple(orders))

    return replace(variant, nests=tuple(map(opened, variant.nests)))


def once(variants: Iterable[Variant]) -> Iterator[Variant]:
    """Those without any choice once for the same steps."""
    seen: set[tuple[Step, ...]] = set()
    for variant in variants:
        if not all(nest.orders[0].given for nest in variant.nests):
            yield variant
        elif variant.steps not in seen:
            seen.add(variant.steps)
            yield variant
