"""Loads and stores: their states, and when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Accesses:
    """Loads and stores of a body.

    Attributes:
        load: states from a load to the arithmetic that uses it.
        reload: states from a store to a load in the same iteration that may be of its element.
        merged: which loads of an element are one. ``all``: those between which nothing is stored to it.
            ``between_stores``: those between which nothing is stored to its array.
        sequential: when a body that is not pipelined loads. ``asap``: when a port is free. ``alap``: when the
            value is wanted.
        updates: when a pipeline that does not start in each state loads the old value of what it updates in
            place: the same. With ``alap`` the counter waits for the load, the address for the store.
        hoisted: loads that do not change in a pipeline are made in front of it, and what it keeps in registers is
            loaded in front of it and stored behind it; otherwise all that is done inside, in the first and the last
            iteration, and takes ports of each.
        word_ns: what a word that is loaded from a memory has taken of the state in which it is there.
        bank_ns: what a selection of four banks takes behind it, where an access does not tell which one it is.
        store_ns: what a store takes of the state that it starts in, behind the value.
        register: states from a load of which only a multiplexer of registers is left to what uses it.
        address_ns: what a load takes of the state that it starts in, behind a subscript that is data.
    """

    load: int
    reload: int
    merged: Literal["all", "between_stores"] = "all"
    sequential: Literal["asap", "alap"] = "asap"
    updates: Literal["asap", "alap"] = "asap"
    hoisted: bool = True
    word_ns: float = 0.0
    bank_ns: float = 0.0
    store_ns: float = 0.0
    address_ns: float = 0.0
    register: int = 1
