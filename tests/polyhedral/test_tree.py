"""Reductions as balanced trees of their terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Binary, BinaryOp, Const
from dsl.programs.expanded import with_accesses
from dsl.programs.program import Node, Program, Stmt, map_statements
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from weft import f32, fixed, i16, i32, u8


@weft.kernel
def rows(A: f32[6, 5], x: f32[5], y: f32[6]):
    for i in range(6):
        y[i] = 1.0
        for k in range(5):
            y[i] += A[i, k] * x[k]


@weft.kernel
def mixed(w: i16[6, 3, 4], z: i32[6], m: i16[6], q: u8[6], g: fixed[12, 6][6]):
    for i in range(6):
        s: i32 = z[i]
        for a in range(3):
            for b in range(4):
                s -= w[i, a, b] * w[i, 2 - a, b]
        z[i] = s
        top: i16 = w[i, 0, 0]
        for b in range(3, 0, -1):
            top = max(top, w[i, 1, b])
        m[i] = top
        for b in range(0, 4, 3):
            q[i] = q[i] * w[i, 2, b]
        for b in range(4):
            q[i] = w[i, 0, b] ^ q[i]
        for b in range(3):
            g[i] = g[i] + w[i, b, 0]


@weft.kernel
def cleared(A: f32[6, 5], y: f32[6], z: i32[6], total: f32[1], w: i16[6, 5]):
    total[0] = 0.0
    for i in range(6):
        y[i] = 0.0
        s: i32 = 0
        for k in range(5):
            y[i] += A[i, k]
        for k in range(5):
            s += w[i, k]
        for k in range(5):
            s += w[5 - i, k]
        z[i] = s
        for k in range(5):
            total[0] += A[i, k]


@weft.kernel
def others(A: f32[8, 8], y: f32[8], total: f32[1], h: i32[8], x: u8[8]):
    for i in range(8):
        for j in range(i):
            y[i] += A[i, j]
        for j in range(8):
            if j != i:
                y[i] += A[j, i]
        for j in range(8):
            total[0] += A[i, j]
            y[j] = 0.0
    for k in range(8):
        h[x[k] % 8] += 1


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def of_all(*names: str) -> ScheduleBuilder:
    s = steps()
    for name in names:
        s.tree(name, f"{name}.k")
    return s


def all_of_mixed() -> ScheduleBuilder:
    s = steps().tree("S1", "a").tree("S4", "S4.b").tree("S6", "S6.b")
    return s.tree("S7", "S7.b").tree("S8", "S8.b")


CASES = [
    (rows, steps().tree("S1", "k").pipeline("i")),
    (mixed, all_of_mixed()),
    (mixed, steps().tree("S1", "S1.b")),
    (mixed, steps().partial_sums("S1", "S1.b", 3).tree("S1_sum", "S1_sum.part").split("i", 4)),
]

CASES.append((cleared, of_all("S3", "S4", "S5", "S7")))


def test_terms_are_combined_in_pairs() -> None:
    state = apply(rows.program, CASES[0][1].build())
    assert [f"{s.name}: {s.stmt.source}" for s in state.scop.statements][1:5] == [
        "S1_term: y_tree[k] = A[i, k] * x[k]",
        "S1_tree: y_tree[node + 5] = y_tree[2*node] + y_tree[2*node + 1]",
        "S1_tree_2: y_tree[node_2 + 7] = y_tree[2*node_2 + 4] + y_tree[2*node_2 + 5]",
        "S1_tree_3: y_tree[node_3 + 8] = y_tree[2*node_3 + 6] + y_tree[2*node_3 + 7]",
    ]
    assert nest(rows.program, steps().tree("S1", "k")) == (
        "i: 0 .. 6\n  S0(i)\n  k: 0 .. 5\n    S1_term(i, k)\n  node: 0 .. 2\n    S1_tree(i, node)\n"
        "  S1_tree_2(i, 0)\n  S1_tree_3(i, 0)\n  S1(i)"
    )


def test_what_belongs_to_an_iteration_is_a_term() -> None:
    state = apply(mixed.program, all_of_mixed().build())
    sizes = {a.name: (a.shape, a.scope_depth) for a in state.scop.program.locals if "tree" in a.name}  # fmt: skip
    assert sizes == {
        "s_tree": ((23,), 1),  # 12 terms, from which s is subtracted
        "top_tree": ((7,), 1),  # 3 terms and top
        "q_tree": ((3,), 1),
        "q_tree_2": ((7,), 1),
        "g_tree": ((5,), 1),
    }
    assert str(state.scop.statement("S4_start").stmt.target) == "top_tree[3]"


def test_a_sum_that_begins_with_nothing_is_the_tree_alone() -> None:
    state = apply(cleared.program, CASES[-1][1].build())
    ends = {n: str(state.scop.statement(n).stmt.value) for n in ("S3", "S4", "S5", "S7")}
    first = {n: "_tree" in v and "+" not in v for n, v in ends.items()}
    # S5 goes on from what S4 has come to, in the same iteration; S7 from iteration to iteration.
    assert first == {"S3": True, "S4": True, "S5": True, "S7": False}
    starts = {s.name for s in state.scop.statements if s.name.endswith("_start")}
    assert starts == {"S5_start"}


def test_the_proof_knows_where_a_sum_begins_with_nothing() -> None:
    (one,) = rewritings(cleared.program, of_all("S3").build())
    other = tuple(map_statements(n, _started_at_1) for n in one.before.body)
    after = tuple(map_statements(n, _started_at_1) for n in one.after.body)
    changed = replace(
        one, before=replace(one.before, body=other), after=replace(one.after, body=after)
    )
    found = check_rewriting(changed)
    assert isinstance(found, Refutation)
    assert "not each there once" in found.message


def _started_at_1(stmt: Stmt) -> Node:
    wanted = stmt.target.array == "y" and isinstance(stmt.value, Const)
    return replace(stmt, value=replace(stmt.value, value=1.0)) if wanted else stmt  # type: ignore[arg-type]


def test_every_level_computes_the_same() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate([CASES[1], CASES[-1]])]
    failures = check_levels(cases, cxx=False)
    assert not failures, failures[0].detail


def test_the_proof_knows_them() -> None:
    for kernel, schedule in CASES:
        assert [check_rewriting(r) for r in rewritings(kernel.program, schedule.build())].count(
            None
        ) == len(rewritings(kernel.program, schedule.build()))


Change = Callable[[Stmt], Node]


def _moved(name: str, array: str, by: int) -> Change:
    """Another element of an array in one statement."""

    def new(stmt: Stmt) -> Node:
        if stmt.name != name:
            return stmt
        return with_accesses(
            stmt,
            lambda a: (
                replace(a, indices=tuple(i + Affine((), by) for i in a.indices))
                if a.array == array
                else a
            ),
        )

    return new


def _other(name: str, op: BinaryOp) -> Change:
    """Another operator in one statement."""

    def new(stmt: Stmt) -> Node:
        wanted = stmt.name == name and isinstance(stmt.value, Binary)
        return replace(stmt, value=replace(stmt.value, op=op)) if wanted else stmt  # type: ignore[arg-type]

    return new


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_moved("S1_tree_3", "y_tree", 1), "read before it is assigned"),
        (_moved("S1_tree_2", "y_tree", -2), "assigns an element again"),
        (_moved("S1_term", "x", 1), "combined by something else"),
        (_moved("S1", "y_tree", -1), "its terms are not each there once"),
        (_moved("S0", "y", 0), ""),
        (_other("S1_tree", BinaryOp.SUB), "combined by something else"),
        (_other("S1", BinaryOp.MUL), "assigns something else"),
    ],
)
def test_the_proof_tells_a_wrong_program(change: Change, text: str) -> None:
    (one,) = rewritings(rows.program, CASES[0][1].build())
    body = tuple(map_statements(node, change) for node in one.after.body)
    found = check_rewriting(replace(one, after=replace(one.after, body=body)))
    if not text:
        assert found is None
        return
    assert isinstance(found, Refutation)
    assert found.code == "W339"
    assert text in found.message


def test_the_proof_wants_all_else_as_it_was() -> None:
    (one,) = rewritings(rows.program, CASES[0][1].build())
    wrong: list[Program] = [
        replace(one.after, body=(*one.after.body, *one.after.body)),
        replace(one.after, body=tuple(map_statements(n, _moved("S0", "y", -1)) for n in one.after.body)),
        replace(one.after, arrays=one.after.arrays[:-1]),
    ]  # fmt: skip
    for program in wrong:
        found = check_rewriting(replace(one, after=program))
        assert isinstance(found, Refutation)
        assert found.code == "W339"


@pytest.mark.parametrize(
    ("schedule", "code", "text"),
    [
        (steps().tree("S0", "S0.j"), "W243", "no constant number of iterations"),
        (steps().tree("S1", "S1.j"), "W243", "S1 is not alone in 'S1.j'"),
        (steps().tree("S2", "S2.j"), "W243", "S2 is not alone in 'S2.j'"),
        (steps().tree("S4", "k"), "W243", "S4 is not alone"),
        (steps().tree("S2", "k"), "W243", "S2 does not run in 'k'"),
        (steps().pipeline("k").tree("S2", "S2.j"), "W243", "comes after steps that ask"),
        (steps().tree("S3", "S3.j"), "W209", "S3 is not a reduction"),
    ],
)
def test_what_cannot_be_is_said(schedule: ScheduleBuilder, code: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(others.program, schedule.build())
    assert caught.value.code == code
    assert text in caught.value.render()


def test_a_loop_that_the_element_moves_with_makes_no_tree() -> None:
    with pytest.raises(ScheduleError, match="another element in each iteration of 'i'"):
        apply(columns.program, steps().tree("S0", "i").build())


@weft.kernel
def columns(A: f32[4, 5], y: f32[4]):
    for i in range(4):
        for k in range(5):
            y[i] += A[i, k]
