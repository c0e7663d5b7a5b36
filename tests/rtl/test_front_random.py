"""Graphs of random programs under random schedules compute what the interpreter does, and their
dependences cover every pair of accesses that meets."""

import random

import pytest

from backends.rtl.front.lower import graph_of
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ToolError
from mlir_passes.pipeline import compile_design
from mlir_passes.provider import passmanager
from tests.rtl.front_support import compared, hardware_walk
from tests.support.amount import sample
from tests.support.profiles import FAST
from tests.support.random_programs import random_program

_SEEDS = range(1000, 1060)


@pytest.mark.parametrize("first", sample(_SEEDS[::10], 2))
def test_a_graph_computes_what_the_interpreter_does(first: int) -> None:
    ran = dependences = inexact = 0
    for seed in range(first, first + 10):
        program = random_program(seed, FAST)
        walk = hardware_walk(random.Random(seed), program, seed % 4)
        design = compile_design(program, walk.schedule)
        try:
            graph = graph_of(design.module)
        except ToolError as error:
            if error.code != "W460":
                raise
            continue
        inputs = random_inputs(program, seed)
        fault, watcher = compared(program, graph, inputs, walk.schedule)
        assert fault is None, (seed, fault)
        ran += 1
        dependences += sum(len(watcher.deps(r)) for r in watcher.regions)
        inexact += len(watcher.inexact())
    assert ran >= 4
    assert inexact <= 0.2 * dependences + 4


@pytest.mark.parametrize("seed", range(1100, 1124))
def test_a_canonical_module_gives_the_same(seed: int) -> None:
    program = random_program(seed, FAST)
    walk = hardware_walk(random.Random(seed), program, 2)
    module = compile_design(program, walk.schedule).module
    with module.context:
        upstream = "builtin.module(func.func(canonicalize,cse))"
        passmanager.PassManager.parse(upstream).run(module.operation)
    try:
        graph = graph_of(module)
    except ToolError as error:
        if error.code != "W460":
            raise
        return
    fault, _ = compared(program, graph, random_inputs(program, seed), walk.schedule)
    assert fault is None
