"""Partial sums where it is data which element is updated: what the step makes of it, the proof, and the search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import weft
from dse.estimates.estimation import setting
from dse.space.space import space_of
from dse.space.sums.histograms import in_turn
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Const, Scatter
from dsl.programs.pretty import pretty
from dsl.programs.program import Loop, Stmt, map_statements
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import PartialSums
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from tests.support.levels import Case, check_levels
from weft import f32, i16, i32, u8, u16, u32


@weft.kernel
def histogram(x: u8[64], h: u32[16]):
    for i in range(64):
        h[x[i] & 15] += 1


@weft.kernel
def image(x: u8[4, 12], h: u32[16]):
    for i in range(4):
        for j in range(12):
            h[x[i, j] & 15] += 1


@weft.kernel
def rows(x: u8[4, 16], w: i16[4, 16], h: i32[4, 8], t: i32[4]):
    for r in range(4):
        t[r] = h[r, 0]
        for i in range(16):
            if w[r, i] > 0:
                h[r, x[r, i] & 7] -= w[r, i]


@weft.kernel
def cells(x: u8[8, 8], y: u8[8, 8], h: u16[4, 4]):
    for i in range(8):
        for j in range(i, 8):
            a = x[i, j] & 3
            h[a, y[i, j] & 3] = max(h[a, y[i, j] & 3], x[i, j])


@weft.kernel
def deposits(c: u8[32], q: f32[32], rho: f32[16]):
    for p in range(32):
        rho[c[p] & 15] += q[p]
        rho[(c[p] + 1) & 15] += q[p]


@weft.kernel
def degrees(a: u8[32], b: u8[32], d: u16[16]):
    for e in range(32):
        d[a[e] & 15] += 1
        d[b[e] & 15] -= 2


@weft.kernel
def mixed(a: u8[32], b: u8[32], d: u16[16]):
    for e in range(32):
        d[a[e] & 15] += 1
        d[b[e] & 15] |= 4


@weft.kernel
def means(x: i32[16, 4], label: u8[16], s: i32[8, 4], n: i32[8]):
    for i in range(16):
        n[label[i] & 7] += 1
        for d in range(4):
            s[label[i] & 7, d] += x[i, d]


@weft.kernel
def last(x: u8[32], n: u8[8]):
    for i in range(1, 32):
        n[x[i] & 7] = n[x[i - 1] & 7] + 1


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


PARTS = [
    (histogram, steps().partial_sums("S0", "i", 4).split("S0.i", 4).unroll("S0.i_1", 0)),
    (histogram, steps().partial_sums("S0", "i", 8, block=8)),
    (rows, steps().partial_sums("S1", "S1.i", 4).split("S1.i", 4)),
    (cells, steps().partial_sums("S1", "i", 2)),
    (cells, steps().partial_sums("S1", "j", 3)),
    (deposits, steps().reassociate("S1").partial_sums("S0", "p", 4).partial_sums("S1", "p", 2)),
    (degrees, steps().reassociate("S1").partial_sums("S0", "e", 4)),
    (means, steps().partial_sums("S0", "S0.i", 2).partial_sums("S1", "S1.i", 4)),
    (image, steps().partial_sums("S0", "j", 4, around="i").split("S0.j", 4)),
    (cells, steps().partial_sums("S1", "j", 3, around="i")),
    (rows, steps().partial_sums("S1", "S1.i", 4, around="S1.i")),
]


def test_all_elements_have_accumulators() -> None:
    program = apply(histogram.program, steps().partial_sums("S0", "i", 4).build()).scop.program
    assert (
        pretty(program).split("\n", 6)[-1]
        == """\
    h_part: u32[16, 4]
    for h_0, part in weft.grid(16, 4):
        with weft.stmt("S0_init"):
            h_part[h_0, part] = u32(0)
    for i in range(64):
        with weft.stmt("S0"):
            h_part[x[i] & 15, i % 4] += 1
    for h_0, part in weft.grid(16, 4):
        with weft.stmt("S0_sum"):
            h[h_0] += h_part[h_0, part]
