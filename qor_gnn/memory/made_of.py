"""What an array is made of, as far as it decides how long an access takes."""

from __future__ import annotations

from qor_gnn.design.region import Memory
from qor_gnn.memory.storage import Kind, memory_cost
from qor_gnn.tools.personality import Personality

KINDS = ("bram", "lutram", "uram")
"""Kinds whose accesses reports tell a delay of."""


def made_of(memory: Memory, tool: Personality) -> str:
    """One of `KINDS`: of a local array the kind that it is given, of an argument block RAM."""
    kind = Kind.BRAM if memory.argument else memory_cost(memory, tool.memories.storage).kind
    return kind.value if kind.value in KINDS else Kind.BRAM.value
