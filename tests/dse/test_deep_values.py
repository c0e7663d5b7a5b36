"""Spaces and bounds of values that are nested deeply, and whose parts are used several times."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dse import cli


@pytest.mark.parametrize(
    "value",
    [
        "min(" * 90 + "A[i]" + ", 3.0)" * 90,
        "A[i] if A[i] > 0.0 else " * 90 + "A[0]",
        "(A[i] ** 8) ** 8",
        "1.5 + A[i] * (" * 60 + "A[0]" + ")" * 60,
    ],
    ids=["minima", "choices", "powers", "polynomial"],
)
def test_a_space_takes_seconds(tmp_path: Path, value: str) -> None:
    file = tmp_path / "k.py"
    text = f"import weft\n\n\n@weft.kernel\ndef k(A: weft.f32[64]):\n    for i in range(64):\n        A[i] = {value}\n"
    file.write_text(text, encoding="utf-8")
    start = time.process_time()
    assert cli.run(["space", f"{file}:k"]) == 0
    assert time.process_time() - start < 20
