"""Whatever holds labelled designs becomes examples, and what does not is refused."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from backends.devices import device
from backends.rtl.area.costs import LUTS
from backends.vitis.project import export
from dse.cli import run
from dse.cli import weft as cli
from dse.labels.dataset import COLUMNS, Dataset
from dse.labels.examples import examples_of
from dse.labels.trusted import Trusted, given
from dsl.errors.errors import InputError, ToolError
from dsl.expressions.types import IntType
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline
from mlir_passes.pipeline import compile_design
from qor_gnn.gnn.examples.example import METRICS
from qor_gnn.gnn.examples.files import save
from qor_gnn.gnn.training.ensemble import untrained
from qor_gnn.gnn.training.weights import save as save_weights

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "tests" / "backends" / "reports"
GEMM = load(f"{ROOT}/examples/polybench/gemm.py:gemm").at("mini")


def line(**changed: object) -> dict[str, object]:
    """A line of a dataset, with figures that somebody made up."""
    known = {
        "id": "0123456789abcdef",
        "file": "examples/polybench/gemm.py",
        "kernel": "gemm",
        "dtype": "i16",
        "size": "mini",
        "schedule": '{"schema_version":1,"steps":[]}',
        "outcome": "ok",
        "provenance": "post-route",
        "lut": 300,
        "ff": 170,
        "dsp": 2,
        "bram": 3,
        "fmax_mhz": 80.0,
        "cycles": 61501,
        "clock_ns": 10.0,
        "read_latency": 1,
    }
    return dict.fromkeys(COLUMNS, "") | known | changed


def dataset(folder: Path, *lines: dict[str, object]) -> Path:
    made = Dataset(folder)
    made.open({"device": "ecp5-85k"}, "test")
    named = ("examples/polybench/gemm.py", "gemm", "mini", "i16")
    made.keep_programs({named: GEMM.at("mini", f32=IntType(16)).program})
    for one in lines:
        made.append(one)
    return folder


def test_routed_designs_become_examples(tmp_path):
    remarks = []
    lost = line(id="1", provenance="post-synth", fmax_mhz="")
    folder = dataset(tmp_path / "open", line(), lost)
    (one,) = examples_of(folder, tmp_path / "cache", 1, remark=remarks.append)
    assert one.label == {
        "latency": 61501, "lut": 300, "ff": 170, "dsp": 2, "bram18": 3, "period_ns": 12.5
    }  # fmt: skip
    assert (one.kernel, one.family, one.target) == ("gemm", "polybench", "open-ecp5-10ns")
    assert one.base["lut"] > 50
    assert one.terms["ff.flops"] == one.base["ff"]
    luts = sum(cost * one.terms[f"lut.{kind}"] for kind, cost in LUTS.items())
    assert one.base["lut"] == pytest.approx(luts, abs=1)
    assert one.base["latency"] > 1000
    assert remarks == [f"{folder}: 1 of 2 designs are left out: 1 have no routed figures"]


def test_each_reason_that_a_design_is_left_out_for_is_said(tmp_path):
    remarks = []
    lost = [line(id="1", fmax_mhz=""), line(id="2", clock_ns="4"), line(id="3", clock_ns="4")]
    lost.append(line(id="4", read_latency="2"))
    why = (
        "2 are for another clock than 10 ns, 1 have no routed figures, "
        "1 are for memories of another read latency than 1"
    )
    folder = dataset(tmp_path / "some", line(), *lost)
    assert len(examples_of(folder, tmp_path / "cache", 1, remark=remarks.append)) == 1
    assert remarks == [f"{folder}: 4 of 5 designs are left out: {why}"]
    nothing = dataset(tmp_path / "none", *lost)
    with pytest.raises(InputError) as caught:
        examples_of(nothing, tmp_path / "cache", 1)
    assert caught.value.code == "W532"
    assert caught.value.message.endswith(f"open-ecp5-10ns: of 4 designs {why}")


def test_evaluate_says_what_it_leaves_out(tmp_path, capfd):
    folder = dataset(tmp_path / "none", line(clock_ns="4"), line(id="1", clock_ns="4"))
    assert run(["evaluate", "--data", str(folder), "--predictor", "model"]) == 1
    said = capfd.readouterr().err
    assert "2 of 2 designs are left out: 2 are for another clock than 10 ns" in said
    assert "error[W532]" in said


def test_a_dataset_without_programs_runs_what_the_user_names(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    folder = dataset(tmp_path / "open", line())
    stored = examples_of(folder, tmp_path / "a", 1)
    (folder / "programs.jsonl").unlink()
    with pytest.raises(InputError) as refused:
        examples_of(folder, tmp_path / "b", 1)
    assert refused.value.code == "W547"
    assert "is of 'gemm' in examples/polybench/gemm.py: that is Python" in refused.value.message
    assert "--kernel FILE.py:NAME; or --trust DIR" in str(refused.value.help)
    for n, trusted in enumerate((given([f"{ROOT}/examples/polybench/gemm.py"]),
                                 given([], [Path("examples")]))):  # fmt: skip
        found = examples_of(folder, tmp_path / f"c{n}", 1, trusted=trusted)
        assert [e.base for e in found] == [e.base for e in stored]


def test_a_dataset_runs_no_file_outside_of_what_is_trusted(tmp_path):
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link.py").symlink_to(tmp_path / "evil.py")
    files = ("../evil.py", tmp_path / "here/../evil.py", tmp_path / "here/link.py", "a\0b")
    for n, file in enumerate(files):
        folder = dataset(tmp_path / f"open{n}", line(file=file))
        with pytest.raises(InputError) as refused:
            examples_of(folder, tmp_path / "cache", 1, trusted=given([], [tmp_path / "here"]))
        assert refused.value.code == "W547"


def test_a_changed_kernel_does_not_mix_with_lines_that_are_there(tmp_path):
    folder = dataset(tmp_path / "open", line())
    named = ("examples/polybench/gemm.py", "gemm", "mini", "i16")
    with pytest.raises(InputError) as refused:
        Dataset(folder).keep_programs({named: GEMM.program})
    assert refused.value.code == "W525"


@pytest.mark.parametrize(
    "text", ["x\n", "[]\n", '{"file": 3}\n', "[" * 100_000 + "\n", '{"program": {}}\n']
)
def test_programs_that_are_none_are_refused(tmp_path, text):
    folder = dataset(tmp_path / "open", line())
    (folder / "programs.jsonl").write_text(text)
    with pytest.raises(InputError) as refused:
        examples_of(folder, tmp_path / "cache", 1)
    assert refused.value.code == "W546"
    assert f"{folder}/programs.jsonl:1" in refused.value.message


@pytest.mark.parametrize(
    ("wrong", "code", "message"),
    [
        ({"lut": "many"}, "W511", "lut is 'many', which is no figure of a design"),
        ({"lut": "-235"}, "W511", "lut is '-235', which is no figure of a design"),
        ({"lut": "inf"}, "W511", "lut is 'inf', which is no figure of a design"),
        ({"cycles": "nan"}, "W511", "cycles is 'nan', which is no figure of a design"),
        ({"fmax_mhz": "-3"}, "W511", "fmax_mhz is '-3', which is no figure of a design"),
        ({"fmax_mhz": "0.0"}, "W511", "fmax_mhz is 0, which is no figure of a design"),
        ({"cycles": "0"}, "W511", "cycles is 0, which is no figure of a design"),
        ({"clock_ns": "abc"}, "W511", "clock_ns is 'abc', which is no figure of a design"),
        ({"schedule": '{"steps": []}'}, "W511", "has schema_version None, not 1"),
        ({"schedule": "x"}, "W510", "is not JSON"),
    ],
)
def test_a_line_that_is_none_is_refused(tmp_path, wrong, code, message):
    folder = dataset(tmp_path / "open", line(), line(**wrong))
    with pytest.raises(InputError) as refused:
        examples_of(folder, tmp_path / "cache", 1)
    assert refused.value.code == code
    assert refused.value.message.startswith(f"{folder}/designs.csv:3")
    assert message in refused.value.message


def test_a_schedule_that_does_not_fit_names_its_line(tmp_path):
    steps = Schedule((Pipeline("nosuch"),)).to_json()
    with pytest.raises(InputError) as refused:
        examples_of(dataset(tmp_path / "open", line(schedule=steps)), tmp_path / "c", 1)
    assert refused.value.code == "W201"
    assert "the design 0123456789abcdef of gemm: " in refused.value.message


def exported(folder: Path, *reports: str) -> None:
    """A project as the tool leaves it, with somebody else's reports in it."""
    export(compile_design(GEMM.program, Schedule()), folder, device("xcu280"), 3.33)
    places = {"csynth.xml": "syn/report", "export_impl.xml": "impl/report/verilog"}
    for name in reports:
        place = folder / "hls" / "solution1" / places[name]
        place.mkdir(parents=True)
        (place / name).write_text((REPORTS / name).read_text().replace("toy", "gemm"))


