"""From a program to its text in the language and back."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dsl.kernels.loader import load_kernels
from dsl.programs.pretty import pretty
from dsl.programs.program import Program


def reloaded(program: Program) -> Program:
    """The program that its own text gives, through a file, as a user's kernel is loaded."""
    with tempfile.TemporaryDirectory(prefix="weft-text-") as folder:
        file = Path(folder) / "kernel.py"
        file.write_text(pretty(program), encoding="utf-8")
        (kernel,) = load_kernels(file).values()
        return kernel.program
