"""Array expansion: what the step makes of a program, that it means the same, and what it refuses."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import weft
from backends.equivalence import equivalence
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.programs.program import If, Loop, Node, Program, Stmt
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Dataflow, Expand, Split
from polyhedral.equivalence.expansion import check_expansion
from polyhedral.equivalence.rewritings import Rewriting, check_rewriting, rewritings
from polyhedral.schedule import apply
from tests.support.amount import programs
from tests.support.levels import Case, check_levels
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_step
from weft import f32, i32


@weft.kernel
def product(A: f32[6, 9], B: f32[9, 5], C: f32[6, 5]):
    for i in range(6):
        for j in range(5):
            t: f32 = 0.0
            for k in range(9):
                t += A[i, k] * B[k, j]
            C[i, j] = t


@product.schedule
def reordered(s):
    s.expand("t", "j")
    s.distribute(["S0"], 1)
    s.distribute(["S2"], 1)
    s.reorder(["S1.k", "S1.j"])
    s.pipeline("S1.j")


@product.schedule
def apart(s):
    s.expand("t", "i")
    s.distribute(["S0"])
    s.distribute(["S2"])
    s.reorder(["S1.k", "S1.i", "S1.j"])
    s.unroll("S1.j")


@weft.kernel
def triangle(A: i32[8, 8], y: i32[8, 8]):
    for i in range(2, 8):
        for j in range(i, 8):
            t: i32 = A[i, j]
            u: i32[3]
            for k in range(3):
                u[k] = t + k
            y[i, j] = u[0] + u[2]


@triangle.schedule
def far(s):
    s.expand("u", "i")
    s.expand("t", "j")


@weft.kernel
def reused(x: f32[8, 4], y: f32[8]):
    t: f32 = 1.0
    for i in range(8):
        t = 0.0
        for j in range(4):
            t = t + x[i, j]
        y[i] = t


@reused.schedule
def private(s):
    s.expand("t", "i")
    s.distribute(["S1"])
    s.distribute(["S3"])
    s.interchange("S2.i", "S2.j")


@weft.kernel
def summed(x: f32[8], y: f32[8]):
    t: f32 = 0.0
    for i in range(8):
        t = t + x[i]
        y[i] = t


@weft.kernel
def stale(x: f32[3, 8], y: f32[3, 8]):
    t: f32 = 0.0
    for r in range(3):
        for i in range(8):
            if i < 4:
                t = x[r, i]
            y[r, i] = t


@weft.kernel
def last(x: f32[8], y: f32[9]):
    t: f32 = 0.0
    for i in range(8):
        t = x[i]
        y[i] = t * 2.0
    y[8] = t


@weft.kernel
def older(x: f32[3, 8], y: f32[3, 8]):
    t: f32 = 0.0
    for r in range(3):
        for i in range(8):
            if r == 0:
                t = x[r, i]
            y[r, i] = t


@pytest.mark.parametrize(
    ("kernel", "schedule"),
    [(product, reordered), (product, apart), (triangle, far), (reused, private)],
    ids=lambda x: getattr(x, "name", ""),
)
def test_it_means_the_same(kernel, schedule):
    design = weft.compile(kernel, schedule)
    assert equivalence(design).verdict == "proven"
    assert weft.verify(kernel, schedule).ok


def test_a_dimension_for_each_loop_down_to_the_declaration():
    def shapes(kernel: weft.Kernel, *steps: Expand) -> dict[str, tuple[tuple[int, ...], int]]:
        locals_ = apply(kernel.program, Schedule(steps)).scop.program.locals
        return {a.name: (a.shape, a.scope_depth) for a in locals_}

    assert shapes(product, Expand("t", "j")) == {"t_x": ((5,), 1)}
    assert shapes(product, Expand("t", "i")) == {"t_x": ((6, 5), 0)}
    both = shapes(triangle, Expand("u", "i"), Expand("t", "j"))
    assert both == {"u_x": ((6, 6, 3), 0), "t_x": ((6,), 1)}
    assert shapes(reused, Expand("t", "i")) == {"t": ((), 0), "t_x": ((8,), 0)}


@pytest.mark.parametrize(
    ("kernel", "step", "code", "said"),
    [
        (summed, Expand("t", "i"), "W228", "is not written first in each iteration of 'i'"),
        (stale, Expand("t", "i"), "W228", "is not written first in each iteration of 'i'"),
        (older, Expand("t", "r"), "W228", "is not written first in each iteration of 'r'"),
        (older, Expand("t", "i"), "W228", "is not written first in each iteration of 'i'"),
        (last, Expand("t", "i"), "W228", "S1[7] writes what S3[] reads"),
        (product, Expand("A", "i"), "W228", "is an argument"),
        (product, Expand("nothing", "i"), "W206", "nothing"),
        (product, Expand("t", "z"), "W201", "z"),
        (last, Expand("t", "y"), "W201", "y"),
    ],
)
def test_what_hands_values_on_is_refused(kernel, step, code, said):
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, Schedule((step,)))
    assert caught.value.code == code
    assert said in caught.value.render()


@product.schedule
def rows_of_a_tile(s):
    s.tile(["i", "j"], [4, 3], tail="guard")
    s.buffer("B", "j_0")
    s.expand("t", "S0.i_1")
    s.distribute(["S1"], 2)
    s.reorder(["S1.k", "S1.i_1", "S1.j_1"])
    s.pipeline("S1.j_1")


@product.schedule
def behind_a_pipeline(s):
    s.interchange("i", "j")
    s.pipeline("S1.k")
    s.expand("t", "i")
    s.distribute(["S0"], 1)


@pytest.mark.parametrize(
    ("schedule", "shape"), [("rows_of_a_tile", (4, 3)), ("behind_a_pipeline", (6,))]
)
def test_behind_steps_that_change_loops_these_are_the_ones(schedule, shape):
    state = apply(product.program, product.schedules[schedule])
    assert state.scop.program.array("t_x").shape == shape
    assert any(d.pipeline_ii for p in state.pieces for d in p.dims)
    assert weft.verify(product, schedule).ok
    assert weft.equivalence(product, schedule).verdict == "proven"


@weft.kernel
def in_line(A: i32[8], C: i32[8]):
    B: i32[8]
    for i in range(8):
        t = A[i] * 3
        B[i] = t + t
    for i in range(8):
        C[i] = B[i]


@pytest.mark.parametrize(
    ("kernel", "steps", "loop", "said"),
    [
        (product, (Split("i", 4),), "i_1", "stands in several places"),
        (in_line, (Split("S0.i", 4), Dataflow()), "S0.i_1", "dataflow"),
    ],
)
def test_the_loop_is_one_and_no_process_counts_accesses(kernel, steps, loop, said):
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, Schedule((*steps, Expand("t", loop))))
    assert caught.value.code == "W228"
    assert said in caught.value.render()


def test_what_a_tile_hands_on_is_refused():
    with pytest.raises(ScheduleError, match="W228"):
        apply(summed.program, Schedule((Split("i", 2, tail="guard"), Expand("t", "i_1"))))


# ------------------------------------------------------------------------ the independent check


def rewritten(kernel: weft.Kernel, step: Expand) -> Rewriting:
    (found,) = rewritings(kernel.program, Schedule((step,)))
    assert check_rewriting(found) is None
    return found


def changed(program: Program, name: str, index: Affine) -> Program:
    """The program with another first subscript of the local in one statement's target."""

    def visit(node: Node) -> Node:
        match node:
            case Stmt() if node.name == name:
                target = node.target
                other = replace(target, indices=(index, *target.indices[1:]))
                return replace(node, target=other)
            case Loop(body=body):
                return replace(node, body=tuple(map(visit, body)))
            case If(then=then, orelse=orelse):
                parts = tuple(map(visit, then)), tuple(map(visit, orelse))
                return replace(node, then=parts[0], orelse=parts[1])
        return node

    return replace(program, body=tuple(map(visit, program.body)))


