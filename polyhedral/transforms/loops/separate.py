"""``separate()``: nests that a statement stands in become statements of their own.

Before, after ``split("t", 2)`` and ``peel("t_1", 1)``::

    for t_0 in range(8):
      for t_1 in range(0, 1):
        for i in range(100):
          S0: u[(2*t_0 + t_1 + 1) % 2, i] = f(u[(2*t_0 + t_1) % 2, i])
      for t_1 in range(1, 2):
        for i in range(100):
          S0: u[(2*t_0 + t_1 + 1) % 2, i] = f(u[(2*t_0 + t_1) % 2, i])

After::

    for t_0 in range(8):
      for i in range(100):
        S0: u[1, i] = f(u[0, i])
      for i in range(100):
        S0_2: u[0, i] = f(u[1, i])

The order stays as it is. Other than before, the two are told apart by later steps: they are pipelined, cut or distributed
each by itself, in loops that are called `S0.i` and `S0_2.i`. Loops of one iteration are left out, so that what they
told apart, remainders and conditions, is settled. A local that belongs to an iteration is one for each nest, where no
iteration uses it in two of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import Affine
from dsl.programs.expanded import with_accesses
from dsl.programs.names import unused
from dsl.programs.program import Array, Stmt, map_statements
from dsl.programs.scopes import ordered_locals
from dsl.schedules.pragma_steps import Reshape
from dsl.schedules.range_steps import Separate
from dsl.schedules.steps import AutoPartition, BindStorage, Partition
from polyhedral.legality.lifetimes import components
from polyhedral.scop.ranges import loop_copies, whole_range
from polyhedral.scop.scheduled import Dim, LoopId, Piece, Place, ScheduledScop
from polyhedral.transforms.materialise import Materialised, materialised
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.renewed import renewed

A = TypeVar("A", Partition, AutoPartition, Reshape, BindStorage)


@transform(Separate, order=Order.KEPT)
def separate(state: ScheduledScop, step: Separate) -> ScheduledScop:
    """Make a statement of each piece; see the module.

    Raises:
        ScheduleError: W242 each loop stands in one place; W241 it comes behind steps that count its statements.
    """
    if state.dataflow is not None or state.overlaps or state.streams or state.promised:
        raise ScheduleError(
            "W241",
            "separate comes behind steps that ask something of statements or loops by their names",
            span=step.span,
            help="put it in front of dataflow, stream and what else asks for the whole of a loop",
        )
    if all(len(loop_copies(state, uid)) < 2 for uid in _loops(state)):
        raise ScheduleError(
            "W242",
            "each loop stands in one place",
            span=step.span,
            help="peel a loop, or split it by a factor that leaves a remainder: these make several",
        )
    moved = without_single(state)
    own = own_locals(state, moved)
    try:
        new = renewed(_with_own_banks(moved, own), separated(moved, own))
    except LanguageError as error:
        text = "statements cannot be told apart: not all accesses are known to be in bounds then"
        notes = (error.message, *error.notes)
        raise ScheduleError("W241", text, span=step.span, notes=notes) from error
    return _told_apart(new)


def without_single(state: ScheduledScop) -> ScheduledScop:
    """The state without those copies of loops that run once, where there are several copies and nothing is asked of them."""
    for uid in _loops(state):
        copies = loop_copies(state, uid)
        if len(copies) > 1:
            for members in copies:
                state = _without(state, members, uid)
    return state


def _loops(state: ScheduledScop) -> list[LoopId]:
    return list(dict.fromkeys(dim.uid for piece in state.pieces for dim in piece.dims))


def _without(state: ScheduledScop, members: list[tuple[Piece, int]], uid: LoopId) -> ScheduledScop:
    """The state without a copy of a loop, if that runs once."""
    found = whole_range(members)
    plain = all(p.dims[k] == Dim(p.dims[k].name, uid) for p, k in members)
    if found is None or found.extent != 1 or not plain:
        return state
    placed: dict[int, tuple[Piece, Place]] = {}
    for piece, level in members:
        dims = (*piece.dims[:level], *piece.dims[level + 1 :])
        new = piece.transformed(dims, {piece.names[level]: Affine((), found.first)})
        at = piece.place
        placed[id(piece)] = new, (*at[:level], (at[level], at[level + 1]), *at[level + 2 :])
    return state.with_places(placed.get(id(p), (p, p.place)) for p in state.pieces)


# ------------------------------------------------------------------------------------------ locals


@dataclass(frozen=True, slots=True)
class OwnLocals:
    """Locals that are one for each nest.

    Attributes:
        depths: of those that there were, the loops around the declaration.
        new: the others, by the name of the one that they were.
        names: of a piece, by its identity, the names of its locals that are others now.
    """

    depths: Mapping[str, int] = field(default_factory=dict)
    new: tuple[tuple[str, Array], ...] = ()
    names: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


def own_locals(state: ScheduledScop, moved: ScheduledScop) -> OwnLocals:
    """The locals of which no iteration uses elements in two nests.

    Args:
        state: in whose loops they are.
        moved: the same without some loops of one iteration.
    """
    pieces = {id(old): new for old, new in zip(state.pieces, moved.pieces, strict=True)}
    taken = {a.name for a in state.scop.program.arrays}
    depths: dict[str, int] = {}
    new: list[tuple[str, Array]] = []
    names: dict[int, dict[str, str]] = {}
    for array in state.scop.program.locals:
        groups = components(state, array) if array.scope_depth else None
        if groups is None or len(groups) < 2:
            continue
        for n, (members, level) in enumerate(groups):
            left = {dim.uid for dim in pieces[id(members[0])].dims}
            depth = sum(dim.uid in left for dim in members[0].dims[:level])
            if n == 0:
                depths[array.name] = depth
                continue
            name = unused(array.name, taken)
            taken.add(name)
            new.append((array.name, replace(array, name=name, scope_depth=depth)))
            for piece in members:
                names.setdefault(id(pieces[id(piece)]), {})[array.name] = name
    return OwnLocals(depths, tuple(new), names)


def separated(state: ScheduledScop, own: OwnLocals) -> Materialised:
    """The program of the loops of a state, each statement with its own locals."""
    found = materialised(state)

    def moved(stmt: Stmt) -> Stmt:
        names = own.names.get(id(found.pieces[stmt.name]), {})
        return with_accesses(stmt, lambda a: replace(a, array=names.get(a.array, a.array)))

    old = found.program
    arrays = [replace(a, scope_depth=own.depths.get(a.name, a.scope_depth)) for a in old.arrays]
    body = tuple(map_statements(node, moved) for node in old.body)
    new = replace(old, arrays=(*arrays, *(a for _, a in own.new)), body=body)
    return replace(found, program=ordered_locals(new))


def _with_own_banks(state: ScheduledScop, own: OwnLocals) -> ScheduledScop:
    """What was asked of a local is asked of those that stand in its place."""
    names: dict[str, list[str]] = {}
    for old, array in own.new:
        names.setdefault(old, [old]).append(array.name)

    def each(asked: tuple[A, ...]) -> tuple[A, ...]:
        return tuple(replace(a, array=n) for a in asked for n in names.get(a.array, [a.array]))

    return replace(
        state,
        partitions=each(state.partitions),
        auto_partitions=each(state.auto_partitions),
        reshapes=each(state.reshapes),
        storage=each(state.storage),
    )


def _told_apart(state: ScheduledScop) -> ScheduledScop:
    """The state with an identity of its own for each copy of a loop, so that no step is on several."""
    renamed: dict[int, dict[int, LoopId]] = {}
    for uid in _loops(state):
        for n, members in enumerate(loop_copies(state, uid)):
            for piece, level in members if n else ():
                renamed.setdefault(id(piece), {})[level] = (*uid, "copy", n)
    pieces = []
    for piece in state.pieces:
        own = renamed.get(id(piece), {})
        dims = [replace(d, uid=own.get(k, d.uid)) for k, d in enumerate(piece.dims)]
        pieces.append(replace(piece, dims=tuple(dims)) if own else piece)
    return replace(state, pieces=tuple(pieces))
