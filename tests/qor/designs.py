"""Small designs for the model's tests."""

from __future__ import annotations

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f32
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel

N = 64


def region_tree(p: ProgramBuilder, schedule: ScheduleBuilder | None = None) -> Kernel:
    steps = schedule.build() if schedule is not None else Schedule()
    return kernel_of_tree(loop_tree(apply(p.build(), steps)))


def matrix_vector(n: int = N) -> ProgramBuilder:
    p = ProgramBuilder("mv")
    i, j = p.loops(i=n, j=n)
    a, x = p.placeholder("A", f32, (n, n)), p.placeholder("x", f32, (n,))
    y = p.placeholder("y", f32, (n,))
    p.compute("S", (i, j), y[i], y[i] + a[i, j] * x[j])
    return p


def column_sums(n: int = N) -> ProgramBuilder:
    """``y[j] += A[i, j] * x[i]``: the reduction is not innermost."""
    p = ProgramBuilder("cols")
    i, j = p.loops(i=n, j=n)
    a, x = p.placeholder("A", f32, (n, n)), p.placeholder("x", f32, (n,))
    y = p.placeholder("y", f32, (n,))
    p.compute("S", (i, j), y[j], y[j] + a[i, j] * x[i])
    return p


def scale(n: int = N) -> ProgramBuilder:
    p = ProgramBuilder("scale")
    i, j = p.loops(i=n, j=n)
    c, beta = p.placeholder("C", f32, (n, n)), p.placeholder("beta", f32)
    p.compute("S", (i, j), c[i, j], beta * c[i, j])
    return p


def prefix(distance: int = 1, n: int = N) -> ProgramBuilder:
    """``a[i] = a[i - distance] + b[i]``: a recurrence through memory."""
    p = ProgramBuilder("prefix")
    (i,) = p.loops(i=range(distance, n))
    a, b = p.placeholder("a", f32, (n,)), p.placeholder("b", f32, (n,))
    p.compute("S", (i,), a[i], a[i - distance] + b[i])
    return p
