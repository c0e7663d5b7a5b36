"""``run.ipynb``: the design called from a notebook on the board."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def notebook(top: str, board: str, arguments: Sequence[str]) -> str:
    """The notebook as JSON (nbformat 4).

    Args:
        top: the kernel.
        board: it runs on.
        arguments: of the kernel, by name.
    """
    cells = [
        _text(
            f"# {top} on {board}\n\nThe bitstream is loaded, the kernel called with the data of its "
            "testbench, and what it wrote is compared with what the kernel says."
        ),
        _code(
            "from pathlib import Path\n\nimport numpy as np\n\nimport run\n\n"
            f'design = run.Design("{top}.bit")'
        ),
        _code(
            'data = Path("../data")\n'
            'inputs = {a["name"]: run.read(a["initial"], a, data) for a in run.ARGUMENTS}\n'
            "results = design(inputs)\n"
            'print(f"{design.milliseconds:.3f} ms")'
        ),
        _code(
            'for a in run.ARGUMENTS:\n    if a["final"] is not None:\n'
            '        right = run.read(a["final"], a, data)\n'
            '        print(a["name"], np.abs(results[a["name"]] - right).max())'
        ),
        _text(
            "Data of your own: NumPy arrays by the names of the arguments, "
            f"{', '.join(f'`{name}`' for name in arguments)}."
        ),
    ]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole, indent=1) + "\n"


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }
