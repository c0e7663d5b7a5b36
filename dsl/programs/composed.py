"""Functions of one value that are closed under composition: what a recurrence ``s = f(s)`` is, and several in a row.

A function is written as the operators that are applied to ``s``, one after the other, perhaps different ones under
conditions. Whatever is composed, a few components say what all of it does:

=========  ======================================  =====================================
family     components                              several in a row
=========  ======================================  =====================================
``KEEP``   ``scan``, and ``keep`` with resets      ``s op scan if keep else scan``
``RING``   ``times``, ``scan``                     ``s * times + scan``, modulo 2^n
``BITS``   ``mask``, ``scan``                      ``(s & mask) ^ scan``
``CLAMP``  ``scan``, ``least``, ``most``           ``min(max(s + scan, least), most)``
=========  ======================================  =====================================

A component that is not there changes nothing (`None`): it is the neutral element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from math import inf

from dsl.expressions import typing
from dsl.expressions.choices import both, opposite
from dsl.expressions.expr import BinaryOp, Const, Expr
from dsl.expressions.numeric import bounds
from dsl.expressions.types import DType, FloatType, IntType, boolean


@dataclass(frozen=True, slots=True)
class Applied:
    """``s op term``, or ``term op s`` where it is ``turned``; ``dtype`` is the result's, before it is stored."""

    op: BinaryOp
    term: Expr
    dtype: DType
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators that are applied to ``s`` in a row; none: ``s`` as it was."""

    ops: tuple[Applied, ...] = ()


@dataclass(frozen=True, slots=True)
class Reset:
    """A value that does not depend on ``s``."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two functions, by a condition that does not depend on ``s``."""

    cond: Expr
    then: Function
    orelse: Function


Function = Chain | Reset | Choice


def leaves(function: Function) -> Iterator[Chain | Reset]:
    """The functions that conditions choose from."""
    if isinstance(function, Choice):
        yield from leaves(function.then)
        yield from leaves(function.orelse)
    else:
        yield function


