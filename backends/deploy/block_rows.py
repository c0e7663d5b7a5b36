"""Eliminations in place in blocks of rows: a block stays on the chip while the rows that were finished before pass by.

A factorisation or a solver updates an array in place, each row by all earlier ones, in loops whose bounds move with the
loops around. Its tiles are not boxes of loops: each would touch all of the array. With blocks of ``T`` rows outermost and
the step of elimination ``k`` next, what an iteration of the blocks writes is its own rows, and what it reads of other rows
comes block by block. Before::

    for i in range(N):
      for j in range(i):
        for k in range(j):
          A[i, j] -= A[i, k] * A[k, j]
        A[i, j] /= A[j, j]

After, with ``rows`` a copy of T rows at ``i_0`` and ``row`` one of the T rows at ``k_0``::

    for i_0:
      for k_0 < i_0:                              # rows of finished blocks
        for k = T*k_0 ...:
          for i_1: rows[i_1, k] /= row[k - T*k_0, k]
          for i_1, j: rows[i_1, j] -= rows[i_1, k] * row[k - T*k_0, j]
      for k = T*i_0 ...:                          # rows of this block
        for i_1: ...

These are `split`, `align` (or `reorder`, where elimination is outermost already), `peel` in front of the block, and
`buffer`; each is proven legal, and where one is not there are no such blocks. Of N rows of N elements about N^3 / (2 T)
pass, where one by one N^3 / 3 do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from backends.deploy.nests import Nest, accessed
from backends.deploy.rooms import bits_of
from dsl.expressions.affine import Affine
from dsl.expressions.affine_text import read_affine
from dsl.expressions.expr import Access
from dsl.programs.names import unused
from dsl.programs.program import Storage
from dsl.schedules.range_steps import Peel
from dsl.schedules.steps import Align, Buffer, Distribute, Reorder, Split, Step
from polyhedral.dependences.alignments import alignments
from polyhedral.schedule import tried
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import ScheduledScop

_MOST_ROWS = 64
_TRIED = 4  # loops that elimination could go along
_Made = tuple[ScheduledScop, tuple[Step, ...]]


def in_block_rows(
    state: ScheduledScop, nest: Nest, names: Mapping[str, str], room: int
) -> _Made | None:
    """The nest in blocks of rows, the largest whose copies fit; None where it is no elimination in place.

    Args:
        state: the program.
        nest: one of its nests, which has no tiles.
        names: of the copies by the arrays.
        room: bits for copies.
    """
    if nest.level or len(set(nest.statements)) < len(nest.statements):
        return None
    # Copies that other nests got since have made its loops those of another program.
    nest = replace(nest, pieces=tuple(p for s in nest.statements for p in state.of_statement(s)))
    if len(nest.pieces) != len(nest.statements) or not _moving_bounds(nest):
        return None
    # Copies are told from statements of the kernel by these having a place in a file.
    if any(piece.statement.stmt.span is None for piece in nest.pieces):
        return None
    own = _rows_of(state, nest)
    if own is None or not _reads_other_rows(nest, own):
        return None
    rows = _MOST_ROWS
    while nest.extents and rows > nest.extents[0] // 2:
        rows //= 2
    while rows > 1:
        made = [*_steps_inside(state, nest, own, rows), *_steps_around(state, nest, own, rows)]
        found = [one for way in made if (one := _copied(*way, nest, names)) is not None]
        if not found:
            return None  # fewer rows are in no other way
        for after, steps in found:
            if _bits_more(state, after) <= room:
                return after, steps
        rows //= 2
    return None


def _moving_bounds(nest: Nest) -> bool:
    """Whether loops have bounds that move with loops around."""
    return any(constant_interval(p, k) is None for p in nest.pieces for k in range(len(p.dims)))


def _rows_of(state: ScheduledScop, nest: Nest) -> list[Affine] | None:
    """The row that each statement writes, over its loops, or where it writes a local that of a statement behind it in
    the same loops; None where one has none.
    """
    found: list[Affine] = []
    behind: list[Affine] = []
    for piece in reversed(nest.pieces):
        target = piece.statement.stmt.target
        if state.scop.program.array(target.array).storage is Storage.ARGUMENT and target.indices:
            behind.append(target.indices[0].substitute(dict(piece.bindings)))
        near = [row for row in behind if row.variables() <= set(piece.names)]
        if not near:
            return None
        found.append(near[-1])
    return found[::-1]


def _reads_other_rows(nest: Nest, own: Sequence[Affine]) -> bool:
    """Whether a statement reads other rows than it writes of an array that the nest updates."""
    written = {piece.statement.stmt.target.array for piece in nest.pieces}
    return any(
        access.indices[0].substitute(dict(piece.bindings)) != row
        for piece, row in zip(nest.pieces, own, strict=True)
        for access in accessed(piece)[1:]
        if access.array in written and access.indices
    )


def _steps_inside(
    state: ScheduledScop, nest: Nest, own: Sequence[Affine], rows: int
) -> Iterator[_Made]:
    """Of a nest that is written row by row: blocks of rows, and a step of elimination inside of them."""
    head = nest.pieces[0].names[0]
    if any(row != Affine.of(head) for row in own):
        return
    outer, inner = (_unused(state, f"{head}_{k}") for k in range(2))
    cut = Split(f"{nest.statements[0]}.{head}", rows, outer, inner, "guard")
    split = tried(state, cut)
    if split is None:
        return
    row = split.of_statement(nest.statements[0])[0].bindings
    at = dict(row)[head]
    for align in alignments(state, nest.pieces, 0)[:_TRIED]:
        times = tuple(str(read_affine(text).substitute({head: at})) for text in align.times)
        loop = _unused(state, "k")
        inside = Align(align.stmts, times, loop, 1, promote=True)
        moved = tried(split, inside)
        if moved is not None:
            yield from _in_two(
                moved, (cut, inside), align.stmts[0], loop, at - Affine.of(inner), rows
            )


def _steps_around(
    state: ScheduledScop, nest: Nest, own: Sequence[Affine], rows: int
) -> Iterator[_Made]:
    """Of a nest with the step of elimination outermost: blocks of rows around it."""
    step = nest.pieces[0].names[0]
    pairs = zip(nest.pieces, own, strict=True)
    if any(len(piece.dims) > 1 and row == Affine.of(step) for piece, row in pairs):
        return  # rows are outermost
    loop = _unused(state, "r")
    stmts = nest.statements
    together = Align(stmts, tuple(map(str, own)), loop, 1, promote=True)
    outer, inner = f"{loop}_0", f"{loop}_1"
    head = stmts[0]
    # By rows first: these have bounds that are numbers, so that blocks are whole, under guards.
    by_rows = Reorder((f"{head}.{loop}", f"{head}.{step}"))
    cut = Split(f"{head}.{loop}", rows, outer, inner, "guard")
    around = Reorder((f"{head}.{outer}", f"{head}.{step}", f"{head}.{inner}"))
    moved = tried(state, together, by_rows, cut, around)
    first = None if moved is None else _first_row(moved, nest, inner)
    if moved is not None and first is not None:
        yield from _in_two(moved, (together, by_rows, cut, around), head, step, first, rows)


def _first_row(state: ScheduledScop, nest: Nest, inner: str) -> Affine | None:
    """The first row of a block, over the loop of blocks."""
    pieces = (state.of_statement(name)[0] for name in nest.statements)
    targets = ((p.statement.stmt.target, dict(p.bindings)) for p in pieces)
    rows = (t.indices[0].substitute(values) for t, values in targets if t.indices)
    return next((row - Affine.of(inner) for row in rows if inner in row.variables()), None)


def _in_two(
    state: ScheduledScop, steps: tuple[Step, ...], head: str, loop: str, first: Affine, rows: int
) -> Iterator[_Made]:
    """Elimination by rows of finished blocks, in blocks, in front of that by rows of the block itself."""
    behind = (Peel(f"{head}.{loop}", before=str(first)), Split(f"{head}.{loop}", rows))
    moved = tried(state, *behind)
    if moved is not None:
        yield moved, (*steps, *behind)


def _copied(
    state: ScheduledScop,
    steps: tuple[Step, ...],
    nest: Nest,
    names: Mapping[str, str],
) -> _Made | None:
    """With copies of the block's own rows, and of those that pass by; None where an array has none."""
    head = nest.statements[0]
    loops = tuple(f"{head}.{name}" for name in state.of_statement(head)[0].names[:2])
    for array, copy in names.items():
        if any(access.array == array for _, access in _accesses(state, head)):
            made = _of_array(state, head, array, copy, loops)
            if made is None:
                return None
            state, more = made
            steps += more
    return _told_apart(state, steps, head)


