"""Arrays outside that are accessed through several pointers: is that as good as through one?

To the tool these are several arrays: it may read through one ahead of what it writes through another. So no read may take
a value that the kernel has written, and what reads and what writes are nests that follow one another, or processes
(`polyhedral.legality.write_after_read`). Through pointers of loops that are spread no element is written twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Interface
from polyhedral.dependences.direct import Dependence, DepKind, array_dependences, array_flows
from polyhedral.scop.execution_order import shared_loops
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.scop.scop import Scop


def check_second_pointers(state: ScheduledScop) -> None:
    """The arrays that have one.

    Raises:
        ScheduleError: W231 a read takes what was written, or both are in one body; W215 the array is not both read
            and written.
    """
    for step in state.interfaces:
        if step.reads:
            _check(state, step)
        if step.also:
            _check_further(state, step)
    _check_spread(state)


def _check_further(state: ScheduledScop, step: Interface) -> None:
    name, found = step.argument, array_dependences(state.scop, step.argument)
    if any(piece.statement.touches(name) for piece in state.pieces) and not found:
        return
    written = [p for p in state.pieces if p.statement.stmt.target.array == name]
    kinds = {DepKind.FLOW: "reads what {0} wrote", DepKind.OUTPUT: "writes what {0} wrote"}
    for dependence in found:
        if (text := kinds.get(dependence.kind)) is not None:
            raise ScheduleError(
                "W231",
                f"'{name}' cannot be reached through several pointers: {dependence.sink.name} "
                f"{text.format(dependence.source.name)}",
                span=step.span,
                help="leave also out, or buffer the array where it stays on the chip in between",
            )
    if written and not step.reads:
        raise ScheduleError(
            "W231",
            f"'{name}' cannot be reached through several pointers: it is read, and written later",
            span=step.span,
            help="reads, beside also, gives what is read pointers of its own",
        )


def _check_spread(state: ScheduledScop) -> None:
    """Arrays outside have as many pointers as the loops that are spread around their accesses have copies, or one."""
    pointers = {s.argument: 1 + len(s.also) for s in state.interfaces if s.mode == "m_axi"}
    for piece in state.pieces:
        for level, dim in enumerate(piece.dims):
            if not dim.requests.spread:
                continue
            interval = whole_range([(piece, level)])
            copies = 0 if interval is None else interval.extent
            used = [
                access.array for access in (*piece.statement.reads, piece.statement.stmt.target)
            ]
            for array in dict.fromkeys(a for a in used if pointers.get(a, 1) not in (1, copies)):
                raise ScheduleError(
                    "W231",
                    f"'{array}' has {pointers[array]} pointers, and {piece.name} is spread over {copies} ports",
                    span=next(s.span for s in state.interfaces if s.argument == array),
                    help="name a bundle for each copy but the first: also=[...]",
                )


def _check(state: ScheduledScop, step: Interface) -> None:
    name = step.argument
    writers = [p for p in state.pieces if p.statement.stmt.target.array == name]
    readers = [p for p in state.pieces if any(a.array == name for a in p.statement.reads)]
    if not writers or not readers:
        raise ScheduleError(
            "W215",
            f"'{name}' is not {'written' if readers else 'read'}: one pointer is enough",
            span=step.span,
            help="leave reads out",
        )
    if (again := reads_again(state.scop, name)) is not None:
        source, sink = again.source.name, again.sink.name
        raise ScheduleError(
            "W231",
            f"'{name}' cannot be read through a pointer of its own: {sink} reads what {source} wrote",
            span=step.span,
            help="leave reads out, or buffer the array where it stays on the chip in between",
        )
    for reader, writer in _in_one_body(readers, writers):
        both = " and ".join(dict.fromkeys((reader.name, writer.name)))
        raise ScheduleError(
            "W231",
            f"'{name}' cannot be read through a pointer of its own: {both} read and write it in one body",
            span=step.span,
            help=f'buffer("{name}", apart=True) at a loop makes nests of copying in and out',
        )


def reads_again(scop: Scop, array: str) -> Dependence | None:
    """A read of an array that takes what was written; None where there is none."""
    return next(iter(array_flows(scop, array)), None)


def _in_one_body(readers: list[Piece], writers: list[Piece]) -> Iterator[tuple[Piece, Piece]]:
    """Those whose iterations a tool may run beside each other: in one body, or in a pipeline."""
    for reader in readers:
        for writer in writers:
            shared = shared_loops(reader.place, writer.place)
            at_once = any(
                d.pipeline_ii is not None or d.unroll is not None for d in reader.dims[:shared]
            )
            alone = min(len(reader.dims), len(writer.dims)) <= shared
            if reader is writer or at_once or alone:
                yield reader, writer
