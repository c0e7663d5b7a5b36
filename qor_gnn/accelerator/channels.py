"""Which channel of a board's memory each port is connected to, and what passes through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backends.deploy.boards import Board
from polyhedral.requests.outside import channels_in
from qor_gnn.schedule.traffic import Traffic


@dataclass(frozen=True, slots=True)
class ChannelUse:
    """A channel of memory outside in one run of a kernel.

    Attributes:
        channel: ``HBM[3]``; the name of the memory where there is one for all ports.
        bundles: ports connected to it.
        read: bytes that the kernel reads through it.
        written: bytes that it writes.
        busy_ms: what these take at what the channel passes in long bursts.
        share: of the time of the kernel in which it is busy.
    """

    channel: str
    bundles: tuple[str, ...]
    read: float
    written: float
    busy_ms: float
    share: float


def channel_of(board: Board, one: Traffic) -> str:
    """What the port of some traffic is connected to: what the schedule says, or else what a linker takes, the first
    channel of a card; of several channels the first, in which arrays begin. Beside a processor all ports lead to one
    memory.
    """
    if not board.flow.banks:
        return board.memory.name
    return next(iter(channels_in(one.bank)), board.channels[0])


def bytes_of(channel: Sequence[Traffic]) -> tuple[float, float]:
    """What is read, and what is written."""
    read = sum(one.bytes for one in channel if one.direction == "read")
    return read, sum(one.bytes for one in channel) - read


def by_channel(board: Board, traffic: Sequence[Traffic]) -> dict[str, list[Traffic]]:
    """What passes through each channel, in the order of arrays."""
    found: dict[str, list[Traffic]] = {}
    for one in traffic:
        found.setdefault(channel_of(board, one), []).append(one)
    return found


def crowded(board: Board, traffic: Sequence[Traffic]) -> tuple[str, ...]:
    """Channels that several ports share though others are free, in words."""
    channels = by_channel(board, traffic)
    free = board.flow.channels - len(channels)
    notes = []
    for name, passing in channels.items():
        bundles = list(dict.fromkeys(one.bundle for one in passing))
        arrays = {one.of or one.array for one in passing}  # ports of one array lead to one channel
        if len(bundles) > 1 and len(arrays) > 1 and free > 0:
            other = next(bank for bank in board.channels if bank not in channels)
            notes.append(
                f"{', '.join(bundles)} share {name}, and {free} of {board.flow.channels} channels of {board.name} are "
                f'free: interface(..., bank="{other}")'
            )
    return tuple(notes)
