"""``bind_storage``, ``bind_op``, ``interface``: choices that only name resources of the tool.

The words are those of `polyhedral.requests.tool_words`. A choice is made once; what it needs of the
design as a whole is asked at the end of the schedule, in `polyhedral.requests.complete`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.programs.program import Array, Storage
from dsl.schedules.steps import BindOp, BindStorage, Interface, Step
from polyhedral.requests.outside import RETURN, check_control, check_outside
from polyhedral.requests.repeated import once
from polyhedral.requests.tool_words import (
    ARRAY_MODES,
    BUNDLED_MODES,
    INTERFACE_MODES,
    MEMORIES,
    MEMORY_LATENCIES,
    MEMORY_MODES,
    OPERATORS,
    operators_of,
)
from polyhedral.scop.lookup import find_array, find_statement
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform


@transform(BindStorage, order=Order.KEPT)
def bind_storage(state: ScheduledScop, step: BindStorage) -> ScheduledScop:
    """Choose the memory of an array."""
    array = find_array(state, step.array, step)
    if not array.shape:
        raise ScheduleError("W215", f"'{array.name}' is a scalar, it has no memory", span=step.span)
    _check_word("memory type", step.type, MEMORIES, step)
    _check_word("memory implementation", step.impl, _implementations(), step)
    known = MEMORIES[step.type]
    if step.impl not in ("auto", *known):
        raise ScheduleError(
            "W215",
            f"a {step.type} has no implementation {step.impl}",
            span=step.span,
            help=f"it can be auto, {', '.join(known)}",
        )
    low, high = (0, 0) if step.type == "fifo" else MEMORY_LATENCIES
    _check_latency(step.latency, low, high, f"a {step.type}", step)
    written = any(s.target.array == array.name for s in state.scop.program.statements())
    if step.type.startswith("rom") and written:
        raise ScheduleError(
            "W215",
            f"'{array.name}' is written, so it is no {step.type}",
            span=step.span,
            help=f'"{step.type.replace("rom", "ram").replace("_np", "_2p")}" is a memory that is',
        )
    same = [s for s in state.storage if s.array == step.array]
    kept = once(state.storage, same, step, f"the memory of '{step.array}'")
    return _fitting(replace(state, storage=kept), step.array, step)


def _implementations() -> tuple[str, ...]:
    return ("auto", *dict.fromkeys(impl for known in MEMORIES.values() for impl in known))


@transform(BindOp, order=Order.KEPT)
def bind_op(state: ScheduledScop, step: BindOp) -> ScheduledScop:
    """Choose the implementation of an operator of one statement."""
    find_statement(state, step.stmt, step)
    _check_word("operator", step.op, OPERATORS, step)
    stmt = state.scop.statement(step.stmt).stmt
    there = operators_of(stmt.value)
    if step.op not in there:
        raise ScheduleError(
            "W224",
            f"{step.stmt} has no operator {step.op}",
            span=step.span,
            notes=[f"{step.stmt}: {stmt.source}"] if stmt.source else (),
            help=f"its operators are {', '.join(there)}" if there else "it has none to choose",
        )
    known = OPERATORS[step.op]
    every = ("auto", *dict.fromkeys(impl for other in OPERATORS.values() for impl in other))
    _check_word("implementation", step.impl, every, step)
    if step.impl not in ("auto", *known):
        raise ScheduleError(
            "W215",
            f"{step.op} has no implementation {step.impl}",
            span=step.span,
            help=f"it can be auto, {', '.join(known)}",
        )
    most = max(known.values()) if step.impl == "auto" else known[step.impl]
    of = step.op if step.impl == "auto" else f"{step.op} in {step.impl}"
    _check_latency(step.latency, 0, most, of, step)
    same = [s for s in state.operators if (s.stmt, s.op) == (step.stmt, step.op)]
    kept = once(state.operators, same, step, f"{step.op} of {step.stmt}")
    return replace(state, operators=kept)


@transform(Interface, order=Order.KEPT)
def interface(state: ScheduledScop, step: Interface) -> ScheduledScop:
    """Choose the interface of an argument, or the control of the function."""
    if step.argument == RETURN:
        check_control(step)
        return _with_interface(state, step, "the control of the function")
    array = find_array(state, step.argument, step)
    _check_word("interface mode", step.mode, INTERFACE_MODES, step)
    if array.storage is not Storage.ARGUMENT:
        _check_scratch(array, step)
        state = _outside(state, array)
    if step.mode in (*ARRAY_MODES, "ap_ovld") and not array.shape:
        raise ScheduleError(
            "W215",
            f"'{array.name}' is a scalar that is read, which {step.mode} cannot be",
            span=step.span,
            help="a scalar is ap_none, ap_vld, ap_ack, ap_hs, ap_stable, axis or s_axilite",
        )
    for bundle in filter(None, (step.bundle, step.reads, *step.also)):
        if not (bundle.isascii() and bundle.isidentifier()):
            raise ScheduleError("W215", f"'{bundle}' is no bundle name", span=step.span)
    if step.bundle and step.mode not in BUNDLED_MODES:
        raise ScheduleError(
            "W215",
            f"{step.mode} is a port by itself, it is in no bundle",
            span=step.span,
            help=f"leave the bundle out, or choose {' or '.join(BUNDLED_MODES)}",
        )
    check_outside(array, step)
    for option in ("reads", "also"):
        if getattr(step, option) and not array.shape:
            text = f"'{array.name}' is a scalar, which is read without a pointer"
            raise ScheduleError("W215", text, span=step.span, help=f"leave {option} out")
    state = _with_interface(state, step, f"the interface of '{step.argument}'")
    return _fitting(state, step.argument, step)


def _check_scratch(array: Array, step: Interface) -> None:
    """W215 unless a local can be in memory outside, which the caller provides for the whole run."""
    if not array.shape:
        text = f"'{array.name}' is a local scalar: it has no interface, and is no memory"
        raise ScheduleError("W215", text, span=step.span, help="leave the step out")
    if step.mode != "m_axi":
        raise ScheduleError(
            "W215",
            f"'{array.name}' is a local, it has no interface {step.mode}",
            span=step.span,
            help=f'interface("{array.name}", "m_axi") puts it into memory outside',
        )
    if array.scope_depth:
        raise ScheduleError(
            "W215",
            f"'{array.name}' belongs to one iteration of loops, and memory outside is for the whole run",
            span=step.span,
            help="declare it in front of all loops, or leave it on the chip",
        )


def _outside(state: ScheduledScop, array: Array) -> ScheduledScop:
    """The local is scratch, in the same place among the arrays."""
    program = state.scop.program
    moved = replace(array, storage=Storage.SCRATCH)
    arrays = tuple(moved if a.name == array.name else a for a in program.arrays)
    return replace(state, scop=replace(state.scop, program=replace(program, arrays=arrays)))


def _with_interface(state: ScheduledScop, step: Interface, what: str) -> ScheduledScop:
    same = [s for s in state.interfaces if s.argument == step.argument]
    return replace(state, interfaces=once(state.interfaces, same, step, what))


def _fitting(state: ScheduledScop, array: str, step: Step) -> ScheduledScop:
    """W215 if an argument has both a memory and an interface that has none behind it."""
    modes = [s.mode for s in state.interfaces if s.argument == array]
    if modes and modes[0] not in MEMORY_MODES and any(s.array == array for s in state.storage):
        raise ScheduleError(
            "W215",
            f"'{array}' has the interface {modes[0]}, which has no memory to choose",
            span=step.span,
            help=f"choose a memory for {' or '.join(MEMORY_MODES)}, or copy it to a local array",
        )
    return state


def _check_word(what: str, word: str, known: Collection[str], step: Step) -> None:
    if word not in known:
        raise ScheduleError(
            "W215", f"no {what} is called '{word}'", span=step.span, help=did_you_mean(word, known)
        )


def _check_latency(latency: int, low: int, high: int, of: str, step: Step) -> None:
    if latency != -1 and not low <= latency <= high:
        known = f"{low} to {high}" if low < high else f"{low}"
        raise ScheduleError(
            "W207",
            f"latency {latency} is none of {of}",
            span=step.span,
            help=f"it can be {known}, or -1: the tool chooses",
        )
