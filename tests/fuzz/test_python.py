"""Random kernels in the whole language do what their text does as Python, and level 3 what the kernels do."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsl.errors.errors import LanguageError
from dsl.kernels.kernel import Kernel
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from tests.support.amount import programs
from tests.support.as_python import differences
from tests.support.levels import Case, check_levels
from tests.support.python_helpers import AS_PYTHON, HEAD
from tests.support.random_python import Writer

SEEDS, COMPILED = 16, 4
# What the front end refuses of what the writer writes: copies that jump, targets that depend on those before.
REFUSED = ("W109", "W153")


def loaded(seed: int, folder: Path) -> tuple[Kernel, str] | None:
    text = Writer(seed).text()
    file = folder / f"k{seed}.py"
    file.write_text(HEAD + text, encoding="utf-8")
    kernel = load(f"{file}:k")
    try:
        _ = kernel.program
    except LanguageError as error:
        if error.code not in REFUSED:
            pytest.fail(f"{seed}: {error}")
        return None
    return kernel, text


def test_kernels_do_what_their_text_does(tmp_path: Path) -> None:
    found = {seed: loaded(seed, tmp_path) for seed in programs(SEEDS)}
    assert sum(f is not None for f in found.values()) > 0.8 * len(found)
    for seed, pair in found.items():
        if pair is not None:
            for data, largest in enumerate((40, 126)):
                assert differences(*pair, data, largest, **AS_PYTHON) == [], seed


def test_their_designs_do_what_they_do(tmp_path: Path) -> None:
    pairs = {seed: loaded(seed, tmp_path) for seed in programs(COMPILED, 1000)}
    cases = [Case(s, p[0].program, Schedule()) for s, p in pairs.items() if p is not None]
    failures = check_levels(cases, cxx=False)
    if failures:
        pytest.fail(f"{failures[0].seed}: {failures[0].check}: {failures[0].detail}")
