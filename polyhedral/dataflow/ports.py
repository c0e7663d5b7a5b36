"""Can an argument be a FIFO port? Exactly: each element passes once, in one direction, in order.

The order is that of memory, row by row: it is in this order that the host sends an array and takes
it. A partitioned array is a port a memory, each with an order of its own. (UG1399, "AXI4-Stream
Interfaces", "ap_fifo", "ap_hs": accesses are sequential, and an inout argument has no such port.)
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Scatter
from dsl.programs.program import Array
from dsl.schedules.steps import Interface
from polyhedral.dataflow.element_times import (
    Element,
    conditional_loads,
    coordinates,
    gatherers,
    iterations_at,
    read_times,
    same_memory,
    sample_element,
    write_times,
)
from polyhedral.isl.text import dims, set_of
from polyhedral.scop.scheduled import Piece, ScheduledScop

FIFO_MODES = ("axis", "ap_fifo", "ap_hs")
Use = tuple[str, tuple[int, ...]]
_COPY_IN = "copy it, in order, to a local array first, and read that"
_COPY_OUT = "write a local array, and copy that to it in order"


@dataclass(frozen=True, slots=True)
class PortFault:
    """What shows that an argument is no FIFO: no element, one, or two, the second before the first.

    ``uses``: the iterations that touch them.
    """

    array: str
    elements: tuple[Element, ...]
    fault: str
    uses: tuple[Use, ...] = ()

    def __str__(self) -> str:
        names = [f"{self.array}[{', '.join(map(str, e))}]" for e in self.elements]
        by = [f"{name}[{', '.join(map(str, at))}]" for name, at in self.uses]
        if len(names) == 2 and by[0] == by[1]:
            return f"{by[0]} {self.fault} {names[0]} and {names[1]}, in no order"
        if len(names) == 2:
            early, late = (f"{u} {self.fault} {e}" for u, e in zip(by, names, strict=True))
            return f"{early} before {late}, which comes first on the port"
        told = f": by {' and by '.join(dict.fromkeys(by))}" if by else ""
        return f"{names[0] if names else repr(self.array)} is {self.fault}{told}"


class NotAPort(ScheduleError):
    """W222: an argument cannot be a FIFO; ``witness`` says what proves it."""

    def __init__(self, step: Interface, witness: PortFault, help_: str) -> None:
        super().__init__(
            "W222",
            f"'{step.argument}' cannot have the interface {step.mode}: each element passes once, "
            "in order, in one direction",
            span=step.span,
            notes=[str(witness)],
            help=help_,
        )
        self.witness = witness


def check_ports(state: ScheduledScop) -> None:
    """Every argument that is asked to be a FIFO is one, in the order that the schedule has.

    Raises:
        NotAPort: W222.
    """
    for step in state.interfaces:
        if step.mode not in FIFO_MODES:
            continue
        array = state.scop.program.array(step.argument)
        if array.shape:
            _check_port(state, array, step)


def _check_port(state: ScheduledScop, array: Array, step: Interface) -> None:
    name = array.name
    writers = [p for p in state.pieces if p.statement.stmt.target.array == name]
    readers = [p for p in state.pieces if any(a.array == name for a in p.statement.reads)]
    write = bool(writers)
    if scattering := [p.name for p in writers if isinstance(p.statement.stmt.value, Scatter)]:
        told = f"written by {scattering[0]} at a subscript that is data"
        raise NotAPort(step, PortFault(name, (), told), _COPY_OUT)
    if writers and readers:
        raise _both(state, array, step)
    if not writers and not readers:
        fault = PortFault(name, ((0,) * len(array.shape),), "neither read nor written")
        raise NotAPort(step, fault, "leave the argument out")
    does, copy = ("written", _COPY_OUT) if write else ("read", _COPY_IN)
    if gathering := gatherers(readers, name):
        told = f"read by {gathering[0]} at a subscript that is data"
        raise NotAPort(step, PortFault(name, (), told), _COPY_IN)
    times = write_times(state, writers) if write else read_times(state, readers, name)
    if not times.is_single_valued():
        element = _twice(times, array)
        uses = tuple(iterations_at(state, array, element, write))
        raise NotAPort(step, PortFault(name, (element,), f"{does} more than once", uses), copy)
    missing = _every(state, array).subtract(times.domain())
    if not missing.is_empty():
        element = sample_element(missing.lexmin(), array)
        raise NotAPort(step, PortFault(name, (element,), f"never {does}"), copy)
    _check_skipped(state, array, step, readers)
    _check_order(state, array, step, times, write)


def _both(state: ScheduledScop, array: Array, step: Interface) -> NotAPort:
    uses = {}
    for write in (False, True):
        for piece in state.pieces:
            for access in (piece.statement.stmt.target,) if write else piece.statement.reads:
                if access.array == array.name and write not in uses:
                    first = piece.times.domain().lexmin()
                    uses[write] = f"{piece.name}[{', '.join(map(str, coordinates(first)))}]"
    fault = PortFault(array.name, (), f"read by {uses[False]} and written by {uses[True]}")
    return NotAPort(step, fault, "give the kernel one argument to read and another to write")


def _twice(times: isl.Map, array: Array) -> Element:
    space = times.get_space().domain().map_from_set()
    pairs = times.lex_lt_map(times).intersect(isl.Map.identity(space))
    return sample_element(pairs.domain().lexmin(), array)


def _every(state: ScheduledScop, array: Array) -> isl.Set:
    names = dims(len(array.shape), "x")
    box = " and ".join(f"0 <= {x} < {n}" for x, n in zip(names, array.shape, strict=True))
    return set_of(f"{{ a{state.scop.array_index[array.name]}[{', '.join(names)}] : {box} }}")


def _check_skipped(
    state: ScheduledScop, array: Array, step: Interface, readers: list[Piece]
) -> None:
    """A conditional expression takes from the port only what it needs."""
    for piece in readers:
        for access in conditional_loads(piece.statement.stmt.value):
            if access.array == array.name:
                points = piece.times.domain().apply(state.scop.access_map(piece.statement, access))
                element = sample_element(points.lexmin(), array)
                uses = tuple(iterations_at(state, array, element, False)[:1])
                fault = PortFault(array.name, (element,), "read where a condition holds", uses)
                raise NotAPort(step, fault, "read it into a local scalar in front of the condition")


def _check_order(
    state: ScheduledScop, array: Array, step: Interface, times: isl.Map, write: bool
) -> None:
    """Of two elements in one memory, the first in memory is the first that is touched."""
    if not write:  # what one iteration reads has no order
        times = times.project_out(isl.dim_type.out, times.dim(isl.dim_type.out) - 1, 1)
    space = times.get_space().domain()
    before = isl.Map.lex_lt(space).intersect(same_memory(state, array))
    swapped = before.intersect(times.lex_ge_map(times))
    if swapped.is_empty():
        return
    first = swapped.domain().lexmin()
    second = swapped.intersect_domain(first).range().lexmin()
    elements = tuple(sample_element(points, array) for points in (second, first))
    uses = tuple(iterations_at(state, array, e, write)[0] for e in elements)
    does = "writes" if write else "reads"
    help_ = (
        "let the loops count its subscripts upwards, the last one innermost, or "
        f"{_COPY_OUT if write else _COPY_IN}"
    )
    raise NotAPort(step, PortFault(array.name, elements, does, uses), help_)
