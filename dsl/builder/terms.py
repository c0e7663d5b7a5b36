"""Terms of a `weft.Program`: Python objects whose operators build expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import NoReturn, ParamSpec, TypeVar

from dsl.errors.callsite import caller_span
from dsl.errors.errors import LanguageError
from dsl.errors.shown import shown
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine, And, Cond, Or, negate
from dsl.expressions.elements import element, is_subscript
from dsl.expressions.expr import BinaryOp, CompareOp, Expr, Gather, Load, UnaryOp
from dsl.expressions.intrinsics import Intrinsic
from dsl.expressions.types import DType, boolean
from dsl.expressions.values import MAX_BITS, Value
from dsl.programs.program import Array, Loop

P = ParamSpec("P")
T = TypeVar("T")

_EXTREMA = {"min": BinaryOp.MIN, "max": BinaryOp.MAX}
_UNARY = {
    "abs": UnaryOp.ABS,
    "sqrt": UnaryOp.SQRT,
    "exp": UnaryOp.EXP,
    "log": UnaryOp.LOG,
    "tanh": UnaryOp.TANH,
    "sin": UnaryOp.SIN,
    "cos": UnaryOp.COS,
}


def located(function: Callable[P, T]) -> Callable[P, T]:
    """Give errors without a place that of the user's call."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except LanguageError as e:
            e.span = e.span or caller_span()
            raise

    return wrapped


def value_of(x: object) -> Value:
    """The value of a term or number.

    Raises:
        LanguageError: W113 for anything else.
    """
    if isinstance(x, Term):
        return x.value
    if isinstance(x, int) and x.bit_length() > MAX_BITS:
        raise LanguageError("W108", f"{shown(x)} is more than {MAX_BITS} bits")
    if isinstance(x, (bool, int, float)):
        return x
    if hasattr(x, "dtype") and hasattr(x, "item") and getattr(x, "ndim", 1) == 0:
        return value_of(x.item())  # a number of NumPy's
    what = f"the whole array '{x.array.name}'" if isinstance(x, Placeholder) else shown(x)
    raise LanguageError(
        "W113",
        f"{what} is not a value of the program",
        help="use numbers, loop variables, and elements of placeholders such as A[i, j]",
    )


