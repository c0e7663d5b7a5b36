"""Writes how wide the 90% intervals of each tool's figures are (``intervals.json``), for `qor_gnn.support.intervals`.

    python -m qor_gnn.fit.intervals DATA

``DATA`` holds the folders of labelled designs. Of Vitis HLS 2025.1 kernels of one part (`labelled.parts`) are used, so that the
widths can be scored on the other: `python -m benchmarks.qor_intervals`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qor_gnn.fit.labelled import u280, zu9eg
from qor_gnn.fit.labels import U200_TOOL
from qor_gnn.fit.residuals import Residual, of_u200, of_u280, of_zu9eg
from qor_gnn.support.error_sources import CLASSES
from qor_gnn.support.intervals import FIGURES, FILE, SURE_PCT
from qor_gnn.tools.personality import folder_of

WHOLE = 2.0
"""What all designs together count for beside those of a class, in kernels: a class of few is held to them."""

FULL = 10
"""Designs of a class from which on a kernel counts as one; of fewer as that much less."""

FEWEST = 2
"""Kernels that a class has to have, or it is as unseen."""

_STEPS = 10_000  # of a width
Column = NDArray[np.float64]


# ------------------------------------------------------------------------------------------ widths


def widths(known: Sequence[Residual], figure: str) -> list[float | None]:
    """Half of the width of each class, growing; None of a class that too few kernels have.

    Args:
        known: designs; those without a label of the figure say nothing.
        figure: one of `FIGURES`.
    """
    given = [one for one in known if figure in one.off]
    found: list[float | None] = []
    least = 0.0
    for level in range(CLASSES):
        if len({one.kernel for one in given if one.level == level}) < FEWEST:
            found.append(None)
            continue
        least = max(least, _quantile(given, figure, level))
        found.append(least)
    return found


def one_width(known: Sequence[Residual], figure: str) -> float:
    """Half of the width without classes: each kernel counts the same."""
    return _quantile([one for one in known if figure in one.off], figure, None)


def _quantile(given: Sequence[Residual], figure: str, level: int | None) -> float:
    """What `SURE_PCT` of the designs of a class, and of all by `WHOLE`, are within."""
    kernels: dict[str, int] = {}
    own: dict[str, int] = {}
    for one in given:
        kernels[one.kernel] = kernels.get(one.kernel, 0) + 1
        if one.level == level:
            own[one.kernel] = own.get(one.kernel, 0) + 1
    weight = np.array([WHOLE / len(kernels) / kernels[one.kernel] for one in given])
    for n, one in enumerate(given):
        if one.level == level:
            count = own[one.kernel]
            weight[n] += min(1.0, count / FULL) / count
    off: Column = np.array([one.off[figure] for one in given])
    order = np.argsort(off, kind="stable")
    total = np.cumsum(weight[order])
    at = int(np.searchsorted(total, SURE_PCT / 100 * total[-1] * (1 - 1e-12)))
    return float(off[order][min(at, len(given) - 1)])


@dataclass(frozen=True, slots=True)
class Scored:
    """Designs under widths that their kernel had no part in.

    Attributes:
        inside_pct: of the designs, each kernel counting the same.
        width: half of the width, the mean over designs, each kernel counting the same; and ``median``, by design.
        worst_pct: inside, of the kernel with the least.
        by_class: designs, and per cent inside, by class.
    """

    inside_pct: float
    width: float
    median: float
    worst_pct: float
    by_class: Mapping[int, tuple[int, float]]


def scored(asked: Sequence[Residual], figure: str, half: Mapping[str, Sequence[float]]) -> Scored:
    """Count what is inside.

    Args:
        asked: designs with a label of the figure.
        figure: one of `FIGURES`.
        half: by kernel, half of the width of each class.
    """
    wide = np.array([half[one.kernel][one.level] for one in asked])
    inside = np.array([one.off[figure] <= w + 1e-9 for one, w in zip(asked, wide, strict=True)])
    names = np.array([one.kernel for one in asked])
    level = np.array([one.level for one in asked])
    kernels = sorted(set(names))
    shares = [100 * float(inside[names == k].mean()) for k in kernels]
    return Scored(
        float(np.mean(shares)),
        float(np.mean([wide[names == k].mean() for k in kernels])),
        float(np.median(wide)),
        min(shares),
        {
            int(c): (int((level == c).sum()), 100 * float(inside[level == c].mean()))
            for c in sorted(set(level))
        },
    )


def filled(row: Sequence[float | None], unseen: float) -> list[float]:
    """The widths of all classes: of one that no labels tell those of what is unseen."""
    most = max([unseen, *(w for w in row if w is not None)])
    return [most if w is None else w for w in row]


# ------------------------------------------------------------------------------------------- files


def _document(
    known: Sequence[Residual], evidence: str, unseen: Mapping[str, float] | None
) -> dict[str, Any]:
    rows, most = {}, {}
    for name in FIGURES:
        row = widths(known, name)
        last = max((w for w in row if w is not None), default=0.0)
        most[name] = _up(max(last, unseen[name] if unseen else last))
        rows[name] = [_up(w) for w in filled(row, most[name])]
    carried = sorted({what for one in known for what in one.handed_on})
    return {"evidence": evidence, "widths": rows, "unseen": most, "handed_on": carried}


def _up(value: float) -> float:
    return math.ceil(value * _STEPS - 1e-9) / _STEPS


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the labelled designs")
    data = parser.parse_args().data
    read = of_u200(data / "hlsfactory-u200", "read")
    found = {U200_TOOL: _document(read, _of("hlsfactory-u200", read, "kernels of one part"), None)}
    unseen = found[U200_TOOL]["unseen"]
    own = of_zu9eg(data / "vitis2022-zu9eg")
    text = _of("vitis2022-zu9eg", own, "whole kernels") + _TAKEN
    found[zu9eg.PERSONALITY] = _document(own, text, unseen)
    few = [*read, *of_u280(data / "streamhls-u280")]
    text = _of("streamhls-u280 and, of the same rules, hlsfactory-u200", few, "plain designs")
    found[u280.PERSONALITY] = _document(few, text, unseen)
    for tool, document in found.items():
        file = folder_of(tool) / FILE
        file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


_TAKEN = "; classes and figures without labels, and what is unseen: the widest of 2025.1"


def _of(folder: str, known: Sequence[Residual], what: str) -> str:
    kernels = len({one.kernel for one in known})
    by_class = [sum(one.level == level for one in known) for level in range(CLASSES)]
    return (
        f"{folder}: {what}, {len(known)} designs of {kernels} kernels, by class {by_class}; a class is smoothed by all, "
        f"which count as {WHOLE:g} kernels; LUT and FF by coefficients that the kernel had no part in"
    )


if __name__ == "__main__":
    main()