def test_projects_with_reports_become_examples(tmp_path):
    exported(tmp_path / "a" / "synthesised", "csynth.xml")
    exported(tmp_path / "a" / "routed", "csynth.xml", "export_impl.xml")
    exported(tmp_path / "a" / "not_run")
    told = []
    routed, synthesised = examples_of(
        tmp_path / "a", trusted=Trusted({"gemm": GEMM}), remark=told.append
    )
    assert told == [
        f"{tmp_path}/a: 1 of 3 projects are left out: no report of synthesis",
        f"{tmp_path}/a/routed and 1 more: the size is not in weft.json, so it is taken to be the "
        "kernel's own",
    ]
    assert (routed.name, synthesised.name) == ("routed", "synthesised")
    assert synthesised.target == "vitis-2023.2-u280-3.33ns"
    assert routed.target == "vitis-2023.2-u280-3.33ns+route"
    assert routed.label["latency"] == synthesised.label["latency"]
    assert routed.label["lut"] != synthesised.label["lut"]
    assert routed.label.keys() <= {*METRICS, "uram"}
    assert routed.base == synthesised.base


def test_a_project_of_a_kernel_that_is_not_given_is_refused(tmp_path):
    exported(tmp_path / "a", "csynth.xml")
    (tmp_path / "a" / "program.json").unlink()
    with pytest.raises(InputError) as refused:
        examples_of(tmp_path, trusted=Trusted({"gemv": GEMM}))
    assert refused.value.code == "W503"
    assert refused.value.help == "did you mean 'gemv'?"


