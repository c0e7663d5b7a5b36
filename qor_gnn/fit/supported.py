"""Writes what the labelled designs of each tool show (``supported.json``), for `qor_gnn.support`.

    python -m qor_gnn.fit.supported DATA

``DATA`` holds the folders of labelled designs. What a report counts is taken from it; what it does not, from the
design that was rebuilt, as the model schedules it.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import u55c_programs, u280, u280_programs, zu9eg
from qor_gnn.fit.labelled.u200_design import Directives, plain, written
from qor_gnn.fit.labelled.u200_usable import usable
from qor_gnn.fit.labels import U200_EACH, U200_TOOL
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.support.features import SIZES, Features, features
from qor_gnn.support.labelled import FILE
from qor_gnn.tools.personality import folder_of, personality

_ACCELERATORS = "prometheus-u55c"
_LARGEST = 3  # of each kernel, beside a random part
_TRUSTED_SHARING = 11
"""Of 2023.2: reports of intervals of 12, 16, 32 and 37 have 1.9 times the DSP slices of the model."""

_LOAD_AND_STORE, _PRODUCT, _ADDITION = 3, 4, 7
"""States of 2023.2 (docs/qor-model.md, Sums)."""


@dataclass(slots=True)
class Most:
    """The largest of each size so far, and the design that has it."""

    sizes: dict[str, float] = field(default_factory=dict)
    designs: dict[str, str] = field(default_factory=dict)
    structures: set[str] = field(default_factory=set)
    fabric: list[int] = field(default_factory=list)
    shared: int = 0

    def size(self, name: str, value: float, design: str) -> None:
        """Heed one size of a design."""
        if value > self.sizes.get(name, 0):
            self.sizes[name], self.designs[name] = value, design

    def design(self, of: Features, name: str, told: Sequence[str] = ()) -> None:
        """Heed a design; ``told`` are sizes that reports tell better."""
        for size in SIZES:
            if size not in (*told, "lut"):
                self.size(size, of.sizes[size], name)
        self.structures |= of.structures - {"assumed"}
        self.shared = max(self.shared, of.shared_interval)
        if of.fabric_interval is not None:
            self.fabric.append(of.fabric_interval)

    def document(self, evidence: str) -> dict[str, Any]:
        """The file."""
        return {
            "evidence": evidence,
            "sizes": {name: round(self.sizes[name]) for name in SIZES if name in self.sizes},
            "designs": {name: self.designs[name] for name in SIZES if name in self.sizes},
            "structures": sorted(self.structures),
            "fabric_interval": min(self.fabric, default=None),
            "shared_interval": self.shared,
        }


def of_design(kernel: Kernel, tool: str, kept: frozenset[str] = frozenset()) -> Features:
    """The features of a labelled design."""
    found = personality(tool)
    answer = estimate(kernel, found, kept=kept)
    return features(automatic(kernel, found, kept), found, answer)


def zu9eg_shown(folder: Path) -> dict[str, Any]:
    """Vitis HLS 2022.1: all designs of whole kernels."""
    most, seen = Most(), set()
    for sample in zu9eg.samples(folder, "kernels"):
        name = f"{sample.kernel}: {sample.config}"
        most.size("lut", sample.labels.lut, name)
        if (sample.kernel, sample.labels) not in seen:
            seen.add((sample.kernel, sample.labels))
            most.design(of_design(zu9eg.kernel_of(sample), zu9eg.PERSONALITY), name)
    return most.document(
        "vitis2022-zu9eg: designs of whole kernels; LUT of their labels, all else of the designs as they are rebuilt"
    )


def u200_shown(folder: Path) -> dict[str, Any]:
    """Vitis HLS 2025.1: of each kernel a random part and the largest."""
    most = Most()
    for facts, kernel, rows in usable(folder, lambda _: None):
        largest = sorted(rows, key=lambda row: row.labels.lut)[-_LARGEST:]
        part = random.Random(0).sample(rows, min(U200_EACH, len(rows)))
        structure, kept = plain(kernel), written(facts, kernel)
        for row in rows:
            most.size("lut", row.labels.lut, f"{row.kernel}: {row.directives}")
        for row in dict.fromkeys((*part, *largest)):
            design = with_directives(structure, Directives.parse(row.directives).pragmas)
            of = of_design(design, U200_TOOL, kept)
            most.design(of, f"{row.kernel}: {row.directives}")
    return most.document(
        "hlsfactory-u200: of each kernel that is a program 12 random designs and the three with most LUTs; LUT of "
        "all labels, all else of the designs as they are rebuilt"
    )


def u280_shown(folder: Path) -> dict[str, Any]:
    """Vitis HLS 2023.2: what reports count of 131 designs, structures of those that are programs; and of whole
    accelerators (`_ACCELERATORS`, beside the folder) memory outside, and their LUTs.
    """
    most = Most()
    told = ("operations", "ports", "copies", "fabric_adders", "terms")
    for row in u280.loop_rows(folder):
        name, interval = f"{row.kernel} of {row.tool}, {row.design}", row.ii_achieved or 1
        units = (row.n_fadd_lat6 + row.n_fadd_lat4 + row.n_fsub + row.n_fmul + row.n_fdiv
                 + row.n_fexp + row.n_frecip)  # fmt: skip
        most.size("operations", units * interval, name)
        most.size("copies", row.n_fmul * interval, name)
        most.size("ports", row.mem_rd_ports + row.mem_wr_ports, name)
        most.size("banks", max(row.mem_rd_ports, row.mem_wr_ports), name)
        most.size("fabric_adders", row.n_fadd_lat4, name)
        most.size("terms", _terms(row), name)
        if row.pipelined == "yes" and row.n_fadd_lat4 > 1 and not row.n_fadd_lat6:
            most.fabric.append(interval)
    for design in u280.design_rows(folder):
        most.size("lut", design.lut, f"{design.kernel} of {design.tool}, {design.design}")
        if design.control == "dataflow":
            most.structures.add("tasks")
    _accelerators(folder.parent / _ACCELERATORS, most)
    fabric = list(most.fabric)
    for name, kernel in _programs():
        most.design(of_design(kernel, u280.PERSONALITY), name, told)
    most.fabric, most.shared = fabric, _TRUSTED_SHARING
    return most.document(
        "streamhls-u280: units times interval, multipliers times interval, ports, fabric adders and LUT of the "
        "reports of 131 designs; banks at most as many as ports of one direction; terms as many as adders, and as the "
        "levels in the iteration latency hold; structures of the seven whose programs are known, and tasks; reports whose units are shared over 12 cycles or more have 1.9 times the DSP slices of the model. "
        "prometheus-u55c: memory outside, LUT of the reports of 29 accelerators, at 4 and 4.55 ns, "
        "and conditions in unrolled loops, of which two are programs"
    )


def _accelerators(folder: Path, most: Most) -> None:
    """Designs with ports to memory outside, of the same version and timing class at longer periods: what goes by
    no interval, and no counts of units, which depend on the clock.
    """
    with (folder / "maxi.csv").open(encoding="utf-8") as file:
        if any(row["directions"] for row in csv.DictReader(file)):
            most.structures.add("outside")
    with (folder / "designs.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["csynth_lut"]:
                most.size("lut", int(row["csynth_lut"]), row["design"])
    for design in u55c_programs.designs():
        tree = loop_tree(apply(design.program, design.schedule))
        most.structures |= of_design(kernel_of_tree(tree), u280.PERSONALITY).structures


def _terms(row: u280.LoopRow) -> int:
    """Terms of a sum that a unit each adds: no more than a tree of the levels that fit the iteration latency."""
    adders = row.n_fadd_lat6 + row.n_fadd_lat4
    if row.n_fexp or row.n_fdiv or row.n_frecip or not adders:
        return 0
    states = row.iteration_latency - _LOAD_AND_STORE - (_PRODUCT if row.n_fmul else 0)
    return min(adders, 1 << max(0, states // _ADDITION))


def _programs() -> Iterator[tuple[str, Kernel]]:
    """The designs whose programs are known; what others have besides their figures is a guess."""
    for name in u280_programs.KERNELS:
        tree = loop_tree(build(u280_programs.program(name)))
        yield f"{name} of vitis", kernel_of_tree(tree)


TOOLS = {
    zu9eg.PERSONALITY: (zu9eg_shown, "vitis2022-zu9eg"),
    U200_TOOL: (u200_shown, "hlsfactory-u200"),
    u280.PERSONALITY: (u280_shown, "streamhls-u280"),
}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the labelled designs")
    data = parser.parse_args().data
    for tool, (shown, folder) in TOOLS.items():
        text = json.dumps(shown(data / folder), indent=1)
        (folder_of(tool) / FILE).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
