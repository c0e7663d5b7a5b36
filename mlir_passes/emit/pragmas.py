"""``#pragma HLS`` lines from level 3 annotations, in the syntax of UG1399.

Pragmas stand at the left margin, where clang-format puts preprocessor lines.
"""

from __future__ import annotations

import math

from dsl.schedules.loop_requests import LoopRequests
from mlir_passes.dialect.attributes import BindOp, Partition, Storage
from mlir_passes.emit.nodes import Kernel, Loop, Memory

_MEMORY_MODES = ("ap_memory", "bram")
_SLAVE = "s_axilite"


def function_pragmas(kernel: Kernel) -> list[str]:
    """What was asked of the arguments, and how the function is started.

    An argument in memory outside has its address in a register. Then scalars are in registers as
    well, and so is the control, unless something else is asked for: one slave port drives all.
    """
    lines = [line for memory in kernel.arguments for line in memory_pragmas(memory)]
    outside = [m for m in kernel.arguments if _is_outside(m) and _offset(m) == "slave"]
    if outside:
        scalars = [m for m in kernel.arguments if not m.is_array and m.info.interface is None]
        lines += [
            _pragma("interface", mode=_SLAVE, port=name)
            for m in kernel.arguments
            if m in outside or m in scalars
            for name in m.names
        ]
    control = kernel.control
    if control not in ("", _SLAVE):
        lines.append(_pragma("interface", mode=control, port="return"))
    if control == _SLAVE or (outside and control != "ap_ctrl_none"):
        lines.append(_pragma("interface", mode=_SLAVE, port="return"))
    if kernel.pipeline is not None:
        ii, style = kernel.pipeline
        lines.append(_pragma("pipeline", II=ii, style=style))
    return lines


def _is_outside(memory: Memory) -> bool:
    asked = memory.info.interface
    return asked is not None and asked.mode == "m_axi"


def _offset(memory: Memory) -> str:
    return memory.info.axi.offset or "slave"


def memory_pragmas(memory: Memory) -> list[str]:
    """What was asked of an array or scalar: interface, storage, partitions, words."""
    lines = []
    if memory.is_argument:
        lines += _interface(memory)
        lines += _only_read(memory)
    elif memory.info.storage is not None:
        lines.append(_bind_storage(memory.name, memory.info.storage))
    if memory.info.stream is not None:
        lines.append(_pragma("stream", variable=memory.name, type="fifo", depth=memory.info.stream))
    lines += [_split("array_partition", memory.name, p) for p in memory.info.partitions]
    return lines + [_split("array_reshape", memory.name, p) for p in memory.info.reshapes]


def _pragma(kind: str, **options: object) -> str:
    given = [f"{key}={value}" for key, value in options.items() if value not in ("", None)]
    return " ".join(["#pragma HLS", kind, *given])


def _interface(memory: Memory) -> list[str]:
    """The memory behind an argument is an option of its interface, not ``bind_storage``."""
    asked, storage = memory.info.interface, memory.info.storage
    if asked is None and storage is None:
        return []
    mode = asked.mode if asked is not None else _MEMORY_MODES[0]
    bundle = asked.bundle if asked is not None else ""
    if mode == "m_axi":
        ways = {memory.name: bundle}
        if memory.reads:
            ways[memory.reads] = memory.info.axi.reads
        for others in (memory.also, memory.also_reads):
            ways |= dict(zip(others, memory.info.axi.further, strict=False))
        return [_outside(memory, name, behind) for name, behind in ways.items()]
    options: dict[str, object] = {"mode": mode, "port": memory.name, "bundle": bundle}
    if storage is not None and mode in _MEMORY_MODES:
        options["storage_type"] = storage.type
        options["storage_impl"] = "" if storage.impl == "auto" else storage.impl
        options["latency"] = storage.latency if storage.latency >= 0 else ""
    return [_pragma("interface", **options)]


