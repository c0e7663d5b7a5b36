"""Rules of Vitis HLS 2025.1 (xcu200, 4 ns) that kernels which they were not read from have to obey, too."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Pipeline, Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.result.qor_estimate import QorEstimate

TOOL = "vitis-2025.1-u200-4ns"


def found(p: ProgramBuilder, *steps: Step, kept: str = "") -> QorEstimate:
    design = with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)
    return estimate(design, TOOL, kept=frozenset(kept))


# ---------------------------------------------------------------------------- short nested loops


def window(rows: int, columns: int, size: int, gathered: bool = True) -> ProgramBuilder:
    """A sum over a window of size x size around each point, with a store behind it or in it."""
    p = ProgramBuilder("window")
    a = p.local("A", f64, (rows + size, columns + size))
    f, b = p.local("F", f64, (size, size)), p.local("B", f64, (rows, columns))
    s = p.local("s", f64)
    i, j, k, m = p.loops(i=rows, j=columns, k=size, m=size)
    if not gathered:
        p.compute("T", (i, j, k, m), b[i, j], b[i, j] + a[i + k, j + m] * f[k, m])
        return p
    p.compute("Z", (i, j), s, 0.0)
    p.compute("T", (i, j, k, m), s, s + a[i + k, j + m] * f[k, m], after=("Z", j))
    p.compute("W", (i, j), b[i, j], s, after=("T", j))
    return p


@pytest.mark.parametrize(("rows", "columns", "size"), [(60, 60, 3), (30, 62, 2), (20, 90, 7)])
def test_short_nested_loops_are_unrolled_as_one(rows: int, columns: int, size: int) -> None:
    # The directives of all loops around are left to the tool; 7 x 7 are 49 iterations, still below 64.
    answer = found(window(rows, columns, size), kept="ij")
    nest = next(loop for loop in answer.loops if loop.loops[-1] == "j")
    assert nest.loops == ("i", "j")
    assert nest.trips.maximum == rows * columns
    assert answer.latency.maximum < 2 * rows * columns + 200


@pytest.mark.parametrize("size", [8, 9])
def test_nested_loops_of_64_iterations_stay_a_pipeline(size: int) -> None:
    answer = found(window(12, 12, size), kept="ij")
    assert answer.loops[-1].loops[-2:] == ("k", "m")
    assert answer.latency.maximum > 12 * 12 * size * size


@pytest.mark.parametrize("kept", ["ijk", "ijm", "ijkm"])
def test_a_factor_somebody_wrote_keeps_the_loops(kept: str) -> None:
    assert found(window(40, 40, 3), kept=kept).loops[-1].loops[-1] == "m"


def test_a_nest_that_is_one_loop_is_flattened_and_not_unrolled() -> None:
    answer = found(window(40, 40, 3, gathered=False), kept="ij")
    assert answer.loops[-1].loops == ("i", "j", "k", "m")


# ------------------------------------------------------------- pipelined and completely unrolled


def two_passes(n: int = 24) -> ProgramBuilder:
    """In each row a matrix times a vector, and what it gives added to another one."""
    p = ProgramBuilder("passes")
    a, x = p.local("A", f64, (n, n)), p.local("x", f64, (n,))
    y, z = p.local("y", f64, (n,)), p.local("z", f64, (n,))
    i, j, k = p.loops(i=n, j=n, k=n)
    p.compute("S", (i, j), y[i], y[i] + a[i, j] * x[j])
    p.compute("R", (i, k), z[k], z[k] + a[i, k] * y[i], after=("S", i))
    return p


def test_a_pipeline_that_is_unrolled_completely_is_straight_line_code() -> None:
    n = 24
    gone = found(two_passes(n), Pipeline("i"), Unroll("i", n), kept="ijk")
    same = found(two_passes(n), Unroll("i", n), Unroll("j", n), Unroll("k", n), kept="ijk")
    assert [loop for loop in gone.loops if loop.loops == ("i",)] == []
    figures = ("latency", "dsp", "lut", "ff", "bram18", "uram")
    assert [getattr(gone, f) for f in figures] == [getattr(same, f) for f in figures]


@pytest.mark.parametrize("loop", ["j", "k"])
def test_an_inner_pipeline_that_is_unrolled_completely_is_no_pipeline(loop: str) -> None:
    n = 24
    gone = found(two_passes(n), Pipeline(loop), Unroll(loop, n), kept="ijk")
    same = found(two_passes(n), Unroll(loop, n), kept="ijk")
    assert (gone.latency, gone.dsp, gone.bram18) == (same.latency, same.dsp, same.bram18)


# --------------------------------------------------------------------------- hidden recurrences


def rank_update(n: int, m: int, rows: bool) -> ProgramBuilder:
    """``C[i][j] *= b`` and ``C[i][j] += A[i][k] * A[j][k]``, row by row or all of it first."""
    p = ProgramBuilder("rank")
    c, a = p.local("C", f64, (n, n)), p.local("A", f64, (n, m))
    b = p.placeholder("b", f64)
    i, j, k, l = p.loops(i=n, j=n, k=m, l=n)  # noqa: E741
    p.compute("S", (i, j), c[i, j], c[i, j] * b)
    after = ("S", i) if rows else ("S", None)
    p.compute("R", (i, k, l), c[i, l], c[i, l] + a[i, k] * a[l, k], after=after)
    return p


@pytest.mark.parametrize(("n", "m", "factor"), [(80, 60, 40), (80, 60, 64), (48, 30, 24)])
def test_banks_of_one_element_each_hide_no_recurrence(n: int, m: int, factor: int) -> None:
    # j asks for a bank for each column of C. A row's loop comes to a column once in n iterations.
    rolled = found(rank_update(n, m, rows=True), kept="ijkl")
    split = found(rank_update(n, m, rows=True), Unroll("j", factor), kept="ijkl")
    assert [loop.ii for loop in split.loops if loop.loops == ("k", "l")] == [1]
    assert split.latency.maximum <= rolled.latency.maximum


def test_banks_read_at_a_word_that_moves_do() -> None:
    """The innermost counter of the nest chooses the bank, the other one the word (fdtd-2d)."""
    n = 60
    p = ProgramBuilder("update")
    e, h = p.local("E", f64, (n, n)), p.local("H", f64, (n, n))
    i, j, k, m = p.loops(i=n, j=n, k=n, m=n)
    p.compute("S", (i, j), e[i, j], e[i, j] * 2.0)
    p.compute("R", (k, m), e[k, m], e[k, m] - h[k, m], after=("S", None))
    answer = found(p, Unroll("j", n // 2), kept="ijkm")
    assert [loop.ii for loop in answer.loops if loop.loops == ("k", "m")] == [6]


# ----------------------------------------------------------------------- exits between the copies


def points(steps: int, n: int) -> ProgramBuilder:
    """Points of three dimensions from their neighbours in two, to and fro (heat-3d)."""
    p = ProgramBuilder("points")
    a, b = p.local("A", f64, (n, n, 6)), p.local("B", f64, (n, n, 6))
    t, i, j, k = p.loops(t=steps, i=range(1, n - 1), j=range(1, n - 1), k=6)
    m, o, q = p.loops(m=range(1, n - 1), o=range(1, n - 1), q=6)
    star = a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k] + a[i, j, k]
    p.compute("S", (t, i, j, k), b[i, j, k], star * 0.2)
    back = b[m - 1, o, q] + b[m + 1, o, q] + b[m, o - 1, q] + b[m, o + 1, q] + b[m, o, q]
    p.compute("R", (t, m, o, q), a[m, o, q], back * 0.2, after=("S", t))
    return p


def test_a_loop_with_exits_between_copies_that_hold_loops_is_not_flattened() -> None:
    whole = found(points(4, 26), Unroll("j", 4), kept="ijmo")
    ends = found(points(4, 26), Unroll("j", 5), kept="ijmo")  # of 24 points
    flat = [loop.loops for loop in (*whole.loops, *ends.loops) if loop.loops[-1] == "j"]
    assert flat == [("i", "j"), ("j",)]
    assert ends.latency.maximum > whole.latency.maximum


def test_neighbours_beyond_an_exit_are_divided_without_a_bound() -> None:
    # Of 26 points. Six neighbours of 4 copies are in 3 banks, which divide 64 bits; seven of 5 in 4, which do not.
    divided, plain = (found(points(4, 28), Unroll("j", u), kept="ijmo") for u in (4, 5))
    depths = [loop.depth for a in (divided, plain) for loop in a.loops if loop.loops == ("j",)]
    assert depths[0] > depths[1] + 50
    slices = [sum(n for core, n in a.units if "quotient" in core) for a in (divided, plain)]
    assert slices == [5, 0]  # one for each of the four places stored to, and one for the loads
