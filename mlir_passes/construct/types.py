"""MLIR types and ``hls.type`` attributes of the language's types, made once for each module."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dsl.expressions.types import DType, FloatType
from mlir_passes.construct.arithmetic import exact, plain
from mlir_passes.dialect.element_types import fixed_attribute, mlir_type, type_attribute
from mlir_passes.provider import ir


@dataclass(slots=True)
class Types:
    """Types and attributes by `dsl.expressions.types`; use it in one context only."""

    _mlir: dict[DType, Any] = field(default_factory=dict)
    _meaning: dict[DType, dict[str, Any]] = field(default_factory=dict)
    _fixed: dict[DType, Any] = field(default_factory=dict)

    def mlir(self, dtype: DType) -> Any:
        """The type that holds a value."""
        found = self._mlir.get(dtype)
        if found is None:
            found = self._mlir[dtype] = mlir_type(dtype)
        return found

    def meaning(self, dtype: DType) -> dict[str, Any]:
        """``{"hls.type": ...}`` of an integer or a fixed-point number, nothing of a float."""
        found = self._meaning.get(dtype)
        if found is None:
            data = plain(dtype)
            found = {} if isinstance(data, FloatType) else {"hls.type": type_attribute(data)}
            self._meaning[dtype] = found
        return found

    def fixed(self, dtype: DType) -> Any:
        """``#hls.fixed`` of an integer or fixed-point type."""
        found = self._fixed.get(dtype)
        if found is None:
            found = self._fixed[dtype] = fixed_attribute(exact(dtype))
        return found

    def number(self, value: float | Fraction, dtype: DType) -> Any:
        """The attribute of a constant: a float, or an integer of any width."""
        type_ = self.mlir(dtype)
        if isinstance(dtype, FloatType):
            return ir.FloatAttr.get(type_, float(value))
        if -(2**63) <= value < 2**63:
            return ir.IntegerAttr.get(type_, int(value))
        return ir.Attribute.parse(f"{value} : {type_}")  # the bindings take 64 bits
