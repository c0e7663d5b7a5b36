"""Cut the excerpt of hlsfactory-u200: ``python -m tests.data.excerpt FOLDER``.

FOLDER has the whole data set. What is kept is fixed: `WHOLE` kernels with all their designs, of the
others the design without directives and every tenth row of the file; every so many of the other
files' rows. ``nests.json``, the description of the kernels, is kept whole.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent / "hlsfactory-u200"
WHOLE = ("2mm", "adi", "correlation", "gemm-ncubed", "gemm-p")
EVERY = {"kernels.csv": 10, "overcap.csv": 10, "extra.csv": 5, "noresult.csv": 100}


def kept(name: str, place: int, row: str) -> bool:
    """Whether a row stays, by its file, its place in it, and what it is of."""
    kernel, directives, third, *_ = row.split(",")
    return (
        place % EVERY[name] == 0
        or (name == "kernels.csv" and (kernel in WHOLE or directives == "none"))
        or (name == "noresult.csv" and third == "undef_latency")
    )


def cut(folder: Path) -> None:
    """Write the excerpt next to this file."""
    shutil.copyfile(folder / "nests.json", HERE / "nests.json")
    for name in EVERY:
        head, *rows = (folder / name).read_text(encoding="utf-8").splitlines()
        found = [row for n, row in enumerate(rows) if kept(name, n, row)]
        (HERE / name).write_text("\n".join([head, *found]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    cut(Path(sys.argv[1]))
