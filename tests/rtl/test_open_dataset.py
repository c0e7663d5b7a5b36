"""The dataset in the repository: its lines are of its programs and of the backend as it is now."""

import hashlib
from pathlib import Path

import pytest

from dse.estimates.estimation import estimated, setting
from dse.labels.dataset import Dataset
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.stored.read import program_of_data
from mlir_passes.pipeline import compile_design
from qor_gnn.tools.open_ecp5.write import NAME as TOOL

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "qor_gnn/fit/datasets/open-ecp5"
PROGRAMS = Dataset(FOLDER).programs()
ROWS = list(Dataset(FOLDER).rows())
ROUTED = [row for row in ROWS if row["outcome"] == "ok"]
SAMPLE = sorted(ROUTED, key=lambda row: row["id"])[:: max(1, len(ROUTED) // 12)]


def test_every_design_is_there_once_with_its_figures():
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len(ROUTED) >= 1000
    for row in ROUTED:
        assert row["provenance"] == "post-route"
        assert all(float(row[name]) > 0 for name in ("lut", "ff", "fmax_mhz", "cycles"))
        assert not Path(row["file"]).is_absolute()


def program_of(row: dict[str, str]) -> Program:
    named = (row["file"], row["kernel"], row["size"], row["dtype"])
    return program_of_data(PROGRAMS[named], " ".join(named))


def test_every_line_has_its_program():
    assert {(r["file"], r["kernel"], r["size"], r["dtype"]) for r in ROWS} == PROGRAMS.keys()
    for named, data in PROGRAMS.items():
        assert program_of_data(data, str(named)).name == named[1]


@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: row["id"])
def test_a_line_is_of_the_design_that_is_made_today(row):
    program = program_of(row)
    schedule = Schedule.from_json(row["schedule"])
    level3 = compile_design(program, schedule).affine
    assert hashlib.sha256(level3.encode()).hexdigest()[:16] == row["id"]
    answer = estimated(program, schedule, setting(TOOL)).answer
    assert answer.latency.average == float(row["cycles"])
    assert answer.bram18 == int(row["bram"])
    assert answer.lut == pytest.approx(float(row["lut"]), rel=0.5)
    assert answer.ff == pytest.approx(float(row["ff"]), rel=0.25)
    assert answer.period_ns == pytest.approx(1000 / float(row["fmax_mhz"]), rel=0.5)
