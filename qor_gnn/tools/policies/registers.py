"""Registers: what is kept of elements and addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Registers:
    """Registers of arrays and of the addresses of their accesses.

    Attributes:
        elements: which modules share the registers of an array of which every element has one. ``module``: none.
            ``row``: those that read the same row.
        shifted: what the address of a store that is shifted along is in. ``flip_flops``: these, in each bank that
            it may go to. ``lut``: shift registers alone, once for an element of an array of one dimension that
            is updated in place.
        waiting_addresses: in pipelines that do not start in each state addresses of loads of an array that they
            update as well wait in registers, and only remainders that an iteration has to divide for come so
            late that each bank's value is kept.
    """

    elements: Literal["module", "row"] = "module"
    shifted: Literal["flip_flops", "lut"] = "flip_flops"
    waiting_addresses: bool = False
