"""The operations of a statement as MLIR ops at the current insertion point.

The value of an expression of type ``t`` is an SSA value of `dialect.element_types.mlir_type` of ``t``. What an
integer means is on the op that makes it, as ``hls.type``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Expr
from dsl.expressions.types import DType, IntType, boolean
from mlir_passes.affine_maps import to_map
from mlir_passes.construct.arithmetic import Arithmetic
from mlir_passes.construct.types import Types
from mlir_passes.provider import ir


class ExprBuilder(Arithmetic[Any]):
    """Builds the expressions of one statement instance.

    ``memory`` maps arrays to memrefs and scalar arguments to their values, ``ivs`` the loop
    variables around, ``bindings`` the statement's own variables to expressions of those.
    """

    __slots__ = ("ivs", "memory", "types")

    def __init__(
        self,
        types: Types,
        memory: Mapping[str, Any],
        ivs: Mapping[str, Any],
        bindings: Mapping[str, Affine],
    ) -> None:
        super().__init__(bindings)
        self.types, self.memory, self.ivs = types, memory, ivs

    def subscripts(self, access: Access) -> tuple[Any, list[Any]]:
        """Affine map and operands of an access."""
        return to_map(self.placed(access.indices), self.ivs)

    def _op(
        self,
        name: str,
        operands: Sequence[Any],
        dtype: DType,
        types: Mapping[str, DType] | None = None,
    ) -> Any:
        named = {key: self.types.fixed(type_) for key, type_ in (types or {}).items()}
        return self._created(name, operands, dtype, named)

    def _created(
        self, name: str, operands: Sequence[Any], dtype: DType, attributes: dict[str, Any]
    ) -> Any:
        return ir.Operation.create(
            name,
            results=[self.types.mlir(dtype)],
            operands=operands,
            attributes={**self.types.meaning(dtype), **attributes},
        ).results[0]

    def _test(self, name: str, predicate: int, x: Any, y: Any) -> Any:
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), predicate)
        return self._created(name, [x, y], boolean, {"predicate": number})

    def _number(self, value: float | Fraction, dtype: DType) -> Any:
        attributes = {"value": self.types.number(value, dtype)}
        return self._created("arith.constant", [], dtype, attributes)

    def _load(self, access: Access, dtype: DType) -> Any:
        memory = self.memory[access.array]
        if not isinstance(memory.type, ir.MemRefType):
            return memory
        affine_map, operands = to_map(access.indices, self.ivs)
        return ir.Operation.create(
            "affine.load",
            results=[self.types.mlir(dtype)],
            operands=[memory, *operands],
            attributes={"map": ir.AffineMapAttr.get(affine_map)},
        ).results[0]

    def _gather(self, access: Access, data: Sequence[Any], dtype: DType) -> Any:
        return ir.Operation.create(
            "memref.load",
            results=[self.types.mlir(dtype)],
            operands=[self.memory[access.array], *self._indices(access.indices, data)],
        ).results[0]

    def scattered(self, access: Access, data: Sequence[Expr]) -> list[Any]:
        """The operands of a store at subscripts of which some are values."""
        return self._indices(self.placed(access.indices), self.data(data))

    def _indices(self, subscripts: Sequence[Affine], data: Sequence[Any]) -> list[Any]:
        values = iter(data)
        return [self._index_of(next(values)) if e.is_data else self._applied(e) for e in subscripts]

    def _index_of(self, value: Any) -> Any:
        index = ir.IndexType.get()
        return ir.Operation.create("arith.index_cast", [index], [value]).results[0]

    def _index(self, affine: Affine) -> Any:
        return self._op("arith.index_cast", [self._applied(affine)], IntType(32))

    def _applied(self, affine: Affine) -> Any:
        affine_map, operands = to_map([affine], self.ivs)
        return ir.Operation.create(
            "affine.apply",
            results=[ir.IndexType.get()],
            operands=operands,
            attributes={"map": ir.AffineMapAttr.get(affine_map)},
        ).results[0]
