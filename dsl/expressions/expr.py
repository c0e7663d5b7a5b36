"""Expressions of statements: typed, immutable trees over array elements and constants.

Every node carries its `dtype`, computed by `dsl.expressions.typing`; arithmetic on integers and fixed point
widens exactly as ``ap_int``/``ap_fixed`` do, so a value is only ever cut by a `Cast` or by the
store (which converts implicitly to the element type). A shift to the left keeps the type of what is
shifted, which is cast first where bits would be lost (see `dsl.expressions.shifts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine
from dsl.expressions.types import DType, IndexType


class BinaryOp(Enum):
    """Operators of two operands; the value is the Python spelling."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"  # floats and fixed point
    FLOORDIV = "//"  # integers, rounds towards minus infinity as Python does
    MOD = "%"  # integers, sign of the divisor as in Python
    AND = "&"
    OR = "|"
    XOR = "^"
    SHL = "<<"  # of the left operand's type, which `dsl.expressions.typing` has widened
    SHR = ">>"  # arithmetic for signed operands
    MIN = "min"  # b if b < a else a
    MAX = "max"  # b if b > a else a


class UnaryOp(Enum):
    """Operators of one operand."""

    NEG = "-"
    INVERT = "~"
    NOT = "not"
    ABS = "abs"
    SQRT = "sqrt"
    EXP = "exp"
    LOG = "log"
    TANH = "tanh"
    SIN = "sin"
    COS = "cos"


TRANSCENDENTAL = (UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH, UnaryOp.SIN, UnaryOp.COS)
"""Functions of floats that no standard defines to the last bit."""


class CompareOp(Enum):
    """Comparisons; the result is ``u1``. Integers and fixed point compare by exact value."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


@dataclass(frozen=True, slots=True)
class Access:
    """An array element: one `Affine` per dimension over the loop variables in scope.

    ``limits`` are expressions that must be 0 to less than a number besides: subscripts of the part of
    an array that a kernel was given. They are checked of the program as it was written.
    """

    array: str
    indices: tuple[Affine, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    limits: tuple[tuple[Affine, int], ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        indices = ("?" if index.is_data else str(index) for index in self.indices)
        return f"{self.array}[{', '.join(indices)}]" if self.indices else self.array

    def within(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """What subscripts are less than: the extents of the array, or of those that are data a limit."""
        if not self.limits:
            return shape
        known = {e: n for e, n in self.limits if e.is_data}
        return tuple(min(n, known.get(e, n)) for e, n in zip(self.indices, shape, strict=True))


@dataclass(frozen=True, slots=True)
class Const:
    """A literal of a definite type. ``value`` is exact: an int, a Fraction (fixed) or a float."""

    value: int | float | Fraction
    dtype: DType


@dataclass(frozen=True, slots=True)
class Load:
    """The value of an array element or scalar."""

    access: Access
    dtype: DType


@dataclass(frozen=True, slots=True)
class Gather:
    """The element of an array at subscripts of which some are values: ``t[x[i]]``, ``f[k, x[i]]``.

    ``access`` has `data_index` ``n`` where the subscript is ``data[n]``, an integer; each of them
    once. That every one of them is inside of the array is proven from the ranges of what they are
    computed of (`dsl.expressions.value_range`). To dependences it is a read of all elements that
    the affine subscripts leave.
    """

    access: Access
    data: tuple[Expr, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Scatter:
    """What is assigned to a target at subscripts of which some are values: ``h[x[i]] = value``.

    It is the value of such a statement as a whole, never an operand. ``access`` is the target, with
    `data_index` ``n`` where the subscript is ``data[n]``, as of a `Gather`. It stands for the array
    after the assignment: all elements that the affine subscripts leave are read and written, each as
    it was except for one. So dependences, live ranges and copies are right without knowing which
    one it is; what really moves is one element.
    """

    access: Access
    data: tuple[Expr, ...]
    value: Expr

    @property
    def dtype(self) -> DType:
        """Of the value, which the assignment converts to the element type."""
        return self.value.dtype


@dataclass(frozen=True, slots=True)
class Index:
    """An affine expression of loop variables used as data."""

    affine: Affine
    dtype: DType = field(default_factory=IndexType)


@dataclass(frozen=True, slots=True)
class Unary:
    """``op(operand)``."""

    op: UnaryOp
    operand: Expr
    dtype: DType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """``lhs op rhs``; operands keep their own types, ``dtype`` is the result's."""

    op: BinaryOp
    lhs: Expr
    rhs: Expr
    dtype: DType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """``lhs op rhs`` as ``u1``."""

    op: CompareOp
    lhs: Expr
    rhs: Expr
    dtype: DType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Select:
    """``then if cond else orelse``; both sides are evaluated."""

    cond: Expr
    then: Expr
    orelse: Expr
    dtype: DType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion as an assignment to ``dtype`` would do it."""

    operand: Expr
    dtype: DType
    span: Span | None = field(default=None, compare=False, repr=False)


Expr = Const | Load | Gather | Scatter | Index | Unary | Binary | Compare | Select | Cast


def children(expr: Expr) -> tuple[Expr, ...]:
    """Direct operands, left to right."""
    match expr:
        case Const() | Load() | Index():
            return ()
        case Gather(data=data):
            return data
        case Scatter(data=data, value=x):
            return (*data, x)
        case Unary(operand=x) | Cast(operand=x):
            return (x,)
        case Binary(lhs=a, rhs=b) | Compare(lhs=a, rhs=b):
            return (a, b)
        case Select(cond=c, then=a, orelse=b):
            return (c, a, b)


def with_operands(expr: Expr, parts: Sequence[Expr]) -> Expr:
    """The expression of other operands, of the types of those that it has; itself where these are the same."""
    if all(a is b for a, b in zip(parts, children(expr), strict=True)):
        return expr
    match expr:
        case Unary() | Cast():
            return replace(expr, operand=parts[0])
        case Binary() | Compare():
            return replace(expr, lhs=parts[0], rhs=parts[1])
        case Select():
            return replace(expr, cond=parts[0], then=parts[1], orelse=parts[2])
        case Gather():
            return replace(expr, data=tuple(parts))
        case Scatter():
            return replace(expr, data=tuple(parts[:-1]), value=parts[-1])
        case _:
            raise TypeError(f"{type(expr).__name__} has no operands")


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all below it, parents first."""
    pending = [expr]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(reversed(children(part)))


