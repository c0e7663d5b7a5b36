"""What each rule of a tool version is worth: the model's errors with the rule left out.

Each rule that a tool version has, and the plain default has not, is switched off by itself: a figure is
put back to its default, a switch to off. The same designs of `hlsfactory-u200`, a fixed random part of
each kernel, are estimated with and without. The rows are those of docs/reference/qor-rules.md: mean over
kernels of the mean absolute percentage error, in points more than with all rules. The rules were found
on these kernels, so this says what a rule explains, not what it would be worth elsewhere.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks._row import Options, Row, main, say
from qor_gnn.design.directives import with_directives
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200 import Row as Labelled
from qor_gnn.fit.labelled.u200_design import Directives, plain, written
from qor_gnn.fit.labelled.u200_usable import usable
from qor_gnn.tools.personality import Personality, personality

NAME = "qor_rules"
PERSONALITY = "vitis-2025.1-u200-4ns"
SOURCE = "Vitis HLS 2025.1 csynth, xcu200, 4 ns; the rule at its default, which is that of 2022.1"
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
    row: Labelled


def sample(folder: Path, each: int) -> list[Design]:
    """The same random designs of each kernel of a data set."""
    found = []
    for facts, kernel, rows in usable(folder, say):
        tree, kept = plain(kernel), written(facts, kernel)
        part = random.Random(0).sample(rows, min(len(rows), each))
        for row in part:
            design = with_directives(tree, Directives.parse(row.directives).pragmas)
            found.append(Design(facts.kernel, design, kept, row))
    return found


def errors(designs: list[Design], tool: Personality) -> dict[str, dict[str, float]]:
    """Of each kernel the mean absolute error of each figure in percent."""
    found: dict[str, dict[str, list[float]]] = {}
    for design in designs:
        answer, labels = estimate(design.tree, tool, kept=design.kept), design.row.labels
        pairs = {
            "cycles": (answer.latency.maximum, labels.latency),
            "dsp": (answer.dsp, labels.dsp),
            "lut": (answer.lut, labels.lut),
            "ff": (answer.ff, labels.ff),
        }
        mine = found.setdefault(design.kernel, {name: [] for name in FIGURES})
        for name, (value, label) in pairs.items():
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
    """The errors with all rules, then what each adds to them when it is left out."""
    tool = personality(PERSONALITY)
    designs = sample(
        options.extra.data / "hlsfactory-u200", 1 if options.quick else options.extra.each
    )
    base = errors(designs, tool)
    yield from _rows("all rules", {n: overall(base, n) for n in FIGURES}, len(designs), "%")
    rules = list(switches(tool))
    for path, default in rules[::QUICK] if options.quick else rules:
        found = errors(designs, without(tool, path, default))
        gains = {n: overall(found, n) - overall(base, n) for n in FIGURES}
        moved = [
            k for k, mine in base.items() if any(abs(found[k][n] - mine[n]) > CHANGED for n in mine)
        ]
        say(f"{'.'.join(path)} moves {', '.join(moved) or 'no design'}")
        yield from _rows(".".join(path), gains, len(designs), "points")


def _rows(case: str, values: Mapping[str, float], count: int, unit: str) -> Iterator[Row]:
    for name, value in values.items():
        yield Row(NAME, case, name, value, unit, None, SOURCE, count)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which designs."""
    parser.add_argument("--data", type=Path, default=Path("tests/data"), metavar="DIR",
                        help="folder of the labelled designs")  # fmt: skip
    parser.add_argument("--each", type=int, default=2, help="designs of each kernel")


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
