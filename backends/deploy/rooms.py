"""What there is for copies on the chip, and what an array takes of it."""

from __future__ import annotations

from math import prod

from backends.deploy.boards import Board
from dsl.programs.program import Array
from polyhedral.requests.outside import word_bits

_BRAM18 = 18 * 1024  # bits
_ROOM = 0.4
"""Of the block RAM, for copies: banks are rounded up to whole memories, mostly to twice as much."""
_MORE = 1.75
"""So many times that where nothing fits otherwise: 0.7 of all. Designs may take 0.8, and locals and banks need some."""
_SMALL = 8  # arrays of so small a part of that are copied whole, whatever else is there


def chip_room(board: Board) -> int:
    """Bits of the block RAM for copies, and for locals that are on the chip."""
    return round(_ROOM * block_ram(board))


def most_room(board: Board) -> int:
    """Bits for copies where nothing fits into `chip_room`."""
    return round(_MORE * chip_room(board))


def block_ram(board: Board) -> int:
    """Bits of all of it."""
    return board.device.bram18 * _BRAM18


def is_small(array: Array, room: int) -> bool:
    """Whether it is copied as a whole, whatever else is there."""
    return bits_of(array) <= room // _SMALL


def bits_of(array: Array) -> int:
    """What an array takes in memory."""
    return prod(array.shape) * word_bits(array.dtype)
