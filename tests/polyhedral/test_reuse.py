"""Line buffers and windows: what the step makes, that it means the same, and what it refuses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import loads
from dsl.programs.pretty import pretty
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Reuse
from polyhedral.schedule import apply
from tests.support.enumeration import program_events
from tests.support.levels import Case, check_levels
from tests.support.random_stencils import random_reuse, random_stencil
from weft import f32, i8, i16, i32

Build = Callable[[ScheduleBuilder], ScheduleBuilder]


@weft.kernel
def cross(A: i32[8, 10], B: i32[8, 10]):
    for y in range(1, 7):
        for x in range(1, 9):
            B[y, x] = A[y - 1, x] + A[y, x - 1] + A[y, x] + A[y, x + 1] + A[y + 1, x]


@weft.kernel
def two(A: f32[9, 9], C: f32[9, 9], B: f32[9, 9]):
    for y in range(1, 8):
        for x in range(1, 8):
            B[y, x] = A[y - 1, x] + A[y + 1, x] - C[y, x - 1] * C[y + 1, x + 1]


@weft.kernel
def layer(x: i8[8, 9, 4], w: i8[3, 3, 3, 4], y: i32[6, 7, 3]):
    for h in range(6):
        for v in range(7):
            for o in range(3):
                total: i32 = 0
                for r in range(3):
                    for q in range(3):
                        for c in range(4):
                            total += w[o, r, q, c] * x[h + r, v + q, c]
                y[h, v, o] = total


@weft.kernel
def every_second(x: i16[13, 11], y: i32[6, 5]):
    for h in range(6):
        for v in range(5):
            y[h, v] = 0
            for r in range(3):
                for q in range(3):
                    y[h, v] += x[2 * h + r, 2 * v + q]


@weft.kernel
def clamped(A: i32[7, 8], B: i32[7, 8]):
    for y in range(7):
        for x in range(8):
            B[y, x] = A[y, x]
            if y > 0:
                B[y, x] += A[y - 1, x]
            if x < 7:
                B[y, x] -= A[y, x + 1] * 3


@weft.kernel
def triangle(A: i32[12, 12], B: i32[12, 12]):
    for y in range(10):
        for x in range(y, 10):
            B[y, x] = A[y, x] + A[y + 1, x + 2] - A[y + 2, x]


@weft.kernel
def backwards(A: i32[14, 9], B: i32[9, 7]):
    for y in range(9):
        for x in range(7):
            B[y, x] = A[13 - y, x] + A[11 - y, x + 2] + A[12 - y, x + 1]


@weft.kernel
def taps(x: i16[40], h: i16[8], y: i32[40]):
    for n in range(33):
        total: i32 = 0
        for t in range(8):
            total += h[t] * x[n + t]
        y[n] = total


@weft.kernel
def heat(A: f32[6, 6, 7], B: f32[6, 6, 7]):
    for z in range(1, 5):
        for y in range(1, 5):
            for x in range(1, 6):
                B[z, y, x] = A[z - 1, y, x] + A[z + 1, y, x] + A[z, y - 1, x] + A[z, y + 1, x] \
                    + A[z, y, x - 1] + A[z, y, x + 1]  # fmt: skip


@weft.kernel
def passes(image: i32[9, 10], out: i32[9, 10]):
    rows: i32[9, 8]
    for y in range(9):
        for x in range(8):
            rows[y, x] = image[y, x] + image[y, x + 1] + image[y, x + 2]
    for y in range(7):
        for x in range(8):
            out[y, x] = rows[y, x] - rows[y + 1, x] + rows[y + 2, x]


@weft.kernel
def holes(x: i32[30], y: i32[30]):
    for n in range(18):
        y[n] = x[n] + x[n + 5] * x[n + 12]


@weft.kernel
def planes(A: i32[3, 6, 7], B: i32[6, 7]):
    for y in range(5):
        for x in range(6):
            B[y, x] = 0
            for c in range(3):
                B[y, x] += A[c, y, x] * A[c, y + 1, x + 1]


CASES: list[tuple[str, weft.Kernel, Build]] = [
    ("rows and a window", cross, lambda s: s.reuse("A", "y").pipeline("x")),
    ("a window", cross, lambda s: s.pipeline("x").reuse("A", "x")),
    ("arrays", two, lambda s: s.reuse("A", "y").reuse("C", "y").pipeline("x")),
    ("channels", layer, lambda s: s.reuse("x", "h").pipeline("o")),
    ("stride 2", every_second, lambda s: s.reuse("x", "h").pipeline("v")),
    ("conditions", clamped, lambda s: s.reuse("A", "y").pipeline("x")),
    ("a triangle", triangle, lambda s: s.reuse("A", "y")),
    ("against the loops", backwards, lambda s: s.reuse("A", "y").pipeline("x")),
    ("backwards", cross, lambda s: s.reverse("x").reuse("A", "y")),
    ("taps", taps, lambda s: s.reuse("x", "n").pipeline("n")),
    ("taps, points at once", taps, lambda s: s.split("n", 3).reuse("x", "n_0").pipeline("n_0")),
    ("three dimensions", heat, lambda s: s.reuse("A", "z").pipeline("x")),
    ("a loop further in", planes, lambda s: s.reuse("A", "y").pipeline("c")),
    ("holes", holes, lambda s: s.reuse("x", "n").unroll("n", 2)),
    ("tiles", cross, lambda s: s.tile(["y", "x"], [4, 3]).reuse("A", "y_1").pipeline("x_1")),
    ("points at once", cross, lambda s: s.split("x", 4).reuse("A", "y").pipeline("x_0")),
    (
        "processes",
        passes,
        lambda s: s.reuse("image", "S0.x").reuse("rows", "S1.y")
        .pipeline("S0.x").pipeline("S1.x").dataflow().stream("rows"),
    ),
    ("an argument that is a FIFO", cross, lambda s: s.interface("A", "axis").reuse("A", "y")),
    (
        "words",
        cross,
        lambda s: s.interface("A", "m_axi").pack("A", 64).split("x", 2).reuse("A", "y")
        .pipeline("x_0"),
    ),
    ("rows without a window", cross, lambda s: s.reorder(["x", "y"]).reuse("A", "y")),
]  # fmt: skip


def schedule(build: Build) -> Schedule:
    return build(ScheduleBuilder()).build()


def test_it_is_proven_and_computes_the_same() -> None:
    cases = [Case(n, k.program, schedule(build)) for n, (_, k, build) in enumerate(CASES)]
    for case in cases:
        apply(case.program, case.schedule)  # not refused
    failures = check_levels(cases)
    assert not failures, failures[0].report()


# ------------------------------------------------------------------------------- what it makes


def test_rows_fill_a_window() -> None:
    program = apply(cross.program, schedule(lambda s: s.reuse("A", "y"))).scop.program
    assert [line.strip() for line in pretty(program).splitlines()[6:]] == [
        "A_window: i32[3, 3]",
        "A_line: i32[2, 10]",
        "for y in range(-1, 7):",
        "for x in range(-1, 9):",
        "for shift_A_0, shift_A_1 in weft.grid(3, 2):",
        "if shift_A_1 + x >= 1 and y >= 1:",
        'with weft.stmt("shift_A"):',
        "A_window[shift_A_0, shift_A_1] = A_window[shift_A_0, shift_A_1 + 1]",
        'with weft.stmt("load_A"):',
        "A_window[2, 2] = A[y + 1, x + 1]",
        "for take_A_0 in range(2):",
        "if take_A_0 + y >= 1:",
        'with weft.stmt("take_A"):',
        "A_window[take_A_0, 2] = A_line[take_A_0, x + 1]",
        "for keep_A_0 in range(2):",
        "if y <= 5 and keep_A_0 + y >= 0:",
        'with weft.stmt("keep_A"):',
        "A_line[keep_A_0, x + 1] = A_window[keep_A_0 + 1, 2]",
        "if x >= 1 and y >= 1:",
        'with weft.stmt("S0"):',
        "B[y, x] = A_window[0, 1] + A_window[1, 0] + A_window[1, 1] + A_window[1, 2] + "
        "A_window[2, 1]",
    ]


def read(kernel: weft.Kernel, array: str, build: Build) -> Counter[tuple[int, ...]]:
    """How often each element of an array is read, counted one by one."""
    program = apply(kernel.program, schedule(build)).scop.program
    names = {
        s.name: [n.var for n in around if hasattr(n, "var")]
        for s, around in program.walk()
        if s in program.statements()
    }
    found: Counter[tuple[int, ...]] = Counter()
    for event in program_events(program):
        env = dict(zip(names[event.stmt.name], event.point, strict=True))
        for access in loads(event.stmt.value):
            if access.array == array:
                found[tuple(e.evaluate(env) for e in access.indices)] += 1
    return found


@pytest.mark.parametrize(
    ("kernel", "array", "build", "elements"),
    [
        (cross, "A", lambda s: s.reuse("A", "y"), 80),
        (
            cross,
            "A",
            lambda s: s.interface("A", "m_axi").pack("A", 64).split("x", 2).reuse("A", "y"),
            80,
        ),
        (two, "C", lambda s: s.reuse("C", "y"), 8 * 9),
        (layer, "x", lambda s: s.reuse("x", "h"), 8 * 9 * 4),
        (every_second, "x", lambda s: s.reuse("x", "h"), 13 * 11),
        (clamped, "A", lambda s: s.reuse("A", "y"), 56),
        (backwards, "A", lambda s: s.reuse("A", "y"), 11 * 9),
        (heat, "A", lambda s: s.reuse("A", "z"), 6 * 6 * 7),
        (holes, "x", lambda s: s.reuse("x", "n"), 30),
    ],
)
def test_each_element_is_read_once(
    kernel: weft.Kernel, array: str, build: Build, elements: int
) -> None:
    found = read(kernel, array, build)
    assert set(found.values()) == {1}
    assert len(found) == elements


def test_with_a_window_alone_a_column_is_read_in_each_iteration() -> None:
    found = read(cross, "A", lambda s: s.reuse("A", "x"))
    assert found[4, 5] == 3


def test_what_moves_is_one_statement() -> None:
    """However many iterations before need it: parts would be unrolled, and compared, one by one."""
    state = apply(taps.program, schedule(lambda s: s.split("n", 2, "n_0").reuse("x", "n_0")))
    assert Counter(p.name for p in state.pieces)["shift_x"] == 1


def test_loops_over_taps_do_not_move_a_window() -> None:
    program = apply(every_second.program, schedule(lambda s: s.reuse("x", "v"))).scop.program
    assert {a.name: a.shape for a in program.locals} == {"x_window": (3, 3)}


def test_a_tile_begins_anew() -> None:
    found = read(cross, "A", lambda s: s.tile(["y"], [3]).reuse("A", "y_1"))
    assert [found[y, 5] for y in range(8)] == [1, 1, 1, 2, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("kernel", "build"),
    [
        (cross, lambda s: s.reuse("A", "y").pipeline("x")),
        (two, lambda s: s.reuse("A", "y").reuse("C", "y").pipeline("x")),
        (taps, lambda s: s.reuse("x", "n").pipeline("n").partition("h", 0, "complete")),
    ],
)
def test_an_iteration_starts_each_cycle(kernel: weft.Kernel, build: Build) -> None:
    found = weft.estimate(kernel, schedule(build))
    assert [loop.ii for loop in found.loops if loop.kind == "pipeline"] == [1]


# ---------------------------------------------------------------------------- what it refuses


@weft.kernel
def various(A: i32[12, 12], B: i32[12, 12], s: i32):
    for y in range(5):
        for x in range(5):
            B[y, x] = A[y, x] + A[x, y] + s
    for i in range(1, 6):
        for j in range(1, 6):
            A[i, j] = A[i - 1, j] + A[i, j - 1]
    for p in range(6):
        for q in range(6):
            B[p, q] += A[p + q, q] + A[p + q + 1, q]


REFUSED: list[tuple[Build, str]] = [
    (lambda s: s.reuse("s", "y"), "W232: 's' is a scalar, which is a register anyway"),
    (lambda s: s.reuse("X", "y"), "W206: no array is called 'X'"),
    (lambda s: s.reuse("A", "z"), "W201: no loop is called 'z'"),
    (lambda s: s.reuse("A", "i"), "W232: S1 writes 'A' in 'i'"),
    (
        lambda s: s.reuse("A", "y"),
        "W232: what 'y' reads of 'A' does not move along one dimension with it",
    ),
    (lambda s: s.reuse("B", "y"), "W232: S0 writes 'B' in 'y'"),
    (
        lambda s: s.interface("A", "m_axi").pack("A", 64).reuse("A", "p"),
        "W232: 'A' is in words of 2 elements, and no iteration reads a whole one anew",
    ),
]


@pytest.mark.parametrize(("build", "text"), REFUSED, ids=[text for _, text in REFUSED])
def test_what_has_no_window_is_refused(build: Build, text: str) -> None:
    with pytest.raises(ScheduleError) as error:
        apply(various.program, schedule(build))
    assert f"{error.value.code}: {error.value.message}" == text


def test_it_comes_before_processes() -> None:
    with pytest.raises(ScheduleError) as error:
        apply(passes.program, schedule(lambda s: s.dataflow().reuse("rows", "S1.y")))
    assert error.value.code == "W232"
    assert error.value.message.startswith("reuse comes after dataflow")


def test_a_loop_further_in_is_named() -> None:
    with pytest.raises(ScheduleError) as error:
        apply(passes.program, schedule(lambda s: s.reuse("image", "S0.y")))
    assert error.value.message == "no iteration of 'S0.y' reads what another one reads of 'image'"
    assert error.value.help == 'reuse("image", at="x")'


# ------------------------------------------------------------------------------ random programs


@pytest.mark.slow
def test_random_stencils_compute_the_same() -> None:
    cases = []
    for seed in range(8):
        program, rng = random_stencil(seed), random.Random(seed)
        steps = Schedule()
        for step in random_reuse(rng, program):
            try:
                apply(program, steps.then(step))
            except ScheduleError:
                continue
            steps = steps.then(step)
        if any(isinstance(step, Reuse) for step in steps):
            cases.append(Case(seed, program, steps))
    assert len(cases) > 2
    failures = check_levels(cases)
    assert not failures, failures[0].report()
