"""Automatic directives: what a tool does to loops and arrays without a pragma."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Directives:
    """What is done where nobody asked for it.

    Attributes:
        auto_pipeline: innermost loops are pipelined.
        auto_unroll: short innermost loops are unrolled completely into the loop around.
        auto_partition: arrays are split into banks as far as pipelines want ports.
        longest_interval: a loop whose initiation interval would be longer is not pipelined; None where there
            is no such limit.
    """

    auto_pipeline: bool = False
    auto_unroll: bool = False
    auto_partition: bool = False
    longest_interval: int | None = None
