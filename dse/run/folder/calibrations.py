"""The calibration that a run was begun with, as its manifest has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qor_gnn.tools.operators.calibration import Calibration
from qor_gnn.tools.operators.calibration_file import calibration_of


def calibration_in(manifest: Mapping[str, Any], where: str) -> Calibration | None:
    """The calibration of a run; None where it has none, as older runs.

    Args:
        manifest: of the run, or another record with a ``calibration``.
        where: what an error calls it.

    Raises:
        InputError: W552: what is there is none.
    """
    data = manifest.get("calibration")
    return None if data is None else calibration_of(data, f"the calibration of {where}")
