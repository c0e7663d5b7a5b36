"""What is asked of a schedule as a whole, when all its steps are done.

Each step is proven or refused by itself; what is said here depends on steps that may come later: an
argument that is a FIFO needs its order of loops, processes their nests, depths each other.
"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.programs.program import Array
from dsl.schedules.steps import AutoPartition, BindStorage, Dataflow, Interface
from polyhedral.dataflow.ports import FIFO_MODES, check_ports
from polyhedral.dataflow.processes import process_names
from polyhedral.requests.outside import RETURN, check_bundles
from polyhedral.requests.packed import check_packed
from polyhedral.requests.promised import check_promised
from polyhedral.requests.read_only import check_read_only
from polyhedral.requests.reshaped import check_reshaped
from polyhedral.requests.second_pointers import check_second_pointers
from polyhedral.requests.tool_words import WORD_MODES
from polyhedral.requests.whole_pipeline import check_whole_pipeline
from polyhedral.scop.scheduled import ScheduledScop

_ONE_BY_ONE = ("m_axi", *FIFO_MODES)  # interfaces that hand over an element, or a word, at a time


def check_complete(state: ScheduledScop) -> None:
    """The requests that only a complete schedule can meet.

    Raises:
        ScheduleError: W215 an interface or a memory that does not fit; W223 ports that are one, in
            two ways; W230 words that are accessed in part; W231 a second
            pointer to what is written and read again; W219 (as
            `polyhedral.dataflow.deadlock.Deadlock`) depths that stop the processes; W222 (as
            `polyhedral.dataflow.ports.NotAPort`); W226 processes that are one.
    """
    for asked in state.interfaces:
        if asked.argument != RETURN:
            _check_interface(state, state.scop.program.array(asked.argument), asked)
    check_bundles(state.interfaces)
    check_second_pointers(state)
    check_packed(state)
    check_reshaped(state)
    check_promised(state)
    if state.pipeline is not None:
        check_whole_pipeline(state, state.pipeline)
    check_read_only(state)
    for step in state.auto_partitions:
        _check_banks(state, step)
    for memory in state.storage:
        _check_memory(state, state.scop.program.array(memory.array), memory)
    check_ports(state)
    if state.dataflow is not None:
        # Here, because NumPy takes long to load and few designs have processes.
        from polyhedral.dataflow.deadlock import check_depths

        _check_processes(state, state.dataflow)
        check_depths(state, state.dataflow)


def _in_registers(state: ScheduledScop, array: Array) -> bool:
    """Whether every element has a register of its own."""
    whole = {p.dim for p in state.partitions if p.array == array.name and p.scheme == "complete"}
    return len(whole) == len(array.shape)


def _check_interface(state: ScheduledScop, array: Array, step: Interface) -> None:
    if array.shape and step.mode in WORD_MODES and not _in_registers(state, array):
        raise ScheduleError(
            "W215",
            f"'{array.name}' is an array, {step.mode} an interface of single words",
            span=step.span,
            help="partition it completely, or choose ap_memory, bram, m_axi, s_axilite, axis or "
            "ap_fifo",
        )
    if step.mode == "m_axi" and any(p.array == array.name for p in state.partitions):
        raise ScheduleError(
            "W215",
            f"'{array.name}' is behind one m_axi port, so it has no partitions",
            span=step.span,
            help=f'buffer("{array.name}") copies it to a local array: partition that',
        )


def _check_banks(state: ScheduledScop, step: AutoPartition) -> None:
    """What comes one after the other has no banks; those of a FIFO decide in which order it is read."""
    name = step.array
    ports = [i.mode for i in state.interfaces if i.argument == name and i.mode in _ONE_BY_ONE]
    if ports or any(s.array == name for s in state.streams):
        what = f"behind one {ports[0]} port" if ports else "a stream"
        raise ScheduleError(
            "W215",
            f"'{name}' is {what}, so its accesses want no partitions",
            span=step.span,
            help=f'buffer("{name}") copies it to a local array: partition that'
            if ports
            else "leave it out, or partition it by hand: then each memory is a FIFO",
        )


def _check_memory(state: ScheduledScop, array: Array, step: BindStorage) -> None:
    if _in_registers(state, array):
        raise ScheduleError(
            "W215",
            f"'{array.name}' is partitioned completely: its elements are registers, no {step.type}",
            span=step.span,
            help="leave one of the two out",
        )
    if step.type == "fifo" and all(s.array != array.name for s in state.streams):
        raise ScheduleError(
            "W215",
            f"'{array.name}' is no stream, so its memory is no fifo",
            span=step.span,
            help=f'stream("{array.name}") makes a fifo of an array between two processes',
        )


def _check_processes(state: ScheduledScop, step: Dataflow) -> None:
    """W226: groups of statements are one process, or all are."""
    found = process_names(state)
    for names in found:
        asked = [g for g in step.processes if set(g) & set(names)]
        if len(asked) > 1:
            first, second = (next(n for n in g if n in names) for g in asked[:2])
            raise ScheduleError(
                "W226",
                f"{first} and {second} are of one nest, so they are no processes of their own",
                span=step.span,
                help=f'distribute(["{second}"]) first gives it loops of its own',
            )
    if len(found) < 2:
        raise ScheduleError(
            "W226",
            "there is one process, and nothing that it could run beside",
            span=step.span,
            help=_more_processes(state, found[0] if found else ()),
        )


def _more_processes(state: ScheduledScop, names: tuple[str, ...]) -> str:
    if len({p.place[0] for p in state.pieces}) > 1:
        return "leave statements out of the group: their nests are processes of their own"
    if len(names) > 1:
        return f'distribute(["{names[-1]}"]) first makes another nest, or leave it out'
    return "leave it out"
