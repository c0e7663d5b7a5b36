"""The region tree of a level 3 module (docs/level3.md) as it stands: what is estimated is what is
emitted.

Ops are only looked at through `mlir_passes`' readers and by name: MLIR itself is not imported.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from dsl.errors.errors import IRError
from dsl.expressions.affine import Affine, with_data
from mlir_passes.affine_maps import from_map
from mlir_passes.dialect.attributes import (
    ArrayInfo,
    argument_infos,
    local_info,
    loop_info,
    stmt_info,
    top_function,
)
from mlir_passes.dialect.processes import pipeline_of, processes_of
from mlir_passes.loop_bounds import Names, bounds_of, condition_of
from polyhedral.banks.splits import splits_of, words_of
from qor_gnn.design.compiled import compiled
from qor_gnn.design.loops import Asked, called, loop_of
from qor_gnn.design.loops import Names as LoopNames
from qor_gnn.design.operations import Operations, Type, UnknownOpError, Value, operations_of
from qor_gnn.design.port import Port
from qor_gnn.design.processes import in_processes
from qor_gnn.design.region import (
    OUTSIDE,
    Access,
    Function,
    Guard,
    Kernel,
    Loop,
    Memory,
    Node,
    Statement,
    Trips,
    bound,
    outside,
)
from qor_gnn.design.table_contents import contents_of
from qor_gnn.design.table_words import word_type

_SKIPPED = frozenset({"affine.yield", "func.return", "memref.dealloc"})


def kernel_of_module(module: Any) -> Kernel:
    """The design as one function, or one for each process of a dataflow region.

    Raises:
        IRError: W451, an op that the model does not know.
    """
    with module.context:
        function = top_function(module)
        reader = _Reader()
        whole = compiled(reader.kernel(function))
        return in_processes(whole, processes_of(function), reader.depths)


@dataclass(slots=True)
class _Reader:
    names: Names = field(default_factory=Names)
    loops: LoopNames = field(default_factory=LoopNames)
    operations: Operations = field(default_factory=Operations)
    memories: list[Memory] = field(default_factory=list)
    by_value: dict[Any, str] = field(default_factory=dict)
    values: dict[Any, Value] = field(default_factory=dict)
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
                self.values[value] = self.operations.argument(info.name, _type(str(value.type)))
        body = called(self._block(entry, ()), pipeline_of(function))
        return Kernel(name, tuple(self.memories), (Function(name, body),))

    def _memory(self, info: ArrayInfo, value: Any, argument: bool) -> None:
        splits = splits_of(info.shape, ((p.dim, p.kind, p.factor) for p in info.partitions))
        storage = info.storage
        self.by_value[value] = info.name
        if info.stream is not None:
            self.depths[info.name] = info.stream
        found = Memory(
            info.name,
            word_type(info.dtype, info.contents),
            info.shape,
            splits,
            argument,
            storage.type if storage else "",
            storage.impl if storage else "",
            reshapes=words_of(info.shape, ((p.dim, p.kind, p.factor) for p in info.reshapes)),
            cached=info.cache is not None,
            contents=contents_of(info.dtype, info.contents),
        )
        if info.interface is not None and info.interface.mode == OUTSIDE:
            axi = info.axi
            port = Port(
                info.interface.bundle, axi.width, axi.latency, axi.lanes, axi.reads,
                axi.burst, axi.outstanding, axi.bank, also=axi.further,
            )  # fmt: skip
            found = outside(found, port)
        self.memories.append(found)

    def _block(self, block: Any, around: tuple[Loop, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        for view in block.operations:
            op = view.operation
            match op.name:
                case "affine.for":
                    found.append(self._loop(op, around))
                case "affine.if":
                    if len(op.regions) > 1 and len(op.regions[1].blocks):
                        raise _unknown(op, "it has an else")
                    inner = self._block(op.regions[0].blocks[0], around)
                    found.append(Guard(condition_of(op, self.names), inner))
                case "affine.store" | "memref.store":
                    found.append(self._store(op))
                case "memref.alloc" | "memref.alloca":
                    self._memory(local_info(op), op.results[0], False)
                case name if name not in _SKIPPED:
                    self._value(op)
        return tuple(found)

    def _loop(self, op: Any, around: tuple[Loop, ...]) -> Loop:
        bounds, info = bounds_of(op, self.names), loop_info(op)
        source = op.regions[0].blocks[0]
        iv = self.names.by_value[source.arguments[0]] = self.loops.fresh(info.name)
        trip = info.trip_count
        told = None if trip is None else Trips(trip.minimum, trip.maximum, trip.average)
        asked = Asked(info.ii, info.unroll, info.flatten, info.independent, info.processes,
                      info.sequential, info.requests)  # fmt: skip
        new = loop_of(iv, info.name, bounds, asked, told, around)
        return replace(new, body=self._block(source, (*around, new)))

    # -------------------------------------------------------------------------- statements

    def _access(self, op: Any, operands: list[Any]) -> Access:
        names = [self.names.of(x) for x in operands[1:]]
        indices = from_map(op.attributes["map"].value, names)
        return Access(self.by_value[operands[0]], indices)

    def _store(self, op: Any) -> Statement:
        operands = list(op.operands)
        info = stmt_info(op)
        binds = {b.op: b.impl for b in info.bind_ops}
        data: tuple[Value, ...] = ()
        if op.name == "memref.store":
            target, data = self._at_data(operands[1:])
        else:
            target = self._access(op, operands[1:])
        ops, subscripts = operations_of(self.values[operands[0]], data)
        return Statement(info.name, bound(ops, binds), target, info.source, subscripts)

    def _gather(self, operands: list[Any], type_: Type) -> Value:
        """A load some of whose subscripts are values."""
        access, data = self._at_data(operands)
        return self.operations.load(access, type_, data)

    def _at_data(self, operands: list[Any]) -> tuple[Access, tuple[Value, ...]]:
        """An element of a memory, the first operand, and its subscripts that are values."""
        indices, data = with_data((self.indices.get(x), x) for x in operands[1:])
        access = Access(self.by_value[operands[0]], indices)
        return access, tuple(self.values[x] for x in data)

    def _value(self, op: Any) -> None:
        (result,) = list(op.results)
        operands = list(op.operands)
        match op.name:
            case "affine.apply":
                names = [self.names.of(x) for x in operands]
                (self.indices[result],) = from_map(op.attributes["map"].value, names)
            case "arith.index_cast" if operands[0] in self.indices:
                self.values[result] = self.operations.index(self.indices[operands[0]])
            case "arith.index_cast":
                self.values[result] = self.values[operands[0]]
            case "memref.load":
                self.values[result] = self._gather(operands, _type(str(result.type)))
            case "affine.load":
                access, type_ = self._access(op, operands), _type(str(result.type))
                self.values[result] = self.operations.load(access, type_)
            case "arith.constant":
                number, type_ = op.attributes["value"].value, _type(str(result.type))
                self.values[result] = self.operations.constant(number, type_)
            case name:
                taken = tuple(self.values[x] for x in operands)
                compares = name in ("arith.cmpi", "arith.cmpf")
                predicate = op.attributes["predicate"].value if compares else None
                type_ = _type(str(result.type))
                try:
                    found = self.operations.operation(name, taken, type_, predicate)
                except UnknownOpError:
                    raise _unknown(op, "the model does not know what it costs") from None
                self.values[result] = found


@cache
def _type(text: str) -> Type:
    """Type class and width of an MLIR scalar type, by its text: ``f32``, ``i8``."""
    if text == "index":
        return "int", 32
    if text.startswith("i"):
        return "int", int(text[1:])
    return text, {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[text]


def _unknown(op: Any, why: str) -> IRError:
    return IRError("W451", f"{op.name} has no estimate: {why}", notes=[f"in {op.location}"])
