"""Do the annotations of an argument or a local fit its type?"""

from __future__ import annotations

import math
from typing import Any

from dsl.errors.errors import IRError, did_you_mean
from dsl.expressions.types import FloatType, IndexType, Overflow, Quant
from mlir_passes.dialect.access import SCRATCH
from mlir_passes.dialect.attributes import ArrayInfo, Partition, array_info, span_of
from mlir_passes.dialect.axi import Axi
from mlir_passes.provider import ir
from polyhedral.requests.tool_words import MEMORY_MODES as ADDRESSED

_KINDS = ("cyclic", "block", "complete")
_ACCESSES = ("in", "out", "inout", SCRATCH)


def check_type(attribute: Any, element: Any, name: str, op: Any) -> None:
    """``hls.type`` (None: absent) is there for integers and only for them, and has their width.

    Raises:
        IRError: W334.
    """
    if isinstance(element, ir.FloatType):
        if attribute is not None:
            raise _refuse("W334", f"'{name}' is a float, it takes no hls.type", op)
        return
    if not isinstance(element, ir.IntegerType) or not element.is_signless:
        raise _refuse("W334", f"'{name}' has elements of {element}", op)
    if attribute is None:
        raise _refuse(
            "W334",
            f"'{name}' holds integers but does not say which",
            op,
            help=f"give it hls.type, as in #hls.int<{element.width} : i64, 1 : i64>",
        )
    width = ir.IntegerAttr(attribute.params[0]).value
    if width != element.width:
        raise _refuse(
            "W334", f"'{name}' has elements of {element.width} bits and a type of {width}", op
        )
    if attribute.attr_name == "hls.fixed":
        quant, overflow = (ir.StringAttr(p).value for p in list(attribute.params)[3:])
        _check_word(quant, [q.value for q in Quant], "quantisation mode", op)
        _check_word(overflow, [o.value for o in Overflow], "overflow mode", op)


def _check_word(word: str, known: list[str], what: str, op: Any) -> None:
    if word not in known:
        raise _refuse("W334", f"no {what} is called '{word}'", op, did_you_mean(word, known))


def checked_array(attributes: Any, type_: Any, op: Any) -> ArrayInfo:
    """The argument or local of this type with these attributes, checked.

    Raises:
        IRError: W330 to W332 partitions, W333 storage and use, W334 types.
    """
    name = str(attributes["hls.name"].value) if "hls.name" in attributes else "an array"
    element = type_
    if isinstance(type_, ir.MemRefType):
        element = type_.element_type
        if not type_.has_static_shape:
            raise _refuse("W334", f"'{name}' has a size that is not constant", op)
    found = attributes["hls.type"] if "hls.type" in attributes else None  # noqa: SIM401 - no .get
    check_type(found, element, name, op)
    info = array_info(attributes, type_)
    _check_use(info, op)
    return info


def _check_use(info: ArrayInfo, op: Any) -> None:
    seen: set[int] = set()
    for partition in (*info.partitions, *info.reshapes):
        _check_partition(info, partition, seen, op)
    if info.reshapes and (info.stream is not None or _mode(info) not in ADDRESSED):
        raise _refuse(
            "W333", f"'{info.name}' is in words, and no memory that is read by address", op
        )
    if (info.cache is not None or info.stable) and info.access not in (None, "in"):
        raise _refuse("W333", f"'{info.name}' has a cache, or is stable, and is written", op)
    if info.cache is not None and _mode(info) != "m_axi":
        raise _refuse("W333", f"'{info.name}' has a cache, and is not in memory outside", op)
    if info.storage is not None and not info.shape:
        raise _refuse("W333", f"'{info.name}' is a scalar, it has no memory to choose", op)
    if info.axi != Axi() and (info.interface is None or info.interface.mode != "m_axi"):
        raise _refuse("W333", f"'{info.name}' has options of m_axi, and another interface", op)
    if info.access is not None and info.access not in _ACCESSES:
        help_line = did_you_mean(info.access, _ACCESSES)
        raise _refuse("W333", f"no access is called '{info.access}'", op, help_line)
    if info.const and info.access in ("out", "inout", SCRATCH):
        raise _refuse("W333", f"'{info.name}' is constant and written", op)
    outside = info.interface is not None and info.interface.mode == "m_axi"
    if info.access == SCRATCH and not (info.shape and outside):
        raise _refuse("W333", f"'{info.name}' is scratch, and no array behind m_axi", op)
    if info.axi.reads and info.access not in (None, "inout", SCRATCH):
        text = f"'{info.name}' has a second pointer for reads, and is not both read and written"
        raise _refuse("W333", text, op)


def verify_contents(op: Any, info: ArrayInfo) -> None:
    """Check a table of constants: a word for each element, and nothing that stores to it.

    Raises:
        IRError: W312 it is none.
    """
    if "hls.contents" not in op.attributes:
        return
    if len(info.contents) != math.prod(info.shape):
        count = len(info.contents)
        raise _refuse("W312", f"'hls.contents' of '{info.name}' has {count} words", op)
    dtype = info.dtype
    assert not isinstance(dtype, IndexType)
    width, signed = dtype.width, not isinstance(dtype, FloatType) and dtype.signed
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    if width > 64 or any(not low <= word <= high for word in info.contents):
        raise _refuse("W312", f"'hls.contents' of '{info.name}' does not fit its type", op)
    users = (use.owner.name for use in op.results[0].uses)
    if any(user.endswith(".store") for user in users):
        raise _refuse("W312", f"'{info.name}' has 'hls.contents', and is stored to", op)


def _mode(info: ArrayInfo) -> str:
    return info.interface.mode if info.interface is not None else ADDRESSED[0]


def _check_partition(info: ArrayInfo, partition: Partition, seen: set[int], op: Any) -> None:
    name, dim, factor = info.name, partition.dim, partition.factor
    _check_word(partition.kind, list(_KINDS), "partition", op)
    if not 0 <= dim < len(info.shape):
        raise _refuse(
            "W330",
            f"'{name}' has {len(info.shape)} dimensions, there is no dimension {dim}",
            op,
            help="dimensions count from 0" if info.shape else "a scalar needs no partition",
        )
    if dim in seen:
        raise _refuse("W331", f"dimension {dim} of '{name}' is partitioned twice", op)
    seen.add(dim)
    if partition.kind == "complete":
        if factor != 0:
            raise _refuse("W332", f"a complete partition has factor 0, not {factor}", op)
    elif not 2 <= factor <= info.shape[dim]:
        raise _refuse(
            "W332",
            f"factor {factor} does not fit dimension {dim} of '{name}', "
            f"which has {info.shape[dim]} elements",
            op,
        )


def _refuse(code: str, message: str, op: Any, help: str | None = None) -> IRError:
    return IRError(code, message, span=span_of(op), help=help)
