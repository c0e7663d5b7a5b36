"""The oracle itself: brute force finds what is planted, and nothing else."""

import random
from dataclasses import replace

import pytest

from dsl.expressions import typing as t
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, Load
from dsl.expressions.types import IntType
from dsl.programs.program import Array, Loop, Program, Stmt, Storage
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Interchange, Reassociate, Reverse, Skew
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop
from polyhedral.scop.scheduled import build
from tests.support.enumeration import program_events
from tests.support.legality_checks import Verdict, judge
from tests.support.oracle import Oracle
from tests.support.profiles import BALANCED, FAST
from tests.support.random_programs import random_program
from tests.support.shrink import shrink
from tests.support.timestamps import rows_of
from tests.support.tree_interp import run_tree
from tests.support.validity import faults

I32 = IntType(32)
AT_I, AT_J = Affine.of("i"), Affine.of("j")


def loop(var, low, high, *body):
    return Loop(var, (Affine.of(low),), (Affine.of(high),), 1, body)


def load(array, *indices):
    return Load(Access(array, tuple(map(Affine.of, indices))), I32)


def assign(name, array, indices, value):
    return Stmt(name, Access(array, tuple(map(Affine.of, indices))), t.assigned(value, I32))


def wavefront():
    """A[i, j] = A[i-1, j+1]: the distance is (1, -1)."""
    body = assign("S0", "A", (AT_I, AT_J), load("A", AT_I - 1, AT_J + 1))
    return Program("p", (Array("A", I32, (6, 7)),), (loop("i", 1, 6, loop("j", 0, 6, body)),))


def sums():
    """s[0] += A[i]."""
    total = t.binary(BinaryOp.ADD, load("s", 0), load("A", AT_I))
    arrays = (Array("s", I32, (1,)), Array("A", I32, (8,)))
    return Program("p", arrays, (loop("i", 0, 8, assign("S0", "s", (0,), total)),))


def private():
    """for i: t = A[i]; B[i] = t, with t a local of the loop."""
    arrays = (
        Array("A", I32, (4,)),
        Array("B", I32, (4,)),
        Array("t", I32, (), Storage.LOCAL, scope_depth=1),
    )
    first = assign("S0", "t", (), load("A", AT_I))
    return Program("p", arrays, (loop("i", 0, 4, first, assign("S1", "B", (AT_I,), load("t"))),))


def positions(order):
    return {event.key: n for n, event in enumerate(order)}


def test_the_order_of_the_program_violates_nothing():
    for seed in range(60):
        oracle = Oracle(random_program(seed, BALANCED))
        assert oracle.violation(positions(oracle.events)) is None


def test_each_pair_that_depends_is_found_when_it_is_swapped():
    """Against the definition: all pairs, looked at one by one."""
    for seed in range(12):
        oracle = Oracle(random_program(seed, FAST))
        events = oracle.events[:40]
        for n in range(len(events) - 1):
            order = [*oracle.events]
            order[n], order[n + 1] = order[n + 1], order[n]
            a, b = order[n + 1].key, order[n].key
            names = {touch.element[0] for touch in oracle.touches[n]}
            depends = any(oracle.is_dependence(a, b, name) for name in names)
            assert (oracle.violation(positions(order)) is not None) == depends


def test_a_reversed_reduction_is_a_violation_until_it_is_released():
    oracle = Oracle(sums())
    backwards = positions(oracle.events[::-1])
    found = oracle.violation(backwards)
    assert found is not None
    assert found.element == ("s", (), (0,))
    assert oracle.violation(backwards, {"S0"}) is None


def test_a_release_frees_one_statement_only():
    body = sums().body[0]
    assert isinstance(body, Loop)
    other = replace(body, body=(replace(body.body[0], name="S1"),))
    oracle = Oracle(replace(sums(), body=(body, other)))
    backwards = positions(oracle.events[::-1])
    found = oracle.violation(backwards, {"S0"})
    assert found is not None
    assert {found.earlier.stmt.name, found.later.stmt.name} != {"S0"}
    # S0 against S1 is still in order when each is reversed alone, but S1 is not released.
    swapped = [*oracle.events[7::-1], *oracle.events[8:]]
    assert oracle.violation(positions(swapped), {"S0"}) is None
    assert oracle.violation(positions(swapped), {"S1"}) is not None


def test_scopes_of_a_local_are_free_of_each_other_but_not_inside():
    oracle = Oracle(private())
    by_scope = [oracle.events[n : n + 2] for n in range(0, 8, 2)]
    backwards = [e for scope in reversed(by_scope) for e in scope]
    assert oracle.violation(positions(backwards)) is None
    inside_out = [e for scope in by_scope for e in reversed(scope)]
    assert oracle.violation(positions(inside_out)) is not None


