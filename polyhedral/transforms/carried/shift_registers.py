"""Shift registers as a local array, and the statements that clear, fill and move them (see `carry`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Expr, Load, loads
from dsl.expressions.literals import const
from dsl.programs.expanded import with_accesses
from dsl.programs.names import unused
from dsl.programs.program import Array, Stmt, Storage
from dsl.programs.substituted import substituted_value
from polyhedral.isl.text import dims, map_of, set_of
from polyhedral.scop.scheduled import Dim, Piece
from polyhedral.scop.scop import Scop, Statement
from polyhedral.transforms.carried.ages import NOW, Ages, NoAgesError, iteration_of, union
from polyhedral.transforms.carried.carried_memory import border_of, last_stores
from polyhedral.transforms.carried.cells import Element
from polyhedral.transforms.carried.registers import Registers, read_cells, registers_of
from polyhedral.transforms.materialise import Spanned
from polyhedral.transforms.windows.shifting import Names

Written = Callable[[str, Element], Stmt]
"""A statement of a name, for the register or cell of some subscripts."""


@dataclass(frozen=True, eq=False)
class Made:
    """The registers, the program's statements with them, and the new ones.

    Attributes:
        registers: cells by ages; what is assigned now apart where ages vary.
        edges: the elements of the border, which are read in front of the loop; None where there are none.
        stmts: of the program, changed; those that are not needed any more are not in it.
        kept: by the statement that assigns, what stores its value in the array.
        needed: the iterations of these in which that is read.
        front: new statements in front of all else, in their order: before the loop, then in it.
        dead: whether the array is not needed any more.
    """

    ages: Ages
    registers: tuple[Array, ...]
    edges: Array | None
    stmts: dict[str, Stmt]
    kept: dict[str, Stmt]
    needed: dict[str, isl.Set]
    front: tuple[Spanned, ...]
    dead: bool


@dataclass(frozen=True, eq=False)
class Maker:
    """Makes registers, and statements that move and fill them."""

    scop: Scop
    ages: Ages
    nest: tuple[Piece, ...]

    @property
    def near(self) -> Piece:
        """One of the nest: all are in the loop."""
        return self.nest[0]

    def made(self) -> Made:
        """See `Made`."""
        ages, program = self.ages, self.scop.program
        names = Names({a.name for a in program.arrays}, {s.name for s in program.statements()})
        target = registers_of(ages, names.array)
        edges: list[Element] = []
        edge = names.array(f"{ages.array.name}_edge") if ages.cells.lanes else ""
        moved = [*self._fills(target, names, edge, edges)]
        front = [self._cleared(array, names) for array in target.arrays]
        front += [self._edge(edge, k, element, names) for k, element in enumerate(edges)]
        if ages.oldest:
            front += self._shifted(target, names, moved)
        stmts = self._changed(target)
        dead = self._is_dead(stmts, (*front, *moved))
        kept: dict[str, Stmt] = {}
        for s in ages.writers if not dead else ():
            value = Load(target.at(ages.register(s, s.stmt.target, NOW), NOW), ages.array.dtype)
            kept[s.name] = Stmt(names.stmt(f"keep_{ages.array.name}"), s.stmt.target, value)
        needed = last_stores(self.scop, ages) if kept else {}
        kept = {name: stmt for name, stmt in kept.items() if not needed[name].is_empty()}
        if dead:
            stmts = {n: s for n, s in stmts.items() if s.target.array != ages.array.name}
        kind = (Storage.LOCAL, False, ages.level, ages.array.span)
        border = Array(edge, ages.array.dtype, (len(edges),), *kind) if edges else None
        return Made(ages, target.arrays, border, stmts, kept, needed, (*front, *moved), dead)

    def _changed(self, target: Registers) -> dict[str, Stmt]:
        """The statements of the program, with what they access of the registers."""
        ages = self.ages
        aged = {(read.reader.name, read.access): read.age for read in ages.reads}
        writers = {s.name for s in ages.writers}
        found: dict[str, Stmt] = {}
        for s in self.scop.statements:

            def own(access: Access, s: Statement = s) -> Access:
                age = aged.get((s.name, access))
                if age is None:
                    return access
                return target.at(ages.register(s, access, age), age, access)

            stmt = with_accesses(s.stmt, own)
            goal = s.stmt.target
            if s.name in writers:
                goal = target.at(ages.register(s, goal, NOW), NOW, goal)
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

    def _cleared(self, array: Array, names: Names) -> Spanned:
        """All registers, in front of the loop: what they shift before anything was assigned does not matter."""
        own = [*dims(len(array.shape), "c")]
        limits = [f"0 <= {c} < {n}" for c, n in zip(own, array.shape, strict=True)]
        around = self._around(self.ages.level)
        space = [*dims(self.ages.level), *own]
        points = set_of(f"{{ [{', '.join(space)}] : {' and '.join(limits)} }}")
        inner = around.add_dims(isl.dim_type.set, len(own))

        def stmt(name: str, at: Element) -> Stmt:
            return Stmt(name, Access(array.name, at), const(0, array.dtype))

        return self._spanned(
            "clear", self.ages.level, points.intersect(inner), array.shape, stmt, names
        )

    def _edge(self, edge: str, k: int, element: Element, names: Names) -> Spanned:
        """An element of the border, in front of the loop: its iterations need no port of memory for it."""
        level, dtype = self.ages.level, self.ages.array.dtype

        def stmt(name: str, at: Element) -> Stmt:
            value = Load(Access(self.ages.array.name, element), dtype)
            return Stmt(name, Access(edge, (Affine.of(k),)), value)

        return self._spanned("edge", level, self._around(level), (), stmt, names)

    def _shifted(
        self, target: Registers, names: Names, moved: Sequence[Spanned]
    ) -> Iterator[Spanned]:
        """All registers take what those of one iteration less have, the oldest first: each is read before it is written."""
        level, shape = self.ages.level, target.old.shape
        depth = level + 1
        runs = [self._around(depth)] + [
            m.piece.domain.project_out(isl.dim_type.set, depth, len(m.piece.dims) - depth)
            for m in moved
        ]
        every = _hull(union(runs))
        own = dims(len(shape), "c")
        limits = [f"0 <= {c} < {n}" for c, n in zip(own[:-1], shape[:-1], strict=True)]
        limits.append(f"0 <= {own[-1]} < {shape[-1] - 1}")
        points = set_of(f"{{ [{', '.join([*dims(depth), *own])}] : {' and '.join(limits)} }}")
        points = points.intersect(every.add_dims(isl.dim_type.set, len(own)))
        extents = (*shape[:-1], shape[-1] - 1)
        if target.now is not None:
            points = points.intersect(self._lasting(target).insert_dims(isl.dim_type.set, 0, depth))

        def stmt(name: str, at: Element) -> Stmt:
            age = Affine.of(shape[-1] - 1) - at[-1]
            old = Access(target.old.name, (*at[:-1], age - 1))
            return Stmt(name, Access(target.old.name, (*at[:-1], age)), Load(old, target.old.dtype))

        if not points.is_empty():
            yield self._spanned("shift", depth, points, extents, stmt, names)
        if target.now is not None:
            yield self._kept_from_now(target, target.now, every, names)

    def _lasting(self, target: Registers) -> isl.Set:
        """The registers from the third age on of which something reads what they have or will, as `_shifted` counts them."""
        count = len(target.lows)
        cell = dims(count, "c")
        at = [f"{c} - {low}" for c, low in zip(cell, target.lows, strict=True)]
        last = target.old.shape[-1]
        text = f"{{ [{', '.join([*cell, 'k'])}] -> [{', '.join([*at, f'{last} - k'])}] }}"
        return read_cells(self.ages).apply(map_of(text))

    def _kept_from_now(
        self, target: Registers, now: Array, every: isl.Set, names: Names
    ) -> Spanned:
        """What the iteration before has assigned becomes the first of what is older."""
        extents = target.old.shape[:-1]
        count = len(extents)
        depth = self.ages.level + 1
        space = [*dims(depth), *dims(count, "c")]
        limits = [f"0 <= {c} < {n}" for c, n in zip(space[depth:], extents, strict=True)]
        points = set_of(f"{{ [{', '.join(space)}] : {' and '.join(limits)} }}")

        def stmt(name: str, at: Element) -> Stmt:
            cell = tuple(c + low for c, low in zip(at, target.lows, strict=True))
            value = Load(target.at(cell, NOW), now.dtype)
            return Stmt(name, target.at(cell, NOW + 1), value)

        points = points.intersect(every.add_dims(isl.dim_type.set, count))
        return self._spanned("shift", depth, points, extents, stmt, names)

    def _fills(
        self, target: Registers, names: Names, edge: str, edges: list[Element]
    ) -> Iterator[Spanned]:
        """What the loop has not assigned, as if it had; elements of the border, which are added to ``edges``, of ``edge``."""
        ages = self.ages
        parts: dict[str, tuple[Statement | None, list[isl.Set]]] = {}
        for read in ages.reads:
            for source, points in read.before:
                known = source if source is not None and self._value(source) is not None else None
                parts.setdefault("" if known is None else known.name, (known, []))[1].append(points)
        depth = ages.level + 1
        for source, points in parts.values():
            if (
                self._value(
                    source, tuple(Affine.of(n) for n in dims(depth + ages.cells.count, "p"))
                )
                is None
            ):
                raise NoAgesError(
                    f"what is in '{ages.array.name}' before the loop is read, and subscripts do not say where it is"
                )
            parted = border_of(ages, union(points)) if source is None else [(None, union(points))]
            for element, every in parted:
                at_edge = None if element is None else Access(edge, (Affine.of(len(edges)),))
                edges += [] if element is None else [element]

                def stmt(
                    name: str,
                    at: Element,
                    source: Statement | None = source,
                    at_edge: Access | None = at_edge,
                ) -> Stmt:
                    around = [Affine.of(n) for n in self.near.names[:depth]]
                    cell = tuple(c + low for c, low in zip(at, target.first, strict=True))
                    value = self._value(source, (*around, *cell))
                    if at_edge is not None:
                        value = Load(at_edge, ages.array.dtype)
                    assert value is not None
                    return Stmt(name, target.at(cell, NOW), value)

                moved = every.apply(self._from_low(target))
                yield self._spanned("load", depth, moved, target.extents, stmt, names)

    def _value(self, source: Statement | None, point: Element | None = None) -> Expr | None:
        """What an element of a point is before the loop, if that can be said: a constant or a counter, or what the array has."""
        ages = self.ages
        if point is None:
            point = tuple(Affine.of(n) for n in dims(ages.level + 1 + ages.cells.count, "p"))
        element = ages.cells.element(point)
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

    def _from_low(self, target: Registers) -> isl.Map:
        depth, count = self.ages.level + 1, self.ages.cells.count
        space = dims(depth + count)
        to = [
            *space[:depth],
            *(f"{c} - {low}" for c, low in zip(space[depth:], target.first, strict=True)),
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
        stmt: Written,
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
        made = stmt(name, tuple(at))
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


def _hull(runs: isl.Set) -> isl.Set:
    """All iterations of loops from the first to the last of some: of a single loop no more, whatever isl makes of holes."""
    if runs.dim(isl.dim_type.set) > 1:
        return isl.Set.from_basic_set(runs.remove_divs().simple_hull())
    low, high = runs.dim_min_val(0), runs.dim_max_val(0)
    whole = isl.Set.universe(runs.get_space())
    whole = whole.lower_bound_val(isl.dim_type.set, 0, low)
    return whole.upper_bound_val(isl.dim_type.set, 0, high)
