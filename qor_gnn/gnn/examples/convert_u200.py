"""The designs of ``hlsfactory-u200`` as examples; what was learned from them carries its licence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from qor_gnn.design.directives import with_directives
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import u200
from qor_gnn.fit.labelled.u200_design import Directives, plain, written
from qor_gnn.fit.labelled.u200_program import Converted, convert
from qor_gnn.fit.labelled.u200_usable import usable
from qor_gnn.gnn.examples.convert import Origin, Source, example
from qor_gnn.gnn.examples.example import Example
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.tools.personality import personality

TOOL = "vitis-2025.1-u200-4ns"


@dataclass(frozen=True, slots=True)
class Task:
    """Rows that differ only in directives that the tool ignores: one design."""

    row: u200.Row
    count: int


def source(folder: Path, remark: Callable[[str], None] = lambda _: None) -> Source:
    """Its rows: those of ``kernels.csv``, as far as their kernels are programs.

    Args:
        folder: of the data set.
        remark: is told what is left out, and why.

    Raises:
        InputError: W511, W512: the files are not what they should be, or not there.
    """
    tasks = [
        task for _, kernel, rows in usable(folder, remark) for task in _different(rows, kernel)
    ]
    return Source("u200", folder.resolve(), tuple(tasks), _make)


def _different(rows: Sequence[u200.Row], kernel: Converted) -> list[Task]:
    found: dict[tuple[Directives, u200.Labels], Task] = {}
    for row in rows:
        key = Directives.parse(row.directives).effective(kernel.program), row.labels
        known = found.get(key)
        found[key] = Task(row, 1) if known is None else Task(known.row, known.count + 1)
    return list(found.values())


@cache
def _facts(folder: Path) -> dict[str, u200.Facts]:
    return u200.kernels(folder)


@cache
def _structure(folder: Path, name: str) -> tuple[Kernel, frozenset[str]]:
    facts = _facts(folder)[name]
    kernel = convert(facts)
    assert isinstance(kernel, Converted)
    return plain(kernel), written(facts, kernel)


def _make(folder: Path, tasks: Sequence[Task]) -> list[Example]:
    return [_example(folder, task) for task in tasks]


def _example(folder: Path, task: Task) -> Example:
    row, facts = task.row, _facts(folder)[task.row.kernel]
    structure, kept = _structure(folder, row.kernel)
    kernel = with_directives(structure, Directives.parse(row.directives).pragmas)
    answer = estimate(kernel, TOOL, kept=kept)
    seen = automatic(kernel, personality(TOOL), kept)
    names = ("latency", "lut", "ff", "dsp", "bram18", "uram")
    label = {name: float(getattr(row.labels, name)) for name in names}
    name = f"{row.kernel} {row.directives}"
    origin = Origin(facts.group, facts.family, weight=task.count, name=name)
    return example(kernel, seen, answer, label, origin)
