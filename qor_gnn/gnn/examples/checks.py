"""What the numbers and words of a file of examples may be: what else is there is no measurement.

A label that is not a number means that there is none; any other figure that is not one, or is beyond
all hardware, would go through a training and end in weights that nothing can be asked of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MOST = 1e15
"""Of any figure: cycles, counts, ns, weights."""

MOST_FEATURE = 1e6
"""Of a feature of a node or an edge: logarithms, shares and small numbers."""

MOST_LOG = 80.0
"""Of a logarithm of copies, which is taken back in single precision."""

_GROUP = re.compile(r"[0-9a-f]{1,64}")
_COPIES = ("multiplicity", "units")


def check_figures(
    arrays: Mapping[str, Array], columns: Mapping[str, Sequence[str]], called: Callable[[int], str]
) -> None:
    """The arrays with a row for each design.

    Args:
        arrays: of a file of examples.
        columns: of ``base``, ``label`` and ``terms``.
        called: what to call the design of a row.

    Raises:
        ValueError: A number that is none, or none that can be; it names the design and the column.
    """
    base, label, terms, weight = (arrays[n] for n in ("base", "label", "terms", "weight"))
    for name, bad, values in (
        ("base", ~((base >= 0) & (base <= MOST)), base),
        ("label", ~(np.isnan(label) | ((label >= 0) & (label <= MOST))), label),
        ("terms", ~((terms >= -MOST) & (terms <= MOST)), terms),
    ):
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            _refuse(f"{called(row)}: {name}.{columns[name][column]}", values[row, column])
    bad = ~((weight > 0) & (weight <= MOST))
    if bad.any():
        row = int(np.argmax(bad))
        _refuse(f"{called(row)}: its weight", weight[row])


def check_features(
    name: str,
    rows: Array,
    counts: Array,
    called: Callable[[int], str],
    columns: Sequence[str] = (),
) -> None:
    """Features of which a design has several rows, or none.

    Args:
        name: of the array.
        rows: shape (n, columns), or (n,).
        counts: of each design's rows, shape (designs,).
        called: what to call a design.
        columns: what they are called.

    Raises:
        ValueError: as `check_figures`.
    """
    if not len(rows):
        return
    table = rows.reshape(len(rows), -1)
    most = np.array([MOST_LOG if c in _COPIES else MOST_FEATURE for c in columns or ("",)])
    bad = ~((table >= -most) & (table <= most))
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        design = int(np.searchsorted(np.cumsum(counts), row, side="right"))
        what = f"{name}.{columns[column]}" if columns else name
        _refuse(f"{called(design)}: {what}", table[row, column])


def _refuse(what: str, value: float) -> None:
    raise ValueError(f"{what} is {value:g}, which no design has")


def check_words(words: Sequence[object]) -> None:
    """Names, which are shown to people: text without control characters.

    Raises:
        ValueError: One is not.
    """
    for word in words:
        if not isinstance(word, str):
            raise ValueError("a word that is no text")
        if not word.isprintable():
            raise ValueError(f"a name with control characters, {word[:40]!a}")


def check_groups(groups: Sequence[str], called: Callable[[int], str]) -> None:
    """The digests by which equivalent designs are told, in the order of the designs.

    Raises:
        ValueError: One is none.
    """
    for row, group in enumerate(groups):
        if not _GROUP.fullmatch(group):
            design = called(row)
            raise ValueError(f"{design}: its group {group[:40]!a} is not a hexadecimal digest")
