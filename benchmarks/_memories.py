"""What is said of memories next to what reports show, of projects that the laws were not read from.

Reports say a memory's size, not how many ports of it are used: ``bram_exact_pct`` is of the answer for one port,
``bram_inside_pct`` of the range of one port and both, ``bram_copies_pct`` of a multiple of either (an array that
is kept more than once, or two halves). Arrays that their name says to be kept for many readers, nobody knows how
often, are in the last alone. A project counts once, however many memories of it there are; rows
``…_by_memory`` count each memory.
"""

from __future__ import annotations

import csv
import hashlib
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._row import Goal, Row
from qor_gnn.fit.operators.memories import FILE, MemoryRow, memory_rows
from qor_gnn.memory.storage import Impl, Kind, StorageCost, bank_cost, fifo, ping_pong
from qor_gnn.tools.storage.laws import StorageRules, law_on, laws

PROVENANCE = "Vitis HLS and Vivado HLS reports of public projects"
_PARTS = ("read", "left out")
_LEFT_OUT = 3  # of the remainders by 4 of a project's hash
_ACCELERATORS = "prometheus-u55c"


def part_of(repo: str) -> str:
    """Whether the laws were read from a project: it was split by a hash of its name before anything was looked at."""
    digest = hashlib.sha256(repo.lower().encode()).hexdigest()
    return _PARTS[int(digest, 16) % 4 == _LEFT_OUT]


@dataclass
class Found:
    """What came of the memories of one project, by metric."""

    hits: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def compared(row: MemoryRow, found: Found) -> None:
    """Ask the law of the silicon for one memory."""
    rules = laws()[law_on(row.timing)]
    if row.fifo:
        said = fifo(row.width, row.words, rules)
        found.hits["bram_exact_pct"].append(said.bram18 == row.bram18)
        found.errors["ff_ape_median_pct"].append(_error(said.ff, row.ff))
        return
    one, both = (bank_cost(row.width, row.words, rules, row.impl, b) for b in (False, True))
    found.hits["kind_exact_pct"].append(one.kind == row.kind)
    if row.kind == Kind.BRAM:
        blocks = (one.bram18, both.bram18)
        if not row.copied:
            found.hits["bram_exact_pct"].append(one.bram18 == row.bram18)
            found.hits["bram_inside_pct"].append(row.bram18 in blocks)
        found.hits["bram_copies_pct"].append(any(n and row.bram18 % n == 0 for n in blocks))
    if row.kind == Kind.LUTRAM:
        found.errors["lut_ape_median_pct"].append(_error(one.lut, row.lut))
        found.errors["ff_ape_median_pct"].append(_error(one.ff, row.ff))


def _error(said: float, true: float) -> float:
    return abs(said - true) / true if true else float(said != 0)


_GOALS = {
    ("memory, left out", "kind_exact_pct"): Goal(">=", 90),
    ("memory, left out", "bram_exact_pct"): Goal(">=", 80),
    ("memory, left out", "lut_ape_median_pct"): Goal("<=", 10),
    ("memory, left out", "ff_ape_median_pct"): Goal("<=", 10),
    ("fifo, left out", "bram_exact_pct"): Goal(">=", 90),
    ("fifo, left out", "ff_ape_median_pct"): Goal("<=", 10),
}


def _case_rows(name: str, case: str, projects: Sequence[Found]) -> Iterator[Row]:
    for metric in dict.fromkeys(m for p in projects for m in p.hits):
        shares = [p.hits[metric] for p in projects if p.hits[metric]]
        every = [hit for own in shares for hit in own]
        goal = _GOALS.get((case, metric))
        mean = statistics.mean(sum(own) / len(own) for own in shares)
        yield Row(name, case, metric, 100 * mean, "%", goal, PROVENANCE, len(shares))
        value = 100 * sum(every) / len(every)
        yield Row(name, case, f"{metric}_by_memory", value, "%", None, PROVENANCE, len(every))
    for metric in dict.fromkeys(m for p in projects for m in p.errors):
        errors = [error for p in projects for error in p.errors[metric]]
        goal = _GOALS.get((case, metric))
        value = 100 * statistics.median(errors)
        yield Row(name, case, metric, value, "%", goal, PROVENANCE, len(errors))


def there_are(data: Path) -> bool:
    """Whether a folder has facts about memories."""
    return (data / "operators" / FILE).is_file()


def rows(name: str, data: Path) -> Iterator[Row]:
    """The rows of memories and FIFOs, read and left out, and of the accelerators of prometheus-u55c.

    Args:
        name: of the benchmark.
        data: the folder of labelled designs.
    """
    cases: dict[str, dict[str, Found]] = defaultdict(lambda: defaultdict(Found))
    for row in memory_rows(data / "operators"):
        tool = "" if row.vitis else " of Vivado HLS"
        what = "fifo" if row.fifo else "memory"
        compared(row, cases[f"{what}{tool}, {part_of(row.repo)}"][row.repo])
    for case, projects in sorted(cases.items()):
        yield from _case_rows(name, case, list(projects.values()))
    stored = data / _ACCELERATORS / "storage.csv"
    if stored.is_file():
        yield from _accelerators(name, stored)


# --------------------------------------------------------------------- memories whose ports are told


def _accelerators(name: str, file: Path) -> Iterator[Row]:
    rules = laws()["virtexuplus"]
    hits: dict[str, list[bool]] = defaultdict(list)
    with file.open(encoding="utf-8") as opened:
        for row in csv.DictReader(opened):
            said = _stored(row, rules)
            true = [int(row[f"{n}_each"] or 0) for n in ("bram18", "uram", "lut", "ff")]
            hits["fifo" if row["kind"] == "fifo" else "bram"].append(
                [said.bram18, said.uram] == true[:2]
            )
            if row["kind"] != "fifo":
                hits["logic"].append([said.lut, said.ff] == true[2:])
    goals = {"bram": Goal(">=", 85), "fifo": Goal(">=", 85), "logic": None}
    metrics = {"bram": "bram_exact_pct", "fifo": "fifo_exact_pct", "logic": "logic_exact_pct"}
    for key, metric in metrics.items():
        value = 100 * sum(hits[key]) / len(hits[key])
        yield Row(
            name, f"{_ACCELERATORS}/storage", metric, value, "%", goals[key], PROVENANCE,
            len(hits[key]),
        )  # fmt: skip


def _stored(row: dict[str, str], rules: StorageRules) -> StorageCost:
    width, words = int(row["bits"]), int(row["words"])
    if row["kind"] == "fifo":
        return fifo(width, words, rules)
    both = "t2p" in row["usage"]
    if row["type"] == "pipo":
        return ping_pong(width, words, 2 if both else 1, rules)
    impl: Impl = "bram" if "BRAM" in row["ram_suffix"] else ""
    return bank_cost(width, words, rules, impl, both)
