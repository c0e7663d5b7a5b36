"""Bodies that do nothing: every statement stores what is there already, as long as a loop is over.

That a loop is over is a sum of loop variables and scalars that is not negative (`polyhedral.codegen.exits`). Then, of
``if k < end: s += x[k]``, that is ``s += x[k] if k < end else 0``, the condition does not hold, and ``s + 0`` is ``s``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import copysign, inf

from dsl.expressions.affine import Affine
from dsl.expressions.conversions import has_all_of
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
    children,
    loads,
    map_leaves,
    stored_value,
    walk,
    with_operands,
)
from dsl.expressions.numeric import bounds
from dsl.expressions.types import DType, FloatType, IntType, boolean
from dsl.expressions.value_range import Range
from dsl.programs.program import Program
from polyhedral.looptree.linear import Forms, Linear
from polyhedral.looptree.tree import Instance, TreeLoop, TreeNode, below

Spans = Mapping[str, Range | None]
"""Least and greatest values of other loops, None where these are no numbers."""


@dataclass(slots=True)
class Reader:
    """What statements of a body compute, in terms of loop variables and of what is in memory where an iteration begins.

    Attributes:
        program: of the statements.
        fresh: scalars that each iteration writes before it reads them, and that nothing else reads.
        once: those of them that a single statement writes.
        known: what these hold, but for those computed of scalars that are written several times.
    """

    program: Program
    fresh: frozenset[str]
    once: frozenset[str]
    known: dict[str, Expr] = field(default_factory=dict)

    def value(self, instance: Instance) -> Expr:
        """The value of a statement; one of a scalar that is written once is remembered."""
        found = self._resolved(instance.stmt.value, dict(instance.bindings))
        name = instance.stmt.target.array
        if name in self.once and not any(
            isinstance(part, Load) and part.access.array in self.fresh - self.once
            for part in walk(found)
        ):
            dtype = self.program.array(name).dtype
            self.known[name] = found if found.dtype == dtype else Cast(found, dtype)
        return found

    def target(self, instance: Instance) -> Access:
        """What it writes."""
        target = instance.stmt.target
        bindings = dict(instance.bindings)
        return Access(target.array, tuple(index.substitute(bindings) for index in target.indices))

    def _resolved(self, expr: Expr, bindings: Mapping[str, Affine]) -> Expr:
        return self._known(map_leaves(expr, lambda leaf: _placed(leaf, bindings)))

    def _known(self, expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.access.array in self.known:
            return self.known[expr.access.array]
        return with_operands(expr, [self._known(part) for part in children(expr)])


def _placed(leaf: Const | Load | Index, bindings: Mapping[str, Affine]) -> Expr:
    match leaf:
        case Load(access, dtype):
            indices = tuple(index.substitute(bindings) for index in access.indices)
            return Load(Access(access.array, indices), dtype)
        case Index(affine, dtype):
            return Index(affine.substitute(bindings), dtype)
        case Const():
            return leaf


@dataclass(frozen=True, slots=True)
class Over:
    """A loop is over: ``form`` is not negative.

    Attributes:
        form: over the loop's own variable, and over scalars that nothing changes.
        forms: reads conditions.
        spans: of loops inside of the loop, and around it.
    """

    form: Linear
    forms: Forms
    spans: Spans

    def decided(self, cond: Expr) -> bool | None:
        """Whether a condition holds; None where that is not known."""
        found = self.forms.negative_where(cond)
        if found is None:
            return None
        if self._not_negative(found):
            return False
        return True if self._not_negative(found * -1 + Linear({}, {}, -1)) else None

    def _not_negative(self, form: Linear) -> bool:
        least = at_least(form, self.spans)
        if least is None:
            return False
        apart = least - self.form
        return not apart.loops and not apart.scalars and apart.const >= 0

    def simplified(self, expr: Expr) -> Expr:
        """The expression, as it is where the loop is over."""
        if expr.dtype == boolean and isinstance(expr, Compare | Load | Unary):
            decided = self.decided(expr)
            if decided is not None:
                return Const(int(decided), boolean)
        expr = with_operands(expr, [self.simplified(part) for part in children(expr)])
        match expr:
            case Select(Const(cond), a, b):
                return a if cond else b
            case Select(_, a, b) if a == b:
                return a
            case Unary(UnaryOp.NOT, Const(value)) if expr.dtype == boolean:
                return Const(int(not value), boolean)
            case Binary(BinaryOp.AND, a, b) if expr.dtype == boolean:
                return _joined(expr, a, b, 0)
            case Binary(BinaryOp.OR, a, b) if expr.dtype == boolean:
                return _joined(expr, a, b, 1)
        return expr

    def keeps(self, reader: Reader, instance: Instance) -> bool:
        """Whether a statement stores what its target holds already."""
        target, value = reader.target(instance), reader.value(instance)
        value = self.simplified(value)
        old = Load(target, reader.program.array(target.array).dtype)
        if isinstance(value, Scatter):
            return _is_kept(stored_value(value), Gather(target, value.data, old.dtype))
        # Of a flag that says that the loop is over it is known what it holds.
        return value == self.simplified(old) or _is_kept(value, old)


def _joined(expr: Binary, a: Expr, b: Expr, decides: int) -> Expr:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const):
            return Const(decides, boolean) if one.value == decides else other
    return expr


def _is_kept(value: Expr, old: Load | Gather) -> bool:
    """Whether the value is the old one, also after the conversion to its type."""
    if value == old:
        return True
    match value:
        case Cast(x, dtype):
            return (dtype == x.dtype or has_all_of(dtype, x.dtype)) and _is_kept(x, old)
        case Select(_, a, b):
            return _is_kept(a, old) and _is_kept(b, old)
        case Binary(BinaryOp.MIN | BinaryOp.MAX as op, a, b):
            return _is_kept(a, old) and (_is_kept(b, old) or _is_no_better(op, b, old.dtype))
        case Binary(BinaryOp.ADD | BinaryOp.OR | BinaryOp.XOR as op, a, b):
            return any(_is_neutral(op, zero) and _is_kept(x, old) for x, zero in ((a, b), (b, a)))
        case Binary(BinaryOp.SUB | BinaryOp.SHL | BinaryOp.SHR as op, a, b):
            return _is_neutral(op, b) and _is_kept(a, old)
        case Binary(BinaryOp.MUL, a, b):
            return any(_is_one(one) and _is_kept(x, old) for x, one in ((a, b), (b, a)))
        case Binary(BinaryOp.AND, a, b):
            return _is_kept(a, old) and _is_kept(b, old)
    return False


def _is_neutral(op: BinaryOp, zero: Expr) -> bool:
    """A zero; of floats the one that leaves a zero of either sign as it is."""
    while isinstance(zero, Cast):
        zero = zero.operand
    if not isinstance(zero, Const) or zero.value != 0:
        return False
    if isinstance(zero.value, float):
        return copysign(1, zero.value) == (1 if op is BinaryOp.SUB else -1)
    return True


def _is_no_better(op: BinaryOp, end: Expr, dtype: DType) -> bool:
    """Whether no value of the type is exceeded by a number; such an extremum is the first of its operands."""
    while isinstance(end, Cast):
        end = end.operand
    if not isinstance(end, Const):
        return False
    if isinstance(dtype, FloatType):
        return end.value == (inf if op is BinaryOp.MIN else -inf)
    if not isinstance(dtype, IntType):
        return False
    low, high = bounds(dtype)
    return end.value >= high if op is BinaryOp.MIN else end.value <= low


def _is_one(one: Expr) -> bool:
    while isinstance(one, Cast):
        one = one.operand
    return isinstance(one, Const) and one.value == 1


def at_least(form: Linear, spans: Spans) -> Linear | None:
    """The least that a sum is over all iterations of other loops; None where that is not known."""
    for name in form.loops.keys() & spans.keys():
        span, factor = spans[name], form.loops[name]
        if span is None:
            return None
        value = span[0] if factor > 0 else span[1]
        form = form + Linear({name: -factor}, {}, factor * value)
    return form


def fresh_in(nodes: tuple[TreeNode, ...], name: str) -> bool:
    """Whether each pass through the nodes writes a scalar before it reads it."""
    touching = [node for node in nodes if touches(node, name)]
    if not touching:
        return False
    first = touching[0]
    if isinstance(first, Instance):
        stmt = first.stmt
        return stmt.target.array == name and name not in arrays_read(first)
    return len(touching) == 1 and fresh_in(first.body, name)


def covered(nodes: tuple[TreeNode, ...], name: str, iv: str) -> bool:
    """Whether no read of a scalar is of what a loop has left in it: each is of a write in front of it in the same pass through the
    nodes, or through those of a loop or condition, and the loop does not stand between the two.

    Args:
        nodes: all of a tree.
        name: of the scalar, which each iteration of the loop writes before it reads it.
        iv: the variable of the loop.
    """
    written = False
    for node in nodes:
        around = _holds_loop(node, iv)
        if isinstance(node, Instance):
            if name in arrays_read(node) and not written:
                return False
            written = written or node.stmt.target.array == name
        elif around:
            inside = isinstance(node, TreeLoop) and node.iv == iv
            if not inside and not covered(node.body, name, iv):
                return False
            written = False
        elif not (
            written
            or not touches(node, name)
            or fresh_in(node.body, name)
            or covered(node.body, name, iv)
        ):
            return False
    return True


def _holds_loop(node: TreeNode, iv: str) -> bool:
    return any(isinstance(inner, TreeLoop) and inner.iv == iv for inner in below(node))


def arrays_read(instance: Instance) -> set[str]:
    """The arrays that a statement reads."""
    return {access.array for access in loads(instance.stmt.value)}


def touches(node: TreeNode, name: str) -> bool:
    """Whether a statement of the node reads or writes the array."""
    if isinstance(node, Instance):
        return node.stmt.target.array == name or name in arrays_read(node)
    return any(touches(inner, name) for inner in node.body)
