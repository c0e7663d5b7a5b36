"""Operators by the law of selection next to what reports show, each project left out in turn.

The tables of `qor_gnn.tools.operators` are distilled anew without the project, from ``operators.csv.gz``
and ``expressions.csv.gz`` in the folder ``operators`` of ``--data``; its operators are then asked of them at
its own class, budget and widths. Rows of Vivado HLS are used as facts, and asked of floating point alone; integers are
those of Vitis HLS. ``--quick`` leaves out every project but each sixth, and sweeps each sixth device. Rows ``routed_…`` are of
whole designs (`benchmarks._routed`), from the folders ``routed-pairs`` and ``prometheus-u55c``. Rows ``memory`` and
``fifo`` (`benchmarks._memories`) are of memories, from ``memories.csv.gz``: their laws are not fitted, but read from
three quarters of the projects.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from benchmarks import _memories, _routed
from benchmarks._row import Goal, Options, Row, main, say
from qor_gnn.fit.operators.area import area_of
from qor_gnn.fit.operators.distil import distilled, without
from qor_gnn.fit.operators.fabric import kind_of, product_of, side_of, width_of
from qor_gnn.fit.operators.rows import OperatorRow, float_core, operator_rows, usable
from qor_gnn.tools.operators.floats import Floats
from qor_gnn.tools.operators.integers import DIVIDER, MULTIPLY_ADD, IntegerUnits
from qor_gnn.tools.operators.multipliers import Product, size_of
from qor_gnn.tools.operators.timing import (
    FLOATS_OF,
    Tables,
    TimingClass,
    tables,
    timing_classes,
)

NAME = "operators"
PROVENANCE = "Vitis HLS and Vivado HLS reports of public projects, the project left out"
NEAR = 0.02  # of a budget, to be covered by another project
QUICK = 6
LOGIC_OPS = {"+": "add", "-": "sub", "icmp": "cmp", "select": "select"}
DIVISIONS = ("sdiv", "udiv", "srem", "urem")
FUSED = ("mac_muladd", "mac_mulsub", "mul_mul", "am_addmul", "ama_addmuladd")
CUT_ALIKE = "2023.1"
"""Versions from then on cut products into slices alike; 2020.2 to 2022.2 take fewer of some."""
MODULES = ("inst", "syninfo", "filename")


@dataclass
class Found:
    """What came of one family of operators."""

    latency: list[bool] = field(default_factory=list)
    inside: list[bool] = field(default_factory=list)
    dsp: list[bool] = field(default_factory=list)
    ff: list[float] = field(default_factory=list)
    lut: list[float] = field(default_factory=list)
    same_lut: list[bool] = field(default_factory=list)
    delay: list[float] = field(default_factory=list)


def _error(said: float, true: float) -> float:
    return abs(said - true) / true if true else (0.0 if said == 0 else 1.0)


@dataclass
class Measured:
    """All families, and how many operators of each class there were."""

    found: dict[str, Found] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)

    def of(self, family: str) -> Found:
        """The family's."""
        return self.found.setdefault(family, Found())


def asked(
    rows: Sequence[OperatorRow], known: Tables, rest: Sequence[OperatorRow], into: Measured
) -> None:
    """Ask the tables for each operator of a project once.

    Args:
        rows: of the project.
        known: distilled without it.
        rest: the rows of the others.
        into: where it is counted.
    """
    covered = {
        (FLOATS_OF.get(r.timing, r.timing), core, round(r.budget, 2))
        for r in rest
        if r.budget is not None and (core := float_core(r)) is not None and usable(r, core)
    }
    for row in dict.fromkeys(rows):
        into.classes[row.timing] = into.classes.get(row.timing, 0) + 1
        _float(row, known, covered, into)
        if row.vitis:
            _integer(row, known, into)
            _logic(row, known, into)


