"""What the ports of arguments in memory outside take."""

from __future__ import annotations

from qor_gnn.design.region import Kernel
from qor_gnn.memory.storage import StorageCost
from qor_gnn.tools.personality import Personality


def adapters_cost(kernel: Kernel, tool: Personality) -> StorageCost:
    """What the ports take: one for each bundle, as wide as the widest argument of it."""
    total = StorageCost()
    if tool.outside is None:
        return total
    widths: dict[str, int] = {}
    for memory in kernel.memories:
        if memory.port is not None:
            for bundle in dict.fromkeys(
                (memory.port.bundle, memory.port.reads or memory.port.bundle)
            ):
                widths[bundle] = max(memory.port.width, widths.get(bundle, 0))
    known = {int(bits): adapter for bits, adapter in tool.outside.adapters.items()}
    for width in widths.values():
        one = known[min((w for w in known if w >= width), default=max(known))]
        total = total.plus(StorageCost(one.lut, one.ff, one.bram18))
    return total
