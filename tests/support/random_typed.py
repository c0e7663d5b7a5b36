"""Random kernels of many types, as text: odd widths, fixed point of all modes, floats, conditions, casts, tables.

`tests.support.typed_python` executes them as Python. Expressions keep to one family of numbers (exact ones, or one
type of floats), as each has its own type in a choice; what C++ leaves undefined is left out.
"""

from __future__ import annotations

import random

import numpy as np

from dsl.expressions.types import FloatType, IntType
from tests.support.typed_python import Typed, TypedArray, from_raw

INTS = ("i5", "u7", "i8", "u12", "i13", "i16", "u21", "i32", "u33")
QUANTS = ("trn", "trn_zero", "rnd", "rnd_zero", "rnd_inf", "rnd_min_inf", "rnd_conv")
OVERFLOWS = ("wrap", "wrap", "sat", "sat_zero", "sat_sym")
FLOATS = ("f16", "f32", "f32", "f64")
_ALL = (*INTS, "u1", "u2", "u3", "u4", "u8", "i3", "u16", "i24", "i40", *FLOATS)

ROM = [(11 * n * n + 5) % 199 - 90 for n in range(80)]
WAVE = np.array([0.25 * ((7 * n) % 13) - 1.5 for n in range(70)], np.float32)
TAPS = [3, -7, 20, 5]
HEAD = f"""\
import numpy as np
import weft
from weft import *
from weft import {", ".join(sorted(set(_ALL)))}

ROM = {ROM}
WAVE = np.array({WAVE.tolist()}, np.float32)
TAPS = {TAPS}

"""


def _space() -> dict[str, object]:
    types = {
        n: Typed(FloatType(n) if n[0] == "f" else IntType(int(n[1:]), n[0] == "i"))  # type: ignore[arg-type]
        for n in _ALL
    }
    wave = from_raw(WAVE, FloatType("f32"))
    assert isinstance(wave, TypedArray)
    return {**types, "ROM": ROM, "WAVE": wave, "TAPS": TAPS}


SPACE = _space()


