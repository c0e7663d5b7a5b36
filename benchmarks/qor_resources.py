"""Rows of `qor_model` for LUTs and flip-flops: each kernel predicted by a fit without it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks._row import Goal, Row, say
from qor_gnn.fit.calibrate import Labelled, Prediction, left_out
from qor_gnn.fit.labelled import u280, zu9eg
from qor_gnn.fit.labels import different, labelled, zu9eg_designs

NAME = "qor_model"
SOURCE = "Vitis HLS 2022.1, xczu9eg, 10 ns; fitted without the kernel reported on"
GOALS = {"lut_mape_pct": Goal("<=", 5), "ff_mape_pct": Goal("<=", 6.5)}
LOOP_FILES: tuple[zu9eg.File, ...] = ("loops_pipelined", "loops_sequential")


def resource_rows(folder: Path, limit: int | None) -> Iterator[Row]:
    """Mean errors by kernel and over all, of whole kernels.

    Args:
        folder: of the data set.
        limit: about how many different designs to take; None for all.
    """
    whole = read(folder, ("kernels",), limit)
    say(f"LUT and FF: {len(whole)} different designs")
    loops = read(folder, LOOP_FILES, None if limit is None else limit // 4)
    found = left_out(whole, loops)
    for kernel in zu9eg.KERNELS:
        part = [(d, p) for d, p in zip(whole, found, strict=True) if d.group == kernel]
        yield from _rows(f"zu9eg/{kernel}", part, {})
    yield from _rows("zu9eg/all", list(zip(whole, found, strict=True)), GOALS)


def read(folder: Path, files: tuple[zu9eg.File, ...], limit: int | None) -> list[Labelled]:
    """The designs of some files, a random part of them where there is a limit."""
    rows = different([sample for file in files for sample in zu9eg.samples(folder, file)])
    if limit is not None and len(rows) > limit:
        rows = random.Random(0).sample(rows, limit)
    return zu9eg_designs(rows)


def u280_resource_rows(folder: Path) -> Iterator[Row]:
    """The designs without pragmas, each predicted from the others and the terms' priors."""
    designs = labelled(u280.PERSONALITY, folder)
    pairs = list(zip(designs, left_out(designs), strict=True))
    source = "Vitis HLS 2023.2, xcu280, 3.33 ns; fitted without the kernel reported on"
    for pair in pairs:
        yield from _rows(f"u280/{pair[0].group}", [pair], {}, source)
    yield from _rows("u280/all", pairs, {}, source)


def _rows(
    case: str,
    part: list[tuple[Labelled, Prediction]],
    goals: dict[str, Goal],
    source: str = SOURCE,
) -> Iterator[Row]:
    total = sum(d.weight for d, _ in part)
    lut = sum(d.weight * abs(p.lut / d.lut - 1) for d, p in part)
    ff = sum(d.weight * abs(p.ff / d.ff - 1) for d, p in part)
    for metric, error in (("lut_mape_pct", lut), ("ff_mape_pct", ff)):
        value = 100 * error / total if total else math.nan
        yield Row(NAME, case, metric, value, "%", goals.get(metric), source, round(total))
