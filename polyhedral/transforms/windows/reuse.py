"""``reuse(array, at)``: elements that iterations read again are kept in line buffers and a window.

Before::

    for y in range(1, 7):
      for x in range(1, 9):
        B[y, x] = A[y - 1, x] + A[y, x - 1] + A[y, x] + A[y, x + 1] + A[y + 1, x]       # S0

After ``reuse("A", at="y")``; conditions that say where a position of the window is needed are left out::

    for y in range(-1, 7):
      for x in range(-1, 9):
        for a in range(3):
          for b in range(2):
            A_window[a, b] = A_window[a, b + 1]                                         # shift_A
        A_window[2, 2] = A[y + 1, x + 1]                                                # load_A
        for a in range(2):
          A_window[a, 2] = A_line[a, x + 1]                                             # take_A
        for a in range(2):
          A_line[a, x + 1] = A_window[a + 1, 2]                                         # keep_A
        if y >= 1 and x >= 1:
          B[y, x] = A_window[0, 1] + A_window[1, 0] + ... + A_window[2, 1]              # S0

Each element is read from the array once, and in the order of memory where the loops have it. The loops
start earlier, to fill the window. It moves with ``at`` and with the loops directly inside of it, as long
as each moves along a dimension of its own; with ``reuse("A", at="x")`` there is a window alone, and a
column of it is read in each iteration. What moves by several elements, as a convolution of stride 2
does, reads so many new ones. The rows and the window are partitioned: a pipelined ``x`` can start
each cycle.

The array is not written in the loop, so what is kept is what it holds: by construction here, and proven
for what came out by `polyhedral.equivalence.reuse`. That all that is taken of a local was kept before is
checked as in any program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.expr import Access, Load
from dsl.programs.buffered import Region, with_regions
from dsl.programs.program import Array, Storage
from dsl.schedules.steps import Reuse
from polyhedral.legality.program import check_program
from polyhedral.requests.packed import packed_lanes
from polyhedral.scop.execution_order import shared_loops
from polyhedral.scop.lookup import find_array, find_loop
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop
from polyhedral.scop.scop import Scop, Statement, build_scop
from polyhedral.transforms.guarding import cut_down, side_by_side
from polyhedral.transforms.materialise import (
    Materialised,
    Spanned,
    materialised,
    over_program,
    program_nodes,
    unrolled_as_made,
)
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.tiles.footprint import Use
from polyhedral.transforms.windows.shifting import Names, shifting
from polyhedral.transforms.windows.window import Window, window_of
from polyhedral.transforms.words import Words


@transform(Reuse, order=Order.KEPT)
def reuse(state: ScheduledScop, step: Reuse) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W232 nothing is read again, or not so that a window has it, or the step comes
            too late; W207 too large.
    """
    array = find_array(state, step.array, step)
    uid = find_loop(state, step.at, step)
    _check_array(state, array, step)
    found = materialised(state)
    nests = [n for n in _nests(build_scop(found.program), found, uid) if n.touches(array)]
    if not nests:
        raise _refused(step, f"nothing in '{step.at}' reads '{array.name}'", _locals(state, array))
    lanes = packed_lanes(state.packs, array)
    words = Words(lanes, array.shape) if lanes else None
    windows = [_window(array, nest, words, step) for nest in nests]
    # What is beside the elements that are read may be undefined in a local.
    for whole in (True, False):
        try:
            return _kept(state, found, array, windows, whole, step)
        except LanguageError as error:
            if array.storage is not Storage.LOCAL or not whole:
                raise _refused(step, error.message, None, (*error.notes,)) from error
    raise AssertionError("one of the two is tried last")


def _refused(
    step: Reuse, text: str, help_: str | None = None, notes: tuple[str, ...] = ()
) -> ScheduleError:
    return ScheduleError("W232", text, span=step.span, notes=notes, help=help_)


def _locals(state: ScheduledScop, array: Array) -> str | None:
    """Which locals the array is read into already."""
    copies = {
        s.target.array
        for s in state.scop.program.statements()
        if isinstance(s.value, Load) and s.value.access.array == array.name
        and state.scop.program.array(s.target.array).storage is Storage.LOCAL
    }  # fmt: skip
    return f"it is read into {' and '.join(sorted(copies))} already" if copies else None


def _check_array(state: ScheduledScop, array: Array, step: Reuse) -> None:
    """W232 unless reads of the array can be replaced."""
    if not array.shape:
        raise _refused(step, f"'{array.name}' is a scalar, which is a register anyway")
    if state.dataflow is not None or any(s.array == array.name for s in state.streams):
        text = "reuse comes after dataflow or stream, which count the accesses of each process"
        raise _refused(step, text, "put it in front of them")


# ------------------------------------------------------------------------------------- nests


@dataclass(frozen=True, eq=False)
class _Nest:
    """A copy of the loop that the step names: its level, and what is in it, in order."""

    level: int
    statements: tuple[Statement, ...]
    pieces: tuple[Piece, ...]

    def touches(self, array: Array) -> bool:
        """Whether something in it accesses the array."""
        return any(s.touches(array.name) for s in self.statements)


