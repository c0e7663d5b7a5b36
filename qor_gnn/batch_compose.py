"""Many designs of one class composed at once: `qor_gnn.compose` and `binding.units_of` on arrays.

The control flow of the composition depends on the classes of the parts only; the numbers in it are
arrays with an entry for each design. `tests/qor/test_batch.py` holds both equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qor_gnn.batch_regions import PartClass, RegionClass

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RegionArrays:
    """The numbers of one region in n designs.

    Attributes:
        prologue, latency, switches: (n, 3), by mode: average, minimum, maximum.
        units, inside: (n, cores).
    """

    prologue: Floats
    latency: Floats
    switches: Floats
    units: Counts
    inside: Counts


@dataclass(frozen=True, slots=True)
class Step:
    """A region in its place: ``first`` says that it is the first loop of its part."""

    kind: RegionClass
    numbers: RegionArrays
    first: bool


def composable(parts: Sequence[PartClass]) -> bool:
    """Whether the parts meet only in ways that are composed here.

    They do not where one loads an accumulator in front that an earlier one stores, or where only
    statements are left of one that is not the last.
    """
    stored: set[int] = set()
    for n, part in enumerate(parts):
        if n < len(parts) - 1 and (not part or part[-1].kind == "block"):
            return False
        if any(region.loaded & stored for region in part):
            return False
        for region in part:
            stored |= region.stored
    return True


def latencies(steps: Sequence[Step]) -> tuple[Floats, list[bool]]:
    """Cycles of a whole design by mode, (n, 3); and which regions run beside the one before."""
    n = len(steps[0].numbers.prologue)
    at, called_at = np.zeros((n, 3)), np.zeros((n, 3))
    ended = "start"
    calls: list[frozenset[int]] = []
    beside = []
    for position, step in enumerate(steps):
        kind, numbers = step.kind, step.numbers
        last = position == len(steps) - 1
        together = False
        if kind.kind == "block":
            if last:
                at = at + numbers.latency
                ended = "call"
            else:
                calls = []
        elif kind.kind == "pipeline":
            called = ended in ("call", "stored")
            free = step.first and called
            follows = bool(calls) and called and (free or not kind.prologue)
            together = follows and not any(kind.memories & other for other in calls)
            if not together:
                calls, called_at = [], at
            calls.append(kind.memories)
            prologue = np.zeros((n, 3)) if free else numbers.prologue
            at = np.maximum(at, called_at + prologue + numbers.latency)
            ended = "stored" if kind.stores else "call"
        else:
            at = at + numbers.prologue + numbers.latency
            if last:
                at = at + numbers.switches
            ended = "loop"
        beside.append(together)
    only = steps[0] if len(steps) == 1 else None
    if only is not None and only.kind.kind == "pipeline" and ended == "call":
        at = at - (0 if only.kind.prologue else 1)
    else:
        at = at + (0 if ended == "call" else 1)
    return at - 1, beside


def units(steps: Sequence[Step], beside: Sequence[bool]) -> Counts:
    """Units of each core, (n, cores)."""
    most = np.zeros_like(steps[0].numbers.units)
    stage = most
    for position, step in enumerate(steps):
        own = step.numbers.units
        if _overlaps(steps, position):
            own = own + steps[position + 1].numbers.units
        stage = stage + own if beside[position] else own
        most = np.maximum(most, np.maximum(stage, step.numbers.inside))
    return most


def _overlaps(steps: Sequence[Step], position: int) -> bool:
    if steps[position].kind.kind != "block" or not 0 < position < len(steps) - 1:
        return False
    return steps[position - 1].kind.kind == steps[position + 1].kind.kind == "pipeline"