def _told_apart(state: ScheduledScop, steps: tuple[Step, ...], head: str) -> _Made:
    """With loops of their own in the block: those over its own rows, and of each statement, as far as that is legal."""
    first = state.of_statement(head)[0].place[0]
    own = [p for p in state.pieces if p.place[0] == first and p.statement.stmt.span is not None]
    last = max(p.place[1] for p in own)
    apart = [tuple(dict.fromkeys(p.name for p in own if p.place[1] == last))]
    apart += [(name,) for name in dict.fromkeys(p.name for p in own)]
    for names, depth in zip(apart, (1, *[3] * len(apart)), strict=False):
        moved = tried(state, step := Distribute(names, depth))
        if moved is not None:
            state, steps = moved, (*steps, step)
    return state, steps


def _of_array(
    state: ScheduledScop, head: str, array: str, copy: str, loops: Sequence[str]
) -> _Made | None:
    """The copies of one array that take least: all in the block, or its own rows there and the others as they pass by."""
    block, passing = loops
    own = [one for number, one in _accesses(state, head) if one.array == array and not number]
    ways: list[tuple[Step, ...]] = [(Buffer(array, block, copy),)]
    if not own:  # what is written passes once
        ways.append((Buffer(array, passing, copy),))
    for access in dict.fromkeys(map(str, own)):
        rest = Buffer(array, passing, f"{copy}_passing")
        ways.append((Buffer(array, block, copy, access), rest))
    made = [(_bits_more(state, after), after, way) for way in ways if (after := tried(state, *way))]
    if not made:
        return None
    _, after, way = min(made, key=lambda one: one[0])
    return after, way


def _bits_more(state: ScheduledScop, after: ScheduledScop) -> int:
    """Of the copies that are made."""
    known = {array.name for array in state.scop.program.arrays}
    return sum(bits_of(a) for a in after.scop.program.arrays if a.name not in known)


def _accesses(state: ScheduledScop, head: str) -> Iterator[tuple[int, Access]]:
    """What the statements of the kernel access in the nest of one of them, and which access of theirs: 0 is the target."""
    first = state.of_statement(head)[0].place[0]
    for piece in state.pieces:
        if piece.place[0] == first and piece.statement.stmt.span is not None:
            values = dict(piece.bindings)
            for number, access in enumerate(accessed(piece)):
                indices = tuple(index.substitute(values) for index in access.indices)
                yield number, replace(access, indices=indices)


def _unused(state: ScheduledScop, name: str) -> str:
    """A name for a loop that none has."""
    return unused(name, {dim.name for piece in state.pieces for dim in piece.dims})
