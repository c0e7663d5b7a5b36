"""The designs of ``hlsfactory-u200`` that a model can be held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from qor_gnn.fit.labelled.u200 import Facts, Row, designs, kernels
from qor_gnn.fit.labelled.u200_design import directives_of
from qor_gnn.fit.labelled.u200_faulty import faulty, trips_of
from qor_gnn.fit.labelled.u200_program import Converted, convert


def usable(
    folder: Path, remark: Callable[[str], None]
) -> Iterator[tuple[Facts, Converted, list[Row]]]:
    """Each kernel that is a program, with its rows of ``kernels.csv`` whose latency is not faulty.

    Args:
        folder: of the data set.
        remark: is told what is left out, and why.

    Raises:
        InputError: W511, W512: the files are not what they should be, or not there.
    """
    rows = designs(folder)
    for name, facts in kernels(folder).items():
        kernel = convert(facts)
        if not isinstance(kernel, Converted):
            remark(f"u200/{name} is left out: {kernel.reason}")
            continue
        mine = [row for row in rows if row.kernel == name]
        for row in mine:
            directives_of(row, kernel)  # what is wrong is refused here, where its line is known
        lost = faulty(mine, trips_of(kernel))
        for row in lost:
            cycles = row.labels.latency
            remark(f"u200/{name} {row.directives} is left out: {cycles} cycles is faulty")
        yield facts, kernel, [row for row in mine if row not in lost]
