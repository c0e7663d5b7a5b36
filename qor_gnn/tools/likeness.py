"""Tables of a tool version that is like another one: what its own files say stands over the other's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from backends.tables import fault, table

LIKE = "like"
"""The key of ``tool.json`` that names the folder of the other version."""


def file_of(folder: Path, name: str) -> Path:
    """A file of a version: its own, or where it has none that of the version that it is like."""
    own, other = folder / name, _other(folder)
    return own if own.is_file() or other is None else other / name


def borrows(folder: Path) -> bool:
    """The version has the tables of another one, which was measured where they say."""
    return _other(folder) is not None


def grouped(folder: Path, name: str) -> tuple[dict[str, Any], str]:
    """The lists of groups of values in a file of a version, and what an error calls that.

    Of a version that is like another one a group's values stand in the place of the other's; all else is the other's.

    Raises:
        ToolError: W453, it cannot be read, or a list is none.
    """
    other = _other(folder)
    if other is None:
        return table(folder / name, None)
    found, _ = table(other / name, None)
    if not (folder / name).is_file():
        return found, f"{folder.name}/{name}"
    own, where = table(folder / name, None)
    for key, groups in own.items():
        if not isinstance(groups, list) or not all(isinstance(g, dict) for g in groups):
            raise fault(where, f"{key} is no list of groups of values")
        found[key] = [*groups, *_without(found.get(key, []), groups)]
    return found, where


def _without(groups: Sequence[Any], said: Sequence[Any]) -> list[Any]:
    """Groups without the values that others say."""
    taken = {key for group in said for key in group.get("values", {})}
    left = [
        {**g, "values": {k: v for k, v in g["values"].items() if k not in taken}} for g in groups
    ]
    return [g for g in left if g["values"]]


@cache
def _other(folder: Path) -> Path | None:
    """The folder of the version that one is like."""
    named, where = table(folder / "tool.json", None)
    name = named.get(LIKE)
    if name is None:
        return None
    names = sorted(p.parent.name for p in folder.parent.glob("*/tool.json"))
    if name not in names or name == folder.name:
        raise fault(where, f"is like {json.dumps(name)}, which is no other version")
    return folder.parent / str(name)
