"""Settings as functions of `weft` are given them: a calibration by its file."""

from __future__ import annotations

from pathlib import Path

from backends.devices import Device
from dse.estimates.estimation import Setting, setting
from qor_gnn.tools.operators.calibration import Calibration
from qor_gnn.tools.operators.calibration_file import read


def calibration_from(file: str | Path | Calibration | None) -> Calibration | None:
    """What a file of ``weft calibrate`` holds.

    Raises:
        InputError: W512: it cannot be read; W552: it holds none.
    """
    return read(Path(file)) if isinstance(file, str | Path) else file


def setting_of(
    tool: str | None,
    device: str | Device | None,
    clock: float | None,
    uncertainty: float | None,
    calibration: str | Path | Calibration | None,
) -> Setting:
    """As `dse.estimates.estimation.setting`, of a calibration or its file."""
    return setting(tool, device, clock, uncertainty, calibration_from(calibration))
