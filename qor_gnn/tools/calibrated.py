"""A tool with a user's own measurements laid over its operators."""

from __future__ import annotations

from dataclasses import replace

from backends.devices import DEVICES
from qor_gnn.tools.operators.at_clock import library_at
from qor_gnn.tools.operators.calibration import Calibration
from qor_gnn.tools.operators.own_library import own_over
from qor_gnn.tools.personality import Personality
from qor_gnn.tools.targets import CALIBRATED, target_named


def calibrated(tool: Personality, calibration: Calibration) -> Personality:
    """A tool with a user's own measurements over its operators; itself where they show nothing of its class.

    Args:
        tool: on its device, at its clock.
        calibration: the measurements.
    """
    device = target.device if (target := target_named(tool.name)) else DEVICES[tool.device]
    own = calibration.of(device.timing_class)
    if own.empty or tool.is_open:
        return tool
    states = tool.latencies
    found = library_at(
        device.timing_class,
        device.dsp_kind,
        round(tool.usable_ns, 4),
        states.states,
        states.compares,
        calibration,
    )
    if not tool.base:
        found = own_over(tool.library, found, own, states.states)
    name = f"{tool.name}{CALIBRATED}{calibration.digest}"
    return replace(tool, name=name, base=tool.measured_as, library=found, calibration=calibration)
