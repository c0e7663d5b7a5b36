"""Scopes of a design under several rules, or with memory outside that answers later: most bodies are the same in all of them.

A body depends on the loops, on banks, and on operators. What a tool does by itself (`Directives`, `Partitioning`, `LocalArrays`) is
done to the design before; which loops are pipelines and how often they run is asked where bodies are composed; and
how long memory outside is waited for is added there, too (`qor_gnn.schedule.outside`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

from qor_gnn.design.region import Kernel, Memory, loops_in
from qor_gnn.schedule.loops import Scope, starts_late
from qor_gnn.tools.personality import Personality

_NOT_OF_BODIES = {"directives", "partitioning", "local_arrays", "unrolling", "flattening"}
_OF_BODIES = [f.name for f in fields(Personality) if f.name not in _NOT_OF_BODIES]


@dataclass(slots=True)
class Alike:
    """Scopes that were made so far, a scope for each function of a design."""

    _known: list[tuple[object, Kernel, Sequence[Scope]]] = field(default_factory=list)

    def scopes(self, kernel: Kernel, tool: Personality) -> tuple[Kernel, Sequence[Scope]]:
        """Scopes of a design, which share bodies with those of alike ones; and the design, with the loops of these.

        Args:
            kernel: as the tool sees it once it has transformed loops and split arrays.
            tool: whose rules they are.
        """
        own = _signature(kernel, tool)
        for signature, first, lenders in self._known:
            if signature == own and first.functions == kernel.functions:
                same = replace(kernel, functions=first.functions)
                return same, [lender.lent(Scope(same, tool)) for lender in lenders]
        found = [Scope(kernel, tool) for _ in kernel.functions]
        self._known.append((own, kernel, found))
        return kernel, found


def _signature(kernel: Kernel, tool: Personality) -> object:
    """What bodies depend on beside the functions, and what `qor_gnn.schedule.known_bodies` tells apart."""
    late = any(starts_late(loop) for f in kernel.functions for loop in loops_in(f.body))
    rules = tuple(getattr(tool, name) for name in _OF_BODIES)
    compared = tool.unrolling.compares_copies or not late
    return (
        rules,
        compared,
        replace(kernel, functions=(), memories=tuple(map(_timeless, kernel.memories))),
    )


def _timeless(memory: Memory) -> Memory:
    """The memory, however long it takes to answer."""
    if memory.port is None:
        return memory
    return replace(memory, port=replace(memory.port, latency=-1, pace=(1.0, 1.0), stall=0.0))
