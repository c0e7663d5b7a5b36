"""Facts about memories: rows of ``memories.csv.gz`` that print a size, each from a report of one project."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qor_gnn.fit.operators.rows import timing_class
from qor_gnn.memory.storage import Impl, Kind

FILE = "memories.csv.gz"
_FIFO, _MEMORY = "csynth_fifo", "csynth_memory"
_IMPLS: tuple[Impl, ...] = ("lutram", "bram", "uram")  # BRAM and URAM are part of no other's name

_MANY = {"1wnr", "np"}  # a write and n reads, and n reads


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One fact: a memory or a FIFO in a report, however often it is there.

    Attributes:
        fifo: it is a FIFO.
        vitis: of Vitis HLS, else Vivado HLS.
        timing: the timing class, as `backends.devices.Device.timing_class`.
        impl: what its module's name says that it was bound to; empty where the tool chose, or the name was
            cut off.
        copied: that name says that it is kept for many readers; how often is not told.
        width, words: bits a word, and words.
        bram18, uram, lut, ff: as printed; 0 where they are not.
        repo: the project.
    """

    fifo: bool
    vitis: bool
    version: str
    timing: str
    impl: Impl
    copied: bool
    width: int
    words: int
    bram18: int
    uram: int
    lut: int
    ff: int
    repo: str

    @property
    def kind(self) -> Kind:
        """What it is made of."""
        if self.uram:
            return Kind.URAM
        if self.bram18:
            return Kind.BRAM
        return Kind.LUTRAM if self.lut else Kind.REGISTERS


def memory_rows(folder: Path) -> tuple[MemoryRow, ...]:
    """The distinct facts in a folder; memories of two banks, which versions count differently, are left out."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as file:
        return tuple(dict.fromkeys(_rows(file)))


def _rows(file: Iterator[str]) -> Iterator[MemoryRow]:
    for row in csv.DictReader(file):
        timing = timing_class(row["family"], row["part"])
        sized = row["width"].isdigit() and row["depth"].isdigit()
        if row["source"] not in (_FIFO, _MEMORY) or timing is None or not sized:
            continue
        if row["banks"] not in ("", "1"):
            continue
        name = row["core_or_impl"].lower().split("_")
        yield MemoryRow(
            row["source"] == _FIFO, row["tool"] == "vitis", row["version"], timing,
            next((impl for impl in _IMPLS if impl in name), ""), not _MANY.isdisjoint(name),
            int(row["width"]), int(row["depth"]),
            _count(row["bram18"]), _count(row["uram"]), _count(row["lut"]), _count(row["ff"]),
            row["repo"],
        )  # fmt: skip


def _count(text: str) -> int:
    return int(text) if text.isdigit() else 0
