"""What the orders of the nests of a program are judged with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dse.space.nests.early_exits import EarlyExit
from dse.space.nests.nest import Order
from qor_gnn.tools.personality import Personality


@dataclass(frozen=True, slots=True)
class Context:
    """The tool, how often each statement runs, `dse.space.space.Space.logic`,
    arrays of which copies get one element after the other, whether innermost loops of a triangle may be unrolled under
    guards, as those that only copy always may, arrays whose banks are made for the one way that they are accessed, and
    whether no cycle of dependences is in the program, whatever its loops hand on (`dse.space.tables.carried`), and whether nests
    are taken in the order in which they are written alone, and the loops of the kernel as it is written that may end early. ``known`` are
    the orders of nests of this program: most structures leave most of them as they are in another one.
    """

    tool: Personality
    counts: Mapping[str, int | None]
    logic: float = 0.0
    outside: frozenset[str] = frozenset()
    uneven: bool = False
    placed: frozenset[str] = frozenset()
    free: bool = False
    as_written: bool = False
    exits: tuple[EarlyExit, ...] = ()
    known: dict[object, tuple[Order, ...]] = field(default_factory=dict, compare=False, repr=False)
