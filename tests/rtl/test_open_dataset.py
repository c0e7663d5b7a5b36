"""The dataset in the repository: its lines are of the kernels and of the backend as they are now."""

import hashlib
from pathlib import Path

import pytest

from dse.estimation import estimated, setting
from dse.labels.dataset import Dataset
from dse.labels.variants import Subject
from dsl.schedule import Schedule
from dsl.stored.read import program_of_data
from mlir_passes.pipeline import compile_design
from qor_gnn.open_personality import NAME as TOOL
from tests.rtl.dataset_programs import FOLDER, programs

ROOT = Path(__file__).resolve().parents[2]
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


def test_the_programs_are_those_of_the_kernels_as_they_are_now():
    stored = Dataset(FOLDER).programs()
    now = programs()
    assert stored.keys() == now.keys()
    for named, program in now.items():  # if not: python -m tests.rtl.dataset_programs
        assert program_of_data(stored[named], str(named)) == program


@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: row["id"])
def test_a_line_is_of_the_design_that_is_made_today(row):
    kernel = Subject(str(ROOT / row["file"]), row["kernel"], row["size"], row["dtype"]).load()
    schedule = Schedule.from_json(row["schedule"])
    level3 = compile_design(kernel.program, schedule).affine
    assert hashlib.sha256(level3.encode()).hexdigest()[:16] == row["id"]
    answer = estimated(kernel.program, schedule, setting(TOOL)).answer
    assert answer.latency.average == float(row["cycles"])
    assert answer.bram18 == int(row["bram"])
    assert answer.lut == pytest.approx(float(row["lut"]), rel=0.5)
    assert answer.ff == pytest.approx(float(row["ff"]), rel=0.25)
    assert answer.period_ns == pytest.approx(1000 / float(row["fmax_mhz"]), rel=0.5)
