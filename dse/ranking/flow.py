"""A sequence of nests so far, by the rules of `qor_gnn.schedule.compose`."""

from __future__ import annotations

from dataclasses import dataclass, field

from dse.ranking.blocks import Block
from dse.ranking.pieces import Piece
from dse.space.costs.cost import Units, added


@dataclass(slots=True)
class Flow:
    """The current state, how it came there, and what the sequence takes."""

    at: float = 0
    called_at: float = 0
    ended: bool = False  # by a call
    calls: list[frozenset[str]] = field(default_factory=list)
    stage: Units = ()
    most: list[Units] = field(default_factory=list)
    piped: bool = False
    memories: frozenset[str] = frozenset()
    address_dsp: int = 0
    only: Piece | None = None  # all that there is
    block: Block | None = None  # in front of what is next

    @property
    def returned(self) -> float:
        """States of a function that it is the body of (`qor_gnn.schedule.flow.until_return`)."""
        if self.only is not None and self.only.is_pipeline and self.ended:
            return self.at - (0 if self.only.first else 1)
        return self.at + (0 if self.ended else 1)

    def put(self, block: Block, last: bool) -> None:
        """A block, for which what is next waits; what is ``last`` ends the sequence."""
        self.most.append(block.units)
        self.memories |= block.memories
        self.address_dsp += block.address_dsp
        self.only, self.block = None, block
        if last:
            self.at, self.ended, self.block = self.at + block.last, True, None

    def waits(self, piece: Piece, behind: bool) -> float:
        """States by which a piece starts later for the block in front of it: none beside calls that this needs nothing
        of.
        """
        block, self.block = self.block, None
        if block is None or (behind and not any(block.memories & other for other in self.calls)):
            return 0
        if block.before:
            self.calls = []
        return block.before if behind else max(0, block.before - piece.first)

    def follow(self, piece: Piece, loops: bool) -> None:
        """A nest, beside the calls in front of it where these share no array.

        Args:
            piece: the nest.
            loops: whether the tool runs loops of all kinds beside one another.
        """
        begins, ends = (True, True) if loops else piece.calls
        behind = self.ended and begins
        states = piece.states - (piece.first if behind and not loops else 0)
        states += self.waits(piece, behind)
        apart = all(not piece.memories & other for other in self.calls)
        beside = bool(self.calls) and behind and apart
        if not beside:
            self.calls, self.called_at, self.stage = [], self.at, ()
        self.stage = added((self.stage, piece.units)) if beside else piece.units
        self.most.append(self.stage)
        self.at = max(self.at, self.called_at + states)
        self.ended = ends
        self.piped |= piece.piped
        self.memories |= piece.memories
        self.address_dsp += piece.address_dsp
        self.calls = [*self.calls, piece.memories] if ends else []
