"""What a kernel means is what Python means by it: functions executed, and read, side by side.

The function is executed as plain Python on arrays that record what is written, and its program is
enumerated; both must write the same elements in the same order.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from dsl.expressions.expr import Access
from tests.frontend.conftest import Load
from tests.support.enumeration import program_events

LIMIT = 100_000
Point = tuple[int, ...]


class Recorder:
    """An array that notes the subscripts of its writes."""

    def __init__(self) -> None:
        self.writes: list[Point] = []

    def __setitem__(self, subscripts: Point, value: object) -> None:
        self.writes.append(subscripts)


def executed(body: str) -> list[Point]:
    """What the body writes when Python executes it."""
    array = Recorder()
    ranges = (lambda e: e if isinstance(e, range) else range(e),)
    grid: Callable[..., object] = lambda *extents: (  # noqa: E731 - of one use
        points if len(extents) > 1 else (p[0] for p in points)
        for points in [itertools.product(*map(ranges[0], extents))]
    )
    space = {"A": array, "N": 4, "M": 6, "weft": SimpleNamespace(grid=lambda *e: next(grid(*e)))}
    exec(f"def k(A):\n{body}", space)
    space["k"](array)
    return array.writes


def read(kernel: Load, body: str) -> list[Point]:
    """What its program writes."""
    text = f"@weft.kernel\ndef k(A: f32[99, 99, 99]):\n{body}"
    program = kernel(text).program
    loops = {
        node.name: [n.var for n in around if hasattr(n, "var")]
        for node, around in program.walk()
        if hasattr(node, "target")
    }
    found = []
    for event in program_events(program, LIMIT):
        env = dict(zip(loops[event.stmt.name], event.point, strict=True))
        target: Access = event.stmt.target
        found.append(tuple(i.evaluate(env) for i in target.indices))
    return found


class Writer:
    """Writes random bodies with every form of bound, condition and subscript."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._lines: list[str] = []

    def body(self) -> str:
        self._block([], 1)
        return "\n".join(self._lines) + "\n"

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _block(self, loops: list[str], depth: int) -> None:
        rng = self._rng
        for _ in range(rng.choice((1, 1, 2))):
            choice = rng.random()
            if len(loops) < 3 and choice < 0.65:
                self._loop(loops, depth)
            elif loops and choice < 0.85 and depth < 6:
                self._if(loops, depth)
            else:
                self._store(loops, depth)

    def _store(self, loops: list[str], depth: int) -> None:
        subscripts = ", ".join(self._affine(loops, absolute=True) for _ in range(3))
        self._line(depth, f"A[{subscripts}] = 1")

    def _loop(self, loops: list[str], depth: int) -> None:
        rng = self._rng
        names = [n for n in "ijk" if n not in loops]
        if len(names) > 1 and rng.random() < 0.2:
            extents = rng.choice(("4, 3", "N, range(1, M - 1)", "range(2, -1, -1), N - 1", "2, 0"))
            self._line(depth, f"for {names[0]}, {names[1]} in weft.grid({extents}):")
            self._block([*loops, *names[:2]], depth + 1)
            return
        self._line(depth, f"for {names[0]} in range({self._range(loops)}):")
        self._block([*loops, names[0]], depth + 1)

    def _range(self, loops: list[str]) -> str:
        rng = self._rng
        low, high = self._bound(loops, "max"), self._bound(loops, "min") + " + 5"
        match rng.randrange(6):
            case 0:
                return high
            case 1 | 2:
                return f"{low}, {high}"
            case 3:
                return f"{self._affine(loops)}, {high}, {rng.choice(('2', '3', 'N - 1'))}"
            case 4:
                return f"{high}, {low}, -1"
            case _:
                return f"{self._affine(loops)} + 3, {low}, {rng.choice(('-2', '-3'))}"

    def _bound(self, loops: list[str], kind: str) -> str:
        rng = self._rng
        a, b, c = (self._affine(loops) for _ in range(3))
        other = {"min": "max", "max": "min"}[kind]
        return rng.choice(
            (
                a,
                a,
                f"{kind}({a}, {b})",
                f"{kind}({a}, {b}) + {c}",
                f"{kind}({a}, {kind}({b}, 2), {c}, 1)",
                f"-{other}({a}, {b}) + 4",
                f"5 - {other}({a}, {b})",
                f"2 * {kind}({a}, 3)",
                f"{kind}({a}, {b}) // 2",
                f"{other}({a}, {b}) * -1",
            )
        )

    def _affine(self, loops: list[str], *, absolute: bool = False) -> str:
        rng = self._rng
        constant = rng.choice(("0", "1", "2", "3", "N", "M - N", "M // 4", "2 ** 2 % 3"))
        if not loops or rng.random() < 0.25:
            return constant
        name, second = rng.choice(loops), rng.choice(loops)
        forms = [
            f"{name} + {constant}",
            f"({name} + 7) // 2",
            f"({name} + 9) % 3",
            f"2 * {name} + 9",
            f"{name} + {second} + 9",
        ]
        if not absolute:
            forms += [
                f"{name} - 1",
                f"{constant} - {name}",
                f"-{name}",
                f"{name} % N - {second} // 3",
            ]
        return f"({rng.choice(forms)}) + 9" if absolute else rng.choice(forms)

    def _if(self, loops: list[str], depth: int) -> None:
        rng = self._rng
        self._line(depth, f"if {self._cond(loops, 2)}:")
        self._block(loops, depth + 1)
        if rng.random() < 0.4:
            self._line(depth, f"elif {self._cond(loops, 1)}:")
            self._block(loops, depth + 1)
        if rng.random() < 0.4:
            self._line(depth, "else:")
            self._block(loops, depth + 1)

    def _cond(self, loops: list[str], depth: int) -> str:
        rng = self._rng
        if depth and rng.random() < 0.5:
            a, b = self._cond(loops, depth - 1), self._cond(loops, depth - 1)
            return rng.choice(
                (f"{a} and {b}", f"{a} or {b}", f"not ({a})", f"({a} or {b}) and {a}")
            )
        a, b, c = (self._affine(loops) for _ in range(3))
        ops = [rng.choice(("<", "<=", ">", ">=", "==", "!=")) for _ in range(2)]
        chain = f"{a} {ops[0]} {b} {ops[1]} {c}"
        return rng.choice((f"{a} {ops[0]} {b}", f"{a} {ops[0]} {b}", chain, f"({a}) % 2", "N < M"))


SEEDS = 100


def test_random_bodies(kernel: Load) -> None:
    total = 0
    for seed in range(SEEDS):
        body = Writer(seed).body()
        expected = executed(body)
        assert read(kernel, body) == expected, f"seed {seed}\n{body}"
        total += len(expected)
    assert total > 30 * SEEDS


@pytest.mark.parametrize(
    "body",
    [
        "    for i in range(-5, 5):\n        A[i // 2 + 9, i % 3, (-i) // 2 + 9] = 1\n",
        "    for i in range(7, -8, -5):\n        A[i % 4, -i // 3 + 9, 3 - i + 9] = 1\n",
        "    for i in range(5):\n        if 1 < i != 3:\n            A[i, 0, 0] = 1\n",
        "    for i in weft.grid(range(8, 0, -3)):\n        A[i, 0, 0] = 1\n",
    ],
)
def test_chosen_bodies(kernel: Load, body: str) -> None:
    writes = executed(body)
    assert read(kernel, body) == writes
    assert writes
