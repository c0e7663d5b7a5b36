"""A run whose manifest somebody edited is refused with what is wrong, not with a traceback."""

import json
import shutil

import pytest

from dse.cli import run as weft
from dse.run.folder.directory import open_run
from dsl.errors.errors import InputError
from tests.dse.commands import GEMM
from tests.dse.manifest import WHOLE


def written(folder, manifest):
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def test_a_whole_manifest_is_accepted(tmp_path):
    assert open_run(written(tmp_path, WHOLE), write=False).manifest["kernel"] == "gemm"


@pytest.mark.parametrize("key", [k for k in WHOLE if k != "schema_version"])
@pytest.mark.parametrize("value", [None, [[]]], ids=["missing", "another kind"])
def test_what_it_does_not_say(tmp_path, key, value):
    changed = (
        {k: v for k, v in WHOLE.items() if k != key} if value is None else WHOLE | {key: {1: 1}}
    )
    if value is not None and key == "limits":
        changed = WHOLE | {key: []}
    with pytest.raises(InputError, match=f"does not say the run's {key}") as caught:
        open_run(written(tmp_path, changed), write=False)
    assert caught.value.code == "W521"


@pytest.mark.parametrize("command", ["report", "export"])
def test_commands_on_it_end_with_an_error(tmp_path, capfd, command):
    written(tmp_path, {"schema_version": 1})
    options = ["--best", "--out", str(tmp_path / "x")] if command == "export" else []
    assert weft([command, str(tmp_path), *options]) == 1
    said = capfd.readouterr().err
    assert "error[W521]" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("limits", {"dsp": "abc"}),
        ("limits", {"dsp": None}),
        ("objectives", []),
        ("objectives", [1]),
        ("versions", 5),
    ],
)
def test_values_that_are_none(tmp_path, key, value):
    with pytest.raises(InputError, match=f"does not say the run's {key}\n") as caught:
        open_run(written(tmp_path, WHOLE | {key: value}), write=False)
    assert caught.value.code == "W521"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    pytest.importorskip("optuna")
    folder = tmp_path_factory.mktemp("whole") / "run"
    command = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "mini",
        "--strategy",
        "random",
        "--trials",
        "6",
    ]
    assert weft([*command, "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("loops", [5]),
        ("loops", None),
        ("loops", [{"loops": [], "kind": 1}]),
        ("checks", [5]),
        ("resources", None),
        ("resources", {"dsp": "x"}),
        ("resources", [1]),
        ("spread", {"lut": "x"}),
        ("latency", "abc"),
        ("period", []),
        ("detail", 5),
        ("other", 1),
    ],
)
def test_a_result_that_is_none_is_passed_over(finished, tmp_path, capfd, key, value):
    folder = shutil.copytree(finished, tmp_path / "run")
    path = min(folder.glob("points/*/result.json"))
    damaged = json.loads(path.read_text()) | {key: value}
    path.write_text(json.dumps(damaged), encoding="utf-8")
    assert open_run(folder, write=False).result(path.parent.name) is None
    assert weft(["report", str(folder)]) == 0
    assert weft(["compare", str(folder), str(finished)]) == 0
    (path.parent / "csim.json").write_text(json.dumps(damaged), encoding="utf-8")
    assert weft(["report", str(folder)]) == 0


@pytest.mark.parametrize("text", [None, "", "{", '{"steps": []}'])
def test_a_point_without_a_schedule_that_can_be_read_does_not_count(finished, tmp_path, text):
    folder = shutil.copytree(finished, tmp_path / "run")
    path = min(folder.glob("points/*/schedule.json"))
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert open_run(folder, write=False).result(path.parent.name) is None
    assert weft(["report", str(folder)]) == 0