@pytest.mark.parametrize("index", [Affine((), 0), Affine.of("i") // 2, Affine.of("j")])
def test_an_expansion_that_mixes_iterations_is_refuted(index):
    right = rewritten(product, Expand("t", "j"))
    wrong = changed(right.after, "S0", index)
    found = check_expansion(right.before, wrong, "t")
    if index == Affine.of("j"):
        assert found is None
    else:
        assert found is not None
        assert found.code == "W339"


def test_an_expansion_that_is_another_program_is_refuted():
    right = rewritten(product, Expand("t", "j"))
    other = rewritten(reused, Expand("t", "i"))
    assert check_expansion(right.before, other.after, "t") is not None
    assert check_expansion(right.before, right.before, "t") is not None
    swapped = replace(right.after, body=(replace(right.after.body[0], step=-1),))
    assert check_expansion(right.before, swapped, "t") is not None


# ------------------------------------------------------------------------------ random programs


def test_random_programs_with_expanded_locals_compute_the_same():
    cases = []
    refused = 0
    for seed in programs(75):
        program = random_program(seed)
        rng = random.Random(seed)
        steps = Schedule()
        state = apply(program, steps)
        for array in program.locals:
            loops = {d.name for p in state.pieces for d in p.dims}
            if not loops:
                continue
            step = Expand(array.name, rng.choice(sorted(loops)))
            try:
                state = apply(program, steps.then(step))
            except ScheduleError:
                refused += 1
            else:
                steps = steps.then(step)
        if not len(steps):
            continue
        for _ in range(6):
            longer = steps.then(random_step(rng, state))
            try:
                state = apply(program, longer)
            except ScheduleError:
                continue
            steps = longer
        cases.append(Case(seed, program, steps))
    assert len(cases) > 4
    assert refused > 4
    failures = check_levels(cases, jit=False)
    assert not failures, failures[0].report()
