"""What each rule of a tool version is worth: the model's errors with the rule left out.

    python -m benchmarks.qor_rules --data tests/data --each 4

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

from benchmarks._row import say
from qor_gnn.design.directives import with_directives
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200 import Row
from qor_gnn.fit.labelled.u200_design import Directives, plain, written
from qor_gnn.fit.labelled.u200_usable import usable
from qor_gnn.tools.personality import Personality, personality

PERSONALITY = "vitis-2025.1-u200-4ns"
FIGURES = ("cycles", "dsp", "lut", "ff")
CHANGED = 0.02  # points of an error that are worth a word


@dataclass(frozen=True, slots=True)
class Design:
    """A labelled design, ready to be estimated."""

    kernel: str
    tree: Kernel
    kept: frozenset[str]
    row: Row


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


def switches(rules: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The rules that are not at their defaults: where each is, and its default."""
    for field in fields(rules):
        value = getattr(rules, field.name)
        if is_dataclass(value):
            yield from switches(value, (*path, field.name))
        elif field.default is not MISSING and value != field.default:
            yield (*path, field.name), field.default


def without(rules: Any, path: tuple[str, ...], default: Any) -> Any:
    """The rules with one of them at its default."""
    name, *rest = path
    value = default if not rest else without(getattr(rules, name), tuple(rest), default)
    return replace(rules, **{name: value})


def main() -> None:
    """Print a line for each rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("tests/data"), metavar="DIR")
    parser.add_argument("--each", type=int, default=4, help="designs of each kernel")
    given = parser.parse_args()
    tool = personality(PERSONALITY)
    designs = sample(given.data / "hlsfactory-u200", given.each)
    base = errors(designs, tool)
    whole = ", ".join(f"{name} {overall(base, name):.2f}" for name in FIGURES)
    print(f"all rules, {len(designs)} designs of {len(base)} kernels: {whole}", flush=True)
    for path, default in switches(tool.rules):
        found = errors(designs, replace(tool, rules=without(tool.rules, path, default)))
        gains = " ".join(f"{n} {overall(found, n) - overall(base, n):+.2f}" for n in FIGURES)
        touched = [
            kernel
            for kernel, mine in base.items()
            if any(abs(found[kernel][n] - mine[n]) > CHANGED for n in mine)
        ]
        print(f"{'.'.join(path)}: {gains} | {' '.join(touched) or 'no design'}", flush=True)


if __name__ == "__main__":
    main()
