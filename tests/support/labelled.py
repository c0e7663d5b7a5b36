"""Where labelled designs are: a whole data set if there is one, else the excerpt in ``tests/data``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Whole data sets are not part of the repository; WEFT_DATA names the folder that has them.
_WHOLE = Path(os.environ.get("WEFT_DATA", "../shared/data"))
_EXCERPTS = Path(__file__).resolve().parents[1] / "data"


def labelled(name: str) -> Path:
    """The folder of a data set: the whole of it, or what the repository has of it."""
    whole = _WHOLE / name
    return whole if whole.is_dir() else _EXCERPTS / name


def is_whole(folder: Path) -> bool:
    """Whether a folder of `labelled` has the whole data set."""
    return folder.parent == _WHOLE


ZU9EG = labelled("vitis2022-zu9eg")
needs_zu9eg = pytest.mark.skipif(
    not is_whole(ZU9EG),
    reason="needs the labels of vitis2022-zu9eg, of which the repository has no excerpt; "
    "WEFT_DATA names the folder that has them",
)
