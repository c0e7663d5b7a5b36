"""What the pipelines of a design have asked for so far, of banks and of copies of arrays."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from qor_gnn.design.region import READ_FROM_COPIES
from qor_gnn.tools.policies.partitioning import Partitioning


@dataclass(slots=True)
class Banking:
    """Factors by memory and dimension, and how often each memory is kept."""

    policy: Partitioning
    factors: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    copies: dict[str, int] = field(default_factory=dict)
    storage: dict[str, str] = field(default_factory=dict)
    replicas: dict[str, int] = field(default_factory=dict)
    in_order: set[str] = field(default_factory=set)
    crowded: bool = False  # another array of the pipeline cannot be partitioned
    interval: int = 1  # of the pipeline, as far as arrays in one piece set it
    kept: set[str] = field(default_factory=set)  # of which each bank has copies

    def ask(self, memory: str, dim: int, factor: int) -> None:
        """The largest factor that is asked for holds."""
        self.factors[memory][dim] = max(self.factors[memory].get(dim, 1), factor)

    def keep(self, memory: str, copies: int) -> None:
        """Each bank of an array is read from so many copies."""
        if copies > 1:
            self.kept.add(memory)
            self.replicas[memory] = max(copies, self.replicas.get(memory, 1))
            self.storage[memory] = READ_FROM_COPIES
