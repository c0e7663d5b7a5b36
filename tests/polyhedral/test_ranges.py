"""Loops over other ranges: two as one, one as two, and iterations apart from the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

import weft
from dsl.builder.program import ProgramBuilder
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Index
from dsl.programs.program import Loop, Program, Stmt
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import is_as_written
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from weft import f32, i32


@weft.kernel
def product(A: f32[10, 14], B: f32[14, 9], C: f32[10, 9]):
    for ii in range(0, 10, 4):
        for jj in range(0, 9, 4):
            for kk in range(0, 14, 4):
                for i in range(ii, min(ii + 4, 10)):
                    for j in range(jj, min(jj + 4, 9)):
                        for k in range(kk, min(kk + 4, 14)):
                            C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def sums(A: f32[12, 10], y: f32[12]):
    for b in range(3):
        for p in range(4):
            s: f32 = 0.0
            for jj in range(0, 10, 4):
                for j in range(jj, min(jj + 4, 10)):
                    if j != 3:
                        s += A[4 * b + p, j]
            y[4 * b + p] = s


@weft.kernel
def interior(A: f32[24], B: f32[24], W: i32[24]):
    for ii in range(1, 23, 6):
        for i in range(ii, min(ii + 6, 23), 1):
            B[i] = A[i - 1] + A[i + 1]
            W[i] = ii
    for ii in range(0, 24, 8):
        for i in range(ii, ii + 8, 2):
            A[i] = 2.0 * i


@weft.kernel
def flat(A: f32[5, 4, 6], B: f32[6, 5, 4], n: i32[120]):
    for t in range(120):
        i = t // 24
        j = (t // 6) % 4
        k = t % 6
        B[k, i, j] = A[i, j, k]
        n[t] = i + j


@weft.kernel
def ragged(A: f32[8, 8], B: f32[8, 8], x: f32[30]):
    for i in range(8):
        for j in range(i + 1):
            B[i, j] = A[i, j]
    for i in range(8):
        for j in range(8):
            A[i, j] = 0.0
        for j in range(8):
            A[i, j] += 1.0
    for t in range(30):
        x[t] = x[t] + x[t // 7]


@weft.kernel
def rows(u: f32[3, 20], y: f32[16]):
    for t in range(7):
        for i in range(1, 19):
            near: f32 = u[t % 3, i - 1] + u[t % 3, i + 1]
            u[(t + 1) % 3, i] = 0.25 * near
    last: f32 = 0.0
    for n in range(16):
        d: f32[2]
        for k in range(2):
            d[k] = u[k, n] - (u[k, n - 1] if n > 0 else 0.0)
        last = 0.5 * last + (d[0] - d[1])
        y[n] = last


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def whole() -> ScheduleBuilder:
    apart = steps().reorder(["ii", "i", "jj", "j", "kk", "k"])
    return apart.join("ii", "i").join("jj", "j").join("kk", "k")


TURNS = (rows, steps().split("t", 3).peel("t_1", 1).peel("t_1", 1, "end").peel("n", 1).separate())
CASES = [
    (product, whole().interchange("j", "k").pipeline("j")),
    (product, whole().tile(["i", "j"], [5, 2]).buffer("A", "i_0")),
    (sums, steps().join("jj", "j").join("b", "p", "row").peel("j", 2).pipeline("j")),
    (interior, steps().join("S0.ii", "S0.i").join("S2.ii", "S2.i").peel("S0.i", 3, "end")),
    (flat, steps().unflatten("t", 6).unflatten("t_0", 4, "i", "j").reorder(["t_1", "i", "j"])),
    (flat, steps().unflatten("t", 24).peel("t_1", 20)),
    (ragged, steps().peel("S0.j", 2).peel("S0.i", 1, "end")),
    (ragged, steps().peel("S0.j", before="i - 3")),
    (ragged, steps().unflatten("t", 7).pipeline("t_1")),
    TURNS,
    (rows, steps().partition("d", 0, "complete").peel("n", 3).separate()),
]


def test_tiles_cut_short_become_one_range() -> None:
    assert nest(product.program, whole()) == (
        "i: 0 .. 10\n  j: 0 .. 9\n    k: 0 .. 14\n      S0(i, j, k)"
    )
    assert is_as_written(apply(product.program, whole().build()))
    text = nest(sums.program, steps().join("jj", "j").join("b", "p", "row"))
    assert text.startswith("row: 0 .. 12\n  S0(row)\n  j: 0 .. 3\n    S1(row, j)\n  j.2: 4 .. 10\n")


def test_what_named_the_two_apart_divides() -> None:
    state = apply(interior.program, steps().join("S0.ii", "S0.i").join("S2.ii", "S2.i").build())
    value = state.scop.statement("S1").stmt.value
    assert isinstance(value, Index)
    assert value.affine == Affine.of("i") // 6 * 6 + 1
    assert str(state.scop.statement("S2").stmt.target) == "A[2*i]"


def test_a_flattened_loop_becomes_those_that_it_was_made_of() -> None:
    state = apply(flat.program, CASES[4][1].build())
    assert [str(s.stmt.target) for s in state.scop.statements] == ["B[t_1, i, j]", "n[24*i + 6*j + t_1]"]  # fmt: skip


def test_peeled_iterations_stand_in_front_or_behind() -> None:
    text = nest(ragged.program, steps().peel("t", 2))
    assert text.endswith("t: 0 .. 2\n  S3(t, 0)\nt.2: 2 .. 30\n  S3(t.2)")
    text = nest(ragged.program, steps().peel("S0.j", 2))
    assert text.startswith("i: 0 .. 8\n  j: 0 .. min(2, i + 1)\n    S0(i, j)\n  j.2: 2 .. i + 1\n")
    text = nest(ragged.program, steps().peel("S0.j", before="i - 3"))
    assert text.startswith(
        "i: 0 .. 8\n  j: 0 .. i - 3\n    S0(i, j)\n  j.2: max(0, i - 3) .. i + 1\n"
    )


def test_nests_of_a_statement_become_statements_of_their_own() -> None:
    state = apply(rows.program, TURNS[1].build())
    sums = [s.stmt for s in state.scop.statements if s.stmt.target.array == "u"]
    # Three of a round, and the one that the factor leaves.
    assert [str(s.target) for s in sums] == ["u[1, i]", "u[2, i]", "u[0, i]", "u[1, i]"]
    depths = {a.name: a.scope_depth for a in state.scop.program.locals}
    assert [depths.pop(n) for n in ("near", "near_2", "near_3", "near_4")] == [2, 2, 2, 1]
    assert depths == {"last": 0, "d": 0, "d_2": 1, "chosen": 1, "chosen_2": 2}
    assert is_as_written(state)
    text = nest(ragged.program, steps().peel("t", 2).separate())
    assert text.endswith("t: 0 .. 2\n  S3(t)\nt.2: 2 .. 30\n  S3_2(t.2)")


def test_every_level_computes_the_same() -> None:
    failures = check_levels(
        [Case(n, k.program, s.build()) for n, (k, s) in enumerate(CASES)], cxx=False
    )
    assert not failures, failures[0].detail


@pytest.mark.parametrize(
    ("kernel", "schedule", "code", "text"),
    [
        (ragged, steps().join("S0.i", "S0.j"), "W250", "are no one range"),
        (ragged, steps().join("S1.i", "S1.j"), "W250", "several loops 'S1.j' in 'S1.i'"),
        (product, steps().join("ii", "i"), "W250", "and not in 'i' directly inside"),
        (product, steps().join("i", "ii"), "W250", "and not in 'ii' directly inside"),
        (product, steps().join("j", "k", "ii"), "W208", "already runs in a loop called 'ii'"),
        (product, steps().pipeline("k").join("j", "k"), "W250", "'k' is annotated already"),
        (ragged, steps().unflatten("t", 5), "W251", "nothing in 't' divides by 5"),
        (ragged, steps().unflatten("t", 0), "W207", "the factor is 0"),
        (ragged, steps().peel("t", 30), "W252", "no more than 30 iterations"),
        (ragged, steps().peel("t", 0), "W207", "0 iterations, not at least 1"),
        (ragged, steps().peel("t", 1, "stat"), "W207", "did you mean 'start'?"),
        (ragged, steps().unroll("t", 2).peel("t"), "W214", "annotated already"),
        (ragged, steps().peel("S0.j", before="i + 1"), "W252", "on one side of i + 1"),
        (ragged, steps().peel("S0.j", before="j"), "W201", "no loop around 'S0.j' is called 'j'"),
        (ragged, steps().peel("S0.j", 2, before="i"), "W207", "and a number of them as well"),
        (ragged, steps().peel("S0.j", before="i * i"), "W207", "cannot be cut in front of"),
    ],
)
def test_what_cannot_be_is_said(
    kernel: weft.Kernel, schedule: ScheduleBuilder, code: str, text: str
) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, schedule.build())
    assert caught.value.code == code
    assert text in caught.value.render()


def shifted(program: Program) -> Program:
    """With another element in one subscript of its last statement."""
    *front, last = program.body
    stmt = last
    path = []
    while not hasattr(stmt, "target"):
        path.append(stmt)
        stmt = stmt.body[-1]  # type: ignore[union-attr]
    first, *rest = stmt.target.indices
    node = replace(stmt, target=replace(stmt.target, indices=(first + Affine((), -1), *rest)))
    for loop in reversed(path):
        node = replace(loop, body=(*loop.body[:-1], node))  # type: ignore[assignment]
    return replace(program, body=(*front, node))


def test_the_proof_tells_a_wrong_program() -> None:
    for kernel, schedule in (CASES[0], CASES[4], TURNS, CASES[-1]):
        for one in rewritings(kernel.program, schedule.build()):
            assert check_rewriting(one) is None
            wrong = check_rewriting(replace(one, after=shifted(one.after)))
            assert isinstance(wrong, Refutation)
            assert wrong.code == "W339"


def test_the_proof_tells_one_memory_from_two() -> None:
    (one,) = rewritings(rows.program, TURNS[1].build())
    for wrong in ({"near_2": "d"}, {"d_2": "chosen"}):
        memories = tuple({**dict(one.memories), **wrong}.items())
        assert isinstance(check_rewriting(replace(one, memories=memories)), Refutation)
    # What one iteration assigns in one memory and reads in another one.
    first, *rest = one.after.body
    assert isinstance(first, Loop)
    inner, *others = first.body
    assert isinstance(inner, Loop)
    near, kept = inner.body
    assert isinstance(near, Stmt)
    moved = replace(near, target=replace(near.target, array="near_2"))
    body = (replace(first, body=(replace(inner, body=(moved, kept)), *others)), *rest)
    wrong_program = check_rewriting(replace(one, after=replace(one.after, body=body)))
    assert isinstance(wrong_program, Refutation)
    assert wrong_program.code == "W338"
    assert "one iteration uses two of them" in wrong_program.message


def test_an_outer_loop_that_runs_once_is_none() -> None:
    p = ProgramBuilder("once")
    a = p.placeholder("a", f32, (8,))
    one, i = p.loops(one=1, i=8)
    p.compute("S", (one, i), a[i], 1.0)
    assert nest(p.build(), steps().join("one", "i")) == "i: 0 .. 8\n  S(i)"
