"""Partition the arrays that are to have as many banks as their accesses want.

::

    hls.auto_partition = ["A"]                     A: #hls.partition<"cyclic", 4, 0>
    for i = 0 to 64 unrolled by 4:         →       for i = 0 to 64 unrolled by 4:
      ... = A[i]                                     ... = A[i]

What stands in the module afterwards is what is emitted, estimated and made into RTL. Copies are those that
the module asks for: what a tool unrolls by itself is not counted, as that differs from version to version.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from dsl.expressions.affine import Affine, with_data
from dsl.schedules.steps import Partition as Step
from mlir_passes.affine_maps import from_map
from mlir_passes.dialect.attributes import (
    ArrayInfo,
    Partition,
    argument_infos,
    array_attributes,
    local_info,
    loop_info,
    top_function,
)
from mlir_passes.dialect.auto_partition import AUTO_PARTITION, auto_partitions_of
from mlir_passes.loop_bounds import Names, bounds_of
from mlir_passes.provider import ir
from mlir_passes.rewrite import blocks_in
from polyhedral.banks.wanted import Use
from polyhedral.looptree.simplify.partitions import inferred
from polyhedral.looptree.told import Told


@dataclass(frozen=True, slots=True)
class InferPartitions:
    """Requests for partitions become ``hls.partition`` of their arrays."""

    name: ClassVar[str] = "infer-partitions"

    def apply(self, module: Any) -> bool:
        """Change the module in place; says whether anything was changed."""
        with module.context:
            function = top_function(module)
            wanted = auto_partitions_of(function)
            if not wanted:
                return False
            reader = _Reader()
            reader.function(function)
            for array in wanted:
                reader.partition(function, array)
            del function.operation.attributes[AUTO_PARTITION]
        return True


@dataclass(slots=True)
class _Reader:
    """The arrays of a kernel, by name and by value, and their accesses."""

    names: Names = field(default_factory=Names)
    infos: dict[str, ArrayInfo] = field(default_factory=dict)
    arguments: dict[str, int] = field(default_factory=dict)
    locals: dict[str, Any] = field(default_factory=dict)
    by_value: dict[Any, str] = field(default_factory=dict)
    applied: dict[Any, Affine] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)

    def function(self, function: Any) -> None:
        entry = function.operation.regions[0].blocks[0]
        for number, info in enumerate(argument_infos(function)):
            self.arguments[info.name] = number
            self._array(info, entry.arguments[number])
        self._block(entry, Told())

    def _array(self, info: ArrayInfo, value: Any) -> None:
        self.infos[info.name] = info
        self.by_value[value] = info.name

    def _block(self, block: Any, told: Told) -> None:
        for view in block.operations:
            op = view.operation
            match op.name:
                case "affine.for":
                    info, body = loop_info(op), op.regions[0].blocks[0]
                    iv = self.names.of(body.arguments[0])
                    most = info.trip_count.maximum if info.trip_count is not None else None
                    bounds = bounds_of(op, self.names)
                    self._block(body, told.inside(iv, bounds, info.ii, info.unroll, most))
                case "affine.if":
                    for inner in blocks_in(op):
                        self._block(inner, told)
                case "affine.load":
                    self._access(op, list(op.operands), told)
                case "affine.store":
                    self._access(op, list(op.operands)[1:], told)
                case "affine.apply":
                    names = [self.names.of(x) for x in op.operands]
                    (self.applied[op.results[0]],) = from_map(op.attributes["map"].value, names)
                case "memref.load":
                    self._at_data(list(op.operands), told)
                case "memref.store":
                    self._at_data(list(op.operands)[1:], told)
                case "memref.alloc":
                    array = local_info(op)
                    self.locals[array.name] = op
                    self._array(array, op.results[0])

    def _access(self, op: Any, operands: list[Any], told: Told) -> None:
        array = self.by_value.get(operands[0])
        if array is not None:
            names = [self.names.of(x) for x in operands[1:]]
            self.uses.append(told.use(array, from_map(op.attributes["map"].value, names)))

    def _at_data(self, operands: list[Any], told: Told) -> None:
        array = self.by_value.get(operands[0])
        if array is not None:
            indices, _ = with_data((self.applied.get(x), x) for x in operands[1:])
            self.uses.append(told.use(array, indices))

    def partition(self, function: Any, array: str) -> None:
        """Give one array the partitions that its accesses want."""
        info = self.infos[array]
        given = [Step(array, p.dim, p.kind, p.factor) for p in info.partitions]
        made = inferred(array, info.shape, self.uses, given)
        if not made:
            return
        all_ = (*info.partitions, *(Partition(p.scheme, p.factor, p.dim) for p in made))
        attributes = array_attributes(replace(info, partitions=all_))
        if array in self.locals:
            self.locals[array].attributes["hls.partition"] = attributes["hls.partition"]
        else:
            _annotate(function, self.arguments[array], attributes["hls.partition"])


def _annotate(function: Any, number: int, partitions: Any) -> None:
    """Write ``hls.partition`` of one argument."""
    known = list(function.operation.attributes["arg_attrs"])
    own = {a.name: a.attr for a in known[number]}
    known[number] = ir.DictAttr.get({**own, "hls.partition": partitions})
    function.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(known)
