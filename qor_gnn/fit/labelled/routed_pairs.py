"""Designs with both reports, of csynth and after placement and routing: ``routed-pairs``, ``prometheus-u55c``.

A row is a design of a public project, with totals alone. Rows that are marked as unlikely to be the same design in
both reports (``same_design_likely`` = no: the DSP slices differ, or LUTs are not 0.1 to 1.6 times csynth's) are left
out. But for DSP slices, which would agree by choice then, those count whose slices are within a factor of two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.devices import device
from qor_gnn.fit.labelled.rows import cell, count, csv_rows, number
from qor_gnn.routed.fabric import fabric_delay
from qor_gnn.routed.predict import Totals

PAIRS, ACCELERATORS = "routed-pairs", "prometheus-u55c"
_PROJECT, _PART = "UCLA-VAST/Prometheus", "xcu55c-fsvh2892-2L-e"
_LEAST, _MOST = 0.1, 1.6  # of csynth's LUTs, between which a report may be of the same design
_TWICE = 2  # times csynth's DSP slices, or their half: beyond it is taken to be another design


@dataclass(frozen=True, slots=True)
class Pair:
    """A design with both reports.

    Attributes:
        project: that it is of: designs of one project are much alike.
        totals: csynth's.
        routed: what implementation made of it, by name in `qor_gnn.routed.laws.QUANTITIES`; what its report
            does not say is absent.
        same: both reports are likely to be of the same design.
    """

    project: str
    totals: Totals
    routed: Mapping[str, float]
    same: bool = True


def pairs(data: Path) -> list[Pair]:
    """The designs of both folders that are in a folder of labelled designs.

    Args:
        data: with the folders ``routed-pairs`` and ``prometheus-u55c``.

    Raises:
        InputError: W512: a file cannot be read; W511: it has other columns, or no figures in them.
        ToolError: W403: a part that is not known.
    """
    found = [
        *_pairs(data / PAIRS / "pairs.csv"),
        *_accelerators(data / ACCELERATORS / "designs.csv"),
    ]
    return [pair for pair in found if pair.same] + _doubtful(found)


def _doubtful(found: Sequence[Pair]) -> list[Pair]:
    """Of the rows that are marked, those whose DSP slices may still be what became of csynth's.

    Not where LUTs or slices are out of proportion, nor where one implementation stands beside several csynth reports
    of its project: it is of another of them.
    """
    beside: dict[tuple[str, float, float], set[tuple[int, int]]] = defaultdict(set)
    for pair in found:
        totals = (pair.totals.counts["lut"], pair.totals.counts["dsp"])
        beside[_implementation(pair)].add(totals)
    return [
        pair
        for pair in found
        if not pair.same
        and _LEAST <= pair.routed["lut"] / max(1, pair.totals.counts["lut"]) <= _MOST
        and 1 / _TWICE <= pair.routed["dsp"] / max(1, pair.totals.counts["dsp"]) <= _TWICE
        and len(beside[_implementation(pair)]) == 1
    ]


def _implementation(pair: Pair) -> tuple[str, float, float]:
    return pair.project, pair.routed["lut"], pair.routed["ff"]


def _pairs(path: Path) -> Iterator[Pair]:
    for where, row in csv_rows(path):
        counts = {name: count(row, f"hls_{name}", where) for name in ("lut", "ff", "dsp", "bram18")}
        routed = _figures(row, where, {"lut": "routed_lut", "ff": "routed_ff", "dsp": "routed_dsp",
                                       "bram18": "routed_bram",
                                       "period_ns": "routed_clock_ns"})  # fmt: skip
        chip = device(cell(row, "part", where))
        clock = max(number(row, "clock_ns", where), number(row, "hls_clock_ns", where))
        yield Pair(
            cell(row, "project", where),
            Totals(counts, clock, chip.family, fabric_delay(chip)),
            routed,
            cell(row, "same_design_likely", where) == "yes",
        )


def _accelerators(path: Path) -> Iterator[Pair]:
    """Kernels of whole accelerators, without the shell around them; block RAM is counted in halves of 36 Kbit."""
    chip = device(_PART)
    for where, row in csv_rows(path):
        if not cell(row, "routed_kernel_lut", where):
            continue
        counts = {
            name: count(row, f"csynth_{name}", where) for name in ("lut", "ff", "dsp", "bram18")
        }
        routed = _figures(
            row, where, {name: f"routed_kernel_{name}" for name in ("lut", "ff", "dsp")}
        )
        routed["bram18"] = 2 * number(row, "routed_kernel_bram36", where)
        routed["period_ns"] = number(row, "timing_period_ns", where) - _slack(row, where)
        clock = max(number(row, "clock_target_ns", where), number(row, "clock_est_ns", where))
        yield Pair(_PROJECT, Totals(counts, clock, chip.family, fabric_delay(chip)), routed)


def _slack(row: Mapping[Any, Any], where: str) -> float:
    """The worst slack in ns, which is less than 0 where the clock is missed."""
    text = cell(row, "timing_wns_ns", where)
    return (
        -number({"timing_wns_ns": text[1:]}, "timing_wns_ns", where)
        if text[:1] == "-"
        else number(row, "timing_wns_ns", where)
    )


def _figures(row: Mapping[Any, Any], where: str, columns: Mapping[str, str]) -> dict[str, float]:
    return {
        name: number(row, column, where)
        for name, column in columns.items()
        if cell(row, column, where)
    }
