"""Region trees: the same from a module and from a loop tree, with exact trip counts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.errors.errors import IRError, ScheduleError, ToolError
from dsl.expressions.types import IntType, f32
from dsl.kernels.kernel import Kernel as SourceKernel
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import BindStorage, Flatten, Interchange, Partition, Pipeline, Unroll
from mlir_passes.dialect.attributes import context
from mlir_passes.pipeline import compile_design
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import (
    Split,
    Statement,
    body_as_kernel,
    loops_in,
    split_functions,
    walk,
)
from qor_gnn.estimate import estimate
from qor_gnn.tools.personality import personality
from tests.qor.designs import matrix_vector, region_tree, scale
from tests.qor.figures.designs import designs
from tests.support.profiles import BALANCED, FAST
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_walk

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = ("polybench/gemm", "polybench/lu", "stencil/heat_1d", "image/blur", "fixed_point/conv2d_i8")


@pytest.mark.parametrize("file", FILES)
def test_examples_are_the_same_from_both_sides(file: str) -> None:
    kernel: SourceKernel = load(f"{EXAMPLES / file}.py:{Path(file).name}")
    for schedule in (Schedule(), *kernel.schedules.values()):
        design = compile_design(kernel.program, schedule)
        assert kernel_of_tree(design.tree) == kernel_of_module(design.module)


@pytest.mark.parametrize("seed", range(24))
def test_random_designs_are_the_same_from_both_sides(seed: int) -> None:
    program = random_program(seed, BALANCED if seed % 2 else FAST)
    walk = random_walk(random.Random(seed), program, 4)
    design = compile_design(program, walk.schedule)
    tree = kernel_of_tree(design.tree)
    assert tree == kernel_of_module(design.module)
    for tool in ("vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns"):
        found = estimate(tree, tool)
        assert found.latency.minimum <= found.latency.maximum
        assert found.provenance == "model"


def quotients(divisor: int) -> ProgramBuilder:
    """Quotients and rests of integers with a sign and without."""
    p = ProgramBuilder("quotients")
    (i,) = p.loops(i=64)
    x, u = p.placeholder("x", IntType(32), (64,)), p.placeholder("u", IntType(8, False), (64,))
    for n, value in enumerate((x[i] // divisor, x[i] % divisor, u[i] // divisor, u[i] % divisor)):
        p.compute(f"S{n}", (i,), p.placeholder(f"y{n}", IntType(32), (64,))[i], value)
    return p


@pytest.mark.parametrize(
    ("divisor", "kinds"),
    [
        (8, [{"shr"}, set(), {"shr"}, set()]),
        (1, [{"shr"}, set(), {"shr"}, set()]),
        (7, [{"div"}, {"mod", "cmp", "add", "select"}, {"div"}, {"mod"}]),
    ],
)
def test_a_division_by_a_power_of_two_is_a_shift(divisor: int, kinds: list[set[str]]) -> None:
    """As it is in the C++: ``x >> 3``, ``x & 7``."""
    design = compile_design(quotients(divisor).build(), Schedule())
    kernel = kernel_of_tree(design.tree)
    assert kernel == kernel_of_module(design.module)
    statements = [n for n in walk(kernel.functions[0].body) if isinstance(n, Statement)]
    beside = {"load", "const"}
    assert [{op.kind for op in s.ops} - beside for s in statements] == kinds


@pytest.mark.parametrize("part", range(6))
def test_points_are_ranked_as_what_is_emitted(part: int) -> None:
    """Some of the recorded designs, whose figures are those of their modules."""
    for recorded in designs()[part::36]:
        design = compile_design(*recorded.make())
        assert kernel_of_tree(design.tree) == kernel_of_module(design.module), recorded.key


def test_directives_on_a_tree_are_those_of_a_schedule() -> None:
    s = ScheduleBuilder()
    s.pipeline("j", 2).unroll("j", 4).flatten("j", False).partition("A", 1, "cyclic", 4)
    s.partition("x", 0, "complete").bind_storage("y", "ram_1p")
    steps = s.build()
    assert with_directives(region_tree(matrix_vector()), steps) == region_tree(matrix_vector(), s)


def triangle(n: int) -> ProgramBuilder:
    p = ProgramBuilder("triangle")
    i = p.loop("i", 0, n)
    j = p.loop("j", 0, i + 1)
    k = p.loop("k", j, i + 1)
    b, c = p.placeholder("B", f32, (n, n)), p.placeholder("C", f32, (n, n))
    p.compute("S", (i, j, k), c[i, j], c[i, j] + b[k, j])
    return p


@pytest.mark.parametrize("n", [3, 10, 40])
def test_averages_of_trip_counts_are_exact(n: int) -> None:
    outer, middle, inner = loops_in(region_tree(triangle(n)).functions[0].body)
    executions = [(i, j) for i in range(n) for j in range(i + 1)]
    iterations = sum(i + 1 - j for i, j in executions)
    assert (outer.trips.minimum, outer.trips.average) == (n, n)
    assert (middle.trips.minimum, middle.trips.maximum) == (1, n)
    assert middle.trips.average == pytest.approx(len(executions) / n)
    assert (inner.trips.minimum, inner.trips.maximum) == (1, n)
    assert inner.trips.average == pytest.approx(iterations / len(executions))


def test_a_triangle_takes_what_its_iterations_take() -> None:
    n = 24
    found = estimate(split_functions(region_tree(triangle(n)), ((0,),)))
    depth = found.loops[-1].depth
    total = 2.0
    for i in range(n):
        total += 2 + sum(2 + 1 + depth * (i + 1 - j) for j in range(i + 1))
    # One prologue load for C[i][j], a header and a final check for each run of the loop k.
    assert found.latency.average == pytest.approx(total)
    assert found.latency.minimum < found.latency.average < found.latency.maximum


def test_the_body_of_a_loop_is_a_design_whose_outer_variables_are_arguments() -> None:
    part = body_as_kernel(region_tree(matrix_vector()), "i")
    (function,) = part.functions
    assert function.symbols == ("i",)
    assert [loop.name for loop in loops_in(function.body)] == ["j"]
    with pytest.raises(KeyError):
        body_as_kernel(region_tree(matrix_vector()), "k")


def test_functions_divide_the_body() -> None:
    with pytest.raises(ValueError, match="does not divide"):
        split_functions(region_tree(matrix_vector()), ((0,), (0,)))


@pytest.mark.parametrize(
    ("step", "code", "text"),
    [
        (Pipeline("k"), "W201", "no loop is called 'k'"),
        (Unroll("jj", 2), "W201", "no loop is called 'jj'"),
        (Flatten("k"), "W201", "no loop is called 'k'"),
        (Partition("B", 0, "cyclic", 2), "W206", "no array is called 'B'"),
        (BindStorage("B", "ram_1p"), "W206", "no array is called 'B'"),
        (Partition("A", 2, "cyclic", 2), "W207", "A has 2 dimensions, there is no 2"),
        (Interchange("i", "j"), "W216", "interchange changes the loops, and is no directive"),
    ],
)
def test_directives_that_cannot_be(step: Pipeline, code: str, text: str) -> None:
    with pytest.raises(ScheduleError) as error:
        with_directives(region_tree(matrix_vector()), [step])
    assert error.value.code == code
    assert text in str(error.value)


def test_splits_are_no_larger_than_the_array() -> None:
    kernel = with_directives(region_tree(scale()), [Partition("C", 1, "complete")])
    assert kernel.memory("C").splits == (Split(), Split("complete", 64))
    assert not kernel.memory("C").in_registers


def test_an_unknown_personality_says_what_there_is() -> None:
    with pytest.raises(ToolError) as error:
        personality("vitis-2022.1-zu9eg-10")
    assert error.value.code == "W450"
    assert "no tool personality is called 'vitis-2022.1-zu9eg-10'" in str(error.value)
    assert "vitis-2022.1-zu9eg-10ns" in (error.value.help or "")


def test_an_operator_that_is_not_in_the_library() -> None:
    with pytest.raises(ToolError) as error:
        personality().operator("gamma", "f32", 32)
    assert error.value.code == "W451"
    assert "has no operator 'gamma' on f32" in str(error.value)


def test_an_op_that_the_model_does_not_know() -> None:
    design = compile_design(matrix_vector().build())
    text = design.affine.replace("arith.mulf", "arith.remf")
    from mlir_passes.provider import ir

    with context():
        module = ir.Module.parse(text)
    with pytest.raises(IRError) as error:
        kernel_of_module(module)
    assert error.value.code == "W451"
    assert "arith.remf has no estimate" in str(error.value)
