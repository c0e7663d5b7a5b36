"""``weft estimate``: its table, JSON and CSV, its errors, and that what it suggests is true."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import weft as api
from backends.devices import DEVICES
from dse.estimates.estimation import estimated, setting
from dse.estimates.suggest import helps, shares, suggestions
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from qor_gnn.schedule.reasons import PortLimit, Recurrence
from tests.cli.conftest import Weft

KERNEL = """\
import weft
from weft import f32

N = 64


@weft.kernel
def matmul(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i in range(N):
        for j in range(N):
            for k in range(N):
                C[i, j] += A[i, k] * B[k, j]


@matmul.schedule
def naive(s):
    s.pipeline("k")


@matmul.schedule
def narrow(s):
    s.interchange("j", "k")
    s.pipeline("j")
    s.unroll("j", 8)


@weft.kernel
def total(x: f32[N], r: f32[1]):
    for i in range(N):
        r[0] += x[i]


@total.schedule
def pipelined(s):
    s.pipeline("i")


@weft.kernel
def triangle(A: f32[N, N], x: f32[N], y: f32[N]):
    for i in range(N):
        for j in range(i):
            y[i] += A[i, j] * x[j]


@weft.kernel
def halves(A: weft.f16[N, N]):
    for i in range(N):
        A[i, i] = A[i, i] * A[i, i]
"""
ZU9EG, U280 = "vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "matmul.py"
    path.write_text(KERNEL)
    return path


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_table(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:matmul", "--schedule", "naive")
    assert (done.code, done.err) == (0, "")
    found = lines(done.out)
    assert found[0] == "matmul, schedule naive"
    assert "model of Vitis HLS 2022.1, on xczu9eg at 10 ns" in found[1]
    assert "i, j 4,096 204 835,584 100.0%" in found
    assert "k 64 3 1 8 197 96.6% 5 C carried over 1 iteration: add" in found
    assert "latency 835,585 cycles = 8.356 ms at 10 ns" in found
    assert "DSP 5 2,520 0.2%" in found
    assert "would help" not in done.out
    assert "\x1b" not in done.out


def test_table_says_what_the_numbers_of_the_model_are(weft: Weft, file: Path) -> None:
    answer = api.estimate(load(f"{file}:matmul"), "narrow")
    done = weft("estimate", f"{file}:matmul", "--schedule", "narrow")
    assert f"latency  {answer.latency.average:,.0f} cycles" in done.out
    for loop in answer.loops:
        assert f"{loop.latency.average:,.0f}" in done.out


def test_explain_names_the_recurrence(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:matmul", "--schedule", "naive", "--explain")
    assert "recurrence S0 through C[i][j], in a register: add, 3 states / distance 1" in done.out
    assert "critical path of an iteration:" in done.out
    found = lines(done.out)
    assert "2 3 mul S0" in found
    at = found.index('s.interchange("j", "k")')
    assert found[at - 1 : at + 2] == [
        '# without s.pipeline("k")', 's.interchange("j", "k")', 's.pipeline("j")',
    ]  # fmt: skip


def test_explain_names_the_bank(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:matmul", "--schedule", "narrow", "--explain")
    assert "ports of C: 16 accesses an iteration, 2 a cycle: C[i][8*j], C[i][8*j + 1]" in done.out
    assert "II 8 (asked for II 1)" in done.out


def test_explain_says_when_nothing_helps(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:total", "--schedule", "pipelined", "--explain")
    assert "no single change of order, copies or banks that helps" in done.out
    assert "would help" not in done.out


@pytest.mark.parametrize("tool", [ZU9EG, U280])
@pytest.mark.parametrize(
    ("kernel", "schedule"), [("matmul", None), ("matmul", "naive"), ("matmul", "narrow")]
)
def test_suggestions_are_true(file: Path, kernel: str, schedule: str | None, tool: str) -> None:
    loaded = load(f"{file}:{kernel}")
    chosen = loaded.schedules[schedule] if schedule else Schedule()
    base = estimated(loaded.program, chosen, setting(tool), explain=True)
    found = suggestions(base)
    assert found
    for s in found:
        kept = [step for step in chosen if step not in s.removed]
        assert all(step in s.schedule.steps for step in (*kept, *s.added))
        again = api.estimate(loaded, s.schedule, tool=tool)
        assert again.latency == s.answer.latency
        assert again.dsp == s.answer.dsp
        assert helps(base, again)
        assert api.compile(loaded, s.schedule).hls_cpp


def test_pasted_lines_make_the_suggested_schedule(file: Path) -> None:
    loaded = load(f"{file}:matmul")
    base = estimated(loaded.program, loaded.schedules["naive"], setting(), explain=True)
    (best, *_) = suggestions(base)
    builder = api.ScheduleBuilder()
    for line in best.python:
        if line.startswith("#"):
            assert line == '# without s.pipeline("k")'
            continue
        name, _, rest = line.removeprefix("s.").partition("(")
        getattr(builder, name)(*json.loads(f"[{rest[:-1]}]"))
    assert builder.build() == best.schedule


def test_a_suggestion_fits_the_device(file: Path) -> None:
    loaded = load(f"{file}:matmul")
    base = estimated(loaded.program, loaded.schedules["narrow"], setting(), explain=True)
    (best, *_) = suggestions(base)
    assert best.answer.dsp > base.answer.dsp
    small = setting(device="xc7z020")
    assert helps(base, best.answer)
    tight = type(base)(
        base.program, base.schedule,
        type(small)(small.tool, type(small.device)("none", "none", "zynq7", 1, 1, 6, 1, 0)),
        base.state, base.regions, base.answer,
    )  # fmt: skip
    assert not helps(tight, best.answer)


def test_shares_of_nested_loops(file: Path) -> None:
    answer = api.estimate(load(f"{file}:matmul"), "naive")
    outer, inner = shares(answer)
    assert outer == pytest.approx(1.0, abs=1e-4)
    assert inner == pytest.approx(4096 * 197 / answer.latency.average)


def test_json_is_complete(weft: Weft, file: Path) -> None:
    done = weft(
        *("estimate", f"{file}:matmul", "--schedule", "narrow"),
        *("--explain", "--format", "json", "--device", "xcu280"),
    )
    data = json.loads(done.out)
    answer = api.estimate(load(f"{file}:matmul"), "narrow", device="xcu280", explain=True)
    assert data["schema_version"] == 1
    assert data["command"] == "estimate"
    assert (data["kernel"], data["schedule"], data["size"]) == ("matmul", "narrow", "default")
    source = data["provenance"]
    assert (source["source"], source["version"]) == ("model", "2023.2")
    assert (source["device"], source["clock_ns"]) == ("xcu280", 3.33)
    assert data["latency"]["average"] == answer.latency.average
    dsp = data["resources"]["dsp"]
    assert dsp["used"] == answer.dsp
    assert dsp["share"] == answer.dsp / DEVICES["xcu280"].dsp
    assert dsp["provenance"] == "model"
    (loop,) = data["loops"]
    assert loop["limits"][0]["kind"] == "ports"
    assert loop["limits"][0]["accesses"] == list(answer.loops[0].limits[0].accesses)
    assert loop["path"][0]["operation"].startswith("load")
    for s in data["suggestions"]:
        again = Schedule.from_json(json.dumps(s["schedule"]))
        now = api.estimate(load(f"{file}:matmul"), again, device="xcu280")
        assert now.latency.average == s["latency"]["average"]


def test_csv_has_a_row_for_each_loop_and_the_design(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:matmul", "--schedule", "naive", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["row"] for row in rows] == ["loop", "loop", "design"]
    assert rows[1]["ii"] == "3"
    assert rows[2]["latency_avg"] == "835585"
    assert {row["provenance"] for row in rows} == {"model"}
    assert {row["tool"] for row in rows} == {ZU9EG}


def test_ranges_of_trip_counts(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:triangle", "--clock", "10")
    assert "1..63 (32.0)" in done.out
    answer = api.estimate(load(f"{file}:triangle"))
    low, high = answer.latency.minimum, answer.latency.maximum
    assert f", {low:,} to {high:,} by trip counts" in done.out


# ---------------------------------------------------------------------------------------- settings


def test_the_device_chooses_the_tool() -> None:
    assert setting().tool.name == ZU9EG
    assert setting(device="xcu280").tool.name == U280
    assert setting(clock=3.33).tool.name == U280
    assert setting(clock=3.33).device.name == "xcu280"
    assert setting(device="xcu55c").notes == ()
    part = "xczu9eg-ffvb1156-1-i"
    assert setting(device=part).device.part == part


def test_another_family_gets_a_note(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:total", "--device", "xcvc1902")
    assert (
        "note: no report shows operators of versal-2 (xcvc1902): they are taken to be" in done.out
    )
    where = ("--device", "ecp5-85k", "--tool", ZU9EG)
    done = weft("estimate", f"{file}:total", *where)
    assert "note: Vitis HLS does not target ecp5-85k" in done.out


def test_operators_that_were_not_measured_are_named(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:halves")
    assert "note: assumed, not measured: mul on f16" in done.out
    assert "operators: 0 measured, 0 derived, 1 extrapolated" in done.out
    assert "note:" not in weft("estimate", f"{file}:total").out


@pytest.mark.parametrize("clock", ["0.5", "2000"])
def test_clock_that_nothing_runs_at(weft: Weft, file: Path, clock: str) -> None:
    done = weft("estimate", f"{file}:total", "--clock", clock)
    assert (done.code, done.out) == (1, "")
    head, help_line = done.err.splitlines()
    assert head == f"error[W452]: there are no operators for a clock period of {clock} ns"
    assert help_line == "help: it is between 1 and 1000 ns"


def test_a_version_goes_with_any_device_and_clock(weft: Weft, file: Path) -> None:
    """Its rules with the operators of the device at the clock; where it was measured, its own."""
    done = weft(
        *("estimate", f"{file}:matmul", "--tool", "vitis-2023.2", "--board", "pynq-z2"),
        *("--clock", "5", "--format", "json"),
    )
    source = json.loads(done.out)["provenance"]
    assert (source["version"], source["device"], source["clock_ns"]) == ("2023.2", "xc7z020", 5)
    assert source["personality"] == "vitis-2023.2-xc7z020-1-5ns"
    assert source["operators"]["measured"] == 2  # fadd of latency 9, fmul of 7 at 3.65 ns
    assert setting("vitis-2022.1", "zcu102", 10.0).tool == setting(ZU9EG).tool
    assert setting(ZU9EG, None, 3.33).tool.name == "vitis-2022.1-xczu9eg-2-3.33ns"


def test_a_part_has_the_operators_of_its_speed_grade() -> None:
    def adder(device: str) -> int:
        return setting(None, device, 8.0).tool.operator("add", "f32", 32).distance

    assert adder("xc7z020-1") >= adder("xc7z020-2") >= adder("xc7z020-3")
    assert setting(None, "xczu9eg-ffvb1156-1-e", 10.0).tool.name == "vitis-2022.1-xczu9eg-1-10ns"


def test_uncertainty_is_a_part_of_the_period(weft: Weft, file: Path) -> None:
    words = ("estimate", f"{file}:matmul", "--schedule", "naive", "--format", "json")
    own, less = weft(*words), weft(*words, "--uncertainty", "60")
    assert json.loads(own.out)["provenance"]["uncertainty"] == 0.27
    assert json.loads(less.out)["provenance"]["personality"] == "vitis-2022.1-xczu9eg-2-10ns-u60"
    latency = [json.loads(done.out)["latency"]["average"] for done in (own, less)]
    assert latency[0] < latency[1]
    assert weft(*words, "--uncertainty", "27").out == own.out
    assert weft(*words, "--uncertainty", "101").code == 2


def test_unknown_tool_and_device(weft: Weft, file: Path) -> None:
    assert "error[W450]" in weft("estimate", f"{file}:total", "--tool", "x").err
    assert "error[W403]" in weft("estimate", f"{file}:total", "--device", "x").err


def test_bad_clock_is_wrong_usage(weft: Weft, file: Path) -> None:
    assert weft("estimate", f"{file}:total", "--clock", "0").code == 2


# ------------------------------------------------------------------------------------------- words


def test_reasons_as_values(file: Path) -> None:
    loaded = load(f"{file}:matmul")
    naive = api.estimate(loaded, "naive").loops[-1].limits[0]
    assert isinstance(naive, Recurrence)
    assert (naive.array, naive.distance, naive.statements) == ("C", 1, ("S0",))
    narrow = api.estimate(loaded, "narrow").loops[-1].limits[0]
    assert isinstance(narrow, PortLimit)


def test_colours(file: Path) -> None:
    from dse.views.estimate import Style, view

    loaded = load(f"{file}:matmul")
    base = estimated(loaded.program, loaded.schedules["naive"], setting(), explain=True)
    found = suggestions(base)
    assert '\x1b[36m    s.pipeline("j")\x1b[0m' in view("t", base, Style(True), found)
    assert "\x1b" not in view("t", base, Style(False), found)


# ------------------------------------------------------------------------------------------ export


def test_export_holds_the_prediction(weft: Weft, file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "hls"
    assert weft("export", f"{file}:matmul", "--schedule", "naive", "--out", folder).code == 0
    data = json.loads((folder / "qor.json").read_text())
    assert data["latency"]["average"] == 835585
    assert data["provenance"]["clock_ns"] == 10.0
    assert "qor.json" in json.loads((folder / "weft.json").read_text())["files"]
    assert "| `qor.json` |" in (folder / "README.md").read_text()
    again = tmp_path / "again"
    api.export(load(f"{file}:matmul"), again, "naive")
    assert (again / "qor.json").read_text() == (folder / "qor.json").read_text()


def test_export_without_a_prediction_says_so(weft: Weft, file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "hls"
    done = weft("export", f"{file}:matmul", "--out", folder, "--clock", "0.5")
    assert done.code == 0
    assert "no qor.json, as there is no estimate: there are no operators for a clock" in done.err
    assert not (folder / "qor.json").exists()
    assert "qor.json" not in (folder / "README.md").read_text()