def _only_read(memory: Memory) -> list[str]:
    """A cache of what is in memory outside, and that processes do not wait for each other to read it."""
    lines = []
    if memory.info.cache is not None:
        count, depth = memory.info.cache
        lines.append(_pragma("cache", port=memory.name, lines=count, depth=depth or ""))
    if memory.info.stable:
        lines.append(_pragma("stable", variable=memory.name))
    return lines


def _outside(memory: Memory, name: str, bundle: str) -> str:
    """The interface of an array in memory outside, or of its second pointer."""
    options: dict[str, object] = {"mode": "m_axi", "port": name, "bundle": bundle}
    options["offset"] = _offset(memory)
    options["depth"] = math.prod(memory.info.axi.words(memory.info.shape))
    return _pragma("interface", **options, **_port_options(memory, name))


def _port_options(memory: Memory, name: str) -> dict[str, object]:
    """The options of an ``m_axi`` port, of the directions in which the array passes by that name."""
    axi = memory.info.axi
    found: dict[str, object] = {
        "max_widen_bitwidth": axi.width or "",
        "latency": axi.latency if axi.latency >= 0 else "",
    }
    for direction, used in (("read", memory.read), ("write", memory.written)):
        if used and name in memory.ways(direction == "write"):
            found[f"max_{direction}_burst_length"] = axi.burst or ""
            found[f"num_{direction}_outstanding"] = axi.outstanding or ""
    return found


def _bind_storage(name: str, storage: Storage) -> str:
    return _pragma(
        "bind_storage",
        variable=name,
        type=storage.type,
        impl="" if storage.impl == "auto" else storage.impl,
        latency=storage.latency if storage.latency >= 0 else "",
    )


def _split(kind: str, name: str, partition: Partition) -> str:
    """Dimensions count from 1 in the pragma."""
    return _pragma(
        kind,
        variable=name,
        type=partition.kind,
        factor="" if partition.kind == "complete" else partition.factor,
        dim=partition.dim + 1,
    )


def bind_op_pragma(variable: str, bind: BindOp) -> str:
    """``bind_op`` for the operator whose result the variable is."""
    return _pragma(
        "bind_op",
        variable=variable,
        op=bind.op,
        impl="" if bind.impl == "auto" else bind.impl,
        latency=bind.latency if bind.latency >= 0 else "",
    )


def _requested(asked: LoopRequests) -> list[str]:
    """Of an iteration's latency, of how often the loop begins, of its sums."""
    least, most = asked.latency
    lines = [_pragma("latency", min=least or "", max=most or "")] if least or most else []
    if asked.target_ti:
        lines.append(_pragma("performance", target_ti=asked.target_ti))
    lines += [_pragma("allocation operation", instances=op, limit=n) for op, n in asked.allocation]
    if asked.unbalanced:
        lines.append(_pragma("expression_balance") + " off")
    return lines


def loop_pragmas(loop: Loop, variables: dict[str, str]) -> list[str]:
    """What was asked of a loop, as the first lines of its body.

    Args:
        loop: the loop.
        variables: C++ names of arrays by the user's name.
    """
    info = loop.info
    lines = ["#pragma HLS dataflow"] if info.processes else []
    if info.ii is not None:
        rewind = " rewind" if info.requests.rewind else ""
        lines.append(_pragma("pipeline", II=info.ii, style=info.requests.style) + rewind)
    if info.sequential:
        lines.append(_pragma("pipeline") + " off")
    if info.unroll is not None:
        skip = " skip_exit_check" if info.requests.skip_exit_check else ""
        lines.append(_pragma("unroll", factor=info.unroll or "") + skip)
    if info.flatten is not None:
        lines.append(_pragma("loop_flatten") + ("" if info.flatten else " off"))
    lines += _requested(info.requests)
    if info.trip_count is not None:
        t = info.trip_count
        lines.append(_pragma("loop_tripcount", min=t.minimum, max=t.maximum, avg=t.average))
    known = [variables[array] for array in info.independent if array in variables]
    lines += [f"#pragma HLS dependence variable={name} type=inter false" for name in known]
    return lines + [
        f"#pragma HLS dependence variable={variables[array]} type=inter direction=RAW"
        f" distance={distance} true"
        for array, distance in info.distances
        if array in variables
    ]
