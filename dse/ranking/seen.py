"""What a schedule sees of the banks of a nest's arrays.

Most banks that other nests ask for change nothing in a pipeline: the same is known of the bank of each
access, its address needs the same products, and the same arrays are in registers. Relatives that differ in
nothing else have one schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd, prod

from dse.ranking.outline import Outline
from dse.ranking.ports import Arrays, Copies, Factors, Gone
from dse.space.nests.nest import Use
from qor_gnn.tools.personality import Personality

Seen = tuple[object, ...]
Steps = tuple[tuple[int, int], ...]  # positions of loops in the nest, and coefficients


@dataclass(frozen=True, slots=True)
class _Access:
    """One access: per dimension what it moves with, and where the factors of its array are."""

    steps: tuple[Steps, ...]
    around: tuple[tuple[int, ...], ...]  # by how much loops around the nest move it
    shape: tuple[int, ...]
    first: int
    updated: bool  # the array is read as well as written
    alone: bool  # all accesses of the array are of one element


@dataclass(slots=True)
class Banks:
    """Of one order of a nest.

    Attributes:
        arrays: of the order.
        tool: whose schedule it is.
        around: the steps of the loops around the nest, by name.
    """

    arrays: Arrays
    tool: Personality
    around: dict[str, int]
    _accesses: tuple[_Access, ...] | None = field(init=False)
    _known: dict[object, Seen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        linear = all(index.is_linear for use in self.arrays.uses for index in use.indices)
        plain = self.tool.division is None and self.tool.partitioning is None
        banks = self.tool.banks
        plain &= not (banks.rotating or banks.hidden_by_innermost or banks.hidden_by_others)
        self._accesses = tuple(map(self._access, self.arrays.uses)) if linear and plain else None

    def _access(self, use: Use) -> _Access:
        same = [other for other in self.arrays.uses if other.array == use.array]
        place = {name: k for k, name in enumerate(self.arrays.loops)}
        terms = [[(str(v), c) for v, c in index.terms] for index in use.indices]
        return _Access(
            tuple(tuple((place[v], c) for v, c in own if v in place) for own in terms),
            tuple(
                tuple(c * self.around[v] for v, c in own if v in self.around and v not in place)
                for own in terms
            ),
            use.shape,
            self.arrays.places.index((use.array, 0)) if use.shape else 0,
            len({other.write for other in same}) > 1,
            len({other.indices for other in same}) == 1,
        )

    def seen(self, copies: Copies, gone: Gone, factors: Factors) -> Seen | None:
        """Equal for banks of which a schedule sees the same; None where that is not known.

        Args:
            copies: of each loop.
            gone: loops of which nothing is left to run.
            factors: the banks.
        """
        if self._accesses is None:
            return None
        key = (copies, gone, factors)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._seen(copies, gone, factors)
        return found

    def _seen(self, copies: Copies, gone: Gone, factors: Factors) -> Seen:
        assert self._accesses is not None
        kinds = tuple(f >= n for f, n in zip(factors, self.arrays.extents, strict=True))
        left = [k for k, each in enumerate(gone) if not each]
        inner = left[-1] if left else None
        # Of a loop by itself the address counts on: no row's number is multiplied.
        multiplied = len(left) > 1
        return (
            kinds,
            *(self._one(a, copies, gone, factors, inner, multiplied) for a in self._accesses),
        )

    def _one(
        self,
        access: _Access,
        copies: Copies,
        gone: Gone,
        factors: Factors,
        inner: int | None,
        multiplied: bool,
    ) -> Seen:
        """What is known of the bank of one access, and what the products that its address needs depend on.

        The bank is known modulo the greatest common divisor of the factor and of what the loops that are left
        move the subscript by in a step (`qor_gnn.memory.addresses`). How long a row in a bank is, and which rows and
        columns are at one place in theirs, tells what products there are (`qor_gnn.body.address_products`): of
        rows that are no power of two long all banks count.
        """
        own = factors[access.first : access.first + len(access.shape)]
        moduli: list[int] = []
        moves, single = False, access.alone
        for d in reversed(range(len(own))):
            left = [(k, c * copies[k]) for k, c in access.steps[d] if not gone[k]]
            moves |= any(k == inner for k, _ in access.steps[d])
            single &= all(copies[k] == 1 for k, _ in access.steps[d])
            moduli.append(gcd(own[d], *(step for _, step in left), *access.around[d]))
        lengths = (-(-n // f) for n, f in zip(access.shape[1:], own[1:], strict=True))
        places = own if multiplied and any(n & (n - 1) for n in lengths) else ()
        known = moves or moduli == list(reversed(own))
        # Elements of a bank that are updated wait for one another, if there are several; what keeps an accumulator in
        # a register asks whether its array is in one piece.
        kept = not moves and (not multiplied or self.tool.flattening.promotes_first)
        split = access.updated and ((not single and own[-1:] > (1,)), (kept and prod(own) > 1))
        return (known, split, *moduli, *places)


def in_line(regions: Sequence[Outline]) -> bool:
    """Whether the regions are one pipeline, and loops around it."""
    if len(regions) != 1:
        return False
    (only,) = regions
    return only.kind == "pipeline" or (only.kind == "nest" and in_line(only.children))
