"""How fast the fabric of a device is: the unit in which periods after routing are fitted."""

from __future__ import annotations

from backends.devices import Device
from qor_gnn.tools.operators.timing import tables, timing_classes

_KIND, _WIDTH = "cmp", 32


def fabric_delay(device: Device) -> float | None:
    """The delay in ns of a comparison of 32 bits, carry chain and routing included, as csynth has it.

    Args:
        device: at its speed grade; from ``qor_gnn/tools/operators/data``.

    Returns:
        None of a device that Vitis HLS does not target.
    """
    if not device.vitis:
        return None
    of = timing_classes()[device.timing_class]
    return of.scale * dict(tables().logic[of.fabric, _KIND])[_WIDTH]
