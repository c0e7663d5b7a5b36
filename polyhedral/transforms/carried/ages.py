"""Which values a loop hands to its own later iterations, and how many iterations on they are read.

A value that an iteration assigns to an element of an array has a *cell*: the subscripts of the element in which the
loop has no part, but for those that stay while it runs, and loops inside where these do not tell elements apart
(`polyhedral.transforms.carried.cells`). ``L[i, t - i]``, assigned in iteration ``t``, is in cell ``i``. It is ``t_r - t`` iterations
of *age* where iteration ``t_r`` reads it. A *point* is a cell in an iteration of the loop and of those around:
where at most one element is assigned in each point, and a read always finds a value of one age, a register for
each cell and each age is enough. The age may be another one in each iteration of loops inside: where ``K[i + 1, c]`` needs
``K[i, c - i - 1]``, along ``c``, it is ``i + 1``. All is found from which write each read sees
(`polyhedral.dependences.direct`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Scatter
from dsl.programs.program import Array
from polyhedral.dependences.direct import writes_seen
from polyhedral.isl.text import affine_text, dims, map_of, positional, set_of
from polyhedral.scop.scop import Scop, Statement, same_run
from polyhedral.transforms.carried.cells import Cells, Element, lanes_of, solved, with_lanes

NOW = Affine()
"""The age of what an iteration assigns itself."""


class NoAgesError(Exception):
    """The values have no cells or no ages; the text says why."""


@dataclass(frozen=True, eq=False)
class Handed:
    """A read that finds values of one age.

    Attributes:
        reader: the statement.
        access: what it reads.
        age: iterations since the value was assigned, by the loops of the reader that are inside of the loop; behind the
            loop, since then until its last iteration.
        oldest: the greatest age.
        behind: whether it reads behind the loop.
        before: for each statement that assigns what it finds where the loop has not assigned it, the points; None stands
            for what the array had before, and iterations of loops around.
    """

    reader: Statement
    access: Access
    age: Affine
    oldest: int
    behind: bool
    before: tuple[tuple[Statement | None, isl.Set], ...]


@dataclass(frozen=True, eq=False)
class Ages:
    """What a loop hands on through an array.

    Attributes:
        array: the array.
        level: of the loop; so many are around it.
        cells: which registers its elements have.
        writers: the statements of the loop that assign.
        written: the points in which they do.
        reads: what finds values of one age.
    """

    array: Array
    level: int
    cells: Cells
    writers: tuple[Statement, ...]
    written: isl.Set
    reads: tuple[Handed, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the loops around and of the loop."""
        return self.cells.names

    @property
    def oldest(self) -> int:
        """The greatest age."""
        return max(read.oldest for read in self.reads)

    @property
    def vary(self) -> bool:
        """Whether the age of what a read finds is another one in other iterations of loops inside."""
        return any(read.age.variables() for read in self.reads)

    def register(self, s: Statement, access: Access, age: Affine) -> Element:
        """The cell of what a statement accesses."""
        found = cell_of(self.cells, s, access, age)
        assert found is not None  # or it is none of the reads
        return found


def cell_of(cells: Cells, s: Statement, access: Access, age: Affine) -> Element | None:
    """The cell of an element that was assigned so many iterations before a statement accesses it, if it can be said."""
    around = [Affine.of(v) for v in s.variables[: len(cells.names)]]
    if len(around) == len(cells.names):
        around[-1] -= age
    elif cells.lanes:
        return None
    return cells.of(access.indices, around)


def iteration_of(writer: Statement, element: Element) -> dict[str, Affine] | None:
    """The loops of a statement in the iteration that assigns an element, if its subscripts say it."""
    found = solved(writer.stmt.target.indices, element, {})
    return found if writer.stmt.target.indices and found.keys() >= set(writer.variables) else None


def ages_of(scop: Scop, array: Array, nest: Sequence[Statement], level: int) -> Ages:
    """What a loop hands on through an array.

    Args:
        scop: the program.
        array: of it.
        nest: the statements in the loop.
        level: of the loop.

    Raises:
        NoAgesError: nothing, or not so that registers can keep it.
    """
    writers = [s for s in nest if s.stmt.target.array == array.name]
    if not writers:
        raise NoAgesError(f"nothing in the loop assigns to '{array.name}'")
    if array.scope_depth > level:
        raise NoAgesError(f"'{array.name}' belongs to one iteration of the loop")
    if any(isinstance(s.stmt.value, Scatter) for s in writers):
        raise NoAgesError("which element is assigned is data")
    names = writers[0].variables[: level + 1]
    moving = [
        d
        for d in range(len(array.shape))
        if not any(names[level] in s.stmt.target.indices[d].variables() for s in writers)
    ]
    fixed = {d: e for d in moving if (e := _same(writers, d, names[:level])) is not None}
    cell = tuple(d for d in moving if d not in fixed)
    cells = Cells(names, writers[0].stmt.target.indices, cell)
    finder = _Finder(scop, array, tuple(writers), level, cells, fixed)
    if not finder.tells_apart:
        cells = with_lanes(cells, lanes_of(writers, level, (*cell, *fixed)))
        finder = replace(finder, cells=cells)
        if not cells.lanes or not finder.tells_apart:
            raise NoAgesError(
                "an iteration assigns several elements that its own subscripts do not tell apart"
            )
    found = list(finder.reads(nest))
    if not any(not read.behind for read in found):
        raise NoAgesError(
            f"no read of '{array.name}' in the loop finds values that are always as many iterations old"
        )
    there = [read for read in found if _is_there(cells, read)]
    if not any(not read.behind for read in there):
        raise NoAgesError(
            f"what is in '{array.name}' before the loop is read, and not where the loop would assign it"
        )
    return Ages(array, level, cells, tuple(writers), finder.written, tuple(there))