def _float(
    row: OperatorRow, known: Tables, covered: set[tuple[str, str, float]], into: Measured
) -> None:
    core = float_core(row)
    if core is None or not usable(row, core) or row.budget is None or row.latency is None:
        return
    timing = FLOATS_OF.get(row.timing, row.timing)
    if (timing, core) not in known.floats:
        return
    of = TimingClass(timing, row.timing, area_of(row.timing))
    units = Floats(known, of, row.budget, 1, 0.5, 2.0)
    choice = units.choice(core)
    near = any(t == timing and c == core and abs(b - row.budget) <= NEAR * b for t, c, b in covered)
    found = into.of("float" if near else "float, not covered")
    found.latency.append(choice.latency == row.latency)
    found.inside.append(choice.least <= row.latency <= choice.most)
    if row.source == "inst" and row.dsp is not None and row.vitis:
        dsp, ff, lut = units.area(core, row.latency)
        area = into.of("float area")
        area.dsp.append(dsp == row.dsp)
        if row.ff:
            area.ff.append(_error(ff, row.ff))
        if row.lut:
            area.lut.append(_error(lut, row.lut))


def _integer(row: OperatorRow, known: Tables, into: Measured) -> None:
    if row.source not in MODULES or row.latency is None:
        return
    if row.op in DIVISIONS and (widths := product_of(row)) is not None:
        into.of("divide").latency.append(row.latency == widths[0] + DIVIDER)
    if row.op in FUSED:
        into.of("mac").latency.append(row.latency == MULTIPLY_ADD)
    if row.op != "mul" or row.budget is None or (widths := product_of(row)) is None:
        return
    a, b, result = widths
    side = side_of(row.timing)
    size = size_of(a, b, side)
    core = known.multipliers.get((row.timing, size))
    found = into.of("multiply")
    if core is not None:
        choice = core.choose(row.budget)
        found.latency.append(choice.latency == row.latency)
        found.inside.append(choice.least <= row.latency <= choice.most)
    if row.dsp is not None:
        exact = Product(max(a, b), min(a, b), result, side).slices == row.dsp
        found.dsp.append(exact)
        if row.version >= CUT_ALIKE:
            into.of(f"multiply, from {CUT_ALIKE}").dsp.append(exact)


@cache
def _luts(timing: str, compares: str, kind: str, width: int) -> int:
    """LUTs of logic: a rule of widths, in which no delay of any project is."""
    of = timing_classes()[timing]
    units = IntegerUnits(tables(), of, 10.0, 1, side_of(timing))
    return units.all(compares)[kind].operator(kind, width).lut


def _logic(row: OperatorRow, known: Tables, into: Measured) -> None:
    kind = kind_of(row)
    if kind is not None and row.delay and (row.timing, kind) in known.logic:
        of = TimingClass(row.timing, row.timing, area_of(row.timing))
        said = IntegerUnits(known, of, 10.0, 1, 25).delay(kind, width_of(row))
        into.of(f"logic {kind}").delay.append(_error(said, row.delay))
    name = LOGIC_OPS.get(row.op)
    if row.source != "expr" or name is None or not row.lut:
        return
    widths = [int(w) for w in row.widths.split(",") if w.isdigit()]
    widths = widths[1:] if name == "select" else widths
    if name == "select" and widths and max(widths) == 1:
        return  # of two numbers, which are printed as a bit: how wide the result is, is not told
    if not widths or not max(widths) or (row.timing, "add") not in known.logic:
        return
    said = _luts(row.timing, "adder" if row.version >= "2023" else "own", name, max(widths))
    logic = into.of(f"logic {'add' if name == 'sub' else name}")
    logic.lut.append(_error(said, row.lut))
    logic.same_lut.append(said == row.lut)


# ------------------------------------------------------------------------------------------- rows


def _share(hits: Sequence[bool]) -> float:
    return 100 * sum(hits) / len(hits)


_GOALS = {
    ("divide", "latency_exact_pct"): 95, ("mac", "latency_exact_pct"): 95,
    ("float", "latency_exact_pct"): 97, ("float, not covered", "latency_exact_pct"): 60,
    ("float, not covered", "latency_inside_pct"): 95, ("multiply", "latency_exact_pct"): 80,
    ("float area", "dsp_exact_pct"): 99, ("multiply", "dsp_exact_pct"): 99,
    (f"multiply, from {CUT_ALIKE}", "dsp_exact_pct"): 95,
}  # fmt: skip
_MOST = {"ff_ape_median_pct": 5, "lut_ape_median_pct": 10, "delay_ape_median_pct": 10}


