"""Random kernels as their authors write them: loops over arrays, jumps, helpers with results, slices, sums.

Every value that is kept is masked to what its type holds, so that plain Python computes the same
(`tests.support.as_python`).
"""

from __future__ import annotations

import random

from tests.support.python_helpers import HELPERS


class Writer:
    """Writes the body of a kernel ``k(x: i8[8], z: i8[8], w: i8[8], m: i8[3, 4], y: i32[8])``; it reads all, and writes ``w`` and ``y``."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._lines: list[str] = []
        self._loops: list[tuple[str, int]] = []
        self._elements: list[str] = []
        self._made = 0

    def text(self) -> str:
        """The helpers and the kernel."""
        self._line(1, "a: i32 = 1")
        self._line(1, "b: i32 = x[0]")
        self._line(1, "seen = False")
        self._line(1, "c = 0")
        self._line(1, "t = [0] * 4")
        self._line(1, "u = np.zeros(8, np.int32)")
        self._line(1, f"row = m[{self._rng.randint(0, 2)}]")
        self._line(1, "twice = lambda p, q=1: p * 2 - q")
        self._line(1, "def near(p):")
        self._line(2, "r = p & 7")
        self._line(2, "if r > 4:")
        self._line(3, "r = 8 - r")
        self._line(2, f"return r{self._pick('', ' * 3', ' + 1')}")
        self._line(1, f"part = {self._pick('w[2:6]', 'w[::2]', 'u[1:5]')}")
        self._block(1, self._rng.randint(2, 4), in_loop=False)
        self._line(1, "y[:4] ^= t")
        self._line(1, "y ^= u")
        self._line(1, "y[5] ^= c & 1023")
        self._line(1, "y[7] = a & 4095")
        self._line(1, "y[6] = (b ^ (5 if seen else 2)) & 4095")
        body = "\n".join(self._lines)
        head = "@weft.kernel\ndef k(x: i8[8], z: i8[8], w: i8[8], m: i8[3, 4], y: i32[8]):\n"
        return f"{HELPERS}{head}{body}\n"

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _pick(self, *choices: str) -> str:
        return self._rng.choice(choices)

    def _name(self, base: str) -> str:
        self._made += 1
        return f"{base}_{self._made}"  # i32 is a type

    # -------------------------------------------------------------------------------- statements

    def _block(self, depth: int, count: int, *, in_loop: bool) -> None:
        for _ in range(count):
            kind = self._rng.random()
            if kind < 0.3 and len(self._loops) < 2 and depth < 5:
                self._loop(depth)
            elif kind < 0.5 and depth < 5:
                self._if(depth, in_loop=in_loop)
            elif kind < 0.58 and depth < 4:
                self._while(depth)
            elif kind < 0.61 and depth < 4:
                self._stages(depth)
            elif kind < 0.63 and depth < 4:
                self._packed(depth)
            elif kind < 0.66 and depth < 4:
                self._match(depth, in_loop=in_loop)
            else:
                self._line(depth, self._plain())

    def _if(self, depth: int, *, in_loop: bool) -> None:
        self._line(depth, f"if {self._condition()}:")
        jump = self._rng.random()
        if jump < 0.25 and in_loop:
            self._block(depth + 1, self._rng.randint(0, 1), in_loop=False)
            self._line(depth + 1, self._pick("break", "continue", "continue"))
        elif jump < 0.3:
            self._line(depth + 1, self._plain())
            self._line(depth + 1, "return")
        else:
            self._block(depth + 1, self._rng.randint(1, 2), in_loop=in_loop)
        if self._rng.random() < 0.4:
            other = f"elif {self._condition()}:" if self._rng.random() < 0.3 else "else:"
            self._line(depth, other)
            self._block(depth + 1, 1, in_loop=in_loop)

    def _while(self, depth: int) -> None:
        n = self._name("n")
        if self._rng.random() < 0.4:
            self._line(depth, f"{n} = ({self._expr(1)}) & 63")
            self._line(depth, f"while {n} > 0:")
            self._line(depth + 1, f"c += {n} & {self._pick('1', '3')}")
            self._line(depth + 1, f"{n} {self._pick('>>= 1', '//= 3', f'&= {n} - 1')}")
            return
        up = self._rng.random() < 0.6
        first, test = (f"{n} = 1", f"{n} < 6") if up else (f"{n} = 6", f"{n} >= 0")
        self._line(depth, first)
        rest = f" and ({self._condition()})" if self._rng.random() < 0.5 else ""
        self._line(depth, f"while {test}{rest}:")
        self._line(depth + 1, f"y[{n}] = ({self._expr(1)}) & 255")
        self._line(depth + 1, self._plain())
        self._line(depth + 1, f"{n} {'+=' if up else '-='} {self._pick('1', '2')}")
        if self._rng.random() < 0.5:
            self._line(depth, f"c = {n} + 1")

    def _stages(self, depth: int) -> None:
        """Loops as long as the stage around them says."""
        s, i, h = self._name("s"), self._name("i"), self._name("h")
        kind = self._rng.randint(0, 3)
        if kind == 0:
            self._line(depth, f"for {s} in range({self._pick('3', '2', '2, -1, -1', '0')}):")
            self._line(depth + 1, f"for {i} in range(1 << {s}):")
            target = f"y[{i} + (1 << {s}) - 1]"
        elif kind == 1:
            self._line(depth, f"for {s} in range(3):")
            self._line(depth + 1, f"{h} = 2 ** {s}")
            self._line(depth + 1, f"for {i} in range(0, 8, 2 * {h}):")
            target = f"y[{i} + {h}]"
        elif kind == 2:
            self._line(depth, f"{h} = {self._pick('1', '2')}")
            self._line(depth, f"while {h} < 8:")
            self._line(depth + 1, f"for {i} in range(8 - {h}):")
            target = f"y[{i} + {h}]"
        else:
            self._line(depth, f"{h} = 4")
            self._line(depth, f"while {h} >= {self._pick('1', '2')}:")
            self._line(depth + 1, f"for {i} in range({h}):")
            target = f"y[{i} + {h}]"
        self._line(depth + 2, f"{target} = ({self._expr(1)} + {i}) & 1023")
        if kind >= 2:
            self._line(depth + 1, f"{h} {'*=' if kind == 2 else '//='} 2")
            self._line(depth, f"c = {h} + 1")

    def _packed(self, depth: int) -> None:
        """What a counter puts side by side, or takes off a stack."""
        i, n = self._name("i"), self._name("n")
        self._line(depth, f"{n} = 0")
        self._line(depth, f"for {i} in range(8):")
        self._line(depth + 1, f"if {self._condition()}:")
        self._line(depth + 2, f"u[{n}] = ({self._expr(1)}) & 255")
        self._line(depth + 2, f"{n} += 1")
        if self._rng.random() < 0.5:
            self._line(depth + 1, f"{self._pick('elif', 'if')} {n} > 0:")
            self._line(depth + 2, f"y[{i}] ^= u[{n} - 1] & 15")
            self._line(depth + 2, f"{n} -= 1")
        self._line(depth, f"c = {n} + 1")

    def _match(self, depth: int, *, in_loop: bool) -> None:
        v = self._name("v")
        self._line(depth, f"match ({self._expr(1)}) & 7:")
        for case in ("0 | 3", f"{v} if {v} > 5", "2", "_")[: self._rng.randint(2, 4)]:
            self._line(depth + 1, f"case {case}:")
            self._block(depth + 2, 1, in_loop=in_loop)

    def _loop(self, depth: int) -> None:
        i, v = self._name("i"), self._name("v")
        low = self._rng.randint(0, 2)
        heads = {
            f"for {i} in range({low}, {self._pick('4', '7', '8')}):": ((i, 8), ()),
            f"for {i} in reversed(range({low}, 8)):": ((i, 8), ()),
            f"for {i}, {v} in enumerate({self._pick('x', 'z', 'x[:4]')}):": ((i, 8), (v,)),
            f"for {v} in {self._pick('x', 'm[1]', 'z[2:6]', 'm[:, 2]', 'reversed(z)')}:": (
                None,
                (v,),
            ),
            f"for {i}, {v} in zip({self._pick('x', 'x[1:]')}, z):": (None, (i, v)),
            f"for {i} in ({self._pick('1, 3', '0, 1', '6, 5, 4')}):": ((i, 8), ()),
            f"for {i}, {v} in ((0, 2), (3, -1)):": ((i, 0), (v,)),
            f"for {i}, {v}, _p, _q in m:": (None, (i, v)),
        }
        head = self._pick(*heads)
        loop, elements = heads[head]
        self._line(depth, head)
        copied = head.endswith("((0, 2), (3, -1)):")
        if loop is not None:
            self._loops.append(loop)
        self._elements += elements
        self._block(depth + 1, self._rng.randint(1, 3), in_loop=not copied)
        if loop is not None:
            self._loops.pop()
        del self._elements[len(self._elements) - len(elements) :]
        if self._rng.random() < 0.2:
            self._line(depth, "else:")
            self._line(depth + 1, self._plain())

    def _plain(self) -> str:
        e = self._expr(2)
        return self._pick(
            f"a = ({e}) % 251",
            f"b = ({e}) & 1023",
            f"a += ({e}) & 63",
            f"b ^= ({e}) & 255",
            "a, b = b, a",
            f"a, b = both({self._expr(1)}, b)",
            f"y[{self._index()}] = ({e}) & 1023",
            f"y[{self._index()}] += ({e}) & 15",
            f"w[{self._index()}] = ({e}) & 127",
            f"y[{self._index()}], y[{self._index()}] = ({e}) & 511, ({self._expr(1)}) & 255",
            f"y[{self._pick('1:5', '0:4', '4:', '::2')}] = {self._pick('x[0:4]', 'y[2:6]', 'm[2]', 'a & 31')}",
            "w[1:] = w[:-1]",
            f"c = (c * 3 + ({e})) & 255",
            f"c += {self._pick('x[2] > 3', '1', 'seen')}",
            f"t[({e}) & 3] {self._pick('=', '^=')} ({self._expr(1)}) & 127",
            f"u[{self._index()}] = ({e}) & 511",
            f"u[:] = {self._array()}",
            f"t[:] = row * {self._pick('2', 'row', 'row[1]', 'part[0] & 15')}",
            f"part[{self._pick('0', '3', '-1')}] = ({e}) & 63",
            "part[:] = row & 31",
            "w[:] = (w + w[0]) & 63",
            f"w[:] = ({self._array()}) & 63",
            "u[:4] = t",
            f"a, b = split_up(({e}) & 511, {self._pick('3', '7', '10')})",
            f"y[y {self._pick('> 9', '& 1 == 1', '<= 3')}] {self._pick('= 9', '^= 3', '= x[1] & 7')}",
            f"u[:] = {self._numpy()} & 1023",
            f"t[:] = {self._pick('x[[3, 0, 7, 1]]', 'x[1:5]', 'np.sort(row)', 'np.flip(t)')} & 63",
            f"if (d := ({e}) & 31) > 7: c = d",
            f"y += {self._pick('x', '1', 'w')}",
            f"seen = {self._pick('True', 'False')}",
            f"if {self._condition()}: seen = True",
        )

    # ------------------------------------------------------------------------------- expressions

    def _array(self) -> str:
        """An expression of eight elements, of at most some thousands."""
        p, q = self._pick("x", "z", "w"), self._pick("x", "z", "w", "c & 31", "x[2]")
        return self._pick(
            f"{p} {self._pick('+', '-', '*')} {q}",
            f"np.maximum({p}, {q})",
            f"np.where({p} > z, {p}, {q})",
            f"abs({p}) - {p}.min()",
            f"np.clip({p}, -20, 20)",
            f"{p} * 2",
        )

    def _numpy(self) -> str:
        """Eight elements that functions of NumPy make."""
        p = self._pick("x", "z", "w", "(x + z)")
        return self._pick(
            f"np.roll({p}, {self._rng.randint(-9, 9)})",
            f"np.cumsum({p})",
            f"np.flip({p})",
            f"(np.arange(8) * {p})",
            f"np.pad({self._pick('row', 'x[2:6]')}, (3, 1))",
            f"np.convolve({p}, {self._pick('z[:3]', 'row')}, 'same')",
            "np.outer(row[:2], x[:4]).reshape(8)",
            "np.sort(z)",
            f"np.clip(np.concatenate((row, t)), -5, {self._rng.randint(5, 90)})",
            "(m[:2] + row[None, :]).ravel()",
            f"twice({p}, q=3)",
            "np.stack((row, t), axis=1).ravel()",
            f"np.{self._pick('repeat(row, 2)', 'tile(row, 2)', 'hstack((row, t))')}",
            f"{p}[np.argsort(z)]" if p != "(x + z)" else "x[np.argsort(z)]",
            f"np.{self._pick('maximum', 'minimum')}.accumulate({p})",
            "(m[:2] - m[1:].max(axis=0, keepdims=True)).reshape(8)",
            "np.pad(m[:1], ((1, 0), (0, 0)), constant_values=3).ravel()",
            "np.concatenate((row[1:], [c & 31], t))",
        )

    def _index(self) -> str:
        choices = [
            str(self._rng.randint(-8, 7)),
            f"({self._expr(1)}) & 7",
            self._pick("a & 7", "b & 3"),
        ]
        choices += [i for i, _ in self._loops] * 2
        choices += [f"min({i} + 1, 7)" for i, extent in self._loops if extent]
        choices += [f"7 - {i}" for i, extent in self._loops if extent]
        return self._pick(*choices)

    def _atom(self) -> str:
        choices = [
            "a",
            "b",
            str(self._rng.randint(-9, 20)),
            *(i for i, _ in self._loops),
            *self._elements,
        ]
        choices += [f"{self._pick('x', 'z', 'w', 'y')}[{self._short_index()}]" for _ in range(3)]
        choices.append(f"m[{self._rng.randint(-3, 2)}, {self._rng.randint(0, 3)}]")
        return self._pick(*choices)

    def _short_index(self) -> str:
        return self._pick(str(self._rng.randint(-8, 7)), "a & 7", *(i for i, _ in self._loops))

    def _expr(self, depth: int) -> str:
        if depth == 0:
            return self._atom()
        p, q = self._expr(depth - 1), self._expr(depth - 1)
        return self._pick(
            f"{p} {self._pick('+', '-', '*')} {q}",
            f"(({p}) {self._pick('& 63', '>> 1', '// 3', '% 7')}) + {q}",
            f"({p} if {self._condition()} else {q})",
            f"{self._pick('min', 'max')}({p}, {q})",
            f"abs({p})",
            f"sign({p})",
            f"scaled({p} & 31{self._pick('', f', {q} & 7', ', more=5')})",
            f"clipped({p}, high={self._rng.randint(0, 60)})",
            f"twice({p})",
            f"near({p})",
            f"weighed({self._pick('row', 'x')}, {self._rng.randint(0, 3)})",
            f"(({p}) & 255).bit_count()",
            f"bin({p}).count('1')",
            f"(({p}) & 1023).bit_length()",
            f"np.argmax({self._pick('x', 'z', 'row', 'abs(w)')})",
            f"{self._pick('x', 'w')}.argmin()",
            f"np.count_nonzero({self._pick('x > 3', 'z', 'm')})",
            f"{self._pick('x', 'z')}[{self._pick('x', 'z')} > {self._rng.randint(0, 30)}].sum()",
            "np.einsum('i,ji->', row, m)",
            f"ROM[({p}) & 63]",
            f"GRID[({p}) & 7, ({q}) % 12]",
            "(x @ z)",
            "(m[1] @ row)",
            f"{self._pick('x', 'm', 'row', '(x * z)')}.sum()",
            f"np.{self._pick('max', 'min')}({self._pick('m', 'z', 'x - z')})",
            f"row[{self._pick('1', '-1', f'({p}) & 3')}]",
            f"place({self._pick('x', 'w')}, {q})",
            "mixed(y[2:6])",
            f"sum({self._pick('x', 'y[1:4]', 'm[0]', 'abs(t) for t in z', 't for t in w if t > 3', 'x[t] * z[t] for t in range(3)')})",
            f"{self._pick('min', 'max')}({self._pick('x', 'z[::2]', 't & 31 for t in y')})",
            p,
        )

    def _condition(self) -> str:
        p, q = self._atom(), self._atom()
        return self._pick(
            f"{p} {self._pick('<', '>=', '==', '!=')} {q}",
            f"{p} & 1",
            f"not {p}",
            f"0 <= {p} < {q} + 9",
            f"{p} & 3 in (1, {self._rng.randint(0, 3)})",
            f"{p} > 3 and {q} < 40",
            f"{p} > 30 or not {q} & 2",
            f"any(t > {self._rng.randint(20, 120)} for t in x)",
            f"sign({p}) == {self._pick('1', '-1', '0')} and {q}",
            "seen",
        )
