"""Arrays that a statement writes across the rows of what it reads, as a transposition does: stored in words from registers.

A tile that is copied in by rows and copied out by columns is there twice, once as it is read and once as it is written,
and each copy twice where tiles overlap. Every row of a tile waits for memory, so that what counts is how long the rows are
which fit. What a statement assigns word by word, in the order of memory, needs no copy but a word::

    for j_1 in range(256):
      for i_1_0 in range(64):
        for i_1_1 in range(4):
          B_chip[i_1_1] = A_chip[4*i_1_0 + i_1_1, j_1]
        B[256*j_0 + j_1, 64*i_0 + i_1_0] = B_chip          # a word
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from backends.deploy.nests import Nest, accessed
from dsl.expressions.affine import Affine
from dsl.expressions.expr import loads
from dsl.schedules.steps import Buffer, Reorder, Split, Step
from polyhedral.requests.packed import packed_lanes
from polyhedral.schedule import tried
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop


@dataclass(frozen=True, slots=True)
class WordStore:
    """What is stored in words.

    Attributes:
        statement: its name.
        loops: by which its element moves, one for each subscript.
        lanes: elements of a word.
    """

    statement: str
    loops: tuple[str, ...]
    lanes: int


def word_stores(
    state: ScheduledScop, nest: Nest, names: Mapping[str, str]
) -> Mapping[str, WordStore]:
    """The arrays behind ports that a nest of one statement stores so; none where it reads them, or rows as it writes them."""
    if len(nest.pieces) != 1:
        return {}
    (piece,) = nest.pieces
    target = piece.statement.stmt.target
    if target.array not in names or any(
        access.array == target.array
        for other in state.pieces
        for access in (accessed(other) if other is not piece else loads(piece.statement.stmt.value))
    ):
        return {}
    lanes = packed_lanes(state.packs, state.scop.program.array(target.array))
    loops = tuple(_moving(piece))
    row = loops[-1] if loops else ""
    across = any(
        access.array in names and row not in _names(piece, access.indices[-1])
        for access in loads(piece.statement.stmt.value)
    )
    if lanes < 2 or sorted(loops) != sorted(piece.names[nest.level :]) or not across:
        return {}
    own = whole_range([(piece, piece.names.index(row))])
    if own is None or own.first % lanes or own.extent % lanes:
        return {}  # words would be written in part
    return {target.array: WordStore(piece.name, loops, lanes)}


def stored_in_words(
    state: ScheduledScop, nest: Nest, store: WordStore, buffer: Buffer
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The nest in tiles with the loops of a tile in the order of memory, and the copy of a word; None where that is not
    legal.
    """
    inside = {
        name: f"{store.statement}.{name}_1" if name in nest.loops else f"{store.statement}.{name}"
        for name in store.loops
    }
    refs = tuple(inside[name] for name in store.loops)
    row = refs[-1].rpartition(".")[2]
    steps: list[Step] = [Reorder(refs)] if len(refs) > 1 else []
    steps.append(Split(refs[-1], store.lanes, f"{row}_0", f"{row}_1"))
    steps.append(Buffer(buffer.array, f"{store.statement}.{row}_0", buffer.name))
    made = tried(state, *steps)
    return None if made is None else (made, tuple(steps))


def _moving(piece: Piece) -> Iterator[str]:
    """The loop that each subscript of what a statement assigns is; nothing where one is anything else."""
    for index in piece.statement.stmt.target.indices:
        own = index.substitute(dict(piece.bindings))
        ((name, factor),) = own.terms if len(own.terms) == 1 else (("", 0),)
        if factor != 1 or own.const or not isinstance(name, str):
            return
        yield name


def _names(piece: Piece, index: Affine) -> set[str]:
    return {str(v) for v in index.substitute(dict(piece.bindings)).variables()}
