"""Affine index expressions: simplified by ranges, printed as C++.

Remainders stay remainders (`dsl.expressions.affine` writes them out), and terms keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import gcd
from typing import Literal

from mlir_passes.emit.cpp import Cpp, call, infix, name, negative_literal, prefix


@dataclass(frozen=True, slots=True)
class Part:
    """``floor(of / by)`` or ``of mod by``, by > 1."""

    kind: Literal["/", "%"]
    of: Lin
    by: int


_LONG = 2**31  # a number that an ``int`` cannot hold, whatever its sign
_EFFORT = 400  # expressions looked into in one scope, before only constant bounds count

Atom = str | Part


@dataclass(frozen=True, slots=True)
class Lin:
    """``sum(coefficient * atom) + const``; an atom is a C++ variable or a `Part`."""

    terms: tuple[tuple[Atom, int], ...] = ()
    const: int = 0

    @staticmethod
    def of(atom: Atom) -> Lin:
        """One variable."""
        return Lin(((atom, 1),))

    def __add__(self, other: Lin | int) -> Lin:
        if isinstance(other, int):
            return Lin(self.terms, self.const + other)
        if not other.terms or not self.terms:
            return Lin(self.terms or other.terms, self.const + other.const)
        terms = dict(self.terms)
        for atom, c in other.terms:
            terms[atom] = terms.get(atom, 0) + c
        return Lin(tuple((a, c) for a, c in terms.items() if c), self.const + other.const)

    def __mul__(self, factor: int) -> Lin:
        if factor == 0:
            return Lin()
        return Lin(tuple((a, c * factor) for a, c in self.terms), self.const * factor)

    def __sub__(self, other: Lin) -> Lin:
        return self + other * -1


@dataclass(frozen=True, slots=True)
class Bounds:
    """A loop variable is at least each of ``lowers`` and at most each of ``uppers``."""

    lowers: tuple[Lin, ...]
    uppers: tuple[Lin, ...]
    low: int | None
    high: int | None
    depth: int
    step: int = 1

    @property
    def is_long(self) -> bool:
        """The variable, counted on by its step, does not fit an ``int``."""
        above = self.high is not None and self.high + self.step >= _LONG
        return above or (self.low is not None and self.low <= -_LONG)

    @property
    def is_box(self) -> bool:
        """The constant bounds say all that is known."""
        return all(not b.terms for b in (*self.lowers, *self.uppers))


@dataclass(slots=True)
class Ranges:
    """What is known of the variables in scope; `helpers` collects the C++ helpers used."""

    bounds: dict[str, Bounds] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)
    known: dict[Lin, int | None] = field(default_factory=dict)  # what `least` found out

    def enter(
        self, var: str, lowers: tuple[Lin, ...], uppers: tuple[Lin, ...], step: int = 1
    ) -> None:
        """A variable that runs from the largest of ``lowers`` to the smallest of ``uppers``."""
        lows = [b for b in map(self.least, lowers) if b is not None]
        highs = [b for b in map(self.greatest, uppers) if b is not None]
        self.bounds[var] = Bounds(
            lowers,
            uppers,
            max(lows, default=None),
            min(highs, default=None),
            len(self.bounds),
            step,
        )
        self.known.clear()

    def leave(self, var: str) -> None:
        """The variable goes out of scope."""
        del self.bounds[var]
        self.known.clear()

    def assume(self, constraints: Sequence[tuple[Lin, bool]]) -> dict[str, Bounds]:
        """Constraints hold from now on (``e >= 0``, or ``e == 0`` where True); what to restore."""
        before = dict(self.bounds)
        for e, is_equality in constraints:
            self._assume_positive(e)
            if is_equality:
                self._assume_positive(e * -1)
        return before

    def forget(self, before: dict[str, Bounds]) -> None:
        """Leave the scope of what was assumed."""
        self.bounds = before
        self.known.clear()

    def _assume_positive(self, e: Lin) -> None:
        variables = [(a, c) for a, c in e.terms if isinstance(a, str) and a in self.bounds]
        if not variables or len(variables) < len(e.terms):
            return
        var, c = max(variables, key=lambda t: self.bounds[t[0]].depth)
        rest = e + Lin.of(var) * -c
        if abs(c) != 1 and rest.terms:
            return
        old = self.bounds[var]
        lowers, uppers = old.lowers, old.uppers
        if c > 0:  # c * var >= -rest
            lowers = (*lowers, rest * -1 if c == 1 else Lin((), -(rest.const // c)))
        else:
            uppers = (*uppers, rest if c == -1 else Lin((), rest.const // -c))
        depth, old_order = old.depth, list(self.bounds)
        self.enter(var, lowers, uppers, old.step)
        self.bounds[var] = replace(self.bounds[var], depth=depth)
        self.bounds = {v: self.bounds[v] for v in old_order}

    # ---------------------------------------------------------------------------- extremes

    def least(self, e: Lin) -> int | None:
        """A lower bound of the expression over the iterations, None if none is known."""
        if not e.terms:
            return e.const
        shape = Lin(e.terms)
        if shape not in self.known:
            self.known[shape] = self._least(shape)
        found = self.known[shape]
        return None if found is None else found + e.const

    def _least(self, e: Lin) -> int | None:
        """By constant bounds, or better by those of the innermost variable, put in its place."""
        best = self._box_least(e)
        inner = self._innermost(e)
        if inner is None or len(self.known) > _EFFORT:
            return best
        var, c = inner
        bounds = self.bounds[var]
        for candidate in bounds.lowers if c > 0 else bounds.uppers:
            found = self.least(e + Lin.of(var) * -c + candidate * c)
            if found is not None and (best is None or found > best):
                best = found
        return best

    def greatest(self, e: Lin) -> int | None:
        """An upper bound of the expression over the iterations, None if none is known."""
        found = self.least(e * -1)
        return None if found is None else -found

    def _box_least(self, e: Lin) -> int | None:
        total = e.const
        for atom, c in e.terms:
            low, high = self._atom_range(atom)
            bound = low if c > 0 else high
            if bound is None:
                return None
            total += c * bound
        return total

    def _innermost(self, e: Lin) -> tuple[str, int] | None:
        """The deepest variable whose bounds depend on others."""
        found: tuple[str, int] | None = None
        depth = -1
        for atom, c in e.terms:
            if isinstance(atom, Part):
                continue
            bounds = self.bounds.get(atom)
            if bounds is not None and bounds.depth > depth and not bounds.is_box:
                found, depth = (atom, c), bounds.depth
        return found

    def _atom_range(self, atom: Atom) -> tuple[int | None, int | None]:
        if isinstance(atom, str):
            bounds = self.bounds.get(atom)
            return (bounds.low, bounds.high) if bounds else (None, None)
        low, high = self.least(atom.of), self.greatest(atom.of)
        if atom.kind == "%":
            return 0, atom.by - 1
        return (
            None if low is None else low // atom.by,
            None if high is None else high // atom.by,
        )

    # ------------------------------------------------------------------------ simplification

    def quotient(self, e: Lin, by: int) -> Lin:
        """``floor(e / by)``."""
        whole, rest = self._split(e, by)
        common = gcd(by, *(c for _, c in rest.terms)) if rest.terms else by
        if common > 1:
            rest = Lin(tuple((a, c // common) for a, c in rest.terms), rest.const // common)
            by //= common
        low, high = self.least(rest), self.greatest(rest)
        if low is not None and high is not None and low // by == high // by:
            return whole + low // by
        return whole + Lin.of(Part("/", rest, by))

    def remainder(self, e: Lin, by: int) -> Lin:
        """``e mod by``, never negative."""
        rest = self._split(e, by)[1]
        low, high = self.least(rest), self.greatest(rest)
        if low is not None and high is not None and low // by == high // by:
            return rest + -(low // by) * by
        return Lin.of(Part("%", rest, by)) if by > 1 else Lin()

    def _split(self, e: Lin, by: int) -> tuple[Lin, Lin]:
        """``e == by * whole + rest``, all multiples of ``by`` in ``whole``."""
        whole = tuple((a, c // by) for a, c in e.terms if c % by == 0)
        rest = tuple((a, c) for a, c in e.terms if c % by)
        if -by < e.const < 0:  # i - 1 stays that if it is not negative
            least = self.least(Lin(rest, e.const))
            if least is not None and least >= 0:
                return Lin(whole), Lin(rest, e.const)
        return Lin(whole, e.const // by), Lin(rest, e.const % by)

    def extremes_only(self, exprs: Sequence[Lin], largest: bool) -> list[Lin]:
        """The expressions without those that cannot be the largest (or the smallest)."""
        kept: list[Lin] = []
        for e in dict.fromkeys(exprs):
            if any(self._dominates(other, e, largest) for other in kept):
                continue
            kept = [other for other in kept if not self._dominates(e, other, largest)]
            kept.append(e)
        return kept

    def _dominates(self, a: Lin, b: Lin, largest: bool) -> bool:
        least = self.least(a - b if largest else b - a)
        return least is not None and least >= 0

    # --------------------------------------------------------------------------------- C++

    def cpp(self, e: Lin) -> Cpp:
        """The expression in C++ ``int`` arithmetic, in ``long long`` where a part of it may be too large; a
        positive term stands first.
        """
        terms = list(e.terms)
        long = self._overflows(e)
        lead = next((n for n, (_, c) in enumerate(terms) if c > 0), None)
        if lead is not None:
            terms.insert(0, terms.pop(lead))
            result = self._term(*terms.pop(0), long, first=True)
        elif e.const > 0 or not terms:
            result, e = literal(e.const, long), Lin(e.terms)
        else:
            atom, c = terms.pop(0)
            result = prefix("-", self._term(atom, -c, long, first=True))
        for atom, c in terms:
            result = infix("+" if c > 0 else "-", result, self._term(atom, abs(c), long))
        if e.const:
            result = infix("+" if e.const > 0 else "-", result, literal(abs(e.const)))
        return result

    def _term(self, atom: Atom, c: int, long: bool, *, first: bool = False) -> Cpp:
        text = name(atom) if isinstance(atom, str) else self._part(atom)
        if c == 1 and not (long and first and not self._is_long(atom)):
            return text
        return infix("*", literal(c, long), text)

    def _overflows(self, e: Lin) -> bool:
        """A product or a sum on the way to the value may not fit an ``int``."""
        if not e.terms:
            return False
        total = abs(e.const)
        for atom, c in e.terms:
            ends = self._atom_range(atom)
            total += abs(c) * max((abs(end) for end in ends if end is not None), default=0)
        return total >= _LONG

    def _is_long(self, atom: Atom) -> bool:
        """A variable, or a part, is a ``long long`` in C++."""
        if isinstance(atom, Part):
            return self.is_long(atom.of)
        bounds = self.bounds.get(atom)
        return bounds is not None and bounds.is_long

    def is_long(self, e: Lin) -> bool:
        """`cpp` gives a ``long long``."""
        if not e.terms:
            return abs(e.const) >= _LONG
        return self._overflows(e) or any(self._is_long(atom) for atom, _ in e.terms)

    def _part(self, part: Part) -> Cpp:
        low = self.least(part.of)
        of, by = self.cpp(part.of), literal(part.by)
        if low is not None and low >= 0:
            return infix(part.kind, of, by)
        self.helpers.add("weft_math.h")
        return call("weft::floor_div" if part.kind == "/" else "weft::floor_mod", of, by)

    def extreme(self, exprs: Sequence[Lin], largest: bool) -> Cpp:
        """The largest (or smallest) of the expressions."""
        kept = self.extremes_only(exprs, largest)
        result = self.cpp(kept[-1])
        function = "std::max" if largest else "std::min"
        if len({self.is_long(e) for e in kept}) > 1:
            function += "<long long>"
        for e in reversed(kept[:-1]):
            self.helpers.add("<algorithm>")
            result = call(function, self.cpp(e), result)
        return result

    def condition(self, e: Lin, is_equality: bool) -> Cpp | bool:
        """``e >= 0`` or ``e == 0``: a truth value where the ranges decide it."""
        low, high = self.least(e), self.greatest(e)
        if (low is not None and low > 0 and is_equality) or (high is not None and high < 0):
            return False
        if low is not None and low >= 0 and (not is_equality or high == 0):
            return True
        return self._equality(e) if is_equality else self._inequality(e)

    def _equality(self, e: Lin) -> Cpp:
        part = e.terms[0][0] if len(e.terms) == 1 and not e.const else None
        if isinstance(part, Part) and part.kind == "%":  # divisibility: the sign does not matter
            return infix("==", infix("%", self.cpp(part.of), literal(part.by)), literal(0))
        left, right = _sides(e)
        if not left.terms:
            left, right = right, left
        return infix("==", self.cpp(left), self.cpp(right))

    def _inequality(self, e: Lin) -> Cpp:
        left = Lin(tuple((a, c) for a, c in e.terms if c > 0))
        right = Lin(tuple((a, -c) for a, c in e.terms if c < 0))
        if not left.terms:
            below = e.const + 1 if e.const else 0
            return infix("<" if e.const else "<=", self.cpp(right), literal(below))
        if not right.terms or e.const >= 0:
            return infix(">=", self.cpp(left), self.cpp(right + -e.const))
        return infix(">", self.cpp(left), self.cpp(right + (-e.const - 1)))


def literal(value: int, long: bool = False) -> Cpp:
    """A C++ ``int`` literal (``long long`` where it must be, or is to be)."""
    text = f"{abs(value)}LL" if long or abs(value) >= _LONG else str(abs(value))
    return negative_literal(text) if value < 0 else name(text)


def _sides(e: Lin) -> tuple[Lin, Lin]:
    left = Lin(tuple((a, c) for a, c in e.terms if c > 0))
    right = Lin(tuple((a, -c) for a, c in e.terms if c < 0))
    return (left, right + -e.const) if left.terms else (left + e.const, right)