class TypedWriter:
    """Writes the body of a kernel ``k``; ``arguments`` are its types by name."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(f"typed/{seed}")
        r = self._rng
        self._float = r.choice(FLOATS)
        self.arguments = {
            "a": r.choice(INTS), "b": r.choice(INTS), "c": self._fixed(), "d": self._fixed(unsigned=True),
            "e": self._float, "m": r.choice((*INTS, self._fixed())), "yi": r.choice(INTS), "yf": self._fixed(),
            "yr": self._float, "count": "u8",
        }  # fmt: skip
        self._lines: list[str] = []
        self._loops: list[str] = []
        self._ints = ["n1"]
        self._fixeds = ["p1"]
        self._reals = ["r1"]
        self._made = 0

    def body(self) -> str:
        """The text of the kernel, which Python can execute."""
        shapes = {"m": "[3, 4]", "count": "[16]"}
        arguments = ", ".join(f"{n}: {t}{shapes.get(n, '[8]')}" for n, t in self.arguments.items())
        self._line(1, f"n1: {self._rng.choice(INTS)} = {self._rng.choice(('0', '3', 'a[2]'))}")
        self._line(1, f"p1: {self._fixed()} = {self._rng.choice(('0', 'c[1]', '1.5'))}")
        self._line(1, f"r1: {self._float} = {self._rng.choice(('0.0', 'e[1]', '0.5'))}")
        self._line(1, f"t: {self._fixed()}[4] = 0")
        self._line(1, f"u: {self._rng.choice(INTS)}[8] = 1")
        self._block(1, self._rng.randint(3, 6), in_loop=False)
        self._line(1, "yi[7] = n1")
        self._line(1, "yf[7] = p1 + t[2]")
        self._line(1, "yr[7] = r1")
        self._line(1, "yi[6] ^= u[3]")
        lines = "\n".join(self._lines)
        return f"half = lambda v: v * 0.5\n\ndef clipped(v, low=-3, high=9):\n    return min(max(v, low), high)\n\n@weft.kernel\ndef k({arguments}):\n{lines}\n"

    def text(self) -> str:
        """The module."""
        return HEAD + self.body()

    def _fixed(self, *, unsigned: bool = False) -> str:
        r = self._rng
        width = r.choice((4, 6, 9, 12, 16, 18, 24, 31))
        whole = r.randint(1, width) if r.random() < 0.8 else r.randint(-2, width + 3)
        modes = f', "{r.choice(QUANTS)}", "{r.choice(OVERFLOWS)}"' if r.random() < 0.6 else ""
        return f"{'u' if unsigned or r.random() < 0.2 else ''}fixed[{width}, {whole}{modes}]"

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _pick(self, *choices: str) -> str:
        return self._rng.choice(choices)

    # -------------------------------------------------------------------------------- statements

    def _block(self, depth: int, count: int, *, in_loop: bool) -> None:
        for _ in range(count):
            kind = self._rng.random()
            if kind < 0.3 and len(self._loops) < 2:
                self._loop(depth)
            elif kind < 0.5 and depth < 5:
                self._if(depth, in_loop=in_loop)
            elif kind < 0.55 and depth < 4:
                self._while(depth)
            else:
                self._line(depth, self._plain())

    def _loop(self, depth: int) -> None:
        self._made += 1
        i = f"k{self._made}"
        self._line(
            depth,
            self._pick(
                f"for {i} in range(8):", f"for {i} in range(1, 7):", f"for {i} in range(7, -1, -2):"
            ),
        )
        self._loops.append(i)
        self._block(depth + 1, self._rng.randint(1, 3), in_loop=True)
        self._loops.pop()

    def _if(self, depth: int, *, in_loop: bool) -> None:
        self._line(depth, f"if {self._condition()}:")
        if in_loop and self._rng.random() < 0.2:
            self._line(depth + 1, self._plain())
            self._line(depth + 1, self._pick("break", "continue"))
        else:
            self._block(depth + 1, self._rng.randint(1, 2), in_loop=in_loop)
        if self._rng.random() < 0.4:
            self._line(depth, self._pick("else:", f"elif {self._condition()}:"))
            self._block(depth + 1, 1, in_loop=in_loop)

    def _while(self, depth: int) -> None:
        self._made += 1
        n = f"w{self._made}"
        self._line(depth, f"{n}: u8 = {self._int(1)}")
        self._line(depth, f"while {n} {self._pick('> 0', '!= 0')}:")
        self._line(depth + 1, self._plain())
        self._line(depth + 1, f"{n} {self._pick('>>= 1', '//= 2', '>>= 2')}")

    def _plain(self) -> str:
        i = self._index()
        kind = self._rng.randint(0, 11)
        match kind:
            case 0 | 1:
                return f"{self._pick(f'yi[{i}]', f'u[{i}]', 'n1')} {self._pick('=', '=', '+=', '-=', '*=', '^=')} {self._int(2)}"
            case 2 | 3 | 4:
                return f"{self._pick(f'yf[{i}]', f't[{self._index()} & 3]', 'p1')} {self._pick('=', '=', '+=', '-=', '*=')} {self._fx(2)}"
            case 5 | 6:
                return f"{self._pick(f'yr[{i}]', 'r1')} {self._pick('=', '=', '+=', '-=', '*=')} {self._real(2)}"
            case 7:
                return (
                    f"count[{self._int(1)} & 15] {self._pick('+= 1', '= ' + self._int(1), '^= 3')}"
                )
            case 8:
                return f"{self._pick(f'yi[{i}]', 'n1')} = {self._fx(1)}"
            case 9:
                return self._whole()
            case 10:
                return f"if {self._condition()}: {self._pick('n1', f'yi[{i}]')} = {self._int(1)}"
            case _:
                return f"yr[{i}] = {self._int(1)}"

    def _whole(self) -> str:
        return self._pick(
            f"yf[:] = {self._pick('c', 'd', 'a')} {self._pick('+', '-', '*')} {self._pick('c', 'd', 'p1', 'b')}",
            f"yf[1:] = {self._pick('yf[:-1]', 'c[1:] * d[:-1]', 'd[1:] - c[:7]')}",
            f"yi[:] = {self._pick('np.maximum(a, b)', 'np.where(c > d, a, b)', 'np.where(e > 0.5, a, u)', 'abs(a) - b', 'np.minimum(u, a) * b')}",
            f"yi[yi {self._pick('> 9', '< 0', '== 1')}] = {self._pick('9', 'b[1]', '2')}",
            f"yf[c {self._pick('> 1', '<= d')}] = {self._pick('0.5', 'p1', '1')}",
            f"yr[:] = {self._pick('e * e', 'e + r1', 'e * 0.5 - yr', '-e')}",
            f"n1 = {self._pick('a.sum()', '(a @ b)', '(a * b).sum()', 'm.sum()' if self.arguments['m'][0] in 'iu' and 'fixed' not in self.arguments['m'] else 'b.max()')}",
            f"p1 = {self._pick('c.sum()', '(c @ d)', 'np.max(c)', 'd.min()', '(c * a).sum()')}",
            f"r1 = {self._pick('e.sum()', '(e @ e)', 'e.max()')}",
            f"yi {self._pick('+=', '^=')} a",
            f"yf += {self._pick('c', 'd', 'a')}",
            "t[:] = m[1] * 2",
        )

    # ------------------------------------------------------------------------------- expressions

    def _index(self) -> str:
        return self._pick(
            str(self._rng.randint(0, 7)),
            *self._loops,
            *self._loops,
            *(f"7 - {i}" for i in self._loops),
        )

    def _at(self) -> str:
        return self._pick(self._index(), self._index(), "b[1] & 7", "n1 & 7")

    def _int(self, depth: int) -> str:
        """An integer."""
        if depth == 0:
            return self._pick(
                f"a[{self._at()}]", f"b[{self._at()}]", f"u[{self._index()}]", "n1", str(self._rng.randint(-9, 40)),
                f"count[{self._index()}]", *self._loops, "TAPS[n1 & 3]",
            )  # fmt: skip
        p, q = self._int(depth - 1), self._int(depth - 1)
        return self._pick(
            f"({p} {self._pick('+', '-', '*')} {q})",
            f"({p} {self._pick('+', '-', '*')} {q})",
            f"({p} {self._pick('&', '|', '^')} {q})",
            f"({p} {self._pick('//', '%')} {self._pick('3', '7', '-5', f'(a[{self._index()}] | 1)', f'-(b[{self._index()}] | 1)')})",
            f"({p} {self._pick('//', '%')} {q} if {q} != 0 else {p})" if not _literal(q) else p,
            f"(i24({p}) << u2({self._int(0)}))",
            f"({self._pick('1', '5', '-3')} << u3({self._int(0)}))",
            f"(i40({p}) >> {self._pick('2', 'u3(' + self._int(0) + ')', 'u8(' + self._int(0) + ')')})",
            f"{self._pick('min', 'max')}({p}, {q})",
            f"abs({p})" if not _literal(p) else p,
            f"({p} if {self._condition()} else {q})",
            f"{self._pick('i8', 'u3', 'i13', 'u33', 'u1', 'i3', 'u16')}({p})",
            f"(({self._int(0)} > {self._int(0)}) + ({self._fx(0)} < {self._fx(0)}))",
            f"~{self._pick('a', 'b')}[{self._index()}]",
            f"ROM[{p} & 63]",
            f"i16({self._fx(depth - 1)})",
            f"{self._pick('i16', 'u12', 'i32')}({self._real(depth - 1)})",
            f"clipped({p}, high={self._rng.randint(0, 60)})",
        )

    def _fx(self, depth: int) -> str:
        """Fixed point, next to integers."""
        if depth == 0:
            return self._pick(
                f"c[{self._at()}]", f"d[{self._at()}]", f"yf[{self._index()}]", "p1", f"t[{self._index()} & 3]",
                f"m[{self._rng.randint(0, 2)}, {self._rng.randint(0, 3)}]",
            )  # fmt: skip
        p, q = self._fx(depth - 1), self._fx(depth - 1)
        n = self._int(depth - 1)
        other = self._pick(q, q, n)
        return self._pick(
            f"({p} {self._pick('+', '-', '*')} {other})",
            f"({p} {self._pick('+', '-', '*')} {other})",
            f"({p} * {self._pick('0.5', '2', '-1.25', '3')})",
            f"{self._pick('min', 'max')}({p}, {other})",
            f"abs({p})",
            f"(-{p})",
            f"({p} if {self._condition()} else {other})",
            f"{self._fixed()}({p})",
            f"{self._fixed()}({n})",
            f"{self._fixed()}({self._real(depth - 1)})",
            f"({self._pick('c', 'd')}[{self._index()}] / (abs({self._pick('c', 'd')}[{self._index()}]) + 1))",
            f"({self._fixed()}({n}) / {self._pick('3', '-5')})" if False else p,
            f"({self._pick('c', 'd')}[{self._index()}] {self._pick('<<', '>>')} {self._pick('1', '3', f'u3({self._int(0)})')})",
            f"half({p})",
        )

    def _real(self, depth: int) -> str:
        """A float of the kernel's type."""
        t = self._float
        if depth == 0:
            return self._pick(
                f"e[{self._at()}]",
                f"e[{self._index()}]",
                "r1",
                f"yr[{self._index()}]",
                f"{t}({self._pick('0.75', '2', '-1.5')})",
            )
        p, q = self._real(depth - 1), self._real(depth - 1)
        return self._pick(
            f"({p} {self._pick('+', '-', '*')} {q})",
            f"({p} {self._pick('+', '-', '*')} {self._pick('0.5', '2.0', '3', '0.1', self._int(0))})",
            f"({p} / (abs({q}) + 1.0))",
            f"{self._pick('min', 'max')}({p}, {q})",
            f"abs({p})",
            f"(-{p})",
            f"weft.sqrt(abs({p}))",
            f"({p} if {self._condition()} else {q})",
            f"{t}({self._int(depth - 1)})",
            f"{t}({self._fx(depth - 1)})",
            f"{t}({self._pick('f16', 'f32', 'f64')}({p}))",
            f"{t}(WAVE[{self._int(0)} & 63])",
            f"half({p})",
        )

    def _condition(self) -> str:
        compare = self._pick("<", ">", "<=", ">=", "==", "!=")
        return self._pick(
            f"{self._int(0)} + {self._int(0)} {compare} {self._int(0)}",
            f"{self._fx(0)} {compare} {self._fx(0)}",
            f"{self._fx(0)} {compare} {self._pick(self._int(0), '0.5')}",
            f"{self._real(0)} {compare} {self._real(0)}",
            f"{self._real(0)} {compare} {self._pick('0.0', '1.5')}",
            f"a[{self._index()}] & 1",
            f"{self._int(0)} > 3 and {self._fx(0)} < 2",
            f"not {self._fx(0)} > 1 or n1 == 0",
            f"0 <= {self._int(0)} < 20",
        )


def _literal(text: str) -> bool:
    return text.lstrip("-").isdigit()
