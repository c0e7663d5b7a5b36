"""`ScheduledScop`: level 2. A program under a schedule, as pieces of its statements.

A `Piece` is a statement restricted to a part of its domain, with the loops it now runs in. Its
dimensions *are* the new loops: the domain is kept over them, and each original loop variable is an
affine expression of them (``i = 32*i_0 + i_1``), so no floor division ever enters isl. Where a
piece stands is told by ``place``, the static positions between the loops (Kelly and Pugh's 2d+1
form): two pieces share their loop at level k exactly when ``place[: k + 1]`` agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import islpy as isl

from dsl.errors.errors import Span
from dsl.expressions.affine import Affine, Constraint
from dsl.programs.program import Loop, Program
from dsl.schedules.loop_requests import NO_REQUESTS, LoopRequests
from dsl.schedules.pragma_steps import Cache, Reshape, Stable
from dsl.schedules.steps import (
    AutoPartition,
    BindOp,
    BindStorage,
    Dataflow,
    Interface,
    Pack,
    Partition,
    Pipeline,
    Step,
    Stream,
)
from polyhedral.isl.text import (
    affine_text,
    conjunction,
    constraint_text,
    dims,
    map_of,
    multi_aff_of,
    positional,
    set_of,
)
from polyhedral.scop.scop import Scop, Statement, build_scop, origin_of

LoopId = tuple[int | str, ...]
Place = Sequence[int | tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Dim:
    """One loop around a piece. Pieces that share a loop hold equal `Dim`s.

    ``uid`` is the loop's identity through the steps: the copies of a loop that a remainder nest
    makes keep it, so that later steps apply to all of them. ``lane``: it goes over the lanes of a word
    (`polyhedral.transforms.words`); ``held``: over positions of a window, which move at once
    (`polyhedral.transforms.windows.reuse`). ``region``: the step that made a dataflow region of its body.
    """

    name: str
    uid: LoopId
    pipeline_ii: int | None = None
    unroll: int | None = None
    flatten: bool | None = None
    sequential: bool = False
    lane: bool = False
    held: bool = False
    region: Dataflow | None = None
    requests: LoopRequests = NO_REQUESTS
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a statement's iterations and the loops it runs in.

    ``domain``: over ``dims``, exact. ``hull``: what the loops run over; larger than the domain
    only where a step asked for guards, and then ``guards`` cut it down to the domain. ``frame``:
    the hull without the conditions around the statement, which contains it.
    ``bindings``: original loop variable to an `Affine` of the names in ``dims``.
    """

    statement: Statement
    dims: tuple[Dim, ...]
    place: tuple[int, ...]
    domain: isl.Set
    bindings: tuple[tuple[str, Affine], ...]
    hull: isl.Set
    frame: isl.Set
    guards: tuple[Constraint, ...] = ()

    @property
    def name(self) -> str:
        """The statement's name."""
        return self.statement.name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the loops, outermost first."""
        return tuple(d.name for d in self.dims)

    @property
    def depth(self) -> int:
        """Loops around it, but for those innermost over lanes and over positions of a window, and those from one that is
        spread over ports on, whose copies stand by themselves.
        """
        spread = (k for k, dim in enumerate(self.dims) if dim.requests.spread)
        count = next(spread, len(self.dims))
        while count and (self.dims[count - 1].lane or self.dims[count - 1].held):
            count -= 1
        return count

    @cached_property
    def times(self) -> isl.Map:
        """Original iteration to the iteration of the new loops."""
        names = positional(self.names, "t")
        values = ", ".join(affine_text(e, names) for _, e in self.bindings)
        back = (
            f"{{ [{', '.join(dims(len(self.dims), 't'))}] -> s{self.statement.index}[{values}] }}"
        )
        return map_of(back).intersect_domain(self.domain).reverse()

    def at(self, place: tuple[int, ...]) -> Piece:
        """The same iterations somewhere else; what has been found out of them is kept."""
        piece = copy(self)
        object.__setattr__(piece, "place", place)
        return piece

    def instants(self, length: int, last: int | None = None) -> isl.Map:
        """Original iteration to ``[place0, loop0, place1, …]``, which orders all pieces.

        Args:
            length: loops of the deepest piece; what a piece lacks is 0.
            last: one more entry.
        """
        names = dims(len(self.dims), "t")
        time: list[str] = []
        for k in range(length + 1):
            time.append(str(self.place[k]) if k < len(self.place) else "0")
            if k < length:
                time.append(names[k] if k < len(names) else "0")
        time += [] if last is None else [str(last)]
        return self.times.apply_range(map_of(f"{{ [{', '.join(names)}] -> [{', '.join(time)}] }}"))

    def with_dim(self, level: int, dim: Dim) -> Piece:
        """Annotate or rename the loop at one level."""
        old = self.dims[level]
        changed = (*self.dims[:level], dim, *self.dims[level + 1 :])
        if old.name == dim.name:
            return replace(self, dims=changed)
        return self.transformed(changed, {old.name: Affine.of(dim.name)})

    def level(self, uid: LoopId) -> int | None:
        """Which of its loops has that identity."""
        for k, dim in enumerate(self.dims):
            if dim.uid == uid:
                return k
        return None

    def transformed(
        self,
        new_dims: Sequence[Dim],
        values: Mapping[str, Affine],
        where: Iterable[Constraint] = (),
    ) -> Piece:
        """Change the loops: ``values`` gives each old loop as an expression of the new ones.

        Args:
            new_dims: the new loops, outermost first.
            values: old loop name to an `Affine` of new names; loops left out keep their name.
            where: constraints on the new loops that make the change one to one.
        """
        names = positional([d.name for d in new_dims], "t")
        old = ", ".join(
            affine_text(values.get(d.name, Affine.of(d.name)), names) for d in self.dims
        )
        back = multi_aff_of(f"{{ [{', '.join(dims(len(new_dims), 't'))}] -> [{old}] }}")
        extra = _set_over(names, where)
        domain = self.domain.preimage_multi_aff(back)
        if extra is not None:
            domain = domain.intersect(extra)

        def moved(loops: isl.Set) -> isl.Set:
            new = loops.preimage_multi_aff(back)
            return new if extra is None else new.intersect(extra)

        hull = domain if self.hull is self.domain else moved(self.hull)
        frame = hull if self.frame is self.hull else moved(self.frame)
        return replace(
            self,
            dims=tuple(new_dims),
            domain=domain,
            hull=hull,
            frame=frame,
            bindings=tuple((v, e.substitute(values)) for v, e in self.bindings),
            guards=tuple(Constraint(g.expr.substitute(values), g.kind) for g in self.guards),
        )


def _set_over(names: Mapping[str, str], where: Iterable[Constraint]) -> isl.Set | None:
    parts = [constraint_text(c, names) for c in where]
    if not parts:
        return None
    return set_of(f"{{ [{', '.join(names.values())}] : {conjunction(parts)} }}")


@dataclass(frozen=True, eq=False)
class ScheduledScop:
    """The pieces in execution order (by ``place``) and what was asked of arrays and operators.

    ``written`` is the program that the steps were asked of: they may have given ``scop`` other statements and
    arrays. ``pipeline``: of the function.
    ``promised``: loops, with steps that ask of them what only the whole schedule shows
    (`polyhedral.requests.promised`). ``reassociated`` names the statements whose reduction may be done in any order.
    """

    scop: Scop
    written: Program
    pieces: tuple[Piece, ...]
    reassociated: frozenset[str] = frozenset()
    partitions: tuple[Partition, ...] = ()
    storage: tuple[BindStorage, ...] = ()
    operators: tuple[BindOp, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    packs: tuple[Pack, ...] = ()
    dataflow: Dataflow | None = None
    streams: tuple[Stream, ...] = ()
    auto_partitions: tuple[AutoPartition, ...] = ()
    reshapes: tuple[Reshape, ...] = ()
    stables: tuple[Stable, ...] = ()
    caches: tuple[Cache, ...] = ()
    pipeline: Pipeline | None = None
    promised: tuple[tuple[LoopId, Step], ...] = ()

    def with_pieces(self, pieces: Iterable[Piece]) -> ScheduledScop:
        """The same program with other pieces, their places renumbered from 0 at each level."""
        new = tuple(pieces)
        if [p.place for p in new] == [p.place for p in self.pieces]:
            return replace(self, pieces=new)  # only loops were changed, nothing moved
        return self.with_places((p, p.place) for p in new)

    def with_places(self, placed: Iterable[tuple[Piece, Place]]) -> ScheduledScop:
        """Put pieces at given places: entries may be tuples, which order like finer positions."""
        return replace(self, pieces=_renumbered(list(placed)))

    def of_arrays(self, names: Set[str]) -> ScheduledScop:
        """The same without what was asked of other arrays, which are not in its program any more."""
        return replace(
            self,
            partitions=tuple(p for p in self.partitions if p.array in names),
            auto_partitions=tuple(p for p in self.auto_partitions if p.array in names),
            reshapes=tuple(r for r in self.reshapes if r.array in names),
            storage=tuple(s for s in self.storage if s.array in names),
        )

    @cached_property
    def overlaps(self) -> bool:
        """Whether the body of some loop is a dataflow region."""
        return any(d.region is not None for p in self.pieces for d in p.dims)

    def of_statement(self, name: str) -> tuple[Piece, ...]:
        """The pieces of one statement."""
        return self._by_statement.get(name, ())

    @cached_property
    def _by_statement(self) -> dict[str, tuple[Piece, ...]]:
        found: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.name, []).append(piece)
        return {name: tuple(pieces) for name, pieces in found.items()}

    def loop_names(self) -> tuple[str, ...]:
        """How every loop can be addressed: its name, or ``S.name`` where that is ambiguous."""
        owners: dict[str, set[LoopId]] = {}
        for piece in self.pieces:
            for dim in piece.dims:
                owners.setdefault(dim.name, set()).add(dim.uid)
        found: dict[str, None] = {}
        for piece in self.pieces:
            for dim in piece.dims:
                alone = len(owners[dim.name]) == 1
                found[dim.name if alone else f"{piece.name}.{dim.name}"] = None
        return tuple(found)


def _renumbered(placed: list[tuple[Piece, Place]]) -> tuple[Piece, ...]:
    """Sort by place and number the positions at each level 0, 1, 2 …"""
    rows = sorted(((p, [*map(_key, place)]) for p, place in placed), key=lambda row: row[1])
    found: list[Piece] = []
    before: list[tuple[int, ...]] = []
    numbers: list[int] = []
    for piece, keys in rows:
        level = 0
        while level < min(len(before), len(keys)) and before[level] == keys[level]:
            level += 1
        # The next position where it leaves the place before, the first one in what it enters.
        entered = len(keys) - level - 1
        if level < len(keys):
            own = numbers[level] + 1 if level < len(numbers) else 0
            numbers = [*numbers[:level], own, *([0] * entered)]
        else:
            numbers = numbers[:level]
        before, place = keys, tuple(numbers)
        found.append(piece if piece.place == place else piece.at(place))
    return tuple(found)


def _key(at: int | tuple[int, ...]) -> tuple[int, ...]:
    return at if isinstance(at, tuple) else (at,)


def is_as_written(state: ScheduledScop) -> bool:
    """The loops are still those of the program, and nothing is asked of them."""
    own = _loops_of(state)
    return any(own == _loops_of(original(state.scop, moving=m)) for m in (False, True))


def _loops_of(state: ScheduledScop) -> list[tuple[object, ...]]:
    """The loops of each piece, what is asked of them, and where it stands."""
    return [(p.name, p.dims, p.place, p.bindings) for p in state.pieces]


@lru_cache(maxsize=64)
def original(scop: Scop, *, moving: bool = False) -> ScheduledScop:
    """The program as written: one piece a statement, loops normalised to count upwards by 1; found once a scop, as
    each step that has to come first asks whether it does.

    Args:
        scop: the program.
        moving: loops that count by 1 stay as they are, also where they start elsewhere each time.
    """
    pieces = []
    for s in scop.statements:
        names = s.variables
        values: dict[str, Affine] = {}
        for loop in s.loops:
            values[loop.var] = _normalised(loop, values, moving)
        times = positional(names, "t")
        back = ", ".join(affine_text(values[v], times) for v in names)
        to_domain = multi_aff_of(f"{{ [{', '.join(times.values())}] -> s{s.index}[{back}] }}")
        domain = s.domain.preimage_multi_aff(to_domain)
        if domain.is_empty():
            continue
        frame = s.loop_domain.preimage_multi_aff(to_domain) if s.conds else domain
        dims_ = tuple(
            Dim(loop.var, (uid,), span=loop.span)
            for loop, uid in zip(s.loops, s.loop_ids, strict=True)
        )
        bindings = tuple((v, values[v]) for v in names)
        pieces.append(Piece(s, dims_, s.place, domain, bindings, domain, frame))
    return ScheduledScop(scop, scop.program, ()).with_pieces(pieces)


def _normalised(loop: Loop, outer: Mapping[str, Affine], moving: bool) -> Affine:
    """The loop's variable in terms of a counter that goes up by 1, also named like it. Where the loop has so many
    iterations from wherever it starts, as a tile or a band of a matrix has, the counter starts at 0.
    """
    counter = Affine.of(loop.var)
    if loop.step == 1:
        start = None if moving else _moving_start(loop)
        return counter if start is None else start.substitute(outer) + counter
    if loop.step < 0 and len(loop.uppers) > 1:
        return -counter
    origin, step = origin_of(loop)
    return origin.substitute(outer) + counter * step


def _moving_start(loop: Loop) -> Affine | None:
    """Of the pair of bounds that says best how many iterations a loop has at the most, the lower one, if it moves
    with loops around it.
    """
    pairs = [(high - low, low) for low in loop.lowers for high in loop.uppers]
    known = [(extent.const, not low.is_const, low) for extent, low in pairs if extent.is_const]
    if not known:
        return None
    _, moves, low = min(known, key=lambda one: one[:2])
    return low if moves else None


def build(program: Program) -> ScheduledScop:
    """The unscheduled program at level 2."""
    return original(build_scop(program))
