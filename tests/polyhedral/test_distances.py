"""Distances that are said of pipelined loops, against what their iterations store and load."""

from __future__ import annotations

import random

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.expr import loads
from dsl.expressions.types import f32
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Interchange, PartialSums, Pipeline, Reassociate, Split, Step
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode
from polyhedral.schedule import apply


def subscript(rng: random.Random, variables: list) -> object:
    total = variables[0] * 0 + rng.randint(8, 12)
    for v in variables:
        total = total + v * rng.choice((0, 1, 1, 2, -1))
    kind = rng.random()
    if kind < 0.4:
        return total % rng.choice((2, 3, 4, 5))
    return total // 2 if kind < 0.5 else total


def program(rng: random.Random) -> Program:
    p = ProgramBuilder("random")
    a, x = p.placeholder("a", f32, (64,)), p.placeholder("x", f32, (16,))
    i, j = p.loops(i=rng.randint(2, 4), j=rng.randint(2, 6))
    target = a[subscript(rng, [i, j])]
    p.compute("S0", (i, j), target, a[subscript(rng, [i, j])] + x[j])
    if rng.random() < 0.5:
        second = a[subscript(rng, [i, j])] * a[subscript(rng, [i, j])]
        p.compute("S1", (i, j), a[subscript(rng, [i, j])], second, after=("S0", j))
    return p.build()


def run(
    nodes: tuple[TreeNode, ...], env: dict[str, int], found: list, at: str, count: list
) -> None:
    """Stores and loads inside the loop ``at``, with the number of its iteration."""
    for node in nodes:
        match node:
            case TreeLoop():
                low = max(e.evaluate(env) for e in node.lowers)
                for value in range(low, min(e.evaluate(env) for e in node.uppers), node.step):
                    count[0] += node.iv == at
                    run(node.body, {**env, node.iv: value}, found, at, count)
            case TreeGuard():
                if all(c.holds(env) for c in node.constraints):
                    run(node.body, env, found, at, count)
            case Instance(stmt, bindings) if at in env:
                values = {v: e.evaluate(env) for v, e in bindings}
                for access, stores in [(a, False) for a in loads(stmt.value)] + [
                    (stmt.target, True)
                ]:
                    element = tuple(e.evaluate(values) for e in access.indices)
                    found.append((count[0], access.array, element, stores))


def nearest(tree: LoopTree, iv: str, array: str) -> int | None:
    """The fewest iterations from a store to a later load of its element."""
    found: list[tuple[int, str, tuple[int, ...], bool]] = []
    run(tree.body, {}, found, iv, [0])
    own = [f for f in found if f[1] == array]
    gaps = [
        later[0] - first[0]
        for first in own
        for later in own
        if first[3] and not later[3] and first[2] == later[2] and later[0] > first[0]
    ]
    return min(gaps, default=None)


def unrolled_parts(rows: int, copies: int, parts: int) -> tuple[Program, tuple[Step, ...]]:
    """A sum of products along i for each j, ``copies`` iterations of i in a body."""
    p = ProgramBuilder("columns")
    a, y = p.placeholder("a", f32, (rows, 6)), p.placeholder("y", f32, (6,))
    i, j = p.loops(i=rows, j=6)
    p.compute("S", (i, j), y[j], y[j] + a[i, j])
    return p.build(), (
        Reassociate("S"),
        PartialSums("S", "i", parts, copies),
        Interchange("S.i", "S.j"),
        Split("S.i", copies),
        Pipeline("S.i_0"),
    )


@pytest.mark.parametrize(("rows", "copies", "parts"), [(60, 10, 4), (48, 4, 8), (50, 5, 3)])
def test_accumulators_of_bodies_of_several_copies_take_turns(
    rows: int, copies: int, parts: int
) -> None:
    built, steps = unrolled_parts(rows, copies, parts)
    tree = loop_tree(apply(built, Schedule(steps)))
    for array, iv, distance in tree.distances:
        assert nearest(tree, iv, array) == distance
    assert ("y_part", parts) in [(array, d) for array, _, d in tree.distances]


@pytest.mark.parametrize("seed", range(250))
def test_no_value_is_wanted_sooner_than_is_said(seed: int) -> None:
    tree = loop_tree(apply(program(random.Random(seed)), Schedule((Pipeline("S0.j"),))))
    for array, iv, distance in tree.distances:
        assert distance > 1
        assert nearest(tree, iv, array) == distance


def test_enough_of_these_programs_have_a_distance() -> None:
    trees = [
        loop_tree(apply(program(random.Random(seed)), Schedule((Pipeline("S0.j"),))))
        for seed in range(250)
    ]
    assert sum(bool(tree.distances) for tree in trees) >= 15


def dot(terms: int) -> Program:
    p = ProgramBuilder("dot")
    a, y = p.placeholder("a", f32, (terms,)), p.placeholder("y", f32, (1,))
    (k,) = p.loops(k=terms)
    p.compute("S", (k,), y[0], y[0] + a[k])
    return p.build()


def test_accumulators_that_take_turns_are_told_to_the_tool() -> None:
    steps = (Reassociate("S"), PartialSums("S", "k", 4), Pipeline("k"))
    tree = loop_tree(apply(dot(64), Schedule(steps)))
    assert [(array, d) for array, _, d in tree.distances] == [("y_part", 4)]
    text = compile_design(dot(64), Schedule(steps)).hls.text
    assert "#pragma HLS dependence variable=y_part type=inter direction=RAW distance=4 true" in text


def test_what_subscripts_show_is_not_said() -> None:
    p = ProgramBuilder("shifted")
    a = p.placeholder("a", f32, (64,))
    (k,) = p.loops(k=range(4, 64))
    p.compute("S", (k,), a[k], a[k - 4] + 1.0)
    assert loop_tree(apply(p.build(), Schedule((Pipeline("k"),)))).distances == ()
