"""Labels: what is sampled, and a dataset that survives whatever ends its making."""

import pytest
from click.testing import CliRunner

from dse.cli import weft as cli
from dse.labels.dataset import COLUMNS, Dataset
from dse.labels.run import Plan, tasks
from dse.labels.variants import Subject, dtype_named, subjects
from dsl.errors.errors import InputError
from dsl.expressions.types import FixedType, IntType
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline
from mlir_passes.pipeline import compile_design

GEMM = "examples/polybench/gemm.py"


def test_kernels_over_f32_take_other_types():
    found = list(subjects([GEMM], ["mini", "no such size"], ["f32", "i16", "fixed[16,8]"]))
    assert [s.name for s in found] == ["gemm", "gemm_i16", "gemm_fixed[16,8]"]
    types = [s.load().program.array("A").dtype for s in found]
    assert types[1:] == [IntType(16), FixedType(16, 8)]


def test_kernels_of_other_types_stay_as_they_are():
    (fir,) = subjects(["examples/fixed_point/fir.py"], ["mini"], ["f32", "i16"])
    assert fir == Subject("examples/fixed_point/fir.py", "fir", "mini")


def test_a_folder_is_all_files_in_it():
    found = list(subjects(["examples/polybench", "examples/tutorial/axpy.py"], ["mini"], ["f32"]))
    assert Subject(GEMM, "gemm", "mini") in found
    assert {s.file for s in found} > {"examples/polybench/atax.py", GEMM}


@pytest.mark.parametrize("text", ["i0", "i9999", "x", "fixed[8]", "f64", "__import__('os')"])
def test_names_of_types_are_only_read(text):
    with pytest.raises(InputError, match="is no element type"):
        dtype_named(text)


def test_samples_are_legal_different_and_repeatable():
    from backends.rtl.synth import SynthOptions

    found = list(subjects([GEMM], ["mini"], ["i16", "f32"]))
    first = list(tasks(found, Plan(8, 8, 2, seed=1), SynthOptions()))
    again = list(tasks(found, Plan(8, 8, 2, seed=1), SynthOptions()))
    other = list(tasks(found, Plan(8, 8, 2, seed=2), SynthOptions()))
    assert first == again
    assert {t.id for t in first} != {t.id for t in other}
    assert len({t.id for t in first}) == len(first) == 16
    assert [t.subject.dtype for t in first[:4]] == ["i16", "", "i16", ""]
    assert sum(t.options.simulation for t in first) == 4
    schedules = [Schedule.from_json(t.schedule) for t in first]
    assert any(isinstance(s, Pipeline) for schedule in schedules for s in schedule)
    for task, schedule in zip(first, schedules, strict=True):
        assert compile_design(task.subject.load().program, schedule).affine


def test_large_designs_are_rarer_where_that_is_asked():
    from backends.rtl.area.estimate import area
    from backends.rtl.synth import SynthOptions, rtl_of
    from backends.rtl.wrap.host import host_wrapper

    def luts(plan: Plan) -> list[float]:
        found = []
        for task in tasks(list(subjects([GEMM], ["mini"], ["i16"])), plan, SynthOptions()):
            schedule = Schedule.from_json(task.schedule)
            design = compile_design(task.subject.load().program, schedule)
            made = rtl_of(design.module, schedule, task.options)
            found.append(area(host_wrapper(made).module).lut)
        return found

    every, few = luts(Plan(16, 16, 0, seed=1)), luts(Plan(16, 16, 0, seed=1, rare_above=400))
    small = [n for n in every if n <= 400]
    assert [n for n in few if n <= 400] == small
    assert len(small) < len(few) < len(every) == 16  # rarer, not forbidden


def test_a_dataset_goes_on_after_a_torn_line(tmp_path):
    data = Dataset(tmp_path)
    assert data.open({"device": "ecp5-85k"}, "weft label a") == {}
    data.append({"id": "1", "kernel": "a", "outcome": "ok", "lut": 7})
    data.append({"id": "2", "kernel": "b", "outcome": "time-out"})
    path = tmp_path / "designs.csv"
    path.write_bytes(path.read_bytes() + b"3,examples/x.py,k")
    rows = data.open({"device": "ecp5-85k"}, "weft label b")
    assert list(rows) == ["1", "2"]
    assert rows["1"]["lut"] == "7"
    assert rows["2"]["lut"] == ""
    data.append({"id": "3", "kernel": "c"})
    assert [r["id"] for r in data.rows()] == ["1", "2", "3"]


def test_lines_of_other_tools_do_not_mix(tmp_path):
    data = Dataset(tmp_path)
    data.open({"device": "ecp5-85k", "tools": {"yosys": "0.70"}}, "weft label")
    with pytest.raises(InputError, match="says another tools") as caught:
        data.open({"device": "ecp5-85k", "tools": {"yosys": "0.71"}}, "weft label")
    assert caught.value.code == "W525"


def test_what_is_no_manifest_is_refused(tmp_path):
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="not the manifest of a dataset"):
        Dataset(tmp_path).open({}, "weft label")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--sizes", "nosuch"], "W506", f"no kernel in {GEMM} has a size 'nosuch'"),
        (["--device", "foo"], "W403", "no device is called 'foo' here"),
        (["--types", "i0"], "W506", "'i0' is no element type"),
    ],
)
def test_what_cannot_be_labelled_is_refused_before_anything_is_made(tmp_path, words, code, message):
    out = tmp_path / "labels"
    done = weft("label", GEMM, "--out", out, *words)
    assert done.exception.code == code
    assert message in done.exception.message
    assert not out.exists()


def test_a_place_that_is_no_folder_is_refused(tmp_path):
    (tmp_path / "plain").write_text("")
    with pytest.raises(InputError) as caught:
        Dataset(tmp_path / "plain" / "x").open({}, "weft label")
    assert caught.value.code == "W508"
    assert str(tmp_path / "plain" / "x") in caught.value.message


HEAD = b",".join(c.encode() for c in COLUMNS)


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"\xff\xfe\n", "W511", "designs.csv:1: the columns are not those of a dataset"),
        (b"1,2\n", "W511", "designs.csv:1: the columns are not those of a dataset"),
        (HEAD + b"\n\xff\xfe\n", "W512", "designs.csv: 'utf-8' codec can't decode"),
        (None, "W512", "designs.csv: Is a directory"),
    ],
)
def test_lines_that_are_none_are_refused(tmp_path, content, code, message):
    path = tmp_path / "designs.csv"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Dataset(tmp_path).open({}, "weft label")
    assert caught.value.code == code
    assert message in caught.value.message
    assert not (tmp_path / "manifest.json").exists()


def test_lines_without_an_id_are_not_read(tmp_path):
    (tmp_path / "designs.csv").write_text("kernel,lut\ngemm,3\n")
    with pytest.raises(InputError, match=r"designs.csv:2: no 'id'"):
        list(Dataset(tmp_path).rows())


def test_a_manifest_that_is_a_folder_is_refused(tmp_path):
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(InputError) as caught:
        Dataset(tmp_path).open({}, "weft label")
    assert caught.value.message == f"cannot read {tmp_path}/manifest.json: Is a directory"


def weft(*words):
    return CliRunner().invoke(cli, [str(w) for w in words], standalone_mode=False)
