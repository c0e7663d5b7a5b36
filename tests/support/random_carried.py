"""Random kernels of what steps for recurrences, tables and windows are made for, as text.

Running values, tables filled along diagonals, searches, sums of floats, lookups at data, arrays between nests:
each kind has random types, bounds, operators, conditions and readers.
"""

from __future__ import annotations

import random

TYPES = ("i32", "i32", "i16", "u16", "i8", "i21", "fixed[20, 10]", "f32")


class CarriedWriter:
    """Writes a kernel ``k`` of a random kind."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(f"carried/{seed}")
        self._n = self._rng.randint(3, 13)
        self._type = self._pick(*TYPES)
        self._float = self._type == "f32"

    def text(self) -> str:
        """The module."""
        kind = self._rng.choice(
            (
                self._running,
                self._running,
                self._running,
                self._table,
                self._search,
                self._lookup,
                self._filter,
                self._between,
                self._window,
            )
        )
        arguments, body = kind()
        lines = "\n".join(f"    {line}" for line in body)
        return f"import weft\nfrom weft import *\nfrom weft import i21, u4\n\n\n@weft.kernel\ndef k({', '.join(arguments)}):\n{lines}\n"

    def _pick(self, *choices: str) -> str:
        return self._rng.choice(choices)

    def _literal(self) -> str:
        return (
            self._pick("0", "1", "3", "-2")
            if not self._type.startswith("u")
            else self._pick("0", "1", "5")
        )

    def _head(self) -> tuple[str, str]:
        """A loop over ``i``, inside of ``n`` elements, and what is in front of it."""
        low = self._pick("0", "0", "1", "2")
        return self._pick(
            f"for i in range({low}, {self._n}):",
            f"for i in range({low}, {self._n}):",
            f"for i in range({self._n - 1}, -1, -1):",
            f"for i in range({low}, {self._n}, 2):",
        ), low

    def _condition(self) -> str:
        return self._pick(
            "c[i] > 3",
            "c[i] & 1",
            "i > 2",
            "i % 3 == 0",
            "x[i] > y[i]",
            "c[i] == 0 or i == 1",
            "i > 1 and c[i] < 9",
        )

    def _running(self) -> tuple[list[str], list[str]]:
        """Recurrences whose functions compose."""
        n, t = self._n, self._type
        exact = not self._float and not t.startswith("fixed")
        updates = [
            f"s {self._pick('+=', '+=', '-=', '*=')} x[i]",
            "s = s + x[i]",
            f"s = {self._pick('max', 'min')}(s, x[i])",
            f"s = {self._pick('max', 'min')}(s + x[i], {self._pick('y[i]', '0')})",
            f"s = min(max(s + x[i], {self._pick('0', '-20') if not t.startswith('u') else '0'}), 90)",
            f"if {self._condition()}: s = {self._pick('y[i]', self._literal())}",
            f"s = s + x[i] if {self._condition()} else {self._pick('y[i]', 's')}",
            "s = s * x[i] + y[i]" if exact else "s += y[i]",
            f"s {self._pick('&=', '|=', '^=')} x[i]" if exact else "s -= y[i]",
            "s = s & x[i] | y[i]" if exact else f"s = {self._pick('0', 'x[i]')} + s",
        ]
        count = self._rng.choice((1, 1, 1, 2, 3))
        body = self._rng.sample(updates, count)
        after = self._rng.choice(
            (
                ["z[i] = s"],
                ["z[i] = s + x[i]"],
                ["z[i] = s", "w[0] = s"],
                [f"if {self._condition()}: z[i] = s"],
                ["q = s + y[i]", "z[i] = q"],
            )
        )
        body = body + after if self._rng.random() < 0.8 else after + body
        if self._rng.random() < 0.25:
            body = [
                line.replace("s", "z[i]", 1) if line.startswith("s ") else line for line in body
            ]
            body = (
                [f"z[i] = z[i - 1] {self._pick('+', '-')} x[i]"]
                if self._rng.random() < 0.7
                else ["z[i] = max(z[i - 1], x[i])"]
            )
        head, _ = self._head()
        if "z[i - 1]" in "".join(body):
            head = f"for i in range(1, {n}):"
        declared = f"s: {t} = {self._pick(self._literal(), 'x[0]', 'w[0]')}"
        nest = [declared, head, *(f"    {line}" for line in body), "w[0] = s"]
        if self._rng.random() < 0.35:
            inner = [line.replace("x[i]", "m[r, i]") for line in nest]
            nest = ["for r in range(3):", *(f"    {line}" for line in inner)]
        arguments = [
            f"x: {t}[{n}]",
            f"y: {t}[{n}]",
            f"z: {t}[{n}]",
            f"w: {t}[1]",
            f"c: u4[{n}]",
            f"m: {t}[3, {n}]",
        ]
        return arguments, nest

    def _table(self) -> tuple[list[str], list[str]]:
        """Tables of which an entry is made of those before it, and sweeps."""
        n, t = min(self._n, 7), self._type
        terms = ["x[i]", "x[j]"]
        for _ in range(self._rng.randint(1, 3)):
            terms.append(
                self._pick(
                    "L[i - 1, j]",
                    "L[i, j - 1]",
                    "L[i - 1, j - 1]",
                    "L[i - 2, j]",
                    "L[i, j - 2]",
                    "L[i - 1, j + 1]",
                    "L[i - 1, j - 2]",
                )
            )
        value = self._rng.choice(terms)
        for term in self._rng.sample(terms, len(terms)):
            value = self._pick(
                f"max({value}, {term})",
                f"min({value}, {term})",
                f"({value} + {term})",
                f"({value} - {term})",
                f"({value} if c[j] > c[i] else {term})",
            )
        local = self._rng.random() < 0.5
        body = [f"L: {t}[{n + 3}, {n + 3}] = {self._literal()}"] if local else []
        if self._rng.random() < 0.4:
            body += [
                f"for b in range({n + 3}):",
                f"    L[b, {self._pick('0', '1')}] = {self._pick('b', 'x[b % 3]', '2')}",
            ]
        if self._rng.random() < 0.3:
            body += [
                f"for b in range({n + 3}):",
                f"    L[{self._pick('0', '1')}, b] = {self._pick('b', '2')}",
            ]
        inner = self._pick(
            f"range(2, {n + 2})", f"range(2, {n + 2})", f"range(i, {n + 2})", "range(2, i + 1)"
        )
        body += [f"for i in range(2, {n + 2}):", f"    for j in {inner}:"]
        if self._rng.random() < 0.25:
            body += [
                f"        if {self._pick('i > j', 'c[i] > 2', 'i + j < 9')}:",
                f"            L[i, j] = {value}",
            ]
        else:
            body.append(f"        L[i, j] = {value}")
        if self._rng.random() < 0.3:
            body.append("        z[j] = L[i, j]")
        body += self._rng.choice(
            (
                [f"z[0] = L[{n + 1}, {n + 1}]"],
                [f"for b in range({n + 2}):", f"    z[b] = L[{n + 1}, b]"],
                [f"for b in range({n + 2}):", "    z[b] = L[b, b]"],
            )
        )
        arguments = [f"x: {t}[{n + 3}]", f"c: u4[{n + 3}]", f"z: {t}[{n + 3}]"] + (
            [] if local else [f"L: {t}[{n + 3}, {n + 3}]"]
        )
        return arguments, body

    def _search(self) -> tuple[list[str], list[str]]:
        """A choice that is made again and again along a loop."""
        n, t = self._n, self._type
        first = self._pick("1000" if t not in ("i8", "u16") else "100", "x[0]", "0")
        op = self._pick("<", ">", "<=", ">=")
        head = self._pick(
            f"for i in range({n}):",
            f"for i in range(1, {n}):",
            f"for i in range({n - 1}, -1, -1):",
            f"for i in range(0, {n}, 2):",
        )
        chosen = self._pick("i", "i", "2 * i + 1", "i // 2", "w[1]")
        kind = self._rng.randint(0, 3)
        if kind == 0:
            body = [
                f"best: {t} = {first}",
                "at: i32 = -1",
                head,
                f"    if x[i] {op} best:",
                "        best = x[i]",
                f"        at = {chosen}",
                "w[0] = at",
            ]
        elif kind == 1:
            body = [
                "at: i32 = -1",
                head,
                f"    if x[i] {self._pick('==', '>', '<')} y[0]:",
                f"        at = {chosen}",
                *(["        break"] if self._rng.random() < 0.5 else []),
                "w[0] = at",
            ]
        elif kind == 2:
            body = [head, f"    if {self._condition()}:", f"        w[0] = {chosen}"]
        else:
            body = [
                f"best: {t} = {first}",
                head,
                f"    if x[i] {op} best:",
                "        best = x[i]",
                f"        w[0] = {chosen}",
                "y[0] = best",
            ]
        if self._rng.random() < 0.3:
            body = [
                "for r in range(3):",
                *(
                    f"    {line.replace('w[0]', 'w[r]').replace('x[i]', 'm[r, i]')}"
                    for line in body
                ),
            ]
        return [f"x: {t}[{n}]", f"y: {t}[{n}]", f"c: u4[{n}]", "w: i32[3]", f"m: {t}[3, {n}]"], body

    def _lookup(self) -> tuple[list[str], list[str]]:
        """Reads and updates at data."""
        n, t = self._n, self._type
        local = self._rng.random() < 0.6
        body = (
            [
                f"T: {t}[16]",
                "for k in range(16):",
                f"    T[k] = {self._pick('k', 'u[k]', 'u[15 - k]')}",
            ]
            if local
            else []
        )
        reads = [
            self._pick("T[c[i]]", "T[d[i]]", "T[c[i] ^ 5]", "T[i % 16]", "T[(c[i] + d[i]) & 15]")
            for _ in range(self._rng.randint(1, 3))
        ]
        update = self._pick(
            "",
            "",
            f"h[c[i]] {self._pick('+=', '-=')} {self._pick('1', 'u[d[i]]')}",
            f"h[d[i]] = {self._pick('max', 'min')}(h[d[i]], {reads[0]})",
            "T[d[i]] = i",
            "h[c[i]] += 1",
        )
        head = self._pick(
            f"for i in range({n}):", f"for i in range({n}):", f"for i in range(0, {n}, 2):"
        )
        body += [head, f"    z[i] = {' + '.join(reads)}"] if self._rng.random() < 0.8 else [head]
        if update or body[-1] is head:
            body.append(f"    {update or 'h[c[i]] += 1'}")
        arguments = [f"u: {t}[16]", f"c: u4[{n}]", f"d: u4[{n}]", f"h: {t}[16]", f"z: {t}[{n}]"] + (
            [] if local else [f"T: {t}[16]"]
        )
        return arguments, body

    def _filter(self) -> tuple[list[str], list[str]]:
        """Recurrences of several terms and of values of iterations before."""
        n = self._n
        t = self._pick("f32", "f32", "i32", "fixed[24, 12]", "f64")
        half = "0.5" if t != "i32" else "3"
        terms = self._rng.sample(
            [f"{half} * x[i]", "x[i]", f"{half} * y1", "y2", f"{half} * y2", "u[0] * y1", "x1"],
            self._rng.randint(2, 4),
        )
        sum_ = terms[0]
        for term in terms[1:]:
            sum_ = f"{sum_} {self._pick('+', '-')} {term}"
        head = self._pick(f"for i in range({n}):", f"for i in range(1, {n}):")
        moves = ["y2 = y1", "y1 = v", "x1 = x[i]"]
        if self._rng.random() < 0.2:
            moves = ["x1 = x[i]", "y1 = v", "y2 = x1"]
        body = [
            f"y1: {t} = 0",
            f"y2: {t} = 0",
            f"x1: {t} = 0",
            head,
            f"    v = {sum_}",
            "    z[i] = v",
            *(f"    {m}" for m in moves),
        ]
        if self._rng.random() < 0.3:
            back = self._pick("z[i - 1]", f"{half} * z[i - 2]")
            body = [
                f"for i in range(2, {n + 2}):",
                f"    z[i] = {self._pick('x[i - 1]', 'x[i - 2]')} + {back} {self._pick('+', '-')} {half} * z[i - 1]",
            ]
        return [f"x: {t}[{n + 2}]", f"u: {t}[2]", f"z: {t}[{n + 2}]"], body

    def _between(self) -> tuple[list[str], list[str]]:
        """Nests that hand arrays on: processes, streams, privatised temporaries."""
        n, t = self._n, self._type
        half = "2" if not self._float else "0.5"
        first = self._pick(f"{half} * x[i]", "x[i] + x[(i + 1) % " + str(n) + "]", "x[i] - y[0]")
        second = self._pick(
            "a[i]", f"a[{n - 1} - i]", "a[i] + x[i]", f"max(a[i], {self._literal()})"
        )
        shape = self._rng.randint(0, 3)
        if shape == 0:
            body = [
                f"a: {t}[{n}]",
                f"for i in range({n}):",
                f"    a[i] = {first}",
                f"for i in range({n}):",
                f"    z[i] = {second}",
            ]
        elif shape == 1:
            body = [
                "for r in range(3):",
                f"    for i in range({n}):",
                f"        q: {t} = 0",
                "        for p in range(4):",
                "            q += m[r, i] * v[p]",
                "        o[r, i] = q",
            ]
        elif shape == 2:
            body = [
                "for r in range(3):",
                f"    a: {t}[{n}]",
                f"    for i in range({n}):",
                "        a[i] = m[r, i] + 1",
                f"    for i in range({n}):",
                f"        o[r, i] = {second}",
            ]
        else:
            body = [
                f"a: {t}[{n}]",
                f"b: {t}[{n}]",
                f"for i in range({n}):",
                f"    a[i] = {first}",
                f"for i in range({n}):",
                f"    b[i] = {second}",
                f"for i in range({n}):",
                f"    z[i] = b[i] {self._pick('+', '-')} {self._pick('1', 'y[0]')}",
            ]
        return [
            f"x: {t}[{n}]",
            f"y: {t}[1]",
            f"z: {t}[{n}]",
            f"m: {t}[3, {n}]",
            f"v: {t}[4]",
            f"o: {t}[3, {n}]",
        ], body

    def _window(self) -> tuple[list[str], list[str]]:
        """Stencils and sums over neighbours."""
        n, t = min(self._n, 8), self._type
        offsets = self._rng.sample(
            [
                "A[i, j]",
                "A[i + 1, j]",
                "A[i, j + 1]",
                "A[i + 2, j + 1]",
                "A[i + 1, j + 2]",
                "A[i + 2, j + 2]",
            ],
            self._rng.randint(2, 4),
        )
        value = " + ".join(offsets)
        if self._rng.random() < 0.3:
            body = [
                f"for i in range({n}):",
                f"    for j in range({n}):",
                f"        B[i, j] = {self._literal()}",
                "        for p in range(3):",
                "            for q in range(3):",
                "                B[i, j] += A[i + p, j + q] * g[p, q]",
            ]
        else:
            body = [
                f"for i in range({n}):",
                f"    for j in range({n}):",
                f"        B[i, j] = {value}",
            ]
        return [f"A: {t}[{n + 2}, {n + 2}]", f"B: {t}[{n}, {n}]", f"g: {t}[3, 3]"], body
