"""Lanes of words: elements that are taken out of words which are read, and put into words which are written.

A word is one access of a port, however many of its lanes are read. A lane that is known costs no logic; one that
moves is shifted to its place. A word is read before some of its lanes are written, unless all of them are: that the
tool has write enables for single bytes is in no report that we know, and so it is taken to have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dsl.expressions.affine import Affine
from qor_gnn.body.graph import Graph
from qor_gnn.design.region import Memory, Statement
from qor_gnn.memory.addresses import Site
from qor_gnn.tools.personality import Personality


@dataclass(slots=True)
class Lanes:
    """Of the words of one body.

    Attributes:
        written: lanes that are stored in every iteration, by address.
        read: loads that are there only so that a word can be written in part, by address.
    """

    graph: Graph
    tool: Personality
    written: dict[int, set[int]] = field(default_factory=dict)
    read: dict[int, int] = field(default_factory=dict)
    _taken: dict[tuple[int, Affine], int] = field(default_factory=dict)
    _put: dict[int, tuple[int, dict[Affine, int]]] = field(default_factory=dict)

    def element(
        self, place: Site, copies: Mapping[str, int], address: int, word: int, statement: Statement
    ) -> int:
        """The value of one lane of a word."""
        lane = self._lane(place, copies, address)
        before, lanes = self._put.get(word, (word, {}))
        if lane in lanes:
            return lanes[lane]
        if all((lane - other).is_const for other in lanes):
            word = before  # none of those that were put in since then
        self.read.pop(address, None)  # it is wanted for itself
        found = self._taken.get((word, lane))
        if found is None:
            memory = self.graph.addresses.memory(address)
            kind, width = ("cast", 1) if lane.is_const else ("shr", memory.word_bits)
            found = self._taken[word, lane] = self._added(kind, width, (word,), statement)
        return found

    def _lane(self, place: Site, copies: Mapping[str, int], address: int) -> Affine:
        """The lane that is accessed, and a note of what moves it."""
        lane = place.lane_in(copies)
        if not lane.is_const:
            known = self.graph.addresses.lane_counters
            known[address] = known.get(address, frozenset()) | lane.variables()
        return lane

    def stored(
        self,
        place: Site,
        copies: Mapping[str, int],
        address: int,
        word: int,
        value: int,
        statement: Statement,
    ) -> int:
        """The word with one lane of another value."""
        lane = self._lane(place, copies, address)
        new = self._with_lane(place, lane.is_const, word, value, statement)
        before, lanes = self._put.get(word, (word, {}))
        if all((lane - other).is_const for other in lanes):
            self._put[new] = (before, {**lanes, lane: value})
        return new

    def _with_lane(
        self, place: Site, known: bool, word: int, value: int, statement: Statement
    ) -> int:
        if known:
            return self._added("cast", 1, (word, value), statement)
        bits = self.graph.addresses.memories[place.memory].word_bits
        moved = self._added("shl", bits, (value,), statement)
        kept = self._added("and", bits, (word,), statement)
        return self._added("or", bits, (kept, moved), statement)

    def whole(self, memory: Memory, address: int, lane: Affine) -> bool:
        """One more lane is stored in every iteration: whether all are now."""
        if not lane.is_const:
            return False
        lanes = self.written.setdefault(address, set())
        lanes.add(lane.const)
        return len(lanes) == memory.lanes

    def leave_out(self, address: int) -> None:
        """All lanes are stored, and none was wanted: the word is not read."""
        load = self.read.pop(address, None)
        if load is not None:
            graph = self.graph
            graph.kind[load], graph.operator[load] = "cast", self.tool.operator("cast", "int", 1)
            graph.address[load] = -1
            graph.loads.pop(address, None)

    def _added(self, kind: str, width: int, deps: tuple[int, ...], statement: Statement) -> int:
        operator = self.tool.operator(kind, "int", width)
        return self.graph.add(kind, operator, tuple(d for d in deps if d >= 0), -1, statement)
