"""The text of every error of the language: message, place, caret, help."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dsl.errors.codes import CODES as ALL_CODES

CODES = {code for code in ALL_CODES if code < "W160"}  # those of the frontend
HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FILES = sorted((HERE / "errors").glob("W*.txt"))


def cases(file: Path) -> list[tuple[str, str, str]]:
    """Name, kernel, and rendered error of every case in a file."""
    found = []
    for part in re.split(r"(?m)^=== ", file.read_text(encoding="utf-8"))[1:]:
        name, _, rest = part.partition("\n")
        text, _, expected = rest.partition("---\n")
        found.append((name, text, expected.rstrip("\n")))
    return found


ALL = [
    pytest.param(file.stem, text, expected, id=f"{file.stem} {name}")
    for file in FILES
    for name, text, expected in cases(file)
]


@pytest.mark.parametrize(("code", "text", "expected"), ALL)
def test_error(error: Callable[[str], str], code: str, text: str, expected: str) -> None:
    assert error(text) == expected
    assert f"error[{code}]: " in expected


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_cases_of_a_file_have_names_of_their_own(file: Path) -> None:
    names = [name for name, _, _ in cases(file)]
    assert len(names) == len(set(names)) > 0


def test_every_code_has_a_test_of_its_text() -> None:
    tests = (ROOT / "tests").rglob("*.*")
    texts = [p.read_text(encoding="utf-8") for p in tests if p.suffix in (".py", ".txt")]
    tested = {code for text in texts for code in re.findall(r"error\[(W1\d\d)\]", text)}
    assert tested >= CODES
