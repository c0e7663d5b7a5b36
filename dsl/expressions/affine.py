"""Quasi-affine integer expressions: the currency between language, isl and MLIR.

An `Affine` is ``sum(coefficient * atom) + constant`` where an atom is a variable's name or the
floor of another `Affine` divided by a positive constant. It is kept canonical (sorted terms, no
zero coefficients), so equality is structural.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Literal, TypeVar


@dataclass(frozen=True, slots=True)
class FloorDiv:
    """``floor(numerator / denominator)``, denominator > 1."""

    numerator: Affine
    denominator: int

    def __str__(self) -> str:
        return f"({self.numerator}) // {self.denominator}"


Atom = str | FloorDiv

_DATA = "?"
Data = TypeVar("Data")


def data_index(position: int) -> Affine:
    """The subscript that stands for a value of the program (see `dsl.expressions.expr.Gather`).

    Its variable ``?0``, ``?1``, … is that of no loop: what asks for its range or its value, and
    was not told, fails.
    """
    return Affine.of(f"{_DATA}{position}")


def with_data(
    subscripts: Iterable[tuple[Affine | None, Data]],
) -> tuple[tuple[Affine, ...], tuple[Data, ...]]:
    """The subscripts of an access, and those that are values of the program, in order.

    Args:
        subscripts: each as an affine expression, None where it is none, and as a value.
    """
    indices: list[Affine] = []
    data: list[Data] = []
    for affine, value in subscripts:
        if affine is None:
            affine = data_index(len(data))
            data.append(value)
        indices.append(affine)
    return tuple(indices), tuple(data)


@dataclass(frozen=True, slots=True)
class Affine:
    """``sum(c * atom for atom, c in terms) + const`` over integers."""

    terms: tuple[tuple[Atom, int], ...] = ()
    const: int = 0

    @staticmethod
    def of(value: Affine | int | str) -> Affine:
        """Lift an integer constant or a variable's name."""
        match value:
            case Affine():
                return value
            case int():
                return Affine((), value)
            case str():
                return Affine(((value, 1),))

    @staticmethod
    def collected(terms: Mapping[Atom, int], const: int) -> Affine:
        """The expression of these terms, in its one form."""
        kept = [(atom, c) for atom, c in terms.items() if c]
        if len(kept) > 1:
            kept.sort(key=lambda t: (not isinstance(t[0], str), str(t[0])))
        return Affine(tuple(kept), const)

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.const + other)
        if not other.terms:
            return Affine(self.terms, self.const + other.const)
        terms = dict(self.terms)
        for atom, c in other.terms:
            terms[atom] = terms.get(atom, 0) + c
        return Affine.collected(terms, self.const + other.const)

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-other)

    def __rsub__(self, other: int) -> Affine:
        return -self + other

    def __mul__(self, factor: int) -> Affine:
        if factor == 0:
            return Affine()
        return Affine(tuple((a, c * factor) for a, c in self.terms), self.const * factor)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Affine:
        if divisor <= 0:
            raise ValueError("division by a positive constant only")
        if divisor == 1:
            return self
        whole = {a: c // divisor for a, c in self.terms if c % divisor == 0}
        rest = tuple((a, c) for a, c in self.terms if c % divisor)
        carry, const = divmod(self.const, divisor)
        if not rest:
            return Affine.collected(whole, carry)
        common = divisor
        for _, c in rest:
            common = gcd(common, c)
        inner = Affine(tuple((a, c // common) for a, c in rest), const // common)
        atom = _quotient(inner, divisor // common)
        whole[atom] = whole.get(atom, 0) + 1
        return Affine.collected(whole, carry)

    def __mod__(self, divisor: int) -> Affine:
        return self - (self // divisor) * divisor

    @property
    def is_const(self) -> bool:
        """No variable occurs."""
        return not self.terms

    @property
    def is_linear(self) -> bool:
        """No floor division occurs, and no value of the program."""
        return all(isinstance(atom, str) and atom[0] != _DATA for atom, _ in self.terms)

    @property
    def is_data(self) -> bool:
        """It is a value of the program, known at run time only: see `data_index`."""
        return any(isinstance(atom, str) and atom[0] == _DATA for atom, _ in self.terms)

    def coefficient(self, name: str) -> int:
        """The coefficient of a variable (outside of floor divisions)."""
        return next((c for atom, c in self.terms if atom == name), 0)

    def variables(self) -> frozenset[str]:
        """Every variable that occurs, inside of floor divisions too."""
        return frozenset(self._walk())

    def _walk(self) -> Iterator[str]:
        for atom, _ in self.terms:
            if isinstance(atom, str):
                yield atom
            else:
                yield from atom.numerator._walk()

    def substitute(self, values: Mapping[str, Affine]) -> Affine:
        """Replace variables by expressions; those not in ``values`` stay."""
        if not self.terms:
            return self
        terms: dict[Atom, int] = {}
        const = self.const
        for atom, c in self.terms:
            match atom:
                case str():
                    value = values.get(atom)
                case FloorDiv(numerator, denominator):
                    value = numerator.substitute(values) // denominator
            if value is None:
                terms[atom] = terms.get(atom, 0) + c
                continue
            const += c * value.const
            for other, factor in value.terms:
                terms[other] = terms.get(other, 0) + c * factor
        return Affine.collected(terms, const)

    def rename(self, names: Mapping[str, str]) -> Affine:
        """Rename variables."""
        return self.substitute({old: Affine.of(new) for old, new in names.items()})

    def evaluate(self, env: Mapping[str, int]) -> int:
        """The value for concrete variables; KeyError on an unbound one."""
        total = self.const
        for atom, c in self.terms:
            match atom:
                case str():
                    total += c * env[atom]
                case FloorDiv(numerator, denominator):
                    total += c * (numerator.evaluate(env) // denominator)
        return total

    def interval(self, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """A range that holds every value, both ends included; exact if each variable occurs once.

        Remainders are known as what they are: of ``a - 8 * (a // 8)`` it is at most 0 to 7.

        Args:
            ranges: That of every variable, both ends included.
        """
        low = high = self.const
        for atom, c in self.terms:
            match atom:
                case str():
                    ends = ranges[atom]
                case FloorDiv(numerator, denominator):
                    inner = numerator.interval(ranges)
                    ends = (inner[0] // denominator, inner[1] // denominator)
            low += c * ends[0 if c > 0 else 1]
            high += c * ends[1 if c > 0 else 0]
        if (part := next(self._remainders(), None)) is not None:  # others are parts of what is left
            factor, of, divisor = part
            (first, last), rest = of.interval(ranges), self - (of % divisor) * factor
            whole = first // divisor == last // divisor
            ends = (first % divisor, last % divisor) if whole else (0, divisor - 1)
            others = rest.interval(ranges)
            low = max(low, others[0] + factor * ends[0 if factor > 0 else 1])
            high = min(high, others[1] + factor * ends[1 if factor > 0 else 0])
        return low, high

    def _remainders(self) -> Iterator[tuple[int, Affine, int]]:
        """Each factor, number and divisor of which ``factor * (number % divisor)`` is part of the sum."""
        coefficients = dict(self.terms)
        for atom, c in self.terms:
            if isinstance(atom, str):
                continue
            for of, divisor in _divided(atom, coefficients):
                if c % divisor:
                    continue
                factor = -c // divisor
                parts = ((coefficients.get(other, 0), factor * more) for other, more in of.terms)
                if all(have * take > 0 and abs(have) >= abs(take) for have, take in parts):
                    yield factor, of, divisor

    def render(self, atom_text: Callable[[Atom], str]) -> str:
        """Text with each atom printed by ``atom_text`` (see ``__str__``)."""
        parts: list[str] = []
        for atom, c in self.terms:
            text = atom_text(atom)
            body = text if abs(c) == 1 else f"{abs(c)}*{text}"
            if not parts:
                parts.append(body if c > 0 else f"-{body}")
            else:
                parts.append(f"{'+' if c > 0 else '-'} {body}")
        if self.const or not parts:
            if not parts:
                return str(self.const)
            parts.append(f"{'+' if self.const > 0 else '-'} {abs(self.const)}")
        return " ".join(parts)

    def __str__(self) -> str:
        return self.render(lambda atom: atom if isinstance(atom, str) else f"({atom})")


def _divided(atom: FloorDiv, known: Collection[Atom]) -> Iterator[tuple[Affine, int]]:
    """What a quotient divides, and by how much; ``x // 32`` also divides ``x // 4``, where that is known, by 8."""
    yield atom.numerator, atom.denominator
    for other in known:
        if isinstance(other, FloorDiv) and other.numerator == atom.numerator:
            by, left = divmod(atom.denominator, other.denominator)
            if by > 1 and not left:
                yield Affine(((other, 1),)), by


def _quotient(of: Affine, divisor: int) -> FloorDiv:
    """A quotient; of a quotient (``(x // 4 + 1) // 8``) it is one of what that divides (``(x + 4) // 32``)."""
    match of.terms:
        case ((FloorDiv(numerator, denominator), 1),):
            return _quotient(numerator + of.const * denominator, divisor * denominator)
    return FloorDiv(of, divisor)


@dataclass(frozen=True, slots=True)
class Constraint:
    """``expr >= 0`` or ``expr == 0``."""

    expr: Affine
    kind: Literal[">=", "=="] = ">="

    def __str__(self) -> str:
        return f"{self.expr} {self.kind} 0"

    def holds(self, env: Mapping[str, int]) -> bool:
        """Whether it is satisfied for concrete variables."""
        value = self.expr.evaluate(env)
        return value >= 0 if self.kind == ">=" else value == 0


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold; no parts is true."""

    parts: tuple[Cond, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds; no parts is false."""

    parts: tuple[Cond, ...]


Cond = Constraint | And | Or


def negate(cond: Cond) -> Cond:
    """The condition that holds exactly where ``cond`` does not."""
    match cond:
        case Constraint(expr, ">="):
            return Constraint(-expr - 1)
        case Constraint(expr, _):
            return Or((Constraint(expr - 1), Constraint(-expr - 1)))
        case And(parts):
            return Or(tuple(negate(p) for p in parts))
        case Or(parts):
            return And(tuple(negate(p) for p in parts))


def map_cond(cond: Cond, new: Callable[[Affine], Affine]) -> Cond:
    """The condition with each of its expressions replaced."""
    match cond:
        case Constraint(expr, kind):
            return Constraint(new(expr), kind)
        case And(parts):
            return And(tuple(map_cond(p, new) for p in parts))
        case Or(parts):
            return Or(tuple(map_cond(p, new) for p in parts))


def cond_holds(cond: Cond, env: Mapping[str, int]) -> bool:
    """Evaluate a condition for concrete variables."""
    match cond:
        case Constraint():
            return cond.holds(env)
        case And(parts):
            return all(cond_holds(p, env) for p in parts)
        case Or(parts):
            return any(cond_holds(p, env) for p in parts)


def cond_variables(cond: Cond) -> frozenset[str]:
    """Every variable that occurs in a condition."""
    match cond:
        case Constraint(expr, _):
            return expr.variables()
        case And(parts) | Or(parts):
            return frozenset().union(*(cond_variables(p) for p in parts))
