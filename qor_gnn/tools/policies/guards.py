"""Guards, speculation and constants: what runs under a condition, or before it is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Guards:
    """Code under conditions that loops decide, and what is computed ahead.

    Attributes:
        loads: where what is loaded only under a guard that changes from one iteration to the next is, if its
            subscripts do not move. ``hoisted``: in front of the loop. ``inside``: in it; and products under the
            guard are regrouped so that what is known outside of it comes first.
        compared: what a guard compares has LUTs, and the register of a guarded sum selects between the sum and
            what it holds.
        unbounded_exits: behind the exit of a loop that can end between its copies the tool knows no bound of its
            counter: guards compare all of its bits.
        speculates: what a block behind pipelines computes of arrays that nothing beside it stores to is there
            before them, in registers of its own.
        folds_constants: what is computed from constants alone is a constant, also where copies of a loop pass it
            on through elements of an array.
    """

    loads: Literal["hoisted", "inside"] = "hoisted"
    compared: bool = False
    unbounded_exits: bool = False
    speculates: bool = False
    folds_constants: bool = False
