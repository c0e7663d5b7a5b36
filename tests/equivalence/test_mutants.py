"""Broken modules are refuted, and what is legal, however it is ordered, is proven."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import weft
from backends.equivalence import equivalence, module_equivalence
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine, Constraint
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Reassociate
from mlir_passes.pipeline import Design, compile_design
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop
from tests.equivalence.mutants import Mutant, module_of, of_module, of_tree
from tests.equivalence.test_random import random_schedule
from tests.examples.discovery import FILES, load
from tests.mlir.trees import identity_tree
from tests.support.profiles import FAST
from tests.support.random_programs import random_program
from tests.support.tree_interp import run_tree
from weft import f32, i32


def example(name: str, schedule: str = "-") -> Design:
    kernel = load(next(path for path in FILES if path.stem == name)).kernel
    return compile_design(kernel.at("mini").program, kernel.schedules.get(schedule))


def same(a: dict[str, NDArray[Any]], b: dict[str, NDArray[Any]]) -> bool:
    return all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)


def judged(program: Program, mutants: Iterable[Mutant]) -> Counter[tuple[str, str]]:
    """How many mutants of each kind have which verdict. What is proven must compute the same."""
    inputs = random_inputs(program, 0)
    right = interp.run(program, inputs)
    found: Counter[tuple[str, str]] = Counter()
    for mutant in mutants:
        e = module_equivalence(program, mutant.module, Schedule())
        found[mutant.kind, e.error.code if e.error else e.verdict] += 1
        if e.verdict == "proven":
            assert mutant.tree is not None
            assert same(right, run_tree(mutant.tree, inputs)), mutant
    return found


@pytest.mark.parametrize("name", ["seidel_2d", "lu", "trisolv"])
def test_mutants_of_a_sequential_kernel_are_refuted(name: str) -> None:
    design = example(name)
    found = judged(design.program, of_tree(design.tree))
    kinds = {kind for kind, verdict in found if verdict.startswith("W33")}
    assert kinds >= {"drop", "twice", "iteration", "lower", "upper", "step"}
    assert found.total() - sum(n for (_, verdict), n in found.items() if verdict == "proven") > 20
    assert "not proven" not in {verdict for _, verdict in found}


@pytest.mark.parametrize(
    ("name", "schedule"), [("gemm", "tiled"), ("correlation", "rows"), ("fdtd_2d", "fused")]
)
def test_each_changed_operation_is_refuted(name: str, schedule: str) -> None:
    design = example(name, schedule)
    found: Counter = Counter()
    for mutant in of_module(design.module):
        e = module_equivalence(design.program, mutant.module, design.schedule)
        found[mutant.kind, e.error.code if e.error else e.verdict] += 1
    assert {verdict for _, verdict in found} == {"W327", "W328"}, found
    assert {kind for kind, _ in found} >= {"operator", "subscript"}
    assert equivalence(design).verdict == "proven"  # the module is as it was


@weft.kernel
def turns(x: i32[1], y: i32[6]):
    for i in range(6):
        x[0] = x[0] * 3 + 1
        for j in range(i, 6, 2):
            if j % 3 != 1:
                x[0] = x[0] * 3 + i
            else:
                y[j] = x[0] * 3 + 2
        x[0] = 3 * x[0] + y[i]


def test_nothing_is_proven_that_computes_something_else() -> None:
    """In `turns` every change of order changes the result."""
    found = judged(turns.program, of_tree(identity_tree(turns.program)))
    assert "not proven" not in {verdict for _, verdict in found}
    refuted = {kind for kind, verdict in found if verdict != "proven"}
    assert refuted >= {"drop", "twice", "iteration", "guard", "lower", "upper", "swap", "split"}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_no_mutant_of_a_random_program_is_proven_wrongly(first: int) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for seed in range(first, first + 10):
        program = random_program(seed, FAST)
        steps = random_schedule(program, random.Random(seed)) if seed % 2 else Schedule()
        # What is reassociated rounds otherwise: no difference in bits tells right from wrong.
        schedule = Schedule(tuple(step for step in steps if not isinstance(step, Reassociate)))
        try:
            tree = compile_design(program, schedule).tree
        except ScheduleError:  # a step needed the one that was left out
            tree = compile_design(program).tree
        found += judged(program, islice(of_tree(tree), seed % 3, None, 3))
    # A loop that is split has the locals in it twice.
    assert {kind for kind, verdict in found if verdict == "not proven"} <= {"split"}
    assert sum(n for (_, verdict), n in found.items() if verdict != "proven") > 10


@weft.kernel
def q(x: i32[1]):
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


def shifted_tree() -> LoopTree:
    """A loop in which the last statement is an iteration early: each iteration runs once, but not
    in order.
    """
    s0, s1, s2, s3, s4 = q.program.statements()
    a0, d3 = Affine.of("a0"), Affine.of("d3")

    def at(outer: Affine, inner: Affine) -> tuple[tuple[str, Affine], ...]:
        return (("a0", outer), ("d3", inner))

    even = Constraint(d3 % 2, "==")
    last = TreeGuard((Constraint(a0 - 2, "=="),), (Instance(s3, at(a0, d3)),))
    early = TreeGuard(
        (Constraint(-d3 + 1), Constraint(-a0 - d3 + 2)), (Instance(s4, at(a0, d3 + 1)),)
    )
    inner = TreeLoop(
        "d3", "d3", (Affine.of(-1), a0 - 2), (Affine.of(3),), 1,
        (TreeGuard((even,), (Instance(s2, at(a0, d3)), last)), early),
    )  # fmt: skip
    only = (("a0", a0),)
    outer = TreeLoop(
        "a0", "a0", (Affine.of(0),), (Affine.of(3),), 1,
        (Instance(s0, only), Instance(s1, only), inner),
    )  # fmt: skip
    return LoopTree(q.program, (outer,))


def test_an_instance_an_iteration_early_is_refuted_with_the_pair() -> None:
    found = module_equivalence(q.program, module_of(shifted_tree()), Schedule())
    assert found.verdict == "refuted"
    assert found.error is not None
    line = q.program.statements()[4].span.line  # type: ignore[union-attr]
    text = found.error.render()
    assert text.startswith(f"test_mutants.py:{line}:17: error[W337]: a flow dependence is reversed")
    assert "S2 -> S4 through x, distance (0, 0): S2[0, 0] must run before S4[0, 0]" in text
    assert "S4: x[0] = x[0] * 3 + 5" in text
    assert "help: this is a fault of Weft" in text


@weft.kernel
def squares(A: i32[8, 8], B: i32[8, 8], c: f32[8]):
    for i in range(8):
        for j in range(8):
            A[i, j] = i * j
        for j in range(8):
            B[i, j] = A[i, j] + A[i, 0]
    for i in range(8):
        for j in range(8):
            c[i] += f32(B[j, i])


def test_other_legal_orders_are_proven() -> None:
    """Loops that code generation would not make: no tree of its own, as the proof knows none."""
    tree = identity_tree(squares.program)
    nest, sums = tree.body
    assert isinstance(nest, TreeLoop)
    first, second = nest.body
    assert isinstance(first, TreeLoop)
    apart = (replace(nest, body=(first,)), replace(nest, body=(second,)), sums)
    turned = (replace(first, body=(replace(nest, body=first.body),)), apart[1], sums)
    for body in (apart, turned):
        found = module_equivalence(squares.program, module_of(replace(tree, body=body)), Schedule())
        assert found.verdict == "proven", found.detail
    wrong = (apart[1], apart[0], sums)
    found = module_equivalence(squares.program, module_of(replace(tree, body=wrong)), Schedule())
    assert found.error is not None
    assert found.error.code == "W337"


def test_a_reduction_is_free_where_the_schedule_says_so() -> None:
    tree = identity_tree(squares.program)
    nest, sums = tree.body
    assert isinstance(sums, TreeLoop)
    (inner,) = sums.body
    assert isinstance(inner, TreeLoop)
    (s,) = inner.body
    assert isinstance(s, Instance)
    back = Instance(s.stmt, (s.bindings[0], (s.bindings[1][0], -s.bindings[1][1] + 7)))
    turned = replace(sums, body=(replace(inner, body=(back,)),))
    module = module_of(replace(tree, body=(nest, turned)))
    strict = module_equivalence(squares.program, module, Schedule())
    assert strict.error is not None
    assert strict.error.code == "W337"
    free = Schedule().then(Reassociate(s.stmt.name))
    assert module_equivalence(squares.program, module, free).verdict == "proven"
