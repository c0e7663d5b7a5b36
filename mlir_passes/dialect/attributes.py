"""Readers and writers of the ``hls`` attributes as frozen Python values, and the MLIR context.

docs/level3.md says what each attribute means. Nobody else touches raw attributes: builders call
``*_attributes(info)``, consumers call ``*_info(op)``.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from dsl.errors.errors import Span
from dsl.expressions.types import DType, FixedType, FloatType, IntType, Overflow, Quant
from dsl.schedules.loop_requests import NO_REQUESTS, LoopRequests
from dsl.schedules.steps import PartitionKind
from mlir_passes.dialect import hls
from mlir_passes.dialect.access import Access
from mlir_passes.dialect.axi import Axi, axi_attribute
from mlir_passes.dialect.element_types import int_attribute as _int
from mlir_passes.dialect.element_types import string_attribute as _string
from mlir_passes.dialect.element_types import type_attribute
from mlir_passes.dialect.loop_requests import request_attributes, requests_of
from mlir_passes.dialect.regions import region_attribute, region_of
from mlir_passes.provider import ir, search_dialects_in

# A context never forgets a string, type or map it has seen. Modules keep theirs alive, so that
# starting another one after a while bounds the memory of a long exploration.
_MODULES_PER_CONTEXT = 2000


@dataclass(frozen=True, slots=True)
class Partition:
    """Dimension ``dim`` (from 0) is split over ``factor`` memories, or lanes of a word (0 for ``complete``)."""

    kind: PartitionKind
    factor: int
    dim: int


@dataclass(frozen=True, slots=True)
class Storage:
    """The memory of an array; latency −1: the tool chooses."""

    type: str
    impl: str
    latency: int


@dataclass(frozen=True, slots=True)
class Interface:
    """The interface of an argument; an empty bundle is the tool's default."""

    mode: str
    bundle: str


@dataclass(frozen=True, slots=True)
class BindOp:
    """The implementation of one kind of operator of a statement; latency −1: the tool chooses."""

    op: str
    impl: str
    latency: int


@dataclass(frozen=True, slots=True)
class TripCount:
    """Trip counts over all executions of a loop whose bounds are not constant."""

    minimum: int
    maximum: int
    average: int


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """An argument or a local: an array, or a scalar (empty shape). ``stream``: words of a FIFO. ``stable``: its
    readers do not wait for each other. ``cache``: lines, and elements of a line. ``contents``: the raw words of a table of
    constants (`dsl.programs.program.Array`).
    """

    name: str
    dtype: DType
    shape: tuple[int, ...] = ()
    partitions: tuple[Partition, ...] = ()
    storage: Storage | None = None
    interface: Interface | None = None
    const: bool = False
    access: Access | None = None
    stream: int | None = None
    axi: Axi = field(default_factory=Axi)
    reshapes: tuple[Partition, ...] = ()
    stable: bool = False
    cache: tuple[int, int] | None = None
    contents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """What a loop is called and what was asked of it; ``unroll`` 0 is completely. ``processes`` are the
    statements of each process where its body is a dataflow region; a ``sequential`` loop is no pipeline.
    """

    name: str
    ii: int | None = None
    unroll: int | None = None
    flatten: bool | None = None
    trip_count: TripCount | None = None
    independent: tuple[str, ...] = ()
    distances: tuple[tuple[str, int], ...] = ()
    processes: tuple[tuple[str, ...], ...] = ()
    sequential: bool = False
    requests: LoopRequests = NO_REQUESTS


@dataclass(frozen=True, slots=True)
class StmtInfo:
    """The statement that a store completes."""

    name: str
    source: str = ""
    line: str = ""
    bind_ops: tuple[BindOp, ...] = ()


class _State(threading.local):
    context: Any = None
    used: int = 0


_state = _State()


def context() -> Any:
    """This thread's MLIR context with the ``hls`` dialect loaded: ``with context(): ...``.

    It is shared by the modules built one after the other in a thread: making one takes 10 ms.
    """
    if _state.context is None or _state.used >= _MODULES_PER_CONTEXT:
        search_dialects_in("mlir_passes.dialect")
        _state.context, _state.used = ir.Context(), 0
        with _state.context:
            hls.Hls.load()
    _state.used += 1
    return _state.context


# ------------------------------------------------------------------------------------- writers


