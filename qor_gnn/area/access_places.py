"""Where accesses go, as the hardware sees it: banks that they may be in, widths of addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil, gcd, prod
from typing import NamedTuple

from dsl.expressions.types import FixedType, FloatType, IntType
from polyhedral.banks.splits import words_a_bank
from qor_gnn.area.multiplexers import bank_multiplexer
from qor_gnn.body.body import Body, only_multiplexed
from qor_gnn.design.region import Memory
from qor_gnn.memory.addresses import Addresses, Terms

_INDEX = 32


def word(memory: Memory) -> int:
    """Bits of an element."""
    dtype = memory.dtype
    return dtype.width if isinstance(dtype, IntType | FixedType | FloatType) else _INDEX


Steps = Mapping[str, int]
"""How many values each counter has whose loop starts at a constant."""


class Unknown(NamedTuple):
    """A dimension whose bank is not known: it is one of ``banks``, of those ``stride`` apart."""

    dimension: int
    factor: int
    stride: int
    banks: int


def unknown_banks(table: Addresses, address: int, steps: Steps) -> list[Unknown]:
    """The dimensions whose bank is not known.

    Those are the ones of a residue class; where every element has a bank, which is its subscript,
    no more than that has values.
    """
    shape = table.shape(address)
    memory = table.memories[shape.memory]
    found = []
    for d, (split, g) in enumerate(zip(memory.splits, shape.moduli, strict=True)):
        possible = split.factor // g
        if possible > 1:
            terms = _bank_terms(shape.terms[d], split.factor, memory.shape[d])
            banks = values(terms, steps, possible) if terms else possible
            found.append(Unknown(d, split.factor, g, min(possible, banks)))
    return found


def _bank_terms(terms: Terms, factor: int, extent: int) -> Terms:
    """What moves of a bank of which the tool knows the range; nothing where it does not.

    It does where every element has a bank, and where multiples of the number of banks move besides:
    what is left of them is narrow.
    """
    if factor >= extent:
        return terms
    left = tuple([t for t in terms if t[1] % factor])
    return left if len(left) < len(terms) else ()


def fewer_banks(table: Addresses, address: int, steps: Steps) -> bool:
    """It is in fewer banks than its residue class has."""
    found = unknown_banks(table, address, steps)
    return any(one.banks < one.factor // one.stride for one in found)


def bank_rotates(table: Addresses, address: int, steps: Steps) -> bool:
    """Its bank is not known, and the remainder of a subscript: a bank has several elements."""
    shape = table.memory(address).shape
    unknown = unknown_banks(table, address, steps)
    return any(one.banks > 1 and one.factor < shape[one.dimension] for one in unknown)


def values(terms: Terms, steps: Steps, most: int) -> int:
    """How many values a moving subscript has; ``most`` where it is not known."""
    total = 1
    for atom, _ in terms:
        total *= steps.get(atom, most) if isinstance(atom, str) else most
    return total


def reached(table: Addresses, address: int, steps: Steps) -> int:
    """Banks that an access may be in."""
    return prod(one.banks for one in unknown_banks(table, address, steps))


def selection(table: Addresses, address: int, steps: Steps) -> float:
    """LUTs to select the bank of a load: an inner one for each outer bank, and an outer one."""
    total, width = 0.0, 1
    for one in unknown_banks(table, address, steps):
        _, factor, stride, banks = _decoded(table, address, one)
        total += width * bank_multiplexer(factor, stride, banks)
        width *= banks
    return total


def _decoded(table: Addresses, address: int, one: Unknown) -> Unknown:
    """What the tool selects among if an element of a row has a bank: all but what low zeros exclude.

    It knows of the subscript that it is a multiple of a power of two, not how many values it has,
    unless it steps by that power. In other dimensions, and in arrays of one, it does know.
    """
    shape = table.shape(address)
    memory = table.memories[shape.memory]
    last = len(memory.shape) - 1
    if not 0 < one.dimension == last or one.factor < memory.shape[last]:
        return one
    strides = [abs(k) for _, k in shape.terms[last]]
    low = min(k & -k for k in strides)
    if all(k == low for k in strides):
        return one
    return one._replace(stride=low, banks=max(one.banks, ceil(memory.shape[last] / low)))


def banks_of(table: Addresses, address: int, steps: Steps) -> tuple[tuple[int, ...], ...]:
    """By dimension the banks that an access may be in."""
    shape, consts = table.shape(address), table.consts[address]
    memory = table.memories[shape.memory]
    found = []
    for d, (split, (g, r)) in enumerate(zip(memory.splits, table.residues[address], strict=True)):
        possible = range(r, split.factor, g)
        terms = _bank_terms(shape.terms[d], split.factor, memory.shape[d])
        if terms and values(terms, steps, len(possible)) < len(possible):
            ways = product(*(range(steps[str(v)]) for v, _ in terms))
            moved = (sum(k * x for (_, k), x in zip(terms, way, strict=True)) for way in ways)
            found.append(tuple(sorted({(consts[d] + m) % split.factor for m in moved})))
        else:
            found.append(tuple(possible))
    return tuple(found)


def address_bits(table: Addresses, address: int) -> int:
    """Width of the address inside a bank."""
    memory = table.memory(address)
    return (words_a_bank(memory.shape, memory.splits) - 1).bit_length()


@dataclass(frozen=True, slots=True)
class Place:
    """What accesses of one shape have in common in a body.

    Attributes:
        word: bits of an element.
        single: every bank is a single element: no memory.
        complete: dimensions that move are split completely: a multiplexer of registers is left.
        reached: banks that it may be in.
        decoded: those but one in each dimension, where a dimension's bank is decoded by itself.
        selections: multiplexers behind each other that have a register, where there are any.
        selection: LUTs to select among them.
        bits: width of the address inside a bank.
        moving: of it what is not fixed by a constant last subscript.
        known: low bits of its last part that moving leaves at 0, as a mask.
        factor: banks of the last dimension.
    """

    word: int
    single: bool
    complete: bool
    reached: int
    decoded: int
    selections: int
    selection: float
    bits: int
    moving: int
    known: int
    factor: int

    def address_register(self, consts: tuple[int, ...]) -> int:
        """Bits of a register for the address: those that are not known."""
        if self.known == 0 or not consts:
            return self.moving
        row = consts[-1] // self.factor
        return self.moving - (self.known & ~row).bit_count()


def places(body: Body, steps: Steps) -> dict[int, Place]:
    """The places of a body's accesses, by shape."""
    found: dict[int, Place] = {}
    address, shape_of = body.graph.address, body.addresses.shape_of
    for n in body.nodes:
        if address[n] >= 0 and (shape := shape_of[address[n]]) not in found:
            found[shape] = _place(body, n, steps)
    return found


