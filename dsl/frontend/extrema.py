"""Bounds of loops: affine expressions, and minima and maxima of these, also where a name stands for them.

Before::

    lo = max(0, i - 9)
    for k in range(lo, i + 1):
        s += x[k]

After::

    for k in range(max(0, i - 9), i + 1):
        s += x[k]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.expressions.conversions import bare
from dsl.expressions.expr import Binary, BinaryOp, Const, Expr, Index
from dsl.expressions.values import Value

Kind = Literal["", "min", "max"]


@dataclass(frozen=True, slots=True)
class Bound:
    """An affine expression, or the minimum or maximum of several."""

    kind: Kind
    parts: tuple[Affine, ...]

    def map(self, change: Callable[[Affine], Affine], *, flip: bool = False) -> Bound:
        """Each part changed by a monotone function (``flip``: a decreasing one)."""
        kind = _FLIPPED[self.kind] if flip else self.kind
        return Bound(kind, tuple(change(p) for p in self.parts))


_FLIPPED: dict[Kind, Kind] = {"": "", "min": "max", "max": "min"}
_KINDS: dict[BinaryOp, Kind] = {BinaryOp.MIN: "min", BinaryOp.MAX: "max"}


def extreme(kind: Kind, parts: Sequence[Affine]) -> Bound:
    """The minimum or maximum of the parts, constants folded."""
    constants = [p.const for p in parts if p.is_const]
    if constants:  # the best of them takes the place of the first
        best = Affine.of(max(constants) if kind == "max" else min(constants))
        parts = [best if p.is_const else p for p in parts]
    parts = tuple(dict.fromkeys(parts))
    return Bound(kind if len(parts) > 1 else "", parts)


def bound_of(found: Value) -> Bound | None:
    """What a value is as a bound of a loop; None of what is data, or not affine."""
    affine = values.as_affine(found)
    if affine is not None:
        return Bound("", (affine,))
    if not isinstance(found, Expr):
        return None
    match bare(found):
        case Index(affine=affine):
            return Bound("", (affine,))
        case Const(value=int() as number):
            return Bound("", (Affine.of(number),))
        case Binary(BinaryOp.MIN | BinaryOp.MAX as op, a, b):
            one, other = bound_of(a), bound_of(b)
            kind = _KINDS[op]
            if one is None or other is None or {one.kind, other.kind} - {"", kind}:
                return None
            return extreme(kind, (*one.parts, *other.parts))
        case Binary(BinaryOp.ADD | BinaryOp.SUB as op, a, b):
            return _moved(bound_of(a), bound_of(b), op is BinaryOp.SUB)
    return None


def _moved(one: Bound | None, other: Bound | None, is_minus: bool) -> Bound | None:
    """A sum or a difference, of which one side is no minimum and no maximum."""
    if one is None or other is None:
        return None
    if is_minus:
        other = other.map(lambda p: -p, flip=True)
    if other.kind:
        one, other = other, one
    if other.kind:
        return None
    (by,) = other.parts
    return one.map(lambda p: p + by)


def bounds_a_loop(node: ast.FunctionDef, name: str) -> bool:
    """Whether a name is read in the arguments of a ``range``, or as an end of a slice."""
    for n in ast.walk(node):
        match n:
            case ast.Call(func=ast.Name(id="range"), args=ends):
                pass
            case ast.Slice(lower=lower, upper=upper):
                ends = [end for end in (lower, upper) if end is not None]
            case _:
                continue
        if any(isinstance(p, ast.Name) and p.id == name for end in ends for p in ast.walk(end)):
            return True
    return False
