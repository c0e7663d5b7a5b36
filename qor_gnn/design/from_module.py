"""The region tree of a level 3 module (docs/level3.md): the same that its loop tree gives.

Ops are only looked at through `mlir_passes`' readers and by name: MLIR itself is not imported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dsl.errors.errors import IRError
from dsl.expressions.affine import Affine
from mlir_passes.affine_maps import from_map
from mlir_passes.dialect.attributes import (
    ArrayInfo,
    argument_infos,
    local_info,
    loop_info,
    stmt_info,
    top_function,
)
from mlir_passes.dialect.processes import processes_of
from mlir_passes.loop_bounds import Names, bounds_of, condition_of
from qor_gnn.design.canonical import canonical
from qor_gnn.design.from_expr import constant_text, type_of
from qor_gnn.design.processes import in_processes
from qor_gnn.design.region import (
    Access,
    Function,
    Guard,
    Kernel,
    Loop,
    Memory,
    Node,
    Op,
    Split,
    Statement,
    Trips,
    bound,
)

_KINDS = {
    **{f"arith.{k}f": k for k in ("add", "sub", "mul", "div", "neg", "cmp")},
    **{f"arith.{k}i": k for k in ("add", "sub", "mul", "and", "or", "xor", "cmp")},
    "arith.shli": "shl",
    "arith.shrsi": "shr",
    "arith.shrui": "shr",
    "arith.floordivsi": "div",
    "arith.divui": "div",
    "arith.divsi": "div",
    "arith.remsi": "mod",
    "arith.remui": "mod",
    "arith.select": "select",
    **{f"math.{k}": k for k in ("sqrt", "exp", "log", "tanh")},
    "math.absf": "abs",
    "hls.fixed_div": "div",
    "hls.fixed_cast": "cast",
    "arith.extf": "cast",
    "arith.truncf": "cast",
    "arith.sitofp": "from_int",
    "arith.uitofp": "from_int",
    "hls.fixed_to_float": "from_int",
    "hls.fixed_from_float": "to_int",
    "arith.fptosi": "to_int",
    "arith.fptoui": "to_int",
}
_FREE = frozenset({"arith.extsi", "arith.extui", "arith.trunci"})
_OF_OPERAND = frozenset({"cmp", "to_int"})  # their type is that of what they take
_SKIPPED = frozenset({"affine.yield", "func.return", "memref.dealloc"})


def kernel_of_module(module: Any) -> Kernel:
    """The design as one function, or one for each process of a dataflow region.

    Raises:
        IRError: W451, an op that the model does not know.
    """
    with module.context:
        function = top_function(module)
        reader = _Reader()
        whole = canonical(reader.kernel(function))
        return in_processes(whole, processes_of(function), reader.depths)


@dataclass(frozen=True, slots=True)
class _Value:
    """A value in a statement: the op that makes it, with the values that it takes."""

    op: Op
    operands: tuple[_Value, ...]
    number: int


@dataclass(slots=True)
class _Reader:
    names: Names = field(default_factory=Names)
    memories: list[Memory] = field(default_factory=list)
    by_value: dict[Any, str] = field(default_factory=dict)
    values: dict[Any, _Value] = field(default_factory=dict)
    indices: dict[Any, Affine] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)  # of streams

    def kernel(self, function: Any) -> Kernel:
        name = str(function.operation.attributes["sym_name"].value)
        entry = function.operation.regions[0].blocks[0]
        infos = argument_infos(function)
        for info, value in zip(infos, entry.arguments, strict=True):
            if info.shape:
                self._memory(info, value, True)
            else:
                type_, width = type_of(info.dtype)
                op = Op("input", type_, width, access=Access(info.name, ()))
                self._define(value, op, ())
        body = self._block(entry)
        return Kernel(name, tuple(self.memories), (Function(name, body),))

    def _memory(self, info: ArrayInfo, value: Any, argument: bool) -> None:
        splits = [Split()] * len(info.shape)
        for p in info.partitions:
            extent = info.shape[p.dim]
            splits[p.dim] = Split(p.kind, min(p.factor or extent, extent))
        storage = info.storage
        self.by_value[value] = info.name
        if info.stream is not None:
            self.depths[info.name] = info.stream
        self.memories.append(
            Memory(
                info.name,
                info.dtype,
                info.shape,
                tuple(splits),
                argument,
                storage.type if storage else "",
                storage.impl if storage else "",
            )
        )

    def _block(self, block: Any) -> tuple[Node, ...]:
        found: list[Node] = []
        for view in block.operations:
            op = view.operation
            match op.name:
                case "affine.for":
                    found.append(self._loop(op))
                case "affine.if":
                    if len(op.regions) > 1 and len(op.regions[1].blocks):
                        raise _unknown(op, "it has an else")
                    inner = self._block(op.regions[0].blocks[0])
                    found.append(Guard(condition_of(op, self.names), inner))
                case "affine.store":
                    found.append(self._store(op))
                case "memref.alloc" | "memref.alloca":
                    self._memory(local_info(op), op.results[0], False)
                case name if name not in _SKIPPED:
                    self._value(op)
        return tuple(found)

    def _loop(self, op: Any) -> Loop:
        bounds, info = bounds_of(op, self.names), loop_info(op)
        source = op.regions[0].blocks[0]
        iv = self.names.of(source.arguments[0])
        count = bounds.trip_count
        trips = Trips(0, 0, 0) if count is None else Trips(count, count, count)
        if count is None and info.trip_count is not None:
            told = info.trip_count
            trips = Trips(told.minimum, told.maximum, told.average)
        return Loop(
            iv,
            info.name,
            bounds.lowers,
            bounds.uppers,
            bounds.step,
            trips,
            self._block(source),
            info.ii,
            1 if info.unroll is None else info.unroll,
            info.flatten,
            info.independent,
        )

    # -------------------------------------------------------------------------- statements

    def _define(self, value: Any, op: Op, operands: tuple[_Value, ...]) -> None:
        self.values[value] = _Value(op, operands, len(self.values))

    def _access(self, op: Any, operands: list[Any]) -> Access:
        names = [self.names.of(x) for x in operands[1:]]
        indices = from_map(op.attributes["map"].value, names)
        return Access(self.by_value[operands[0]], indices)

    def _store(self, op: Any) -> Statement:
        operands = list(op.operands)
        info = stmt_info(op)
        ops: list[Op] = []
        needed = sorted(_below(self.values[operands[0]]), key=lambda v: v.number)
        places = {v.number: n for n, v in enumerate(needed)}
        for v in needed:
            taken = tuple(places[o.number] for o in v.operands)
            ops.append(Op(v.op.kind, v.op.type, v.op.width, taken, v.op.access, v.op.value))
        binds = {b.op: b.impl for b in info.bind_ops}
        return Statement(info.name, bound(ops, binds), self._access(op, operands[1:]), info.source)

    def _value(self, op: Any) -> None:
        (result,) = list(op.results)
        operands = list(op.operands)
        name = op.name
        if name == "affine.apply":
            names = [self.names.of(x) for x in operands]
            (self.indices[result],) = from_map(op.attributes["map"].value, names)
        elif name in _FREE:
            self.values[result] = self.values[operands[0]]
        elif name == "arith.index_cast":
            index = Access("", (self.indices[operands[0]],))
            self._define(result, Op("index", "int", 32, access=index), ())
        elif name == "affine.load":
            access = self._access(op, operands)
            self._define(result, Op("load", *_type(result.type), access=access), ())
        elif name == "arith.constant":
            number = op.attributes["value"].value
            type_, width = _type(result.type)
            text = constant_text(number, type_, width)
            self._define(result, Op("const", type_, width, value=text), ())
        elif name in _KINDS:
            kind = _KINDS[name]
            type_, width = _type((operands[0] if kind in _OF_OPERAND else result).type)
            self._define(result, Op(kind, type_, width), tuple(self.values[x] for x in operands))
        else:
            raise _unknown(op, "the model does not know what it costs")


def _below(value: _Value) -> list[_Value]:
    """The value and all that it needs, each once."""
    found: dict[int, _Value] = {}
    pending = [value]
    while pending:
        v = pending.pop()
        if v.number not in found:
            found[v.number] = v
            pending.extend(v.operands)
    return list(found.values())


def _type(type_: Any) -> tuple[str, int]:
    """Type class and width of an MLIR scalar type, by its text: ``f32``, ``i8``."""
    text = str(type_)
    if text == "index":
        return "int", 32
    if text.startswith("i"):
        return "int", int(text[1:])
    return text, {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[text]


def _unknown(op: Any, why: str) -> IRError:
    return IRError("W451", f"{op.name} has no estimate: {why}", notes=[f"in {op.location}"])
