"""Packed arguments: is each access a lane of a whole word, moved by a loop of its own?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.program import Array
from dsl.schedules.steps import Pack
from polyhedral.requests.outside import word_bits
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop


def packed_lanes(packs: Iterable[Pack], array: Array) -> int:
    """Elements of a word of the array; 0 where it is not packed."""
    for step in packs:
        if step.array == array.name:
            return step.bits // word_bits(array.dtype)
    return 0


def check_packed(state: ScheduledScop) -> None:
    """What is packed is in memory outside, and copied word by word.

    Raises:
        ScheduleError: W215 it is not outside; W223 its port has another width; W230 single elements are accessed.
    """
    for step in state.packs:
        array = state.scop.program.array(step.array)
        _check_port(state, array, step)
        lanes = packed_lanes((step,), array)
        for piece in state.pieces:
            for access in _accesses(piece, array):
                if not _is_lane(state, piece, access, lanes):
                    raise ScheduleError(
                        "W230",
                        f"'{array.name}' is in words of {lanes} elements, and {piece.name} accesses one of them, "
                        f"{access}",
                        span=step.span,
                        help=f'put pack("{array.name}") in front of buffer("{array.name}"), which copies words, '
                        "and leave the loops over their lanes as they are",
                    )


def _check_port(state: ScheduledScop, array: Array, step: Pack) -> None:
    asked = next((i for i in state.interfaces if i.argument == array.name), None)
    if asked is None or asked.mode != "m_axi":
        raise ScheduleError(
            "W215",
            f"'{array.name}' is packed, and not in memory outside",
            span=step.span,
            help=f'interface("{array.name}", "m_axi") puts it there',
        )
    if asked.width not in (0, step.bits):
        raise ScheduleError(
            "W223",
            f"'{array.name}' is in words of {step.bits} bits, and its port has {asked.width}",
            span=step.span,
            help="leave the width of the port out: it is that of the words",
        )


def _accesses(piece: Piece, array: Array) -> Iterator[Access]:
    """Those to the array, over the loops of the piece."""
    values, stmt = dict(piece.bindings), piece.statement.stmt
    for access in (stmt.target, *piece.statement.reads):
        if access.array == array.name:
            yield Access(access.array, tuple(e.substitute(values) for e in access.indices))


def _is_lane(state: ScheduledScop, piece: Piece, access: Access, lanes: int) -> bool:
    """Whether the innermost loop, unrolled, goes over the lanes of a word, and the statement copies them."""
    if not piece.dims or not isinstance(piece.statement.stmt.value, Load):
        return False
    innermost, depth = piece.dims[-1], len(piece.dims)
    sharing = [p for p in state.pieces if p.place[:depth] == piece.place[:depth]]
    stores = [p for p in sharing if p.statement.stmt.target.array == access.array]
    over = whole_range([(p, depth - 1) for p in sharing])
    *others, last = access.indices
    word = last - Affine.of(innermost.name)
    return (
        innermost.lane
        and innermost.unroll == 0
        and len(stores) < 2  # of which one would undo lanes of the other
        and over is not None
        and over.first >= 0
        and over.last < lanes
        and all(c % lanes == 0 for _, c in word.terms)
        and word.const % lanes == 0
        and innermost.name not in word.variables()
        and all(innermost.name not in e.variables() for e in others)
    )
