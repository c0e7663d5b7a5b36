"""Whether the arrays of a design have room in the memory of a board."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from backends.deploy.boards import Board
from dsl.errors.errors import ToolError
from dsl.programs.program import Array, Program
from dsl.schedules.steps import Interface, Step
from polyhedral.requests.outside import channels_in, word_bits

_MEGABYTE = 2**20


def check_capacity(program: Program, steps: Iterable[Step], board: Board) -> None:
    """W254 unless each memory has room for the arrays in it. Nothing is said of boards whose memory is not known.

    Args:
        program: of the kernel.
        steps: with the interfaces of all arrays in memory outside.
        board: whose memory it is.
    """
    if not board.flow.megabytes:
        return
    held: dict[tuple[str, ...], list[Array]] = {}
    for step in steps:
        if isinstance(step, Interface) and step.mode == "m_axi":
            # What no channel is said for is linked to the first one.
            channels = channels_in(step.bank) or board.channels[:1]
            held.setdefault(channels, []).append(program.array(step.argument))
    for channels, arrays in held.items():
        room = board.flow.megabytes * max(1, len(channels))
        taken = sum(_bytes(array) for array in arrays) / _MEGABYTE
        if taken > room:
            raise _too_large(arrays, channels, (taken, room), board)


def _bytes(array: Array) -> int:
    return prod(array.shape) * word_bits(array.dtype) // 8


def _too_large(
    arrays: list[Array], channels: tuple[str, ...], taken: tuple[float, int], board: Board
) -> ToolError:
    names = ", ".join(array.name for array in arrays)
    needed, room = taken
    if not channels:
        where, help_line = board.name, "work on parts of the arrays, one call after the other"
    else:
        where = f"{channels[0]} of {board.name}"
        if len(channels) > 1:
            where = f"{channels[0]} to {channels[-1]} of {board.name}"
        kind, most = board.flow.banks, board.flow.channels
        more = -(-needed // board.flow.megabytes)
        help_line = f"more memory of the board than it has is asked for: {board.flow.megabytes * most:,} MiB"
        if more <= most:
            help_line = (
                f"several channels: interface({arrays[0].name!r}, 'm_axi', bundle, "
                f"bank='{kind}[0:{more - 1:.0f}]')"
            )
    return ToolError(
        "W254",
        f"{names} {'take' if len(arrays) > 1 else 'takes'} {needed:,.0f} MiB, and {where} "
        f"{'have' if len(channels) > 1 else 'has'} {room:,} MiB",
        help=help_line,
    )
