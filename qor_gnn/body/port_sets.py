"""Ports that the accesses of a body take together.

An access of which the bank is not known takes a port of each bank at once: hundreds, of which only
the busiest matters. Such sets of ports count as one, where no two of them share a part only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from qor_gnn.body.ports import PortKey, Taken

_MANY = 8  # ports of one kind, from which on it pays to count them as one

Set = tuple[int, int]
"""The number of a set of ports that are taken together, and how many accesses it takes."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What an access takes: some ports one by one, and some sets."""

    single: tuple[tuple[int, int], ...]  # (resource, capacity)
    sets: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class PortSets:
    """The sets of ports that the accesses of a body take together.

    Attributes:
        set_of: by resource, the set that it is in; those in none are left out.
        parts: by number of what is taken (`Taken.number`), for what is more than one port.
    """

    set_of: dict[int, int] = field(default_factory=dict)
    parts: dict[int, Parts] = field(default_factory=dict)


def port_sets(accesses: Iterable[Taken], keys: list[PortKey]) -> PortSets:
    """The sets of a body, for any number of schedules of it.

    Args:
        accesses: what each of them takes.
        keys: what the resources are.
    """
    distinct = {taken.number: taken for taken in accesses if len(taken) > 1}
    several = {number: _by_kind(taken, keys) for number, taken in distinct.items()}
    wide = {one for kinds in several.values() for one in kinds if len(one) >= _MANY}
    met: set[int] = set()
    shared: set[int] = set()
    for one in wide:
        ports = {resource for resource, _ in one}
        shared |= met & ports
        met |= ports
    apart = [one for one in sorted(wide) if _counts_as_one(one, shared)]
    numbers = {one: k for k, one in enumerate(apart)}
    found = PortSets({resource: k for k, one in enumerate(apart) for resource, _ in one})
    for number, kinds in several.items():
        sets = tuple((numbers[one], one[0][1]) for one in kinds if one in numbers)
        single = tuple(pair for one in kinds if one not in numbers for pair in one)
        found.parts[number] = Parts(single, sets)
    return found


_Kind = tuple[tuple[int, int], ...]
"""The ports of one memory and kind that an access takes."""


def _by_kind(taken: Taken, keys: list[PortKey]) -> list[_Kind]:
    kinds: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for resource, capacity in taken:
        kinds.setdefault(keys[resource][:2], []).append((resource, capacity))
    return [tuple(pairs) for pairs in kinds.values()]


def _counts_as_one(ports: _Kind, shared: set[int]) -> bool:
    """No other set has one of the ports, and all take as many accesses."""
    return len({most for _, most in ports}) == 1 and shared.isdisjoint(r for r, _ in ports)
