"""Tool versions are folders of data: what is in them is read strictly, and adding one is adding a folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dsl.errors.errors import ToolError
from qor_gnn.tools.personality import available, folder_of, personality, read

PLAIN = "vitis-2022.1-zu9eg-10ns"
ROOT = Path(__file__).resolve().parents[2]


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


def policy(data: Any, name: str) -> Any:
    return data[name][0]["values"]


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (
            "policies.json",
            lambda d: d.update(sum=d.pop("sums")),
            "error[W453]: another/policies.json has 'sum'\nhelp: did you mean 'sums'?",
        ),
        (
            "policies.json",
            lambda d: policy(d, "sums").update(order="tree"),
            'error[W453]: another/policies.json: sums.order is "tree"\n'
            "help: it is one of 'chain', 'root', 'leaf'",
        ),
        (
            "policies.json",
            lambda d: d.pop("accesses"),
            "error[W453]: another/policies.json: accesses lacks 'load'",
        ),
        (
            "policies.json",
            lambda d: d["sums"][0].update(source="reports"),
            "error[W453]: another/policies.json: sums[0] has 'source'\n"
            "help: a group has evidence and values",
        ),
        (
            "tool.json",
            lambda d: d.update(like="vitis_9999_1"),
            'error[W453]: another/tool.json is like "vitis_9999_1", which is no other version',
        ),
        (
            "tool.json",
            lambda d: d.update(like="another"),
            'error[W453]: another/tool.json is like "another", which is no other version',
        ),
        ("tool.json", lambda d: d.pop("family"), "error[W453]: another/tool.json lacks 'family'"),
        (
            "tool.json",
            lambda d: d.update(clock="4"),
            "error[W453]: another/tool.json has no 'clock'",
        ),
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
            lambda d: storage(d).update(counted_too=4),
            "error[W453]: another/memories.json: storage has no 'counted_too'\n"
            "help: did you mean 'counted_to'?",
        ),
        (
            "memories.json",
            lambda d: storage(d).update(counted_to=-4),
            "error[W453]: another/memories.json: storage.counted_to is -4\nhelp: it is 0 or more",
        ),
        (
            "memories.json",
            lambda d: storage(d).update(counted_to=True),
            "error[W453]: another/memories.json: storage.counted_to is true\nhelp: it is of type int",
        ),
        (
            "memories.json",
            lambda d: storage(d).update(law="virtexplus"),
            "error[W453]: another/memories.json: storage has no law 'virtexplus'\n"
            "help: did you mean 'virtexuplus'?",
        ),
        (
            "memories.json",
            lambda d: d["types"].append(d["types"][0]),
            "error[W453]: another/memories.json: types[3] gives 'argument' again",
        ),
        (
            "memories.json",
            lambda d: d.update(types={}),
            "error[W453]: another/memories.json: types is {}\nhelp: it is a JSON list",
        ),
        (
            "operators.json",
            lambda d: d["integers"].update(add={"delay": [1]}),
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


ESTIMATE = """
import sys
from dse.estimates.estimation import estimated, setting
from dsl.kernels.loader import load

kernel = load(sys.argv[1]).at("mini")
for tool in sys.argv[2:]:
    answer = estimated(kernel.program, kernel.schedules["pipelined"], setting(tool=tool)).answer
    print(answer.tool, answer.clock_ns, answer.latency.average, answer.lut is not None)
"""


def test_adding_a_tool_version_is_adding_a_folder(tmp_path: Path) -> None:
    """As docs/architecture.md says: nothing else is touched, and the new version answers."""
    shutil.copytree(ROOT / "qor_gnn", tmp_path / "qor_gnn")
    folder = tmp_path / "qor_gnn" / "tools" / "vitis_2030_1"
    shutil.copytree(folder_of(PLAIN), folder)
    for file, change in (
        ("tool.json", lambda d: d.update(name="vitis-2030.1-zu9eg-8ns", clock_ns=8.0)),
        ("policies.json", lambda d: policy(d, "composition").update(call=9)),
        ("area.json", lambda d: d.update(tool="vitis-2030.1-zu9eg-8ns")),
    ):
        data = json.loads((folder / file).read_text("utf-8"))
        change(data)
        (folder / file).write_text(json.dumps(data), "utf-8")
    kernel = f"{ROOT}/examples/polybench/gemm.py:gemm"
    done = subprocess.run(
        [sys.executable, "-c", ESTIMATE, kernel, PLAIN, "vitis-2030.1-zu9eg-8ns"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    plain, new = (line.split() for line in done.stdout.splitlines())
    assert plain[:2] == [PLAIN, "10.0"]
    assert new[:2] == ["vitis-2030.1-zu9eg-8ns", "8.0"]
    assert float(new[2]) > float(plain[2])
    assert plain[3] == new[3] == "True"


def test_a_version_that_is_like_another_says_only_what_differs(tmp_path: Path) -> None:
    shutil.copytree(folder_of(PLAIN), tmp_path / "plain")
    folder = tmp_path / "another"
    folder.mkdir()
    what = json.loads((tmp_path / "plain" / "tool.json").read_text("utf-8"))
    (folder / "tool.json").write_text(json.dumps({**what, "like": "plain"}), "utf-8")
    base = read(tmp_path / "plain")
    assert replace(read(folder), folder=base.folder) == base
    own = {"sums": [{"evidence": "none", "values": {"order": "leaf"}}]}
    (folder / "policies.json").write_text(json.dumps(own), "utf-8")
    found = read(folder)
    assert found.sums == replace(base.sums, order="leaf")
    assert replace(found, folder=base.folder, sums=base.sums) == base
