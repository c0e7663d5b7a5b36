"""Multiplexers: inputs of units and of ports, and what decodes banks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Multiplexers:
    """What multiplexers choose among.

    Attributes:
        inputs: of a unit in a pipeline, and of a port that several blocks of code use. ``use``: one for each
            operation or access. ``source``: one for each value, or each address and each register that is
            stored.
        ports_apart: a load and a store of one bank, which has two ports, do not share one, nor do two loads of
            one state.
        banks: how a bank that is not known in several dimensions is decoded. ``joint``: of all at once, and
            what is selected has one register. ``each``: of each dimension by itself, with a register behind each
            selection, and at interval 1 also for loads of a state that may all be in one bank.
    """

    inputs: Literal["use", "source"] = "use"
    ports_apart: bool = False
    banks: Literal["joint", "each"] = "joint"
