"""What each rule of a tool version is worth: the model's errors with the rule left out.

Each rule that a tool version has, and the plain default has not, is switched off by itself: a figure is
put back to its default, a switch to off. The same designs, a fixed random part of each kernel, are estimated with and
without: of 2022.1 those of `vitis2022-zu9eg`, of 2023.2 the plain ones of `streamhls-u280`, of 2025.1 `hlsfactory-u200`,
as far as they are in ``--data``; 2021.1 has no labelled designs. The rows are those of docs/reference/qor-rules.md: mean
over kernels of the mean absolute percentage error, in points more than with all rules. The rules were found
on these kernels, so this says what a rule explains, not what it would be worth elsewhere.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks._row import Options, Row, main, say
from polyhedral.codegen.generate import loop_tree
from polyhedral.scop.scheduled import build
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import u280, u280_programs, zu9eg
from qor_gnn.fit.labelled.u200_design import Directives, plain, written
from qor_gnn.fit.labelled.u200_usable import usable
from qor_gnn.tools.personality import Personality, personality

NAME = "qor_rules"
PERSONALITY = "vitis-2025.1-u200-4ns"
QUICK = 20  # one of so many rules
FIGURES = ("cycles", "dsp", "lut", "ff")
_POLICIES = "qor_gnn.tools.policies"
CHANGED = 0.02  # points of a kernel's error that are worth a word


@dataclass(frozen=True, slots=True)
class Design:
    """A labelled design, ready to be estimated."""

    kernel: str
    tree: Kernel
    kept: frozenset[str]
    labels: Mapping[str, float | None]


def sample(folder: Path, each: int) -> list[Design]:
    """The same random designs of each kernel of `hlsfactory-u200`."""
    found = []
    for facts, kernel, rows in usable(folder, say):
        tree, kept = plain(kernel), written(facts, kernel)
        part = random.Random(0).sample(rows, min(len(rows), each))
        for row in part:
            design = with_directives(tree, Directives.parse(row.directives).pragmas)
            said = row.labels
            labels = {"cycles": said.latency, "dsp": said.dsp, "lut": said.lut, "ff": said.ff}
            found.append(Design(facts.kernel, design, kept, labels))
    return found


def _sample_of_2022(folder: Path, each: int) -> list[Design]:
    by_kernel = defaultdict(list)
    for one in zu9eg.samples(folder, "kernels"):
        by_kernel[one.kernel].append(one)
    # Its kernels have a hundred times as many designs as those of the other sets.
    parts = [
        random.Random(0).sample(rows, min(len(rows), 10 * each)) for rows in by_kernel.values()
    ]
    return [
        Design(
            one.kernel, zu9eg.kernel_of(one), frozenset(),
            {"cycles": one.labels.latency, "dsp": one.labels.dsp, "lut": one.labels.lut, "ff": one.labels.ff},
        )
        for part in parts
        for one in part
    ]  # fmt: skip


def _sample_of_2023(folder: Path, each: int) -> list[Design]:
    del each  # there is one of each kernel
    rows = {row.kernel: row for row in u280.design_rows(folder) if row.tool == "vitis"}
    found = []
    for kernel in u280_programs.KERNELS:
        tree = kernel_of_tree(loop_tree(build(u280_programs.program(kernel))))
        row = rows[kernel]
        labels = {"cycles": row.latency_max, "dsp": row.dsp, "lut": row.lut, "ff": row.ff}
        found.append(Design(kernel, tree, frozenset(), labels))
    return found


SETS: Mapping[str, tuple[str, Callable[[Path, int], list[Design]]]] = {
    zu9eg.PERSONALITY: ("vitis2022-zu9eg", _sample_of_2022),
    u280.PERSONALITY: ("streamhls-u280", _sample_of_2023),
    PERSONALITY: ("hlsfactory-u200", sample),
}
"""The labelled designs of each version: their folder, and what takes a part of them."""


def errors(designs: Sequence[Design], tool: Personality) -> dict[str, dict[str, float]]:
    """Of each kernel the mean absolute error of each figure in percent."""
    found: dict[str, dict[str, list[float]]] = {}
    for design in designs:
        answer = estimate(design.tree, tool, kept=design.kept)
        said = {
            "cycles": answer.latency.maximum,
            "dsp": answer.dsp,
            "lut": answer.lut,
            "ff": answer.ff,
        }
        mine = found.setdefault(design.kernel, {name: [] for name in FIGURES})
        for name, value in said.items():
            label = design.labels[name]
            if value is not None and label:
                mine[name].append(100 * abs(value / label - 1))
    return {k: {n: fmean(v) for n, v in mine.items() if v} for k, mine in found.items()}


def overall(by_kernel: Mapping[str, Mapping[str, float]], name: str) -> float:
    """The mean over kernels of one figure."""
    return fmean([mine[name] for mine in by_kernel.values() if name in mine])


def switches(tool: Personality) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The policies' choices that are not at their defaults: where each is, and its default."""
    for field in fields(tool):
        policy = getattr(tool, field.name)
        if not is_dataclass(policy) or not type(policy).__module__.startswith(_POLICIES):
            continue
        if field.default is None:  # a policy that a tool has or has not
            yield (field.name,), None
        for choice in fields(policy):
            value = getattr(policy, choice.name)
            if choice.default is not MISSING and value != choice.default:
                yield (field.name, choice.name), choice.default


def without(owner: Any, path: tuple[str, ...], default: Any) -> Any:
    """A tool, or a policy, with one choice at its default."""
    name, *rest = path
    value = default if not rest else without(getattr(owner, name), tuple(rest), default)
    return replace(owner, **{name: value})


def measure(options: Options) -> Iterator[Row]:
    """The errors with all rules, then what each adds to them when it is left out, of each version."""
    each = 1 if options.quick else options.extra.each
    for name, (folder, part) in SETS.items():
        path = options.extra.data / folder
        if options.extra.tool not in ("", name):
            continue
        if path.is_dir():
            yield from measured(personality(name), part(path, each), options.quick)
        else:
            say(f"there are no labelled designs in {path}: the rules of {name} are left out")


def measured(tool: Personality, designs: Sequence[Design], quick: bool) -> Iterator[Row]:
    """The rows of one version."""
    base, count = errors(designs, tool), len(designs)
    source = f"csynth labels of {tool.name}; the rule at its default, which is that of 2022.1"

    def rows(case: str, values: Mapping[str, float], unit: str) -> Iterator[Row]:
        for name, value in values.items():
            yield Row(NAME, f"{tool.version} {case}", name, value, unit, None, source, count)

    yield from rows("all rules", {n: overall(base, n) for n in FIGURES}, "%")
    rules = list(switches(tool))
    for path, default in rules[::QUICK] if quick else rules:
        case = ".".join(path)
        found = errors(designs, without(tool, path, default))
        gains = {n: overall(found, n) - overall(base, n) for n in FIGURES}
        moved = [
            k for k, mine in base.items() if any(abs(found[k][n] - mine[n]) > CHANGED for n in mine)
        ]
        say(f"{tool.version} {case} moves {', '.join(moved) or 'no design'}")
        yield from rows(case, gains, "points")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which designs."""
    parser.add_argument("--data", type=Path, default=Path("tests/data"), metavar="DIR",
                        help="folder of the labelled designs")  # fmt: skip
    parser.add_argument("--each", type=int, default=2, help="designs of each kernel")
    parser.add_argument("--tool", default="", choices=["", *SETS], metavar="NAME",
                        help="this version alone")  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
