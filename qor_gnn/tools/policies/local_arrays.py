"""What becomes of local arrays that nobody partitioned or bound, besides partitioning for throughput."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LocalArrays:
    """How local arrays are stored (`qor_gnn.memory.many_readers`, `qor_gnn.memory.constant_subscripts`).

    Attributes:
        most_copies: that an array of one writer and many readers (RAM_1WNR) is read from; 0 where there are none.
        promoted: a dimension of at most so many elements, of which every access of the design says which one it is
            of, is partitioned completely; 0 where none is.
    """

    most_copies: int = 0
    promoted: int = 0
