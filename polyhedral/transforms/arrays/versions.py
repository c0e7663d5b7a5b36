"""``versions(array, loop)``: an array that a loop updates in place has a version for each of its iterations.

Before, a dynamic program in one row::

    for i in range(N):
      for c in range(M - 1, i, -1):
        row[c] = max(row[c], row[c - i - 1] + value[i])                                     # S1

After ``versions("row", "i")``::

    for i in range(N):
      for c in range(M):
        if c <= i: row_versions[i + 1, c] = row_versions[i, c]                              # same_row
      for c in range(M - 1, i, -1):
        row_versions[i + 1, c] = max(row_versions[i, c], row_versions[i, c - i - 1] + ...)  # S1

No element is overwritten any more that another iteration needs, so that the inner loop may run in any order that its values
allow. What an iteration does not assign is copied as it begins, over the loops of what it does assign where these tell all
elements (`fuse` makes one nest of both then). A read is one of the version before where it finds nothing that its own iteration has
assigned, else of the new one; one that is both is refused. All accesses in front of the loop are of version 0 and those behind
it of the last; an argument is copied in front of all, where not all of it is assigned there, and behind all. With ``count``
versions they take turns, ``row_versions[(i + 1) % 2, c]``.

That each read finds the same value is proven by `polyhedral.equivalence.carrying`, as for other copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load, Scatter
from dsl.programs.expanded import with_accesses
from dsl.programs.names import unused
from dsl.programs.program import Array, Loop, Node, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals
from dsl.schedules.recurrence_steps import Versions
from polyhedral.isl.text import affine_text, dims, map_of, positional
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_array, find_loop
from polyhedral.scop.scheduled import Dim, Piece, ScheduledScop
from polyhedral.scop.scop import Scop, Statement, build_scop
from polyhedral.transforms.arrays.updated_in_place import (
    Updated,
    box_of,
    elements_of,
    read_versions,
    refused,
    updated_in,
)
from polyhedral.transforms.carried.cells import solved
from polyhedral.transforms.materialise import (
    Materialised,
    Spanned,
    materialised,
    over_program,
    program_nodes,
)
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.windows.shifting import Names

MOST = 1 << 20  # elements


@transform(Versions, order=Order.KEPT)
def versions(state: ScheduledScop, step: Versions) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W239 the loop does not update it so that each read is of one version, or the step comes too late;
            W207 the number of versions, or too many elements.
    """
    array = find_array(state, step.array, step)
    uid = find_loop(state, step.loop, step)
    _check_state(state, array, step)
    found = materialised(state)
    own = found.array(array.name)
    if own is None:
        raise refused(step, f"no statement that runs uses '{array.name}'")
    scop = build_scop(found.program)
    updated = updated_in(scop, found, own, uid, step)
    program = _Rewriting(scop, found, updated, read_versions(scop, updated, step), step).program()
    try:
        return over_program(state, found, check_program(program))
    except LanguageError as error:
        raise refused(step, f"'{step.array}' can have no versions: {error.message}") from error


def _check_state(state: ScheduledScop, array: Array, step: Versions) -> None:
    """W239 unless the array can be replaced."""
    name = array.name
    if array.storage not in (Storage.ARGUMENT, Storage.LOCAL):
        raise refused(step, f"'{name}' is not assigned to, or is in memory outside")
    if state.dataflow is not None or any(s.array == name for s in state.streams):
        text = "versions comes after dataflow or stream, which count the accesses of each process"
        raise refused(step, text, "put it in front of them")
    if any(p.array == name for p in state.packs):
        text = f"'{name}' is in words outside"
        raise refused(step, text, f'buffer("{name}") makes a copy; make versions of that')
    asked = {p.array for p in state.partitions} | {p.array for p in state.auto_partitions}
    if name in asked | {r.array for r in state.reshapes} | {s.array for s in state.storage}:
        text = f"another step asks for memories of '{name}' already"
        raise refused(step, text, f"put it behind this one, of '{name}_versions'")


# ------------------------------------------------------------------------------------ rewriting


