"""Buffers: what the step makes of a program, that it means the same, and what it refuses."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.programs.pretty import pretty
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Buffer
from polyhedral.schedule import apply
from tests.support.amount import programs
from tests.support.levels import Case, check_levels
from tests.support.random_programs import random_program
from tests.support.random_schedules import EVERY, random_step
from tests.support.rewritten import rewriting_faults
from weft import f32, i32

Build = Callable[[ScheduleBuilder], ScheduleBuilder]


@weft.kernel
def gemm(A: f32[10, 9], B: f32[9, 11], C: f32[10, 11]):
    for i in range(10):
        for j in range(11):
            C[i, j] = 0.0
            for k in range(9):
                C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def syrk(A: i32[9, 7], C: i32[9, 9]):
    for i in range(9):
        for j in range(i + 1):
            for k in range(7):
                C[i, j] += A[i, k] * A[j, k]


@weft.kernel
def jacobi(A: f32[14, 13], B: f32[14, 13]):
    for i in range(1, 13):
        for j in range(1, 12):
            B[i, j] = A[i, j] + A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]


@weft.kernel
def seidel(A: i32[20]):
    for t in range(6):
        for i in range(1, 19):
            A[i] = A[i - 1] + A[i] + A[i + 1]


@weft.kernel
def lu(A: i32[8, 8]):
    for k in range(8):
        for i in range(k + 1, 8):
            for j in range(k + 1, 8):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]


@weft.kernel
def strided(A: i32[40], B: i32[40], C: i32[13]):
    for i in range(12, -1, -1):
        A[3 * i] = B[2 * i + 1] + i
        C[i] = A[3 * i] - A[3 * i + 1]


@weft.kernel
def united(A: i32[24], B: i32[24]):
    for r in range(3):
        for i in range(8):
            if i < 3 or i > 5:
                A[8 * r + i] = B[8 * r + i]
        for i in range(8):
            B[8 * r + i] = A[8 * r + i] + 1


@weft.kernel
def scratch(x: i32[12], y: i32[12]):
    t: i32[12]
    for i in range(12):
        t[i] = x[i] * 2
    for r in range(4):
        for i in range(12):
            y[i] += t[11 - i] * t[i]


@weft.kernel
def nothing(A: i32[8], B: i32[8]):
    for i in range(4, 4):
        B[i] = A[i]
    for i in range(8):
        B[i] = A[i]


@weft.kernel
def dead(A: i32[8], B: i32[8]):
    for i in range(3, 3):
        t: i32[4]
        t[0] = A[i]
        B[i] = t[0]
    for i in range(8):
        B[i] = A[i]


@weft.kernel
def started(A: i32[6, 6], y: i32[6]):
    for k in range(6):
        for i in range(6):
            if k == 0:
                y[i] = 0
            y[i] += A[i, k]


@weft.kernel
def within(x: i32[9, 4], y: i32[9]):
    for i in range(9):
        t: i32[4]
        for j in range(4):
            t[j] = x[i, j]
        for j in range(4):
            y[i] += t[j] * t[3 - j]


CASES: list[tuple[str, weft.Kernel, Build]] = [
    ("whole", gemm, lambda s: s.buffer("A").buffer("B").buffer("C")),
    (
        "tiles, remainders",
        gemm,
        lambda s: (
            s.distribute(["S1"])
            .tile(["S1.i", "S1.j", "k"], [4, 4, 4])
            .buffer("C", "j_0")
            .buffer("A", "k_0")
            .buffer("B", "k_0")
            .pipeline("load_A_1")
            .partition("A_buf", 1, "cyclic", 2)
        ),
    ),
    (
        "tiles, guards",
        gemm,
        lambda s: (
            s.distribute(["S1"])
            .tile(["S1.i", "S1.j", "k"], [4, 3, 5], tail="guard")
            .buffer("C", "k_0")
            .buffer("A", "j_0")
        ),
    ),
    (
        "tiles in tiles",
        gemm,
        lambda s: (
            s.split("i", 5)
            .buffer("A", "i_0", "L2")
            .split("i_1", 2)
            .buffer("L2", "i_1_0", "L1")
            .buffer("C", "i_1_0")
            .unroll("load_L2_1", 3)
        ),
    ),
    (
        "outwards",
        gemm,
        lambda s: (
            s.split("i", 3).buffer("A", "j").buffer("A", "i_0").bind_storage("A_buf", "ram_2p")
        ),
    ),
    ("two tiles of one matrix", syrk, lambda s: s.tile(["i", "j"], [4, 4]).buffer("A", "j_0")),
    (
        "a triangle",
        syrk,
        lambda s: s.tile(["i", "j"], [4, 4]).buffer("C", "j_0").buffer("C", "i_0"),
    ),
    ("a row of a triangle", syrk, lambda s: s.buffer("C", "i").buffer("A", "j")),
    ("halo", jacobi, lambda s: s.tile(["i", "j"], [5, 4]).buffer("A", "j_0").buffer("B", "j_0")),
    ("halo, a point", jacobi, lambda s: s.buffer("A", "j")),
    ("in place", seidel, lambda s: s.buffer("A", "t").split("i", 5).buffer("A_buf", "i_0")),
    (
        "skewed",
        seidel,
        lambda s: s.skew("t", "i", 1).tile(["t", "i"], [3, 4]).buffer("A", "i_0"),
    ),
    ("panels", lu, lambda s: s.buffer("A", "k")),
    ("panels, tiled", lu, lambda s: s.tile(["i", "j"], [3, 3]).buffer("A", "j_0")),
    ("strides", strided, lambda s: s.split("i", 4).buffer("A", "i_0").buffer("B", "i_0")),
    ("reversed", strided, lambda s: s.reverse("i").split("i", 5).buffer("A", "i_0").buffer("C")),
    ("a union", united, lambda s: s.buffer("A", "r").buffer("B", "r")),
    ("a local", scratch, lambda s: s.buffer("y", "r").buffer("t", "r").fuse(["load_y", "S1"], 2)),
    ("no iterations", nothing, lambda s: s.buffer("A").buffer("B")),
    (
        "nothing left of a local",
        dead,
        lambda s: s.bind_storage("t", "ram_1p").partition("t", 0, "cyclic", 2).buffer("A"),
    ),
    ("partly written first", started, lambda s: s.buffer("y", "k").buffer("A", "k")),
    ("a local of a loop", within, lambda s: s.split("i", 2).buffer("t", "i_1").buffer("y", "i_0")),
    (
        "a local in its copies",
        within,
        lambda s: s.split("i", 2).buffer("x", "i_0").buffer("t", "i_1").buffer("y", "i_0"),
    ),
    ("one element", gemm, lambda s: s.buffer("C", "k").buffer("A", "k")),
]


def schedule(build: Build) -> Schedule:
    return build(ScheduleBuilder()).build()


@pytest.mark.parametrize(("kernel", "build"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_it_is_proven(kernel: weft.Kernel, build: Build) -> None:
    case = Case(0, kernel.program, schedule(build))
    apply(case.program, case.schedule)  # not refused
    failures = check_levels([case], cxx=False)
    assert not failures, failures[0].report()


def test_it_computes_the_same() -> None:
    cases = [Case(n, k.program, schedule(build)) for n, (_, k, build) in enumerate(CASES)]
    failures = check_levels(cases, jit=False, equivalent=False)
    assert not failures, failures[0].report()


# ------------------------------------------------------------------------------- what it makes


def text(kernel: weft.Kernel, build: Build) -> list[str]:
    """The lines of the rewritten program that say what is done, without what is around."""
    program = apply(kernel.program, schedule(build)).scop.program
    return [line.strip() for line in pretty(program).splitlines()[5:]]


def test_a_tile_is_copied_in_once_and_out_once():
    found = text(syrk, lambda s: s.tile(["i", "j"], [3, 3]).buffer("C", "j_0"))
    assert found == [
        "def syrk(A: i32[9, 7], C: i32[9, 9]):",
        "for i_0 in range(3):",
        "for j_0 in range(i_0 + 1):",
        "C_buf: i32[3, 3]",
        "for load_C_0, load_C_1 in weft.grid(3, 3):",
        'with weft.stmt("load_C"):',
        "C_buf[load_C_0, load_C_1] = C[3 * i_0 + load_C_0, 3 * j_0 + load_C_1]",
        "for i_1 in range(3):",
        "for j_1 in range(min(3 * i_0 + i_1 - 3 * j_0 + 1, 3)):",
        "for k in range(7):",
        'with weft.stmt("S0"):',
        "C_buf[i_1, j_1] += A[3 * i_0 + i_1, k] * A[3 * j_0 + j_1, k]",
        "for store_C_0, store_C_1 in weft.grid(3, 3):",
        "if 3 * i_0 + store_C_0 >= 3 * j_0 + store_C_1:",
        'with weft.stmt("store_C"):',
        "C[3 * i_0 + store_C_0, 3 * j_0 + store_C_1] = C_buf[store_C_0, store_C_1]",
    ]


def shapes(kernel: weft.Kernel, build: Build) -> dict[str, tuple[int, ...]]:
    program = apply(kernel.program, schedule(build)).scop.program
    return {a.name: a.shape for a in program.locals}


def statements(kernel: weft.Kernel, build: Build) -> list[str]:
    program = apply(kernel.program, schedule(build)).scop.program
    return [s.name for s in program.statements()]


def test_tiles_are_as_large_as_what_one_iteration_touches():
    assert shapes(jacobi, lambda s: s.tile(["i", "j"], [5, 4]).buffer("A", "j_0")) == {
        "A_buf": (7, 6)
    }
    assert shapes(jacobi, lambda s: s.buffer("A", "i")) == {"A_buf": (3, 13)}
    skewed = shapes(
        seidel, lambda s: s.skew("t", "i", 1).tile(["t", "i"], [3, 4]).buffer("A", "i_0")
    )
    assert skewed == {"A_buf": (4 + 2 + 2,)}  # of the hull of a parallelogram, and its halo
    two = shapes(syrk, lambda s: s.tile(["i", "j"], [4, 4]).buffer("A", "j_0"))
    assert two == {"A_buf": (4, 7), "A_buf_2": (4, 7)}
    assert shapes(lu, lambda s: s.tile(["i", "j"], [3, 2]).buffer("A", "j_0")) == {
        "A_buf": (3, 2),
        "A_buf_2": (3, 1),
        "A_buf_3": (1, 2),
    }
    assert shapes(gemm, lambda s: s.buffer("C", "i", "row")) == {"row": (1, 11)}


def test_what_is_written_first_is_not_copied_in_and_what_is_read_only_not_out():
    assert statements(gemm, lambda s: s.buffer("C", "j").buffer("A", "i")) == [
        "load_A", "S0", "S1", "store_C"
    ]  # fmt: skip
    # Only where y is not begun, and what the first iteration of k begins is copied out as well.
    found = text(started, lambda s: s.buffer("y", "k"))
    assert found[found.index('with weft.stmt("load_y"):') - 2] == "if k >= 1:"


def test_copies_with_names_of_their_own_share_nothing():
    def twice(s: ScheduleBuilder) -> ScheduleBuilder:
        return s.split("i", 5).buffer("A", "i_1", "row").buffer("A", "i_0", "panel")

    assert statements(gemm, twice)[:2] == ["load_A_2", "load_A"]
    state = apply(gemm.program, schedule(lambda s: twice(s).pipeline("load_A_1")))
    asked = [p.name for p in state.pieces for d in p.dims if d.pipeline_ii is not None]
    assert asked == ["load_A"]


def test_exactly_what_is_written_is_copied_out():
    found = text(strided, lambda s: s.buffer("A"))
    at = found.index('with weft.stmt("store_A"):')
    assert found[at - 1] == "if 0 == store_A_0 % 3:"


# ---------------------------------------------------------------------------------- refusals


@weft.kernel
def meeting(A: i32[12], y: i32[4, 4]):
    for i in range(4):
        for j in range(4):
            for k in range(3):
                A[3 * i + k] = A[3 * i + k] + A[3 * j + k]


def refused(kernel: weft.Kernel, build: Build) -> str:
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, schedule(build))
    assert caught.value.code == "W229"
    return caught.value.render()


def test_an_element_in_two_copies_is_shown():
    rendered = refused(meeting, lambda s: s.buffer("A", "j"))
    assert (
        "error[W229]: A[0] would be in two copies at a time, and one of them writes it" in rendered
    )
    assert "S0 (A[3*i + k]) and S0 (A[3*j + k]) touch it where i = 0, j = 0" in rendered
    assert 'help: a copy for both would be all of A: buffer("A") makes one' in rendered
    apply(meeting.program, schedule(lambda s: s.buffer("A")))


def test_a_local_of_an_inner_loop_is_no_buffer_of_an_outer_one():
    assert "loops further in" in refused(within, lambda s: s.buffer("t"))


# ------------------------------------------------------------------------------ random programs


@pytest.mark.slow
def test_random_programs_on_copies_compute_the_same() -> None:
    cases = []
    refused: set[str] = set()
    for seed in programs(9):
        program, rng = random_program(seed), random.Random(seed)
        steps = Schedule()
        state = apply(program, steps)
        for _ in range(8):
            weights = EVERY if rng.random() < 0.5 else {"buffer": 1}
            step = random_step(rng, state, weights)
            try:
                state = apply(program, steps.then(step))
            except ScheduleError as error:
                if isinstance(step, Buffer):
                    refused.add(error.message.split("'")[0])
                continue
            steps = steps.then(step)
        if any(isinstance(step, Buffer) for step in steps):
            cases.append(Case(seed, program, steps))
    assert len(cases) > 5
    # What is refused has nothing to copy, or no copy that would be coherent: nothing else.
    assert not {text for text in refused if "out of bounds" in text or "read before" in text}
    failures = check_levels(cases, jit=False)
    assert not failures, failures[0].report()


@weft.kernel
def once(x: i32[3], y: i32[3]):
    for i in range(3):
        if i == 1:
            with weft.stmt("last"):
                y[i - 1] = y[i - 1] * 3 + 6
        else:
            with weft.stmt("first"):
                x[0] = x[0] * 3 + 1


def test_a_local_belongs_to_the_loops_that_all_its_accesses_are_left_in() -> None:
    """One iteration alone uses the buffer: its copies may go to loops of their own."""
    builder = ScheduleBuilder().buffer("y", at="i").distribute(["first", "last"])
    before = apply(once.program, builder.build())
    after = apply(once.program, builder.buffer("x").build())
    assert rewriting_faults(before, after) == []
    assert all(a.scope_depth == 0 for a in after.scop.program.locals)
