"""Arrays outside that are accessed through several pointers: is that as good as through one?

To the tool these are several arrays: it may read through one ahead of what it writes through another. So no read may take
a value that the kernel has written, and what reads and what writes are nests that follow one another, or processes
(`polyhedral.legality.write_after_read`). What goes through pointers of loops that are spread is so, too, unless the nests
run one after the other, and each goes through all of them or a loop around the first one ends in between.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Interface
from polyhedral.dependences.direct import Dependence, DepKind, array_dependences, array_flows
from polyhedral.scop.execution_order import shared_loops
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Dim, Piece, ScheduledScop


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
    name = step.argument
    texts = {
        DepKind.FLOW: "reads what {0} wrote",
        DepKind.OUTPUT: "writes what {0} wrote",
        DepKind.ANTI: "writes what {0} has read",
    }
    for dependence in array_dependences(state.scop, name):
        read_apart = dependence.kind is DepKind.ANTI and bool(step.reads)
        if read_apart or in_sequence(state, dependence, 1 + len(step.also)):
            continue
        text = texts[dependence.kind].format(dependence.source.name)
        raise ScheduleError(
            "W231",
            f"'{name}' cannot be reached through several pointers: {dependence.sink.name} {text}",
            span=step.span,
            help="leave also out, or buffer the array where it stays on the chip in between",
        )


def in_sequence(state: ScheduledScop, dependence: Dependence, ports: int | None) -> bool:
    """Whether the nests of a dependence run one after the other whatever pointers they go through: the first one reads; or
    both go through all of them, so that the tool has them in the order in which they are written; or a loop with other
    nests around the first one ends before the second one begins, which it does when memory has answered. And loops around
    them are no pipelines or regions. With None for ``ports`` they go through different ones.
    """
    if state.dataflow is not None or state.pipeline is not None:
        return False
    sources, sinks = (state.of_statement(s.name) for s in (dependence.source, dependence.sink))
    # What was read has arrived when its nest is done; of what was written memory may still have to answer.
    answered = dependence.kind is DepKind.ANTI
    answered = answered or all(_ports(piece) == ports for piece in (*sources, *sinks))
    for source in sources:
        for sink in sinks:
            shared = shared_loops(source.place, sink.place)
            busy = [k for k, dim in enumerate(source.dims[:shared]) if not _is_plain(dim)]
            if busy and _within(dependence, source, sink, busy[0]):
                return False
            one_body = not busy and min(len(source.dims), len(sink.dims)) <= shared
            if (one_body or not answered) and not _ends_between(state, dependence, source, sink):
                return False
    return True


def _ends_between(state: ScheduledScop, dependence: Dependence, source: Piece, sink: Piece) -> bool:
    """Whether a loop around the source ends before the sink begins that has several nests, so that it is not flattened with
    those of the source.
    """
    several = [level for level in range(len(source.dims)) if _nests_in(state, source, level) > 1]
    if not several:
        return False
    last = several[-1]
    return last >= shared_loops(source.place, sink.place) or not _within(
        dependence, source, sink, last
    )


def _nests_in(state: ScheduledScop, piece: Piece, level: int) -> int:
    """How many nests and statements stand in a loop around a statement."""
    around = piece.place[: level + 1]
    return len({p.place[: level + 2] for p in state.pieces if p.place[: level + 1] == around})


def _ports(piece: Piece) -> int:
    """Through how many pointers the copies of the loop around a statement go that is spread; 1 where there is none."""
    for level, dim in enumerate(piece.dims):
        if dim.requests.spread:
            interval = whole_range([(piece, level)])
            return 0 if interval is None else interval.extent
    return 1


def _is_plain(dim: Dim) -> bool:
    """Iterations of a loop follow one another."""
    return dim.pipeline_ii is None and dim.unroll is None and dim.region is None


def _within(dependence: Dependence, source: Piece, sink: Piece, level: int) -> bool:
    """Whether a dependence is between iterations for which the outermost loops, so many, are the same."""
    pairs = dependence.pairs.apply_domain(source.times).apply_range(sink.times)
    for k in range(level):
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return not pairs.is_empty()


def _check_spread(state: ScheduledScop) -> None:
    """Arrays outside have as many pointers as the loops that are spread around their accesses have copies, or one."""
    pointers = {s.argument: 1 + len(s.also) for s in state.interfaces if s.mode == "m_axi"}
    for piece in state.pieces:
        copies = _ports(piece)
        used = [access.array for access in (*piece.statement.reads, piece.statement.stmt.target)]
        for array in dict.fromkeys(a for a in used if 1 < pointers.get(a, 1) < copies):
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
    if (again := reads_again(state, name)) is not None:
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


def reads_again(state: ScheduledScop, array: str) -> Dependence | None:
    """A read of an array that takes what was written, of nests that memory does not keep in order; None where there is
    none.
    """
    flows = array_flows(state.scop, array)
    return next((flow for flow in flows if not in_sequence(state, flow, None)), None)


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
