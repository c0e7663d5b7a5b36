"""Labelled designs to calibrate the resource terms with, by tool personality."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dsl.errors.errors import InputError, did_you_mean
from polyhedral.codegen.generate import loop_tree
from polyhedral.scop.scheduled import build
from qor_gnn.area.binding import units_of
from qor_gnn.area.local_memories import local_memories
from qor_gnn.area.resources import terms_of
from qor_gnn.area.terms import Sums
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.fit.calibrate import Labelled
from qor_gnn.fit.labelled import u200, u280, u280_programs, zu9eg
from qor_gnn.fit.labelled.u200_design import design, directives_of, written
from qor_gnn.fit.labelled.u200_program import Converted, convert
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.open_ecp5.write import NAME as OPEN_TOOL
from qor_gnn.tools.personality import personality

LOOP_WEIGHT = 0.5
"""Of a single loop's row, beside 1 of a whole kernel's."""

U200_TOOL = "vitis-2025.1-u200-4ns"
U200_EACH = 12
"""Designs of a kernel of hlsfactory-u200: their schedules take long."""

Progress = Callable[[int, int], None]
"""Is told how many designs are done, of how many."""


def sums_of(kernel: Kernel, tool: str, kept: frozenset[str] = frozenset()) -> Sums:
    """What a design has of each term.

    Args:
        kernel: the region tree.
        tool: name of the personality.
        kept: loops that the tool does not unroll by itself, as in `qor_gnn.estimate.estimate`.

    Raises:
        ToolError: W450 no such personality, W451 an operator that it does not know.
    """
    found = personality(tool)
    memory = local_memories(kernel, found, kept).cost()
    kernel = automatic(kernel, found, kept)
    functions = [function_latency(Scope(kernel, found), f)[1] for f in kernel.functions]
    sums = terms_of(functions, units_of([r for regions in functions for r in regions]))
    sums.lut_fixed += memory.lut
    sums.ff_fixed += memory.ff
    return sums


def different(samples: Iterable[zu9eg.Sample]) -> list[tuple[zu9eg.Sample, int]]:
    """One sample of each set of equal labels of a kernel (the same design), with their number."""
    found: dict[object, tuple[zu9eg.Sample, int]] = {}
    for sample in samples:
        key = (sample.kernel, sample.file, sample.labels)
        first, count = found.get(key, (sample, 0))
        found[key] = (first, count + 1)
    return list(found.values())


def zu9eg_designs(
    samples: Sequence[tuple[zu9eg.Sample, int]], progress: Progress = lambda _, __: None
) -> list[Labelled]:
    """The samples with their terms; rows of single loops weigh `LOOP_WEIGHT`."""
    found = []
    for done, (sample, count) in enumerate(samples):
        weight = count * (1.0 if sample.file == "kernels" else LOOP_WEIGHT)
        sums = sums_of(zu9eg.kernel_of(sample), zu9eg.PERSONALITY)
        labels = sample.labels
        found.append(Labelled(sample.kernel, sums, labels.lut, labels.ff, weight))
        progress(done + 1, len(samples))
    return found


_ZU9EG_FILES: tuple[zu9eg.File, ...] = ("kernels", "loops_pipelined", "loops_sequential")


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a design before it is scheduled: what there is to refuse is refused then."""

    where: str
    group: str
    labels: zu9eg.Labels | u200.Labels | u280.DesignRow


def _check(folder: Path, tool: str, known: Sequence[_Known]) -> None:
    """That coefficients can be fitted to the labels, and judged with each group left out.

    Raises:
        InputError: W532: there are none, or of one group only; W511: a count is not positive.
    """
    groups = sorted({k.group for k in known})
    if len(groups) < 2:
        message = f"{folder} does not hold the labels of {tool}"
        if groups:
            message = f"all labels of {tool} in {folder} are of the kernel {groups[0]}"
        help_line = "a fit is judged by kernels that it was not made with: there have to be two"
        raise InputError("W532", message, help=help_line)
    for one in known:
        for name in ("lut", "ff"):
            if getattr(one.labels, name) <= 0:
                message = f"{one.where}: a design of {one.group} with no {name.upper()}"
                help_line = "errors are relative to the label, so each has to be more than 0"
                raise InputError("W511", message, help=help_line)


def _zu9eg(folder: Path, progress: Progress) -> list[Labelled]:
    rows = [sample for file in _ZU9EG_FILES for sample in zu9eg.samples(folder, file)]
    _check(folder, zu9eg.PERSONALITY, [_Known(s.where, s.kernel, s.labels) for s in rows])
    return zu9eg_designs(different(rows), progress)


