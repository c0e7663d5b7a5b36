"""The expert's figures as they were recorded: `recorded.json`, a line a kernel, to be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.corpus.judge import Judgement, judgement
from benchmarks.corpus.registry import Entry

RECORDED = Path(__file__).resolve().parent / "recorded.json"


def record_of(entry: Entry, found: Judgement) -> dict[str, Any]:
    """What is kept of a kernel."""
    return {
        "style": entry.style,
        "group": entry.group,
        "judged_by": entry.judged_by,
        "budget": asdict(entry.budget),
        "cycles": found.cycles,
        "bound": found.bound.cycles,
        "ratio": None if found.ratio is None else round(found.ratio, 3),
        **found.resources,
    }


def text_of(records: dict[str, dict[str, Any]]) -> str:
    """The file's text: one line a kernel, so that a difference shows which."""
    lines = [f"  {json.dumps(name)}: {json.dumps(record)}" for name, record in records.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def record(entries: Iterable[Entry]) -> None:
    """Write the figures of these kernels; of others, what was recorded stays.

    Raises:
        ValueError: an expert's design is illegal or over its budget.
    """
    known = recorded()
    for entry in entries:
        found = judgement(entry)
        if not found.feasible:
            raise ValueError(f"{entry.name}: {found.status}: {found.detail}")
        known[entry.name] = record_of(entry, found)
    RECORDED.write_text(text_of(dict(sorted(known.items()))), encoding="utf-8")


def recorded() -> dict[str, dict[str, Any]]:
    """By kernel, what was recorded last."""
    if not RECORDED.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found
