"""``weft synth`` of a kernel whose arrays are in memory outside."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from dse.cli import weft as cli
from dsl.schedules.schedule import ScheduleBuilder

KERNEL = "tests/rtl/axi/kernels.py:rows"


@pytest.mark.slow
def test_the_kernel_is_measured_behind_axi(tmp_path):
    schedule = tmp_path / "outside.json"
    made = ScheduleBuilder().interface("A", "m_axi", "gmem").interface("B", "m_axi", "gmem")
    schedule.write_text(made.build().to_json(), encoding="utf-8")
    asked = ["synth", KERNEL, "--schedule", str(schedule), "--device", "xc7", "--no-cache"]
    done = CliRunner().invoke(cli, [*asked, "--out", str(tmp_path / "out"), "--format", "json"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert row["simulation"] == "ok"
    # What is read comes ahead of the kernel: the first word and the last answer are late, and nothing else.
    assert row["cycles"] + 2 * 64 < row["memory_cycles"] < row["cycles"] + 2 * 64 + 60
    assert row["memory_provenance"] == "rtl-sim"
    assert row["ff"] > 500  # most of them of the adapters
    files = {p.name for p in (tmp_path / "out").iterdir()}
    assert {"rows.v", "rows_axi.v", "rows_axi.json", "README.md"} <= files
    data = json.loads((tmp_path / "out" / "rows_axi.json").read_text(encoding="utf-8"))
    assert [(r["name"], r["offset"]) for r in data["registers"]][1:3] == [("A", 16), ("B", 28)]
