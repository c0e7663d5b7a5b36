"""Left shifts whose width is not settled yet: nothing is lost, and no wider than what is kept.

``x << n`` has as many bits more as ``n`` may be large. How many of them are computed depends on
where the value goes: an assignment or a conversion to an integer keeps the low bits only, and those
of ``+ - * & | ^ ~``, of a choice and of a further shift depend on the low bits of the operands
only. So the type of a shift, and of such operators over it, is a `Pending` one until then. Any other
operator asks for the value itself: then the shift has all of its bits, if they are known.

`dsl.expressions.typing` is the only user; no `Pending` type is in a finished program.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import Binary, BinaryOp, Cast, Const, Expr, Index, Select, Unary, UnaryOp
from dsl.expressions.literals import const
from dsl.expressions.nesting import admit_value
from dsl.expressions.numeric import bounds, is_exact, signed_of, width_of
from dsl.expressions.result_types import binary_type, common_type, plain, unary_type
from dsl.expressions.types import MAX_WIDTH, DType, FloatType, IndexType, IntType

MAX_VARIABLE = 63
"""The largest variable amount that widens by itself: wider shifters are asked for."""

_LITERAL = 32
_OPERATORS = (
    BinaryOp.ADD,
    BinaryOp.SUB,
    BinaryOp.MUL,
    BinaryOp.AND,
    BinaryOp.OR,
    BinaryOp.XOR,
)


@dataclass(frozen=True, slots=True)
class Pending(IntType):
    """The type of an expression with such a shift in it: with all bits, where ``known``.

    Where they are not, ``width`` means nothing.
    """

    known: bool = True

    def __str__(self) -> str:
        return IntType.__str__(self) if self.known else "an integer"


def _type(dtype: IntType | None) -> Pending:
    return Pending(1, True, False) if dtype is None else Pending(dtype.width, dtype.signed)


# ------------------------------------------------------------------------------- construction


def is_pending(x: Expr) -> bool:
    """Whether the expression's width is still open."""
    return isinstance(x.dtype, Pending)


def shifted(x: Expr, amount: Expr, most: int | None, span: Span | None) -> Binary:
    """``x << amount`` of integers; ``most`` is the largest amount, if it is known.

    A negative constant is refused later, where the iterations are known.
    """
    dtype = _known(x)
    if most is None:
        most = largest(amount)
    limit = MAX_WIDTH if isinstance(amount, Const) else MAX_VARIABLE
    if dtype is None or most > limit:
        return Binary(BinaryOp.SHL, x, amount, _type(None), span)
    width = dtype.width + max(most, 0)
    if isinstance(x, Const):
        assert isinstance(x.value, int)
        bits = (x.value if x.value >= 0 else ~x.value).bit_length() + dtype.signed
        width = max(dtype.width, bits + max(most, 0))
    found = IntType(width, dtype.signed) if width <= MAX_WIDTH else None
    return Binary(BinaryOp.SHL, x, amount, _type(found), span)


def largest(amount: Expr) -> int:
    """The largest value that the amount may have, by what it is computed from."""
    match amount:
        case Const(value=int(value)):
            return value
        case Binary(BinaryOp.AND, a, b):
            return min((largest(x) for x in (a, b) if _never_negative(x)), default=_top(amount))
        case Binary(BinaryOp.MOD, _, Const(value=int(value))) if value > 0:
            return value - 1
        case Binary(BinaryOp.MIN, a, b):
            return min(largest(a), largest(b))
        case Binary(BinaryOp.MAX, a, b) | Select(_, a, b):
            return max(largest(a), largest(b))
        case Cast(x) if is_exact(x.dtype) and _never_negative(x):
            return min(largest(x), _top(amount))
        case _:
            return _top(amount)


def _top(x: Expr) -> int:
    assert not isinstance(x.dtype, FloatType)
    return bounds(x.dtype)[1]


def _never_negative(x: Expr) -> bool:
    if isinstance(x, Const):
        return x.value >= 0
    return not isinstance(x.dtype, FloatType) and not signed_of(x.dtype)


def literal_operand(value: int) -> Const:
    """A literal that is shifted to the left: an ``i32`` at least."""
    width = max(_LITERAL, (value if value >= 0 else ~value).bit_length() + 1)
    return Const(value, IntType(min(width, MAX_WIDTH)))


def pending_binary(op: BinaryOp, a: Expr, b: Expr, span: Span | None) -> Expr | None:
    """``a op b`` where an operand is pending, None where the values themselves are needed."""
    if op not in _OPERATORS or not (_is_integer(a.dtype) and _is_integer(b.dtype)):
        return None
    if op is BinaryOp.AND:
        for mask, other in ((a, b), (b, a)):
            if is_pending(other) and not is_pending(mask) and _never_negative(mask):
                assert not isinstance(mask.dtype, FloatType)
                kept = low_bits(other, width_of(mask.dtype))
                x, y = (mask, kept) if mask is a else (kept, mask)
                return Binary(op, x, y, binary_type(op, x.dtype, y.dtype, span), span)
    ta, tb = _known(a), _known(b)
    known = None if ta is None or tb is None else binary_type(op, ta, tb, span)
    assert known is None or isinstance(known, IntType)
    return Binary(op, a, b, _type(known), span)


