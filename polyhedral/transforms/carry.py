"""``carry(array, at)``: what iterations of a loop hand to later ones is in shift registers.

Before, a table of which an entry needs its neighbours, along its diagonals::

    for i in range(65):
      for j in range(65):
        L[i, j] = 0                                                                     # S0
    for t in range(2, 129):
      for i in range(max(1, t - 64), min(65, t)):
        L[i, t - i] = max(L[i - 1, t - i], L[i, t - i - 1]) + ...                       # S1
    out[0] = L[64, 64]                                                                  # S2

After ``carry("L", "t")``, where nothing else reads the table::

    for c, k in ...: L_carry[c, k] = 0                                                  # clear_L
    for t in range(128):
      for c, k in ...: L_carry[c, k] = L_carry[c, k - 1]                                # shift_L
      if ...: L_carry[c, 0] = 0                                                         # load_L
      for i in range(max(1, t - 64), min(65, t)):
        L_carry[i, 0] = max(L_carry[i - 1, 1], L_carry[i, 1]) + ...                     # S1
    out[0] = L_carry[64, 0]                                                             # S2

The registers are all separate and shift at once. A read that finds values of different ages (`polyhedral.transforms.ages`)
stays one of the array, into which what is assigned is stored then (``keep_L``); so it is for arguments. What
is read and was assigned before the loop is brought in as it would have been assigned in the loop; constants and
counters are not read from the array for that. The loop starts earlier where that is needed.

That each register is read for the value that the array would have had is proven by `polyhedral.equivalence.carrying`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Expr, Load, loads
from dsl.expressions.literals import const
from dsl.programs.expanded import with_accesses
from dsl.programs.names import unused
from dsl.programs.program import Array, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals
from dsl.programs.substituted import substituted_value
from dsl.schedules.recurrence_steps import Carry
from dsl.schedules.steps import Partition
from polyhedral.isl.text import dims, map_of, set_of
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_array, find_loop
from polyhedral.scop.scheduled import Dim, LoopId, Piece, ScheduledScop
from polyhedral.scop.scop import Scop, Statement, build_scop
from polyhedral.transforms.ages import Ages, Element, NoAgesError, ages_of, iteration_of, union
from polyhedral.transforms.guarding import side_by_side
from polyhedral.transforms.materialise import (
    Materialised,
    Spanned,
    materialised,
    over_program,
    program_nodes,
)
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.shifting import Names

MOST = 4096  # registers


@transform(Carry, order=Order.KEPT)
def carry(state: ScheduledScop, step: Carry) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W236 nothing is handed on in one way, or the step comes too late; W207 too large.
    """
    array = find_array(state, step.array, step)
    uid = find_loop(state, step.at, step)
    _check_state(state, array, step)
    found = materialised(state)
    scop = build_scop(found.program)
    level, nest = _nest(scop, found, uid, step)
    try:
        ages = ages_of(scop, array, nest, level)
        made = _Maker(scop, ages, tuple(found.pieces[s.name] for s in nest)).made()
    except NoAgesError as error:
        raise _refused(step, f"'{step.at}' cannot carry '{array.name}': {error}") from error
    size = prod(made.register.shape)
    if size > MOST:
        text = f"'{made.register.name}' would be {size:,} registers"
        raise ScheduleError("W207", text, span=step.span)
    return _carried(state, found, made, step)


