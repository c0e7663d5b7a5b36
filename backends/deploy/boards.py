"""Boards that a design can run on: how its host reaches it, and what its memory outside is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from backends.deploy.memories import Host, MemoryKind, host, memory_kind
from backends.deploy.processors import is_zynq7
from backends.devices import BOARDS, Device, device
from backends.tables import fault, parsed, table
from dsl.errors.errors import ToolError, did_you_mean

_FILE = Path(__file__).parent / "boards.json"

PORTS = 4
"""Ports of a processing system to its memory that designs are connected to."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How a board is reached.

    Attributes:
        flow: ``xrt``: a card in a computer, linked by v++ and driven through XRT. ``pynq``: a processor beside
            the logic, whose bitstream comes from a block design and is loaded through PYNQ.
        platform: of v++.
        banks: kind of the memory outside, with so many ``channels``.
        gigabytes: what a channel passes in a second, in long bursts; 0 where nothing is known.
        megabytes: MiB of a channel, or of the one memory of a processing system; 0 where it is not known.
        board_part: of Vivado.
    """

    flow: Literal["xrt", "pynq"]
    platform: str = ""
    banks: str = ""
    channels: int = 0
    gigabytes: float = 0.0
    megabytes: int = 0
    board_part: str = ""


@dataclass(frozen=True, slots=True)
class Board:
    """A board by name, with the device on it."""

    name: str
    device: Device
    flow: Flow

    @property
    def ports(self) -> int:
        """Bundles that are worth having: ports, or channels, of the memory outside."""
        return self.flow.channels or PORTS

    @property
    def channels(self) -> tuple[str, ...]:
        """What ports may be connected to: ``HBM[0]`` and on; () where there is one memory."""
        return tuple(map(self.bank, range(self.flow.channels)))

    @property
    def memory(self) -> MemoryKind:
        """What the memory outside passes, and how soon it answers: of a channel of a card, or of the one memory
        that all ports of a processing system share.
        """
        if self.flow.flow == "xrt":
            return memory_kind("hbm2" if self.flow.banks == "HBM" else "ddr4")
        return memory_kind("zynq7" if is_zynq7(self.device) else "zynqmp")

    @property
    def host(self) -> Host:
        """What starts a kernel there."""
        return host(self.flow.flow)

    @property
    def word(self) -> int:
        """Bits that a port to the memory passes in a cycle: of a card's memory, or of the ports of a Zynq
        UltraScale+ or a Zynq-7000 (UG1085, UG585).
        """
        if self.flow.flow == "xrt":
            return 512
        return 64 if is_zynq7(self.device) else 128

    def words(self, clock: float) -> float:
        """Words that a channel of the memory passes in a cycle of ``clock`` ns, at most one; 1 where it is not known."""
        passed = self.flow.gigabytes * clock * 8 / self.word
        return min(1.0, passed) if passed else 1.0

    def passed(self, clock: float) -> float:
        """Words of a port that its memory passes in a cycle of ``clock`` ns: as many ports of one array are worth having."""
        return self.memory.read[1] * clock * 8 / self.word

    def remark(self, clock: float) -> str:
        """What the figures of a design do not say of its copies; empty where there is nothing to say."""
        words = self.words(clock)
        if words == 1:
            return ""
        return (
            f"a channel of {self.name} passes {words:.2f} words of {self.word} bits in a cycle of {clock:g} ns "
            f"({self.flow.gigabytes:g} GB/s), so that copies take up to {1 / words:.2f} times as long there as here"
        )

    def bank(self, port: int) -> str:
        """What a port is connected to: ``HBM[3]``; empty where there is one memory."""
        flow = self.flow
        return f"{flow.banks}[{port % flow.channels}]" if flow.banks else ""


@dataclass(frozen=True, slots=True)
class _Boards:
    source: str
    boards: Mapping[str, Flow]


@cache
def _flows() -> Mapping[str, Flow]:
    data, where = table(_FILE, None)
    found = parsed(_Boards, data, where).boards
    for name in found:
        if name not in BOARDS:
            raise fault(where, f"has '{name}', which is no board")
    return found


def boards() -> tuple[str, ...]:
    """Names of boards that designs can be deployed to."""
    return tuple(sorted(_flows()))


def board_of(name: str, chip: Device) -> Board:
    """The board of a name, which has the device that a design is for.

    Raises:
        ToolError: W406, it has not, or designs cannot be deployed to it.
    """
    found = board(name)
    if found.device.name != chip.name:
        raise ToolError(
            "W406",
            f"the design is for {chip.name}, and {found.name} has {found.device.name}",
            help=f"estimate and explore with --board {found.name}",
        )
    return found


def board(name: str) -> Board:
    """The board of a name.

    Raises:
        ToolError: W406, designs cannot be deployed to it.
    """
    key = name.lower()
    if key in _flows():
        return Board(key, device(key), _flows()[key])
    known = key in BOARDS
    message = f"'{name}' has neither a processor nor a shell that a host could reach a design by"
    help_line = f"it is one of {', '.join(boards())}" if known else did_you_mean(key, boards())
    raise ToolError(
        "W406",
        message if known else f"no board is called '{name}'",
        help=help_line or f"it is one of {', '.join(boards())}",
    )