class Kind(Enum):
    """Which functions a family has."""

    KEEP = "keep"
    RING = "ring"
    BITS = "bits"
    CLAMP = "clamp"


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a composed function."""

    word: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class Family:
    """The functions of a recurrence.

    Attributes:
        kind: what they are made of.
        op: the operator of a ``KEEP``, if it has any; what is subtracted everywhere is summed up, and `BinaryOp.SUB`.
        dtype: of ``s``.
        components: those that the recurrence needs.
        limits: of a ``CLAMP`` of integers, what ``s`` is in all iterations.
    """

    kind: Kind
    op: BinaryOp | None
    dtype: DType
    components: tuple[Component, ...]
    limits: tuple[int, int] = (0, 0)

    def has(self, word: str) -> bool:
        """Whether the recurrence needs that component."""
        return any(c.word == word for c in self.components)

    @property
    def joins(self) -> bool:
        """Whether functions in a row may be composed apart, and then be joined (`joined`)."""
        return self.kind is Kind.KEEP and self.op is not None and not self.has("keep")

    def neutral(self, word: str) -> Const:
        """What a component is that changes nothing."""
        dtype = next(c.dtype for c in self.components if c.word == word)
        if word in ("keep", "times"):
            return Const(1, dtype)
        if word in ("least", "most"):
            if isinstance(dtype, FloatType):
                return Const(-inf if word == "least" else inf, dtype)
            return Const(self.limits[word == "most"], dtype)
        if word == "mask":
            return _ones(dtype)
        return _neutral(self.op, dtype) if self.kind is Kind.KEEP else _number(0, dtype)


Parts = dict[str, Expr | None]
"""The components by their words; None for one that changes nothing."""


def composed(family: Family, parts: Parts, function: Function) -> Parts:
    """The components of what ``parts`` say, and then the function."""
    match function:
        case Reset(value):
            return _constant(family, value)
        case Chain(ops):
            for each in ops:
                parts = _STEPS[family.kind](family, parts, each)
            return parts
        case Choice(cond, then, orelse):
            a, b = composed(family, parts, then), composed(family, parts, orelse)
            return {c.word: _chosen(family, c.word, cond, a, b) for c in family.components}


def joined(family: Family, first: Parts, then: Parts) -> Parts:
    """Of a ``KEEP`` without resets, the components of two of its functions in a row."""
    a, b = first["scan"], then["scan"]
    if a is None or b is None or family.op is None:
        return {"scan": b if a is None else a}
    op = BinaryOp.ADD if family.op is BinaryOp.SUB else family.op
    return {"scan": _binary(op, a, b)}


def applied(family: Family, before: Expr, parts: Parts) -> Expr:
    """What ``before`` becomes."""
    scan = parts.get("scan")
    match family.kind:
        case Kind.KEEP:
            if scan is None:
                return before
            total = before if family.op is None else _binary(family.op, before, scan)
            keep = parts.get("keep")
            return total if keep is None else _select(keep, total, scan)
        case Kind.RING:
            times = parts["times"]
            scaled = before if times is None else _binary(BinaryOp.MUL, before, times)
            return scaled if scan is None else _binary(BinaryOp.ADD, scaled, scan)
        case Kind.BITS:
            mask = parts["mask"]
            masked = before if mask is None else _binary(BinaryOp.AND, before, mask)
            return masked if scan is None else _binary(BinaryOp.XOR, masked, scan)
        case Kind.CLAMP:
            moved = before if scan is None else _binary(BinaryOp.ADD, before, scan)
            for word, op in (("least", BinaryOp.MAX), ("most", BinaryOp.MIN)):
                limit = parts.get(word)
                moved = moved if limit is None else _binary(op, moved, limit)
            return moved


# ------------------------------------------------------------------------------- one operator more


def _kept(family: Family, parts: Parts, each: Applied) -> Parts:
    scan, op = parts["scan"], each.op
    if family.op is BinaryOp.SUB:
        op = BinaryOp.ADD
    if scan is not None:
        term = _binary(op, scan, each.term)
    elif op is BinaryOp.SUB:
        term = _binary(op, _number(0, family.dtype), each.term)
    else:
        term = each.term
    return {**parts, "scan": term}


def _in_ring(family: Family, parts: Parts, each: Applied) -> Parts:
    times, scan = parts["times"], parts["scan"]
    zero = _number(0, family.dtype)
    match each.op:
        case BinaryOp.MUL:
            times = each.term if times is None else _cut(BinaryOp.MUL, times, each.term, family)
            scan = None if scan is None else _cut(BinaryOp.MUL, scan, each.term, family)
        case BinaryOp.SUB if each.turned:
            times = (
                _number(-1, family.dtype)
                if times is None
                else _cut(BinaryOp.SUB, zero, times, family)
            )
            scan = each.term if scan is None else _cut(BinaryOp.SUB, each.term, scan, family)
        case op:
            if scan is None:
                scan = each.term if op is BinaryOp.ADD else _cut(op, zero, each.term, family)
            else:
                scan = _cut(op, scan, each.term, family)
    return {"times": times, "scan": scan}


def _in_bits(family: Family, parts: Parts, each: Applied) -> Parts:
    mask, scan = parts["mask"], parts["scan"]
    term = typing.cast(family.dtype, each.term)
    match each.op:
        case BinaryOp.AND:
            mask = term if mask is None else _binary(BinaryOp.AND, mask, term)
            scan = None if scan is None else _binary(BinaryOp.AND, scan, term)
        case BinaryOp.OR:
            others = _binary(BinaryOp.XOR, term, _ones(family.dtype))
            mask = others if mask is None else _binary(BinaryOp.AND, mask, others)
            scan = term if scan is None else _binary(BinaryOp.OR, scan, term)
        case _:
            scan = term if scan is None else _binary(BinaryOp.XOR, scan, term)
    return {"mask": mask, "scan": scan}


def _clamped(family: Family, parts: Parts, each: Applied) -> Parts:
    new = dict(parts)
    if each.op in (BinaryOp.ADD, BinaryOp.SUB):
        scan = parts.get("scan")
        if scan is None and each.op is BinaryOp.SUB:
            scan = _number(0, family.dtype)
        new["scan"] = each.term if scan is None else _binary(each.op, scan, each.term)
        for word in ("least", "most"):
            if (limit := parts.get(word)) is not None:
                new[word] = _binary(each.op, limit, each.term)
        return new
    own, other = ("least", "most") if each.op is BinaryOp.MAX else ("most", "least")
    limit = parts[own]
    new[own] = each.term if limit is None else _binary(each.op, limit, each.term)
    if (far := parts.get(other)) is not None:
        new[other] = _binary(each.op, far, each.term)
    return new


_STEPS = {Kind.KEEP: _kept, Kind.RING: _in_ring, Kind.BITS: _in_bits, Kind.CLAMP: _clamped}


def _constant(family: Family, value: Expr) -> Parts:
    match family.kind:
        case Kind.KEEP:
            return {"scan": value, "keep": Const(0, boolean)}
        case Kind.RING:
            return {"times": _number(0, family.dtype), "scan": value}
        case Kind.BITS:
            return {"mask": _number(0, family.dtype), "scan": value}
        case Kind.CLAMP:
            return {"scan": None, "least": value, "most": value}


def _chosen(family: Family, word: str, cond: Expr, a: Parts, b: Parts) -> Expr | None:
    then, orelse = a.get(word), b.get(word)
    if then == orelse:
        return then
    if word == "keep":
        if then == Const(0, boolean):
            return opposite(cond) if orelse is None else both(opposite(cond), orelse)
        if orelse == Const(0, boolean):
            return cond if then is None else both(cond, then)
    then = family.neutral(word) if then is None else then
    orelse = family.neutral(word) if orelse is None else orelse
    return _select(cond, then, orelse)


# ------------------------------------------------------------------------------- expressions


def _cut(op: BinaryOp, a: Expr, b: Expr, family: Family) -> Expr:
    """Modulo 2^n, lest operands get wider with every operator."""
    return typing.cast(family.dtype, _binary(op, a, b))


def _binary(op: BinaryOp, a: Expr, b: Expr) -> Expr:
    found = typing.binary(op, a, b)
    assert isinstance(found, Expr)
    return found


def _select(cond: Expr, a: Expr, b: Expr) -> Expr:
    found = typing.select(cond, a, b)
    assert isinstance(found, Expr)
    return found


def _number(value: int, dtype: DType) -> Const:
    if isinstance(dtype, FloatType):
        return Const(float(value), dtype)
    if isinstance(dtype, IntType) and not dtype.signed:
        value %= 1 << dtype.width
    found = typing.const(value, dtype)
    assert isinstance(found, Const)
    return found


def _ones(dtype: DType) -> Const:
    assert isinstance(dtype, IntType)
    return Const(-1 if dtype.signed else bounds(dtype)[1], dtype)


def _neutral(op: BinaryOp | None, dtype: DType) -> Const:
    """The operand with which an operator changes no value of the type."""
    match op:
        case BinaryOp.MUL:
            return _number(1, dtype)
        case BinaryOp.AND:
            return _ones(dtype)
        case BinaryOp.MIN | BinaryOp.MAX:
            is_least = op is BinaryOp.MAX
            if isinstance(dtype, FloatType):
                return Const(-inf if is_least else inf, dtype)
            assert isinstance(dtype, IntType)
            return Const(bounds(dtype)[0 if is_least else 1], dtype)
        case _:
            return _number(0, dtype)
