"""From a level 3 module to the graph that is scheduled: ``graph_of``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backends.rtl.front.blocks.block import Context
from backends.rtl.front.blocks.dead import without_dead_locals
from backends.rtl.front.flat import unrolled
from backends.rtl.front.read import read_module
from backends.rtl.front.regions import RegionMaker
from backends.rtl.front.unsupported import no_words, one_pointer
from backends.rtl.front.values.scope import Scope
from backends.rtl.graph import Array, Graph, Memory, Op, Pipeline, Region, Scalar, Straight
from backends.rtl.graph import walk as walk_regions
from dsl.expressions.numeric import signed_of
from dsl.expressions.types import DType, FloatType
from mlir_passes.construct.arithmetic import plain
from mlir_passes.dialect.attributes import ArrayInfo
from polyhedral.banks.splits import Split, splits_of

LANES = 8
"""Partial results of a reduction, enough for an adder of 6 cycles."""

SMALL = 16
"""Elements of a bank of a local that is rather distributed RAM than block RAM."""


def lanes_for(latency: int) -> int:
    """Partial results that keep an adder busy: ``latency`` is its own and that of reading one.

    One cycle more is for choosing what a partial result starts with.
    """
    return 1 << (latency + 1).bit_length()


def graph_of(
    module: Any, reassociated: frozenset[str] = frozenset(), *, lanes: int = LANES
) -> Graph:
    """The graph of a verified level 3 module (docs/level3.md).

    Args:
        module: an MLIR module; it is not changed.
        reassociated: statements whose reduction may be done in any order.
        lanes: partial results of such a reduction of floats, a power of two: see `lanes_for`.

    Raises:
        ToolError: W460 what there is no hardware for, W461 too many copies, or ways to banks.
    """
    kernel = read_module(module)
    flat = unrolled(kernel)
    infos = [(a, True) for a in kernel.arguments if a.shape]
    infos += [(a, False) for a in flat.locals]
    arrays = {info.name: _array(info, argument) for info, argument in infos}
    signed = {info.name: _signed(info.dtype) for info, _ in infos}
    scalars = {
        n: (Scalar(a.name, _width(a.dtype)), _signed(a.dtype))
        for n, a in enumerate(kernel.arguments)
        if not a.shape
    }
    maker = RegionMaker(Context(arrays, signed, scalars, reassociated, lanes))
    body = maker.regions(flat.body, Scope(), frozenset(a.name for a in flat.locals))
    body = without_dead_locals(body, frozenset(a.name for a in kernel.arguments))
    used = _touched(body)
    known = (*arrays.values(), *maker.registers)
    kept = tuple(a for a in known if a.argument or a.name in used)
    return Graph(kernel.name, kept, tuple(s for s, _ in scalars.values()), body)


def _signed(dtype: DType) -> bool:
    return not isinstance(dtype, FloatType) and signed_of(dtype)


def _width(dtype: DType) -> int:
    return plain(dtype).width


def _array(info: ArrayInfo, argument: bool) -> Array:
    if info.reshapes:
        raise no_words(info.name)
    if info.axi.also:
        raise one_pointer(info.name)
    splits = splits_of(info.shape, ((p.dim, p.kind, p.factor) for p in info.partitions))
    lanes = info.axi.lanes if argument and info.axi.lanes else 1
    if lanes > 1:
        splits = (*splits[:-1], Split("cyclic", lanes))
    array = Array(
        info.name,
        _width(info.dtype),
        info.shape,
        splits,
        Memory.BRAM,
        argument,
        info.access or "inout",
        lanes,
        tuple(word & ((1 << _width(info.dtype)) - 1) for word in info.contents),
        info.interface is not None and info.interface.mode == "m_axi",
    )
    return replace(array, memory=_memory(array, info))


def _memory(array: Array, info: ArrayInfo) -> Memory:
    if array.outside:
        return Memory.BRAM  # in memory outside: there are words and addresses, however few
    if array.depth == 1:
        return Memory.REGISTERS
    asked = info.storage.impl if info.storage else "auto"
    if asked in ("lutram", "srl") or (
        asked == "auto" and not array.argument and array.depth <= SMALL
    ):
        return Memory.LUTRAM
    return Memory.BRAM


def _touched(body: tuple[Region, ...]) -> set[str]:
    """The arrays that some operation accesses."""
    return {op.place.array for op in _ops(body) if op.place is not None}


def _ops(body: tuple[Region, ...]) -> list[Op]:
    return [
        op
        for region in walk_regions(body)
        if isinstance(region, Straight | Pipeline)
        for op in region.block.ops
    ]
