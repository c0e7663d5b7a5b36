"""Facts about operators: rows of ``operators.csv.gz`` and its like, each from a report of one project.

Rows are of Vivado HLS and Vitis HLS, by family, part, clock and version. What is not a fact about the tool's
own choice is left out: see `usable`.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TIMING = {
    "zynq": "zynq7", "artix7": "artix7", "spartan7": "spartan7", "kintex7": "kintex7",
    "virtex7": "virtex7", "kintexu": "kintexu", "virtexu": "virtexu", "zynquplus": "zynquplus",
    "zynquplusrfsoc": "zynquplus", "virtexuplus": "virtexuplus", "virtexuplushbm": "virtexuplus",
    "kintexuplus": "kintexuplus", "versalaicore": "versal",
}  # fmt: skip
_CHANGED = "2019.1"  # Virtex UltraScale+ has cells of its own, comparisons and conversions a stage
_SHORTEST = 1.0  # ns: shorter clocks in reports are demands that nothing meets


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One fact: an operator in a report.

    Attributes:
        source: ``core`` of a schedule, ``inst`` of a table of instances, ``syninfo``, ``bindop``,
            ``filename`` (names of modules), ``expr``.
        vitis: of Vitis HLS, else Vivado HLS.
        timing: the timing class, as `backends.devices.Device.timing_class`.
        budget: the clock less the uncertainty in ns; None where it is not told.
        op, core, impl, widths: as printed.
        latency, delay, dsp, ff, lut: None where they are not told; ns.
        repo: the project.
    """

    source: str
    vitis: bool
    version: str
    timing: str
    budget: float | None
    op: str
    core: str
    impl: str
    widths: str
    latency: int | None
    delay: float | None
    dsp: int | None
    ff: int | None
    lut: int | None
    repo: str


_NAMED = re.compile(r"[A-Za-z0-9]mul_mul_")


def timing_class(family: str, part: str) -> str | None:
    """The timing class of a part as reports print family and part; None of what is no known family.

    Automotive and low-power names of a family (``azynq``, ``artix7l``) are the family.
    """
    name = family.split()[0] if family else ""
    plain = name if name in _TIMING else name[1:] if name[1:] in _TIMING else name.rstrip("l")
    plain = plain if plain in _TIMING else plain[1:]
    grades = [m for t in part.split("-")[1:] if (m := re.fullmatch(r"(\d)[A-Za-z]{0,3}", t))]
    if plain not in _TIMING or not grades:
        return None
    return f"{_TIMING[plain]}-{grades[0][1]}"


def operator_rows(folder: Path) -> Iterator[OperatorRow]:
    """The rows of operators and expressions in a folder of facts."""
    for name in ("operators.csv.gz", "expressions.csv.gz"):
        with gzip.open(folder / name, "rt", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                timing = timing_class(row["family"], row["part"])
                if timing is not None and not _of_a_function(row):
                    yield _row(row, timing)


def _of_a_function(row: dict[str, str]) -> bool:
    """What was taken for ``mul_mul``, a product in one slice, and is a plain one of a function whose name ends in ``mul``:
    ``matrixmul_mul_8s_8s_16_1_1.vhd``.
    """
    named = row["source"] == "filename" and row["op"] == "mul_mul"
    return named and _NAMED.search(row["path"].rpartition("/")[2]) is not None


def budget_of(clock: float | None, uncertainty: float | None) -> float | None:
    """What the longest stage may take in ns; None where it is not told, or is a demand that nothing meets."""
    if clock is None or uncertainty is None or clock < _SHORTEST:
        return None
    budget = round(clock - uncertainty, 3)
    return budget if budget > 0 else None


def _row(row: dict[str, str], timing: str) -> OperatorRow:
    budget = budget_of(_number(row["clock_ns"]), _number(row["uncertainty_ns"]))
    latency, stages = _number(row["latency"]), _number(row["stages"])
    if latency is None and stages is not None:
        latency = stages - 1
    return OperatorRow(
        row["source"], row["tool"] != "vivado", row["version"], timing,
        budget,
        row["op"], row["core"], row["impl"], row["widths"],
        None if latency is None else int(latency), _number(row["delay_ns"]),
        _whole(row["dsp"]), _whole(row["ff"]), _whole(row["lut"]),
        row["repo"],
    )  # fmt: skip


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    number = _number(text)
    return None if number is None else int(number)


_CORES = {
    "fadd": "fadd", "fsub": "fadd", "faddfsub": "fadd", "dadd": "dadd", "dsub": "dadd",
    "dadddsub": "dadd", "fmul": "fmul", "dmul": "dmul", "fdiv": "fdiv", "ddiv": "ddiv",
    "fsqrt": "fsqrt", "dsqrt": "dsqrt", "fexp": "fexp", "dexp": "dexp", "flog": "flog",
    "fcmp": "fcmp", "dcmp": "dcmp", "fpext": "fpext", "fptrunc": "fptrunc",
    "sitofp": "sitofp", "uitofp": "sitofp", "sitodp": "sitodp", "uitodp": "sitodp",
}  # fmt: skip
_CALLED = {
    "FExp": "fexp", "FLog": "flog", "FSqrt": "fsqrt", "DSqrt": "dsqrt", "DExp": "dexp",
    "Int2Float": "sitofp", "Int2Double": "sitodp", "FCompare": "fcmp", "DCompare": "dcmp",
}  # fmt: skip
_USUAL = {"", "fulldsp", "maxdsp", "nodsp", "fabric", "auto"}
_WITHOUT_DSP = ("nodsp", "fabric")
_CONVERSIONS = ("fcmp", "dcmp", "fpext", "fptrunc")


def float_core(row: OperatorRow) -> str | None:
    """The floating-point core that a row is of, as tables here name it; None of another.

    Adders without DSP slices are ``fadd_nodsp`` and ``dadd_nodsp``; other implementations than the
    tool's own are left out.
    """
    called = row.core.partition("_")[0]
    core = _CALLED.get(called) or _CORES.get(row.op.partition("_")[0])
    if core is None:
        return None
    impl = row.core.partition("_")[2] if row.source == "core" else row.impl
    if impl not in _USUAL:
        return None
    if core in ("fadd", "dadd") and impl in _WITHOUT_DSP:
        return f"{core}_nodsp"
    return core


def usable(row: OperatorRow, core: str) -> bool:
    """The row tells what the tool chooses by itself, as its versions of today do.

    Left out are cells that another version had (Virtex UltraScale+ and comparisons before 2019.1),
    combinational delays of Vivado HLS, which it prints too small, what was demanded against the
    clock (a stage longer than the budget), and names of files, which may be of an earlier run.
    """
    if row.latency is None or row.budget is None or row.source == "filename":
        return False
    old = row.version < _CHANGED
    if old and (row.timing.startswith("virtexuplus") or core in _CONVERSIONS):
        return False
    if not row.vitis and row.latency == 0:
        return False
    return row.delay is None or row.delay <= 1.02 * row.budget
