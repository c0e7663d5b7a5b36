"""Memories in reports next to what is said of them: what is a fact, and how it is scored."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from benchmarks import _memories
from qor_gnn.fit.operators.memories import MemoryRow, memory_rows
from qor_gnn.memory.storage import Kind

USUAL = {
    "source": "csynth_memory", "tool": "vitis", "version": "2022.1", "family": "zynq",
    "part": "xc7z020-clg400-1", "clock_ns": "10.00", "core_or_impl": "RAM_AUTO_1R1W", "width": "32",
    "depth": "400", "banks": "1", "bram18": "1", "ff": "0", "lut": "0", "uram": "0", "repo": "a/b",
}  # fmt: skip


def facts(folder: Path, *rows: dict[str, str]) -> tuple[MemoryRow, ...]:
    (folder / "operators").mkdir()
    with gzip.open(folder / "operators" / "memories.csv.gz", "wt", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(USUAL))
        table.writeheader()
        table.writerows({**USUAL, **row} for row in rows)
    return memory_rows(folder / "operators")


@pytest.mark.parametrize(
    ("row", "impl", "copied", "kind"),
    [
        ({}, "", False, Kind.BRAM),
        ({"core_or_impl": "RAM_T2P_BRAM"}, "bram", False, Kind.BRAM),
        ({"core_or_impl": "RAM_T2P_URAM", "bram18": "0", "uram": "1"}, "uram", False, Kind.URAM),
        (
            {"core_or_impl": "ROM_1P_LUTRAM", "bram18": "0", "lut": "8"},
            "lutram",
            False,
            Kind.LUTRAM,
        ),
        ({"core_or_impl": "RAM_1WNR_AUTO"}, "", True, Kind.BRAM),
        ({"core_or_impl": "buf", "bram18": "", "uram": "-"}, "", False, Kind.REGISTERS),
    ],
)
def test_what_a_row_says(
    tmp_path: Path, row: dict[str, str], impl: str, copied: bool, kind: Kind
) -> None:
    (found,) = facts(tmp_path, row)
    assert (found.impl, found.copied, found.kind, found.timing) == (impl, copied, kind, "zynq7-1")


def test_what_is_no_fact(tmp_path: Path) -> None:
    left_out = [
        {"source": "sched"},
        {"banks": "2"},
        {"width": ""},
        {"part": "xc7z020"},
        {"clock_ns": "5.00"},  # as the one before it
    ]
    assert len(facts(tmp_path, {}, *left_out)) == 1


def test_projects_count_once_and_each_memory_beside(tmp_path: Path) -> None:
    left_out = [n for n in map(str, range(20)) if _memories.part_of(n) == "left out"][:2]
    assert len(left_out) == 2
    facts(
        tmp_path,
        {"repo": left_out[0]},  # right
        {"repo": left_out[0], "version": "2022.2", "bram18": "2"},  # with both ports
        {"repo": left_out[0], "version": "2023.1", "bram18": "6"},  # kept three times
        {"repo": left_out[1]},
    )
    found = {r.metric: r.value for r in _memories.rows("operators", tmp_path)}
    assert found["bram_exact_pct"] == pytest.approx(100 * (1 / 3 + 1) / 2)
    assert found["bram_exact_pct_by_memory"] == 50
    assert found["bram_inside_pct"] == pytest.approx(100 * (2 / 3 + 1) / 2)
    assert found["bram_copies_pct"] == found["kind_exact_pct"] == 100


def test_fifos_are_scored_by_blocks_and_flip_flops(tmp_path: Path) -> None:
    facts(
        tmp_path,
        {"source": "csynth_fifo", "core_or_impl": "FIFO", "depth": "2", "bram18": "0", "ff": "99"},
        {
            "source": "csynth_fifo",
            "core_or_impl": "FIFO",
            "depth": "1000",
            "bram18": "4",
            "ff": "163",
        },
    )
    found = {r.metric: r.value for r in _memories.rows("operators", tmp_path)}
    assert (found["bram_exact_pct"], found["ff_ape_median_pct"]) == (50, 0)


def test_accelerators_whose_ports_are_told(tmp_path: Path) -> None:
    facts(tmp_path, {})
    (tmp_path / "prometheus-u55c").mkdir()
    heads = "kind,usage,type,ram_suffix,words,bits,bram18_each,ff_each,lut_each,uram_each"
    rows = [
        "memory,ram_1p array,,RAM_AUTO_1R1W,1300,32,4,0,0,0",
        "memory,ram_t2p channel,pipo,RAM_AUTO_1R1W,25,32,0,64,66,0",
        "memory,ram_t2p array,,RAM_T2P_BRAM_1R1W,25,32,1,0,0,0",
        "memory,ram_t2p array,,RAM_AUTO_1R1W,2160,32,0,0,0,2",  # is one
        "fifo,fifo channel,stream,,1024,128,4,287,0,0",
    ]
    (tmp_path / "prometheus-u55c" / "storage.csv").write_text("\n".join([heads, *rows]))
    found = {
        r.metric: r.value
        for r in _memories.rows("operators", tmp_path)
        if r.case == "prometheus-u55c/storage"
    }
    assert found == {"bram_exact_pct": 75, "fifo_exact_pct": 100, "logic_exact_pct": 100}