KERNEL = """
import weft
from weft import f32

N = {n}

@weft.kernel(sizes={{"mini": {{"N": 4}}}})
def gemm(a: f32[N], b: f32[N]):
    for i in range(N):
        b[i] = a[i] {op} 2.0
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The working folder, with a kernel, its project at a size, and a report in that."""
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src/k.py").write_text(KERNEL.format(n=64, op="*"))
    done = weft("export", "src/k.py:gemm", "--size", "mini", "--out", "my/p", "--device", "xcu280",
                "--clock", "3.33")  # fmt: skip
    assert done.exception is None, done.output
    place = tmp_path / "my/p/hls/solution1/syn/report"
    place.mkdir(parents=True)
    (place / "csynth.xml").write_text((REPORTS / "csynth.xml").read_text().replace("toy", "gemm"))
    return tmp_path


def weft(*words):
    return CliRunner().invoke(cli, [str(w) for w in words], standalone_mode=False)


def test_a_project_with_a_report_is_read_by_a_command(project):
    (one,) = examples_of(Path("my"))
    found = weft("estimate", "src/k.py:gemm", "--size", "mini", "--device", "xcu280",
                 "--clock", "3.33", "--format", "json")  # fmt: skip
    assert one.base["latency"] == json.loads(found.stdout)["latency"]["maximum"]
    save_weights(project / "w.safetensors", untrained())
    done = weft("evaluate", "--data", "my", "--weights", "w.safetensors", "--format", "json")
    assert done.exception is None, done.output
    assert "gemm" in {r["split"] for r in json.loads(done.stdout)["rows"]}


