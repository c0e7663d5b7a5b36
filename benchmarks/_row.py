"""What every benchmark shares: rows as JSON lines, goals, the command line and the exit status."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO


@dataclass(frozen=True)
class Goal:
    """A bound that a value has to keep: `Goal("<=", 0.5)`."""

    relation: str
    bound: float

    def __post_init__(self) -> None:
        if self.relation not in ("<=", ">=", "=="):
            raise ValueError(f"a goal is <=, >= or ==, not {self.relation!r}")

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:g}"

    def met_by(self, value: float | None) -> bool:
        """Whether `value` keeps the bound; what was not measured (None, NaN) does not."""
        if value is None or math.isnan(value):
            return False
        match self.relation:
            case "<=":
                return value <= self.bound
            case ">=":
                return value >= self.bound
            case _:
                return value == self.bound


@dataclass(frozen=True)
class Row:
    """One measured figure.

    Attributes:
        benchmark: name of the module that measured it.
        case: what was measured, for instance a kernel.
        metric: which figure of it; with the case, a name that stays fixed.
        value: the figure, or None where it could not be measured.
        unit: unit of the value; "1" for a ratio.
        goal: the bound it should keep, or None for a figure that is only reported.
        provenance: where it came from: the tool, its version, the way it was measured.
        n: number of repetitions behind the value.
    """

    benchmark: str
    case: str
    metric: str
    value: float | None
    unit: str
    goal: Goal | None = None
    provenance: str = ""
    n: int = 1

    @property
    def ok(self) -> bool:
        """Whether the goal is met; true where there is none."""
        return self.goal is None or self.goal.met_by(self.value)

    def to_json(self) -> str:
        """The row as one line of JSON, keys in their fixed order."""
        value = self.value
        if isinstance(value, float):
            value = float(f"{value:.4g}") if math.isfinite(value) else None
        return json.dumps(
            {
                "benchmark": self.benchmark,
                "case": self.case,
                "metric": self.metric,
                "value": value,
                "unit": self.unit,
                "goal": None if self.goal is None else str(self.goal),
                "ok": self.ok,
                "provenance": self.provenance,
                "n": self.n,
            },
            ensure_ascii=False,
        )


@dataclass(frozen=True)
class Options:
    """What a benchmark was asked for.

    Attributes:
        quick: stay under a minute on two cores, and say what is left out.
        out: file the rows are also written to, or None.
        extra: the benchmark's own options, as parsed.
    """

    quick: bool = False
    out: Path | None = None
    extra: argparse.Namespace = field(default_factory=argparse.Namespace)


def say(message: str) -> None:
    """Print a remark for the person at the terminal; stdout is for rows only."""
    print(message, file=sys.stderr, flush=True)


def median(samples: Sequence[float]) -> float:
    """Median of `samples`, NaN of none: a row of it is not ok, and is not a crash."""
    return statistics.median(samples) if samples else math.nan


def emit(rows: Iterable[Row], streams: Sequence[TextIO]) -> bool:
    """Print each row as it comes; true when every goal is met."""
    met = True
    for row in rows:
        met = met and row.ok
        for stream in streams:
            print(row.to_json(), file=stream, flush=True)
    return met


def main(
    description: str,
    measure: Callable[[Options], Iterable[Row]],
    add_options: Callable[[argparse.ArgumentParser], Any] | None = None,
    argv: Sequence[str] | None = None,
) -> int:
    """Run a benchmark from the command line.

    Args:
        description: what it measures; the first line is shown by `--help`.
        measure: gives the rows, best as a generator, so that each is printed when it is known.
        add_options: adds the benchmark's own options to the parser.
        argv: the command line, `sys.argv[1:]` when None.

    Returns:
        The exit status: 0 when every goal is met, 1 when one is missed or was not measured.
    """
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="under 60 s on two cores")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the rows here as well")
    if add_options is not None:
        add_options(parser)
    parsed = parser.parse_args(argv)
    options = Options(quick=parsed.quick, out=parsed.out, extra=parsed)
    if options.out is None:
        met = emit(measure(options), [sys.stdout])
    else:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("w", encoding="utf-8") as file:
            met = emit(measure(options), [sys.stdout, file])
    return 0 if met else 1
