"""Random small programs full of recurrences, and random hardware directives for them.

Subscripts are uniform (``i - 1``), coupled (``i + j``, ``2*i - j``), strided, reversed, constant,
of a remainder or a quotient; loops are rectangular or triangular, perfect or with statements around
the inner loop; statements may be guarded. So that values depend on each other as often as possible,
most statements read arrays that the program writes.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dsl.errors.errors import WeftError
from dsl.kernels.loader import load_kernels
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    BindOp,
    Flatten,
    Interchange,
    PartialSums,
    Partition,
    Pipeline,
    Reassociate,
    Reverse,
    Split,
    Step,
    Tile,
    Unroll,
)
from polyhedral.schedule import apply, apply_step
from polyhedral.scop.scheduled import ScheduledScop
from tests.support.random_schedules import Nest, nests_of

_MOST = 400  # iterations of a nest


@dataclass(frozen=True, slots=True)
class _Term:
    """A subscript as text, and the least and the greatest value that it takes."""

    text: str
    low: int
    high: int


@dataclass(slots=True)
class _Maker:
    """Writes a kernel; arrays are sized once all their subscripts are known."""

    rng: random.Random
    type: str
    ranks: dict[str, int] = field(default_factory=dict)
    spans: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    scalars: set[str] = field(default_factory=set)

    def access(self, array: str, loops: dict[str, tuple[int, int]], kind: str = "") -> str:
        """An element; its subscripts get a placeholder for what makes them count from 0."""
        found = []
        for dim in range(self.ranks[array]):
            term = self.subscript(loops, kind)
            low, high = self.spans.get((array, dim), (term.low, term.high))
            self.spans[array, dim] = min(low, term.low), max(high, term.high)
            found.append(f"{term.text} + <{array}.{dim}>")
        return f"{array}[{', '.join(found)}]"

    def subscript(self, loops: dict[str, tuple[int, int]], kind: str) -> _Term:
        rng = self.rng
        v = rng.choice([*loops])
        low, high = loops[v]
        kind = kind or rng.choices(_KINDS, _WEIGHTS)[0]
        if kind in ("coupled", "skewed") and len(loops) < 2:
            kind = "uniform"
        match kind:
            case "coupled":
                w = rng.choice([x for x in loops if x != v])
                lo, hi = loops[w]
                a, b = rng.choice(((1, 1), (1, -1), (2, -1), (1, 2), (2, 1)))
                ends = [b * lo, b * hi]
                c = rng.randint(-1, 1)
                return _Term(
                    f"{a} * {v} + {b} * {w} + {c}",
                    a * low + min(ends) + c,
                    a * high + max(ends) + c,
                )
            case "strided":
                a, c = rng.choice((2, 3)), rng.randint(-2, 1)
                return _Term(f"{a} * {v} + {c}", a * low + c, a * high + c)
            case "reversed":
                c = rng.randint(0, high + 1)
                return _Term(f"{c} - {v}", c - high, c - low)
            case "constant":
                c = rng.randint(0, min(7, high))
                return _Term(f"{c}", c, c)
            case "modulo":
                m = rng.choice((2, 3, 4))
                return _Term(f"{v} % {m}", 0, m - 1)
            case "quotient":
                m = rng.choice((2, 3))
                return _Term(f"{v} // {m}", low // m, high // m)
            case _:
                c = rng.choice((0, 0, 0, -1, -1, -2, 1, -3))
                return _Term(f"{v} + {c}", low + c, high + c)

    def expression(self, operands: list[str]) -> str:
        """The operands under random operators, in a random order."""
        rng = self.rng
        rng.shuffle(operands)
        while len(operands) > 1:
            b, a = operands.pop(), operands.pop()
            op = rng.choices(("+", "*", "-", "max", "/"), (9, 6, 3, 1, self.type == "f32"))[0]
            operands.insert(
                rng.randrange(len(operands) + 1),
                f"max({a}, {b})" if op == "max" else f"({a} {op} {b})",
            )
        return operands[0]


_KINDS = ("uniform", "coupled", "strided", "reversed", "constant", "modulo", "quotient")
_WEIGHTS = (10, 4, 2, 3, 4, 3, 1)


def random_recurrence(seed: int) -> Program:
    """The program of a seed: valid, small, always the same."""
    text = _text(random.Random(f"recurrence/{seed}"), seed)
    with tempfile.TemporaryDirectory(prefix="weft-fuzz-") as folder:
        file = Path(folder) / "kernel.py"
        file.write_text(text, encoding="utf-8")
        (kernel,) = load_kernels(file).values()
        return kernel.program


def _text(rng: random.Random, seed: int) -> str:
    maker = _Maker(rng, rng.choice(("f32", "f32", "f32", "i32", "i16")))
    written = [f"A{n}" for n in range(rng.randint(1, 2))]
    maker.ranks = {name: rng.choice((1, 1, 2)) for name in [*written, "X", "Y"]}
    body: list[str] = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        body += _nest(maker, written)
    lines = []
    for line in body:
        for (array, dim), (low, _) in maker.spans.items():
            line = line.replace(f"<{array}.{dim}>", str(-low))
        lines.append(line)
    arguments = []
    for name, rank in maker.ranks.items():
        spans = [maker.spans.get((name, d), (0, 0)) for d in range(rank)]
        extents = ", ".join(str(high - low + 1) for low, high in spans)
        arguments.append(f"{name}: {maker.type}[{extents}]")
    head = [f"def q{seed}({', '.join(arguments)}):"]
    locals_ = [f"    {name}: {maker.type}" for name in sorted(maker.scalars)]
    starts = [f"    {name} = {_zero(maker)}" for name in sorted(maker.scalars)]
    last = [f"    {written[0]}[{', '.join('0' * maker.ranks[written[0]])}] = s0"] if locals_ else []
    types = f"from weft import {maker.type}\n"
    return "\n".join(
        ["import weft", types, "@weft.kernel", *head, *locals_, *starts, *lines, *last, ""]
    )


def _zero(maker: _Maker) -> str:
    return "0.5" if maker.type == "f32" else "3"


def _nest(maker: _Maker, written: list[str]) -> list[str]:
    """Lines of one loop nest."""
    rng = maker.rng
    depth = rng.choices((1, 2, 3), (3, 6, 2))[0]
    loops: dict[str, tuple[int, int]] = {}
    lines: list[str] = []
    total = 1
    behind: list[str] = []
    for level in range(depth):
        pad = "    " * (level + 1)
        v = "ijk"[level]
        trips = min(rng.choice((2, 3, 4, 5, 6, 8, 12, 16)), max(2, _MOST // total))
        total *= trips
        start = rng.choice((0, 0, 0, 1, 2))
        bound, step = f"{start}, {start + trips}", ""
        if level and rng.random() < 0.15:  # triangular
            w = rng.choice([*loops])
            bound = rng.choice((f"0, {w} + 1", f"{w}, {loops[w][1] + 1}"))
            start, trips = min(0, loops[w][0]), loops[w][1] + 1
        elif rng.random() < 0.1:
            step = rng.choice((", 2", ", 3"))
        loops[v] = start, start + trips - 1
        lines.append(f"{pad}for {v} in range({bound}{step}):")
        if level < depth - 1 and rng.random() < 0.2:
            line = "    " * (level + 2) + _statement(maker, written, dict(loops))
            (lines if rng.random() < 0.6 else behind).append(line)
    pad = "    " * (depth + 1)
    for _ in range(rng.choice((1, 1, 2, 3))):
        line = _statement(maker, written, loops)
        if rng.random() < 0.15:
            v = rng.choice([*loops])
            low, high = loops[v]
            test = rng.choice((f"{v} % 2 == 0", f"{v} < {(low + high) // 2 + 1}", f"{v} > {low}"))
            lines += [f"{pad}if {test}:", f"    {pad}{line}"]
        else:
            lines.append(f"{pad}{line}")
    return lines + behind[::-1]


def _statement(maker: _Maker, written: list[str], loops: dict[str, tuple[int, int]]) -> str:
    """Something computed of what is written elsewhere; a reduction now and then."""
    rng = maker.rng
    inputs = [maker.access(rng.choice(("X", "Y")), loops) for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.2:
        maker.scalars.add("s0")
        return f"s0 = {maker.expression(['s0', *inputs, maker.access('X', loops, 'uniform')])}"
    target = maker.access(rng.choice(written), loops)
    roll = rng.random()
    if roll < 0.3:
        return f"{target} += {maker.expression([*inputs, maker.access('X', loops)])}"
    own = [maker.access(rng.choice(written), loops) for _ in range(rng.choice((1, 1, 2)))]
    if roll < 0.4:
        own = [target]
    return f"{target} = {maker.expression([*own, *inputs])}"


# ---------------------------------------------------------------------------------------- schedules


def random_directives(
    rng: random.Random, program: Program, *, guards: bool = False
) -> tuple[Schedule, ScheduledScop]:
    """A schedule of a few steps, at least one of them a pipeline where that is possible.

    Args:
        rng: chooses.
        program: that it is of.
        guards: innermost loops are unrolled under guards inside of a pipeline, sums in parts among them.
    """
    state, schedule = apply(program, Schedule()), Schedule()
    wanted = _guarded(rng, program, state) if guards else _wanted(rng, program, state)
    for step in wanted:
        try:
            new = apply_step(state, step)
        except WeftError:
            continue  # a step that is refused is left out
        state, schedule = new, schedule.then(step)
    return schedule, state


def _wanted(rng: random.Random, program: Program, state: ScheduledScop) -> Iterator[Step]:
    nests = [n for n in nests_of(state) if n.loops]
    if not nests:  # every loop is empty
        return
    if rng.random() < 0.25:
        loop = rng.choice(rng.choice(nests).loops)
        names = [s.name for s in program.statements()]
        yield PartialSums(rng.choice(names), loop, rng.choice((2, 3, 4)))
    for stmt in program.statements():
        if rng.random() < 0.3:
            yield Reassociate(stmt.name)
    if rng.random() < 0.3:
        yield _reordering(rng, rng.choice(nests))
    for nest in nests:
        depth = rng.choices((1, 2, 3), (6, 2, 1))[0]
        pipelined = nest.loops[-min(depth, len(nest.loops))]
        yield Pipeline(pipelined, rng.choice((1, 1, 1, 2)))
        if rng.random() < 0.3:
            yield Unroll(rng.choice(nest.loops), rng.choice((0, 2, 2, 3, 4)))
        if rng.random() < 0.15:
            yield Flatten(rng.choice(nest.loops), rng.random() < 0.5)
        if rng.random() < 0.05:
            yield BindOp(nest.stmt, rng.choice(("fadd", "fmul")), rng.choice(("fabric", "dsp")))
    for array in program.arrays:
        for dim in range(len(array.shape)):
            if rng.random() < 0.35:
                scheme = rng.choice(("cyclic", "cyclic", "block", "complete"))
                factor = 0 if scheme == "complete" else rng.choice((2, 2, 3, 4))
                yield Partition(array.name, dim, scheme, factor)


def _guarded(rng: random.Random, program: Program, state: ScheduledScop) -> Iterator[Step]:
    """Loops around guarded copies pipelined, partial sums in the copies, banks."""
    nests = [n for n in nests_of(state) if len(n.loops) > 1]
    for nest in nests:
        if rng.random() < 0.6:
            yield PartialSums(nest.stmt, nest.loops[-1], rng.choice((2, 3, 4)))
            for part in (f"{nest.stmt}_init.part", f"{nest.stmt}_sum.part"):
                yield Unroll(part)
        yield Unroll(nest.loops[-1], 0, "guard")
        yield Pipeline(nest.loops[-2], rng.choice((1, 1, 2)))
    for array in program.arrays:
        for dim in range(len(array.shape)):
            if rng.random() < 0.5:
                yield Partition(array.name, dim, "complete")
    targets = {s.name: s.target.array for s in program.statements()}
    for array in dict.fromkeys(targets[nest.stmt] for nest in nests):
        yield Partition(f"{array}_part", len(program.array(array).shape), "complete")


def _reordering(rng: random.Random, nest: Nest) -> Step:
    loops = nest.loops
    first = rng.randrange(len(loops))
    match rng.choice(("interchange", "reverse", "split", "tile")):
        case "interchange" if len(loops) > 1:
            return Interchange(*rng.sample(loops, 2))
        case "reverse":
            return Reverse(loops[first])
        case "tile" if len(loops) > 1:
            at = rng.randrange(len(loops) - 1)
            return Tile(loops[at : at + 2], (rng.choice((2, 3)), rng.choice((2, 4))))
        case _:
            return Split(loops[first], rng.choice((2, 3, 4)))
