"""``python -m weft`` is the command line as well."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def as_module(*words):
    return subprocess.run(
        [sys.executable, "-m", "weft", *words], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def test_it_answers():
    found = as_module("--version")
    assert found.returncode == 0
    assert found.stdout.startswith("weft ")


def test_it_has_the_exit_codes():
    found = as_module("explode")
    assert found.returncode == 2
    assert "no command is called 'explode'" in found.stderr