"""
    )


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, b.build()) for n, (k, b) in enumerate(PARTS)]
    found = check_levels(cases)
    assert not found, found[0].report()


def test_parts_of_an_inner_loop_are_added_up_behind_an_outer_one() -> None:
    builder = steps().partial_sums("S0", "j", 4, around="i")
    body = apply(image.program, builder.build()).scop.program.body
    assert [type(node) for node in body] == [Loop, Loop, Loop]
    assert "h_part[x[i, j] & 15, j % 4] += 1" in pretty(
        apply(image.program, builder.build()).scop.program
    )


@pytest.mark.parametrize(("kernel", "builder"), PARTS)
def test_it_is_proven(kernel: weft.Kernel, builder: ScheduleBuilder) -> None:
    for each in rewritings(kernel.program, builder.build()):
        assert check_rewriting(each) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("fewer bins", "is not added to any element"),
        ("other bins", "is added to another element"),
        ("other data", "it accumulates at other subscripts"),
        ("other terms", "it accumulates something else"),
    ],
)
def test_what_is_broken_is_refuted(change: str, said: str) -> None:
    (right,) = rewritings(histogram.program, steps().partial_sums("S0", "i", 4).build())
    start, loop, end = right.after.body
    assert isinstance(end, Loop)

    def edited(stmt: Stmt) -> Stmt:
        value = stmt.value
        if change == "other bins" and stmt.name == "S0_sum":
            target = replace(stmt.target, indices=(15 - Affine.of("h_0"),))
            assert not isinstance(value, Scatter)
            own = replace(value.lhs, access=target)
            return replace(stmt, target=target, value=replace(value, lhs=own))
        if stmt.name == "S0" and isinstance(value, Scatter):
            (data,) = value.data
            if change == "other data":
                return replace(
                    stmt, value=replace(value, data=(replace(data, rhs=Const(7, data.rhs.dtype)),))
                )
            if change == "other terms":
                term = Const(2, value.value.rhs.dtype)
                return replace(stmt, value=replace(value, value=replace(value.value, rhs=term)))
        return stmt

    if change == "fewer bins":
        end = replace(end, uppers=(Affine.of(15),))
    body = tuple(map_statements(node, edited) for node in (start, loop, end))
    found = check_rewriting(replace(right, after=replace(right.after, body=body)))
    assert isinstance(found, Refutation)
    assert said in found.error().render()


@pytest.mark.parametrize(
    ("kernel", "builder", "code", "said"),
    [
        (deposits, steps().partial_sums("S0", "p", 2), "W221", 'reassociate("S1") first'),
        (
            mixed,
            steps().reassociate("S1").partial_sums("S0", "e", 2),
            "W221",
            "S1 accesses d[?]",
        ),
        (rows, steps().partial_sums("S1", "S1.r", 2), "W221", "into another element in each iter"),
        (
            rows,
            steps().partial_sums("S1", "S1.i", 2, around="S1.r"),
            "W221",
            "into another element in each iteration of 'r'",
        ),
        (
            image,
            steps().partial_sums("S0", "i", 2, around="j"),
            "W221",
            "'j' is no loop around 'i'",
        ),
        (image, steps().partial_sums("S0", "j", 2, around="k"), "W201", "'k'"),
        (last, steps().partial_sums("S0", "i", 2), "W209", "S0 is not a reduction"),
    ],
)
def test_refusals(kernel: weft.Kernel, builder: ScheduleBuilder, code: str, said: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, builder.build())
    assert caught.value.code == code
    assert said in caught.value.render()


def test_the_space_has_parts_for_what_divides() -> None:
    where = setting(None, "xc7z020", 10.0)
    names = [v.name for v in space_of(means.program, where.tool).variants]
    assert "distributed, updates in 4 parts" in names
    state = apply(last.program, Schedule(()))
    assert in_turn(state, (), 4) == []


def test_a_search_finds_parts_and_shows_what_luts_buy(tmp_path: Path) -> None:
    run = weft.explore(histogram, device="xc7z020", trials=8, out=tmp_path / "run")
    plain = weft.estimate(histogram, device="xc7z020").latency.average
    best = run.best()
    assert best.latency < plain / 4
    assert any(isinstance(step, PartialSums) for step in best.schedule.steps)
    luts = [design.resources["lut"] for design in run.pareto]
    assert len(luts) > 1
    assert luts == sorted(luts, reverse=True)
