"""Files with kernels and schedules, from the examples and the guide, for others to put wrong."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Material:
    """A file with kernels: its text, and the line ranges of its kernels' functions by name."""

    text: str
    kernels: dict[str, tuple[int, int]]
    schedules: dict[str, tuple[str, tuple[int, int]]]


@cache
def materials() -> tuple[Material, ...]:
    """The examples, and the guide's blocks that define kernels."""
    texts = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "examples").rglob("*.py"))]
    for page in sorted((ROOT / "docs" / "guide").glob("*.md")):
        texts += _pages(page.read_text(encoding="utf-8"))
    found = (material_of(text) for text in texts)
    return tuple(m for m in found if m is not None and m.kernels)


def _pages(markdown: str) -> list[str]:
    """The blocks of each file of a page, joined."""
    files: dict[str, str] = {}
    for title, block in re.findall(r'```python title="([\w.]+)"\n(.*?)```', markdown, re.DOTALL):
        files[title] = files.get(title, "") + block + "\n"
    return list(files.values())


def material_of(text: str) -> Material | None:
    """The kernels and schedules of a file; none of one that prints, whose commands would too."""
    kernels: dict[str, tuple[int, int]] = {}
    schedules: dict[str, tuple[str, tuple[int, int]]] = {}
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
            continue
        decorator = ast.unparse(node.decorator_list[0])
        lines = (node.lineno - 1, node.end_lineno or node.lineno)
        if decorator.startswith("weft.kernel"):
            kernels[node.name] = lines
        elif decorator.endswith(".schedule"):
            schedules[node.name] = (decorator.removesuffix(".schedule"), lines)
    return Material(text, kernels, schedules) if "print(" not in text else None


def with_lines(text: str, lines: tuple[int, int], new: str) -> bytes:
    """The text with other lines in the place of some."""
    parts = text.splitlines(keepends=True)
    return "".join([*parts[: lines[0]], new, *parts[lines[1] :]]).encode("utf-8", "surrogatepass")


def part_of(text: str, lines: tuple[int, int]) -> str:
    """Those lines of the text."""
    return "".join(text.splitlines(keepends=True)[slice(*lines)])