@dataclass(frozen=True, eq=False)
class _Rewriting:
    """Makes the program with versions."""

    scop: Scop
    found: Materialised
    updated: Updated
    reads: Mapping[tuple[str, Access], int]
    step: Versions

    def program(self) -> Program:
        """All accesses of one version each; what an iteration does not assign copied as it begins."""
        old, updated, array = self.found.program, self.updated, self.updated.array
        names = Names({a.name for a in old.arrays}, {s.name for s in old.statements()})
        other = self._array(names)
        outside = [s for s in self.scop.statements if s not in updated.nest]
        before = [s for s in outside if self._is_before(s)]
        filled = array.storage is Storage.ARGUMENT and not self._assigned(before).is_equal(
            isl.Map.from_domain_and_range(updated.runs, box_of(array))
        )
        spans = [self._placed(s, other) for s in self.scop.statements]
        copied = self._copied(before, filled)
        if not copied.is_empty():
            spans.append(self._same(copied, other, names))
        body = program_nodes(spans)
        if filled:
            body = (_moved(array, other, Affine(), True, names.stmt(f"first_{array.name}")), *body)
        if array.storage is Storage.ARGUMENT:
            last = self._version(Affine.of(updated.count), other)
            body = (*body, _moved(array, other, last, False, names.stmt(f"last_{array.name}")))
        return ordered_locals(replace(old, arrays=(*old.arrays, other), body=body))

    def _array(self, names: Names) -> Array:
        array, most = self.updated.array, self.updated.count + 1
        count = self.step.count or most
        if not 2 <= count <= most:
            raise ScheduleError("W207", f"{count} is not 2 to {most}", span=self.step.span)
        shape = (count, *array.shape)
        if prod(shape) > MOST:
            text = f"the versions of '{array.name}' would be {prod(shape):,} elements"
            help_ = "two versions may be enough: count=2"
            raise ScheduleError("W207", text, span=self.step.span, help=help_)
        name = names.array(f"{array.name}_versions")
        depth = self.updated.level
        return replace(array, name=name, shape=shape, storage=Storage.LOCAL, scope_depth=depth)

    def _version(self, number: Affine, other: Array) -> Affine:
        return number if other.shape[0] > self.updated.count else number % other.shape[0]

    def _in_loop(self, s: Statement, later: int, other: Array) -> Affine:
        """The version before the iteration of a statement of the loop, or so many later."""
        number = Affine.of(s.variables[self.updated.level]) - self.updated.first + later
        return self._version(number, other)

    def _is_before(self, s: Statement) -> bool:
        return s.place < self.updated.place

    def _placed(self, s: Statement, other: Array) -> Spanned:
        """A statement where it is, each of its accesses of one version."""
        name = self.updated.array.name
        inside = s in self.updated.nest
        ends = Affine() if self._is_before(s) else Affine.of(self.updated.count)

        def at(access: Access, later: int) -> Access:
            if access.array != name:
                return access
            version = self._in_loop(s, later, other) if inside else self._version(ends, other)
            return replace(access, array=other.name, indices=(version, *access.indices))

        stmt = with_accesses(s.stmt, lambda a: at(a, self.reads.get((s.name, a), 0)))
        stmt = replace(stmt, target=at(s.stmt.target, 1))
        piece = self.found.pieces[s.name]
        return _spanned(piece, stmt, piece.domain, piece.place)

    # ------------------------------------------------------------------ what is not assigned

    def _assigned(self, before: list[Statement]) -> isl.Map:
        """From iterations of the loop to what is assigned in front of it."""
        updated = self.updated
        found = updated.written.subtract(updated.written)
        for s in before:
            if s.stmt.target.array != updated.array.name or isinstance(s.stmt.value, Scatter):
                continue
            names = list(positional(s.variables).values())[: updated.level]
            here = [*names, "i"]
            runs = map_of(f"{{ {s.space} -> [{', '.join(here)}] }}").intersect_domain(s.domain)
            found = found.union(runs.reverse().apply_range(elements_of(self.scop, s)))
        return found.intersect_domain(updated.runs).coalesce()

    def _copied(self, before: list[Statement], filled: bool) -> isl.Map:
        """From iterations of the loop to the elements with a value that they do not assign."""
        updated = self.updated
        every = isl.Map.from_domain_and_range(updated.runs, box_of(updated.array))
        if filled:
            return every.subtract(updated.written).coalesce()
        own = dims(updated.level + 1)
        earlier = [*own[:-1], "x"]
        order = map_of(f"{{ [{', '.join(own)}] -> [{', '.join(earlier)}] : x < {own[-1]} }}")
        known = self._assigned(before).union(order.apply_range(updated.written))
        return every.intersect(known).subtract(updated.written).coalesce()

    def _same(self, copied: isl.Map, other: Array, names: Names) -> Spanned:
        """The statement that copies them, over the loops of what is assigned where these tell the elements."""
        updated = self.updated
        writer = self.found.pieces[updated.writers[0].name]
        around = writer.dims[: updated.level + 1]
        over = self._over(updated.writers[0], copied)
        if over is None:
            taken = [d.name for d in around]
            for k in range(len(updated.array.shape)):
                taken.append(unused(f"{updated.array.name}_{k}", taken))
            inner = taken[len(around) :]
            element = tuple(map(Affine.of, inner))
            domain = copied.wrap().flatten()
        else:
            inner, element, domain = over
        loops = (*around, *(Dim(var, (var,)) for var in inner))
        number = Affine.of(around[-1].name) - updated.first
        new, old = (self._version(number + k, other) for k in (1, 0))
        stmt = Stmt(
            names.stmt(f"same_{updated.array.name}"),
            Access(other.name, (new, *element)),
            Load(Access(other.name, (old, *element)), other.dtype),
        )
        place = (*updated.place, -1, *(0,) * (len(inner)))
        own = replace(writer, dims=loops)
        return _spanned(own, stmt, domain.reset_tuple_id(), place)

    def _over(
        self, writer: Statement, copied: isl.Map
    ) -> tuple[list[str], tuple[Affine, ...], isl.Set] | None:
        """The inner loops of what assigns, the element that they tell, and for which iterations that is copied."""
        depth = self.updated.level + 1
        outer, inner = writer.variables[:depth], list(writer.variables[depth:])
        element = writer.stmt.target.indices
        marks = [Affine.of(f"e{k}") for k in range(len(element))]
        told = solved(element, marks, {v: Affine.of(v) for v in outer})
        if not inner or not set(inner) <= told.keys():
            return None
        names = positional(writer.variables)
        point = list(names.values())
        texts = [affine_text(e, names) for e in element]
        text = f"{{ [{', '.join(point)}] -> [{', '.join([*point[:depth], *texts])}] }}"
        moved = map_of(text).intersect_range(copied.wrap().flatten().reset_tuple_id())
        if not copied.wrap().flatten().reset_tuple_id().is_subset(moved.range()):
            return None
        return inner, element, moved.domain().coalesce()


def _spanned(piece: Piece, stmt: Stmt, domain: isl.Set, place: tuple[int, ...]) -> Spanned:
    """A statement over the loops of a piece."""
    bindings = tuple((d.name, Affine.of(d.name)) for d in piece.dims)
    own = Statement(0, stmt, (), (), (), ())
    moved = replace(
        piece, statement=own, bindings=bindings, domain=domain, frame=domain, place=place
    )
    return Spanned(stmt.name, moved, domain)


def _moved(array: Array, other: Array, version: Affine, into: bool, name: str) -> Node:
    """The loops that copy all of an argument into its first version, or out of its last."""
    variables: list[str] = []
    for k in range(len(array.shape)):
        variables.append(unused(f"{array.name}_{k}", variables))
    at = tuple(map(Affine.of, variables))
    own, its = Access(array.name, at), Access(other.name, (version, *at))
    target, source = (its, own) if into else (own, its)
    node: Node = Stmt(name, target, Load(source, array.dtype))
    for var, extent in reversed(list(zip(variables, array.shape, strict=True))):
        node = Loop(var, (Affine(),), (Affine((), extent),), 1, (node,))
    return node
