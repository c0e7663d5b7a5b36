"""Tables of operators out of facts: what a library of any class and clock is made of.

``python -m qor_gnn.fit.operators.distil DIR`` writes those of ``qor_gnn/tools/operators/data`` anew from a
folder of facts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from qor_gnn.fit.operators.area import areas
from qor_gnn.fit.operators.cores import Fact, cores_of
from qor_gnn.fit.operators.fabric import MEMORIES, WIDTHS, logic_delays, multipliers
from qor_gnn.fit.operators.rows import OperatorRow, float_core, operator_rows, usable
from qor_gnn.tools.operators.cells import Core
from qor_gnn.tools.operators.timing import DATA, FLOATS_OF, Tables

DEEPEST = {
    "fadd": 12, "fmul": 9, "fdiv": 29, "fsqrt": 29, "fexp": 20, "flog": 22, "fcmp": 3,
    "fpext": 2, "fptrunc": 3, "sitofp": 7, "sitodp": 7, "dadd": 15, "dmul": 16, "ddiv": 58,
    "dsqrt": 58, "dexp": 30, "dcmp": 3, "fadd_nodsp": 12, "dadd_nodsp": 15,
}  # fmt: skip
"""The most states of each core: those of the vendor's floating-point operator and one for its output (AMD PG060)."""

LABELLED = (
    Fact("dsqrt", "virtexuplus-2", 2.92, 27, None, "hlsfactory-u200"),
    Fact("ddiv", "virtexuplus-2", 2.92, 27, None, "hlsfactory-u200"),
)
"""What designs with labels show besides public reports: both are used 29 states later by 2025.1, whose results wait two states
(docs/lab/u200.md, 3)."""

LOGIC = ("add", "cmp", "select", "logic", "shift")
_LEVEL = ("add", "cmp", "shift")  # no shorter where they are wider

_EVIDENCE = {
    "cores": "csynth and schedule reports of public projects, Vivado HLS 2014.4 to Vitis HLS 2025.2: "
    "cells that reports show, the rest interpolated over classes and latencies and bounded by what was "
    "chosen at other budgets (docs/qor-model.md); python -m qor_gnn.fit.operators.distil",
    "area": "instance tables of reports of public projects, by number of stages",
}


def float_facts(rows: Iterable[OperatorRow]) -> list[Fact]:
    """The facts about floating point cores, in the class whose cells they are."""
    facts = []
    for row in rows:
        core = float_core(row)
        if core is not None and usable(row, core) and row.budget and row.latency is not None:
            timing = FLOATS_OF.get(row.timing, row.timing)
            facts.append(Fact(core, timing, row.budget, row.latency, row.delay, row.repo))
    return [*LABELLED, *facts] if facts else []


def distilled(rows: Sequence[OperatorRow]) -> Tables:
    """The tables of all classes that rows show something of."""
    facts = float_facts(rows)
    latencies = {core: tuple(range(deepest + 1)) for core, deepest in DEEPEST.items()}
    classes = sorted({f.timing for f in facts})
    logic = logic_delays(rows)
    shown = sorted({t for t, _, _ in logic.known} | set(MEMORIES))
    delays: dict[tuple[str, str], tuple[tuple[int, float], ...]] = {}
    for timing in shown:
        for kind in LOGIC:
            told = [(w, logic.delay(timing, kind, w) or 0.0) for w in WIDTHS]
            if kind in _LEVEL:
                told = [(w, max(d for v, d in told if v <= w)) for w, _ in told]
            delays[timing, kind] = tuple((w, round(d, 3)) for w, d in told)
    return Tables(
        floats=cores_of(facts, latencies, short=True, classes=classes),
        logic=delays,
        memories={(t, m): d for t, told in MEMORIES.items() for m, d in told.items()},
        multipliers=multipliers(rows, shown),
        areas=areas(rows),
    )


def _core(core: Core) -> dict[str, Any]:
    return {
        "seen": [list(s) for s in core.seen],
        "cells": [[c.latency, c.delay, c.low, c.high, c.known] for c in core.cells],
    }


def written(tables: Tables, folder: Path) -> None:
    """Write the tables into a folder: a file a class, and ``area.json``."""
    names = {t for t, _ in (*tables.floats, *tables.logic, *tables.multipliers, *tables.memories)}
    for name in sorted(names):
        data = {
            "evidence": _EVIDENCE["cores"],
            "floats": {c: _core(core) for (t, c), core in tables.floats.items() if t == name},
            "logic": {
                k: [list(d) for d in told] for (t, k), told in tables.logic.items() if t == name
            },
            "memories": {m: d for (t, m), d in tables.memories.items() if t == name},
            "multipliers": {
                s: _core(core) for (t, s), core in tables.multipliers.items() if t == name
            },
        }
        (folder / f"{name}.json").write_text(_text(data), encoding="utf-8")
    area: dict[str, Any] = {}
    for (core, kind, stages), counts in tables.areas.items():
        area.setdefault(core, {}).setdefault(kind, []).append([stages, *counts])
    text = _text({"evidence": _EVIDENCE["area"], "cores": area})
    (folder / "area.json").write_text(text, encoding="utf-8")


def _text(data: object, depth: int = 0) -> str:
    """JSON with a line for each list of numbers."""
    if not isinstance(data, dict) or not data:
        return json.dumps(data) + ("" if depth else "\n")
    pad = " " * (depth + 1)
    lines = [f"{pad}{json.dumps(k)}: {_text(v, depth + 1)}" for k, v in data.items()]
    return "{\n" + ",\n".join(lines) + f"\n{' ' * depth}}}" + ("" if depth else "\n")


def without(rows: Iterable[OperatorRow], repo: str) -> list[OperatorRow]:
    """The rows of all other projects."""
    return [row for row in rows if row.repo != repo]


if __name__ == "__main__":
    written(distilled(list(operator_rows(Path(sys.argv[1])))), DATA)