def pending_unary(op: UnaryOp, x: Expr, span: Span | None) -> Expr | None:
    """``op x`` of a pending operand, None where the value itself is needed."""
    if op not in (UnaryOp.NEG, UnaryOp.INVERT):
        return None
    dtype = _known(x)
    known = None if dtype is None else unary_type(op, dtype, span)
    assert known is None or isinstance(known, IntType)
    return Unary(op, x, _type(known), span)


def pending_select(cond: Expr, a: Expr, b: Expr, span: Span | None) -> Expr | None:
    """A choice of which a side is pending, None where the values themselves are needed."""
    if not (_is_integer(a.dtype) and _is_integer(b.dtype)):
        return None
    ta, tb = _known(a), _known(b)
    known = None if ta is None or tb is None else common_type(ta, tb, span)
    assert known is None or isinstance(known, IntType)
    return Select(cond, a, b, _type(known), span)


def _is_integer(dtype: DType) -> bool:
    return isinstance(dtype, IntType | IndexType)


def _known(x: Expr) -> IntType | None:
    """The type with all bits."""
    dtype = x.dtype
    if isinstance(dtype, Pending) and not dtype.known:
        return None
    assert isinstance(dtype, IntType | IndexType)
    found = plain(dtype)
    assert isinstance(found, IntType)
    return found


# ---------------------------------------------------------------------------------- settling


def settled(x: Expr, span: Span | None = None) -> Expr:
    """The expression with all bits of its shifts.

    Raises:
        LanguageError: W139 where they are not known.
    """
    return _settle(x, None, span)


def low_bits(x: Expr, width: int) -> Expr:
    """An expression whose low bits are those of ``x``, with no more bits in its shifts."""
    return _settle(x, width, None)


def _settle(x: Expr, wanted: int | None, span: Span | None) -> Expr:
    if not is_pending(x):
        return x
    admit_value(x, span)  # no deeper than can be walked
    return _Settling(wanted, span).of(x)


@dataclass(slots=True)
class _Settling:
    """Rebuilds what is pending; an expression that occurs twice is rebuilt once."""

    wanted: int | None
    span: Span | None
    done: dict[int, Expr] = field(default_factory=dict)

    def of(self, x: Expr) -> Expr:
        if not is_pending(x):
            return x
        found = self.done.get(id(x))
        if found is None:
            found = self.done[id(x)] = self._rebuilt(x)
        return found

    def _rebuilt(self, x: Expr) -> Expr:
        match x:
            case Binary(BinaryOp.SHL):
                return self._shift(x)
            case Binary(op, a, b, _, span):
                a, b = self.of(a), self.of(b)
                return Binary(op, a, b, binary_type(op, a.dtype, b.dtype, span), span)
            case Unary(op, a, _, span):
                a = self.of(a)
                return Unary(op, a, unary_type(op, a.dtype, span), span)
            case Select(cond, a, b, _, span):
                a, b = self.of(a), self.of(b)
                return Select(cond, a, b, common_type(a.dtype, b.dtype, span), span)
            case _:
                raise TypeError(f"a pending {type(x).__name__}")

    def _shift(self, x: Binary) -> Expr:
        assert isinstance(x.dtype, Pending)
        lhs = self.of(x.lhs)
        assert isinstance(lhs.dtype, IntType | IndexType)
        if self.wanted is None:
            if not x.dtype.known:
                raise _unknown(x, self.span)
            width = x.dtype.width
        else:
            width = max(self.wanted, width_of(lhs.dtype))
            if x.dtype.known:
                width = min(width, x.dtype.width)
        dtype = IntType(width, signed_of(lhs.dtype))
        return Binary(BinaryOp.SHL, _widened(lhs, dtype, x.span), x.rhs, dtype, x.span)


def _widened(x: Expr, dtype: IntType, span: Span | None) -> Expr:
    if isinstance(x, Const):
        assert isinstance(x.value, int)
        return const(x.value, dtype)
    if isinstance(x, Index) and dtype == IntType(32):
        return x
    return x if x.dtype == dtype else Cast(x, dtype, span)


def _unknown(x: Binary, span: Span | None) -> LanguageError:
    if isinstance(x.rhs, Const):
        return LanguageError(
            "W128",
            f"the result of this shift by {x.rhs.value} would have more than {MAX_WIDTH} bits",
            span=x.span or span,
            help=f"types have at most {MAX_WIDTH} bits",
        )
    return LanguageError(
        "W139",
        f"how many bits this shift to the left needs is not known: its amount, of type "
        f"{x.rhs.dtype}, may be more than {MAX_VARIABLE}",
        span=x.span or span,
        help="say how many bits of the result count, as in i32(x << n), or how large the amount "
        "is, as in x << u3(n)",
    )
