"""A run whose manifest somebody edited is refused with what is wrong, not with a traceback."""

import json

import pytest

from dse.cli import run as weft
from dse.run.directory import open_run
from dsl.errors import InputError
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
