"""Random kernels of many types do what exact numbers and NumPy's floats do; designs of random steps what they do."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from dsl import interp
from dsl.errors.errors import ScheduleError
from dsl.kernels.loader import load
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from polyhedral.schedule import apply, apply_step, completed
from tests.support.amount import programs
from tests.support.levels import Case, check_levels
from tests.support.random_carried import CarriedWriter
from tests.support.random_rewritings import REWRITING, random_rewriting
from tests.support.random_typed import HEAD, SPACE, TypedWriter
from tests.support.typed_numbers import NotFiniteError
from tests.support.typed_python import executed

KERNELS, SCHEDULES, TRIES = 24, 10, 12


def _loaded(folder: Path, name: str, text: str) -> Program:
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    return load(f"{file}:k").program


def test_kernels_do_what_numbers_do(tmp_path: Path) -> None:
    compared, cases = 0, []
    for seed in programs(KERNELS):
        body = TypedWriter(seed).body()
        file = tmp_path / f"t{seed}.py"
        file.write_text(HEAD + body, encoding="utf-8")
        kernel = load(f"{file}:k")
        dtypes = {a.name: a.dtype for a in kernel.program.arguments}
        inputs = kernel.make_inputs(seed)
        try:
            right = executed(body, {n: v.copy() for n, v in inputs.items()}, dtypes, SPACE)
        except NotFiniteError:
            continue
        found = interp.run(kernel.program, inputs)
        for name, values in right.items():
            got = found[name].astype(values.dtype)
            assert np.array_equal(values, got), f"{seed}: {name}: {got}, not {values}"
        compared += 1
        if seed % 8 == 0:
            cases.append(Case(seed, kernel.program, Schedule()))
    assert compared > KERNELS // 2
    _check(cases)


def _steps(rng: random.Random, program: Program) -> Schedule:
    """A few random steps that are not refused."""
    schedule, state = Schedule(), apply(program, Schedule())
    for n in range(TRIES):
        kind = rng.choice(REWRITING) if n < TRIES // 2 else ""
        step = random_rewriting(rng, state, kind)
        if step is None:
            continue
        try:
            state = apply_step(state, step)
        except ScheduleError:
            continue
        schedule = schedule.then(step)
    while schedule.steps:  # a port may ask for what later steps would bring
        try:
            completed(apply(program, Schedule()), schedule)
        except ScheduleError:
            schedule = Schedule(schedule.steps[:-1])
        else:
            break
    return schedule


def test_rewritten_programs_do_what_they_do(tmp_path: Path) -> None:
    cases = []
    for seed in programs(SCHEDULES):
        program = _loaded(tmp_path, f"c{seed}", CarriedWriter(seed).text())
        cases.append(Case(seed, program, _steps(random.Random(seed), program)))
    kinds = {step.kind for case in cases for step in case.schedule}
    assert len(kinds) > 6
    _check(cases)


def _check(cases: list[Case]) -> None:
    failures = check_levels(cases, cxx=False)
    if failures:
        pytest.fail(f"{failures[0].seed}: {failures[0].check}: {failures[0].detail}")
