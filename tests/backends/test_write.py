"""Projects on disk: all or nothing, and nobody's files are lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backends.vitis import write
from backends.vitis.manifest import NAME, existing, manifest
from backends.vitis.write import write_project
from dsl.errors.errors import ToolError


def files(**contents: str) -> dict[str, bytes]:
    data = {name.replace("__", "/").replace("_", "."): text.encode()
            for name, text in contents.items()}  # fmt: skip
    return {**data, NAME: manifest({"kernel": "k"}, data)}


FIRST = files(k_cpp="one", data__a_bin="x")
SECOND = files(k_cpp="two")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def nothing_beside(folder: Path) -> bool:
    return list(folder.parent.iterdir()) == [folder]


def test_a_new_project(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    write_project(folder, FIRST)
    assert contents(folder) == FIRST
    assert nothing_beside(folder)
    assert (folder.stat().st_mode & 0o700) == 0o700


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    write_project(folder, FIRST)
    assert contents(folder) == FIRST


def test_an_untouched_export_is_replaced_as_a_whole(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    write_project(folder, FIRST)
    (folder / "hls" / "solution1").mkdir(parents=True)  # what a tool left of the former design
    (folder / "vitis_hls.log").write_text("log")
    write_project(folder, SECOND)
    assert contents(folder) == SECOND
    assert nothing_beside(folder)


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_of_something_else(tmp_path: Path, force: bool) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    if not force:
        with pytest.raises(ToolError) as caught:
            write_project(folder, FIRST)
        assert caught.value.render() == (
            f"error[W430]: {folder} has other contents, and exporting would mix with them\n"
            "  it has no weft.json, so it is not an export of Weft\n"
            "help: choose another folder, or add --force: it overwrites only files that an "
            "export writes"
        )
        assert contents(folder) == {"thesis.tex": b"years of work"}
        return
    write_project(folder, FIRST, force=True)
    assert contents(folder) == {**FIRST, "thesis.tex": b"years of work"}


def test_an_export_that_was_worked_on(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    write_project(folder, FIRST)
    (folder / "k.cpp").write_text("mine")
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ToolError) as caught:
        write_project(folder, SECOND)
    assert caught.value.notes == (
        "edited since the export: k.cpp", "not of the export: notes.txt",
    )  # fmt: skip
    assert (folder / "k.cpp").read_text() == "mine"
    write_project(folder, SECOND, force=True)
    assert (folder / "k.cpp").read_text() == "two"
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"made_by": "weft"}', '{"files": 3}', "\0"])
def test_a_false_manifest_makes_no_export(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    state = existing(tmp_path)
    assert (state.empty, state.export) == (False, False)


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("x")
    with pytest.raises(ToolError) as caught:
        write_project(tmp_path / "p", FIRST, force=True)
    assert caught.value.render().startswith(
        f"error[W430]: {tmp_path}/p is a file, not a folder\nhelp: "
    )


def test_a_place_that_cannot_be_written() -> None:
    with pytest.raises(ToolError) as caught:
        write_project(Path("/proc/none/p"), FIRST)
    assert caught.value.code == "W431"
    assert caught.value.render().startswith("error[W431]: cannot write the project /proc/none/p: ")


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "a/../../x", ""])
def test_a_path_that_escapes_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="leaves the project"):
        write_project(tmp_path / "p", {path: b"x"})
    assert not list(tmp_path.iterdir())


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "p"
    outside.mkdir()
    folder.mkdir()
    (folder / "data").symlink_to(outside)
    with pytest.raises(ToolError, match="leads out of"):
        write_project(folder, FIRST, force=True)
    assert not list(outside.iterdir())


def test_a_failure_half_way_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "p"
    write_project(folder, FIRST)
    real = Path.write_bytes

    def failing(self: Path, data: bytes) -> int:
        if self.name == NAME:
            raise KeyboardInterrupt
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", failing)
    with pytest.raises(KeyboardInterrupt):
        write_project(folder, SECOND)
    monkeypatch.undo()
    assert contents(folder) == FIRST
    assert nothing_beside(folder)


def test_a_failing_rename_brings_the_old_project_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "p"
    write_project(folder, FIRST)
    real = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name.startswith(".p.new-"):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(ToolError, match="No space left"):
        write_project(folder, SECOND)
    assert contents(folder) == FIRST
    assert nothing_beside(folder)


def test_a_merge_writes_the_manifest_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    real = Path.replace
    monkeypatch.setattr(
        write.Path, "replace", lambda self, to: (order.append(Path(to).name), real(self, to))[1]
    )
    (tmp_path / "x").write_text("x")
    write_project(tmp_path, FIRST, force=True)
    assert order[-1] == NAME
    assert sorted(order) == sorted(Path(p).name for p in FIRST)


def test_the_manifest_lists_every_file() -> None:
    data = json.loads(FIRST[NAME])
    assert data["schema_version"] == 1
    assert data["kernel"] == "k"
    assert sorted(data["files"]) == ["data/a.bin", "k.cpp"]
