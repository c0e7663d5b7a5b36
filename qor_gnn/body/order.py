"""The order among accesses that may be of one element, without what follows from the rest of it.

Each copy of an update in place waits for all copies before it: of n copies that is n * n / 2 pairs,
n of which say it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Edge = tuple[int, int, int]
"""An operation, one that starts no earlier than so many states behind it, and the states."""


def needed(order: Sequence[Edge], out: Sequence[bool]) -> Iterator[Edge]:
    """The edges that no way over another operation implies.

    Args:
        order: edges to later operations (greater numbers).
        out: by operation, whether it is not in the body; its edges are none.
    """
    waits: dict[int, dict[int, int]] = {}
    for before, after, states in order:
        if not out[before] and not out[after]:
            of = waits.setdefault(after, {})
            of[before] = max(states, of.get(before, 0))
    for after, of in waits.items():
        implied: dict[int, int] = {}
        left = set(of)  # what may be needed yet
        for before in sorted(of, reverse=True):
            if not left:
                break
            states, other = of[before], implied.get(before, -1)
            if other < states:
                yield before, after, states
                left.discard(before)
            for earlier, first in waits.get(before, {}).items():
                way = first + max(states, other)
                if way > implied.get(earlier, -1):
                    implied[earlier] = way
                    if way >= of.get(earlier, way + 1):
                        left.discard(earlier)
