"""The operations of statements: what the ops of level 3 are to the model.

What costs nothing (sign extension, truncation, a cast of an index, the rest of a division by a power of
two) is no operation. A division by a power of two is a shift, as it is in the C++.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dsl.expressions.affine import Affine
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType
from qor_gnn.design.region import NO_FACTORS, ONE_SUM, WIRES, Access, Op

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
    "math.sin": "tanh",  # no report shows their cores: assumed to cost as much as another composed function
    "math.cos": "tanh",
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
_DIVISIONS = frozenset({"arith.floordivsi", "arith.divui", "arith.remsi", "arith.remui"})
_SEVERAL = frozenset({"cmp", "div", "mod", "shr", "tanh"})
"""Kinds of several operations that cost alike: of the same operands they are different values."""

_OF_OPERAND = frozenset({"cmp", "to_int"})  # their type is that of what they take

_EQUAL, _OTHER = 0, 1  # predicates of ``arith.cmpi``

Type = tuple[str, int]
"""The class of a type and its width in bits: ``("int", 8)``, ``("f32", 32)``."""

_BIT: Type = ("int", 1)


def type_of(dtype: DType) -> Type:
    """Type class and width in bits, as operations have them."""
    match dtype:
        case FloatType(name):
            return name, dtype.width
        case IndexType():
            return "int", 32
        case IntType(width=width) | FixedType(width=width):
            return "int", width
    assert_never(dtype)


class UnknownOpError(Exception):
    """The model has no operation for an op of this name."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a statement: the operation that makes it, and what that takes.

    ``number`` tells operations apart, and is larger than those of what it takes. ``type`` is the
    value's own: an operand that is extended for nothing is of another type than its operation.
    ``positive`` says that it was extended by zeros. ``of_power``: of a signed rest of a division by a power
    of two, the number that is divided.
    """

    op: Op
    taken: tuple[Value, ...]
    number: int
    type: Type
    positive: bool = False
    of_power: Value | None = None


@dataclass(slots=True)
class Operations:
    """Writes the operations of statements down, as a reader of level 3 comes to them."""

    count: int = 0

    def argument(self, name: str, type_: Type) -> Value:
        """A scalar argument."""
        return self._made(Op("input", *type_, access=Access(name, ())), type_)

    def constant(self, value: float | Fraction, type_: Type) -> Value:
        """A number."""
        return self._made(Op("const", *type_, value=_text(value, type_)), type_)

    def load(self, access: Access, type_: Type, data: tuple[Value, ...] = ()) -> Value:
        """An element of a memory; ``data`` are the subscripts that are values, in order."""
        return self._made(Op("load", *type_, access=access), type_, data)

    def index(self, affine: Affine) -> Value:
        """A loop variable, or an expression of some, as data."""
        return self._made(Op("index", "int", 32, access=Access("", (affine,))), ("int", 32))

    def operation(
        self, name: str, taken: tuple[Value, ...], type_: Type, predicate: int | None = None
    ) -> Value:
        """An op of MLIR on values.

        Args:
            name: of the op.
            taken: its operands.
            type_: of its result.
            predicate: of a comparison.

        Raises:
            UnknownOpError: it is none of those above.
        """
        if name in _FREE:
            value = taken[0]
            positive = value.positive or name == "arith.extui"
            op = replace(value.op, positive=positive) if value.op.kind == "const" else value.op
            return Value(op, value.taken, value.number, type_, positive)
        kind = _KINDS.get(name)
        if kind is None:
            raise UnknownOpError
        by_power = name in _DIVISIONS and _is_power(taken[1])
        if by_power and kind == "div":
            kind = "shr"
        if by_power and name == "arith.remui":
            return _low_bits(taken[0], type_)
        if kind == "select" and (divided := _python_rest(*taken)) is not None:
            return _low_bits(divided, type_)
        if kind == "cmp" and (bit := self._bit_test(taken, predicate)) is not None:
            return bit
        of = taken[0].type if kind in _OF_OPERAND else type_
        factors = _factors(kind, taken) if of[0] == "int" else NO_FACTORS
        which = name if predicate is None else f"{name} {predicate}"
        variant = which if kind in _SEVERAL else ""
        made = self._made(Op(kind, *of, value=variant, factors=factors), type_, taken)
        return replace(made, of_power=taken[0]) if by_power and kind == "mod" else made

    def _bit_test(self, taken: tuple[Value, ...], predicate: int | None) -> Value | None:
        """What ``(x & 4) != 0``, ``(x & 4) == 4`` or ``b != 0`` of one bit says: that bit, or its inverse; None of another
        comparison.
        """
        masked, number = taken
        if (
            predicate not in (_EQUAL, _OTHER)
            or number.op.kind != "const"
            or masked.op.type != "int"
        ):
            return None
        bit = masked
        if masked.type != _BIT:
            mask = next((v.op for v in masked.taken if v.op.kind == "const"), None)
            if masked.op.kind != "and" or mask is None or int(mask.value).bit_count() != 1:
                return None
            if int(number.op.value) not in (0, int(mask.value)):
                return None
            bit = Value(masked.op, masked.taken, masked.number, _BIT, True)
        if (int(number.op.value) == 0) == (predicate == _OTHER):
            return bit
        return self._made(Op("xor", *_BIT), _BIT, (bit, self.constant(1, _BIT)))

    def _made(self, op: Op, type_: Type, taken: tuple[Value, ...] = ()) -> Value:
        self.count += 1
        return Value(op, taken, self.count, type_)


def operations_of(
    value: Value, subscripts: Sequence[Value] = ()
) -> tuple[tuple[Op, ...], tuple[int, ...]]:
    """The operations that a store needs, each once, operands before what takes them.

    Args:
        value: what is stored, which comes last: again, where a subscript takes it.
        subscripts: those of the target that are values.

    Returns:
        The operations, and the positions of the subscripts among them.
    """
    found: dict[int, Value] = {}
    pending = [value, *subscripts]
    while pending:
        v = pending.pop()
        if v.number not in found:
            found[v.number] = v
            pending.extend(v.taken)
    needed = [found[number] for number in sorted(found)]
    places = {v.number: n for n, v in enumerate(needed)}
    if needed[-1].number != value.number:
        needed.append(found[value.number])
    ops = tuple(
        replace(v.op, operands=tuple(places[o.number] for o in v.taken)) if v.taken else v.op
        for v in needed
    )
    return ops, tuple(places[v.number] for v in subscripts)


def _is_power(value: Value) -> bool:
    """Whether it is a power of two that is no negative number."""
    if value.op.kind != "const":
        return False
    number = int(value.op.value)
    negative = not value.positive and bool(number >> (value.op.width - 1))
    return number > 0 and not negative and number & (number - 1) == 0


def _python_rest(test: Value, moved: Value, rest: Value) -> Value | None:
    """What is divided by a power of two, where a choice makes the rest one that is not negative, as Python's is."""
    if rest.of_power is None or test.op.kind != "cmp" or moved.op.kind != "add":
        return None
    return rest.of_power if test.taken[0].number == moved.taken[0].number == rest.number else None