def array_attributes(info: ArrayInfo) -> dict[str, Any]:
    """The attribute dictionary of an argument or a local."""
    found: dict[str, Any] = {"hls.name": _string(info.name)}
    if isinstance(info.dtype, IntType | FixedType):
        found["hls.type"] = type_attribute(info.dtype)
    for name, parts in (("hls.partition", info.partitions), ("hls.reshape", info.reshapes)):
        if parts:
            made = [hls.Partition.get(_string(p.kind), _int(p.factor), _int(p.dim)) for p in parts]
            found[name] = ir.ArrayAttr.get(made)
    if info.storage is not None:
        s = info.storage
        found["hls.storage"] = hls.Storage.get(_string(s.type), _string(s.impl), _int(s.latency))
    if info.interface is not None:
        i = info.interface
        found["hls.interface"] = hls.Interface.get(_string(i.mode), _string(i.bundle))
    if info.axi != Axi():
        found["hls.axi"] = axi_attribute(info.axi)
    if info.cache is not None:
        found["hls.cache"] = hls.Cache.get(*map(_int, info.cache))
    if info.stable:
        found["hls.stable"] = ir.UnitAttr.get()
    if info.contents:
        found["hls.contents"] = ir.DenseI64ArrayAttr.get([_signed_word(w) for w in info.contents])
    if info.const:
        found["hls.const"] = ir.UnitAttr.get()
    if info.access is not None:
        found["hls.access"] = _string(info.access)
    if info.stream is not None:
        found["hls.stream"] = hls.Stream.get(_int(info.stream))
    return found


def loop_attributes(info: LoopInfo) -> dict[str, Any]:
    """The attributes of an ``affine.for``."""
    found: dict[str, Any] = {"hls.name": _string(info.name)} if info.name else {}
    if info.ii is not None:
        found["hls.pipeline"] = hls.Pipeline.get(_int(info.ii))
    if info.unroll is not None:
        found["hls.unroll"] = hls.Unroll.get(_int(info.unroll))
    if info.flatten is not None:
        found["hls.flatten"] = hls.Flatten.get(_int(info.flatten))
    if info.sequential:
        found["hls.sequential"] = ir.UnitAttr.get()
    if info.trip_count is not None:
        t = info.trip_count
        found["hls.trip_count"] = hls.TripCount.get(
            _int(t.minimum), _int(t.maximum), _int(t.average)
        )
    if info.independent:
        found["hls.independent"] = ir.ArrayAttr.get([_string(a) for a in info.independent])
    if info.distances:
        found["hls.distances"] = ir.DictAttr.get({a: _int(d) for a, d in info.distances})
    if info.processes:
        found["hls.dataflow"] = region_attribute(info.processes)
    return found | request_attributes(info.requests)


def stmt_attributes(info: StmtInfo) -> dict[str, Any]:
    """The attributes of the ``affine.store`` that completes a statement."""
    found: dict[str, Any] = {"hls.stmt": _string(info.name)}
    if info.source:
        found["hls.source"] = _string(info.source)
    if info.line:
        found["hls.line"] = _string(info.line)
    if info.bind_ops:
        binds = [
            hls.BindOp.get(_string(b.op), _string(b.impl), _int(b.latency)) for b in info.bind_ops
        ]
        found["hls.bind_op"] = ir.ArrayAttr.get(binds)
    return found


# ------------------------------------------------------------------------------------- readers


def _params(attribute: Any) -> tuple[Any, ...]:
    """The parameters of an attribute of ours as Python ints and strings."""
    return tuple(p.maybe_downcast().value for p in attribute.params)


def _attributes(op_or_attributes: Any) -> Any:
    return getattr(op_or_attributes, "attributes", op_or_attributes)


def _text(attributes: Any, name: str) -> str:
    return str(attributes[name].value) if name in attributes else ""


def fixed_type(attribute: Any) -> FixedType:
    """The type that a ``#hls.fixed`` stands for."""
    width, integer, signed, quant, overflow = _params(attribute)
    return FixedType(width, integer, bool(signed), Quant(quant), Overflow(overflow))


def element_type(attributes: Any) -> IntType | FixedType | None:
    """``hls.type`` of an argument or a local, None for floats."""
    attributes = _attributes(attributes)
    if "hls.type" not in attributes:
        return None
    attribute = attributes["hls.type"]
    if attribute.attr_name == "hls.int":
        width, signed = _params(attribute)
        return IntType(width, bool(signed))
    return fixed_type(attribute)


def float_type(type_: Any) -> FloatType:
    """The float type of the language that an MLIR float type is."""
    return FloatType(cast('Literal["f16", "bf16", "f32", "f64"]', str(type_)))


def partitions_of(attributes: Any, name: str = "hls.partition") -> tuple[Partition, ...]:
    """``hls.partition``, or ``hls.reshape``, of an argument or a local."""
    attributes = _attributes(attributes)
    if name not in attributes:
        return ()
    return tuple(Partition(*_params(p)) for p in attributes[name])


