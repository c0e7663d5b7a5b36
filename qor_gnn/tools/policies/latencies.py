"""How long an operator keeps what uses it waiting, and what comparisons cost: of libraries that are derived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Latencies:
    """States and costs of operators whose latency the law of selection gives.

    Attributes:
        states: what uses a pipelined operator starts so many states behind its latency.
        compares: comparisons are reported as adders of the same width, or as their own.
    """

    states: int = 1
    compares: Literal["own", "adder"] = "own"
