"""What is known of the loop variables where a block stands: simpler expressions and guards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd

from backends.rtl.front.values.val import Guard
from backends.rtl.graph import Counter
from dsl.expressions.affine import Affine, Constraint, FloorDiv
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.extremes import Scope as Loops
from polyhedral.looptree.extremes import minimum

Env = Mapping[str, Affine]
"""Loop variables of the module as expressions of those of the graph."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The loops around, outermost first, and the interval of each variable.

    ``box`` are the variables with constant bounds: expressions of them alone take both ends.
    """

    counters: tuple[Counter, ...] = ()
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    loops: Loops = field(default_factory=Loops)
    box: frozenset[str] = frozenset()

    def inside(self, counter: Counter) -> Scope | None:
        """The scope of the loop's body; None if that never runs."""
        low = max(self.low(e) for e in counter.lowers)
        high = min(self.high(e) for e in counter.uppers) - 1
        if high < low:
            return None
        if all(e.is_const for e in counter.lowers):
            high = low + (high - low) // counter.step * counter.step
        loops = self.loops.inside(counter.iv, Bounds(counter.lowers, counter.uppers, counter.step))
        ranges = {**self.ranges, counter.iv: (low, high)}
        box = self.box if counter.trips is None else self.box | {counter.iv}
        return Scope((*self.counters, counter), ranges, loops, box)

    def low(self, expr: Affine) -> int:
        """No value is below."""
        if expr.is_const:
            return expr.const
        plain = expr.interval(self.ranges)[0]
        if all(atom in self.box for atom, _ in expr.terms):
            return plain
        found = minimum(expr, self.loops)
        return plain if found is None else max(plain, found)

    def high(self, expr: Affine) -> int:
        """No value is above."""
        return -self.low(-expr)

    def simplified(self, expr: Affine) -> Affine:
        """The same with floor divisions that are constant here replaced."""
        if all(isinstance(atom, str) for atom, _ in expr.terms):
            return expr  # one that is data among them
        result = Affine((), expr.const)
        for atom, c in expr.terms:
            if isinstance(atom, FloorDiv):
                inner = self.simplified(atom.numerator)
                low, high = self.low(inner), self.high(inner)
                if low // atom.denominator == high // atom.denominator:
                    result = result + (low // atom.denominator) * c
                else:
                    result = result + (inner // atom.denominator) * c
            else:
                result = result + Affine(((atom, c),))
        return result

    def guard(self, constraints: Iterable[Constraint]) -> Guard | None:
        """Those that do not always hold, each once; None if one never does."""
        kept: dict[Constraint, None] = {}
        for c in constraints:
            expr = self.simplified(c.expr)
            low, high = self.low(expr), self.high(expr)
            if high < 0 or (c.kind == "==" and (low > 0 or not _divides(expr))):
                return None
            if c.kind == "==" and low < 0 and high == 0:
                kept[Constraint(expr)] = None
            elif c.kind == "==" and low == 0 and high > 0:
                kept[Constraint(-expr)] = None
            elif (c.kind == "==" and (low, high) != (0, 0)) or (c.kind == ">=" and low < 0):
                kept[Constraint(expr, c.kind)] = None
        guard = tuple(sorted(kept, key=str))
        return None if any(excludes(a, b) for a in guard for b in guard) else guard

    def distinct(self, a: tuple[Affine, ...], b: tuple[Affine, ...]) -> bool:
        """Two subscripts never name the same element in one iteration."""
        for x, y in zip(a, b, strict=True):
            if x.is_data or y.is_data:
                continue  # it may be any
            difference = x - y
            if difference.is_const:
                if difference.const:
                    return True
            elif not _divides(difference) or self.low(difference) > 0 or self.high(difference) < 0:
                return True
        return False


def _divides(expr: Affine) -> bool:
    """The coefficients' common divisor divides the constant: the expression may be 0."""
    common = 0
    for _, c in expr.terms:
        common = gcd(common, c)
    return expr.const % common == 0 if common else expr.const == 0


def implies(a: Guard, b: Guard) -> bool:
    """Wherever ``a`` holds ``b`` does; False if unknown."""
    return all(any(_stronger(x, y) for x in a) for y in b)


def _stronger(a: Constraint, b: Constraint) -> bool:
    if a == b:
        return True
    if b.kind == "==":
        return False
    if a.expr.terms == b.expr.terms:
        return a.expr.const <= b.expr.const
    return a.kind == "==" and (-a.expr).terms == b.expr.terms and -a.expr.const <= b.expr.const


def excludes(a: Constraint, b: Constraint) -> bool:
    """Both never hold together; False if unknown."""
    if (-a.expr).terms == b.expr.terms:  # a: E + p, b: -E + q
        total = a.expr.const + b.expr.const
        return total != 0 if a.kind == b.kind == "==" else total < 0
    if a.expr.terms != b.expr.terms:
        return False
    if a.kind == b.kind == "==":
        return a.expr.const != b.expr.const
    if a.kind == "==":
        return b.expr.const < a.expr.const
    return b.kind == "==" and a.expr.const < b.expr.const


def contradict(a: Guard, b: Guard) -> bool:
    """Both never hold together; False if unknown."""
    return any(excludes(x, y) for x in a for y in b)
