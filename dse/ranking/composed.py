"""What a design takes, from what its nests take: by the rules of `qor_gnn.schedule.compose`.

Nests run one after the other, those that share no array beside one another where the tool does so; in loops
around that several share they run in each iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dse.ranking.blocks import Block, block_of
from dse.ranking.clusters import Clusters
from dse.ranking.flow import Flow
from dse.ranking.memories import Decisions, Memories, Picked, settled
from dse.ranking.nests import Nests
from dse.ranking.pieces import Piece
from dse.ranking.places import (
    Around,
    Part,
    nests_in,
    processes_in,
)
from dse.ranking.templates import Template, like
from dse.space.costs.cost import Shared, Units, added, dsp_of
from dse.space.memory.banks import Demand
from dse.space.variant import Variant
from dsl.programs.program import Program
from dsl.schedules.steps import Reassociate
from qor_gnn.schedule.overlapped import pace
from qor_gnn.tools.personality import Personality, allowed


@dataclass(frozen=True, slots=True)
class _Process:
    """One of a loop whose body is a dataflow region, in states of its first iteration."""

    start: float
    end: float
    units: Units
    memories: frozenset[str]
    address_dsp: int


class Composed:
    """The designs of one variant."""

    def __init__(
        self,
        variant: Variant,
        program: Program,
        tool: Personality,
        shared: dict[object, Template] | None = None,
    ) -> None:
        """Nothing is scheduled yet but what others, of which ``shared`` has the templates, have."""
        self.variant = variant
        self._decides = allowed(tool, any(isinstance(s, Reassociate) for s in variant.steps))
        # What is stored how is decided for the design as a whole, not for the part that is scheduled.
        self.tool = settled(self._decides)
        self.nests = Nests(variant, program, self.tool, {} if shared is None else shared)
        self._clusters = Clusters(self.nests)
        self._decisions: Decisions | None = None
        self._blocks: dict[object, Block | None] = {}

    @property
    def decisions(self) -> int:
        """How many were made on local arrays."""
        return 0 if self._decisions is None else self._decisions.count

    def figures(self, choices: Sequence[Picked], banks: Demand) -> tuple[float, float] | None:
        """Cycles and DSP slices of a design; None where it has no templates.

        Args:
            choices: for each nest its order, vector and interval.
            banks: the factors of all arrays.
        """
        plan = self.nests.plan
        if plan is None:
            return None
        memories = self._kept(choices, banks)
        if memories is None:
            return None
        if self.variant.beside:
            return self._at_once(plan, choices, memories)
        flow = self._flow(plan, choices, memories)
        if flow is None:
            return None
        return flow.returned - 1, dsp_of(flow.most) + flow.address_dsp

    def rates(self, choices: Sequence[Picked], banks: Demand) -> list[tuple[tuple[int, int], ...]]:
        """Interval and states of the nests that each nest becomes; nothing of one that has no schedule of its own."""
        memories = None if self.nests.plan is None else self._kept(choices, banks)
        if memories is None:
            return [()] * len(choices)
        known = (self.nests.known(n, choice, memories) for n, choice in enumerate(choices))
        return [() if piece is None else piece.rates for piece in known]

    def _kept(self, choices: Sequence[Picked], banks: Demand) -> Memories | None:
        """All arrays as the tool keeps them; None where a nest has no template."""
        if self._decisions is None:
            assert self.nests.plan is not None
            tree, plan = self.nests.tree, self.nests.plan
            self._decisions = Decisions(self.variant, tree, plan, self._decides)
        return self._decisions.memories(choices, banks, self.nests.unrolled)

    def _at_once(
        self, plan: Sequence[Part], choices: Sequence[Picked], memories: Memories
    ) -> tuple[float, float] | None:
        """All nests beside one another: as long as the longest."""
        pieces: list[Piece] = []
        for part in plan:
            piece = self._part(part, choices, memories)
            if piece is None:
                return None
            pieces.append(piece)
        dsp = dsp_of([added(piece.units for piece in pieces)])
        return max(piece.states for piece in pieces), dsp + sum(p.address_dsp for p in pieces)

    def _flow(
        self, parts: Sequence[Part], choices: Sequence[Picked], memories: Memories
    ) -> Flow | None:
        flow = Flow()
        loops = self.tool.composition.concurrent == "loops"
        for at, part in enumerate(parts):
            if self._is_block(part):
                if at and self._is_block(parts[at - 1]):
                    continue  # the same block
                block = self._block(parts, at, memories)
                if block is None:
                    return None
                flow.put(block[0], last=block[1] == len(parts))
                continue
            piece = self._part(part, choices, memories)
            if piece is None:
                return None
            flow.follow(piece, loops)
            flow.only = piece if len(parts) == 1 else None
        return flow

    def _is_block(self, part: Part) -> bool:
        return isinstance(part, int) and not self.variant.nests[part].orders[0].band

    def _block(
        self, parts: Sequence[Part], at: int, memories: Memories
    ) -> tuple[Block, int] | None:
        """The statements outside all loops from a place on, and the place where they end."""
        end = next((k for k in range(at, len(parts)) if not self._is_block(parts[k])), len(parts))
        own = self.nests.own(tuple(nests_in(parts[at:end])), memories)
        key = (at, end, own)
        if key not in self._blocks:
            tree = self.nests.tree
            found = like(tree, self.variant.program, tree.body[at:end], [own.banks])
            self._blocks[key] = block_of(found, self.tool, own.stored)
        block = self._blocks[key]
        return None if block is None else (block, end)

    def _part(self, part: Part, choices: Sequence[Picked], memories: Memories) -> Piece | None:
        if isinstance(part, int):
            return self.nests.piece(part, choices[part], memories)
        if any(not self.variant.nests[n].orders[0].band for n in nests_in((part,))):
            return self._clusters.piece(part, choices, memories)
        return self._around(part, choices, memories)

    def _around(
        self, around: Around, choices: Sequence[Picked], memories: Memories
    ) -> Piece | None:
        """The nests of an iteration, so often."""
        runs = around.trips
        if around.loop.processes:
            return self._overlapped(around, choices, memories)
        while len(around.body) == 1 and isinstance(around.body[0], Around):
            if around.body[0].loop.processes:
                break
            around = around.body[0]
            runs *= around.trips
        flow = self._flow(around.body, choices, memories)
        if flow is None:
            return None
        depth = flow.at + (0 if flow.ended else 1)
        loops = self.tool.composition.concurrent == "loops"
        states = 1 + runs * depth + (1 if loops else 0)
        units = Shared(flow.most).units()
        calls = (loops, loops)
        return Piece(states, 0, calls, units, flow.memories, flow.address_dsp, flow.piped)

    def _overlapped(
        self, around: Around, choices: Sequence[Picked], memories: Memories
    ) -> Piece | None:
        """The processes of an iteration, which begins when the slowest is free; by the rules of
        `qor_gnn.schedule.overlapped`.
        """
        processes: list[_Process] = []
        for parts in processes_in(around, self.variant.nests):
            flow = self._flow(parts, choices, memories)
            if flow is None:
                return None
            start = max((p.end + 1 for p in processes if p.memories & flow.memories), default=0.0)
            end = start + flow.returned
            units = Shared(flow.most).units()
            processes.append(_Process(start, end, units, flow.memories, flow.address_dsp))
        depth, interval = pace([(p.start, p.end) for p in processes])
        loops = self.tool.composition.concurrent == "loops"
        states = max(0.0, around.trips - 1) * interval + depth + (1 if loops else 0)
        return Piece(
            states,
            0,
            (loops, loops),
            added([p.units for p in processes]),
            frozenset[str]().union(*(p.memories for p in processes)),
            sum(p.address_dsp for p in processes),
            False,
        )