def measured_rows(measured: Measured) -> Iterator[Row]:
    """The rows of what was measured."""
    for family, found in sorted(measured.found.items()):
        figures: dict[str, tuple[float, int]] = {}
        for metric, hits in (
            ("latency_exact_pct", found.latency), ("latency_inside_pct", found.inside),
            ("dsp_exact_pct", found.dsp), ("lut_exact_pct", found.same_lut),
        ):  # fmt: skip
            if hits:
                figures[metric] = (_share(hits), len(hits))
        for metric, errors in (
            ("ff_ape_median_pct", found.ff), ("lut_ape_median_pct", found.lut),
            ("delay_ape_median_pct", found.delay),
        ):  # fmt: skip
            if errors:
                figures[metric] = (100 * statistics.median(errors), len(errors))
        for metric, (value, n) in figures.items():
            least = _GOALS.get((family, metric))
            goal = (
                Goal(">=", least)
                if least
                else Goal("<=", _MOST[metric])
                if metric in _MOST
                else None
            )
            yield Row(NAME, family, metric, value, "%", goal, PROVENANCE, n)
    for timing, n in sorted(measured.classes.items()):
        yield Row(NAME, timing, "operators", n, "1", None, PROVENANCE, n)


def sweep_rows(quick: bool) -> Iterator[Row]:
    """Every device at eight clocks, with some examples: errors, and cycles that fall with the period."""
    from backends.devices import DEVICES
    from dse.estimates.estimation import estimated, setting
    from dsl.errors.errors import WeftError
    from dsl.kernels.loader import load

    clocks = (2.0, 3.33, 4.0, 5.0, 6.67, 8.0, 10.0, 20.0)
    names = ("polybench/gemm.py:gemm", "polybench/jacobi_2d.py:jacobi_2d", "polybench/atax.py:atax")
    chips = [chip for chip in DEVICES.values() if chip.vitis][:: QUICK if quick else 1]
    errors, kept = 0, []
    seen: dict[tuple[str, str], list[float]] = {}
    for name in names[: 1 if quick else None]:
        kernel = load(f"examples/{name}").at("mini")
        schedule = next(iter(kernel.schedules.values()))
        for chip in chips:
            key = (name, f"{setting(None, chip, 7.0).tool.name} {bool(chip.uram)}")
            if key in seen:
                continue
            cycles = seen[key] = []
            for clock in clocks:
                try:
                    where = setting(None, chip, clock)
                    cycles.append(estimated(kernel.program, schedule, where).answer.latency.average)
                except WeftError as error:
                    errors += 1
                    say(f"{name} on {chip.name} at {clock:g} ns: {error.message}")
            kept += [a >= b for a, b in pairwise(cycles)]
    yield Row(NAME, "all", "sweep_errors", errors, "1", Goal("==", 0), "model", len(kept))
    yield Row(
        NAME, "all", "sweep_monotone_pct", _share(kept), "%", Goal(">=", 99), "model", len(kept)
    )


def rows(options: Options) -> Iterator[Row]:
    """All rows."""
    folder: Path = options.extra.data / "operators"
    if (folder / "operators.csv.gz").is_file():
        facts = list(operator_rows(folder))
        repos = sorted({row.repo for row in facts})
        measured = Measured()
        chosen = repos[:: QUICK if options.quick else 1]
        for n, repo in enumerate(chosen):
            say(f"{n + 1} of {len(chosen)}: {repo}")
            rest = without(facts, repo)
            asked([r for r in facts if r.repo == repo], distilled(rest), rest, measured)
        yield from measured_rows(measured)
    else:
        say(f"no facts about operators in {folder}: their rows are left out")
    if _routed.there_are(options.extra.data):
        yield from _routed.rows(NAME, options.extra.data)
    else:
        say(f"no routed designs in {options.extra.data}: their rows are left out")
    if _memories.there_are(options.extra.data):
        yield from _memories.rows(NAME, options.extra.data)
    else:
        say(f"no facts about memories in {options.extra.data}: their rows are left out")
    yield from sweep_rows(options.quick)


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--data``."""
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), metavar="DIR",
        help="facts about operators are in its folder operators, routed designs in routed-pairs",
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", rows, add_options))