def _low_bits(value: Value, type_: Type) -> Value:
    """Some low bits of a value, which cost nothing."""
    return Value(value.op, value.taken, value.number, type_, True)


def _factors(kind: str, taken: tuple[Value, ...]) -> tuple[int, int]:
    """See `qor_gnn.design.region.Op.factors`."""
    if kind in ("shl", "shr"):
        return (taken[0].type[1], WIRES) if taken[1].op.kind == "const" else NO_FACTORS
    if kind == "and":  # with a number it is some of the bits
        masked = any(v.op.kind == "const" for v in taken)
        return (max(v.type[1] for v in taken), WIRES) if masked else NO_FACTORS
    if kind in ("div", "mod"):
        by = taken[1]
        return (
            (_own_width(taken[0]), max(2, _own_width(by))) if by.op.kind == "const" else NO_FACTORS
        )
    if kind != "mul":
        return NO_FACTORS
    short, long = sorted(map(_own_width, taken))
    return long, short


def _own_width(value: Value) -> int:
    """Bits of an integer before it was extended; of a number those that it has.

    Of a number see `factor_of`.
    """
    if value.op.kind != "const":
        return min(value.type[1], value.op.width)
    return factor_of(value.op)


def factor_of(number: Op) -> int:
    """Bits that a constant has as a factor: `WIRES` of a power of two, `ONE_SUM` of a sum or a difference of two."""
    size = abs(number.number)
    digits = (size ^ 3 * size).bit_count()  # of the signed form with the fewest of them
    if digits <= 1 and number.number >= 0:
        return WIRES
    return ONE_SUM if digits <= 2 else size.bit_length() + 1


def known_element(load: Op, element: float) -> Op:
    """The constant that is in the place of a load, of a table whose element is known."""
    value = _text(element, (load.type, load.width))
    return Op(
        "const", load.type, load.width, value=value, positive=element >= 0 and load.type == "int"
    )


def _text(value: float | Fraction, type_: Type) -> str:
    """What tells constants apart: of an integer its low bits, whatever they mean."""
    name, width = type_
    return str(int(value) % (1 << min(width, 64))) if name == "int" else repr(float(value))