def _same(writers: Sequence[Statement], dim: int, around: Sequence[str]) -> Affine | None:
    """A subscript that is the same in all that a run of the loop assigns, which tells no cells apart."""
    found = {s.stmt.target.indices[dim] for s in writers}
    (first,) = found if len(found) == 1 else (None,)
    return first if first is not None and first.variables() <= set(around) else None


def _is_there(cells: Cells, read: Handed) -> bool:
    """Whether what a read finds that the loop has not assigned is where the loop would have assigned it, or a constant."""
    if all(s is not None and isinstance(s.stmt.value, Const) for s, _ in read.before):
        return True
    s, level = read.reader, len(cells.names) - 1
    around = [Affine.of(v) for v in s.variables[: level + 1]]
    around[level] -= read.age
    cell = cell_of(cells, s, read.access, read.age)
    element = None if cell is None else cells.element((*around, *cell))
    names = positional(s.variables)
    same = (
        "false"
        if element is None
        else " and ".join(
            f"{affine_text(a, names)} = {affine_text(b, names)}"
            for a, b in zip(element, read.access.indices, strict=True)
        )
    )
    return bool(s.domain.is_subset(set_of(f"{{ {s.space} : {same} }}")))


@dataclass(frozen=True, eq=False)
class _Finder:
    """Asks isl."""

    scop: Scop
    array: Array
    writers: tuple[Statement, ...]
    level: int
    cells: Cells
    fixed: Mapping[int, Affine]

    @property
    def written(self) -> isl.Set:
        """The points in which the loop assigns."""
        return union([self.points(s, s.stmt.target, NOW).range() for s in self.writers])

    def points(self, s: Statement, access: Access, age: Affine) -> isl.Map:
        """From iterations to the points that had an element so many iterations before."""
        names = positional(s.variables)
        around = [names[v] for v in s.variables[: self.level + 1]]
        around[self.level] += f" - ({affine_text(age, names)})"
        cell = cell_of(self.cells, s, access, age)
        assert cell is not None
        point = [*around, *(affine_text(e, names) for e in cell)]
        return map_of(f"{{ {s.space} -> [{', '.join(point)}] }}").intersect_domain(s.domain)

    @property
    def tells_apart(self) -> bool:
        """Whether one element at the most is assigned in a point."""
        whole: isl.Map | None = None
        for s in self.writers:
            if cell_of(self.cells, s, s.stmt.target, NOW) is None:
                return False
            names = positional(s.variables)
            element = ", ".join(affine_text(e, names) for e in s.stmt.target.indices)
            target = map_of(f"{{ {s.space} -> [{element}] }}").intersect_domain(s.domain)
            own = self.points(s, s.stmt.target, NOW).reverse().apply_range(target)
            whole = own if whole is None else whole.union(own)
        return whole is None or whole.is_single_valued()

    def reads(self, nest: Sequence[Statement]) -> Iterator[Handed]:
        """Those that find values of one age."""
        inside = {s.name for s in nest}
        for s in self.scop.statements:
            for access in s.reads:
                if access.array != self.array.name or any(e.is_data for e in access.indices):
                    continue
                if any(access.indices[d] != e for d, e in self.fixed.items()):
                    continue
                found = (
                    self._inside(s, access) if s.name in inside else self._behind(s, access, nest)
                )
                if found is not None:
                    yield found

    def _inside(self, s: Statement, access: Access) -> Handed | None:
        apart: list[isl.Map] = []
        others: list[tuple[Statement, isl.Map]] = []
        for source, pairs in writes_seen(self.scop, s, access):
            if source in self.writers:
                own = pairs.intersect(same_run(source, s, self.level))
                apart.append(_distances(own, self.level))
                pairs = pairs.subtract(own)
            if not pairs.is_empty():
                others.append((source, pairs))
        found = self._age(s, access, apart)
        if found is None:
            return None
        age, oldest = found
        if cell_of(self.cells, s, access, age) is None:
            return None
        points = self.points(s, access, age)
        fed = union([d.range() for d in self._fed(s, access)])
        before = points.intersect_domain(s.domain.subtract(fed)).range()
        if not before.intersect(self.written).is_empty():
            return None  # the register has what is assigned later, or in another way
        parts: list[tuple[Statement | None, isl.Set]] = []
        for source, pairs in others:
            own = before.intersect(points.intersect_domain(pairs.range()).range())
            if source not in self.writers and not own.is_empty():
                parts.append((source, own.coalesce()))
                before = before.subtract(own)
        if not before.is_empty():
            parts.append((None, before.coalesce()))
        return Handed(s, access, age, oldest, False, tuple(parts))

    def _age(
        self, s: Statement, access: Access, apart: Sequence[isl.Map]
    ) -> tuple[Affine, int] | None:
        """How old what a read of the loop finds is, and at the most, if that does not depend on loops around.

        Args:
            s: the reader.
            access: what it reads.
            apart: from its iterations to how long ago what they find was assigned.
        """
        same = _constant([one.range() for one in apart])
        if same is not None:
            return Affine.of(same), same
        names = positional(s.variables)
        age = self._told(s, access) if apart else None
        if age is None or not age.variables() <= set(s.variables[self.level + 1 :]):
            return None
        ages = map_of(f"{{ {s.space} -> [{affine_text(age, names)}] }}").intersect_domain(s.domain)
        low, high = ages.range().dim_min_val(0), ages.range().dim_max_val(0)
        is_so = all(one.is_subset(ages) for one in apart)
        if not is_so or not low.is_pos() or not high.is_int():
            return None
        return age, high.to_python()

    def _told(self, s: Statement, access: Access) -> Affine | None:
        """How many iterations ago an element was assigned, as subscripts tell."""
        found: set[Affine | None] = set()
        for writer in self.writers:
            own = {v: f"{v}'" for v in writer.variables}
            around = zip(writer.variables[: self.level], s.variables[: self.level], strict=True)
            known = {own[w]: Affine.of(v) for w, v in around}
            target = [index.rename(own) for index in writer.stmt.target.indices]
            at = solved(target, access.indices, known).get(own[writer.variables[self.level]])
            found.add(None if at is None else Affine.of(s.variables[self.level]) - at)
        return found.pop() if len(found) == 1 else None

    def _behind(self, s: Statement, access: Access, nest: Sequence[Statement]) -> Handed | None:
        """Of a read behind the loop, in the same iteration of the loops around."""
        first, level = nest[0], self.level
        last = _last(first, level)
        if (
            last is None
            or self.cells.lanes  # how old an element is then depends on where it is
            or s.place[:level] != first.place[:level]
            or s.place[level] <= first.place[level]
        ):
            return None
        apart: list[isl.Set] = []
        for source, pairs in writes_seen(self.scop, s, access):
            if source not in self.writers or not pairs.is_subset(same_run(source, s, self.level)):
                return None
            names = positional(source.variables)
            at = f"{affine_text(last, names)} - {names[source.variables[level]]}"
            until = map_of(f"{{ {source.space} -> [{at}] }}").intersect_domain(pairs.domain())
            apart.append(until.range())
        fed = self._fed(s, access)
        if not s.domain.is_subset(union([d.range() for d in fed])):
            return None
        age = _constant(apart)
        return None if age is None else Handed(s, access, Affine.of(age), age, True, ())

    def _fed(self, s: Statement, access: Access) -> list[isl.Map]:
        """Of these, those of the same run of the loop; an empty one where there is none."""
        none = isl.Map.empty(s.domain.get_space().map_from_set())
        return [none] + [
            pairs.intersect(same_run(source, s, self.level))
            for source, pairs in writes_seen(self.scop, s, access)
            if source in self.writers
        ]


