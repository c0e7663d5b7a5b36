"""The program and the schedule of a FIFO dataflow design of the U280 data; see `u280_flow`.

A sum that is not innermost is kept in an array of its process, as the sources do; words of a stream
that more than one iteration needs are kept in one too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from dsl.builder.program import ProgramBuilder
from dsl.builder.terms import LoopVar, Placeholder
from dsl.expressions.types import f32
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.fit.labelled.u280_flow import KERNELS, Indices, Node, Operand, Shape


@dataclass(slots=True)
class _Place:
    """Where a process is written: its outer loops, and the statement that the next one follows."""

    outer: dict[str, LoopVar]
    last: str | None = None


@dataclass(slots=True)
class _Writer:
    """Writes processes into one program and says what is asked of each."""

    kernel: str
    shapes: Mapping[str, Shape]
    streams: frozenset[str]
    program: ProgramBuilder
    schedule: ScheduleBuilder = field(default_factory=ScheduleBuilder)
    arrays: dict[str, Placeholder] = field(default_factory=dict)
    banks: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def extents(self) -> Mapping[str, int]:
        return KERNELS[self.kernel][0]

    def design(self) -> tuple[Program, Schedule]:
        nodes = KERNELS[self.kernel][1]
        scalars = [self.program.placeholder(name, f32) for name in ("alpha", "beta")]
        made = {n.out.array for n in nodes}
        used = {o.array for n in nodes for o in n.operands}
        for node in nodes:
            for o in (*node.operands, node.out):
                inner = o.array in made
                self._array(o, node, inner and o.array in used, alone=inner or o is node.out)
        for node in nodes:
            self._node(node, scalars)
        for (name, dim), factor in self.banks.items():
            if factor > 1:
                self.schedule.partition(name, dim, "cyclic", factor)
        self.schedule.dataflow()
        program = self.program.build()
        for found in program.locals:
            if found.name in self.streams:
                self.schedule.stream(found.name, depth=prod(found.shape))
        return program, self.schedule.build()

    def _array(self, o: Operand, node: Node, local: bool, alone: bool) -> None:
        """An array of the region; of an argument each process that reads it has a copy."""
        name = o.array if alone else f"{o.array}_{node.name}"
        if name not in self.arrays:
            shape = tuple(self.extents[x] for x in o.loops)
            make = self.program.local if local else self.program.placeholder
            self.arrays[name] = make(name, f32, shape)
        self._split(name, o, node)

    def _operand(self, o: Operand, node: Node) -> Placeholder:
        return self.arrays[o.array if o.array in self.arrays else f"{o.array}_{node.name}"]

    def _split(self, array: str, o: Operand, node: Node) -> None:
        for dim, x in enumerate(o.loops):
            own = self.shapes[node.name].tile[x]
            self.banks[array, dim] = max(self.banks.get((array, dim), 1), own)

    def _own(self, name: str, o: Operand, node: Node) -> Placeholder:
        """An array of one process, cut like one that it reads or writes."""
        found = self.program.local(name, f32, tuple(self.extents[x] for x in o.loops))
        self._split(name, o, node)
        return found

    def _node(self, node: Node, scalars: Sequence[Any]) -> None:
        shape = self.shapes[node.name]
        counts = {f"{x}o": self.extents[x] // shape.tile[x] for x in shape.order}
        outer = dict(zip(shape.order, self.program.loops(**counts), strict=True))
        place = _Place(outer)
        if node.total:
            self._sum(node, place)
            self.schedule.reassociate(f"U_{node.name}")
            if shape.fabric:
                self.schedule.bind_op(f"U_{node.name}", "fadd", "fabric")
        else:
            loops, at = self._inside(node, place, node.out.loops)
            values = [self._operand(o, node)[_at(o, at)] for o in node.operands]
            value: Any = values[0]
            if len(values) == 2:
                value = scalars[0] * values[0] + scalars[1] * values[1]
            self._add(
                "S", node, place, loops, self.arrays[node.out.array][_at(node.out, at)], value
            )
        first = f"{'U' if node.total else 'S'}_{node.name}"
        self.schedule.pipeline(f"{first}.{shape.order[-1]}o")

    def _inside(
        self, node: Node, place: _Place, loops: Indices
    ) -> tuple[list[LoopVar], dict[str, Any]]:
        """Loops over a tile, and the subscripts in them."""
        tile = self.shapes[node.name].tile
        found = list(self.program.loops(**{f"{x}u": tile[x] for x in loops}))
        return found, {x: place.outer[x] * tile[x] + v for x, v in zip(loops, found, strict=True)}

    def _add(
        self,
        label: str,
        node: Node,
        place: _Place,
        loops: Sequence[LoopVar],
        into: Any,
        value: Any,
        where: Any = None,
        behind: LoopVar | None = None,
    ) -> None:
        """A statement behind the last one, in the loops up to ``behind`` or the outer ones."""
        outer = list(place.outer.values())
        name = f"{label}_{node.name}"
        joined = outer[-1] if behind is None else behind
        after = None if place.last is None else (place.last, joined)
        self.program.compute(name, (*outer, *loops), into, value, after=after, where=where)
        place.last = name

    def _sum(self, node: Node, place: _Place) -> None:
        read = {o.array: self._kept(o, node, place) for o in node.operands}
        loops, at = self._inside(node, place, node.out.loops)
        total, tile = node.total, self.shapes[node.name].tile[node.total]
        (unrolled,) = self.program.loops(**{f"{total}u": tile})
        at[total] = place.outer[total] * tile + unrolled
        here = self._sums(node, loops, at)
        self._add("I", node, place, loops, here, 0.0, place.outer[total] <= 0)
        value: Any = None
        for o in node.operands:
            own = read[o.array][_at(o, at)]
            value = own if value is None else value * own
        self._add("U", node, place, [*loops, unrolled], here, here + value, None, loops[-1])
        last = place.outer[total] >= self.extents[total] // tile - 1
        out = self.arrays[node.out.array][_at(node.out, at)]
        self._add("O", node, place, loops, out, here, last, loops[-1])

    def _sums(self, node: Node, loops: Sequence[LoopVar], at: Mapping[str, Any]) -> Any:
        """Where a sum is kept: in registers if its loop is the innermost, else in an array."""
        shape, out = self.shapes[node.name], node.out
        if shape.order[-1] != node.total:
            return self._own(f"{node.name}_sum", out, node)[_at(out, at)]
        tile = tuple(shape.tile[x] for x in out.loops)
        found = self.program.local(f"{node.name}_sum", f32, tile)
        for dim, extent in enumerate(tile):
            self.banks[f"{node.name}_sum", dim] = extent
        return found[tuple(loops)]

    def _kept(self, o: Operand, node: Node, place: _Place) -> Placeholder:
        """What an operand is read from: a word of a stream comes once, and is kept for the
        iterations of the loop that does not index it.
        """
        if o.array not in self.streams:
            return self._operand(o, node)
        kept = self._own(f"{o.array}_in", o, node)
        shape = self.shapes[node.name]
        absent = [x for x in node.loops if x not in o.loops]
        where = place.outer[absent[0]] <= 0 if absent else None
        if absent == [shape.order[-1]]:  # in front of the innermost loop: statements, no loops
            copies = product(*(range(shape.tile[x]) for x in o.loops))
            for n, copy in enumerate(copies):
                own = {
                    x: place.outer[x] * shape.tile[x] + c
                    for x, c in zip(o.loops, copy, strict=True)
                }
                word = self.arrays[o.array][_at(o, own)]
                self._add(f"R{o.array}{n}", node, place, (), kept[_at(o, own)], word, where)
            return kept
        loops, at = self._inside(node, place, o.loops)
        word = self.arrays[o.array][_at(o, at)]
        self._add(f"R{o.array}", node, place, loops, kept[_at(o, at)], word, where)
        return kept


def _at(o: Operand, at: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(at[x] for x in o.loops)


def flow_design(
    kernel: str, shapes: Mapping[str, Shape], streams: Iterable[str]
) -> tuple[Program, Schedule]:
    """A design of a kernel.

    Args:
        kernel: one of `KERNELS`.
        shapes: how each process runs.
        streams: the arrays between processes that are FIFOs.
    """
    name = kernel if kernel[0].isalpha() else f"k{kernel}"
    return _Writer(kernel, shapes, frozenset(streams), ProgramBuilder(f"{name}_flow")).design()
