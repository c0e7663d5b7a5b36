"""A module as tables and hard cells, which counting cells and following paths both begin with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from backends.rtl.area.cover import Table, cover
from backends.rtl.area.elaborate import elaborate
from backends.rtl.area.needed import Needed, needed
from backends.rtl.area.netlist import Dropped, Fixed, Netlist
from backends.rtl.ir.module import Module


@dataclass(frozen=True, slots=True)
class Mapped:
    """What is left of a module.

    Attributes:
        netlist: all of it.
        used: what its outputs need.
        tables: by the node at their output.
    """

    netlist: Netlist
    used: Needed
    tables: dict[int, Table]


@lru_cache(maxsize=48)
def mapped(module: Module, fixed: Fixed = (), dropped: Dropped = frozenset()) -> Mapped:
    """Bring a module to tables and hard cells.

    Args:
        module: As built.
        fixed: Bits of its inputs that are constant where it is used.
        dropped: Bits of its outputs that nothing needs there.
    """
    netlist = elaborate(module, fixed)
    used = needed(netlist, dropped)
    return Mapped(netlist, used, cover(netlist.net, used))
