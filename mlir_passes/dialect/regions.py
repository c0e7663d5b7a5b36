"""``#hls.dataflow<...>``: the processes of a function or of a loop, as an attribute and as names."""

from __future__ import annotations

from typing import Any

from mlir_passes.dialect import hls
from mlir_passes.provider import ir


def region_attribute(processes: tuple[tuple[str, ...], ...]) -> Any:
    """``#hls.dataflow<...>`` of the statements of each process."""
    groups = [ir.ArrayAttr.get([ir.StringAttr.get(name) for name in one]) for one in processes]
    return hls.Dataflow.get(ir.ArrayAttr.get(groups))


def region_of(attributes: Any) -> tuple[tuple[str, ...], ...]:
    """The statements of each process of what has these attributes; empty where it is no dataflow region."""
    if "hls.dataflow" not in attributes:
        return ()
    groups = attributes["hls.dataflow"].params[0].maybe_downcast()
    return tuple(tuple(str(name.value) for name in one) for one in groups)
