"""Banks: what a tool knows of the bank that an access is in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Banks:
    """Which accesses a tool can tell apart by their banks.

    Attributes:
        rotating: accesses with one moving subscript are known to be in different banks where their offsets
            are, though not in which.
        hidden_by_innermost: where a dimension is split completely and the innermost counter of a flattened nest
            chooses the bank, the subscript does not tell when an element is accessed again.
        hidden_by_others: in a pipeline counters that do not move a subscript by multiples of what the innermost
            one does hide its remainder by a number of banks that is no power of two.
        partly_known: an access of which a remainder of the bank is known takes ports of those banks only that have
            it; otherwise of all.
        splits_first: arrays are split before loops are unrolled that nobody asked to be. Copies made then have the
            bank that a division of their counter tells, which is not compared with that of other copies, where the number
            of banks is no power of two.
        splits_for_copies: a dimension of a local array along which such copies move values gets half as many banks as
            there are copies, where nobody has split it (`qor_gnn.memory.copy_banks`).
    """

    rotating: bool = False
    hidden_by_innermost: bool = False
    hidden_by_others: bool = False
    partly_known: bool = True
    splits_first: bool = False
    splits_for_copies: bool = False
