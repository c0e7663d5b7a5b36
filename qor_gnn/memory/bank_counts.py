"""Numbers of banks that keep the accesses of an iteration apart (docs/lab/u200.md, section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod

from qor_gnn.memory.automatic_pipelines import Pipe, Touch, copy_of, reaches_beyond, starts_beyond

_PORTS = 2  # of a bank


def for_ports(accesses: int, copies: int) -> int:
    """Banks for so many accesses of two ports a bank: a divisor of the unroll factor if it can."""
    need = -(-accesses // 2)
    for factor in range(1, copies + 1):
        if copies % factor == 0 and factor >= need:
            return factor
    return copies * -(-need // copies)


def in_one_piece(
    pipe: Pipe, arrays: Mapping[str, Sequence[Touch]], shapes: Mapping[str, tuple[int, ...]]
) -> set[str]:
    """Arrays that no split is safe for: they are indexed beyond their end.

    Copies of the loops around are looked at apart. One that stays inside has the array split; one
    that has nothing inside forbids it.
    """
    first, last = copy_of(pipe, last=False), copy_of(pipe, last=True)
    return {
        name
        for name, touches in arrays.items()
        if any(reaches_beyond(first, t, shapes[name]) for t in touches)
        or any(starts_beyond(last, t, shapes[name]) for t in touches)
    }


def waiting(pipe: Pipe, arrays: Mapping[str, Sequence[Touch]], whole: set[str]) -> int:
    """The interval that arrays in one piece set: all copies of their accesses, two at a time."""
    copies, most = pipe.copies, 1
    for name in whole:
        forms = {(t.indices, t.write): t.variables for t in arrays[name]}
        elements = sum(prod(copies.get(v, 1) for v in moved) for moved in forms.values())
        most = max(most, -(-elements // _PORTS))
    return most


def scattered(offsets: Sequence[int], single: bool, interval: int, most: int) -> tuple[int, int]:
    """Banks for elements that do not follow each other, and how often each is kept.

    The least number that keeps them apart, by the states of the interval: a bank takes an access in
    each of them. If that is even, half of it for reads, which come through both ports of a bank.
    Where the interval is then too short for one port, a bank has copies, so that each access of an
    iteration has a port to itself: the first copy has two, as has a bank without copies.

    Args:
        offsets: of the elements.
        single: one port of each bank is for something else.
        interval: of the pipeline, as far as others set it.
        most: copies of a bank.
    """
    factor = -(-_apart(offsets, len(offsets)) // interval)
    if factor % 2 or single:
        return factor, 1
    factor //= 2
    busiest = max(Counter(o % factor for o in offsets).values())
    copies = busiest - 1 if busiest > interval else 1
    return factor, copies if copies <= most else 1


def _apart(offsets: Sequence[int], least: int) -> int:
    """The least modulus from ``least`` on that keeps the offsets apart."""
    factor = least
    while len({o % factor for o in offsets}) < len(offsets):
        factor += 1
    return factor
