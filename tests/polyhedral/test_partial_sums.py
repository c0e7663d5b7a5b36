"""Partial sums: what the step makes of a program, that it means the same, and what it refuses."""

from __future__ import annotations

import random

import pytest

import weft
from backends.equivalence import equivalence
from backends.tolerance import tolerances
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ScheduleError
from dsl.expressions import typing
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Binary, BinaryOp, Load
from dsl.expressions.types import DType, FloatType, IntType
from dsl.programs.program import Array, Loop, Node, Program, Stmt
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import PartialSums, Reassociate
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.generate import loop_tree
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import ScheduledScop
from tests.polyhedral.show import nest
from tests.support.bits import same
from tests.support.legality_checks import Verdict, judge
from tests.support.levels import Case, check_levels
from tests.support.oracle import Oracle
from tests.support.random_schedules import random_step
from tests.support.trial import tree_fault
from tests.support.validity import faults
from weft import f32, fixed, i32


@weft.kernel
def rows(A: i32[6, 10], y: i32[6]):
    for i in range(6):
        for k in range(2, 10):
            y[i] += A[i, k]


@weft.kernel
def many(A: f32[6, 10], x: f32[6], y: f32[10], z: f32[10], w: f32[1], C: f32[5, 5]):
    for i in range(6):
        for j in range(10):
            y[j] -= A[i, j] * x[i]
    for k in range(9, -1, -3):
        for j in range(10):
            if j > 3:
                z[j] = min(z[j], A[k // 2, j])
    for n in range(7):
        w[0] *= A[n // 2, 0]
    for i in range(5):
        for k in range(i, 5):
            for j in range(i):
                C[i, j] += 1.0


@weft.kernel
def closed(A: f32[8, 8], y: f32[8], s: fixed[8, 4], t: f32[8]):
    for i in range(8):
        for k in range(8):
            y[i] += A[i, k]
            t[k] = y[i]
    for i in range(8):
        for k in range(8):
            for j in range(k % 2, 8, 2):
                t[j] += A[i, k]
    for i in range(4):
        for k in range(8):
            for j in range(4):
                y[j // 2] += A[i, k]


@weft.kernel
def mirrored(A: i32[7, 7], x: i32[7], y: i32[7]):
    for i in range(7):
        for j in range(i):
            y[i] += A[i, j] * x[j]
            y[j] -= A[i, j] * x[i]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def test_accumulators_take_turns() -> None:
    assert nest(rows.program, steps().partial_sums("S0", "k", 3)) == (
        "i: 0 .. 6\n"
        "  part: 0 .. 3\n    S0_init(i, part)\n"
        "  k: 2 .. 10\n    S0(i, k)\n"
        "  part.2: 0 .. 3\n    S0_sum(i, part.2)"
    )
    program = apply(rows.program, steps().partial_sums("S0", "k", 3).build()).scop.program
    texts = [f"{s.target} <- {s.source}" for s in program.statements()]
    assert texts[0] == "y_part[i, part] <- y_part[i, part] = 0"
    assert texts[1].startswith("y_part[i, k - 3*((k + 1) // 3) + 1] <- ")
    assert texts[2] == "y[i] <- y[i] += y_part[i, part]"
    assert program.array("y_part").shape == (6, 3)


def test_blocks_make_the_accumulator_known() -> None:
    design = weft.compile(rows, steps().partial_sums("S0", "k", 4).split("k", 4).build())
    assert "y_part[i][k_1]" in design.hls_cpp
    assert "% 4" not in design.hls_cpp
    in_a_row = steps().partial_sums("S0", "k", 2, block=4).split("k", 4).build()
    assert "y_part[i][k_0]" in weft.compile(rows, in_a_row).hls_cpp
    uneven = weft.compile(rows, steps().partial_sums("S0", "k", 4).split("k", 3).build())
    assert "% 4" in uneven.hls_cpp  # three at a time: which one is not known


MIRRORED = steps().reassociate("S0").partial_sums("S1", "S1.i", 1).partial_sums("S0", "S0.j", 3)

SCHEDULES = [
    (rows, steps().partial_sums("S0", "k", 3).split("k", 3).unroll("k_1")),
    (rows, steps().partial_sums("S0", "k", 4).distribute(["S0"]).interchange("S0.i", "S0.k")),
    (
        many,
        steps().partial_sums("S0", "S0.i", 4).partial_sums("S1", "S1.k", 2)
        .partial_sums("S2", "n", 4).partial_sums("S3", "S3.k", 2)
        .split("S0.i", 4).partition("y_part", 1, "complete").split("n", 4)
        .distribute(["S3_sum"]),
    ),
    (mirrored, MIRRORED),
]  # fmt: skip


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    # Headers of exact integers take a compiler long: floats alone go through it.
    found = check_levels(cases, cxx=False) + check_levels(cases[2:3], jit=False)
    assert not found, found[0].report()


@pytest.mark.parametrize(
    ("builder", "code", "text"),
    [
        (steps().partial_sums("S0", "S0.k", 0), "W207", "0 is not 1 to 1024"),
        (steps().partial_sums("S0", "S0.k", 2, block=0), "W207", "a block of 0"),
        (steps().partial_sums("S1", "S0.k", 2), "W209", "S1 is not a reduction"),
        (steps().partial_sums("S0", "S0.i", 2), "W221", "into another element in each iteration"),
        (steps().partial_sums("S0", "S2.k", 2), "W221", "S0 does not run in 'S2.k'"),
        (steps().partial_sums("S2", "S2.k", 2), "W221", "'j', whose bounds depend on 'k'"),
        (steps().partial_sums("S3", "S3.k", 2), "W221", "several iterations inside of 'S3.k'"),
        (steps().pipeline("S0.k").partial_sums("S0", "S0.k", 2), "W221", "after steps that change"),
        (
            steps().pipeline("S2.j").partial_sums("S0", "S0.k", 2),
            "W221",
            "put it in front of pipeline",
        ),
    ],
)
def test_refusals(builder: ScheduleBuilder, code: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(closed.program, builder.build())
    assert caught.value.code == code
    assert caught.value.span is not None
    assert text in caught.value.render()


def test_what_reads_the_element_meanwhile_is_named() -> None:
    schedule = steps().partial_sums("S0", "S0.k", 2).build()
    with pytest.raises(ScheduleError) as caught:
        apply(closed.program, schedule)
    text = caught.value.render()
    assert "error[W221]: S1 accesses y[" in text
    assert "while S0 accumulates into it" in text
    assert "are of the same run of 'S0.k'" in text
    assert "t[k] = y[i]" in text


def test_a_sum_has_memory_of_its_own_over_all_elements_of_a_triangle() -> None:
    state = apply(mirrored.program, MIRRORED.build())
    (init,) = state.of_statement("S1_init")
    assert state.scop.program.array("y_part").shape == (7, 1)
    assert [str(init.domain.dim_max_val(0)), str(init.domain.dim_min_val(0))] == ["5", "0"]
    rewriting = rewritings(mirrored.program, MIRRORED.build())
    assert [check_rewriting(each) for each in rewriting] == [None, None]


def test_in_a_triangle_the_loops_variable_tells_whose_turn_it_is() -> None:
    """Copies of a loop over the whole range know their accumulator, whatever the first iteration is."""

    @weft.kernel
    def behind(A: i32[6, 12], y: i32[6]):
        for i in range(6):
            for j in range(i - 4, 7):
                y[i] += A[i, j + 4]

    s = ScheduleBuilder()
    s.partial_sums("S0", "j", 3).split("S0.j", 11, tail="guard").unroll("S0.j_1")
    made = apply(behind.program, s.build()).scop.statement("S0").stmt
    assert made.target.indices[-1] == Affine.of("j") % 3
    assert equivalence(compile_design(behind.program, s.build())).verdict == "proven"
    assert weft.verify(behind, s.build()).ok


def test_json_and_python_keep_it() -> None:
    schedule = steps().partial_sums("S0", "k", 4).build()
    assert Schedule.from_json(schedule.to_json()) == schedule
    assert 's.partial_sums("S0", "k", 4)' in schedule.to_python()


def test_floats_have_a_tolerance_and_integers_none() -> None:
    assert "y" in tolerances(many.program, steps().partial_sums("S0", "S0.i", 4).build())
    assert tolerances(rows.program, steps().partial_sums("S0", "k", 4).build()) == {}


def _summing(rng: random.Random) -> Program:
    """Sums, products and extremes in nests of two or three loops, between others that use them."""
    dtype = rng.choice((IntType(8, True), IntType(13, False), FloatType("f32")))
    variables = ("i", "j", "k")[: rng.randint(2, 3)]
    loops: list[tuple[str, Affine, Affine, int]] = []
    for n, var in enumerate(variables):
        low = Affine((), rng.randint(0, 2))
        if n and rng.random() < 0.3:
            low = Affine.of(variables[0])
        loops.append((var, low, Affine((), rng.randint(3, 6)), rng.choice((1, 1, 1, 2, -1))))
    target = Access("X", tuple(Affine.of(v) + rng.randint(0, 1) for v in variables[:2]))
    kept = rng.choice(((0,), (1,), (0, 1)))
    target = Access("X", tuple(a if n in kept else Affine() for n, a in enumerate(target.indices)))
    load = Load(Access("A", tuple(Affine.of(v) for v in variables[-2:])), dtype)
    ops = ("+", "+", "+", "-", "*", "min", "max") + (
        ("&", "^") if isinstance(dtype, IntType) else ()
    )
    value = typing.binary(BinaryOp(rng.choice(ops)), Load(target, dtype), load)
    if isinstance(value, Binary) and value.op in (BinaryOp.MIN, BinaryOp.MAX):
        value = Binary(value.op, value.lhs, value.rhs, dtype)
    node: Node = Stmt("S0", target, value)
    other = Stmt("S1", Access("X", (Affine.of("i"), Affine())), load_of("A", dtype, "i"))
    depth = rng.randint(0, len(loops))  # where another statement writes to the array
    for n, (var, low, high, step) in reversed(list(enumerate(loops))):
        body = (node, other) if n + 1 == depth else (node,)
        node = Loop(var, (low,), (high,), step, body)
    arrays = (Array("A", dtype, (8, 8)), Array("X", dtype, (8, 8)))
    return Program("random", arrays, (node,))


def load_of(array: str, dtype: DType, var: str) -> Load:
    """An element on the diagonal."""
    return Load(Access(array, (Affine.of(var), Affine.of(var))), dtype)


def _spread(program: Program, rng: random.Random) -> list[tuple[PartialSums, ScheduledScop]]:
    """Every statement along each of its loops, where that is accepted."""
    found, codes = [], set[str]()
    plain = apply(program, Schedule())
    for statement in plain.scop.statements:
        for variable in statement.variables:
            numbers = rng.randint(2, 5), rng.choice((1, 1, 2, 3))
            step = PartialSums(statement.name, f"{statement.name}.{variable}", *numbers)
            try:
                found.append((step, apply(program, Schedule((step,)))))
            except ScheduleError as error:
                codes.add(error.code)
    assert codes <= {"W209", "W221"}
    return found


def _same_meaning(program: Program, step: PartialSums, state: ScheduledScop) -> None:
    """The rewritten program keeps the rules and computes the same, to the bit but for floats."""
    rewritten = state.scop.program
    assert not faults(rewritten)
    inputs = random_inputs(program, 1)
    want, got = interp.run(program, inputs), interp.run(rewritten, inputs)
    inexact = tolerances(program, Schedule((step,)))
    for name in want:
        assert name in inexact or same(want[name], got[name]), (name, step, program)


def _walked(
    state: ScheduledScop, step: PartialSums, rng: random.Random, length: int
) -> tuple[Schedule, ScheduledScop]:
    """Later steps, each judged by brute force on the rewritten program."""
    oracle = Oracle(state.scop.program)
    free = tuple(Reassociate(name) for name in sorted(state.reassociated))
    taken: list[object] = []
    for _ in range(length):
        new = random_step(rng, state)
        if isinstance(new, PartialSums):
            continue
        result = judge(oracle, state, new)
        assert not result.verdict.is_fault, (result, step, new)
        if result.verdict is Verdict.ACCEPTED and result.state is not None:
            state = result.state
            taken.append(new)
    steps = Schedule((*free, *taken))  # type: ignore[arg-type]
    assert tree_fault(oracle, oracle.program, state, steps, 1) is None
    return Schedule((step, *taken)), state  # type: ignore[arg-type]


def test_random_programs_mean_the_same() -> None:
    tried = 0
    cases = []
    for seed in range(30):
        rng = random.Random(seed)
        program = _summing(rng)
        for step, state in _spread(program, rng)[:1]:
            tried += 1
            _same_meaning(program, step, state)
            schedule, last = _walked(state, step, rng, 4)
            loop_tree(last)
            if tried % 8 == 0:
                cases.append(Case(seed, program, schedule))
    assert tried > 15
    found = check_levels(cases, cxx=False)
    assert not found, found[0].report()