def loads(expr: Expr) -> tuple[Access, ...]:
    """Every access that is read, in evaluation order, repetitions included.

    Of a `Gather` its access, of which no more is known than the affine subscripts, and what its
    other subscripts read. Of a `Scatter` also the access: what it leaves as it was.
    """
    return tuple(e.access for e in walk(expr) if isinstance(e, Load | Gather | Scatter))


def stored_value(value: Expr) -> Expr:
    """What a statement of this value stores in one element."""
    return value.value if isinstance(value, Scatter) else value


def map_leaves(expr: Expr, leaf: Callable[[Const | Load | Index], Expr]) -> Expr:
    """Rebuild the expression with every leaf replaced.

    What a `Gather` reads and a `Scatter` writes is given to ``leaf`` as a `Load` of its access, and
    must stay one.
    """
    match expr:
        case Const() | Load() | Index():
            return leaf(expr)
        case Gather(access, data, dtype):
            read = _element(access, dtype, leaf)
            return Gather(read.access, tuple(map_leaves(d, leaf) for d in data), read.dtype)
        case Scatter(access, data, value):
            written = _element(access, value.dtype, leaf).access
            subscripts = tuple(map_leaves(d, leaf) for d in data)
            return Scatter(written, subscripts, map_leaves(value, leaf))
        case Unary(op, x, dtype, span):
            return Unary(op, map_leaves(x, leaf), dtype, span)
        case Cast(x, dtype, span):
            return Cast(map_leaves(x, leaf), dtype, span)
        case Binary(op, a, b, dtype, span):
            return Binary(op, map_leaves(a, leaf), map_leaves(b, leaf), dtype, span)
        case Compare(op, a, b, dtype, span):
            return Compare(op, map_leaves(a, leaf), map_leaves(b, leaf), dtype, span)
        case Select(c, a, b, dtype, span):
            parts = (map_leaves(c, leaf), map_leaves(a, leaf), map_leaves(b, leaf))
            return Select(*parts, dtype, span)


def _element(access: Access, dtype: DType, leaf: Callable[[Const | Load | Index], Expr]) -> Load:
    """One of several elements, replaced."""
    found = leaf(Load(access, dtype))
    if not isinstance(found, Load):
        raise TypeError(f"the elements that {access} is one of become {found}")
    return found
