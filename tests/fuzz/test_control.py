"""Programs of control flow alone: valid, varied, and a change of order changes what they compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.expressions.affine import And, Cond, Constraint, FloorDiv, Or
from dsl.expressions.expr import Binary, Const, walk
from dsl.programs.program import If, Loop, Node, Program, Stmt
from tests.support.amount import programs
from tests.support.diagnosis import shrunk
from tests.support.enumeration import program_events
from tests.support.levels import Case, check_levels
from tests.support.profiles import CONTROL
from tests.support.random_programs import random_program
from tests.support.trial import run_trial
from tests.support.validity import faults


def test_every_program_is_valid_and_small() -> None:
    for seed in range(150):
        program = random_program(seed, CONTROL)
        assert faults(program) == [], seed
        assert len(program_events(program)) <= CONTROL.iterations
        assert len(program.statements()) <= CONTROL.statements


def test_every_statement_triples_what_it_writes_and_adds_its_own_number() -> None:
    for seed in range(60):
        own: list[int] = []
        for stmt in random_program(seed, CONTROL).statements():
            assert isinstance(stmt.value, Binary)
            constants = [e.value for e in walk(stmt.value) if isinstance(e, Const)]
            assert constants[0] == 3
            own.append(int(constants[-1]))
        assert len({*own}) == len(own)


def features(program: Program) -> Iterator[str]:
    for node, _ in program.walk():
        match node:
            case If(cond, _, orelse):
                yield "else" if orelse else "no else"
                yield from _of_cond(cond)
            case Loop(step=step, body=body):
                yield f"step {step}"
                kinds = {type(n) for n in body}
                yield "imperfect" if Loop in kinds and len(body) > 1 else "perfect"
            case Stmt(target=target):
                yield f"into {target.array}"


def _of_cond(cond: Cond) -> Iterator[str]:
    match cond:
        case Constraint(expr, kind):
            yield "remainder" if any(isinstance(a, FloorDiv) for a, _ in expr.terms) else kind
        case And(parts) | Or(parts):
            yield type(cond).__name__
            for part in parts:
                yield from _of_cond(part)


def test_the_programs_have_what_breaks_loops() -> None:
    counts = Counter(f for s in range(200) for f in {*features(random_program(s, CONTROL))})
    wanted = ("else", "no else", "remainder", "And", "Or", "==", ">=", "imperfect", "perfect")
    steps = tuple(f"step {s}" for s in (1, 2, 3, -1, -2, -3))
    assert min(counts[f] for f in (*wanted, *steps, "into x", "into y")) >= 5, counts


def swapped(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """The nodes with two neighbouring statements in the other order."""
    for n, node in enumerate(nodes):
        before = nodes[n - 1] if n else None
        if isinstance(node, Stmt) and isinstance(before, Stmt) and before.target == node.target:
            yield (*nodes[: n - 1], node, before, *nodes[n + 1 :])
        if isinstance(node, Loop):
            for body in swapped(node.body):
                yield (*nodes[:n], replace(node, body=body), *nodes[n + 1 :])


def test_a_change_of_order_changes_the_result() -> None:
    tried = 0
    for seed in range(60):
        program = random_program(seed, CONTROL)
        inputs = random_inputs(program, seed)
        right = interp.run(program, inputs)
        for body in swapped(program.body):
            other = replace(program, body=body)
            if len(program_events(program)) == 0 or not _runs_both(program, other):
                continue
            wrong = interp.run(other, inputs)
            assert any(not np.array_equal(right[a], wrong[a]) for a in right), seed
            tried += 1
    assert tried > 20


def _runs_both(program: Program, other: Program) -> bool:
    """Whether the order of what runs differs at all."""
    return [e.key for e in program_events(program)] != [e.key for e in program_events(other)]


PER_SHARD = 18


@pytest.mark.slow
@pytest.mark.parametrize("first", programs(PER_SHARD)[::PER_SHARD])
def test_all_levels_agree(first: int) -> None:
    """Loop tree, JIT and compiled C++ against the interpreter, under random schedules."""
    cases, failures = [], []
    for seed in range(first, first + PER_SHARD):
        trial = run_trial(seed, CONTROL, 2)
        failures += trial.failures
        cases += [Case(seed, trial.program, schedule) for schedule in trial.schedules]
    failures += check_levels(cases)
    if failures:
        pytest.fail("\n\n".join(shrunk(f, seconds=20).report() for f in failures[:3]))
    assert len(cases) == 2 * PER_SHARD