def _refused(step: Carry, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W236", text, span=step.span, help=help_)


def _check_state(state: ScheduledScop, array: Array, step: Carry) -> None:
    """W236 unless accesses of the array can be replaced."""
    if state.dataflow is not None or any(s.array == array.name for s in state.streams):
        text = "carry comes after dataflow or stream, which count the accesses of each process"
        raise _refused(step, text, "put it in front of them")
    if any(p.array == array.name for p in state.packs):
        text = f"'{array.name}' is in words outside"
        raise _refused(step, text, f'buffer("{array.name}") makes a copy; carry that')


def _nest(
    scop: Scop, found: Materialised, uid: LoopId, step: Carry
) -> tuple[int, tuple[Statement, ...]]:
    """The level of the loop, and what is in it."""
    groups: dict[tuple[int, ...], list[Statement]] = {}
    for s in scop.statements:
        level = found.pieces[s.name].level(uid)
        if level is not None:
            groups.setdefault(s.place[: level + 1], []).append(s)
    if len(groups) != 1:
        text = (
            f"'{step.at}' is {len(groups)} loops: a factor left iterations, or its body is in parts"
        )
        raise _refused(step, text, "put carry in front of the steps that cut the loop")
    ((place, statements),) = groups.items()
    return len(place) - 1, tuple(statements)


# ------------------------------------------------------------------------------ what is made


@dataclass(frozen=True, eq=False)
class _Made:
    """The registers, the program's statements with them, and the new ones.

    Attributes:
        register: cells by ages.
        stmts: of the program, changed; those that are not needed any more are not in it.
        near: new statements, each behind (or, with False, in front of) one of the program in its loops.
        front: new statements in front of all else, in their order: before the loop, then in it.
        dead: whether the array is not needed any more.
    """

    ages: Ages
    register: Array
    stmts: dict[str, Stmt]
    kept: dict[str, Stmt]
    front: tuple[Spanned, ...]
    dead: bool


@dataclass(frozen=True, eq=False)
class _Maker:
    """Makes registers, and statements that move and fill them."""

    scop: Scop
    ages: Ages
    nest: tuple[Piece, ...]

    @property
    def near(self) -> Piece:
        """One of the nest: all are in the loop."""
        return self.nest[0]

    def made(self) -> _Made:
        """See `_Made`."""
        ages, program = self.ages, self.scop.program
        names = Names({a.name for a in program.arrays}, {s.name for s in program.statements()})
        lows, extents = self._box()
        shape = (*extents, ages.oldest + 1)
        name = names.array(f"{ages.array.name}_carry")
        register = Array(
            name, ages.array.dtype, shape, Storage.LOCAL, False, ages.level, ages.array.span
        )
        target = _Register(register, lows)
        moved = [*self._fills(target, names)]
        front = [self._cleared(target, names)]
        if ages.oldest:
            front.append(self._shifted(target, names, moved))
        stmts = self._changed(target)
        dead = self._is_dead(stmts, moved)
        kept: dict[str, Stmt] = {}
        for s in ages.writers if not dead else ():
            value = Load(target.at(ages.register(s.stmt.target), 0), ages.array.dtype)
            kept[s.name] = Stmt(names.stmt(f"keep_{ages.array.name}"), s.stmt.target, value)
        if dead:
            stmts = {n: s for n, s in stmts.items() if s.target.array != ages.array.name}
        return _Made(ages, register, stmts, kept, (*front, *moved), dead)

    def _box(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The first cell, and how many there are, along each dimension."""
        ages = self.ages
        every = [ages.written]
        every += [points for read in ages.reads for _, points in read.before]
        points = union(every)
        lows, extents = [], []
        for k in range(len(ages.cell)):
            low, high = (
                v.to_python()
                for v in (
                    points.dim_min_val(ages.level + 1 + k),
                    points.dim_max_val(ages.level + 1 + k),
                )
            )
            lows.append(low)
            extents.append(high - low + 1)
        return tuple(lows), tuple(extents)

    def _changed(self, target: _Register) -> dict[str, Stmt]:
        """The statements of the program, with what they access of the registers."""
        ages = self.ages
        aged = {(read.reader.name, read.access): read.age for read in ages.reads}
        writers = {s.name for s in ages.writers}
        found: dict[str, Stmt] = {}
        for s in self.scop.statements:

            def own(access: Access, s: Statement = s) -> Access:
                age = aged.get((s.name, access))
                return access if age is None else target.at(ages.register(access), age, access)

            stmt = with_accesses(s.stmt, own)
            goal = s.stmt.target
            if s.name in writers:
                goal = target.at(ages.register(goal), 0, goal)
            found[s.name] = replace(stmt, target=goal)
        return found

    def _is_dead(self, stmts: dict[str, Stmt], moved: Sequence[Spanned]) -> bool:
        """Whether nothing reads the array any more."""
        array = self.ages.array
        values = [s.value for s in stmts.values()]
        values += [m.piece.statement.stmt.value for m in moved]
        return array.storage is Storage.LOCAL and not any(
            access.array == array.name for value in values for access in loads(value)
        )

    # ----------------------------------------------------------------------- new statements

    def _cleared(self, target: _Register, names: Names) -> Spanned:
        """All registers, in front of the loop: what they shift before anything was assigned does not matter."""
        own = [*dims(len(target.array.shape), "c")]
        limits = [f"0 <= {c} < {n}" for c, n in zip(own, target.array.shape, strict=True)]
        around = self._around(self.ages.level)
        space = [*dims(self.ages.level), *own]
        points = set_of(f"{{ [{', '.join(space)}] : {' and '.join(limits)} }}")
        inner = around.add_dims(isl.dim_type.set, len(own))
        dtype = target.array.dtype

        def stmt(name: str, at: Element) -> Stmt:
            return Stmt(name, Access(target.array.name, at), const(0, dtype))

        return self._spanned(
            "clear", self.ages.level, points.intersect(inner), target.array.shape, stmt, names
        )

    def _shifted(self, target: _Register, names: Names, moved: Sequence[Spanned]) -> Spanned:
        """All registers take what those of one iteration less have."""
        level, shape = self.ages.level, target.array.shape
        depth = level + 1
        runs = [self._around(depth)] + [
            m.piece.domain.project_out(isl.dim_type.set, depth, len(m.piece.dims) - depth)
            for m in moved
        ]
        every = isl.Set.from_basic_set(union(runs).remove_divs().simple_hull())
        own = dims(len(shape), "c")
        limits = [f"0 <= {c} < {n}" for c, n in zip(own[:-1], shape[:-1], strict=True)]
        limits.append(f"0 <= {own[-1]} < {shape[-1] - 1}")
        points = set_of(f"{{ [{', '.join([*dims(depth), *own])}] : {' and '.join(limits)} }}")
        extents = (*shape[:-1], shape[-1] - 1)

        def stmt(name: str, at: Element) -> Stmt:
            # From the oldest on: each is read before it is written.
            age = Affine.of(shape[-1] - 1) - at[-1]
            old = Access(target.array.name, (*at[:-1], age - 1))
            return Stmt(
                name, Access(target.array.name, (*at[:-1], age)), Load(old, target.array.dtype)
            )

        inner = every.add_dims(isl.dim_type.set, len(own))
        return self._spanned("shift", depth, points.intersect(inner), extents, stmt, names)

    def _fills(self, target: _Register, names: Names) -> Iterator[Spanned]:
        """What the loop has not assigned, as if it had."""
        ages = self.ages
        parts: dict[str, tuple[Statement | None, list[isl.Set]]] = {}
        for read in ages.reads:
            for source, points in read.before:
                known = source if source is not None and self._value(source) is not None else None
                parts.setdefault("" if known is None else known.name, (known, []))[1].append(points)
        depth = ages.level + 1
        for source, points in parts.values():
            every = union(points)

            def stmt(name: str, at: Element, source: Statement | None = source) -> Stmt:
                around = [Affine.of(n) for n in self.near.names[:depth]]
                cell = tuple(c + low for c, low in zip(at, target.lows, strict=True))
                value = self._value(source, (*around, *cell))
                assert value is not None
                return Stmt(name, Access(target.array.name, (*at, Affine())), value)

            moved = every.apply(self._from_low(target))
            if (
                self._value(source, tuple(Affine.of(n) for n in dims(depth + len(ages.cell), "p")))
                is None
            ):
                raise NoAgesError(
                    f"what is in '{ages.array.name}' before the loop is read, and subscripts do not say where it is"
                )
            yield self._spanned("load", depth, moved, target.array.shape[:-1], stmt, names)

    def _value(self, source: Statement | None, point: Element | None = None) -> Expr | None:
        """What an element of a point is before the loop, if that can be said: a constant or a counter, or what the array has."""
        ages = self.ages
        if point is None:
            point = tuple(Affine.of(n) for n in dims(ages.level + 1 + len(ages.cell), "p"))
        element = ages.element(point)
        if source is None:
            return (
                None
                if element is None
                else Load(Access(ages.array.name, element), ages.array.dtype)
            )
        if loads(source.stmt.value):
            return None
        if element is None:
            return None if source.variables else source.stmt.value
        at = iteration_of(source, element)
        if at is not None:
            return substituted_value(source.stmt.value, at)
        return source.stmt.value if isinstance(source.stmt.value, Const) else None

    def _from_low(self, target: _Register) -> isl.Map:
        depth, count = self.ages.level + 1, len(self.ages.cell)
        space = dims(depth + count)
        to = [
            *space[:depth],
            *(f"{c} - {low}" for c, low in zip(space[depth:], target.lows, strict=True)),
        ]
        return map_of(f"{{ [{', '.join(space)}] -> [{', '.join(to)}] }}")

    def _around(self, depth: int) -> isl.Set:
        """What the loops down to a level run over."""
        return union(
            [p.frame.project_out(isl.dim_type.set, depth, len(p.dims) - depth) for p in self.nest]
        )

    def _spanned(
        self,
        does: str,
        depth: int,
        points: isl.Set,
        extents: Sequence[int],
        stmt: object,
        names: Names,
    ) -> Spanned:
        """A statement with loops over all of some registers, that are unrolled."""
        name = names.stmt(f"{does}_{self.ages.array.name}")
        own: list[Dim] = []
        at: list[Affine] = []
        drop: list[int] = []
        for k, extent in enumerate(extents):
            if extent == 1:
                drop.append(k)
                at.append(Affine())
                continue
            var = unused(f"{name}_{k}", self.near.names)
            own.append(Dim(var, (var,), unroll=0, held=True))
            at.append(Affine.of(var))
        for k in reversed(drop):
            points = points.project_out(isl.dim_type.set, depth + k, 1)
        loops = (*self.near.dims[:depth], *own)
        made = stmt(name, tuple(at))  # type: ignore[operator]
        bindings = tuple((loop.name, Affine.of(loop.name)) for loop in loops)
        piece = Piece(
            Statement(0, made, (), (), (), ()), loops, (), points, bindings, points, points
        )
        span = points.project_out(isl.dim_type.set, depth, len(own)).add_dims(
            isl.dim_type.set, len(own)
        )
        for k, extent in enumerate(n for n in extents if n > 1):
            span = span.lower_bound_val(isl.dim_type.set, depth + k, isl.Val(0))
            span = span.upper_bound_val(isl.dim_type.set, depth + k, isl.Val(extent - 1))
        return Spanned(name, piece, span)


@dataclass(frozen=True, slots=True)
class _Register:
    """The registers; cells are counted from the first one that there is."""

    array: Array
    lows: tuple[int, ...]

    def at(self, cell: Element, age: int, near: Access | None = None) -> Access:
        """The register of a cell and an age."""
        indices = (*(c - low for c, low in zip(cell, self.lows, strict=True)), Affine.of(age))
        return Access(self.array.name, indices, None if near is None else near.span)


# ------------------------------------------------------------------------------------ rewriting


def _carried(state: ScheduledScop, found: Materialised, made: _Made, step: Carry) -> ScheduledScop:
    """The state over the program with registers."""
    program = _program(found, made)
    try:
        scop = check_program(program)
    except LanguageError as error:
        text = f"'{step.at}' cannot carry '{step.array}': {error.message}"
        raise _refused(step, text) from error
    after = over_program(state, found, scop)
    own = {one.name: one.piece.dims for one in made.front}
    after = after.with_places(
        pair
        for p in after.pieces
        for pair in side_by_side([_unrolled(p, own.get(p.name, ()))], p.place)
    )
    names = {s.name for s in scop.statements}
    partitions = [
        Partition(made.register.name, d, "complete")
        for d, extent in enumerate(made.register.shape)
        if extent > 1
    ]
    return replace(
        after,
        partitions=(*after.partitions, *partitions),
        reassociated=after.reassociated & names,
        operators=tuple(o for o in after.operators if o.stmt in names),
    )


def _program(found: Materialised, made: _Made) -> Program:
    """The program of the schedule with registers: its statements where they are, each place twice as far apart."""
    spans: list[Spanned] = []
    level = made.ages.level
    inside = made.ages.writers[0].name
    prefix = found.pieces[inside].place
    for name, piece in found.pieces.items():
        place = tuple(2 * n for n in piece.place)
        for stmt, at in (
            (made.stmts.get(name), place),
            (made.kept.get(name), (*place[:-1], place[-1] + 1)),
        ):
            if stmt is not None:
                spans.append(_placed(piece, stmt, at))
    before = [one for one in made.front if len(_shared(one, made.ages)) == level]
    for n, one in enumerate(made.front):
        depth = level if one in before else level + 1
        around = tuple(2 * k for k in prefix[:depth])
        inner = len(one.piece.dims) - depth
        first = 2 * prefix[level] - 1 if one in before else n - len(made.front)
        spans.append(replace(one, piece=one.piece.at((*around, first, *(0,) * inner))))
    old = found.program
    arrays = [a for a in old.arrays if not (made.dead and a.name == made.ages.array.name)]
    body = program_nodes(spans)
    return ordered_locals(replace(old, arrays=(*arrays, made.register), body=body))


def _shared(one: Spanned, ages: Ages) -> tuple[str, ...]:
    """The loops of a new statement that are those of the program."""
    return tuple(d.name for d in one.piece.dims if d.name in ages.names and not d.held)


def _placed(piece: Piece, stmt: Stmt, place: tuple[int, ...]) -> Spanned:
    """A statement in the loops of a piece, over which it is written."""
    names = [(n, Affine.of(n)) for n in piece.names]
    own = replace(
        piece, statement=Statement(0, stmt, (), (), (), ()), bindings=tuple(names), place=place
    )
    return Spanned(stmt.name, own, piece.domain)


def _unrolled(piece: Piece, loops: Sequence[Dim]) -> Piece:
    """A new statement whose own loops are unrolled as they were made."""
    for level, loop in enumerate(loops):
        if loop.held and loop.uid == (loop.name,):
            piece = piece.with_dim(level, replace(piece.dims[level], unroll=0, held=True))
    return piece
