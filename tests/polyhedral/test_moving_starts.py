"""Loops of so many iterations from wherever they start: their counters begin at 0."""

from collections.abc import Callable

import pytest

import weft
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import TreeLoop
from polyhedral.schedule import apply
from tests.support.levels import Case, check_levels
from weft import i32


@weft.kernel
def tiles(A: i32[30, 32], x: i32[32], y: i32[30]):
    for ii in range(0, 30, 8):
        for jj in range(0, 32, 8):
            for i in range(ii, min(ii + 8, 30)):
                for j in range(jj, jj + 8):
                    y[i] += A[i, j] * x[j]


@weft.kernel
def band(A: i32[12, 16], y: i32[12]):
    for i in range(12):
        s = 0
        for j in range(i, i + 4):
            s += A[i, j]
        y[i] = s


@weft.kernel
def averages(x: i32[16, 16], y: i32[4, 4]):
    for i in range(0, 16, 4):
        for j in range(0, 16, 4):
            s = 0
            for k in range(i, i + 4):
                for m in range(j, j + 4):
                    s += x[k, m]
            y[i // 4, j // 4] = s >> 4


@weft.kernel
def nested_bands(A: i32[30], y: i32[8]):
    for i in range(8):
        for j in range(i, i + 3):
            for k in range(2 * j + 1, 2 * j + 4):
                y[i] += A[k] * j


@weft.kernel
def clipped(x: i32[20], w: i32[5], y: i32[20]):
    for i in range(20):
        y[i] = 0
        for j in range(max(0, i - 2), min(20, i + 3)):
            y[i] += w[j - i + 2] * x[j]


@weft.kernel
def diagonals(A: i32[8, 8]):
    for d in range(2, 15):
        for i in range(max(1, d - 7), min(7, d - 1) + 1):
            A[i, d - i] = A[i - 1, d - i] + A[i, d - i - 1]


@weft.kernel
def triangle(A: i32[9, 9], y: i32[9]):
    for i in range(9):
        for j in range(i, 9):
            y[i] += A[i, j] * j


def loops_of(program, schedule):
    """The bounds of each loop by its name."""
    found: dict[str, tuple[str, ...]] = {}

    def walk(nodes):
        for node in nodes:
            if isinstance(node, TreeLoop):
                found[node.name] = tuple(", ".join(map(str, b)) for b in (node.lowers, node.uppers))
            walk(getattr(node, "body", ()))

    walk(loop_tree(apply(program, schedule)).body)
    return found


PLAIN = [(tiles, 4), (band, 2), (averages, 4), (nested_bands, 3)]


@pytest.mark.parametrize(("kernel", "loops"), PLAIN, ids=lambda p: getattr(p, "name", p))
def test_counters_begin_at_zero(kernel, loops):
    found = loops_of(kernel.program, Schedule())
    assert len(found) == loops
    assert all(low == "0" for low, _ in found.values())


def test_a_band_at_the_border_counts_what_is_there():
    assert loops_of(clipped.program, Schedule())["j"] == ("0, -i + 2", "5, -i + 22")


def test_what_is_no_band_stays():
    """Rows of a triangle have another length each; those of a diagonal are bounded as well by the table."""
    assert loops_of(triangle.program, Schedule())["j"] == ("i", "9")
    assert loops_of(diagonals.program, Schedule())["i"] == ("1, d - 7", "8, d")


SCHEDULES: list[tuple[weft.Kernel, Callable[[ScheduleBuilder], ScheduleBuilder]]] = [
    (tiles, lambda s: s.reassociate("S0").reorder(["ii", "i", "jj", "j"]).pipeline("i")),
    (tiles, lambda s: s.buffer("A", "jj").split("j", 3).reverse("ii")),
    (tiles, lambda s: s.buffer("A", "ii").buffer("A_buf", "i")),
    (band, lambda s: s.pipeline("i").auto_partition("A")),
    (averages, lambda s: s.pipeline("j").auto_partition("x")),
    (averages, lambda s: s.buffer("x", "j").split("k", 2)),
    (nested_bands, lambda s: s.reassociate("S0").interchange("j", "k").unroll("j")),
    (nested_bands, lambda s: s.reassociate("S0").reverse("j").skew("i", "j", 1)),
    (clipped, lambda s: s.buffer("x", "S1.i").split("j", 2)),
    (nested_bands, lambda s: s.buffer("A", "j").buffer("y", "i").split("k", 2)),
]


def test_under_schedules_they_compute_the_same():
    chosen = [*((k, steps(ScheduleBuilder()).build()) for k, steps in SCHEDULES)]
    chosen += [(k, Schedule()) for k in (*(k for k, _ in PLAIN), clipped, diagonals)]
    cases = [Case(n, k.program, schedule) for n, (k, schedule) in enumerate(chosen)]
    for case in cases:
        apply(case.program, case.schedule)  # not refused
    failures = check_levels(cases)
    assert not failures, failures[0].report()
