"""Arguments that a testbench holds on the chip, put into memory outside: for designs that are to run on a board;
and locals that the chip has no room for.

The kernel copies in what it reads and out what it has written, all of it; what a schedule says of an array is
said of its copy on the chip. Larger problems want tiles, which the schedule of a kernel makes (`buffer` at a
loop): arguments that are outside already stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product, takewhile

from backends.deploy.boards import Board
from backends.deploy.capacity import check_capacity
from backends.deploy.nests import accessed, looked_up
from backends.deploy.rooms import bits_of, block_ram, chip_room, is_small, most_room
from backends.deploy.tiles import Allowance, copies, tiles_of_what_fits
from dsl.errors.errors import ToolError
from dsl.expressions.types import IndexType
from dsl.programs.program import Array, Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    AutoPartition,
    BindOp,
    BindStorage,
    Buffer,
    Dataflow,
    Expand,
    Interface,
    Pack,
    Partition,
    Pipeline,
    Reassociate,
    Step,
    Stream,
)
from polyhedral.requests.outside import RETURN, channels_in, word_bits
from polyhedral.schedule import begun
from polyhedral.transforms.registry import rewrites

_REACHED = ("m_axi", "s_axilite", "ap_memory", "bram")
"""Interfaces that a host drives, and those of memories, which go outside."""
_SUFFIX = "_chip"
_BESIDE = (Interface, Pack, Partition, AutoPartition, BindStorage, BindOp, Reassociate)
"""Steps that say nothing of loops."""


def outside(
    program: Program,
    schedule: Schedule,
    board: Board,
    allowed: Allowance | None = None,
    before: Sequence[Step] = (),
) -> Schedule:
    """The schedule with all arguments in memory outside, and the locals that do not fit on the chip.

    Args:
        program: of the kernel.
        schedule: of the design.
        board: whose memory it is: each array has a port, as far as there are channels, and a bank.
        allowed: what designs may use; None for all DSP slices of the board, and sums of floats in order.
        before: steps in front of all: locals that have an element for each iteration, and so tie no statements of a tile
            together; loops over whole ranges in the place of the program's own tiles.

    Raises:
        ToolError: W407, an argument has an interface that no host program drives; W254, memory of the board has no room
            for its arrays.
    """
    own = allowed or Allowance(board.device.dsp)
    copying = partial(_copied, allowed=own)
    first = tuple(takewhile(_in_front, schedule))
    rest = Schedule(schedule.steps[len(first) :])
    found = _brought(program, rest, board, copying, (*before, *first), own.room)
    assert found is not None, "where copies do not fit, arrays are copied as a whole"
    return found


def _in_front(step: Step) -> bool:
    """Whether it comes in front of the steps that copy, with what allows it."""
    return rewrites(step) or isinstance(step, Reassociate)


def in_tiles(
    program: Program,
    schedule: Schedule,
    board: Board,
    allowed: Allowance | None = None,
    before: Sequence[Step] = (),
) -> Schedule | None:
    """The same with copies in tiles though all of them fit as a whole, as they are then copied while others are worked
    on; None where nothing is expected of that, or the schedule says what becomes of loops. Cards alone have them, but for
    those that are asked for with locals for each row: on boards with a processor logic limits designs, and trials on
    another family of them are lost (gemm, SMALL, on a Pynq-Z2: 16,419 cycles in 40 trials, 57,059 with tiles among them).

    Raises:
        ToolError: W407, as `outside`.
    """
    own = allowed or Allowance(board.device.dsp)
    asked = own.rows or board.flow.flow == "xrt"
    if not asked or not all(isinstance(step, _BESIDE) for step in schedule):
        return None
    copying = partial(_in_words, copying=partial(tiles_of_what_fits, allowed=own))
    return _brought(program, schedule, board, copying, before, own.room)


_Copying = Callable[[Program, Sequence[Step], Mapping[str, str], int], Sequence[Step] | None]
"""The steps that copy what is behind ports; None where there are none of that kind."""
_Bringing = Callable[
    [Program, Sequence[Step], Mapping[str, str], int, Board], Sequence[Step] | None
]
"""The same with those of the ports."""


def _brought(
    program: Program,
    schedule: Schedule,
    board: Board,
    bringing: _Bringing,
    before: Sequence[Step],
    share: float,
) -> Schedule | None:
    """The schedule with arrays outside and copies of them, in a share of the room that there is; None where there is no
    such way of copying.
    """
    asked = {s.argument: s for s in schedule if isinstance(s, Interface)}
    for step in asked.values():
        _check(step, board)
    scratch = _scratch(program, schedule, board)
    arrays = [*(a for a in program.arguments if a.shape), *scratch]
    within = [a for a in arrays if a.name not in asked or asked[a.name].mode != "m_axi"]
    used = {access.array for piece in begun(program, ()).pieces for access in accessed(piece)}
    free = _free_ports(asked.values(), board)
    ports = {array.name: free[n % len(free)] for n, array in enumerate(within)}
    names = _names(program, schedule, [a for a in within if a.name in used])
    first: list[Step] = [*before]
    for array in within:
        port = ports[array.name]
        bank = board.bank(port)
        first.append(Interface(array.name, "m_axi", f"gmem{port}", bank=bank))
    room = round(share * chip_room(board)) - _more(program, before)
    if scratch:
        kept = sum(bits_of(a) for a in program.locals if a not in scratch and a.name not in asked)
        room -= min(kept, room // 2)
    copied = bringing(program, first, names, room, board)
    if copied is None:
        return None
    first = _with_pointers(copied)
    first += _pipelined(program, first)
    made: dict[str, list[str]] = {}
    for copy in (s for s in first if isinstance(s, Buffer)):
        made.setdefault(copy.array, []).append(copy.name)
    rest = [new for step in schedule if not _dropped(step, within) for new in _renamed(step, made)]
    check_capacity(program, (*first, *rest), board)
    return Schedule((*first, *rest))


def _more(program: Program, before: Sequence[Step]) -> int:
    """Bits of the locals that are expanded."""
    known = {array.name for array in program.arrays}
    arrays = begun(program, before).scop.program.arrays if before else ()
    return sum(bits_of(array) for array in arrays if array.name not in known)


def _free_ports(asked: Iterable[Interface], board: Board) -> list[int]:
    """Numbers of the ports whose bundle and channel no interface of the schedule has; all where there is none left. What
    the schedule says no channel for is linked to the first one.
    """
    outside = [step for step in asked if step.mode == "m_axi"]
    bundles = {bundle for step in outside for bundle in (step.bundle, step.reads, *step.also)}
    first = board.bank(0)
    banks = {bank for step in outside for bank in channels_in(step.bank) or (first,)} - {""}
    every = range(board.ports)
    left = [n for n in every if f"gmem{n}" not in bundles and board.bank(n) not in banks]
    return left or list(every)


def _scratch(program: Program, schedule: Schedule, board: Board) -> list[Array]:
    """The locals that do not fit on the chip beside copies of all arguments: smaller ones stay there, up to half of
    what there is for copies. What a step chooses a memory for, makes a FIFO of, or another array, stays as well.

    Tiles are other loops than a schedule that says what becomes of loops was made for: such a one keeps its locals
    where the chip has room for them at all.
    """
    outside_already = {s.argument for s in schedule if isinstance(s, Interface)}
    named = {s.array for s in schedule if isinstance(s, Stream | Expand | BindStorage)}
    room = chip_room(board)
    most = room if all(isinstance(s, _BESIDE) for s in schedule) else block_ram(board)
    taken = sum(bits_of(a) for a in program.arrays if a.shape and a.name not in outside_already)
    if taken <= most or any(isinstance(s, Dataflow) for s in schedule):
        return []
    found = []
    left = room // 2
    for array in sorted(program.locals, key=bits_of):
        if array.name in outside_already:
            continue
        if not array.shape or array.scope_depth or array.name in named or bits_of(array) <= left:
            left -= bits_of(array)
        else:
            found.append(array.name)
    return [a for a in program.locals if a.name in found]


def _copied(
    program: Program, ports: Sequence[Step], names: Mapping[str, str], room: int, board: Board,
    *, allowed: Allowance,
) -> list[Step]:  # fmt: skip
    """The ports, and the copies of what is behind them: in words as wide as the board's memory passes, or in
    smaller ones where tiles would begin inside of them.

    What is at subscripts that are data is in no tile: where there are no tiles of all arrays, those of the others, and
    large tables are looked up in memory outside. Where there are none of these either, nests inside of a loop are tiled
    beside statements that stand in it alone; and at last what fits on the chip is copied as a whole, and the elements of
    other arrays pass one after the other.
    """
    tables = looked_up(program)
    others = {
        name: copy
        for name, copy in names.items()
        if name not in tables or is_small(program.array(name), room)
    }
    choices = (names, others) if 0 < len(others) < len(names) else (names,)
    more = round(allowed.room * (most_room(board) - chip_room(board)))
    rooms = (room, room + more)
    for beside, within, some in product((False, True), rooms, choices):
        narrower = 1
        while narrower == 1 or any(
            word_lanes(program.array(n), board) > narrower // 2 for n in some
        ):
            way = partial(copies, allowed=replace(allowed, beside=beside))
            found = _in_words(program, ports, some, within, board, narrower, copying=way)
            if found is not None:
                return found
            narrower *= 2
    return [*ports, *_whole(program, names, round(allowed.room * most_room(board)))]


def _whole(program: Program, names: Mapping[str, str], left: int) -> Iterator[Step]:
    """Copies of whole arrays, the smallest first, as far as there is room for them; none of locals outside."""
    given = [array for array in program.arguments if array.name in names]
    for array in sorted(given, key=bits_of):
        left -= bits_of(array)
        if left >= 0:
            yield Buffer(array.name, name=names[array.name])


def _in_words(
    program: Program,
    ports: Sequence[Step],
    names: Mapping[str, str],
    room: int,
    board: Board,
    narrower: int = 1,
    *,
    copying: _Copying,
) -> list[Step] | None:
    """The ports, and copies in words of so many times fewer elements; None where there are no such copies."""
    packed: list[Step] = []
    for name in names:
        array = program.array(name)
        lanes = word_lanes(array, board) // narrower
        packed += [Pack(name, lanes * word_bits(array.dtype))] if lanes > 1 else []
    found = copying(program, (*ports, *packed), names, room)
    return None if found is None else [*ports, *packed, *found]


def _with_pointers(steps: Sequence[Step]) -> list[Step]:
    """Second pointers, through the same ports, for what is copied in apart from what is copied out."""
    apart = {s.array for s in steps if isinstance(s, Buffer) and s.apart}
    return [
        replace(s, reads=s.bundle) if isinstance(s, Interface) and s.argument in apart else s
        for s in steps
    ]


def word_lanes(array: Array, board: Board) -> int:
    """Elements that the board's memory passes in a word; no more than make rows of fewer words. 1 where an
    element does not fill its place in memory.
    """
    bits = word_bits(array.dtype)
    if isinstance(array.dtype, IndexType) or bits != array.dtype.width:
        return 1
    most, row = max(1, board.word // bits), array.shape[-1]
    choices = [1 << n for n in range(most.bit_length())]
    return next(n for n in choices if -(-row // n) == -(-row // most))


def _check(step: Interface, board: Board) -> None:
    """W407 unless a host on the board can drive the argument, or the control of the function."""
    what = f"'{step.argument}'"
    if step.argument == RETURN:
        if step.mode != "s_axilite":
            raise _refused(
                f"the kernel is started by {step.mode}, and hosts do that by registers",
                "leave s.interface('return', ...) out, or say 's_axilite'",
            )
    elif step.mode not in _REACHED:
        raise _refused(
            f"{what} passes through {step.mode}, which no host program here drives",
            "put it into memory outside: s.interface(..., 'm_axi')",
        )
    elif step.offset not in ("", "slave"):
        raise _refused(
            f"the address of {what} is not in a register (offset {step.offset!r})",
            "leave offset out: the host writes the address",
        )
    elif step.bank and not board.flow.banks:
        raise _refused(
            f"{what} is in {step.bank}, and all of {board.name} leads to one memory",
            "leave bank out",
        )
    elif step.bank:
        kind, last = board.flow.banks, board.flow.channels - 1
        named = [int(n) for n in re.findall(r"\d+", step.bank)]
        if not step.bank.startswith(f"{kind}[") or max(named) > last:
            raise _refused(
                f"{what} is in {step.bank}, and {board.name} has {kind}[0] to {kind}[{last}]",
                "name a memory of the board, or none",
            )


def _refused(message: str, help_line: str) -> ToolError:
    return ToolError("W407", message, help=help_line)


def _names(program: Program, schedule: Schedule, arrays: Sequence[Array]) -> dict[str, str]:
    """What the copies are called: as nothing else is."""
    taken = {array.name for array in program.arrays}
    taken |= {s.name or f"{s.array}_buf" for s in schedule if isinstance(s, Buffer)}
    found = {}
    for array in arrays:
        name = array.name + _SUFFIX
        while name in taken:
            name += "_"
        taken.add(name)
        found[array.name] = name
    return found


def _pipelined(program: Program, steps: Sequence[Step]) -> Iterator[Step]:
    """Pipelines of the innermost loops of what copies."""
    own = {stmt.name for stmt in program.statements()}
    for piece in begun(program, steps).pieces:
        # Of a statement that stands in several nests the later ones have names of their own.
        copying = piece.name not in own and piece.statement.stmt.span is None
        loops = [dim.name for dim in piece.dims if dim.unroll is None]  # not those over lanes
        if copying and loops:
            yield Pipeline(f"{piece.name}.{loops[-1]}")


def _dropped(step: Step, within: Sequence[Array]) -> bool:
    """What said how a testbench sees an array that is outside now."""
    return isinstance(step, Interface) and step.argument in {a.name for a in within}


def _renamed(step: Step, made: Mapping[str, Sequence[str]]) -> Iterator[Step]:
    """What is said of an array, of its copies: there is one in each nest that works on tiles of it."""
    match step:
        case Partition(array=array) | AutoPartition(array=array) | BindStorage(array=array) if (
            array in made
        ):
            for name in made[array]:
                yield replace(step, array=name)
        case Stream(array=array) if array in made:
            yield replace(step, array=made[array][0])
        case Buffer(array=array) if array in made:
            copy = made[array][0]
            access = re.sub(r"^\w+", copy, step.access) if step.access else ""
            yield replace(step, array=copy, name=step.name or f"{array}_buf", access=access)
        case _:
            yield step
