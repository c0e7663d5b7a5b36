"""``bind_storage``, ``bind_op``, ``interface``: choices that only name resources of the tool.

The words are those of UG1399 (pragma HLS bind_storage, bind_op, interface).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from dsl.errors import ScheduleError, did_you_mean
from dsl.program import Storage
from dsl.steps import BindOp, BindStorage, Interface, Step
from polyhedral.lookup import find_array, find_statement
from polyhedral.scheduled import ScheduledScop

MEMORY_TYPES = (
    "fifo", "ram_1p", "ram_1wnr", "ram_2p", "ram_s2p", "ram_t2p", "rom_1p", "rom_2p", "rom_np",
)  # fmt: skip
MEMORY_IMPLS = ("auto", "bram", "bram_ecc", "lutram", "uram", "uram_ecc", "srl", "memory")
OPERATORS = (
    "mul", "add", "sub", "fadd", "fsub", "fdiv", "fexp", "flog", "fmul", "frsqrt", "frecip",
    "fsqrt", "dadd", "dsub", "ddiv", "dexp", "dlog", "dmul", "drsqrt", "drecip", "dsqrt", "hadd",
    "hsub", "hdiv", "hmul", "hsqrt", "facc", "fmacc", "fmadd",
)  # fmt: skip
OPERATOR_IMPLS = (
    "auto", "fabric", "dsp", "dsp48", "fulldsp", "maxdsp", "meddsp", "primitivedsp",
)  # fmt: skip
INTERFACE_MODES = (
    "ap_memory", "bram", "ap_fifo", "ap_none", "ap_vld", "ap_ack", "ap_hs", "ap_ovld", "ap_stable",
    "axis", "m_axi", "s_axilite",
)  # fmt: skip


_MEMORY_MODES = ("ap_memory", "bram")


def bind_storage(state: ScheduledScop, step: BindStorage) -> ScheduledScop:
    """Choose the memory of an array; the latest choice counts."""
    find_array(state, step.array, step)
    _check_word("memory type", step.type, MEMORY_TYPES, step)
    _check_word("memory implementation", step.impl, MEMORY_IMPLS, step)
    _check_latency(step.latency, step)
    kept = tuple(s for s in state.storage if s.array != step.array)
    return _fitting(replace(state, storage=(*kept, step)), step.array, step)


def bind_op(state: ScheduledScop, step: BindOp) -> ScheduledScop:
    """Choose the implementation of an operator of one statement; the latest choice counts."""
    find_statement(state, step.stmt, step)
    _check_word("operator", step.op, OPERATORS, step)
    _check_word("implementation", step.impl, OPERATOR_IMPLS, step)
    _check_latency(step.latency, step)
    kept = tuple(s for s in state.operators if (s.stmt, s.op) != (step.stmt, step.op))
    return replace(state, operators=(*kept, step))


def interface(state: ScheduledScop, step: Interface) -> ScheduledScop:
    """Choose the interface of an argument; the latest choice counts."""
    array = find_array(state, step.argument, step)
    if array.storage is not Storage.ARGUMENT:
        raise ScheduleError(
            "W215", f"'{array.name}' is a local, it has no interface", span=step.span
        )
    _check_word("interface mode", step.mode, INTERFACE_MODES, step)
    if step.bundle and not (step.bundle.isascii() and step.bundle.isidentifier()):
        raise ScheduleError("W215", f"'{step.bundle}' is no bundle name", span=step.span)
    kept = tuple(s for s in state.interfaces if s.argument != step.argument)
    return _fitting(replace(state, interfaces=(*kept, step)), step.argument, step)


def _fitting(state: ScheduledScop, array: str, step: Step) -> ScheduledScop:
    """W215 if an argument has both a memory and an interface that has none behind it."""
    modes = [s.mode for s in state.interfaces if s.argument == array]
    if modes and modes[0] not in _MEMORY_MODES and any(s.array == array for s in state.storage):
        raise ScheduleError(
            "W215",
            f"'{array}' has the interface {modes[0]}, which has no memory to choose",
            span=step.span,
            help=f"choose a memory for {' or '.join(_MEMORY_MODES)}, or copy it to a local array",
        )
    return state


def _check_word(what: str, word: str, known: Collection[str], step: Step) -> None:
    if word not in known:
        raise ScheduleError(
            "W215", f"no {what} is called '{word}'", span=step.span, help=did_you_mean(word, known)
        )


def _check_latency(latency: int, step: Step) -> None:
    if not -1 <= latency <= 100:
        raise ScheduleError("W207", f"latency {latency} is not between -1 and 100", span=step.span)
