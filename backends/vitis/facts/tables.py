"""Tables of a report: instances of operators, and operators as they were bound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backends.vitis.numbers import whole

_OPERATORS = (
    "faddfsub", "fadd", "fsub", "fmul", "fdiv", "fsqrt", "fexp", "flog", "fcmp", "fpext", "fptrunc",
    "sitofp", "uitofp", "sitodp", "uitodp", "dadddsub", "dadd", "dsub", "dmul", "ddiv", "dsqrt",
    "dexp", "dcmp", "sdiv", "udiv", "srem", "urem", "mac_muladd", "mac_mulsub", "am_addmul",
    "ama_addmuladd", "mul_mul", "mul",
)  # fmt: skip

_MODULE = re.compile(
    rf"(?:^|_)(?P<op>{'|'.join(_OPERATORS)})(?P<inputs>(?:_\d{{1,4}}n?s){{1,4}})_(?P<result>\d{{1,4}})"
    r"_(?P<stages>\d{1,3})(?:_(?P<impl>[a-z]+(?:_dsp)?))?(?:_\d{1,3})?(?:_U\d{1,6})?"
)
_LONGEST = 400  # characters of a name


@dataclass(frozen=True, slots=True)
class Reported:
    """An operator in a report.

    Attributes:
        source: ``inst`` of a table of instances, ``bindop`` of bound operators, ``core`` of a schedule.
        op: as printed, or in the module's name.
        core: of a schedule, as ``FAddSub_fulldsp``.
        impl: without underscores, as ``fulldsp``.
        widths: as ``32s,32s->32`` of a module, ``i32,i32`` of a schedule.
        latency: cycles; None where it is not told.
        delay: of the longest stage in ns.
        dsp, ff, lut: of one.
    """

    source: str
    op: str
    core: str = ""
    impl: str = ""
    widths: str = ""
    latency: int | None = None
    delay: float | None = None
    dsp: int | None = None
    ff: int | None = None
    lut: int | None = None


def reported(text: Iterable[str]) -> Iterator[Reported]:
    """The operators in the tables of ``*_csynth.rpt`` and ``csynth.rpt``.

    What was asked for by a pragma is left out: it is not the tool's choice. So are expressions: their LUTs follow
    from the width alone, and the shipped rules know them.
    """
    for row in _rows(text):
        if "Module" in row and "Instance" in row:
            found = of_module(row["Module"])
            if found is not None and (counts := _counts(row)) is not None:
                yield Reported(
                    "inst", found.op, "", found.impl, found.widths, found.latency, None, *counts
                )
        elif "Impl" in row and row.get("Pragma") == "" and row.get("Latency", "").isdigit():
            op, impl = row.get("Op", ""), row["Impl"].replace("_", "")
            made = of_module(row.get("Name", ""))
            widths = made.widths if made is not None and made.op == op else ""
            yield Reported("bindop", op, "", impl, widths, _whole(row["Latency"]))


def of_module(name: str) -> Reported | None:
    """The operator that the name of a module tells: ``fadd_32ns_32ns_32_5_full_dsp_1`` has 5 stages.

    None of a name that tells none, or has been shortened.
    """
    if len(name) > _LONGEST:
        return None
    found = next((m for m in _MODULE.finditer(name) if m.end() == len(name)), None)
    if found is None or not int(found["stages"]) >= 1:
        return None
    widths = f"{','.join(found['inputs'].strip('_').split('_'))}->{found['result']}"
    impl = (found["impl"] or "").replace("_", "")
    return Reported("inst", found["op"], "", impl, widths, int(found["stages"]) - 1)


def _rows(text: Iterable[str]) -> Iterator[dict[str, str]]:
    """The rows of tables by the names of their columns; of those with a heading of one line."""
    columns: list[str] = []
    for line in text:
        stripped = line.strip()
        if stripped.startswith("+-"):
            continue
        if not stripped.startswith("|") or not stripped.endswith("|") or len(stripped) < 2:
            columns = []
            continue
        cells = [cell.strip() for cell in stripped[1:-1].split("|")]
        if not columns:
            columns = cells
        elif len(cells) == len(columns):
            yield dict(zip(columns, cells, strict=True))


def _counts(row: dict[str, str]) -> tuple[int, int, int] | None:
    """DSP, FF and LUT of a row; None where one is missing."""
    dsp = _whole(row.get("DSP", row.get("DSP48E", "")))
    ff, lut = _whole(row.get("FF", "")), _whole(row.get("LUT", ""))
    return None if dsp is None or ff is None or lut is None else (dsp, ff, lut)


def _whole(text: str) -> int | None:
    number = whole(text)
    return number if number is not None and 0 <= number < 10**9 else None
