"""Which arrays of a kernel are in memory outside, and how they lie there and behind which port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from dsl.errors.errors import ToolError
from dsl.expressions.numeric import signed_of
from dsl.expressions.types import FloatType
from mlir_passes.dialect.attributes import ArrayInfo, argument_infos, top_function
from mlir_passes.dialect.processes import control_of
from polyhedral.requests.outside import BURST_BYTES, MOST_BEATS, word_bits

OUTSIDE = "m_axi"
NARROWEST = 32
"""Bits of the narrowest data bus of a port."""
BURST, OUTSTANDING = 16, 16
"""Beats of a burst and requests on their way where a schedule does not say, as in Vitis HLS."""
LONGEST_FIFO = 1 << 18
"""Bits of a FIFO between a port and the kernel, unless two bursts need more."""


@dataclass(frozen=True, slots=True)
class Outside:
    """An array in memory outside.

    Attributes:
        name: of the array.
        bundle: of its port.
        bits: of an element in memory: a power of two, at least 8.
        lanes: elements of a word of the kernel's port.
        width: of an element in the kernel, in bits.
        signed: an element is extended by its sign in memory.
        words: the array has, rows padded to whole words.
        offset: ``slave`` (a register has the address), ``direct`` (a port), ``off`` (it is 0).
        access: ``in``, ``out``, ``inout`` or ``scratch``.
    """

    name: str
    bundle: str
    bits: int
    lanes: int
    width: int
    signed: bool
    words: int
    offset: str
    access: str

    @property
    def unit(self) -> int:
        """Bits of a word in memory."""
        return self.bits * self.lanes

    @property
    def bytes(self) -> int:
        """All of it in memory."""
        return self.words * self.unit // 8


@dataclass(frozen=True, slots=True)
class Port:
    """An AXI4 master.

    Attributes:
        bundle: what the schedule calls it.
        width: bits of its data bus.
        burst: beats of its longest burst; none crosses 4 KiB.
        outstanding: bursts on their way, of reads and of writes.
        arrays: behind it; the place here is the ID of their transactions.
    """

    bundle: str
    width: int
    burst: int
    outstanding: int
    arrays: tuple[Outside, ...]

    @property
    def bytes(self) -> int:
        """Of a beat."""
        return self.width // 8

    @property
    def fifo(self) -> int:
        """Beats that a FIFO of an array holds: all that may be on their way, within reason; a power of two."""
        wanted = self.burst * self.outstanding
        most = max(2 * self.burst, LONGEST_FIFO // self.width, 16)
        return 1 << (min(wanted, most) - 1).bit_length() if wanted > 16 else 16


def outside_of(module: Any) -> tuple[Port, ...]:
    """The ports of a level 3 module, in the order of their first arrays; none where all is on the chip.

    Args:
        module: an MLIR module; it is not changed.

    Raises:
        ToolError: W460, a control that is in no register, or two arrays at address 0.
    """
    with module.context:
        infos = list(argument_infos(top_function(module)))
    behind: dict[str, list[ArrayInfo]] = {}
    for info in infos:
        if info.shape and info.interface is not None and info.interface.mode == OUTSIDE:
            behind.setdefault(info.interface.bundle, []).append(info)
    found = tuple(_port(bundle, arrays) for bundle, arrays in behind.items())
    if found:
        _check(module, found)
    return found


def _port(bundle: str, infos: Sequence[ArrayInfo]) -> Port:
    arrays = tuple(_outside(info, bundle) for info in infos)
    axi = infos[0].axi  # those of a bundle agree (W223)
    width = max(NARROWEST, axi.width, *(a.unit for a in arrays))
    most = min(MOST_BEATS, BURST_BYTES * 8 // width)
    burst = min(axi.burst or BURST, most)
    return Port(bundle, width, burst, axi.outstanding or OUTSTANDING, arrays)


def _outside(info: ArrayInfo, bundle: str) -> Outside:
    signed = not isinstance(info.dtype, FloatType) and signed_of(info.dtype)
    bits = word_bits(info.dtype)
    return Outside(
        info.name,
        bundle,
        bits,
        info.axi.lanes or 1,
        bits if isinstance(info.dtype, FloatType) else getattr(info.dtype, "width", bits),
        signed,
        prod(info.axi.words(info.shape)),
        info.axi.offset or "slave",
        info.access or "inout",
    )


def _check(module: Any, ports: Sequence[Port]) -> None:
    """W460 unless a host can start the kernel, and no two arrays are in one place."""
    with module.context:
        control = control_of(top_function(module))
    if control not in ("", "s_axilite"):
        raise ToolError(
            "W460",
            f"the RTL backend has no hardware for {control} where arrays are in memory outside",
            help="their addresses and the control are in registers: leave interface('return', ...) out",
        )
    at_zero = [a.name for port in ports for a in port.arrays if a.offset == "off"]
    if len(at_zero) > 1:
        raise ToolError(
            "W460",
            f"{' and '.join(at_zero)} would both be at address 0, as their offset is 'off'",
            help="leave offset out: the host writes the address",
        )
