"""Divisions by numbers without dividers: which inverses are exact, what the step makes, that it is proven, and what it refuses."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import weft
from dse.space.loops.divisions import without_dividers
from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Binary, BinaryOp, map_leaves, walk
from dsl.expressions.inverses import inverse, is_inverse
from dsl.programs.pretty import pretty
from dsl.programs.program import Program, map_statements
from dsl.schedules.recurrence_steps import StrengthReduce
from dsl.schedules.schedule import Schedule
from polyhedral.equivalence.divisions import check_divisions
from polyhedral.legality.divided import without_divisions
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from tests.support.levels import Case, check_levels
from weft import i8, i16, i32, u8, u32


@weft.kernel
def modular(d: u8[12], x: i16[12], y: u32[12, 4], h: i32[10]):
    a: u32 = 1
    for i in range(12):
        a = (a + d[i]) % 65521
        n = a * 65521
        for k in range(4):
            y[i, k] = n % 10 + x[i] // 7 % 3
            n = n // 10
        h[a % 10] += x[i] % 100


@weft.kernel
def plain(x: u8[4], y: i32[4], z: i8[4]):
    c: u32 = 9
    for i in range(4):
        y[i] = c % 7 + x[i] // 16 + x[i] % 8 + i // 3 + x[i] // -7
    for i in range(4):
        z[i] = z[i] // 200 + z[i] % 200


def test_inverses_are_exact_up_to_the_last_number() -> None:
    rng = random.Random(3)
    for _ in range(200):
        by, most = (
            rng.randint(3, 1 << rng.randint(2, 16)),
            rng.randint(0, (1 << rng.randint(1, 20)) - 1),
        )
        number, amount = inverse(by, most)
        last = most // by * by  # the multiples and what is in front of them are what fails first
        tried = {0, most, *(n for n in (last, last - 1, by, by - 1) if 0 <= n <= most)}
        assert all(n * number >> amount == n // by for n in tried), (by, most)
    every = np.arange(65536, dtype=object)
    for by in (3, 7, 10, 641, 65535):
        number, amount = inverse(by, 65535)
        assert (every * number >> amount == every // by).all()
        assert not is_inverse(number - 1, amount, by, 65535)


def reduced(kernel) -> tuple[Schedule, Program]:
    state, steps = without_dividers(build(kernel.program), ())
    return Schedule(steps), state.scop.program


def has_dividers(program: Program) -> bool:
    values = [x for s in program.statements() for x in walk(s.value) if isinstance(x, Binary)]
    return any(x.op in (BinaryOp.FLOORDIV, BinaryOp.MOD) for x in values)


def test_few_quotients_are_compared_and_others_multiplied() -> None:
    schedule, program = reduced(modular)
    assert not has_dividers(program)  # also where a rest is a subscript
    assert [step.stmt for step in schedule] == ["S1", "S3", "S4", "S5"]
    text = pretty(program)
    assert "a = u16(a + d[i] - 65521) if a + d[i] >= 65521 else u16(a + d[i])" in text
    assert "* 5243 >> 19" in text


def test_levels_agree_and_are_proven() -> None:
    kernels = (modular, plain)
    check_levels([Case(n, k.program, reduced(k)[0]) for n, k in enumerate(kernels)])


def test_wrong_numbers_are_refuted() -> None:
    program = modular.program
    right = without_divisions(program, {"S4"})
    assert check_divisions(program, right, "S4") is None

    number, _ = inverse(10, 2**48 - 1)

    def changed(by: int) -> Program:
        def leaf(x):
            return replace(x, value=number + by) if getattr(x, "value", 0) == number else x

        def new(stmt):
            return replace(stmt, value=map_leaves(stmt.value, leaf)) if stmt.name == "S4" else stmt

        return replace(right, body=tuple(map_statements(n, new) for n in right.body))

    for by in (-1, 4):
        found = check_divisions(program, changed(by), "S4")
        assert found is not None
        assert "S4 divides otherwise" in found.message


@pytest.mark.parametrize(
    ("stmt", "text"), [("S0", "S0 has no divider to do without"), ("S9", "S9")], ids=str
)
def test_what_has_no_divider_is_refused(stmt: str, text: str) -> None:
    with pytest.raises(ScheduleError, match=text):
        apply(plain.program, Schedule((StrengthReduce(stmt),)))


def test_it_comes_before_what_is_asked_of_loops() -> None:
    schedule = modular.schedule(lambda s: s.pipeline("k").strength_reduce("S3"))
    with pytest.raises(
        ScheduleError, match="comes after steps that ask something of loops"
    ) as caught:
        apply(modular.program, schedule)
    assert caught.value.code == "W244"
