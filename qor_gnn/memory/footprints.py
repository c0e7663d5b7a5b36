"""What the unrolled copies of accesses touch: distinct elements, offsets in each dimension."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import prod

from qor_gnn.memory.automatic_pipelines import Pipe, Touch

_ENUMERATED = 4096  # boxes of more elements are counted apart


@dataclass(frozen=True, slots=True)
class Box:
    """What the unrolled copies of one access touch: a form and the offsets in each dimension."""

    form: tuple[tuple[tuple[object, int], ...], ...]
    write: bool
    offsets: tuple[frozenset[int], ...]


def box_of(touch: Touch, pipe: Pipe) -> Box:
    """That of one access."""
    copies, own = pipe.copies, pipe.loop.iv
    forms, offsets = [], []
    for index in touch.indices:
        values = {index.const}
        kept: list[tuple[object, int]] = []
        for atom, c in index.terms:
            n = copies.get(atom, 1) if isinstance(atom, str) else 1
            values = {v + c * t for v in values for t in range(n)}
            if atom == own:
                kept.append((atom, c * n))
            elif n == 1:
                kept.append((atom, c))
        forms.append(tuple(sorted(kept, key=str)))
        offsets.append(frozenset(values))
    return Box(tuple(forms), touch.write, tuple(offsets))


def accesses_of(boxes: Iterable[Box]) -> int:
    """Distinct elements that are read, and those that are written."""
    points: dict[object, set[tuple[int, ...]]] = defaultdict(set)
    large = 0
    for box in boxes:
        if prod(len(o) for o in box.offsets) > _ENUMERATED:
            large += prod(len(o) for o in box.offsets)
        else:
            points[box.form, box.write].update(product(*box.offsets))
    return large + sum(map(len, points.values()))


def reach_of(boxes: Iterable[Box], dim: int) -> list[int]:
    """The offsets in one dimension, of the form of access that has most of them."""
    found: dict[object, set[int]] = defaultdict(set)
    for box in boxes:
        found[box.form[dim]] |= box.offsets[dim]
    most = max(len(offsets) for offsets in found.values())
    return sorted(next(offsets for offsets in found.values() if len(offsets) == most))


def unrolled_in(live: list[Touch], pipe: Pipe, dim: int) -> int:
    """How often the counters of a dimension are unrolled together."""
    copies = pipe.copies
    return max(prod(copies.get(v, 1) for v in t.indices[dim].variables()) for t in live)
