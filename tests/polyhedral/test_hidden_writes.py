"""Of statements that write one element in an iteration only those that are seen are asked for."""

import random

import pytest

from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.expr import Access, BinaryOp, Load
from dsl.expressions.types import IntType
from dsl.expressions.typing import binary
from dsl.programs.program import Array, If, Loop, Program, Stmt
from polyhedral.dependences import hidden_writes
from polyhedral.dependences.direct import array_dependences
from polyhedral.dependences.hidden_writes import batches
from polyhedral.scop.scop import build_scop
from tests.support.profiles import BALANCED, CONTROL, LONG
from tests.support.random_programs import random_program


class Crowd:
    """Many statements on one array, in loops, under conditions and between inner loops."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.count = 0

    def program(self) -> Program:
        arrays = (Array("A", IntType(32), (12, 12)),)
        return Program("crowd", arrays, tuple(self.nodes((), 3)))

    def nodes(self, around: tuple[str, ...], depth: int) -> list:
        found = []
        for _ in range(self.rng.randint(2, 5)):
            kind = self.rng.random()
            if depth and kind < 0.3:
                var = f"i{self.count}_{len(around)}_{len(found)}"
                body = tuple(self.nodes((*around, var), depth - 1))
                found.append(Loop(var, (Affine.of(2),), (Affine.of(5),), 1, body))
            elif around and kind < 0.45:
                cond = Constraint(Affine.of(self.rng.choice(around)) - 3, ">=")
                found.append(If(cond, (self.statement(around),), (self.statement(around),)))
            else:
                found.append(self.statement(around))
        return found

    def statement(self, around: tuple[str, ...]) -> Stmt:
        self.count += 1
        load = Load(Access("A", self.place(around)), IntType(32))
        value = binary(BinaryOp.ADD, load, Load(Access("A", self.place(around)), IntType(32)))
        return Stmt(f"S{self.count}", Access("A", self.place(around)), value)

    def place(self, around: tuple[str, ...]) -> tuple[Affine, Affine]:
        def one() -> Affine:
            base = Affine.of(self.rng.choice(around)) if around and self.rng.random() < 0.8 else 4
            return Affine.of(base) + self.rng.choice((0, 0, 0, 1, -1))

        return one(), one()


def _all(scop, monkeypatch, few: int) -> list:
    monkeypatch.setattr(hidden_writes, "FEW", few)
    found = []
    for array in scop.program.arrays:
        for dep in array_dependences(scop, array.name):
            names = dep.source.name, dep.sink.name
            found.append((dep.kind, dep.array, *names, dep.reduction, dep.pairs))
    return found


def _compare(program: Program, monkeypatch) -> int:
    scop = build_scop(program)
    every, some = (_all(scop, monkeypatch, few) for few in (1 << 30, 0))
    assert [d[:-1] for d in some] == [d[:-1] for d in every]
    assert all(a[-1].is_equal(b[-1]) for a, b in zip(some, every, strict=True))
    return len(every)


def test_crowds_have_the_same_dependences(monkeypatch):
    assert sum(_compare(Crowd(seed).program(), monkeypatch) for seed in range(8)) > 300


@pytest.mark.parametrize("profile", [BALANCED, CONTROL, LONG], ids=lambda p: p.name)
def test_random_programs_have_the_same_dependences(monkeypatch, profile):
    found = sum(_compare(random_program(seed, profile), monkeypatch) for seed in range(8))
    assert found > 8


def test_each_statement_of_a_long_body_asks_for_two_writers():
    i = Affine.of("i")
    body = tuple(
        Stmt(f"S{k}", Access("A", (i,)), Load(Access("A", (i - 1,)), IntType(32)))
        for k in range(50)
    )
    loop = Loop("i", (Affine.of(1),), (Affine.of(9),), 1, body)
    scop = build_scop(Program("long", (Array("A", IntType(32), (9,)),), (loop,)))
    asked = list(batches(scop, scop.statements, scop.statements, following=False))
    assert sum(len(batch.sinks) for batch in asked) == 50
    assert max(len(batch.writers) * len(batch.sinks) for batch in asked) == 2
