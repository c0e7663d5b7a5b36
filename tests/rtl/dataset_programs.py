"""Writes the programs of the dataset in the repository again: ``python -m tests.rtl.dataset_programs``.

They are those of the kernels of `examples/` as they are now. Where these have changed, the lines of the
dataset have to be made again too.
"""

from __future__ import annotations

from pathlib import Path

from dse.labels.dataset import Dataset, Named
from dse.labels.variants import Subject
from dsl.program import Program

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "qor_gnn/datasets/open-ecp5"


def programs() -> dict[Named, Program]:
    """The programs of all lines."""
    found: dict[Named, Program] = {}
    for row in Dataset(FOLDER).rows():
        named = (row["file"], row["kernel"], row["size"], row["dtype"])
        if named not in found:
            subject = Subject(str(ROOT / named[0]), *named[1:])
            found[named] = subject.load().program
    return found


if __name__ == "__main__":
    (FOLDER / "programs.jsonl").unlink(missing_ok=True)
    Dataset(FOLDER).keep_programs(programs())
