"""Operators that several operations use, each in cycles of its own.

A pipeline of interval ``ii`` repeats the use that its operations make of operators every ``ii``
cycles: those that start in other cycles of the interval can have the same one. In straight code
those that start in other cycles can. Only one region
runs at a time, so that all of them draw on the same operators.
"""

from __future__ import annotations

from collections import Counter

from backends.rtl.operators.library import Key
from backends.rtl.schedule.result import BlockSchedule
from backends.rtl.schedule.solve import slot as slot_of
from backends.rtl.schedule.timing import key_of


def numbers(schedule: BlockSchedule) -> dict[int, tuple[Key, int]]:
    """Of each shared operation its kind of operator, and which one of those there are.

    Args:
        schedule: Of straight code, or of a pipeline of an interval above 1.
    """
    taken: Counter[tuple[Key, int]] = Counter()
    found: dict[int, tuple[Key, int]] = {}
    for op in schedule.block.ops:
        if op.id in schedule.shared:
            key = key_of(schedule.block, op)
            slot = (key, slot_of(schedule.start[op.id], schedule.ii))
            found[op.id] = (key, taken[slot])
            taken[slot] += 1
    return found
