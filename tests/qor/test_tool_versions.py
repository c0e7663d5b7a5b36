"""Tool versions are folders of data: what is in them is read strictly, and adding one is adding a folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsl.errors.errors import ToolError
from qor_gnn.tools.personality import available, folder_of, personality, read

PLAIN = "vitis-2022.1-zu9eg-10ns"


def changed(tmp_path: Path, file: str, change: Callable[[Any], None]) -> Path:
    """A tool version with another table."""
    folder = tmp_path / "another"
    shutil.copytree(folder_of(PLAIN), folder)
    data = json.loads((folder / file).read_text("utf-8"))
    change(data)
    (folder / file).write_text(json.dumps(data), "utf-8")
    return folder


def storage(data: Any) -> Any:
    return data["storage"][0]["values"]


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("tool.json", lambda d: d.pop("family"), "error[W453]: another/tool.json lacks 'family'"),
        ("tool.json", lambda d: d.update(clock="4"), "error[W453]: another/tool.json has 'clock'"),
        (
            "tool.json",
            lambda d: d.update(clock_ns="4"),
            'error[W453]: another/tool.json.clock_ns is "4"\nhelp: it is of type float',
        ),
        (
            "tool.json",
            lambda d: d.update(evidence=" "),
            "error[W453]: another/tool.json does not say where its figures come from\n"
            'help: add "evidence"',
        ),
        (
            "memories.json",
            lambda d: d["storage"][0].pop("evidence"),
            "error[W453]: another/memories.json: storage[0] does not say where its figures come from\n"
            'help: add "evidence"',
        ),
        (
            "memories.json",
            lambda d: storage(d).update(lutram_bit=4),
            "error[W453]: another/memories.json: storage has no 'lutram_bit'\n"
            "help: did you mean 'lutram_bits'?",
        ),
        (
            "memories.json",
            lambda d: storage(d).update(lutram_bits=-4),
            "error[W453]: another/memories.json: storage.lutram_bits is -4\nhelp: it is 0 or more",
        ),
        (
            "memories.json",
            lambda d: storage(d).update(lutram_bits=True),
            "error[W453]: another/memories.json: storage.lutram_bits is true\nhelp: it is of type int",
        ),
        (
            "memories.json",
            lambda d: d["types"].append(d["types"][0]),
            "error[W453]: another/memories.json: types[2] gives 'argument' again",
        ),
        (
            "memories.json",
            lambda d: d.update(types={}),
            "error[W453]: another/memories.json: types is {}\nhelp: it is a JSON list",
        ),
        (
            "operators.json",
            lambda d: d["integers"]["add"].update(delay=[1]),
            "error[W453]: another/operators.json.integers.add.delay has 1 values\nhelp: it has 2",
        ),
        (
            "operators.json",
            lambda d: d["operators"].update(f32=[]),
            "error[W453]: another/operators.json.operators.f32 is []\nhelp: it is a JSON object",
        ),
    ],
)
def test_what_is_wrong_in_a_table_is_said(
    tmp_path: Path, file: str, change: Callable[[Any], None], said: str
) -> None:
    with pytest.raises(ToolError) as e:
        read(changed(tmp_path, file, change))
    assert e.value.render().startswith(said)


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    folder = changed(tmp_path, "tool.json", lambda _: None)
    (folder / "policies.json").write_text("{", "utf-8")
    with pytest.raises(ToolError, match="W453"):
        read(folder)


@pytest.mark.parametrize("name", available())
def test_a_tool_version_is_its_folder(name: str) -> None:
    assert read(folder_of(name)) == personality(name)