def _decoders(body: Body, address: int, steps: Steps) -> int:
    """Banks that a store may be in but one, of all or of each dimension."""
    if body.personality.multiplexers.banks == "joint":
        return reached(body.addresses, address, steps) - 1
    return sum(one.banks - 1 for one in unknown_banks(body.addresses, address, steps))


def _selections(body: Body, address: int, steps: Steps) -> int:
    """Multiplexers of banks that have a register: one of all or of each dimension."""
    if body.personality.multiplexers.banks == "joint":
        return 1
    return len(unknown_banks(body.addresses, address, steps))


def _place(body: Body, node: int, steps: Steps) -> Place:
    table, address = body.addresses, body.graph.address[node]
    memory, terms = table.memory(address), table.shape(address).terms
    bits = address_bits(table, address)
    factor = memory.splits[-1].factor if memory.splits else 1
    moving, known = bits, 0
    if terms and not terms[-1]:
        moving -= (ceil(memory.shape[-1] / factor) - 1).bit_length()
    elif terms:
        stride = 0
        for _, k in terms[-1]:
            stride = gcd(stride, k)
        stride //= factor
        known = (stride & -stride) - 1 if stride > 1 else 0
    return Place(
        word(memory),
        memory.in_registers,
        only_multiplexed(body, node),
        reached(table, address, steps),
        _decoders(body, address, steps),
        _selections(body, address, steps),
        selection(table, address, steps),
        bits,
        moving,
        known,
        factor,
    )