def _u280(folder: Path, progress: Progress) -> list[Labelled]:
    """The designs without pragmas: what the tool makes of them is in the program alone."""
    rows = {r.kernel: r for r in u280.design_rows(folder) if r.tool == "vitis"}
    for kernel in u280_programs.KERNELS:
        if kernel not in rows:
            message = f"{folder} does not hold the labels of {u280.PERSONALITY}: no '{kernel}'"
            raise InputError("W532", message)
    asked = [rows[kernel] for kernel in u280_programs.KERNELS]
    places = [f"{folder / 'designs.csv'}: {row.kernel}" for row in asked]
    known = [_Known(at, row.kernel, row) for at, row in zip(places, asked, strict=True)]
    _check(folder, u280.PERSONALITY, known)
    found = []
    for done, kernel in enumerate(u280_programs.KERNELS):
        tree = kernel_of_tree(loop_tree(build(u280_programs.program(kernel))))
        sums = sums_of(tree, u280.PERSONALITY)
        found.append(Labelled(kernel, sums, rows[kernel].lut, rows[kernel].ff))
        progress(done + 1, len(u280_programs.KERNELS))
    return found


def _u200(folder: Path, progress: Progress) -> list[Labelled]:
    """`U200_EACH` designs of each kernel that is a program; kernels of a group count together."""
    facts = u200.kernels(folder)
    kernels = {k: c for k, f in facts.items() if isinstance(c := convert(f), Converted)}
    by_kernel: dict[str, list[u200.Row]] = {k: [] for k in kernels}
    for row in u200.designs(folder):
        if row.kernel in by_kernel:
            by_kernel[row.kernel].append(row)
    chosen = []
    for rows in by_kernel.values():
        chosen += random.Random(0).sample(rows, min(U200_EACH, len(rows)))
    asked = [directives_of(row, kernels[row.kernel]) for row in chosen]
    known = [_Known(row.where, facts[row.kernel].group, row.labels) for row in chosen]
    _check(folder, U200_TOOL, known)
    found = []
    for done, (row, directives) in enumerate(zip(chosen, asked, strict=True)):
        kernel = kernels[row.kernel]
        tree = design(kernel, directives)
        sums = sums_of(tree, U200_TOOL, written(facts[row.kernel], kernel))
        group, labels = facts[row.kernel].group, row.labels
        found.append(Labelled(group, sums, labels.lut, labels.ff))
        progress(done + 1, len(chosen))
    return found


SOURCES: dict[str, dict[str, str]] = {
    zu9eg.PERSONALITY: {
        "data": "vitis2022-zu9eg: designs of Gao, Zhao, Lin and Guo (DATE 2024), Vitis HLS 2022.1",
        "licence": "the designs are under Apache-2.0 and are not part of this file",
    },
    U200_TOOL: {
        "data": "hlsfactory-u200: csynth reports, Vitis HLS 2025.1, https://github.com/sharc-lab/"
        "HLSFactory; modified: filtered, canonicalised, parsed, sampled",
        "licence": "CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/, no warranty",
        "credit": "HLSFactory contributors (Sharc Lab, Georgia Tech); HLSyn-Vitis designs by Chengyue "
        "Wang; cite Abi-Karam et al., HLSFactory, MLCAD 2024",
    },
    u280.PERSONALITY: {
        "data": "streamhls-u280: designs without pragmas of the Stream-HLS artifact, Vitis HLS 2023.2",
        "licence": "the artifact is under the MIT licence; its designs are not part of this file",
    },
    OPEN_TOOL: {
        "data": "designs of `weft label` after place and route, Yosys and nextpnr",
        "licence": "that of the labels; those of qor_gnn/fit/datasets/open-ecp5 are under Apache-2.0",
    },
}
"""What a file of coefficients or weights says of the labels that it was fitted to."""

LOADERS: dict[str, Callable[[Path, Progress], list[Labelled]]] = {
    zu9eg.PERSONALITY: _zu9eg,
    U200_TOOL: _u200,
    u280.PERSONALITY: _u280,
}


def labelled(tool: str, folder: Path, progress: Progress = lambda _, __: None) -> list[Labelled]:
    """The designs that a tool personality is calibrated with.

    Raises:
        InputError: W531, there is no reader of labels for the tool; W532, the folder has none, or
            of one kernel only; W511, W512, a file is not what it should be.
    """
    load = LOADERS.get(tool)
    if load is None:
        message = f"there is no reader of labels for '{tool}'"
        raise InputError("W531", message, help=did_you_mean(tool, LOADERS))
    try:
        return load(folder, progress)
    except FileNotFoundError as error:
        message = f"{folder} does not hold the labels of {tool}"
        missing = f"{error.filename} is not there"
        raise InputError("W532", message, help=missing) from error
