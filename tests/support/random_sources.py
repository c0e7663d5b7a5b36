"""Random expressions as text that is Python as well: what Python computes of it is what it means.

Python's integers and fractions never overflow, so that `exact_value` knows nothing of types but in
conversions and in the assignment at the end. Left out is ``~`` of unsigned numbers and comparisons,
which keeps their width, and what is refused: shifts by variables of which all bits would matter.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace

from dsl.expressions.numeric import convert, wrap
from dsl.expressions.types import FixedType, IntType, int_type_named

INPUTS: Mapping[str, IntType | FixedType] = {
    "a": IntType(8, False),
    "b": IntType(8),
    "c": IntType(1, False),
    "d": IntType(33),
    "e": IntType(64, False),
    "f": FixedType(12, 5),
    "g": FixedType(7, 9, False),
}
TARGETS = (IntType(32), IntType(64), IntType(8, False), IntType(20), FixedType(40, 24))
LENGTH = 6
_LITERALS = (0, 1, 2, 3, 7, 10, 255, -1, -2, -128, 300, 2**31, -(2**31), 2**32 + 1, 2**63, -(2**40))
_CASTS = ("i8", "u8", "i16", "u3", "i32", "i64", "u64", "i70")


@dataclass(slots=True)
class SourceMaker:
    """Writes expressions of ``a[i]`` to ``g[i]``, ``i`` and literals."""

    rng: random.Random

    def number(self, depth: int) -> str:
        """An integer."""
        rng = self.rng
        if depth == 0:
            return self._leaf()
        kind = rng.choices(
            ("sum", "bits", "divide", "shift", "pick", "sign", "choice", "truth", "cast", "power"),
            (30, 10, 12, 20, 10, 8, 10, 12, 8, 3),
        )[0]
        match kind:
            case "sum":
                return self._infix(("+", "-", "*"), depth)
            case "bits":
                return self._infix(("&", "|", "^"), depth)
            case "divide":
                divisor = rng.choice(("3", "7", "-5", "16", "(b[i] | 1)", "(d[i] * 2 + 1)"))
                return f"({self.number(depth - 1)} {rng.choice(('//', '%'))} {divisor})"
            case "shift":
                return self._shift(depth)
            case "pick":
                a, b = self.number(depth - 1), self.number(depth - 1)
                return f"{rng.choice(('min', 'max'))}({a}, {b})"
            case "sign":
                x = self.number(depth - 1)
                return rng.choice((f"(-{x})", f"abs({x})", f"(~weft.i70({x}))"))
            case "choice":
                a, b = self.number(depth - 1), self.number(depth - 1)
                return f"({a} if {self.truth(depth - 1)} else {b})"
            case "truth":
                return self.truth(depth - 1)
            case "cast":
                inner = self.fixed(depth - 1) if rng.random() < 0.3 else self.number(depth - 1)
                return f"weft.{rng.choice(_CASTS)}({inner})"
            case _:
                return f"({self._small(depth)} ** {rng.choice((0, 1, 2, 3))})"

    def fixed(self, depth: int) -> str:
        """Fixed point, without a division, which is not exact."""
        rng = self.rng
        if depth == 0:
            return rng.choice(("f[i]", "g[i]", "f[i]", "(f[i] * 0.375)", "(g[i] - 2.5)"))
        if rng.random() < 0.2:
            return f"({self.fixed(depth - 1)} if {self.truth(depth - 1)} else {self._small(depth)})"
        if rng.random() < 0.3:
            pick = rng.choice(("min", "max"))
            return f"{pick}({self.fixed(depth - 1)}, {self._small(depth)})"
        op, other = rng.choice("+-*"), rng.choice((self._small(depth), self.fixed(depth - 1)))
        return f"({self.fixed(depth - 1)} {op} {other})"

    def truth(self, depth: int) -> str:
        """A comparison, or several."""
        rng = self.rng
        if depth > 0 and rng.random() < 0.25:
            a, b = self.truth(depth - 1), self.truth(depth - 1)
            return rng.choice((f"({a} and {b})", f"({a} or {b})", f"(not {a})", f"({a} ^ {b})"))
        values = [
            self.fixed(max(depth - 1, 0)) if rng.random() < 0.3 else self.number(max(depth - 1, 0))
            for _ in range(2)
        ]
        return f"({values[0]} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {values[1]})"

    def _infix(self, ops: Sequence[str], depth: int) -> str:
        return f"({self.number(depth - 1)} {self.rng.choice(ops)} {self.number(depth - 1)})"

    def _small(self, depth: int) -> str:
        rng = self.rng
        return rng.choice(("a[i]", "b[i]", "c[i]", "i", "3", "-2", self.truth(max(depth - 2, 0))))

    def _shift(self, depth: int) -> str:
        rng = self.rng
        x = self.number(depth - 1)
        if rng.random() < 0.3:
            return f"({x} >> {rng.choice(('1', '3', '40', '100', 'i', 'a[i]', 'c[i]'))})"
        if rng.random() < 0.6:
            x = rng.choice((x, "1", "3", "-1", "True", self.truth(max(depth - 1, 0))))
            amount = rng.choice(("1", "4", "8", "31", "i", "(7 - i)", "c[i]", "(a[i] % 16)"))
            return f"({x} << {amount})"
        op, other = rng.choice("+-*&|^"), self.number(depth - 1)
        low = rng.choice(
            (f"({x} << a[i])", f"((1 << a[i]) {op} {other})", f"(-{x} << (a[i] & 127))")
        )
        return f"weft.{rng.choice(_CASTS)}({low})"

    def _leaf(self) -> str:
        rng = self.rng
        if rng.random() < 0.25:
            return str(rng.choice(_LITERALS)) if rng.random() < 0.9 else "True"
        index = "weft.i32(i - 3)"  # without the conversion it is affine, and must fit an i32
        return rng.choice(("a[i]", "b[i]", "c[i]", "d[i]", "e[i]", index, "a[i]", "b[i]"))


def kernel_text(expressions: Sequence[tuple[str, IntType | FixedType]]) -> str:
    """A kernel ``k`` that computes each expression into an array of its type, ``y0``, ``y1``, …"""
    arguments = [f"{n}: {_shown(t)}[{LENGTH}]" for n, t in INPUTS.items()]
    arguments += [f"y{k}: {_shown(t)}[{LENGTH}]" for k, (_, t) in enumerate(expressions)]
    lines = [f"        y{k}[i] = {text}" for k, (text, _) in enumerate(expressions)]
    body = "\n".join(lines)
    return (
        "import weft\n\n\n@weft.kernel\n"
        f"def k({', '.join(arguments)}):\n    for i in range({LENGTH}):\n{body}\n"
    )


def _shown(dtype: IntType | FixedType) -> str:
    return f"weft.{dtype}"


def exact_value(
    text: str, target: IntType | FixedType, raws: Mapping[str, Sequence[int]], i: int
) -> int:
    """The raw that an expression stores in an element of that type: Python's value, converted."""
    names: dict[str, object] = {"i": i, "weft": _Conversions(), "min": _least, "max": _most}
    for name, dtype in INPUTS.items():
        frac = dtype.frac if isinstance(dtype, FixedType) else 0
        values = [Fraction(r) / Fraction(2) ** frac for r in raws[name]]
        names[name] = values if isinstance(dtype, FixedType) else [int(v) for v in values]
    value = Fraction(eval(text, names))
    frac = value.denominator.bit_length() - 1
    return convert(value.numerator, frac, target)


class _Conversions(SimpleNamespace):
    """``weft.i8`` and the like, on Python's numbers."""

    def __getattr__(self, name: str) -> object:
        dtype = int_type_named(name)
        assert dtype is not None
        return lambda x: wrap(int(x), dtype.width, dtype.signed)


def _least(a: Fraction, b: Fraction) -> Fraction:
    return b if b < a else a


def _most(a: Fraction, b: Fraction) -> Fraction:
    return b if b > a else a
