"""FPGA devices as data: the parts that designs are made for, what is on them, and boards that have them.

A family is a file of ``families/``, which says where its figures come from; ``boards.json`` has the part on
each board.
"""

from backends.devices.catalogue import BOARDS, DEFAULT, DEVICES, board, device
from backends.devices.device import Device

__all__ = ["BOARDS", "DEFAULT", "DEVICES", "Device", "board", "device"]
