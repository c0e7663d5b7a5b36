"""``hls.auto_partition`` of the kernel's function: arrays that are to get the partitions which their accesses want."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dsl.errors.errors import IRError, did_you_mean
from mlir_passes.dialect.attributes import ArrayInfo, span_of
from mlir_passes.provider import ir

AUTO_PARTITION = "hls.auto_partition"


def auto_partition_attributes(arrays: Sequence[str]) -> dict[str, Any]:
    """The attribute of a function for these arrays; none where there are none."""
    if not arrays:
        return {}
    return {AUTO_PARTITION: ir.ArrayAttr.get([ir.StringAttr.get(a) for a in arrays])}


def auto_partitions_of(function: Any) -> tuple[str, ...]:
    """The names of the arrays, each once."""
    attributes = function.operation.attributes
    if AUTO_PARTITION not in attributes:
        return ()
    return tuple(dict.fromkeys(str(name.value) for name in attributes[AUTO_PARTITION]))


def verify_auto_partitions(function: Any, arrays: Mapping[str, ArrayInfo]) -> None:
    """Check that there are such arrays, and that they can have banks.

    Raises:
        IRError: W330.
    """
    for name in auto_partitions_of(function):
        info = arrays.get(name)
        if info is not None and info.shape:
            outside = info.interface is not None and info.interface.mode == "m_axi"
            if not outside and info.stream is None:
                continue
            text = f"'{name}' is behind one port: it has no banks"
        else:
            text = f"'{name}' is to be partitioned, and is no array"
        help_line = did_you_mean(name, arrays) if info is None else None
        raise IRError("W330", text, span=span_of(function), help=help_line)
