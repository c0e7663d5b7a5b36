"""What a loop makes of an array that it updates in place, and which version of it each read finds (see `versions`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Access, Scatter
from dsl.programs.program import Array
from dsl.schedules.recurrence_steps import Versions
from polyhedral.dependences.direct import writes_seen
from polyhedral.isl.text import dims, map_of, positional, set_of
from polyhedral.scop.scheduled import LoopId
from polyhedral.scop.scop import Scop, Statement, same_run
from polyhedral.transforms.carried.ages import union
from polyhedral.transforms.materialise import Materialised


def refused(step: Versions, text: str, help_: str | None = None) -> ScheduleError:
    """That an array can have no versions."""
    return ScheduleError("W239", text, span=step.span, help=help_)


@dataclass(frozen=True, eq=False)
class Updated:
    """An array that a loop updates.

    Attributes:
        array: it.
        level: of the loop.
        nest: the statements in the loop.
        writers: those that assign.
        runs: iterations of the loop and of those around.
        first: the first iteration of the loop.
        count: how many it has.
        written: from these to the elements that they assign.
    """

    array: Array
    level: int
    nest: tuple[Statement, ...]
    writers: tuple[Statement, ...]
    runs: isl.Set
    first: int
    count: int
    written: isl.Map

    @property
    def place(self) -> tuple[int, ...]:
        """Of the loop."""
        return self.nest[0].place[: self.level + 1]

    def prefix(self, s: Statement) -> isl.Map:
        """From iterations of a statement to those of the loop and of the loops around."""
        names = list(positional(s.variables).values())[: self.level + 1]
        return map_of(f"{{ {s.space} -> [{', '.join(names)}] }}").intersect_domain(s.domain)


def updated_in(
    scop: Scop, found: Materialised, array: Array, uid: LoopId, step: Versions
) -> Updated:
    """What a loop updates.

    Raises:
        ScheduleError: W239 nothing, or not so that each of its iterations could have a version.
    """
    nests: dict[tuple[int, ...], list[Statement]] = {}
    for s in scop.statements:
        level = found.pieces[s.name].level(uid)
        if level is not None:
            nests.setdefault(s.place[: level + 1], []).append(s)
    if len(nests) != 1:
        text = f"'{step.loop}' is {len(nests)} loops: a factor left iterations, or its body is in parts"
        raise refused(step, text, "put versions in front of the steps that cut the loop")
    ((place, nest),) = nests.items()
    level = len(place) - 1
    writers = tuple(s for s in nest if s.stmt.target.array == array.name)
    if not writers:
        raise refused(step, f"nothing in '{step.loop}' assigns to '{array.name}'")
    if any(isinstance(s.stmt.value, Scatter) for s in writers):
        raise refused(step, f"which element of '{array.name}' is assigned is data")
    if array.scope_depth > level:
        raise refused(step, f"'{array.name}' belongs to one iteration of '{step.loop}'")
    if array.scope_depth < level:
        text = f"'{array.name}' outlives the loops around '{step.loop}'"
        raise refused(step, text, "declare it in the loop around, or take the outermost loop")
    runs = union([_outer(found.pieces[s.name].frame, level + 1) for s in nest])
    low, high = runs.dim_min_val(level), runs.dim_max_val(level)
    whole = runs.project_out(isl.dim_type.set, level, 1).insert_dims(isl.dim_type.set, level, 1)
    whole = whole.lower_bound_val(isl.dim_type.set, level, low)
    whole = whole.upper_bound_val(isl.dim_type.set, level, high)
    if not whole.is_subset(runs):
        raise refused(step, f"'{step.loop}' does not run from and to the same numbers every time")
    first, count = low.to_python(), high.sub(low).to_python() + 1
    none = isl.Map.empty(isl.Map.from_domain_and_range(runs, box_of(array)).get_space())
    known = Updated(array, level, tuple(nest), writers, runs, first, count, none)
    written = none
    for s in writers:
        written = written.union(known.prefix(s).reverse().apply_range(elements_of(scop, s)))
    return replace(known, written=written.coalesce())


def _outer(points: isl.Set, depth: int) -> isl.Set:
    """The outermost so many loops of some iterations."""
    return points.project_out(
        isl.dim_type.set, depth, points.dim(isl.dim_type.set) - depth
    ).reset_tuple_id()


def box_of(array: Array) -> isl.Set:
    """All elements."""
    names = dims(len(array.shape), "e")
    limits = " and ".join(f"0 <= {e} < {n}" for e, n in zip(names, array.shape, strict=True))
    return set_of(f"{{ [{', '.join(names)}] : {limits or 'true'} }}")


def elements_of(scop: Scop, s: Statement, access: Access | None = None) -> isl.Map:
    """From iterations of a statement to the elements that it assigns, or accesses so."""
    own = access or s.stmt.target
    scope = scop.program.array(own.array).scope_depth  # loops in front of its subscripts
    found = scop.access_map(s, own).project_out(isl.dim_type.out, 0, scope)
    return found.reset_tuple_id(isl.dim_type.out) if found.has_tuple_id(isl.dim_type.out) else found


def read_versions(scop: Scop, updated: Updated, step: Versions) -> Mapping[tuple[str, Access], int]:
    """For each read in the loop whether it is of the version before (0) or of the new one (1)."""
    found: dict[tuple[str, Access], int] = {}
    for s in updated.nest:
        changed = updated.prefix(s).apply_range(updated.written)
        for access in dict.fromkeys(a for a in s.reads if a.array == updated.array.name):
            own = [
                pairs.intersect(same_run(source, s, updated.level + 1)).range()
                for source, pairs in writes_seen(scop, s, access)
                if source in updated.writers
            ]
            new = union([s.domain.subtract(s.domain), *own])
            old = changed.intersect(elements_of(scop, s, access)).domain().subtract(new)
            if any(index.is_data for index in access.indices) and not new.is_empty():
                text = f"which element of '{access.array}' {s.name} reads is data, maybe one that its iteration has assigned"
                raise refused(step, text)
            if not new.is_empty() and not old.is_empty():
                text = f"{s.name} reads {access} both as an iteration of '{step.loop}' finds it and as it has changed it"
                raise refused(step, text, "cut its loop where that changes")
            found[s.name, access] = int(not new.is_empty())
    return found
