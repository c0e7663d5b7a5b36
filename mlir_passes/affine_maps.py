"""Between `dsl.expressions.affine.Affine` and MLIR's affine maps and integer sets, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from dsl.expressions.affine import Affine, Constraint, FloorDiv
from mlir_passes.provider import ir
from polyhedral.looptree.remainders import split_remainders


def to_map(exprs: Sequence[Affine], values: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """An ``AffineMap`` of the expressions and its operands.

    Args:
        exprs: over the names in ``values``.
        values: SSA values by name; the map has a dimension for each that occurs, in this order.
    """
    used = _used(exprs, values)
    dims = {name: ir.AffineExpr.get_dim(n) for n, name in enumerate(used)}
    results = [_to_expr(e, dims) for e in exprs]
    return ir.AffineMap.get(len(used), 0, results), [values[name] for name in used]


def to_map_of(exprs: Sequence[Affine], names: Sequence[str]) -> Any:
    """An ``AffineMap`` of the expressions with one dimension for each name, whether used or not."""
    dims = {name: ir.AffineExpr.get_dim(n) for n, name in enumerate(names)}
    return ir.AffineMap.get(len(names), 0, [_to_expr(e, dims) for e in exprs])


def to_set(constraints: Sequence[Constraint], values: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """An ``IntegerSet`` of the constraints and its operands, as `to_map`."""
    used = _used([c.expr for c in constraints], values)
    dims = {name: ir.AffineExpr.get_dim(n) for n, name in enumerate(used)}
    exprs = [_to_expr(c.expr, dims) for c in constraints]
    equalities = [c.kind == "==" for c in constraints]
    return ir.IntegerSet.get(len(used), 0, exprs, equalities), [values[name] for name in used]


def _used(exprs: Iterable[Affine], values: Mapping[str, Any]) -> list[str]:
    names: set[str] = set()
    for e in exprs:
        names |= e.variables()
    return [name for name in values if name in names]


def _to_expr(affine: Affine, dims: Mapping[str, Any]) -> Any:
    """Terms in their order, remainders recognised: ``x - 4 * (x // 4)`` is ``x mod 4``."""
    total = None
    rest, remainders = split_remainders(affine)
    for scale, numerator, divisor in remainders:
        total = _plus(total, ir.AffineExpr.get_mod(_to_expr(numerator, dims), divisor), scale)
    for atom, c in rest.terms:
        match atom:
            case str():
                total = _plus(total, dims[atom], c)
            case FloorDiv(numerator, divisor):
                term = ir.AffineExpr.get_floor_div(_to_expr(numerator, dims), divisor)
                total = _plus(total, term, c)
    if total is None:
        return ir.AffineExpr.get_constant(rest.const)
    return total + rest.const if rest.const else total


def _plus(total: Any, term: Any, factor: int) -> Any:
    scaled = term if factor == 1 else term * factor
    return scaled if total is None else total + scaled


def from_map(affine_map: Any, names: Sequence[str]) -> tuple[Affine, ...]:
    """The results of an ``AffineMap`` over the names of its operands (dimensions, then symbols)."""
    split = affine_map.n_dims
    return tuple(_from_expr(e, names[:split], names[split:]) for e in affine_map.results)


def from_set(attribute: Any, names: Sequence[str]) -> tuple[Constraint, ...]:
    """The constraints of an ``IntegerSetAttr`` over the names of its operands.

    The bindings do not give out the set of the attribute, so that its text, ``affine_set<(d0)[s0] :
    (d0 - 1 >= 0, s0 == 0)>``, is read as a map of the same expressions.
    """
    head, _, body = str(attribute).removeprefix("affine_set<").partition(" : (")
    parts = body.removesuffix(")>").split(", ")
    kinds: list[Literal[">=", "=="]] = ["==" if p.endswith("== 0") else ">=" for p in parts]
    exprs = ", ".join(p[: -len(" >= 0")] for p in parts)
    affine_map = ir.Attribute.parse(f"affine_map<{head} -> ({exprs})>").value
    pairs = zip(from_map(affine_map, names), kinds, strict=True)
    return tuple(Constraint(expr, kind) for expr, kind in pairs)


def _from_expr(expr: Any, dims: Sequence[str], symbols: Sequence[str]) -> Affine:
    match expr.maybe_downcast() if type(expr) is ir.AffineExpr else expr:
        case ir.AffineConstantExpr() as e:
            return Affine.of(int(e.value))
        case ir.AffineDimExpr() as e:
            return Affine.of(dims[e.position])
        case ir.AffineSymbolExpr() as e:
            return Affine.of(symbols[e.position])
        case e:
            lhs = _from_expr(e.lhs, dims, symbols)
            rhs = _from_expr(e.rhs, dims, symbols)
            return _from_binary(e, lhs, rhs)


def _from_binary(expr: Any, lhs: Affine, rhs: Affine) -> Affine:
    match expr:
        case ir.AffineAddExpr():
            return lhs + rhs
        case ir.AffineMulExpr():
            return lhs * rhs.const if rhs.is_const else rhs * lhs.const
        case ir.AffineFloorDivExpr():
            return lhs // rhs.const
        case ir.AffineCeilDivExpr():
            return -(-lhs // rhs.const)
        case ir.AffineModExpr():
            return lhs % rhs.const
        case _:
            raise TypeError(f"no affine expression: {expr}")
