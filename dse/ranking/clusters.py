"""Nests and statements between them in the same loops, which a tool may join: scheduled together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dse.ranking.memories import Memories, Picked, Stored
from dse.ranking.nests import Nests, prefix
from dse.ranking.outline import Outlined
from dse.ranking.pieces import Piece, piped, units_in
from dse.ranking.places import Around, filled_with, nests_in
from dse.ranking.templates import Leaf, Template, like, scheduled

_LARGE = 256  # statements of a cluster that are too many to schedule here


class Clusters:
    """Those of one variant."""

    def __init__(self, nests: Nests) -> None:
        """Nothing is scheduled yet."""
        self.nests = nests
        self._pieces: dict[object, Piece | None] = {}
        self._clusters: dict[object, Outlined | None] = {}

    def piece(self, part: Around, choices: Sequence[Picked], memories: Memories) -> Piece | None:
        """Nests and statements between them in the same loops, which the tool may join."""
        inside = tuple(dict.fromkeys(nests_in((part,))))
        own = self.nests.own(inside, memories)
        key = (inside, tuple(choices[n] for n in inside), own)
        if key not in self._pieces:
            self._pieces[key] = self._clustered(part, inside, choices, own)
        return self._pieces[key]

    def _clustered(
        self, part: Around, inside: Sequence[int], choices: Sequence[Picked], memories: Memories
    ) -> Piece | None:
        leaves: dict[int, list[Leaf]] = {}
        for n in inside:
            if self.nests.variant.nests[n].orders[0].band:
                own = self.nests.leaves(n, choices[n], memories, whole_chains=True)
                if own is None:
                    return None
                leaves[n] = own
        relatives = tuple((n, tuple(x.relative for x in each)) for n, each in leaves.items())
        key = (tuple(inside), tuple(choices[n][0] for n in inside), relatives, memories.stored)
        if key not in self._clusters:
            self._clusters[key] = self._schedule(part, choices, leaves, memories.stored)
        found = self._clusters[key]
        if found is None:
            return None
        trips: dict[str, float] = {}
        more: dict[str, Mapping[str, float]] = {}
        for n, each in leaves.items():
            for k, leaf in enumerate(each):
                more[prefix(n, k)] = leaf.more
                trips.update({f"{prefix(n, k)}{v}": t for v, t in leaf.trips.items()})
        regions = found.regions
        units = units_in([(r, more) for r in regions], self.nests.tool)
        arrays = frozenset[str]().union(*(r.memories for r in regions))
        called = (regions[0].kind == "pipeline", regions[-1].kind == "pipeline")
        states = found.states(trips)
        return Piece(states, 0, called, units, arrays, found.address_dsp, piped(regions))

    def _schedule(
        self,
        part: Around,
        choices: Sequence[Picked],
        leaves: Mapping[int, list[Leaf]],
        stored: Stored,
    ) -> Outlined | None:
        templates: dict[int, Template] = {}
        for n in leaves:
            template = self.nests.template(n, choices[n][0])
            assert template is not None
            templates[n] = template
        if sum(templates[n].statements(x.relative) for n in leaves for x in leaves[n]) > _LARGE:
            return None
        nodes = {
            n: [
                node
                for k, x in enumerate(each)
                for node in templates[n].nodes(x.relative, prefix(n, k))
            ]
            for n, each in leaves.items()
        }
        pairs = [(templates[n], n, k, x) for n in leaves for k, x in enumerate(leaves[n])]
        demands = [template.banks(x.relative) for template, _, _, x in pairs]
        kept = frozenset[str]().union(
            *(template.kept(x.relative, prefix(n, k)) for template, n, k, x in pairs)
        )
        filled = filled_with((part,), (part.loop,), nodes)
        tree = like(self.nests.tree, self.nests.variant.program, filled, demands)
        return scheduled(tree, self.nests.tool, kept, 0, stored)
