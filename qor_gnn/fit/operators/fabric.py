"""Logic, memories and multipliers of each timing class out of facts: delays by width, and cells."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from qor_gnn.fit.operators.additive import Additive, fitted
from qor_gnn.fit.operators.cores import Fact, cores_of
from qor_gnn.fit.operators.rows import OperatorRow
from qor_gnn.tools.operators.cells import Core
from qor_gnn.tools.operators.multipliers import SIZES, Size, long_side, size_of

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
"""At which delays of logic are told; in between they are interpolated."""

LATENCIES: dict[str, tuple[int, ...]] = {
    "lut": (0, 1), "one": (0, 1, 2, 3), **dict.fromkeys(("two", "four", "wide"), (0, 1, 2, 4, 6))
}  # fmt: skip
_KINDS = {
    "add": "add", "sub": "add", "select": "select", "and": "logic", "or": "logic", "xor": "logic",
    "shl": "shift", "lshr": "shift", "ashr": "shift",
}  # fmt: skip
_LOGIC = ("Adder", "AddSub", "Sel", "Cmp", "LogicGate", "Shifter")
_OF_CORE: dict[Size, range] = {
    "lut": range(7, 11), "one": range(11, 19), "two": range(19, 28), "four": range(28, 35),
    "wide": range(70, 300),
}  # fmt: skip
_NARROW = 10
_E1 = ("zynq7", "artix7", "kintex7", "virtex7", "spartan7")


def side_of(timing: str) -> int:
    """Bits of the longer factor of a DSP slice of a class."""
    return long_side("DSP48E1" if timing.partition("-")[0] in _E1 else "DSP48E2")


def kind_of(row: OperatorRow) -> str | None:
    """The kind of logic of a row of a schedule; None of another."""
    if row.source != "core" or not row.vitis or row.delay is None or row.core not in _LOGIC:
        return None
    return "cmp" if row.op.startswith("icmp") else _KINDS.get(row.op)


def width_of(row: OperatorRow) -> int:
    """The longest operand of a row of a schedule, in bits; 0 where none is told."""
    return max((int(w) for w in re.findall(r"i(\d+)", row.widths)), default=0)


def logic_delays(rows: Iterable[OperatorRow]) -> Additive:
    """Delays of logic by class, kind and width, at `WIDTHS` where the class shows one near.

    What most projects print counts. A few projects print the delay of another operator behind an
    inlined one; the usual delay is not theirs.
    """
    found: dict[tuple[str, str, int], dict[tuple[bool, float], set[str]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for row in rows:
        kind = kind_of(row)
        if kind is None:
            continue
        width = width_of(row)
        near = min(WIDTHS, key=lambda w: abs(w - width))
        if row.delay and near * 0.8 <= width <= near * 1.25:
            exact = width == near
            found[row.timing, kind, near][exact, row.delay].add(row.repo)
    usual = {
        key: max(delays, key=lambda d: (d[0], len(delays[d]), -d[1]))[1]
        for key, delays in found.items()
    }
    return fitted(usual, falling=False)


def product_of(row: OperatorRow) -> tuple[int, int, int] | None:
    """Bits of the factors and of the result of a multiplier's row; None where they are not told."""
    match = re.fullmatch(r"(\d+)n?s,(\d+)n?s->(\d+)", row.widths)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def multipliers(
    rows: Iterable[OperatorRow], classes: Iterable[str] = ()
) -> dict[tuple[str, str], Core]:
    """Multipliers by class and size; see `qor_gnn.tools.operators.multipliers`."""
    facts = multiplier_facts(rows)
    return cores_of(facts, LATENCIES, short=False, classes=classes, longest=frozenset({"one"}))


def multiplier_facts(rows: Iterable[OperatorRow]) -> list[Fact]:
    """The facts about multipliers, by size, that are the tool's own choice."""
    facts: list[Fact] = []
    for row in rows:
        if row.op != "mul" or not row.vitis or row.budget is None or row.latency is None:
            continue
        if row.delay is not None and row.delay > row.budget:
            continue
        if row.source == "core" and row.core in ("Multiplier", "Mul", "MulnS", "Mul_DSP"):
            width = width_of(row)
            size: Size | None = next((s for s in SIZES if width in _OF_CORE[s]), None)
            delay = row.delay if row.core != "Mul_DSP" or row.latency else None
        elif row.source in ("inst", "syninfo") and (widths := product_of(row)) is not None:
            if row.impl not in ("", "auto") or min(widths[:2]) < _NARROW < max(widths[:2]):
                continue  # bound by the user, or most likely by a constant
            size, delay = size_of(widths[0], widths[1], side_of(row.timing)), None
        else:
            continue
        if size is not None and row.latency in LATENCIES[size]:
            facts.append(Fact(size, row.timing, row.budget, row.latency, delay, row.repo))
            # What results of a core are printed as wide as tells nothing of its choice.
    return facts


MEMORIES: dict[str, dict[str, float]] = {
    "zynq7-1": {"bram": 3.25, "lutram": 2.32, "register": 1.58, "fifo": 3.63},
    "zynq7-2": {"bram": 2.77, "lutram": 1.75, "register": 1.29},
    "zynq7-3": {"bram": 2.41, "lutram": 1.2, "register": 1.14},
    "artix7-1": {"bram": 3.25, "lutram": 2.15, "register": 1.61},
    "artix7-2": {"bram": 2.77, "lutram": 1.75},
    "spartan7-2": {"bram": 2.77, "lutram": 1.76, "register": 1.29},
    "kintex7-1": {"bram": 2.66, "lutram": 1.42},
    "kintex7-2": {"bram": 2.26, "lutram": 1.14, "register": 0.83},
    "virtex7-1": {"bram": 2.66, "lutram": 1.42},
    "virtex7-2": {"bram": 2.26, "lutram": 1.14},
    "kintexu-2": {"bram": 1.77, "lutram": 0.69, "register": 0.53},
    "virtexu-3": {"bram": 1.42, "lutram": 0.65, "register": 0.49},
    "zynquplus-1": {"bram": 1.35, "lutram": 0.79, "register": 0.48, "fifo": 2.05},
    "zynquplus-2": {"bram": 1.23, "lutram": 0.67, "register": 0.42, "fifo": 1.83},
    "virtexuplus-1": {"bram": 1.29, "lutram": 0.73, "register": 0.46},
    "virtexuplus-2": {"bram": 1.24, "lutram": 0.69, "uram": 1.64, "register": 0.38, "fifo": 1.42},
}
"""Delay of a load in ns by class and memory, of Vitis HLS from 2020.2 on: what most reports print.

``register``: of a value that is written into a variable of the loop, with its multiplexer; ``fifo``: of a
word that is taken from or put into a FIFO.
"""
