"""Ranges of counters: what subscripts they are proven to be, and that no run ever leaves what is claimed."""

from __future__ import annotations

import random
from functools import reduce

import pytest

import weft
from backends.verify import verify
from dsl.errors.errors import LanguageError
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    loads,
)
from dsl.expressions.facts import MOST_CASES, cases
from dsl.expressions.types import IntType, boolean
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from polyhedral.legality.stored_ranges import StoredRanges
from tests.support.amount import programs
from weft import i32, u1, u8

STEPS = (
    "n += 1",
    "n += 2",
    "n -= 1",
    "n = n + 1 if x[3] & 1 else 0",
    "n = 1",
    "n = max(n - 1, 0)",
    "n = min(n + (x[n & 7] & 3), 6)",
    "m = n",
    "m += 1 if f else 0",
    "n += 0 if f else 1",
    "f = n > 2",
    "f = m != 2 and x[m & 15] > 40",
)
PROBE = "y[n + 64] ^= 1"
ROUNDS = 12


class _Writer:
    """A kernel of one counter, with probes where its range is asked for."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._loops = 0
        self._around: list[str] = []
        self.probes = 0

    def text(self) -> str:
        body = "\n".join(self._block(1, 3))
        return f"@weft.kernel\ndef k(x: u8[64], y: u8[128]):\n    n: i32 = {self._rng.randint(0, 3)}\n    m: i32 = 1\n    f: u1 = 0\n{body}\n"

    def _block(self, depth: int, count: int) -> list[str]:
        rng, pad = self._rng, "    " * depth
        lines: list[str] = []
        for _ in range(count):
            kind = rng.randint(0, 9)
            if kind < 3 and depth < 4:
                self._loops += 1
                low, high = rng.randint(0, 1), rng.randint(2, 3)
                lines.append(f"{pad}for i{self._loops} in range({low}, {high}):")
                self._around.append(f"i{self._loops}")
                lines += self._block(depth + 1, rng.randint(1, 3))
                self._around.pop()
            elif kind < 5:
                lines.append(f"{pad}if {self._condition()}:")
                lines += self._block(depth + 1, 1) if depth < 4 else [f"{pad}    n += 1"]
                if rng.random() < 0.5:
                    lines.append(f"{pad}{rng.choice(('else', f'elif {self._condition()}'))}:")
                    lines += self._block(depth + 1, 1) if depth < 4 else [f"{pad}    n += 2"]
            elif kind < 8:
                lines.append(f"{pad}{rng.choice(STEPS)}")
            else:
                lines.append(f"{pad}{PROBE}")
                self.probes += 1
        return lines

    def _condition(self) -> str:
        if self._around and self._rng.random() < 0.4:
            var = self._rng.choice(self._around)
            test = self._rng.choice((f"{var} == 1", f"{var} > 0", f"{var} != 2"))
            return self._rng.choice((test, test, f"{test} or x[n & 15] & 1"))
        return self._rng.choice(
            (
                "x[n & 31] & 1",
                "n > 0",
                "n < 2",
                "x[5] > 100",
                "n > 1 and x[n & 7] & 1",
                "f",
                "not f and n != 4",
                "m == 3 or (n < 5 and x[m & 7] & 1)",
                "n > m",
            )
        )


def _seen(text: str, seed: int) -> list[set[int]]:
    """The values of the counter at each probe, over some inputs, of the text as Python."""
    parts = text.replace("@weft.kernel\n", "").split(PROBE)
    body = parts[0] + "".join(f"probe({n}, n){p}" for n, p in enumerate(parts[1:]))
    found: list[set[int]] = [set() for _ in parts[1:]]
    names = {"u8": [0] * 999, "i32": int, "probe": lambda k, n: found[k].add(n)}
    exec(body, names)
    for data in range(ROUNDS):
        rng = random.Random(f"{seed}/{data}")
        names["k"]([rng.choice((0, 1, 255, rng.randint(0, 255))) for _ in range(64)], [0] * 128)  # type: ignore[operator]
    return found


def test_no_run_leaves_the_range_of_a_counter(tmp_path) -> None:
    asked, tight = 0, 0
    for seed in programs(16):
        writer = _Writer(seed)
        text = writer.text()
        if not writer.probes:
            continue
        file = tmp_path / f"k{seed}.py"
        file.write_text(f"import weft\nfrom weft import *\n\n{text}", encoding="utf-8")
        try:
            program = load(f"{file}:k").program
        except LanguageError:
            continue  # y[n + 64] may be outside
        ranges = StoredRanges(program)
        probes = [s for s in program.statements() if s.target.array == "y"]
        lines = [n for n, line in enumerate(text.splitlines(), 4) if PROBE in line]
        values = dict(zip(lines, _seen(text, seed), strict=True))
        found: dict[
            int, list[tuple[int, int]]
        ] = {}  # of a condition with an affine part there are several statements
        for stmt in probes:
            assert stmt.span is not None
            (read,) = {a for a in loads(stmt.value) if a.array == "n"}
            own = ranges.stored(read, IntType(32), stmt.name)
            found.setdefault(stmt.span.line, []).append(own)
        for line, several in found.items():
            seen = values[line]
            low, high = min(low for low, _ in several), max(high for _, high in several)
            assert all(low <= v <= high for v in seen), f"{seed}: {line}: {low} to {high}, {seen}"
            asked += 1
            tight += bool(seen) and (min(seen), max(seen)) == (low, high)
    assert asked > 8
    assert tight


@weft.kernel
def run_lengths(x: u8[16], value: u8[16], count: u8[16], n: i32[1]):
    k = 0
    value[0] = x[0]
    count[0] = 1
    for i in range(1, 16):
        if x[i] == value[k]:
            count[k] += 1
        else:
            k += 1
            value[k] = x[i]
            count[k] = 1
    n[0] = k + 1


@weft.kernel
def pushed_and_popped(push: u1[16], x: i32[16], y: i32[16]):
    held: i32[16] = 0
    top = 0
    for i in range(16):
        if push[i]:
            held[top] = x[i]
            top += 1
        elif top > 0:
            y[i] = held[top - 1]
            top -= 1


@weft.kernel
def queue(x: u8[8], y: u8[8]):
    q: u8[8] = 0
    tail = 0
    for i in range(8):
        for j in range(8):
            if x[j] > i and tail < 8:
                q[tail] = x[j]
                tail += 1
    for i in range(8):
        y[i] = q[i]


@pytest.mark.parametrize("kernel", [run_lengths, pushed_and_popped, queue])
def test_counters_are_subscripts(kernel) -> None:
    assert weft.compile(kernel).hls_cpp
    assert verify(kernel.program, Schedule(), cxx=False).ok


@weft.kernel
def one_too_far(x: i32[16], y: i32[16]):
    n = 0
    for i in range(16):
        if x[i] > 0:
            n += 1
            y[n] = x[i]


def test_a_counter_that_goes_too_far_is_refused() -> None:
    with pytest.raises(LanguageError, match="which may be 0 to 16") as error:
        _ = weft.compile(one_too_far).hls_cpp
    assert error.value.code == "W164"


STEPS_OF_ADPCM = [7, 8, 9, 10, 11, 12, 13, 14, 16]
CHANGES = [-1, -1, 2, 4]


@weft.kernel
def clamped(code: u8[16], y: i32[16]):
    index = 0
    for i in range(16):
        y[i] = STEPS_OF_ADPCM[index]
        index += CHANGES[code[i] & 3]
        if index < 0:
            index = 0
        elif index > 8:
            index = 8


@weft.kernel
def traced(way: u8[9, 9], y: u8[18]):
    a = 8
    b = 8
    for t in range(18):
        if a > 0 or b > 0:
            y[t] = way[a, b]
            if way[a, b] & 1:
                a = max(a - 1, 0)
            else:
                b = max(b - 1, 0)


@weft.kernel
def tokens(x: u8[24], y: u8[24], n: i32[1]):
    at = 0
    out = 0
    for _ in range(20):
        if at >= 20:
            break
        y[out] = x[at] + x[at + 3]
        if x[at] > 9:
            at += x[at] & 3
        else:
            at += 1
        out += 1
    n[0] = out


@weft.kernel
def taken(x: u8[16], y: u8[8]):
    j = 0
    for i in range(16):
        if j == 8 or x[i] > y[j]:
            y[0] += x[i]
        else:
            y[j] = x[j + 8]
            j += 1


@weft.kernel
def calculator(x: u8[16], y: i32[16]):
    held: i32[8] = 0
    top = 0
    for i in range(16):
        match x[i] & 3:
            case 0:
                if top < 8:
                    held[top] = x[i]
                    top += 1
            case 1:
                if top > 1:
                    top -= 1
                    held[top - 1] += held[top]
            case _:
                if top > 0:
                    top -= 1
                    y[i] = held[top]


@weft.kernel
def distinct(x: i32[12], y: i32[12], n: i32[1]):
    k = 0
    for i in range(12):
        if i == 0 or x[i] != x[i - 1]:
            y[k] = x[i]
            k += 1
    n[0] = k


@weft.kernel
def classed(x: i32[12], y: i32[12]):
    k = 0
    for i in range(12):
        if x[i] > 9:
            y[k] = x[i]
            k += 1
        elif x[i] < 0:
            y[k] = -1
            k += 1


@weft.kernel
def packed(weight: u8[6], value: u8[6], most: i32[21]):
    for i in range(6):
        for c in range(20, -1, -1):
            if c >= weight[i] and weight[i] > 0:
                most[c] = max(most[c], most[c - weight[i]] + value[i])


@pytest.mark.parametrize(
    "kernel",
    [clamped, traced, tokens, taken, calculator, distinct, classed, packed],
    ids=lambda k: k.name,
)
def test_branches_keep_subscripts_inside(kernel) -> None:
    assert verify(kernel.program, Schedule(), cxx=False).ok


def test_the_cases_of_a_long_condition_are_not_all_told_apart() -> None:
    n = Load(Access("n", ()), IntType(32))
    clauses: list[Expr] = [
        Binary(BinaryOp.OR, one, Load(Access("f", ()), boolean), boolean)
        for k in range(40)
        if (one := Compare(CompareOp.LT, n, Const(k, IntType(32)), boolean))
    ]
    whole = reduce(lambda a, b: Binary(BinaryOp.AND, a, b, boolean), clauses)
    assert len(cases(whole, True)) <= MOST_CASES
    assert len(cases(clauses[0], True)) == 2
