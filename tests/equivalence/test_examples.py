"""Level 3 of every example, with no schedule and with each of its own, is proven to be its program."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.equivalence import equivalence
from mlir_passes.pipeline import compile_design
from tests.examples.discovery import FILES, label, load

NOT_PROVEN: dict[tuple[str, str], str] = {}
"""Kernel and schedule for which neither is shown, with the reason. What is proven must stay so."""

AT_LEAST = 81


def designs() -> list[tuple[Path, str]]:
    return [(path, name) for path in FILES for name in ("-", *load(path).kernel.schedules)]


def test_all_designs_are_looked_at() -> None:
    assert len(designs()) - len(NOT_PROVEN) >= AT_LEAST


@pytest.mark.parametrize("path", FILES, ids=label)
def test_level_3_is_the_program(path: Path) -> None:
    example = load(path)
    for size in dict.fromkeys((example.smallest, list(example.sizes)[-1])):
        kernel = example.at(size)
        for name in ("-", *kernel.schedules):
            found = equivalence(compile_design(kernel.program, kernel.schedules.get(name)))
            reason = NOT_PROVEN.get((kernel.program.name, name))
            assert found.verdict == ("proven" if reason is None else "not proven"), found.detail
            assert reason is None or found.detail == reason
