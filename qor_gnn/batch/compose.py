"""Many designs of one class composed at once: `qor_gnn.schedule.compose` and `binding.units_of` on arrays.

The control flow of the composition depends on the classes of the parts only; the numbers in it are
arrays with an entry for each design. `tests/qor/test_batch.py` holds both equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qor_gnn.batch.regions import Element, Part, PartClass, RegionClass

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RegionArrays:
    """The numbers of one region in n designs.

    Attributes:
        prologue, latency, switches: (n, 3), by mode: average, minimum, maximum.
        units, inside, before: (n, cores).
        behind: of a block, states from its load of an element on, (n,) each.
    """

    prologue: Floats
    latency: Floats
    switches: Floats
    units: Counts
    inside: Counts
    before: Counts
    behind: Mapping[Element, Counts]


@dataclass(frozen=True, slots=True)
class Step:
    """A region in its place: ``first`` says that it is the first loop of its part."""

    kind: RegionClass
    numbers: RegionArrays
    first: bool


def steps_of(parts: Sequence[Part], cores: Sequence[str], index: Counts) -> list[Step]:
    """The regions of a part in n designs.

    Args:
        parts: evaluations of one class.
        cores: the kinds of units.
        index: (n,) which evaluation a design has.
    """
    steps: list[Step] = []
    loops = 0
    for r, kind in enumerate(parts[0].kind):
        is_loop = kind.kind != "block"
        loops += is_loop
        steps.append(Step(kind, _arrays(parts, r, cores, index), is_loop and loops == 1))
    return steps


def _arrays(parts: Sequence[Part], r: int, cores: Sequence[str], index: Counts) -> RegionArrays:
    """The numbers of region ``r`` of each part, gathered."""
    place = {core: n for n, core in enumerate(cores)}
    counts = np.zeros((3, len(parts), len(cores)), np.int64)
    for n, part in enumerate(parts):
        numbers = part.numbers[r]
        for k, used in enumerate((numbers.units, numbers.inside, numbers.before)):
            for core, count in used:
                counts[k, n, place[core]] = count
    elements = sorted({element for p in parts for element, _ in p.numbers[r].behind})
    behind = [[dict(p.numbers[r].behind).get(e, 0) for p in parts] for e in elements]
    units, inside, before = (each[index] for each in counts)
    return RegionArrays(
        np.array([p.numbers[r].prologue for p in parts])[index],
        np.array([p.numbers[r].latency for p in parts])[index],
        np.array([p.numbers[r].switches for p in parts])[index],
        units,
        inside,
        before,
        {e: np.array(states, np.int64)[index] for e, states in zip(elements, behind, strict=True)},
    )


def composable(parts: Sequence[PartClass]) -> bool:
    """Whether the parts meet only in ways that are composed here.

    They do not where one loads an accumulator in front that an earlier one stores, or where nothing
    or, of one that is not the last, only statements are left.
    """
    stored: set[int] = set()
    for n, part in enumerate(parts):
        if not part or (n < len(parts) - 1 and part[-1].kind == "block"):
            return False
        if any(region.loaded & stored for region in part):
            return False
        for region in part:
            stored |= region.stored
    return True


@dataclass(frozen=True, slots=True)
class Timing:
    """When the regions of n designs run.

    Attributes:
        cycles: (n, 3), by mode.
        beside: for each region whether it runs beside the one before.
        waiting: (n,) states in front of all regions, on average.
    """

    cycles: Floats
    beside: list[bool]
    waiting: Counts


def timing(steps: Sequence[Step]) -> Timing:
    """Cycles of whole designs, and the states that regions wait."""
    n = len(steps[0].numbers.prologue)
    at, called_at = np.zeros((n, 3)), np.zeros((n, 3))
    ended = "start"
    calls: list[frozenset[int]] = []
    beside = []
    waiting = np.zeros(n)
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
            prologue = _behind_call(steps, position, n) if free else numbers.prologue
            waiting = waiting + prologue[:, 0]
            at = np.maximum(at, called_at + prologue + numbers.latency)
            ended = "stored" if kind.stores else "call"
        else:
            waiting = waiting + numbers.prologue[:, 0]
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
    return Timing(at - 1, beside, np.rint(waiting).astype(np.int64))


def _behind_call(steps: Sequence[Step], position: int, n: int) -> Floats:
    """States between a call and a pipeline, (n, 3): a block there may wait for what it leaves."""
    states = np.zeros((n, 3))
    block = steps[position - 1]
    if block.kind.kind == "block":
        before = (step.kind for step in reversed(steps[:position]))
        last = next((kind for kind in before if kind.kind == "pipeline"), None)
        for element in last.left & block.numbers.behind.keys() if last is not None else ():
            states = np.maximum(states, block.numbers.behind[element][:, np.newaxis])
    return states


def units(steps: Sequence[Step], beside: Sequence[bool]) -> Counts:
    """Units of each core, (n, cores)."""
    most = np.zeros_like(steps[0].numbers.units)
    stage = before = most
    for position, step in enumerate(steps):
        own = step.numbers.units
        if _overlaps(steps, position):
            own = own + steps[position + 1].numbers.units
        stage = stage + own + before if beside[position] else own
        before = step.numbers.before
        most = np.maximum(most, np.maximum(stage, step.numbers.inside))
    return most


def _overlaps(steps: Sequence[Step], position: int) -> bool:
    if steps[position].kind.kind != "block" or not 0 < position < len(steps) - 1:
        return False
    return steps[position - 1].kind.kind == steps[position + 1].kind.kind == "pipeline"
