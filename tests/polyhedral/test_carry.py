"""Values in shift registers: what the step makes of a program, that it means the same, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import weft
from backends.equivalence import equivalence
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const
from dsl.programs.expanded import with_accesses
from dsl.programs.program import Program, Stmt, map_statements
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from weft import f32, i16, i32, u8, u16


@weft.kernel
def longest(a: u8[6], b: u8[6], out: u16[1]):
    L: u16[7, 7] = 0
    for i in range(1, 7):
        for j in range(1, 7):
            L[i, j] = L[i - 1, j - 1] + 1 if a[i - 1] == b[j - 1] else max(L[i - 1, j], L[i, j - 1])
    out[0] = L[6, 6]


@weft.kernel
def edits(a: u8[5], b: u8[5], D: u16[6, 6], last: u16[6]):
    for i in range(6):
        D[i, 0] = i
    for j in range(1, 6):
        D[0, j] = j
    for i in range(1, 6):
        for j in range(1, 6):
            change = D[i - 1, j - 1] + (1 if a[i - 1] != b[j - 1] else 0)
            if i == j:
                D[i, j] = change
            else:
                D[i, j] = min(change, min(D[i - 1, j], D[i, j - 1]) + 1)
    for j in range(6):
        last[j] = D[5, j]


@weft.kernel
def paths(start: f32[4], move: f32[4, 4], best: f32[4]):
    for q in range(2):
        score: f32[7, 4]
        for s in range(4):
            score[0, s] = start[s]
        for t in range(1, 7):
            for s in range(4):
                top: f32 = score[t - 1, 0] + move[0, s]
                for p in range(1, 4):
                    top = max(top, score[t - 1, p] + move[p, s])
                score[t, s] = top
        for s in range(4):
            best[s] = score[6, s]


@weft.kernel
def sweeps(A: i16[9], rows: i32[2, 8], x: i32[6, 8], out: i32[8]):
    for t in range(4):
        for i in range(1, 8):
            A[i] = A[i - 1] + A[i] + A[i + 1]
    for j in range(8):
        rows[0, j] = 0
    for i in range(6):
        for j in range(1, 8):
            rows[(i + 1) % 2, j] = max(rows[i % 2, j - 1], rows[i % 2, j]) + x[i, j]
    for j in range(1, 8):
        out[j] = rows[0, j]


@weft.kernel
def again(x: i16[2, 6], y: i16[2, 6]):
    run: i16[7]
    run[0] = 3
    for q in range(2):
        for i in range(6):
            run[i + 1] = run[i] + x[q, i]
            y[q, i] = run[i + 1]


@weft.kernel
def channels(x: i16[3, 9], y: i16[3, 9], z: i16[9]):
    for c in range(3):
        for n in range(2, 9):
            y[c, n] = y[c, n - 1] - y[c, n - 2] + y[0, n] + x[c, n]
        z[c] = y[c, 8] + y[2 - c, 8]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def diagonals(stmt: str, array: str) -> ScheduleBuilder:
    i, j = f"{stmt}.i", f"{stmt}.j"
    return steps().skew(i, j, 1).reorder([j, i]).carry(array, j)


SCHEDULES = [
    (longest, diagonals("S1", "L").split("S1.i", 6, tail="guard").reuse("b", "S1.j").pipeline("j")),
    (longest, steps().carry("L", "S1.i").pipeline("S1.j")),
    (longest, steps().carry("L", "S1.j")),
    (edits, diagonals("S2", "D").split("S2.i", 5, tail="guard").pipeline("S2.j")),
    (paths, steps().carry("score", "t").pipeline("S2.s")),
    (sweeps, steps().carry("A", "t").carry("rows", "S2.i").pipeline("S2.j")),
    (sweeps, steps().carry("A", "S0.i")),
    (again, steps().carry("run", "i")),
    (channels, steps().carry("y", "n").pipeline("n")),
]


def test_the_last_diagonals_are_all_that_is_left_of_a_table() -> None:
    schedule = diagonals("S1", "L")
    program = apply(longest.program, schedule.build()).scop.program
    assert [a.shape for a in program.arrays if a.name.startswith("L")] == [(7, 3)]
    assert nest(longest.program, schedule) == (
        "clear_L_0: 0 .. 7 unroll=full\n"
        "  clear_L_1: 0 .. 3 unroll=full\n"
        "    clear_L(clear_L_0, clear_L_1)\n"
        "j: 0 .. 13\n"
        "  shift_L_0: 0 .. 7 unroll=full\n"
        "    shift_L_1: 0 .. 2 unroll=full\n"
        "      shift_L(j, shift_L_0, shift_L_1)\n"
        "  if -j + 6 >= 0\n"
        "    load_L_0: 0 .. 7 unroll=full\n"
        "      if -j + load_L_0 == 0 and j - 1 >= 0\n"
        "        load_L(j, load_L_0)\n"
        "      if j - load_L_0 - 1 >= 0 and load_L_0 == 0\n"
        "        load_L(j, load_L_0)\n"
        "      if j - load_L_0 == 0 and -j >= 0\n"
        "        load_L(j, load_L_0)\n"
        "  i: max(1, j - 6) .. min(7, j)\n"
        "    S1(j, i)\n"
        "S2()"
    )


def test_what_stays_while_the_loop_runs_tells_no_registers_apart() -> None:
    program = apply(channels.program, steps().carry("y", "n").build()).scop.program
    assert program.array("y_carry").shape == (3,)


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES)
def test_values_stay(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    after = apply(kernel.program, schedule.build()).scop.program
    for seed in range(3):
        inputs = random_inputs(kernel.program, seed)
        want, got = interp.run(kernel.program, inputs), interp.run(after, inputs)
        assert all(np.array_equal(want[name], got[name]) for name in want)
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    assert check_levels(cases, cxx=False) + check_levels(cases[3:4], jit=False) == []


@weft.kernel
def closed(A: i32[8, 8], B: i32[16], x: i32[8], p: u8[8], y: i32[8], s: i32):
    for i in range(8):
        for j in range(8):
            A[i, j] = A[j, i] + x[j]
    for i in range(8):
        y[i] = x[i]
    for i in range(8):
        B[p[i] & 15] = B[i] + 1
    for i in range(1, 4):
        for j in range(1, 4):
            B[4 * i + j] = B[i + j] + s
    for i in range(1, 8):
        t: i32[8] = 0
        for j in range(1, 8):
            t[j] = t[j - 1] + x[j]
        for j in range(8):
            B[(i + j) // 2] = B[i] + 1
        y[i] = t[7]


@pytest.mark.parametrize(
    ("array", "loop", "said"),
    [
        ("A", "S0.i", "no read of 'A' in the loop finds values that are always as many"),
        ("y", "S1.i", "no read of 'y' in the loop"),
        ("x", "S0.i", "nothing in the loop assigns to 'x'"),
        ("B", "S2.i", "which element is assigned is data"),
        ("B", "S3.i", "no read of 'B' in the loop"),
        ("B", "S5.i", "several elements that its own subscripts do not tell apart"),
        ("t", "S4.i", "'t' belongs to one iteration of the loop"),
    ],
)
def test_what_is_not_handed_on_in_one_way_is_refused(array: str, loop: str, said: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(closed.program, steps().carry(array, loop).build())
    assert caught.value.code == "W236"
    assert said in caught.value.render()


def test_loops_that_were_cut_are_refused() -> None:
    with pytest.raises(ScheduleError, match="is 2 loops: a factor left iterations") as caught:
        apply(longest.program, steps().split("S1.j", 4).carry("L", "S1.j_0").build())
    assert caught.value.code == "W236"


def older(stmt: Stmt) -> Stmt:
    """S1 with values that are an iteration older."""

    def own(access: Access) -> Access:
        if access.array != "L_carry" or access.indices[1] != Affine.of(1):
            return access
        return replace(access, indices=(access.indices[0], Affine.of(2)))

    return with_accesses(stmt, own) if stmt.name == "S1" else stmt


def other_start(stmt: Stmt) -> Stmt:
    """Entries at the border that are not what the program has there."""
    value = stmt.value
    found = stmt.name.startswith("load_L") and isinstance(value, Const)
    return replace(stmt, value=replace(value, value=1)) if found else stmt


def no_shift(stmt: Stmt) -> Stmt:
    """Registers that stay."""
    if stmt.name != "shift_L":
        return stmt
    return with_accesses(stmt, lambda access: replace(access, indices=stmt.target.indices))


@pytest.mark.parametrize("change", [older, other_start, no_shift])
def test_other_programs_are_refuted(change: Callable[[Stmt], Stmt]) -> None:
    _, right = rewritings(longest.program, diagonals("S1", "L").build())
    assert check_rewriting(right) is None
    found = check_rewriting(replace(right, after=changed(right.after, change)))
    assert isinstance(found, Refutation)
    assert found.code == "W339"


def changed(program: Program, change: Callable[[Stmt], Stmt]) -> Program:
    return replace(program, body=tuple(map_statements(node, change) for node in program.body))
