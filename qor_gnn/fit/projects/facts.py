"""Facts about operators in folders of projects, as rows of the kind that the shipped tables were distilled from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.vitis.facts.heading import Heading
from backends.vitis.facts.project import Module, Totals, modules, totals
from backends.vitis.facts.tables import Reported
from backends.vitis.facts.tree import Remark, solutions
from dsl.errors.errors import InputError
from qor_gnn.fit.operators.rows import OperatorRow, budget_of, timing_class


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A fact, and the kernel (module) of the project that it was seen in."""

    row: OperatorRow
    kernel: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What projects show.

    Attributes:
        rows: about operators; ``repo`` is the project.
        totals: of designs that were placed and routed, with their project.
        headings: of the reports that were read, by project.
    """

    rows: tuple[ProjectRow, ...]
    totals: tuple[tuple[str, Totals], ...]
    headings: tuple[tuple[str, Heading], ...]

    @property
    def projects(self) -> tuple[str, ...]:
        """The names of the projects, in order."""
        return tuple(dict.fromkeys(name for name, _ in self.headings))


def facts_of(roots: Sequence[Path], remark: Remark = lambda _: None) -> Facts:
    """The facts of folders of projects.

    Projects with a report of the same module, made at the same time, are copies of one, and count as one.

    Args:
        roots: a folder of a project, or of many, each.
        remark: is told of what is left out.

    Raises:
        InputError: W512, W551: a folder cannot be read, or there is no report of synthesis in any.
    """
    found: list[tuple[str, Module]] = []
    routed: list[tuple[str, Totals]] = []
    names: dict[str, Path] = {}
    for root in dict.fromkeys(Path(os.path.realpath(root)) for root in roots):
        for solution in solutions(root, remark):
            name = _name(solution.project, root, names)
            found += ((name, module) for module in modules(solution, remark))
            if (total := totals(solution, remark)) is not None:
                routed.append((name, total))
    if not found:
        raise InputError(
            "W551",
            f"{', '.join(map(str, roots))} has no report of Vitis HLS or Vivado HLS that can be used",
            help="name the folder of a project that was synthesised: it has solution*/syn/report/*_csynth.rpt",
        )
    one_of = _copies(found)
    rows: dict[ProjectRow, None] = {}
    unknown: set[str] = set()
    for name, module in found:
        timing = timing_class(module.heading.family.lower(), module.heading.part)
        if timing is None:
            unknown.add(f"{module.heading.part} ({module.heading.family})")
            continue
        for operator in module.operators:
            row = _row(operator, module.heading, timing, one_of[name])
            rows[ProjectRow(row, module.heading.module)] = None
    for part in sorted(unknown):
        remark(f"reports for {part} are left out: the timing class of this part is not known")
    clocked = {one_of[name] for name, module in found if module.heading.clock is not None}
    for name in dict.fromkeys(one_of[name] for name, _ in found if one_of[name] not in clocked):
        remark(f"the latencies of {name} are left out: no report of it says at which clock it is")
    headings = dict.fromkeys((one_of[name], module.heading) for name, module in found)
    return Facts(tuple(rows), tuple((one_of[n], t) for n, t in routed), tuple(headings))


def _name(project: Path, root: Path, names: dict[str, Path]) -> str:
    """What a project is called: its folder, from the folder on that the user named; numbered if two would be alike."""
    inner = project.relative_to(root).as_posix() if project.is_relative_to(root) else "."
    plain = root.name if inner == "." else f"{root.name}/{inner}"
    name, n = plain, 1
    while names.setdefault(name, project) != project:
        n += 1
        name = f"{plain} ({n})"
    return name


def _copies(found: Iterable[tuple[str, Module]]) -> dict[str, str]:
    """The project that each is, or is a copy of."""
    one_of: dict[str, str] = {}
    made: dict[tuple[str, str, str, str], str] = {}

    def first(name: str) -> str:
        while one_of[name] != name:
            name = one_of[name]
        return name

    for name, module in found:
        one_of.setdefault(name, name)
        about = module.heading
        if not about.date:
            continue
        key = about.module, about.date, about.version, about.part
        other, own = first(made.setdefault(key, name)), first(name)
        one_of[max(other, own)] = min(other, own)
    return {name: first(name) for name in one_of}


def _row(operator: Reported, about: Heading, timing: str, project: str) -> OperatorRow:
    return OperatorRow(
        operator.source, about.tool == "vitis", about.version, timing,
        budget_of(about.clock, about.uncertainty), operator.op, operator.core, operator.impl,
        operator.widths, operator.latency, operator.delay, operator.dsp, operator.ff, operator.lut,
        project,
    )  # fmt: skip