# ------------------------------------------------------------------------------- loop trees


def tree_of(program):
    return loop_tree(build(program))


def test_a_tree_with_overlapping_lifetimes_is_found():
    tree = tree_of(private())
    (whole,) = tree.body
    halves = tuple(
        replace(whole, iv=f"i{n}", body=(renamed(node, f"i{n}"),))
        for n, node in enumerate(whole.body)
    )
    split = replace(tree, body=halves, placements=())
    assert "the value is of" in Oracle(private()).tree_faults(split)[0]


def renamed(instance, iv):
    bindings = tuple((v, e.rename({"i": iv})) for v, e in instance.bindings)
    return replace(instance, bindings=bindings)


def mutants(tree: LoopTree):
    """The tree with one thing wrong."""
    for n, node in enumerate(tree.body):
        for wrong in node_mutants(node):
            yield replace(tree, body=(*tree.body[:n], *wrong, *tree.body[n + 1 :]))


def node_mutants(node):
    yield ()
    yield node, node
    match node:
        case TreeLoop():
            yield (replace(node, lowers=tuple(b + 1 for b in node.lowers)),)
            yield (replace(node, uppers=tuple(b + 1 for b in node.uppers)),)
            yield (replace(node, step=node.step + 1),)
        case TreeGuard(constraints):
            tight = (replace(constraints[0], expr=constraints[0].expr - 1), *constraints[1:])
            yield (replace(node, constraints=tight),)
        case Instance(bindings=bindings) if bindings:
            (name, value), *rest = bindings
            yield (replace(node, bindings=((name, value + 1), *rest)),)
    if not isinstance(node, Instance):
        for n, inner in enumerate(node.body):
            for wrong in node_mutants(inner):
                yield (replace(node, body=(*node.body[:n], *wrong, *node.body[n + 1 :])),)


def test_a_tree_that_runs_something_else_is_found():
    caught = missed = 0
    for seed in range(12):
        oracle = Oracle(random_program(seed, FAST))
        tree = tree_of(oracle.program)
        assert oracle.tree_faults(tree) == []
        for wrong in mutants(tree):
            if oracle.tree_faults(wrong):
                caught += 1
            else:  # a bound that another bound hides, a body that never runs
                missed += 1
    assert caught > 100
    assert missed < caught / 3


# ------------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("program", "step", "verdict"),
    [
        (wavefront(), Interchange("i", "j"), Verdict.REFUSED),
        (wavefront(), Skew("i", "j", 1), Verdict.ACCEPTED),
        (wavefront(), Reverse("j"), Verdict.ACCEPTED),
        (wavefront(), Reverse("i"), Verdict.REFUSED),
        (wavefront(), Reverse("k"), Verdict.NOT_DONE),
        (sums(), Reverse("i"), Verdict.REFUSED),
        (private(), Reverse("i"), Verdict.ACCEPTED),
    ],
)
def test_verdicts_on_steps_whose_legality_is_known(program, step, verdict):
    assert judge(Oracle(program), build(program), step).verdict is verdict


def test_a_released_reduction_may_be_reversed():
    oracle = Oracle(sums())
    state = judge(oracle, build(sums()), Reassociate("S0")).state
    assert state is not None
    assert judge(oracle, state, Reverse("i")).verdict is Verdict.ACCEPTED


def test_vectors_are_read_off_in_program_order():
    for seed in range(30):
        program = random_program(seed, BALANCED)
        rows = rows_of(build(program))
        in_order = sorted(rows, key=lambda key: rows[key].time)
        assert in_order == [e.key for e in program_events(program)]


# ------------------------------------------------------------------------------- shrinking


def test_shrinking_keeps_the_failure_and_removes_the_rest():
    rng = random.Random(1)
    program = random_program(3, BALANCED)
    guilty = rng.choice(program.statements()).target.array

    def fails(candidate, schedule):
        return any(s.target.array == guilty for s in candidate.statements())

    small, schedule = shrink(program, Schedule((Reverse("i"),)), fails)
    assert fails(small, schedule)
    assert faults(small) == []
    assert len(small.statements()) == 1
    assert len(small.arrays) == 1
    assert len(schedule) == 0


def test_the_tree_interpreter_needs_every_instance():
    program = sums()
    tree = tree_of(program)
    (node,) = tree.body
    assert isinstance(node, TreeLoop)
    short = replace(tree, body=(replace(node, lowers=tuple(b + 1 for b in node.lowers)),))
    import numpy as np

    inputs = {"s": np.zeros(1, np.int32), "A": np.arange(1, 9, dtype=np.int32)}
    assert run_tree(tree, inputs)["s"][0] == 36
    assert run_tree(short, inputs)["s"][0] == 35
