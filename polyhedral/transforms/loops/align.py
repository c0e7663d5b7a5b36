"""``align(stmts, times)``: one outermost loop for the statements of an imperfect nest.

Each statement says at which iteration of the new loop it runs: at that of one of its loops, or at an
affine expression of them. That is one row of a schedule, in which each statement has an expression of
its own (Feautrier 1992; Kelly and Pugh 1993).

Before, a factorisation that is written row by row::

    for i in range(N):
      for j in range(i):
        for k in range(j):
          S0(i, j, k)
        S1(i, j)
      for j in range(i, N):
        for k in range(i):
          S2(i, j, k)

After ``align(["S1", "S0", "S2"], ["j", "k", "k"])``, with the step of elimination outermost::

    for k in range(N - 1):
      for i in range(k + 1, N):
        S1(i, k)
      for i in range(k + 2, N):
        for j in range(k + 1, i):
          S0(i, j, k)
      for i in range(k + 1, N):
        for j in range(i, N):
          S2(i, j, k)

In an iteration the statements run one after the other in the order named, each in the rest of its
loops, in their order; `fuse` lets them share these. With ``promote`` those of the rest that run a single iteration are left
out, as the loops around say which (``i == k + 1``); without it a later step may name them. The outermost ``depth`` loops stay
around all. Of the loops in an expression (``"39 - j"``, ``"t + i"``) the innermost one that is not multiplied becomes
the new loop; where there is none (``"0"``), the statement is put into the new loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dsl.errors.errors import ScheduleError, Span, did_you_mean
from dsl.errors.shown import shown
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.affine_text import read_affine
from dsl.programs.names import unused
from dsl.schedules.loop_requests import NO_REQUESTS
from dsl.schedules.step_calls import MAX_NUMBER
from dsl.schedules.steps import Align
from polyhedral.isl.conditions import value_told
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import Dim, LoopId, Piece, Place, ScheduledScop
from polyhedral.transforms.registry import transform

_PLAIN = (None, None, None, False, None, False)


@transform(Align)
def align(state: ScheduledScop, step: Align) -> ScheduledScop:
    """Give the statements a common loop; see the module."""
    rows = list(_rows(state, step))
    _check_nest(state, rows, step)
    first = rows[0]
    loop = Dim(_loop_name(rows, step), _unused(state, first), span=first.span)
    owner: dict[LoopId, str] = {}
    moved: dict[int, tuple[Piece, Place]] = {}
    for row in rows:
        inner = [
            # Loops of their own need identities of their own.
            d if owner.setdefault(d.uid, row.name) == row.name else _relabelled(d, row.name)
            for d in row.inner
        ]
        new = row.under(loop, inner)
        if step.promote and len(state.of_statement(row.name)) == 1:
            new = _without_told(new, step.depth)
        inside = len(new.dims) - step.depth - 1
        moved[id(row.piece)] = new, row.place(first.piece.place[step.depth], inside)
    return state.with_places(moved.get(id(p), (p, p.place)) for p in state.pieces)


@dataclass(frozen=True, slots=True)
class _Row:
    """A piece, its statement's place among those named, its time, and the level of the loop that the
    time replaces; None where it replaces none.
    """

    piece: Piece
    rank: int
    time: Affine
    level: int | None
    depth: int

    @property
    def name(self) -> str:
        return self.piece.name

    @property
    def inner(self) -> tuple[Dim, ...]:
        """The loops that stay inside the new one."""
        dims = self.piece.dims
        return tuple(d for k, d in enumerate(dims) if k >= self.depth and k != self.level)

    @property
    def span(self) -> Span | None:
        """The place of the loop that becomes the new one."""
        return None if self.level is None else self.piece.dims[self.level].span

    def under(self, loop: Dim, inner: list[Dim]) -> Piece:
        """The piece in the new loop."""
        dims = (*self.piece.dims[: self.depth], loop, *inner)
        now = Affine.of(loop.name)
        if self.level is None:
            return self.piece.transformed(dims, {}, [Constraint(now - self.time, "==")])
        old = self.piece.dims[self.level].name
        sign = self.time.coefficient(old)
        rest = self.time - Affine.of(old) * sign
        return self.piece.transformed(dims, {old: (now - rest) * sign})

    def place(self, at: int, inner: int) -> Place:
        """Where it stands: parts of a statement share the loops that they shared."""
        old = self.piece.place
        outer = (*old[: self.depth], at)
        if not inner:
            return (*outer, (self.rank, *old))
        return (*outer, (self.rank, *old[:-1]), *[0] * (inner - 1), old[-1])


def _without_told(piece: Piece, depth: int) -> Piece:
    """The piece without loops inside the new one that run once, as the loops around say in which iteration: ``i == k + 1``."""
    names = piece.names
    for level in range(len(names) - 1, depth, -1):
        dim = piece.dims[level]
        told = value_told(piece.domain, level, names) if piece.hull is piece.domain else None
        if told is not None and dim == Dim(dim.name, dim.uid):
            dims = (*piece.dims[:level], *piece.dims[level + 1 :])
            piece = piece.transformed(dims, {dim.name: told})
            names = piece.names
    return piece


def _rows(state: ScheduledScop, step: Align) -> Iterator[_Row]:
    if len(step.stmts) != len(step.times):
        raise ScheduleError(
            "W207",
            f"{len(step.stmts)} statements and {len(step.times)} times",
            span=step.span,
            help="give one expression of its loops a statement",
        )
    if not step.stmts or len(set(step.stmts)) < len(step.stmts):
        raise ScheduleError("W210", "align needs different statements", span=step.span)
    if step.depth < 0:
        raise ScheduleError("W210", f"depth is {step.depth}, not at least 0", span=step.span)
    for rank, (name, text) in enumerate(zip(step.stmts, step.times, strict=True)):
        for piece in find_statement(state, name, step):
            if len(piece.dims) < step.depth:
                raise ScheduleError(
                    "W210",
                    f"depth is {step.depth}, but {name} has {len(piece.dims)} loops",
                    span=step.span,
                )
            time = _time(piece, text, step)
            yield _Row(piece, rank, time, _replaced(piece, time, text, step), step.depth)


def _time(piece: Piece, text: str, step: Align) -> Affine:
    try:
        time = read_affine(text)
        if max(abs(c) for c in (time.const, *(c for _, c in time.terms))) > MAX_NUMBER:
            raise ValueError(f"numbers of at most {MAX_NUMBER}")
    except ValueError:
        raise ScheduleError(
            "W207",
            f"{piece.name} cannot run at {shown(text)}",
            span=step.span,
            help='a time is a sum of loops and whole numbers: "k", "39 - j", "2*t + i"',
        ) from None
    for name in sorted(time.variables() - set(piece.names)):
        raise ScheduleError(
            "W201",
            f"no loop around {piece.name} is called {shown(name)}",
            span=step.span,
            help=did_you_mean(name, piece.names),
        )
    return time


def _replaced(piece: Piece, time: Affine, text: str, step: Align) -> int | None:
    """The level of the loop that becomes the new one."""
    own = [k for k, d in enumerate(piece.dims) if k >= step.depth and time.coefficient(d.name)]
    for level in reversed(own):
        dim = piece.dims[level]
        if abs(time.coefficient(dim.name)) == 1:
            asked = dim.pipeline_ii, dim.unroll, dim.flatten, dim.lane, dim.region, dim.sequential
            if asked != _PLAIN or dim.requests != NO_REQUESTS:
                raise ScheduleError(
                    "W214",
                    f"'{dim.name}' is annotated already",
                    span=step.span,
                    help="change the loops first, then pipeline and unroll what results",
                )
            return level
    if own:
        raise ScheduleError(
            "W207",
            f"{piece.name} cannot run at {shown(text)}: all of its loops are multiplied",
            span=step.span,
            help=f"one of the loops below depth {step.depth} has to have the factor 1 or -1",
        )
    return None


def _check_nest(state: ScheduledScop, rows: list[_Row], step: Align) -> None:
    """W204 unless the statements are whole nests in the same iteration of the outer loops."""
    if not rows:
        raise ScheduleError(
            "W210", f"{', '.join(step.stmts)}: no iterations are left", span=step.span
        )
    outer = rows[0].piece.place[: step.depth]
    nests = {row.piece.place[: step.depth + 1] for row in rows}
    for row in rows:
        if row.piece.place[: step.depth] != outer:
            raise ScheduleError(
                "W204",
                f"{rows[0].name} and {row.name} do not share {step.depth} loops",
                span=step.span,
                help="align them at the depth of the loops that they share",
            )
    for piece in state.pieces:
        if piece.place[: step.depth + 1] in nests and piece.name not in step.stmts:
            raise ScheduleError(
                "W204",
                f"{piece.name} is in the nest as well",
                span=step.span,
                help=f'say when it runs, or distribute(["{piece.name}"], depth={step.depth}) first',
            )


def _loop_name(rows: list[_Row], step: Align) -> str:
    """The name that is asked for, or that of a loop which becomes the new one, or ``t``."""
    taken = {d.name for row in rows for d in (*row.piece.dims[: row.depth], *row.inner)}
    if step.loop is not None:
        if not step.loop.isidentifier():
            raise ScheduleError(
                "W208", f"'{step.loop}' cannot be the name of a loop", span=step.span
            )
        if step.loop in taken:
            raise ScheduleError(
                "W208",
                f"'{step.loop}' is another loop around one of the statements",
                span=step.span,
                help="give the new loop another name",
            )
        return step.loop
    own = (row.piece.dims[row.level].name for row in rows if row.level is not None)
    return next((name for name in own if name not in taken), unused("t", taken))


def _unused(state: ScheduledScop, row: _Row) -> LoopId:
    """An identity that no loop has."""
    taken = {d.uid for p in state.pieces for d in p.dims}
    dims = row.piece.dims
    new: LoopId = (*(dims[row.level or row.depth].uid if dims[row.depth :] else ()), "aligned")
    while new in taken:
        new = (*new, "aligned")
    return new


def _relabelled(dim: Dim, label: str) -> Dim:
    return replace(dim, uid=(*dim.uid, label))