def _last(s: Statement, level: int) -> Affine | None:
    """The last iteration of a loop around a statement, if one bound says it."""
    loop = s.loops[level]
    return loop.uppers[0] - 1 if len(loop.uppers) == 1 else None


def _distances(pairs: isl.Map, level: int) -> isl.Map:
    """From the later one of pairs of iterations to how far they are apart in a loop."""
    a = dims(pairs.dim(isl.dim_type.in_), "x")
    b = dims(pairs.dim(isl.dim_type.out), "y")
    source = pairs.get_tuple_name(isl.dim_type.in_)
    sink = pairs.get_tuple_name(isl.dim_type.out)
    text = f"{{ [{source}[{', '.join(a)}] -> {sink}[{', '.join(b)}]] -> [y{level} - x{level}] }}"
    found = map_of(text).intersect_domain(pairs.wrap())
    return found.apply_domain(pairs.range_map())


def _constant(ages: Sequence[isl.Set]) -> int | None:
    """What all are, if that is one number that is not below 0."""
    values = union(ages) if ages else None
    if values is None or values.is_empty():
        return None
    low, high = values.dim_min_val(0), values.dim_max_val(0)
    return low.to_python() if low.is_int() and low.eq(high) and not low.is_neg() else None


def union(sets: Sequence[isl.Set]) -> isl.Set:
    """Of sets of one space."""
    return reduce(lambda a, b: a.union(b), sets).coalesce()
