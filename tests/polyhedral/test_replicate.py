"""Copies of an array for its readers: what the step makes of a program, that it means the same, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

import weft
from backends.equivalence import equivalence
from dse.space.memory.banks import port_interval
from dse.space.space import space_of
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.programs.pretty import pretty
from dsl.programs.program import Loop, Program, Stmt
from dsl.schedules.port_steps import Replicate
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from qor_gnn.tools.personality import personality
from tests.polyhedral.show import nest
from tests.support.bits import same
from tests.support.levels import Case, check_levels
from weft import i16, u4, u8, u16

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def curves(a: u4[24], b: u4[24], f: u8[16], y: u16[24]):
    t: u8[16]
    for k in range(16):
        t[k] = f[k]
    for i in range(24):
        y[i] = t[a[i]] + t[b[i]] + t[3]
    y[0] = t[5]


@weft.kernel
def argument(at: u4[6, 8], table: i16[2, 16], y: i16[6, 8]):
    for i in range(6):
        for j in range(7, -1, -1):
            k = at[i, j]
            y[i, j] = table[i % 2, k] * table[1, 15 - k]


@weft.kernel
def counted(x: u4[20], h: u8[16], n: u16[1]):
    seen: u8[16] = 0
    for i in range(20):
        seen[x[i]] += 1
    for k in range(1, 16):
        seen[k] += seen[k - 1]
    for k in range(16):
        h[k] = seen[15 - k]
        n[0] += seen[k]


@weft.kernel
def summed(x: u4[4, 3, 2], table: u8[16], y: u16[4]):
    for n in range(4):
        y[n] = 0
        for k in range(3):
            for q in range(1, -1, -1):
                y[n] += table[x[n, k, q]]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def test_all_copies_are_written_and_reads_take_turns() -> None:
    schedule = steps().replicate("t", "i", 6).split("i", 2)
    assert nest(curves.program, schedule) == (
        "k: 0 .. 16\n  copy: 0 .. 6\n    S0(k, copy)\n"
        "i_0: 0 .. 12\n  i_1: 0 .. 2\n    S1(2*i_0 + i_1, i_0)\nS2()"
    )
    text = str(weft.compile(curves, schedule.pipeline("i_0").build()).hls_cpp)
    for copy, index in (("3 * i_1", "a"), ("3 * i_1 + 1", "b"), ("3 * i_1 + 2", "3")):
        assert f"t_copies[{copy}][{index}" in text
    assert "t_copies[0][5]" in text


def test_iterations_of_loops_inside_take_turns() -> None:
    """Where an iteration of the named loop has enough reads, it begins with the first copy."""

    def read(count: int) -> str:
        program = apply(summed.program, steps().replicate("table", "n", count).build()).scop.program
        return next(line for line in pretty(program).splitlines() if "x[n, k, q]" in line)

    assert "table_copies[(2 * k - q + 1) % 6, x[n, k, q]]" in read(6)
    assert "table_copies[(2 * k - q + 1) % 4, x[n, k, q]]" in read(4)
    assert "table_copies[(2 * k + 6 * n - q + 1) % 12, x[n, k, q]]" in read(12)


SCHEDULES = [
    (curves, steps().replicate("t", "i", 3)),
    (curves, steps().replicate("t", "i", 6).split("i", 2).pipeline("i_0")),
    (curves, steps().replicate("t", "i", 5)),  # whichever it is, it is the same
    (argument, steps().replicate("table", "j", 4).split("S1.j", 2).unroll("S1.j_1")),
    (argument, steps().replicate("table", "S1.i", 2)),
    (counted, steps().replicate("seen", "S4.k", 2)),
    (summed, steps().replicate("table", "n", 3).pipeline("n")),
    (summed, steps().replicate("table", "n", 4)),
    (summed, steps().replicate("table", "n", 12).split("n", 2).pipeline("n_0")),
]


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES)
def test_values_stay(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    after = apply(kernel.program, schedule.build()).scop.program
    for seed in range(2):
        inputs = random_inputs(kernel.program, seed)
        want, got = interp.run(kernel.program, inputs), interp.run(after, inputs)
        assert all(same(want[name], got[name]) for name in want)
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    assert check_levels(cases, cxx=False) + check_levels(cases[1:2], jit=False) == []


def changed(program: Program, name: str, copy: Affine) -> Program:
    """The program with a statement that assigns to another copy."""

    def node(each):
        match each:
            case Loop(body=body):
                return replace(each, body=tuple(map(node, body)))
            case Stmt() if each.name == name:
                target = each.target
                indices = (copy, *target.indices[1:])
                return replace(each, target=Access(target.array, indices))
            case _:
                return each

    return replace(program, body=tuple(map(node, program.body)))


def test_other_programs_are_refuted() -> None:
    (right,) = rewritings(curves.program, steps().replicate("t", "i", 3).build())
    assert check_rewriting(right) is None
    wrong = [
        (changed(right.after, "S0", Affine()), "S0 does not change all copies alike"),
        (replace(right.after, body=right.after.body[:-1]), "something else has changed"),
    ]
    (right,) = rewritings(argument.program, steps().replicate("table", "j", 2).build())
    assert check_rewriting(right) is None
    for after, said in wrong:
        (of_local,) = rewritings(curves.program, steps().replicate("t", "i", 3).build())
        found = check_rewriting(replace(of_local, after=after))
        assert isinstance(found, Refutation)
        assert said in found.message
    found = check_rewriting(replace(right, after=replace(right.after, body=right.after.body[1:])))
    assert isinstance(found, Refutation)
    assert "not copied in front" in found.message


def test_tables_that_are_looked_up_have_structures_with_copies() -> None:
    space = space_of(curves.program, TOOL)
    found = {
        step.count
        for variant in space.variants
        for step in variant.steps
        if isinstance(step, Replicate)
    }
    assert found == {3, 6, 12, 24}  # 16 do not divide 24
    space = space_of(summed.program, TOOL)  # reads of q, and of n, through two ports
    made = [s for v in space.variants for s in v.steps if isinstance(s, Replicate)]
    assert {(s.loop, s.count) for s in made} == {("S1.q", 2), ("S1.n", 3)}
    space = space_of(counted.program, TOOL)
    assert not any(isinstance(s, Replicate) for v in space.variants for s in v.steps)


@weft.kernel
def looked_up(at: u8[32], table: i16[256], y: i16[32]):
    for i in range(32):
        y[i] = table[at[i]]


def test_each_copy_that_looks_up_an_element_waits_for_the_port() -> None:
    (order, *_) = space_of(looked_up.program, TOOL).variants[0].nests[0].orders
    assert [port_interval(order, (copies,)) for copies in (1, 4, 16)] == [1, 2, 8]  # two ports
