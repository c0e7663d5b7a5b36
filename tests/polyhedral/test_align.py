"""Alignment: what the step makes of a nest, that it means the same, and what it refuses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine_text import read_affine
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Align
from polyhedral.dependences.alignments import alignments
from polyhedral.legality.violations import IllegalStep
from polyhedral.schedule import apply, tried
from polyhedral.scop.scheduled import build
from tests.polyhedral.show import nest
from tests.support.amount import sample
from tests.support.legality_checks import Verdict, judge
from tests.support.levels import Case, check_levels
from tests.support.oracle import Oracle
from tests.support.profiles import FAST
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_align, random_step
from weft import f32, i32

Build = Callable[[ScheduleBuilder], ScheduleBuilder]


@weft.kernel
def lu(A: f32[9, 9]):
    for i in range(9):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] = A[i, j] / A[j, j]
        for j in range(i, 9):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def cholesky(A: i32[8, 8]):
    for i in range(8):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] = A[i, j] + 3 * A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = 2 * A[i, i] + 1


@weft.kernel
def backward(U: i32[10, 10], b: i32[10], x: i32[10]):
    for i in range(9, -1, -1):
        for j in range(i + 1, 10):
            b[i] -= U[i, j] * x[j]
        x[i] = b[i] * U[i, i]


@weft.kernel
def two_sweeps(A: i32[12], B: i32[12]):
    for t in range(4):
        for i in range(1, 11):
            B[i] = A[i - 1] + A[i] + A[i + 1]
        for j in range(1, 11):
            A[j] = B[j] + t


@weft.kernel
def beside(A: i32[8, 6], s: i32[1], B: i32[6]):
    s[0] = 1
    for i in range(8):
        for j in range(6):
            A[i, j] = A[i, j] * 2 + i
    for j in range(6):
        B[j] = A[3, j]


@weft.kernel
def pairs(A: i32[9, 9], y: i32[9]):
    for i in range(9):
        if i > 2:
            for j in range(9):
                if j != i:
                    A[i, j] = i - j
        for j in range(i, 9):
            y[j] += i * j


LU = ["S1", "S0", "S2"], ["j", "k", "k"]

CASES: list[tuple[str, weft.Kernel, Build]] = [
    ("elimination outermost", lu, lambda s: s.align(*LU)),
    ("and fused again", lu, lambda s: s.align(*LU).fuse(["S1", "S0", "S2"], 2)),
    ("and tiled", lu, lambda s: s.align(*LU).tile(["S0.i", "S0.j"], [3, 2]).split("k", 4)),
    (
        "and directed",
        lu,
        lambda s: (
            s.align(*LU, loop="step")
            .unroll("S2.j", tail="guard")
            .pipeline("S2.i")
            .pipeline("S1.i")
            .partition("A", 1, "complete")
        ),
    ),
    ("and buffered", lu, lambda s: s.align(*LU).buffer("A", "S0.i", access="A[i, k]")),
    ("by rows of columns", lu, lambda s: s.align(["S0", "S1", "S2"], ["j", "j", "k"])),
    ("inside", lu, lambda s: s.align(["S0", "S1"], ["j", "j"], depth=1)),
    (
        "four statements",
        cholesky,
        lambda s: s.align(["S3", "S1", "S0", "S2"], ["i", "j", "k", "k"]),
    ),
    (
        "downwards",
        backward,
        lambda s: s.reassociate("S0").align(["S1", "S0"], ["i", "9 - j"]),
    ),
    (
        "a skewed band of two sweeps",
        two_sweeps,
        lambda s: s.align(["S0", "S1"], ["i + 3*t", "j + 3*t + 1"], "w"),
    ),
    (
        "tiles of two sweeps",
        two_sweeps,
        lambda s: s.align(["S0", "S1"], ["i", "j + 1"], "w", 1).skew("t", "w", 2).split("w", 4),
    ),
    ("a number", beside, lambda s: s.align(["S0", "S1", "S2"], ["0", "i", "7"])),
    ("nests that had nothing in common", beside, lambda s: s.align(["S1", "S2"], ["j", "j"])),
    ("conditions", pairs, lambda s: s.align(["S0", "S1"], ["i", "j"])),
    (
        "remainders and guards",
        pairs,
        lambda s: (
            s.split("i", 4)
            .split("S1.j", 2, tail="guard")
            .align(["S0", "S1"], ["4*i_0 + i_1", "2*j_0 + j_1"], "t")
        ),
    ),
]


@pytest.mark.parametrize(("name", "kernel", "schedule"), CASES, ids=[c[0] for c in CASES])
def test_the_levels_below_agree_with_the_interpreter(
    name: str, kernel: weft.Kernel, schedule: Build
) -> None:
    steps = schedule(ScheduleBuilder()).build()
    apply(kernel.program, steps)
    assert not check_levels([Case(0, kernel.program, steps)])
    assert Schedule.from_json(steps.to_json()) == steps


def test_the_nest_is_that_of_the_docstring() -> None:
    assert nest(lu.program, ScheduleBuilder().align(*LU)) == (
        "k: 0 .. 8\n"
        "  i: k + 1 .. 9\n    S1(i, k)\n"
        "  i.2: k + 2 .. 9\n    j: k + 1 .. i.2\n      S0(i.2, j, k)\n"
        "  i.3: k + 1 .. 9\n    j.2: i.3 .. 9\n      S2(i.3, j.2, k)"
    )


@weft.kernel
def one_behind(x: i32[12], y: i32[12]):
    for i in range(11):
        for j in range(12):
            if j == i + 1:
                x[j] = x[i] + y[j]
        y[i] = 2 * y[i]


def test_loops_of_one_iteration_keep_their_names_unless_they_are_promoted() -> None:
    kept = ScheduleBuilder().align(["S0", "S1"], ["j", "i + 1"], "t").pipeline("S0.i").build()
    promoted = ScheduleBuilder().align(["S0", "S1"], ["j", "i + 1"], "t", promote=True)
    assert apply(one_behind.program, kept).of_statement("S0")[0].names == ("t", "i")
    steps = promoted.build()
    assert apply(one_behind.program, steps).of_statement("S0")[0].names == ("t",)
    assert not check_levels([Case(0, one_behind.program, s) for s in (kept, steps)])
    with pytest.raises(ScheduleError, match="W201"):
        apply(one_behind.program, promoted.pipeline("S0.i").build())


@pytest.mark.parametrize("first", sample(range(0, 32, 8), 2))
def test_random_programs_are_aligned_as_brute_force_says(first: int) -> None:
    """Order and witnesses against all iterations; what is accepted, against the interpreter."""
    cases: list[Case] = []
    decided: Counter[Verdict] = Counter()
    for seed in range(first, first + 8):
        rng = random.Random(f"align {seed}")
        program = random_program(seed, FAST)
        oracle, state, steps = Oracle(program), build(program), Schedule()
        for turn in range(10):
            step = random_align(rng, state) if turn % 3 else random_step(rng, state)
            if step is None:
                continue
            result = judge(oracle, state, step)
            assert not result.verdict.is_fault, (seed, steps, step, result)
            if isinstance(step, Align):
                decided[result.verdict] += 1
            if result.verdict is Verdict.ACCEPTED and result.state is not None:
                state, steps = result.state, steps.then(step)
        if any(isinstance(step, Align) for step in steps):
            cases.append(Case(seed, program, steps))
    assert not check_levels(cases)
    assert decided[Verdict.ACCEPTED] > 10
    assert decided[Verdict.REFUSED]


def refusal(kernel: weft.Kernel, *arguments: object, **named: object) -> ScheduleError:
    """What the step is refused with, on a kernel as it is written."""
    steps = ScheduleBuilder().align(*arguments, **named).build()
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, steps)
    assert caught.value.code in caught.value.render()
    return caught.value


def test_an_illegal_order_is_refused_with_a_witness() -> None:
    error = refusal(lu, ["S0", "S1", "S2"], ["k", "j", "k"])
    assert isinstance(error, IllegalStep)
    assert error.witness.source == ("S1", (2, 0))
    assert error.witness.sink == ("S0", (2, 1, 0))
    assert "align([S0, S1, S2], [k, j, k]) reverses a flow dependence" in error.render()


@pytest.mark.parametrize(
    ("code", "said", "arguments"),
    [
        ("W207", "3 statements and 2 times", (["S1", "S0", "S2"], ["j", "k"])),
        ("W210", "align needs different statements", ([], [])),
        ("W210", "align needs different statements", (["S1", "S1"], ["j", "j"])),
        ("W205", "no statement is called 'S7'", (["S7"], ["j"])),
        ("W204", "S2 is in the nest as well", (["S1", "S0"], ["j", "k"])),
        ("W210", "depth is -1, not at least 0", (*LU, None, -1)),
        ("W210", "depth is 3, but S1 has 2 loops", (*LU, None, 3)),
        ("W201", "no loop around S1 is called 'k'", (["S1", "S0", "S2"], ["k", "k", "k"])),
        ("W207", "S1 cannot run at 'j*j'", (["S1", "S0", "S2"], ["j*j", "k", "k"])),
        ("W207", "S1 cannot run at ''", (["S1", "S0", "S2"], ["", "k", "k"])),
        ("W207", "S1 cannot run at 'j + 2147483648'", (["S1"], ["j + 2147483648"])),
        ("W207", "S1 cannot run at '2*j': all of its loops", (["S1"], ["2*j"])),
        ("W208", "'j' is another loop around one of the statements", (*LU, "j")),
        ("W208", "'a b' cannot be the name of a loop", (*LU, "a b")),
    ],
)
def test_what_cannot_be_done_is_said(code: str, said: str, arguments: tuple[object, ...]) -> None:
    error = refusal(lu, *arguments)
    assert (error.code, error.message[: len(said)]) == (code, said)


def test_statements_of_different_iterations_are_not_aligned() -> None:
    error = refusal(beside, ["S1", "S2"], ["j", "0"], depth=1)
    assert (error.code, error.message) == ("W204", "S1 and S2 do not share 1 loops")


def test_a_loop_that_is_directed_already_is_left_alone() -> None:
    steps = ScheduleBuilder().pipeline("S2.k").align(*LU).build()
    with pytest.raises(ScheduleError, match="'k' is annotated already"):
        apply(lu.program, steps)


@pytest.mark.parametrize("text", ["k", "-k", "39 - j", "2*t + i - 3", " + 7 ", "j\n", "i - i", "0"])
def test_an_expression_is_read_as_it_is_written(text: str) -> None:
    values = {"k": 5, "j": 11, "t": 2, "i": -4}
    found = read_affine(text)
    assert found.evaluate(values) == eval(text.strip(), {}, values)
    assert read_affine(str(found)) == found


@pytest.mark.parametrize("text", ["", " ", "i j", "i +", "--i", "i*2", "i*j", "1.5", "i[0]", "(i)"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no sum of names and whole numbers"):
        read_affine(text)


# ------------------------------------------------------------------------------ which there are


def found_for(kernel: weft.Kernel, *free: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    state = build(kernel.program)
    for name in free:
        state = apply(kernel.program, ScheduleBuilder().reassociate(name).build())
    steps = alignments(state, list(state.pieces), 0)
    assert all(tried(state, step) is not None for step in steps)
    return [(step.stmts, step.times) for step in steps]


def test_the_step_of_elimination_is_found() -> None:
    assert found_for(lu)[0] == (("S1", "S0", "S2"), ("j", "k", "k"))
    assert found_for(cholesky)[0] == (("S3", "S1", "S0", "S2"), ("i", "j", "k", "k"))


def test_a_loop_runs_downwards_where_its_sum_may() -> None:
    assert found_for(backward) == []  # the terms of a sum in their order
    assert found_for(backward, "S0") == [(("S1", "S0"), ("i", "-j + 9"))]


def test_there_is_none_where_the_recurrence_cannot_be_outermost() -> None:
    @weft.kernel
    def prefix(A: f32[8, 8], y: f32[8]):
        for i in range(1, 8):
            for j in range(1, 8):
                A[i, j] = A[i, j - 1] * A[i - 1, j] + A[i - 1, j - 1]
            y[i] = A[i, 7] + y[i - 1]

    assert found_for(prefix) == []


def test_there_is_none_where_nothing_waits() -> None:
    @weft.kernel
    def rows(A: f32[8, 8], y: f32[8]):
        for i in range(8):
            for j in range(8):
                A[i, j] = A[i, j] * 2.0
            y[i] = A[i, 7]

    assert found_for(rows) == []