class Term:
    """A value of the program: a loop variable, an element, or an expression of them.

    The operators are those of the language. ``==`` and the other comparisons build conditions,
    so terms are neither compared nor hashed by Python; ``&``, ``|`` and ``~`` join conditions.
    """

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # NumPy's numbers on the left leave the operator to us

    def __init__(self, value: Value) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"<weft term {self.value}>"

    def __bool__(self) -> NoReturn:
        raise LanguageError(
            "W106",
            "a term has no truth value while the program is built",
            span=caller_span(),
            help="use weft.select(condition, a, b) for values, and where= for statements; join "
            "conditions with & | ~",
        )

    def __add__(self, other: object) -> Term:
        return _binary(BinaryOp.ADD, self, other)

    def __radd__(self, other: object) -> Term:
        return _binary(BinaryOp.ADD, other, self)

    def __sub__(self, other: object) -> Term:
        return _binary(BinaryOp.SUB, self, other)

    def __rsub__(self, other: object) -> Term:
        return _binary(BinaryOp.SUB, other, self)

    def __mul__(self, other: object) -> Term:
        return _binary(BinaryOp.MUL, self, other)

    def __rmul__(self, other: object) -> Term:
        return _binary(BinaryOp.MUL, other, self)

    def __truediv__(self, other: object) -> Term:
        return _binary(BinaryOp.DIV, self, other)

    def __rtruediv__(self, other: object) -> Term:
        return _binary(BinaryOp.DIV, other, self)

    def __floordiv__(self, other: object) -> Term:
        return _binary(BinaryOp.FLOORDIV, self, other)

    def __rfloordiv__(self, other: object) -> Term:
        return _binary(BinaryOp.FLOORDIV, other, self)

    def __mod__(self, other: object) -> Term:
        return _binary(BinaryOp.MOD, self, other)

    def __rmod__(self, other: object) -> Term:
        return _binary(BinaryOp.MOD, other, self)

    def __and__(self, other: object) -> Term:
        return _binary(BinaryOp.AND, self, other)

    def __rand__(self, other: object) -> Term:
        return _binary(BinaryOp.AND, other, self)

    def __or__(self, other: object) -> Term:
        return _binary(BinaryOp.OR, self, other)

    def __ror__(self, other: object) -> Term:
        return _binary(BinaryOp.OR, other, self)

    def __xor__(self, other: object) -> Term:
        return _binary(BinaryOp.XOR, self, other)

    def __rxor__(self, other: object) -> Term:
        return _binary(BinaryOp.XOR, other, self)

    def __lshift__(self, other: object) -> Term:
        return _binary(BinaryOp.SHL, self, other)

    def __rlshift__(self, other: object) -> Term:
        return _binary(BinaryOp.SHL, other, self)

    def __rshift__(self, other: object) -> Term:
        return _binary(BinaryOp.SHR, self, other)

    def __rrshift__(self, other: object) -> Term:
        return _binary(BinaryOp.SHR, other, self)

    @located
    def __pow__(self, exponent: object) -> Term:
        power = typing.power(values.operand(self.value), values.operand(value_of(exponent)))
        return Term(power)

    @located
    def __rpow__(self, base: object) -> NoReturn:
        raise LanguageError(
            "W127",
            f"the exponent of {shown(base)} is a term, not an integer constant",
            help="loop over exponents in Python, or multiply in a loop of the program",
        )

    def __neg__(self) -> Term:
        return _unary(UnaryOp.NEG, self)

    def __invert__(self) -> Term:
        return _unary(UnaryOp.INVERT, self)

    def __abs__(self) -> Term:
        return _unary(UnaryOp.ABS, self)

    @located
    def __weft_cast__(self, dtype: DType) -> Term:  # f32(x)
        return Term(values.cast(dtype, self.value))

    def __weft_apply__(self, function: Intrinsic, args: Sequence[object]) -> Term:  # weft.sqrt(x)
        return _apply(function, args)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return _compare(CompareOp.EQ, self, other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return _compare(CompareOp.NE, self, other)

    def __lt__(self, other: object) -> Condition:
        return _compare(CompareOp.LT, self, other)

    def __le__(self, other: object) -> Condition:
        return _compare(CompareOp.LE, self, other)

    def __gt__(self, other: object) -> Condition:
        return _compare(CompareOp.GT, self, other)

    def __ge__(self, other: object) -> Condition:
        return _compare(CompareOp.GE, self, other)


class Condition(Term):
    """A comparison, or several joined by ``&``, ``|`` and ``~``.

    ``cond`` is set where it depends on loop variables affinely: then it guards a statement whose
    condition it is. As a value it is a ``u1``.
    """

    __slots__ = ("cond",)

    def __init__(self, value: Value, cond: Cond | None) -> None:
        super().__init__(value)
        self.cond = cond

    @property
    def truth(self) -> Expr:
        """The condition as a ``u1``."""
        return typing.assigned(values.operand(self.value), boolean)

    def __and__(self, other: object) -> Term:
        if not isinstance(other, Condition):
            return super().__and__(other)
        parts = _parts(self.cond, And), _parts(other.cond, ())
        joined = None if parts[0] is None or parts[1] is None else And((*parts[0], *parts[1]))
        return Condition(_logical("and", self, other), joined)

    def __or__(self, other: object) -> Term:
        if not isinstance(other, Condition):
            return super().__or__(other)
        parts = _parts(self.cond, Or), _parts(other.cond, ())
        joined = None if parts[0] is None or parts[1] is None else Or((*parts[0], *parts[1]))
        return Condition(_logical("or", self, other), joined)

    def __invert__(self) -> Term:
        inverse = typing.unary(UnaryOp.NOT, values.operand(self.value))
        return Condition(inverse, None if self.cond is None else negate(self.cond))


def _parts(cond: Cond | None, flatten: type[And | Or] | tuple[()]) -> tuple[Cond, ...] | None:
    """``a & b & c`` is one conjunction of three, as ``a and b and c`` in a kernel."""
    if cond is None:
        return None
    return cond.parts if isinstance(cond, (And, Or)) and isinstance(cond, flatten) else (cond,)


class Element(Term):
    """An element of a placeholder, or a scalar: what `compute` can assign."""

    __slots__ = ("access", "array", "element")

    def __init__(self, array: Array, read: Load | Gather) -> None:
        super().__init__(read)
        self.array = array
        self.access = read.access
        self.element = read


class LoopVar(Term):
    """The variable of a loop; as a term it is usable in subscripts, bounds, conditions and data.

    ``loop`` is the loop, still without a body.
    """

    __slots__ = ("loop",)

    def __init__(self, loop: Loop) -> None:
        super().__init__(Affine.of(loop.var))
        self.loop = loop

    @property
    def name(self) -> str:
        """The variable's name."""
        return self.loop.var


class Placeholder:
    """An array of the program; ``A[i, j]`` is an element of it."""

    __slots__ = ("array",)
    __iter__ = None  # by subscripts it would end with an error of its own

    def __init__(self, array: Array) -> None:
        self.array = array

    def __repr__(self) -> str:
        return f"<weft array {self.array.name}: {self.array.type}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.array.shape

    @located
    def __getitem__(self, subscripts: object) -> Element:
        indices = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        array = self.array
        if len(indices) != len(array.shape):
            raise LanguageError(
                "W142",
                f"'{array.name}' has {len(array.shape)} dimensions, but is given "
                f"{len(indices)} subscripts",
                help=f"its type is {array.type}",
            )
        places = tuple(_subscript(i, array) for i in indices)
        found = element(array.name, array.dtype, places, caller_span())
        return Element(array, found)


def _subscript(x: object, array: Array) -> Value:
    found = value_of(x)
    return (
        found if is_subscript(found) else affine_of(x, f"the subscript of '{array.name}'", "W140")
    )


def affine_of(x: object, what: str, code: str) -> Affine:
    """A term or number as an affine expression of loop variables.

    Raises:
        LanguageError: ``code`` where it is not.
    """
    affine = values.as_affine(value_of(x))
    if affine is None:
        raise LanguageError(
            code,
            f"{what} is not affine",
            help="use sums of loop variables times constants, with // and % by positive constants",
        )
    return affine


@located
def _binary(op: BinaryOp, a: object, b: object) -> Term:
    return Term(values.binary(op, value_of(a), value_of(b)))


@located
def _unary(op: UnaryOp, a: Term) -> Term:
    return Term(values.unary(op, a.value))


@located
def _compare(op: CompareOp, a: Term, b: object) -> Condition:
    left, right = values.as_affine(a.value), values.as_affine(value_of(b))
    known = left is not None and right is not None
    cond = values.condition(op, left, right) if known else None  # type: ignore[arg-type]
    return Condition(values.compare(op, a.value, value_of(b)), cond)


@located
def _logical(op: str, a: Term, b: Term) -> Expr:
    known = "and" if op == "and" else "or"
    return typing.logical(known, values.operand(a.value), values.operand(b.value))  # type: ignore[arg-type, return-value]


@located
def _apply(intrinsic: Intrinsic, args: Sequence[object]) -> Term:
    """A function of the language on terms and numbers."""
    name = intrinsic.name
    given = tuple(value_of(a) for a in args)
    wanted = 3 if name == "select" else 1
    if name in ("grid", "stmt"):
        raise LanguageError("W112", f"weft.{name} has a meaning inside of a kernel only")
    if (name in _EXTREMA and len(given) < 2) or (name not in _EXTREMA and len(given) != wanted):
        raise LanguageError("W150", f"write {intrinsic.signature}, not {len(given)} arguments")
    if name in _EXTREMA:
        return Term(values.extremum(_EXTREMA[name], given))
    if name == "select":
        cond, then, orelse = given
        return Term(values.select(cond, then, orelse))
    return Term(values.unary(_UNARY[name], given[0]))
