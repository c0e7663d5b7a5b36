"""Fits what the cells of a module take, and its clock period, to a dataset of routed designs.

    python -m dse.labels.area_costs [FOLDER]

writes the file of `backends.rtl.area.costs`, with how far it is off for kernels that had no part in a
fit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from backends.rtl.area.cells import cells
from backends.rtl.area.costs import FILE, TABLED
from backends.rtl.area.estimate import causes
from backends.rtl.area.timing import paths
from backends.rtl.ir.module import Module
from backends.rtl.synth import SynthOptions, rtl_of
from backends.rtl.wrap.host import host_wrapper
from dse.labels.dataset import Dataset, Named
from dse.labels.open_examples import unusable
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.stored.read import program_of_data
from mlir_passes.pipeline import compile_design
from qor_gnn.fit.calibrate import non_negative

ROOT = Path(__file__).resolve().parents[2]
DATASET = ROOT / "qor_gnn" / "datasets" / "open-ecp5"
_ROUNDS, _NEAR = 10, 0.02  # of weighted least squares, by which it is absolute errors that count

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Routed:
    """A routed design: its kernel, cells of each kind, longest path in ns, and what routing said."""

    kernel: str
    cells: tuple[float, ...]
    longest: float
    lut: float
    period: float


@cache
def _program(named: Named) -> Program:
    """A program of the dataset."""
    return program_of_data(Dataset(DATASET).programs()[named], " ".join(named))


def module_of(row: dict[str, str]) -> Module:
    """What was routed for a line of a dataset: the kernel, memories of its arguments and a host bus."""
    program = _program((row["file"], row["kernel"], row["size"], row["dtype"]))
    schedule = Schedule.from_json(row["schedule"])
    design = compile_design(program, schedule)
    options = SynthOptions(period_ns=float(row["clock_ns"]), bram_latency=int(row["read_latency"]))
    return host_wrapper(rtl_of(design.module, schedule, options)).module


def routed(row: dict[str, str]) -> Routed:
    """Of a line of a dataset whose design was routed."""
    module = module_of(row)
    found = cells(module)
    return Routed(
        row["kernel"],
        tuple(float(found[kind]) for kind in TABLED),
        paths(module).inside,
        float(row["lut"]),
        1000 / float(row["fmax_mhz"]),
    )


def fitted(amounts: Floats, labels: Floats, weights: Floats) -> Floats:
    """The x ≥ 0 with the least mean of ``|amounts @ x / labels - 1|``.

    Args:
        amounts: Shape (n, k).
        labels: Shape (n,).
        weights: Of the designs, shape (n,).
    """
    rows, weight = amounts / labels[:, None], weights
    for _ in range(_ROUNDS):
        gram = (rows * weight[:, None]).T @ rows
        ridge = np.diag(1e-6 * np.diag(gram) + 1e-12)
        x = non_negative(gram + ridge, rows.T @ weight)
        weight = weights / np.maximum(np.abs(rows @ x - 1), _NEAR)
    return x


def left_out(kernels: list[str], amounts: Floats, labels: Floats) -> float:
    """The mean relative error of kernels that were left out of the fit, in percent."""
    names, off = np.array(kernels), []
    for kernel in dict.fromkeys(kernels):
        asked = names == kernel
        if not asked.all():
            x = fitted(amounts[~asked], labels[~asked], _even(names[~asked]))
            off.append(float(np.abs(amounts[asked] @ x / labels[asked] - 1).mean()))
    return 100 * float(np.mean(off))


def _even(names: npt.NDArray[np.str_]) -> Floats:
    """Weights by which kernels count the same."""
    found: Floats = np.array([1.0 / np.count_nonzero(names == name) for name in names])
    return found


def document(designs: Sequence[Routed]) -> dict[str, Any]:
    """The file."""
    kernels = [d.kernel for d in designs]
    amounts, luts = np.array([d.cells for d in designs]), np.array([d.lut for d in designs])
    costs = fitted(amounts, luts, _even(np.array(kernels)))
    sizes = (amounts @ costs).tolist()
    why = np.array([causes(d.longest, lut) for d, lut in zip(designs, sizes, strict=True)])
    periods = np.array([d.period for d in designs])
    period = fitted(why, periods, _even(np.array(kernels)))
    return {
        "source": {
            "designs": len(designs),
            "left_out_lut_mape_pct": round(left_out(kernels, amounts, luts), 2),
            "left_out_period_mape_pct": round(left_out(kernels, why, periods), 2),
        },
        "luts": {kind: round(float(x), 3) for kind, x in zip(TABLED, costs, strict=True)},
        "period": [round(float(x), 3) for x in period],
    }


def _main(folder: Path) -> None:
    found = document([routed(row) for row in Dataset(folder).rows() if not unusable(row)])
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATASET)
