"""A tree is accepted only where it runs as scheduled: trees made wrong on purpose, and isl's own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

import weft
from backends.verify import verify
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import IRError
from dsl.expressions.affine import Affine, Constraint
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.codegen.coverage import covers
from polyhedral.codegen.generate import loop_tree
from polyhedral.codegen.nest_ast import Style
from polyhedral.codegen.tree_order import prove_order
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import ScheduledScop, build
from tests.support.oracle import Oracle
from tests.support.profiles import CONTROL, FAST
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_walk
from tests.support.tree_interp import run_tree
from weft import f32, i32


@weft.kernel
def components(x: i32[1]):
    for a0 in range(3):
        x[0] = x[0] * 3 + 1
        x[0] = x[0] * 3 + 2
        for d3 in range(3):
            if d3 % 2 == 0:
                x[0] = x[0] * 3 + 3
            if d3 % 2 == 0 and a0 > 1:
                x[0] = x[0] * 3 + 4
            else:
                x[0] = x[0] * 3 + 5


@weft.kernel
def diagonals(x: i32[1]):
    for a in range(4):
        for d in range(3, -1, -1):
            if (a + d) % 2 == 1:
                x[0] = x[0] * 3 + 1
            else:
                x[0] = x[0] * 3 + 2
            if (a + d) % 2 == 1 or a <= 2:
                x[0] = x[0] * 3 + 3
            else:
                x[0] = x[0] * 3 + 4


@weft.kernel
def branches(x: i32[1]):
    for i in range(7):
        for j in range(5, -1, -2):
            if (i + j) % 3 == 1:
                x[0] = x[0] * 3 + 1
            else:
                if i % 2 == 1 or j > i:
                    x[0] = x[0] * 3 + 2
                else:
                    x[0] = x[0] * 3 + 3
            if i % 3 == 2 and j % 2 == 1:
                x[0] = x[0] * 3 + 4
        for k in range(i % 2, 6, 2):
            if k != i:
                x[0] = x[0] * 3 + 5
        x[0] = x[0] * 3 + 6


@weft.kernel
def unions(x: i32[2]):
    for i in range(8):
        if i % 4 == 1 or i % 4 == 2:
            x[0] = x[0] * 3 + 1
        else:
            x[0] = x[0] * 3 + 2
        for j in range(4):
            if (i % 2 == 0 or j % 2 == 1) and i != 2 * j:
                x[1] = x[1] * 3 + x[0]
            if i // 2 == j:
                x[0] = x[0] * 3 + 3


@pytest.mark.parametrize(
    "kernel", [components, diagonals, branches, unions], ids=lambda k: k.program.name
)
def test_every_change_of_order_would_show(kernel: weft.Kernel) -> None:
    assert verify(kernel.program, Schedule()).ok


@pytest.mark.parametrize(
    "program", [components.program, diagonals.program, random_program(6191, CONTROL)]
)
def test_what_isl_shifts_is_built_another_way(program: Program) -> None:
    state = build(program)
    with pytest.raises(IRError, match="W314"):
        loop_tree(state, (Style.EXACT,))
    assert not list(Oracle(program).tree_faults(loop_tree(state)))


def test_unrolled_parities_under_schedules() -> None:
    s = ScheduleBuilder().split("i", 3).unroll("k", 2).split("j", 2)
    result = verify(branches.program, s.build())
    assert result.ok


# ------------------------------------------------------------------ trees made wrong by hand


@weft.kernel
def two(A: i32[8], B: i32[8], x: i32[1]):
    for i in range(8):
        A[i] = i
        B[i] = 2 * i
        x[0] = x[0] * 3 + A[i]


def scheduled(program: Program) -> tuple[ScheduledScop, LoopTree]:
    state = apply(program, Schedule())
    return state, loop_tree(state)


def accepted(nodes: tuple[TreeNode, ...], state: ScheduledScop) -> bool:
    return covers(nodes, [*state.pieces]) and prove_order(nodes, state).holds


def test_independent_statements_may_be_swapped_and_dependent_ones_not() -> None:
    state, tree = scheduled(two.program)
    (loop,) = tree.body
    assert isinstance(loop, TreeLoop)
    first, second, third = loop.body
    assert accepted((replace(loop, body=(second, first, third)),), state)
    assert not accepted((replace(loop, body=(third, first, second)),), state)


def shifted(node: TreeNode, iv: str, by: int) -> TreeNode:
    """An instance that is ``by`` iterations ahead of its loop."""
    assert isinstance(node, Instance)
    ahead = {iv: Affine.of(iv) + by}
    return replace(
        node,
        bindings=tuple((v, e.substitute(ahead)) for v, e in node.bindings),
        time=tuple(e.substitute(ahead) for e in node.time),
    )


def test_an_instance_that_runs_an_iteration_early_is_found() -> None:
    state, tree = scheduled(two.program)
    (loop,) = tree.body
    assert isinstance(loop, TreeLoop)
    first, second, third = loop.body
    i = Affine.of(loop.iv)
    now, ahead = (Constraint(i),), (Constraint(-i + 6),)
    longer = replace(loop, lowers=(Affine.of(-1),))

    def early(stmt: TreeNode) -> TreeNode:
        return TreeGuard(ahead, (shifted(stmt, loop.iv, 1),))

    # B early is free; x needs A, and an early A comes before it still.
    assert accepted(
        (
            replace(
                longer, body=(TreeGuard(now, (first,)), early(second), TreeGuard(now, (third,)))
            ),
        ),
        state,
    )
    assert accepted((replace(longer, body=(early(first), TreeGuard(now, (second, third)))),), state)
    assert not accepted(
        (replace(longer, body=(TreeGuard(now, (first, second)), early(third))),), state
    )


def test_loops_that_are_not_aligned_give_no_pragma_and_hold_no_local() -> None:
    state, tree = scheduled(two.program)
    (loop,) = tree.body
    assert isinstance(loop, TreeLoop)
    assert prove_order(tree.body, state).aligned == {loop.iv}
    first, second, third = loop.body
    early = TreeGuard((Constraint(-Affine.of(loop.iv) + 6),), (shifted(second, loop.iv, 1),))
    now = TreeGuard((Constraint(Affine.of(loop.iv)),), (first, third))
    wrong = replace(loop, lowers=(Affine.of(-1),), body=(early, now))
    assert prove_order((wrong,), state).aligned == frozenset()


def test_halves_of_a_loop_in_the_wrong_order_are_found() -> None:
    state, tree = scheduled(two.program)
    (loop,) = tree.body
    assert isinstance(loop, TreeLoop)
    low, high = replace(loop, uppers=(Affine.of(4),)), replace(loop, lowers=(Affine.of(4),))
    assert accepted((low, high), state)
    assert not accepted((high, low), state)


@weft.kernel
def streamed(A: f32[8], B: f32[8]):
    t: f32[8]
    for i in range(8):
        t[i] = A[i]
    for j in range(8):
        B[j] = t[j]


def test_what_goes_through_a_stream_stays_in_order() -> None:
    for steps, free in (
        (ScheduleBuilder(), True),
        (ScheduleBuilder().dataflow().stream("t"), False),
    ):
        state = apply(streamed.program, steps.build())
        body = loop_tree(state).body
        (loop, other) = body
        assert isinstance(loop, TreeLoop)
        low, high = replace(loop, uppers=(Affine.of(4),)), replace(loop, lowers=(Affine.of(4),))
        assert accepted((high, low, other), state) is free
        assert not accepted((other, low, high), state)


# ------------------------------------------------------------------ trees made wrong at random


def mutants(nodes: tuple[TreeNode, ...], rng: random.Random) -> Iterator[tuple[TreeNode, ...]]:
    """The nodes with one thing changed."""
    for n, node in enumerate(nodes):
        if n and rng.random() < 0.7:
            yield (*nodes[: n - 1], node, nodes[n - 1], *nodes[n + 1 :])
        if isinstance(node, Instance):
            continue
        for body in mutants(node.body, rng):
            yield (*nodes[:n], replace(node, body=body), *nodes[n + 1 :])
        if isinstance(node, TreeLoop):
            yield from ((*nodes[:n], *other, *nodes[n + 1 :]) for other in _of_loop(node, rng))


def _of_loop(loop: TreeLoop, rng: random.Random) -> Iterator[tuple[TreeNode, ...]]:
    at = Affine.of(rng.randint(0, 4))
    low, high = replace(loop, uppers=(*loop.uppers, at)), replace(loop, lowers=(*loop.lowers, at))
    if loop.step == 1:
        yield low, high
        yield high, low
        halves = tuple(replace(loop, body=(node,)) for node in loop.body)
        if len(halves) > 1:
            yield halves
    yield (replace(loop, lowers=tuple(e + 1 for e in loop.lowers)),)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_what_is_accepted_is_right(first: int) -> None:
    """Against the oracle, which runs every instance."""
    verdicts = {True: 0, False: 0}
    for seed in range(first, first + 10):
        rng = random.Random(seed)
        program = random_program(seed, FAST)
        walk = random_walk(rng, program, 2)
        oracle, tree = Oracle(program), loop_tree(walk.scheduled)
        relaxed = walk.scheduled.reassociated
        for body in list(mutants(tree.body, rng))[:12]:
            good = accepted(body, walk.scheduled)
            verdicts[good] += 1
            # A local may have moved out of what its loop encloses: only the order is judged.
            if good:
                assert not list(
                    oracle.tree_faults(replace(tree, body=body, placements=()), relaxed)
                )
    assert verdicts[True] > 3
    assert verdicts[False] > 10


@weft.kernel
def two_ways(A: i32[12]):
    for i in range(1, 4):
        for j in range(2):
            if j == 0 and i // 2 == 0:
                A[0] = 1
            else:
                A[0] = 2


def test_a_guard_around_nothing_has_no_order() -> None:
    schedule = ScheduleBuilder().split("S1.j", 2, tail="guard").shift("S1", "j_1", -1).build()
    tree = loop_tree(apply(two_ways.program, schedule))
    inputs = random_inputs(two_ways.program, 0)
    right = interp.run(two_ways.program, inputs)
    assert (run_tree(tree, inputs)["A"] == right["A"]).all()
