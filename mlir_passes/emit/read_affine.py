"""Affine index expressions of MLIR's maps and sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_passes.emit.affine import Lin, Ranges
from mlir_passes.provider import ir


def read_map(affine_map: Any, operands: Sequence[Lin], ranges: Ranges) -> tuple[Lin, ...]:
    """The results of an ``AffineMap`` over its operands (dimensions, then symbols)."""
    n = affine_map.n_dims
    return tuple(_read(e, operands, n, ranges) for e in affine_map.results)


def read_set(
    attribute: Any, operands: Sequence[Lin], ranges: Ranges
) -> tuple[tuple[Lin, bool], ...]:
    """The constraints of an ``IntegerSetAttr``; True for an equality.

    The bindings give its text only: its expressions are read as those of a map.
    """
    head, _, body = str(attribute).removeprefix("affine_set<").partition(" : (")
    parts = body.removesuffix(")>").split(", ")
    exprs = ", ".join(p[: -len(" >= 0")] for p in parts)  # as long as " == 0"
    text = f"affine_map<{head} -> ({exprs})>"
    affine_map = ir.Attribute.parse(text, attribute.context).value
    lins = read_map(affine_map, operands, ranges)
    return tuple((e, p.endswith("== 0")) for e, p in zip(lins, parts, strict=True))


def _read(expr: Any, operands: Sequence[Lin], n_dims: int, ranges: Ranges) -> Lin:
    kind = type(expr)
    if kind is ir.AffineExpr:
        expr = expr.maybe_downcast()
        kind = type(expr)
    if kind is ir.AffineDimExpr:
        return operands[int(expr.position)]
    if kind is ir.AffineConstantExpr:
        return Lin((), int(expr.value))
    if kind is ir.AffineSymbolExpr:
        return operands[n_dims + int(expr.position)]
    lhs: Lin = _read(expr.lhs, operands, n_dims, ranges)
    rhs: Lin = _read(expr.rhs, operands, n_dims, ranges)
    if kind is ir.AffineAddExpr:
        return lhs + rhs
    if kind is ir.AffineMulExpr:
        return lhs * rhs.const if not rhs.terms else rhs * lhs.const
    if kind is ir.AffineModExpr:
        return ranges.remainder(lhs, rhs.const)
    if kind is ir.AffineFloorDivExpr:
        return ranges.quotient(lhs, rhs.const)
    if kind is ir.AffineCeilDivExpr:
        return ranges.quotient(lhs + (rhs.const - 1), rhs.const)
    raise TypeError(f"no affine expression: {expr}")
