"""Random recurrences in blocks compute the same, of small values and of those at the ends of the types."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.types import IntType
from dsl.kernels.loader import load
from dsl.programs.program import Program
from dsl.schedules.schedule import ScheduleBuilder
from dsl.schedules.steps import Tail
from polyhedral.legality.scans import running
from polyhedral.schedule import apply
from polyhedral.scop.scop import build_scop
from tests.support.bits import same

OPERATORS = {"sums": "+-^-lmec", "bits": "&|^ec", "all": "+-r*lm&|^ec"}
TAILS: tuple[Tail, ...] = ("remainder", "guard")
WIDE, NARROW = ("i16", "i32", "i64", "u16"), ("i8", "u8", "i5")


def expression(r: random.Random, s: str, depth: int, ops: str) -> str:
    """Operators on ``s``, some of them under conditions."""
    if depth == 0:
        return s
    inner, term = expression(r, s, depth - 1, ops), r.choice(["x[j, i]", "z[i]", "3", "i", "w"])
    op = r.choice(ops)
    forms = {
        "r": f"{term} - ({inner})",
        "l": f"max({inner}, {term})",
        "m": f"min({term}, {inner})",
        "e": f"(({inner}) if x[j, i] > z[i] else {r.choice([s, term])})",
        "c": f"({term} if c[i] == 1 else {inner})",
    }
    return forms.get(op, f"({inner}) {op} {term}")


def kernel(r: random.Random, name: str, ops: str) -> str:
    """A kernel with one recurrence in the inner of two loops."""
    own, x, z = r.choice(WIDE), r.choice(NARROW), r.choice(NARROW)
    step, row = r.choice([1, 1, 2, -1]), r.random() < 0.3
    lines = [f"def {name}(x: {x}[3, 13], z: {z}[13], c: u1[13], y: {own}[3, 16], n: i32[13]):"]
    lines += ["    for j in range(3):"]
    lines += [] if row else [f"        s: {own} = {r.choice(['0', '5', 'y[j, 14]'])}"]
    lines += [f"        for i in range({'12, -1' if step < 0 else '0, 13'}, {step}):"]
    lines += ["            w = z[i] - x[j, i]"]
    old, new = (f"y[j, i + {2 - step}]", "y[j, i + 2]") if row else ("s", "s")
    for k in range(r.choice([1, 1, 2, 3])):
        value = expression(r, old, r.choice([1, 2, 3]), ops)
        if r.random() < 0.2:  # a value in between
            lines += [f"            v{k} = {value}"]
            value = expression(r, f"v{k}", 1, ops)
        under = r.choice(["i > 3", "i + j < 9"]) if k and r.random() < 0.5 else ""
        lines += [f"            if {under}:"] if under else []
        lines += [f"            {'    ' if under else ''}{new} = {value}"]
        lines += [f"            n[i] = {new}"] if r.random() < 0.3 else []
        old = new
    lines += [] if row else ["            y[j, i] = s"]
    return "\n".join(["@weft.kernel", *lines, "", ""])


def at_the_ends(program: Program, seed: int) -> dict[str, np.ndarray]:
    """Inputs of which most are the least or the largest number of their type."""
    found, random_ = random_inputs(program, seed), random.Random(seed)
    for array in program.arguments:
        assert isinstance(array.dtype, IntType)
        bits = array.dtype.width - array.dtype.signed
        ends = [-(1 << bits) if array.dtype.signed else 0, (1 << bits) - 1, 1]
        flat = [random_.choice(ends) for _ in range(found[array.name].size)]
        values = np.array(flat, found[array.name].dtype)
        found[array.name] = values.reshape(found[array.name].shape)
    return found


@pytest.mark.parametrize("ops", OPERATORS)
def test_values_stay(ops: str, tmp_path: Path) -> None:
    r = random.Random(len(ops))
    path = tmp_path / "kernels.py"
    names = [f"k{n}" for n in range(30)]
    text = "\n".join(kernel(r, name, OPERATORS[ops]) for name in names)
    path.write_text(f"import weft\nfrom weft import i5, i8, i16, i32, i64, u1, u8, u16\n\n\n{text}")
    families: Counter[str] = Counter()
    for name in names:
        try:
            program = load(f"{path}:{name}").program
        except LanguageError:  # a min or max of types without a common one, and the like
            continue
        scop = build_scop(program)
        stmt = next(
            s.name for s in scop.statements if s.stmt.target.array in "sy" and len(s.loops) == 2
        )
        factor = r.choice([2, 3, 4])
        try:
            steps = ScheduleBuilder().scan(stmt, f"{stmt}.i", factor, r.choice(TAILS))
            after = apply(program, steps.build())
        except ScheduleError:
            continue
        families[running(scop, stmt, 1, factor).family.kind.value] += 1
        for inputs in (random_inputs(program, 0), at_the_ends(program, 1), at_the_ends(program, 2)):
            want, got = interp.run(program, inputs), interp.run(after.scop.program, inputs)
            assert all(same(want[a], got[a]) for a in want), path.read_text()
    assert families.total() >= 8
    assert len(families) >= 2