def array_info(attributes: Any, type_: Any) -> ArrayInfo:
    """An argument or local from its attributes and its MLIR type (a memref, or a scalar's)."""
    attributes = _attributes(attributes)
    is_array = isinstance(type_, ir.MemRefType)
    element = element_type(attributes)
    if element is None:
        element_or_float: DType = float_type(type_.element_type if is_array else type_)
    else:
        element_or_float = element
    return ArrayInfo(
        name=_text(attributes, "hls.name"),
        dtype=element_or_float,
        shape=tuple(type_.shape) if is_array else (),
        partitions=partitions_of(attributes),
        reshapes=partitions_of(attributes, "hls.reshape"),
        storage=Storage(*_params(attributes["hls.storage"]))
        if "hls.storage" in attributes
        else None,
        interface=Interface(*_params(attributes["hls.interface"]))
        if "hls.interface" in attributes
        else None,
        axi=Axi(*_params(attributes["hls.axi"])) if "hls.axi" in attributes else Axi(),
        stable="hls.stable" in attributes,
        cache=_params(attributes["hls.cache"]) if "hls.cache" in attributes else None,
        const="hls.const" in attributes,
        contents=contents_of(attributes, element_or_float),
        access=cast("Access | None", _text(attributes, "hls.access") or None),
        stream=_params(attributes["hls.stream"])[0] if "hls.stream" in attributes else None,
    )


def _signed_word(word: int) -> int:
    """A word of up to 64 bits as a signed one."""
    return word - (1 << 64) if word >= 1 << 63 else word


def contents_of(attributes: Any, dtype: DType) -> tuple[int, ...]:
    """The raw words of a table of constants; empty of all other memory."""
    if "hls.contents" not in attributes:
        return ()
    signed = isinstance(dtype, IntType | FixedType) and dtype.signed
    return tuple(w if signed else w & ((1 << 64) - 1) for w in attributes["hls.contents"])


def top_function(module: Any) -> Any:
    """The ``func.func`` that is the kernel: the one marked ``hls.top``, else the only one."""
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    marked = [f for f in functions if "hls.top" in f.operation.attributes]
    return (marked or functions)[0]


def argument_infos(function: Any) -> tuple[ArrayInfo, ...]:
    """The arguments of a ``func.func`` in calling order."""
    types = function.type.inputs
    attributes = function.operation.attributes
    if "arg_attrs" not in attributes:
        return tuple(array_info({}, t) for t in types)
    pairs = zip(attributes["arg_attrs"], types, strict=True)
    return tuple(array_info(a, t) for a, t in pairs)


def local_info(op: Any) -> ArrayInfo:
    """The local that a ``memref.alloc`` or ``memref.alloca`` is."""
    return array_info(op.operation.attributes, op.operation.results[0].type)


def loop_info(op: Any) -> LoopInfo:
    """The annotations of an ``affine.for``."""
    attributes = op.operation.attributes

    def number(name: str) -> int | None:
        return int(_params(attributes[name])[0]) if name in attributes else None

    flatten = number("hls.flatten")
    trip = attributes.get("hls.trip_count")
    return LoopInfo(
        name=_text(attributes, "hls.name"),
        ii=number("hls.pipeline"),
        unroll=number("hls.unroll"),
        flatten=None if flatten is None else bool(flatten),
        trip_count=None if trip is None else TripCount(*_params(trip)),
        independent=tuple(str(a.value) for a in attributes.get("hls.independent", ())),
        distances=tuple((a.name, int(a.attr.value)) for a in attributes.get("hls.distances", ())),
        processes=region_of(attributes),
        sequential="hls.sequential" in attributes,
        requests=requests_of(attributes),
    )


def stmt_info(op: Any) -> StmtInfo:
    """The statement that an ``affine.store`` completes; an empty name where it says none."""
    attributes = op.operation.attributes
    return StmtInfo(
        name=_text(attributes, "hls.stmt"),
        source=_text(attributes, "hls.source"),
        line=_text(attributes, "hls.line"),
        bind_ops=tuple(BindOp(*_params(b)) for b in attributes.get("hls.bind_op", ())),
    )


def op_type(op: Any, name: Literal["src", "dst", "lhs_type", "rhs_type"]) -> FixedType:
    """A fixed-point type that an op of the dialect names in its attributes."""
    return fixed_type(op.operation.attributes[name])


def place(location: Any) -> Span | None:
    """The place in the user's file that an MLIR location is, if it is one."""
    if not isinstance(location, ir.FileLineColLoc):
        return None
    line, col = location.start_line, location.start_col
    return Span(location.filename, line, col, line, col + 1)


def span_of(op: Any) -> Span | None:
    """The place in the user's file that an op (or a module) comes from."""
    return place(op.operation.location)
