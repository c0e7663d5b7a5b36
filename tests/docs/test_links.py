"""Links of the documentation lead somewhere, and pages that code refers to are there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.md")]
)
CODE = ("dsl", "polyhedral", "mlir_passes", "backends", "qor_gnn", "dse", "benchmarks", "tests")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
_NAMED = re.compile(r"docs/[\w./-]+\.md")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Of the headings of a page, as GitHub makes them."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M):
        kept = re.sub(r"[^\w\- ]", "", heading.lower())
        found.append(kept.strip().replace(" ", "-"))
    return frozenset(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_pages_that_files_name_are_there() -> None:
    files = [
        p for folder in CODE for p in (ROOT / folder).rglob("*") if p.suffix in (".py", ".json")
    ]
    for path in [*files, *PAGES]:
        for name in _NAMED.findall(path.read_text(encoding="utf-8")):
            assert (ROOT / name).is_file(), f"{path.relative_to(ROOT)} names {name}"
