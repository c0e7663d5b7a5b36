"""Ways from accesses to banks: what does not fit is refused before it is scheduled.

An access whose bank differs between iterations goes to any bank of its array. Each such way takes a
choice for every bit of the word, about 0.63 LUT a bit on ECP5, and all of them are scheduled, made and
counted, which takes minutes for designs of ten times any device's LUTs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from backends.rtl.front.unsupported import too_many_ways
from backends.rtl.graph import Array, Op

MAX_BITS = 1 << 18
"""Of all ways of a block: twice the LUTs of the largest device that can be built for, ecp5-85k."""


def refuse_crossbars(ops: Iterable[Op], arrays: Mapping[str, Array]) -> None:
    """That the ways from the accesses of a block to banks may fit a device.

    Args:
        ops: of the block.
        arrays: all that are accessed, by name.

    Raises:
        ToolError: W461, they do not.
    """
    places = (op.place for op in ops if op.place is not None)
    roaming = Counter(place.array for place in places if place.bank is None)
    bits = {name: n * arrays[name].banks * arrays[name].width for name, n in roaming.items()}
    if sum(bits.values()) > MAX_BITS:
        worst = max(bits, key=lambda name: bits[name])
        raise too_many_ways(worst, roaming[worst], arrays[worst].banks)
