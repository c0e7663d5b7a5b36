"""Whether a user's own measurements help: errors without and with them, on projects that are left out in turn.

A piece is kept where nothing of it becomes worse on any project that had no part in it, and something becomes
better; also where the shipped tables make no error there, so that nothing can. Of a piece that only one project
shows, the kernels are left out in turn; where there is one kernel too, it cannot be judged, and is kept as
what was measured. Not so products of integers: those of one size are of many widths, and which of them a program
has is its own, so that two projects have to agree.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from qor_gnn.fit.operators.fabric import multiplier_facts, side_of
from qor_gnn.fit.operators.rows import OperatorRow
from qor_gnn.fit.projects.facts import ProjectRow
from qor_gnn.fit.projects.own import Piece, measured
from qor_gnn.tools.operators.calibration import NOTHING, OwnClass
from qor_gnn.tools.operators.floats import Floats
from qor_gnn.tools.operators.integers import IntegerUnits
from qor_gnn.tools.operators.multipliers import SIZES
from qor_gnn.tools.operators.timing import Tables, timing_classes

Measure = Literal["latency", "dsp", "ff", "lut"]
"""Share of wrong latencies and DSP counts; median relative error of FF and LUT."""

EXACT: tuple[Measure, ...] = ("latency", "dsp")
_SAME = 1e-9

Errors = Mapping[Measure, list[float]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a piece.

    Attributes:
        piece: which.
        own: what is measured of it, with all projects.
        left_out: what was left out in turn: ``projects``, ``kernels``, or nothing where there is only one.
        units: how many of them.
        before, after: errors of each fact that was left out, with the shipped tables and with what the others
            show as well.
        worse: of one that was left out some error has grown.
    """

    piece: Piece
    own: OwnClass
    left_out: Literal["projects", "kernels", ""]
    units: int
    before: Errors
    after: Errors
    worse: bool

    @property
    def kept(self) -> bool:
        """It is saved."""
        if self.piece.group == "multipliers" and self.left_out != "projects":
            return False
        if not self.left_out:
            return not self.own.empty
        pairs = [(total(m, self.before[m]), total(m, self.after[m])) for m in self.before]
        better = any(after < before - _SAME for before, after in pairs)
        right = all(before <= _SAME for before, _ in pairs)
        return not self.own.empty and not self.worse and (better or right)


def total(measure: Measure, errors: Sequence[float]) -> float:
    """The error of many facts: the share of wrong ones, or the median."""
    return statistics.fmean(errors) if measure in EXACT else statistics.median(errors)


def judged(piece: Piece, rows: Sequence[ProjectRow], known: Tables) -> Verdict:
    """Errors of a piece without and with what other projects show of it.

    Args:
        piece: which.
        rows: the facts about it, of all projects.
        known: the shipped tables.
    """
    plain = [one.row for one in rows]
    by: Literal["projects", "kernels", ""] = "projects"
    split = plain
    if len({row.repo for row in split}) < 2:
        by, split = "kernels", [replace(one.row, repo=one.kernel) for one in rows]
    units = sorted({row.repo for row in split})
    if len(units) < 2:
        by = ""
    before: dict[Measure, list[float]] = {}
    after: dict[Measure, list[float]] = {}
    worse = False
    for unit in units if by else ():
        asked = list(dict.fromkeys(row for row in split if row.repo == unit))
        own = measured(piece, [row for row in split if row.repo != unit])
        without, given = (_by_measure(piece, asked, used, known) for used in (NOTHING, own))
        for measure in without:
            before.setdefault(measure, []).extend(without[measure])
            after.setdefault(measure, []).extend(given[measure])
            worse = (
                worse or total(measure, given[measure]) > total(measure, without[measure]) + _SAME
            )
    return Verdict(piece, measured(piece, plain), by, len(units), before, after, worse)


def _by_measure(
    piece: Piece, rows: Iterable[OperatorRow], own: OwnClass, known: Tables
) -> dict[Measure, list[float]]:
    found: dict[Measure, list[float]] = {}
    for measure, error in _errors(piece, rows, own, known):
        found.setdefault(measure, []).append(error)
    return found


def _errors(
    piece: Piece, rows: Iterable[OperatorRow], own: OwnClass, known: Tables
) -> Iterable[tuple[Measure, float]]:
    of = timing_classes()[piece.timing]
    for row in rows:
        units = IntegerUnits(known, of, row.budget or 1.0, 1, side_of(row.timing), own)
        floats = Floats(known, of, row.budget or 1.0, 1, 0.0, 0.0, own)
        match piece.group:
            case "floats":
                yield "latency", float(floats.choice(piece.name).latency != row.latency)
            case "multipliers":
                size = next(s for s in SIZES if s == piece.name)
                for fact in multiplier_facts([row]):
                    yield "latency", float(units.multiplier(size).latency != fact.latency)
            case "areas" if row.dsp is not None and row.latency is not None:
                dsp, ff, lut = floats.area(piece.name, row.latency)
                yield "dsp", float(dsp != row.dsp)
                if row.ff:
                    yield "ff", abs(ff / row.ff - 1)
                if row.lut:
                    yield "lut", abs(lut / row.lut - 1)
