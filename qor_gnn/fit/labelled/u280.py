"""Reader of ``streamhls-u280``: csynth and co-simulation facts of 131 designs and their 842 loops.

Vitis HLS 2023.2, xcu280-2L, 3.33 ns, f32, unsafe math on. The folder stays outside the package;
the tests have it in ``tests/data``.
The seven plain designs that its tool ``vitis`` has are programs in `qor_gnn.fit.labelled.u280_programs`.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from dsl.errors.errors import InputError
from qor_gnn.fit.labelled.rows import csv_rows

TOOL = "Vitis HLS 2023.2"
DEVICE = "xcu280-fsvh2892-2L-e"
CLOCK_NS = 3.33
PERSONALITY = "vitis-2023.2-u280-3.33ns"


@dataclass(frozen=True, slots=True)
class DesignRow:
    """A design: totals of the report, cycles, clock in ns.

    ``cosim_cycles`` and its ratio to csynth are None for the design whose co-simulation failed.
    """

    suite: str
    tool: str
    kernel: str
    design: str
    top: str
    control: Literal["dataflow", "sequential"]
    latency_min: int
    latency_max: int
    interval_min: int
    interval_max: int
    lut: int
    ff: int
    dsp: int
    bram18: int
    uram: int
    clock_target_ns: float
    clock_uncertainty_ns: float
    clock_estimate_ns: float
    slack_ns: float
    cosim_status: Literal["Pass", "Fail"]
    cosim_cycles: int | None
    cosim_over_csynth: float | None
    n_submodules: int


@dataclass(frozen=True, slots=True)
class LoopRow:
    """A loop or flattened nest, and the module that it is in.

    ``ii_achieved`` and ``ii_target`` are None where it is not pipelined. Operator counts are 0
    where a unit is shared in the parent, port counts are 0 for registers.
    """

    suite: str
    tool: str
    kernel: str
    design: str
    module: str
    loop: str
    nest_depth: int
    trip_count: int
    ii_achieved: int | None
    ii_target: int | None
    iteration_latency: int
    latency: int
    pipelined: Literal["yes", "no"]
    issue: Literal["-", "II"]
    module_latency: int
    module_interval: int
    module_dsp: int
    module_lut: int
    module_ff: int
    module_bram18: int
    module_uram: int
    module_slack: float
    n_fadd_lat6: int
    n_fadd_lat4: int
    n_fsub: int
    n_fmul: int
    n_fdiv: int
    n_fexp: int
    n_frecip: int
    n_iadd: int
    n_imul: int
    mem_rd_ports: int
    mem_wr_ports: int
    fifo_rd_ports: int
    fifo_wr_ports: int
    lut_expr: int
    lut_inst: int
    lut_mux: int
    lut_reg: int
    ff_reg: int
    ff_inst: int
    ff_mem: int
    lut_mem: int


_Row = TypeVar("_Row", DesignRow, LoopRow)


def design_rows(folder: Path) -> list[DesignRow]:
    """The rows of ``designs.csv``.

    Raises:
        InputError: W512 the file cannot be read, W511 a row is not what it should be.
    """
    return list(_rows(folder / "designs.csv", DesignRow))


def loop_rows(folder: Path) -> list[LoopRow]:
    """The rows of ``loops.csv``.

    Raises:
        InputError: W512 the file cannot be read, W511 a row is not what it should be.
    """
    return list(_rows(folder / "loops.csv", LoopRow))


def _rows(path: Path, cls: type[_Row]) -> Iterator[_Row]:
    hints = typing.get_type_hints(cls)
    for where, entry in csv_rows(path):
        yield cls(**{f.name: _value(entry, f.name, hints[f.name], where) for f in fields(cls)})


def _value(entry: Mapping[str, str], name: str, hint: Any, where: str) -> Any:
    """A cell as the field's type; an empty one or a dash is None where that is allowed."""
    text = entry.get(name)
    if text is None:
        raise InputError("W511", f"{where}: no column '{name}'")
    if hint is str:
        return text
    options = typing.get_args(hint)
    if typing.get_origin(hint) is Literal:
        if text in options:
            return text
    elif type(None) in options and text in ("", "-"):
        return None
    else:
        kind = hint if isinstance(hint, type) else options[0]
        try:
            return kind(text)
        except ValueError:
            pass
    raise InputError("W511", f"{where}: '{text}' does not fit the column '{name}'")
