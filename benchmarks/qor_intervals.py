"""The 90% intervals of the QoR model by structure: how many labelled figures they hold, and how wide they are.

Rows `u200/read`: designs of the kernels that widths are fitted to, each kernel left out of its own; `u200/read one width`: the
same with one width for all designs of a figure. Rows `u200/scored`: with ``--scored``, designs of the other
kernels (`qor_gnn.fit.labelled.parts`) under the widths that ship, which are to be looked at rarely. ``width``: half of an
interval, in natural logarithms.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks._row import Goal, Options, Row, main, say
from qor_gnn.fit.intervals import Scored, filled, one_width, scored, widths
from qor_gnn.fit.labels import U200_TOOL
from qor_gnn.fit.residuals import EACH, Residual, of_u200
from qor_gnn.support.error_sources import CLASSES
from qor_gnn.support.intervals import FIGURES, widths_of
from qor_gnn.tools.personality import personality

NAME = "qor_intervals"
QUICK = 6  # designs of a kernel
SOURCE = "Vitis HLS 2025.1 csynth, xcu200, 4 ns; random designs of each kernel"
GOAL = Goal(">=", 85)


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--data`` and ``--scored``."""
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), metavar="DIR",
        help="folder of the labelled designs",
    )  # fmt: skip
    parser.add_argument("--scored", action="store_true", help="the part that is scored rarely, too")


def measure(options: Options) -> Iterator[Row]:
    """All rows."""
    folder = options.extra.data / "hlsfactory-u200"
    if not folder.is_dir():
        say(f"there are no labelled designs in {folder}: all rows are left out")
        return
    each = QUICK if options.quick else EACH
    read = of_u200(folder, "read", each)
    yield from _left_out(read)
    if options.extra.scored:
        yield from _other_part(of_u200(folder, "scored", each))


def _left_out(read: Sequence[Residual]) -> Iterator[Row]:
    """Each kernel under widths that it had no part in."""
    for figure in FIGURES:
        by_class: dict[str, list[float]] = {}
        whole: dict[str, list[float]] = {}
        for kernel in sorted({one.kernel for one in read}):
            others = [one for one in read if one.kernel != kernel]
            by_class[kernel] = filled(widths(others, figure), 0.0)
            whole[kernel] = [one_width(others, figure)] * CLASSES
        yield from _rows("u200/read", figure, scored(read, figure, by_class), len(read))
        yield from _rows("u200/read one width", figure, scored(read, figure, whole), len(read))


def _other_part(found: Sequence[Residual]) -> Iterator[Row]:
    """Kernels that no width was fitted to, under those that ship."""
    ship = widths_of(personality(U200_TOOL))
    assert ship is not None, "it is no open backend"
    kernels = {one.kernel for one in found}
    for figure in FIGURES:
        half: Mapping[str, Sequence[float]] = dict.fromkeys(kernels, ship.widths[figure])
        yield from _rows("u200/scored", figure, scored(found, figure, half), len(found))


def _rows(case: str, figure: str, of: Scored, n: int) -> Iterator[Row]:
    goal = GOAL if case != "u200/read one width" else None
    yield Row(NAME, case, f"{figure}_coverage90_pct", of.inside_pct, "%", goal, SOURCE, n)
    yield Row(NAME, case, f"{figure}_worst_kernel_pct", of.worst_pct, "%", None, SOURCE, n)
    yield Row(NAME, case, f"{figure}_width", of.width, "1", None, SOURCE, n)
    yield Row(NAME, case, f"{figure}_width_median", of.median, "1", None, SOURCE, n)
    for level, (designs, inside) in of.by_class.items():
        name = f"{figure}_coverage90_pct_class_{level}"
        yield Row(NAME, case, name, inside, "%", None, SOURCE, designs)


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
