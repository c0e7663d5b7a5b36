"""Automatic directives: what a tool does to loops without a pragma."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Short:
    """Innermost loops that are unrolled completely into the loop around.

    Attributes:
        below: those of fewer iterations.
        sums: also one that makes a perfect nest with the loop around, if it sums up an element that it stays at.
    """

    below: int
    sums: bool = False


@dataclass(frozen=True, slots=True)
class Directives:
    """What is done to loops where nobody asked for it; arrays are a policy of their own (`Partitioning`).

    Attributes:
        auto_pipeline: innermost loops are pipelined.
        auto_unroll: innermost loops, and perfect nests, of fewer iterations are unrolled completely into the loop
            around; None where none are.
        unrolls_first: of a loop that is pipelined and unrolled completely no pipeline is left, but straight-line
            code. Otherwise it is a pipeline of one iteration.
        unroll_sums: see `Short.sums`.
        longest_interval: a loop whose initiation interval would be longer is not pipelined; None where there
            is no such limit.
    """

    auto_pipeline: bool = False
    auto_unroll: int | None = None
    unrolls_first: bool = False
    unroll_sums: bool = False
    longest_interval: int | None = None

    @property
    def short(self) -> Short | None:
        """The loops that are unrolled without being asked; None where none are."""
        return None if self.auto_unroll is None else Short(self.auto_unroll, self.unroll_sums)
