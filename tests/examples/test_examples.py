"""Every example: its interpreter equals its NumPy reference, its schedules are legal and keep the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dsl.expressions.types import FloatType
from dsl.interp import run
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from tests.examples.discovery import FILES, label, load
from tests.support.tree_interp import run_tree

SIZES = {"mini", "small", "medium", "large"}
each_file = pytest.mark.parametrize("path", FILES, ids=label)


def scheduled(every_size: bool) -> list[Any]:
    """Every schedule of every file, at each of its sizes or at the smallest."""
    found = []
    for path in FILES:
        example = load(path)
        for name in example.kernel.schedules:
            for size in example.sizes if every_size else [example.smallest]:
                found.append(pytest.param(path, name, size, id=f"{label(path)}-{name}-{size}"))
    return found


def test_examples_are_found() -> None:
    assert len(FILES) >= 29 + 4


@each_file
def test_a_file_has_the_form_of_an_example(path: Path) -> None:
    example = load(path)
    assert example.module.__doc__
    assert example.kernel.program.name == path.stem
    if path.parent.name != "tutorial":
        assert set(example.sizes) >= SIZES
    assert example.smallest in ("mini", "")
    assert example.kernel.schedules, "at least one schedule worth using"


@pytest.mark.parametrize("path", [p for p in FILES if "medium" in load(p).sizes], ids=label)
def test_the_size_of_the_file_itself_is_medium(path: Path) -> None:
    example = load(path)
    assert example.kernel.program == example.kernel.at("medium").program
    assert example.kernel.program != example.kernel.at("mini").program


@each_file
@pytest.mark.parametrize("seed", [0, 1])
def test_interpreter_equals_reference(path: Path, seed: int) -> None:
    example = load(path)
    program = example.at(example.smallest).program
    inputs = example.inputs(example.smallest, seed)
    expected = example.expected(example.smallest, inputs)
    outputs = run(program, inputs)
    changed = False
    for array in program.arguments:
        if not array.shape:
            continue
        got, want = outputs[array.name], expected[array.name]
        changed = changed or not np.array_equal(got, inputs[array.name])
        if isinstance(array.dtype, FloatType):
            scale = float(np.abs(want).max())
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=4e-6 * scale, err_msg=array.name)
        else:
            np.testing.assert_array_equal(got, want, err_msg=array.name)
    assert changed, "the kernel changed none of its arguments"


@each_file
def test_the_inputs_are_such_that_results_are_numbers(path: Path) -> None:
    example = load(path)
    kernel = example.at(example.smallest)
    for seed in (0, 1):
        for name, values in run(kernel.program, kernel.make_inputs(seed)).items():
            assert np.isfinite(np.asarray(values, dtype=float)).all(), name


@pytest.mark.parametrize(("path", "schedule", "size"), scheduled(every_size=True))
def test_schedule_is_legal_at_every_size(path: Path, schedule: str, size: str) -> None:
    example = load(path)
    apply(example.at(size).program, example.kernel.schedules[schedule])


@pytest.mark.parametrize(("path", "schedule", "size"), scheduled(every_size=False))
def test_schedule_keeps_the_result(path: Path, schedule: str, size: str) -> None:
    example = load(path)
    kernel = example.at(size)
    inputs = example.inputs(size, seed=3)
    expected = run(kernel.program, inputs)
    outputs = run_tree(loop_tree(apply(kernel.program, kernel.schedules[schedule])), inputs)
    for name, want in expected.items():
        np.testing.assert_array_equal(outputs[name], want, err_msg=name)
