"""Composition: regions of a function one after the other, or at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Composition:
    """How pipelines, loops and blocks of code make a function.

    Attributes:
        call: states of a pipeline that its parent calls, besides its iterations.
        concurrent: what may run at the same time. ``pipelines``: those that follow each other and share no
            memory. ``loops``: any loops that share none, whatever is inside; in a loop also those that only
            read what they share, or of which each element that they share has a bank.
        exposed_transfers: what a pipeline keeps of memory in registers is loaded and stored, as ports allow,
            between it and the calls around; otherwise all of that is done beside those.
        in_turn: regions follow each other, each from the state behind the last one of the one before: loops and calls
            have no states of their own, the function has one in which it starts, and nothing runs at the same time.
        blocks: where a block of code between two pipelines is. ``raised``: above the first, with units of its
            own. ``overlapped``: in the states in which the second one waits.
    """

    call: int
    concurrent: Literal["pipelines", "loops"] = "pipelines"
    exposed_transfers: bool = False
    in_turn: bool = False
    blocks: Literal["raised", "overlapped"] = "raised"
