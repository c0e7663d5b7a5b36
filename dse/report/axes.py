"""The choices that a design is made of, read from its schedule: the axes of parallel coordinates.

A schedule says all, whichever strategy made it and whatever the space looked like at the time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    Distribute,
    Flatten,
    Interchange,
    Partition,
    Pipeline,
    Reorder,
    Split,
    Step,
    Tile,
    Unroll,
)

Group = Literal["structure", "order", "copies", "banks"]
Value = int | str

AS_WRITTEN = "as written"
_BLOCKS = re.compile(r"(_[01])+$")  # what splitting appends to the name of a loop


@dataclass(frozen=True, slots=True)
class Axis:
    """One choice. ``key`` is unique among a run's axes; values are all numbers or all names."""

    key: str
    label: str
    group: Group


@dataclass(slots=True)
class _Reader:
    """Follows the steps of a schedule; loops that a split made are known by the one they are of."""

    extents: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]
    made: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    copies: dict[str, int] = field(default_factory=dict)
    banks: dict[str, int] = field(default_factory=dict)
    orders: dict[str, str] = field(default_factory=dict)
    apart: dict[int, list[str]] = field(default_factory=dict)
    structure: list[str] = field(default_factory=list)

    def read(self, step: Step) -> None:
        match step:
            case Split(loop=loop, factor=factor, outer=outer, inner=inner):
                self.split(loop, factor, outer or f"{loop}_0", inner or f"{loop}_1")
            case Tile(loops=loops, factors=factors):
                for loop, factor in zip(loops, factors, strict=True):
                    self.split(loop, factor, f"{loop}_0", f"{loop}_1")
            case Unroll(loop=loop, factor=factor):
                self.unroll(loop, factor)
            case Reorder(loops=loops):
                nest = loops[0].rpartition(".")[0]
                self.orders[nest] = " ".join(dict.fromkeys(_name(ref) for ref in loops))
            case Partition(array=array, dim=dim, scheme=scheme, factor=factor):
                shape = self.shapes.get(array, ())
                whole = shape[dim] if 0 <= dim < len(shape) else 0
                count = whole if scheme == "complete" else factor
                self.banks[array] = self.banks.get(array, 1) * max(1, count)
            case Pipeline() | Flatten():
                pass  # follow from the factors
            case Distribute(stmts=stmts, depth=depth):
                self.apart.setdefault(depth, []).extend(stmts)
            case Interchange(a=a, b=b):
                self.structure.append(f"interchange {a} {b}")
            case _:
                self.structure.append(_text(step))

    def split(self, loop: str, factor: int, outer: str, inner: str) -> None:
        origin = self.origin(loop)[0]
        nest = loop.rpartition(".")[0]
        for name, width in ((outer, None), (inner, factor)):
            bare = name.rpartition(".")[2]
            self.made[f"{nest}.{bare}" if nest else bare] = (origin, width)

    def unroll(self, loop: str, factor: int) -> None:
        origin, width = self.origin(loop)
        count = factor or width or self.extents.get(origin, 1)
        self.copies[origin] = self.copies.get(origin, 1) * count

    def origin(self, loop: str) -> tuple[str, int | None]:
        """The loop of the program that a loop is of, and how many iterations the split left it."""
        bare = loop.rpartition(".")[2]
        return self.made.get(loop) or self.made.get(bare) or (loop, None)


def choices(
    schedule: Schedule, extents: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> dict[Axis, Value]:
    """What a schedule chooses; what it does not mention is absent.

    Args:
        schedule: of a design.
        extents: trip counts of loops, as in `dse.run.folder.problem.Problem`.
        shapes: of the arrays.
    """
    reader = _Reader(extents, shapes)
    for step in schedule.steps:
        reader.read(step)
    found: dict[Axis, Value] = {}
    apart = [
        f"apart {' '.join(stmts)}" + (f" at {depth}" if depth else "")
        for depth, stmts in sorted(reader.apart.items())
    ]
    if apart or reader.structure:
        found[_STRUCTURE] = ", ".join([*apart, *reader.structure])
    for nest, order in reader.orders.items():
        found[Axis(f"order {nest}", nest or "the nest", "order")] = order
    for loop, count in reader.copies.items():
        found[Axis(f"copies {loop}", loop, "copies")] = count
    for array, count in reader.banks.items():
        found[Axis(f"banks {array}", f"{array}", "banks")] = count
    return found


_STRUCTURE = Axis("structure", "structure", "structure")
_GROUPS: tuple[Group, ...] = ("structure", "order", "copies", "banks")


def axes(found: Sequence[Mapping[Axis, Value]]) -> tuple[Axis, ...]:
    """The axes in which some of the designs differ, group by group, by name within each."""
    every = {axis for one in found for axis in one}
    moving = [a for a in every if len({one.get(a, default(a)) for one in found}) > 1]
    return tuple(sorted(moving, key=lambda a: (_GROUPS.index(a.group), a.key)))


def default(axis: Axis) -> Value:
    """The value of a design whose schedule does not mention it."""
    return AS_WRITTEN if axis.group in ("structure", "order") else 1


def _name(ref: str) -> str:
    return _BLOCKS.sub("", ref.rpartition(".")[2])


def _text(step: Step) -> str:
    """A step of structure in a few words: its kind and what it names, where that is not what it is unsaid."""
    named = [(getattr(step, f.name), f.default) for f in fields(step) if f.name != "span"]
    values = [value for value, unsaid in named if value != unsaid]
    words = [" ".join(map(str, v)) if isinstance(v, tuple) else str(v) for v in values]
    return " ".join([step.kind, *words])
