"""How far estimates of labelled designs are off, and what structures the designs have (`qor_gnn.fit.intervals`)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polyhedral.codegen.generate import loop_tree
from polyhedral.scop.scheduled import build
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.calibrate import Labelled, left_out
from qor_gnn.fit.labelled import u280, u280_programs, zu9eg
from qor_gnn.fit.labelled.parts import Part, part_of
from qor_gnn.fit.labelled.u200_design import Directives, plain, written
from qor_gnn.fit.labelled.u200_usable import usable
from qor_gnn.fit.labels import U200_TOOL, different
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.support.error_sources import class_of, error_sources
from qor_gnn.support.features import features
from qor_gnn.support.handed_on import handed_on
from qor_gnn.support.labelled import shown, support
from qor_gnn.tools.personality import personality

EACH = 40
"""Designs of a kernel, at random."""


@dataclass(frozen=True, slots=True)
class Residual:
    """How far the estimate of a labelled design is off.

    Attributes:
        kernel: the kernel, or the group of its sizes.
        level: the class of the design.
        handed_on: what its recurrences are of (`qor_gnn.support.handed_on`).
        inside: labels of the tool show all that it has.
        off: absolute difference of the logarithms of a figure and 1 to the label's, by name in `FIGURES`; what has no label
            is absent. LUT and FF by coefficients that the kernel had no part in.
    """

    kernel: str
    level: int
    inside: bool
    off: Mapping[str, float]
    handed_on: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Design:
    kernel: str
    found: QorEstimate
    level: int
    inside: bool
    handed_on: frozenset[str]
    cycles: float
    labels: Mapping[str, int]


def of_u200(folder: Path, part: Part, each: int = EACH) -> list[Residual]:
    """Vitis HLS 2025.1: random designs of each kernel of a part. Its reports take trip counts at their most."""
    designs = []
    for facts, kernel, rows in usable(folder, lambda _: None):
        if part_of(facts.kernel) != part:
            continue
        structure, kept = plain(kernel), written(facts, kernel)
        for row in random.Random(0).sample(rows, min(each, len(rows))):
            design = with_directives(structure, Directives.parse(row.directives).pragmas)
            of = row.labels
            labels = {"latency": of.latency, "lut": of.lut, "ff": of.ff, "dsp": of.dsp}
            labels["bram18"] = of.bram18
            found = _design(facts.group, design, U200_TOOL, labels, kept)
            designs.append(replace(found, cycles=found.found.latency.maximum))
    return _residuals(designs)


def of_zu9eg(folder: Path, each: int = EACH) -> list[Residual]:
    """Vitis HLS 2022.1: random designs of whole kernels, those of equal labels once."""
    known: dict[str, list[zu9eg.Sample]] = {}
    for sample, _ in different(list(zu9eg.samples(folder, "kernels"))):
        known.setdefault(sample.kernel, []).append(sample)
    designs = []
    for kernel, samples in known.items():
        for sample in random.Random(0).sample(samples, min(each, len(samples))):
            of = sample.labels
            labels = {"latency": of.latency, "lut": of.lut, "ff": of.ff, "dsp": of.dsp}
            designs.append(_design(kernel, zu9eg.kernel_of(sample), zu9eg.PERSONALITY, labels))
    return _residuals(designs)


def of_u280(folder: Path) -> list[Residual]:
    """Vitis HLS 2023.2: the designs whose programs are known."""
    rows = {r.kernel: r for r in u280.design_rows(folder) if r.tool == "vitis"}
    designs = []
    for name in u280_programs.KERNELS:
        tree, of = kernel_of_tree(loop_tree(build(u280_programs.program(name)))), rows[name]
        labels = {"latency": of.latency_max, "lut": of.lut, "ff": of.ff, "dsp": of.dsp}
        designs.append(_design(name, tree, u280.PERSONALITY, labels))
    return _residuals(designs)


def _design(
    kernel: str,
    design: Kernel,
    tool: str,
    labels: Mapping[str, int],
    kept: frozenset[str] = frozenset(),
) -> _Design:
    of, known = personality(tool), shown(personality(tool))
    found, made = estimate(design, of, kept=kept), automatic(design, of, kept)
    has = features(made, of, found)
    level = class_of(error_sources(made, of, found, has))
    inside = known is None or support(has, known).inside
    cycles = found.latency.average
    return _Design(kernel, found, level, inside, handed_on(made), cycles, labels)


def _residuals(designs: Sequence[_Design]) -> list[Residual]:
    known = []
    for one in designs:
        assert one.found.sums is not None, "an estimate has what it was summed from"
        known.append(Labelled(one.kernel, one.found.sums, one.labels["lut"], one.labels["ff"]))
    found = []
    for one, area in zip(designs, left_out(known), strict=True):
        said = {"latency": one.cycles, "lut": area.lut, "ff": area.ff, "dsp": one.found.dsp}
        said["bram18"] = one.found.bram18 or 0
        off = {
            name: abs(math.log1p(label) - math.log1p(said[name]))
            for name, label in one.labels.items()
        }
        found.append(Residual(one.kernel, one.level, one.inside, off, one.handed_on))
    return found
