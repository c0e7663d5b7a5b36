"""Builds the operations of a body some of whose arrays hold several elements a word (`qor_gnn.body.lanes`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dsl.expressions.affine import Affine, FloorDiv
from qor_gnn.body.expander import Env, Expander
from qor_gnn.body.lanes import Lanes
from qor_gnn.design.region import Access, Statement
from qor_gnn.memory.addresses import Addresses, Site
from qor_gnn.tools.personality import Personality


def expander_of(
    personality: Personality,
    addresses: Addresses,
    memory_numbers: Mapping[str, int],
    env: Env,
    copied: frozenset[str],
    from_zero: frozenset[str] = frozenset(),
    counted: Mapping[str, int] | None = None,
) -> Expander:
    """An `Expander`, which knows of words where some memory has several elements in one.

    Args:
        personality, addresses, memory_numbers, env, copied, from_zero: see there.
        counted: variables that number copies, and how many there are of each.
    """
    if all(m.lanes == 1 for m in addresses.memories):
        return Expander(personality, addresses, memory_numbers, env, copied, from_zero)
    made = WordExpander(personality, addresses, memory_numbers, env, copied, from_zero)
    made.ranges = {v: (0, count - 1) for v, count in (counted or {}).items()}
    return made


@dataclass(slots=True)
class WordExpander(Expander):
    """Loads words for elements, and puts elements into words that are stored."""

    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)  # of numbers of copies
    _lanes: Lanes = field(init=False)

    def __post_init__(self) -> None:
        Expander.__post_init__(self)
        self._lanes = Lanes(self.graph, self.personality)

    def _site(self, access: Access) -> Site:
        if access.lane is None:
            return Expander._site(self, access)
        for e in access.indices:
            if e not in self._placed:
                self._placed[e] = self._settled(e.substitute(self.env))
        lane = self._settled(access.lane.substitute(self.env))
        return replace(Expander._site(self, access), lane=lane)

    def _settled(self, e: Affine) -> Affine:
        """With a constant for each division that has one quotient in all copies."""
        for atom, k in e.terms:
            if isinstance(atom, FloorDiv) and atom.numerator.variables() <= self.ranges.keys():
                low, high = atom.numerator.interval(self.ranges)
                if low // atom.denominator == high // atom.denominator:
                    e = e + Affine(((atom, -k),)) + k * (low // atom.denominator)
        return e

    def _load(
        self,
        place: Site,
        statement: Statement,
        copies: Mapping[str, int],
        data: Sequence[int] = (),
    ) -> int:
        word = Expander._load(self, place, statement, copies, data)
        if place.lane is None:
            return word
        address = place.place(self.addresses, copies)
        return self._lanes.element(place, copies, address, word, statement)

    def _store(
        self, place: Site, statement: Statement, value: int, copies: Mapping[str, int]
    ) -> None:
        if place.lane is None:
            Expander._store(self, place, statement, value, copies)
            return
        address, lanes = place.place(self.addresses, copies), self._lanes
        word = self._held(address)
        if word is None:
            fresh = address not in self.graph.loads
            word = Expander._load(self, place, statement, copies)
            if fresh and self.graph.loads.get(address) == word:
                lanes.read[address] = word
        value = lanes.stored(place, copies, address, word, value, statement)
        Expander._store(self, place, statement, value, copies)
        memory = self.addresses.memories[place.memory]
        told_apart = self._told_apart(place.memory) and not memory.in_order
        if (
            told_apart
            and self.when == "always"
            and lanes.whole(memory, address, place.lane_in(copies))
        ):
            lanes.leave_out(address)