def test_a_project_is_read_without_its_kernel(project, tmp_path_factory, monkeypatch):
    Path("src/k.py").unlink()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    save_weights(Path("w.safetensors"), untrained())
    words = ["evaluate", "--data", project / "my", "--weights", "w.safetensors"]
    assert weft(*words).exception is None


def test_a_kernel_of_an_older_project_has_to_be_given(project, monkeypatch):
    (project / "my/p/program.json").unlink()
    save_weights(Path("w.safetensors"), untrained())
    words = ["evaluate", "--data", project / "my", "--weights", "w.safetensors"]
    refused = weft(*words).exception
    assert refused.code == "W547"
    assert refused.message == (
        f"{project}/my/p is of 'gemm' in src/k.py: that is Python, which is not run unasked"
    )
    assert "--kernel FILE.py:NAME; or --trust DIR" in refused.help
    assert weft(*words, "--kernel", f"{project}/src/k.py:gemm").exception is None
    assert weft(*words, "--trust", "src").exception is None
    wrong = weft(*words, "--kernel", f"{project}/src/k.py:gem").exception
    assert (wrong.code, wrong.help) == ("W503", "did you mean 'gemm'?")


def test_a_kernel_that_has_changed_is_refused(project):
    Path("src/k.py").write_text(KERNEL.format(n=64, op="+"))
    assert len(examples_of(Path("my"))) == 1  # what was exported has not changed
    with pytest.raises(InputError) as refused:
        examples_of(Path("my"), trusted=given(["src/k.py"]))
    assert refused.value.code == "W536"
    assert "my/p is a design of 'gemm', which has changed since" in refused.value.message


def test_a_schedule_that_does_not_fit_names_its_project(project):
    (project / "my/p/schedule.json").write_text(Schedule((Pipeline("nosuch"),)).to_json())
    with pytest.raises(InputError) as refused:
        examples_of(Path("my"))
    assert refused.value.code == "W201"
    assert refused.value.message.startswith("my/p: ")


def test_a_project_runs_no_file_outside_of_what_is_trusted(project):
    Path("my/p/program.json").unlink()
    path = project / "my/p/weft.json"
    source = {"source": "../k.py:gemm"}
    path.write_text(json.dumps(json.loads(path.read_text()) | source))
    with pytest.raises(InputError) as refused:
        examples_of(Path("my"), trusted=given([], [Path("src")]))
    assert refused.value.code == "W547"
    assert "is of 'gemm' in ../k.py: that is Python" in refused.value.message


@pytest.mark.parametrize("name", ["schedule.json", "program.json", "weft.json"])
def test_no_file_of_a_project_leads_out_of_it(project, name):
    there = Path("my/p", name)
    there.rename("elsewhere.json")
    there.symlink_to(Path("elsewhere.json").resolve())
    with pytest.raises(InputError) as refused:
        examples_of(Path("my"))
    assert refused.value.code == "W548"


def test_a_report_of_another_design_is_refused(tmp_path):
    exported(tmp_path / "a", "csynth.xml")
    (report,) = tmp_path.rglob("csynth.xml")
    report.write_text(report.read_text().replace("gemm", "other"))
    with pytest.raises(ToolError) as refused:
        examples_of(tmp_path, trusted=Trusted({"gemm": GEMM}))
    assert f"error[W423]: {report} is a report of 'other', not of 'gemm'" in str(refused.value)


@pytest.mark.parametrize("wrong", [{"kernel": "../x"}, {"clock_ns": None}, {"device": 3}])
def test_a_manifest_that_is_none_is_refused(tmp_path, wrong):
    exported(tmp_path / "a", "csynth.xml")
    path = tmp_path / "a" / "weft.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong))
    with pytest.raises(InputError) as refused:
        examples_of(tmp_path, trusted=Trusted({"gemm": GEMM}))
    assert refused.value.code == "W511"


def test_a_file_of_examples_is_read(tmp_path):
    save(tmp_path / "some.npz", [])
    assert examples_of(tmp_path / "some.npz") == []


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(InputError) as refused:
        examples_of(tmp_path)
    assert f"error[W532]: {tmp_path} does not hold labelled designs" in refused.value.render()