def _nests(scop: Scop, found: Materialised, uid: LoopId) -> list[_Nest]:
    """Where the loop stands: once, or also in remainder nests."""
    groups: dict[tuple[int, ...], list[Statement]] = {}
    for s in scop.statements:
        level = found.pieces[s.name].level(uid)
        if level is not None:
            groups.setdefault(s.place[: level + 1], []).append(s)
    return [
        _Nest(len(place) - 1, tuple(own), tuple(found.pieces[s.name] for s in own))
        for place, own in groups.items()
    ]


def _window(array: Array, nest: _Nest, words: Words | None, step: Reuse) -> Window:
    """The window of a nest, moved by as many loops as move it."""
    for s in nest.statements:
        if s.stmt.target.array == array.name:
            raise _refused(
                step,
                f"{s.name} writes '{array.name}' in '{step.at}'",
                "give it a loop of its own in front: what is kept is not written meanwhile",
            )
        if any(e.is_data for a in s.reads if a.array == array.name for e in a.indices):
            raise _refused(
                step,
                f"{s.name} reads '{array.name}' at a subscript that is data",
                f'buffer("{array.name}", at="{step.at}") makes a copy of all that it may read',
            )
    if array.scope_depth > nest.level:
        raise _refused(step, f"'{array.name}' belongs to one iteration of '{step.at}'")
    readers = [
        (s, p) for s, p in zip(nest.statements, nest.pieces, strict=True) if s.touches(array.name)
    ]
    most = min(shared_loops(readers[0][0].place, s.place) for s, _ in readers)
    window: Window | None = None
    for depth in range(nest.level + 1, most + 1):
        names = readers[0][1].names[:depth]
        uses = [
            Use(s.name, p, access, False, depth, array.shape)
            for s, p in readers
            for access in s.reads
            if access.array == array.name
        ]
        wider = window_of(uses, names, nest.level, words)
        if wider is None or (window is not None and not _passes(wider)):
            break
        window = wider
    if window is None:
        raise _no_window(array, step)
    if not window.axes[0].kept:
        text = f"no iteration of '{step.at}' reads what another one reads of '{array.name}'"
        raise _refused(step, text, _inner(window, array))
    if words is not None and not window.takes_words:
        raise _refused(
            step,
            f"'{array.name}' is in words of {words.lanes} elements, and no iteration reads a whole "
            "one anew",
            f"split the loop along its rows by {words.lanes} in front of reuse, where rows are of "
            f'whole words; or buffer("{array.name}"), and reuse its copy',
        )
    return window


def _passes(window: Window) -> bool:
    """Whether the innermost loop passes along the array, with all of it before a loop around goes on: not
    so a loop over taps.
    """
    axis = window.axes[-1]
    piece = window.tile.uses[0].piece
    offset = window.tile.offsets[axis.dim]
    low, high = (
        v.to_python()
        for v in (piece.domain.dim_min_val(axis.level), piece.domain.dim_max_val(axis.level))
    )
    way = abs(offset.coefficient(window.names[axis.level])) * (high - low + 1)
    others = [abs(offset.coefficient(name)) for name in window.names[: axis.level]]
    return all(step >= way for step in others if step)


def _no_window(array: Array, step: Reuse) -> ScheduleError:
    return _refused(
        step,
        f"what '{step.at}' reads of '{array.name}' does not move along one dimension with it",
        f'buffer("{array.name}", at="{step.at}") makes a copy of all that an iteration reads',
    )


def _inner(window: Window, array: Array) -> str | None:
    """A loop further in that reads elements again."""
    inside = next((axis for axis in window.axes if axis.kept), None)
    return f'reuse("{array.name}", at="{window.names[inside.level]}")' if inside else None


# --------------------------------------------------------------------------------- rewriting


def _kept(
    state: ScheduledScop,
    found: Materialised,
    array: Array,
    windows: Sequence[Window],
    whole: bool,
    step: Reuse,
) -> ScheduledScop:
    """The state over the program that reads windows; ``whole`` is as in `Window.read`.

    Raises:
        LanguageError: W161 an element beside those that are read is undefined.
    """
    old = found.program
    names = Names({a.name for a in old.arrays}, {s.name for s in old.statements()})
    made = [
        shifting(window, window.read(array.shape, whole), array, names, step) for window in windows
    ]
    spanned = [Spanned(name, p, p.domain) for name, p in found.pieces.items()]
    body = program_nodes([*spanned, *(s for one in made for s in one.statements)])
    accesses = {
        (use.name, use.access): Access(one.window, window.position(use.access))
        for window, one in zip(windows, made, strict=True)
        for use in window.tile.uses
    }
    arrays = [a for one in made for a in one.arrays]
    new = with_regions(replace(old, body=body), arrays, [Region(None, accesses, (), ())])
    after = over_program(state, found, check_program(new))
    loops = {s.name: s.piece.dims for one in made for s in one.statements}
    loads = {one.load for one in made}
    after = after.with_places(
        pair
        for p in after.pieces
        for pair in side_by_side(
            [
                unrolled_as_made(part, loops.get(p.name, ()))
                for part in (_over_all(p) if p.name in loads else [p])
            ],
            p.place,
        )
    )
    partitions = (p for one in made for p in one.partitions)
    return replace(after, partitions=(*after.partitions, *partitions))


def _over_all(load: Piece) -> list[Piece]:
    """The statement that reads the array in all iterations of its loops, guarded: they stay one nest
    where windows of several arrays begin in different iterations.
    """
    return cut_down(replace(load, hull=load.frame)) or [load]
