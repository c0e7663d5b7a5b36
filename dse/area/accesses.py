"""LUTs around the accesses of a body: what selects and decodes banks, and what ports choose among.

A subscript ``sum(c_v * v) + c``, where loop v is left in blocks of ``u_v`` copies, is known modulo the greatest common
divisor of the banks and of every ``c_v * u_v``, as in `dse.space.memory.banks`. What that costs `qor_gnn.area` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import gcd, prod
from typing import NamedTuple

from dse.space.nests.nest import Use
from dsl.expressions.affine import Affine
from qor_gnn.area.multiplexers import bank_multiplexer, multiplexer

_MANY = 4096  # places of a subscript that are counted one by one

Counts = Mapping[str, int]
"""By the name of a loop: its copies in a body, or the blocks that are left of it."""


class Reach(NamedTuple):
    """Where one copy of an access may go, and where all copies together do.

    Attributes:
        banks: that one copy may be in.
        decoded: those but one in each dimension, or of all.
        selection: LUTs to select among them.
        complete: dimensions that move are split completely.
        classes: residues of banks that copies are in. Accesses of one residue cannot be told apart.
        touched: banks that some copy may be in.
    """

    banks: int
    decoded: int
    selection: float
    complete: bool
    classes: int
    touched: int


class Traffic(NamedTuple):
    """Of one array in one body.

    Attributes:
        selections: LUTs of multiplexers behind loads.
        decoders: banks that stores decode.
        shifted: addresses of stores in shift registers.
        reads, writes: LUTs of multiplexers of ports.
        read, written: banks that are read, and written, which other bodies may use as well; 0 of registers.
    """

    selections: float
    decoders: float
    shifted: float
    reads: float
    writes: float
    read: int
    written: int


@dataclass(slots=True)
class ArrayAccesses:
    """The accesses of a nest to one array.

    Attributes:
        array: its name.
        uses: the accesses.
        joint: banks of several dimensions are decoded together.
        moving: loops in their subscripts.
    """

    array: str
    uses: tuple[Use, ...]
    joint: bool
    moving: frozenset[str] = field(init=False)
    _known: dict[object, Traffic] = field(default_factory=dict)

    def __post_init__(self) -> None:
        indices = [index for use in self.uses for index in use.indices]
        self.moving = frozenset(str(v) for index in indices for v in index.variables())

    def traffic(
        self, copies: Counts, blocks: Counts, factors: tuple[int, ...], waits: tuple[bool, ...]
    ) -> Traffic:
        """What the accesses of a body take.

        Args:
            copies: of each loop.
            blocks: of the loops whose number of iterations is known.
            factors: banks of each dimension.
            waits: whether addresses of stores wait for several iterations, and those of what is loaded as well.
        """
        key = (
            tuple((v, u) for v, u in copies.items() if u > 1 and v in self.moving),
            tuple((v, b) for v, b in blocks.items() if v in self.moving),
            factors,
            waits,
        )
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._traffic(copies, blocks, factors, waits)
        return found

    def _traffic(
        self, copies: Counts, blocks: Counts, factors: tuple[int, ...], waits: tuple[bool, ...]
    ) -> Traffic:
        registers = all(f >= n for f, n in zip(factors, self.uses[0].shape, strict=True))
        loaded = {use.indices for use in self.uses if not use.write}
        selections = decoders = shifted = 0.0
        ports, banks = [0.0, 0.0], [0, 0]
        for write in (False, True):
            mine = [use for use in self.uses if use.write == write]
            accesses, classes = 0.0, 1
            for use, count in zip(mine, distinct(mine, copies), strict=True):
                one = reach(use, copies, blocks, factors, self.joint)
                accesses += count
                classes = max(classes, one.classes)
                banks[write] = max(banks[write], one.touched)
                if not write:
                    selections += count * one.selection
                    continue
                decoders += count * one.decoded
                # Where every dimension that moves is split completely the address in a bank stands.
                again = use.indices in loaded
                if waits[again] and not registers and (again or not one.complete):
                    shifted += count * one.banks
            ports[write] = _ports(accesses, classes)
        if registers:
            return Traffic(selections, decoders, shifted, 0.0, 0.0, 0, 0)
        return Traffic(selections, decoders, shifted, ports[0], 2 * ports[1], banks[0], banks[1])


def _ports(accesses: float, classes: int) -> float:
    """LUTs in front of the ports of so many classes of banks; of those that are written data has one, too."""
    each, more = divmod(round(accesses), classes)
    return more * _port(each + 1) + (classes - more) * _port(each)


def _port(accesses: int) -> float:
    return multiplexer(accesses + 1) if accesses > 1 else 0.0


def reach(
    use: Use, copies: Counts, blocks: Counts, factors: Sequence[int], joint: bool = False
) -> Reach:
    """Where an access may go.

    Args:
        use: the access.
        copies: of each loop.
        blocks: of the loops whose number of iterations is known; others move, nobody knows how often.
        factors: banks of each dimension.
        joint: banks of several dimensions are decoded together.
    """
    width, decoded, selection, complete, classes, touched = 1, 0, 0.0, True, 1, 1
    for index, factor, extent in zip(use.indices, factors, use.shape, strict=True):
        moving = {str(v): abs(c) for v, c in index.terms if blocks.get(str(v), 2) > 1}
        # Of a remainder of a loop that is unrolled completely each copy knows its bank.
        known = index.is_linear or all(blocks.get(v, 2) <= 1 for v in index.variables())
        if known and not index.is_linear:
            moving = {}
        if (moving or not known) and factor < extent:
            complete = False
        if factor == 1:
            continue
        stride = 1
        if known:
            stride = gcd(factor, *(c * copies.get(v, 1) for v, c in moving.items()))
        banks = possible = factor // stride
        steps = [v for v, c in moving.items() if c * copies.get(v, 1) % factor]
        # The range of what moves is known where every element has a bank, or multiples of the banks move besides.
        if index.is_linear and (factor >= extent or len(steps) < len(moving)):
            banks = min(possible, prod(blocks.get(v, possible) for v in steps))
        selection += width * bank_multiplexer(factor, stride, banks)
        width *= banks
        decoded += banks - 1
        residues = 1 if stride == 1 else len({p % stride for p in _places(index, copies)})
        classes *= residues
        touched *= min(factor, banks * residues)
    return Reach(width, width - 1 if joint else decoded, selection, complete, classes, touched)


def distinct(uses: Sequence[Use], copies: Counts) -> list[float]:
    """How many elements the copies of each access touch: a share of those that several touch, like a stencil's."""
    found: list[float] = []
    alike: dict[tuple[object, ...], list[int]] = {}
    for n, use in enumerate(uses):
        moving = {str(v) for index in use.indices for v in index.variables()}
        every = prod(copies.get(v, 1) for v in moving)
        if all(index.is_linear for index in use.indices):
            every = min(every, prod(len(_places(index, copies)) for index in use.indices))
            alike.setdefault(tuple(index.terms for index in use.indices), []).append(n)
        found.append(float(every))
    for members in alike.values():
        if len(members) == 1:
            continue
        dims = range(len(uses[members[0]].indices))
        box = prod(
            len(set().union(*(_places(uses[n].indices[d], copies) for n in members))) for d in dims
        )
        share = min(1.0, box / sum(found[n] for n in members))
        for n in members:
            found[n] *= share
    return found


def _places(index: Affine, copies: Counts) -> frozenset[int]:
    """The values of a subscript in the copies of a body, loops that are left at zero."""
    steps = tuple((c, u) for v, c in index.terms if (u := copies.get(str(v), 1)) > 1)
    return _values(index.const, steps)


@lru_cache(maxsize=65536)
def _values(const: int, steps: tuple[tuple[int, int], ...]) -> frozenset[int]:
    if prod(u for _, u in steps) > _MANY:
        low = sum(min(0, c * (u - 1)) for c, u in steps)
        high = sum(max(0, c * (u - 1)) for c, u in steps)
        return frozenset(range(const + low, const + high + 1))
    ways = product(*(range(0, c * u, c) for c, u in steps))
    return frozenset(const + sum(way) for way in ways)
