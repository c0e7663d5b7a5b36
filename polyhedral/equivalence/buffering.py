"""Does a program that works on copies of an array compute what the program without them does?

The argument, for each copy B of X and each region, the body of one iteration of the loops to which B
belongs:

* ``B[y]`` stands for ``X[y + o]``, with one ``o``, a function of these loops, in all statements of the
  region; so elements of both are one to one;
* what copies in runs before all else in the region, and what copies out after it;
* what is copied to another local first, from which B starts, is as good as copied to B
  (`polyhedral.equivalence.first_copies`);
* every element that is read of B was copied in or assigned before, in the same iteration of the loops;
* what the region assigns is copied out, and nothing else but what was copied in; and no statement uses
  another copy of X for it, or X itself; nor does one assign of X what another uses of a copy.

Then a region begins with the same X in both programs, its statements read and assign the same values,
and it leaves the same X. All else is as it was. What is looked at is the two programs alone, not how the
second one came about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.expanded import accesses_of, with_accesses
from dsl.programs.program import Array, Program, Storage
from polyhedral.dependences.memory_order import program_order
from polyhedral.equivalence.first_copies import Unreached, without_first_copies
from polyhedral.equivalence.refutation import Refutation
from polyhedral.isl.text import conjunction, dims, map_of, positional, subscript_texts
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import Scop, Statement, build_scop


def check_buffers(before: Program, after: Program, name: str, depth: int) -> Refutation | None:
    """Compare a program with what copies of one of its arrays made of it.

    Args:
        before: the program.
        after: the one with copies.
        name: the array.
        depth: loops around a region, as the step says.
    """
    old, new = build_scop(before), build_scop(after)
    array = before.array(name)
    copies = [a for a in after.arrays if a not in before.arrays]
    known = {s.name for s in old.statements}
    merged = without_first_copies(new, known, array, copies, depth, _asked_of(new, copies, depth))
    if isinstance(merged, str):
        return _refused(array, merged)
    if merged is not after:
        new = build_scop(merged)
        copies = [a for a in merged.arrays if a not in before.arrays]
    text = _other_program(old, new, array, copies, depth)
    if text is None:
        regions = _regions(new, copies, depth)
        text = next((t for r in regions if (t := _wrong(old, new, array, r)) is not None), None)
    return None if text is None else _refused(array, text)


def _asked_of(new: Scop, copies: Sequence[Array], depth: int) -> Unreached:
    regions = _regions(new, copies, depth)

    def unreached(copy: Array) -> str | None:
        own = (r for r in regions if copy in r.copies)
        return next((t for r in own if (t := _unreached(new, r, copy)) is not None), None)

    return unreached


def _refused(array: Array, text: str) -> Refutation:
    return Refutation("W339", f"buffer of '{array.name}': {text}", array.span, ())


def _other_program(
    old: Scop, new: Scop, array: Array, copies: Sequence[Array], depth: int
) -> str | None:
    """What differs besides accesses to the copies, and statements that copy."""
    if old.program.arguments != new.program.arguments:
        return "the arguments are other ones"
    for copy in copies:
        if copy.storage is not Storage.LOCAL or copy.dtype != array.dtype:
            return f"'{copy.name}' is no local of its type"
        if len(copy.shape) != len(array.shape):
            return f"'{copy.name}' has another rank"
    if array.scope_depth > depth:
        return "the array belongs to loops further in"
    names = {c.name for c in copies}
    if {a for a in new.program.arrays if a.name not in names} != set(old.program.arrays):
        return "the locals are other ones"
    known = {s.name for s in old.statements}
    kept = [s for s in new.statements if s.name in known]
    if [s.name for s in kept] != [s.name for s in old.statements]:
        return "the statements are other ones"
    for s in new.statements:
        if s.name not in known and _copying(s, array, names) is None:
            return f"{s.name} is no copy"
    for mine, now in zip(old.statements, kept, strict=True):
        if not _differ_in_copies(mine, now, array, names):
            return f"{mine.name} is another statement"
    return other_loops(old.statements, kept)


def _copying(s: Statement, array: Array, copies: set[str]) -> tuple[Access, Access] | None:
    """The element outside and the one in the copy, where the statement only copies."""
    value, target = s.stmt.value, s.stmt.target
    if not isinstance(value, Load) or value.dtype != array.dtype:
        return None
    source = value.access
    if target.array in copies and source.array == array.name:
        return source, target
    if source.array in copies and target.array == array.name:
        return target, source
    return None


def _differ_in_copies(mine: Statement, now: Statement, array: Array, copies: set[str]) -> bool:
    """Whether one is the other with accesses to the array become accesses to copies."""
    was = iter(accesses_of(mine.stmt))

    def own(access: Access) -> Access:
        other = next(was)
        return other if access.array in copies and other.array == array.name else access

    return mine.stmt == with_accesses(now.stmt, own)


# ----------------------------------------------------------------------------------- regions


@dataclass(frozen=True, slots=True)
class _Region:
    """The body of a loop to which copies belong; its statements."""

    depth: int
    copies: tuple[Array, ...]
    statements: tuple[Statement, ...]


def _regions(new: Scop, copies: Sequence[Array], depth: int) -> list[_Region]:
    found: dict[tuple[int, ...], list[Array]] = {}
    for copy in copies:
        for s in new.statements:
            if s.touches(copy.name):
                own = found.setdefault(s.loop_ids[:depth], [])
                if copy not in own:
                    own.append(copy)
    return [
        _Region(
            depth,
            tuple(own),
            tuple(s for s in new.statements if s.loop_ids[:depth] == ids),
        )
        for ids, own in found.items()
    ]


@dataclass(frozen=True, eq=False)
class _Held:
    """A copy in a region.

    Attributes:
        copy: the local.
        assigned: what statements of the program assign of it, as ``[r, x]`` of the array.
        brought: what is copied in.
        out: what is copied out.
        used: what statements of the program read or assign of it; more may be copied in.
    """

    copy: Array
    assigned: isl.Set
    brought: isl.Set
    out: isl.Set
    used: isl.Set


def _wrong(old: Scop, new: Scop, array: Array, region: _Region) -> str | None:
    known = {s.name for s in old.statements}
    names = {c.name for c in region.copies}
    if any(len(s.loops) < region.depth for s in region.statements):
        return "a copy does not belong to one iteration of its loops"
    if text := _out_of_turn(region, names, known):
        return text
    held: list[_Held] = []
    for copy in region.copies:
        if copy.scope_depth > region.depth:
            return f"'{copy.name}' belongs to other loops"
        if (text := _unreached(new, region, copy)) is not None:
            return text
        found = _held(old, array, region, copy, known)
        if isinstance(found, str):
            return found
        both = found.assigned.union(found.brought)
        if not (found.assigned.is_subset(found.out) and found.out.is_subset(both)):
            return f"what is copied out of '{copy.name}' is not what is assigned"
        held.append(found)
    assigned, touched = _beside(old, array, region, known)
    for one in held:
        if not (one.out.is_disjoint(touched) and one.used.is_disjoint(assigned)):
            return f"'{array.name}' is touched beside '{one.copy.name}', which holds the element"
        for other in held:
            if one is not other and not one.out.is_disjoint(other.used.union(other.out)):
                return f"'{one.copy.name}' and '{other.copy.name}' hold one element"
    return None


def _beside(old: Scop, array: Array, region: _Region, known: set[str]) -> tuple[isl.Set, isl.Set]:
    """What statements of the program assign, and what they touch, of the array itself, as ``[r, x]``."""
    empty = _nothing(region.depth, array)
    assigned, touched = empty, empty
    for s in region.statements:
        for access in accesses_of(s.stmt) if s.name in known else ():
            if access.array == array.name:
                points = _elements(s, access, region.depth, array.shape)
                touched = touched.union(points)
                if access == s.stmt.target:
                    assigned = assigned.union(points)
    return assigned, touched


def _nothing(depth: int, array: Array) -> isl.Set:
    return isl.Set.empty(map_of(_text(depth, len(array.shape))).get_space().range())


def _unreached(new: Scop, region: _Region, copy: Array) -> str | None:
    """Which read of a copy nothing was copied in or assigned for, in the same region."""
    kind = isl.dim_type
    for s in region.statements:
        for access in s.reads:
            if access.array != copy.name:
                continue
            own = new.access_map(s, access)  # a gather to each of the elements that it may read
            missing = own
            for t in region.statements:
                order = program_order(t, s)
                if t.stmt.target.array != copy.name or order is None:
                    continue
                others = new.access_map(t, t.stmt.target)
                pairs = others.apply_range(own.reverse()).intersect(order)
                for k in range(region.depth):
                    pairs = pairs.equate(kind.in_, k, kind.out, k)
                missing = missing.subtract(pairs.reverse().apply_range(others))
                if missing.is_empty():
                    break
            if not missing.is_empty():
                return f"'{copy.name}' is read where nothing was copied or assigned"
    return None


def _out_of_turn(region: _Region, names: set[str], known: set[str]) -> str | None:
    """Copies in come first, and copies out last."""
    stage = 0
    last = -1
    for s in region.statements:
        position = s.place[region.depth]
        if s.name in known:
            now = 1
        else:
            now = 0 if s.stmt.target.array in names else 2
        if now < stage or (now != stage and position == last):
            return f"{s.name} does not run before or after all of the region"
        stage, last = now, position
    return None


def _held(old: Scop, array: Array, region: _Region, copy: Array, known: set[str]) -> _Held | str:
    """What a copy holds, if all statements agree what its elements stand for."""
    offset: tuple[Affine, ...] | None = None
    empty = _nothing(region.depth, array)
    sets = {"assigned": empty, "brought": empty, "out": empty, "used": empty}
    for s in region.statements:
        for outside, inside in _pairs(old, s, array, copy, known):
            found = tuple(a - b for a, b in zip(outside.indices, inside.indices, strict=True))
            inner = set(s.variables[region.depth :])
            if any(e.variables() & inner for e in found):
                return f"an element of '{copy.name}' stands for several in {s.name}"
            if offset is None:
                offset = found
            if found != offset:
                return f"'{copy.name}' stands for other elements in {s.name}"
            points = _elements(s, outside, region.depth, array.shape)
            if s.name in known:
                sets["used"] = sets["used"].union(points)
            if s.name in known and inside == s.stmt.target:
                sets["assigned"] = sets["assigned"].union(points)
            if s.name not in known:
                way = "out" if s.stmt.target.array == array.name else "brought"
                sets[way] = sets[way].union(points)
    return _Held(copy, **sets)


def _pairs(
    old: Scop, s: Statement, array: Array, copy: Array, known: set[str]
) -> list[tuple[Access, Access]]:
    """The elements of the array that the statement's accesses to the copy stand for, and these."""
    if s.name not in known:
        found = _copying(s, array, {copy.name})
        return [] if found is None else [found]
    both = zip(accesses_of(old.statement(s.name).stmt), accesses_of(s.stmt), strict=True)
    return [(was, now) for was, now in both if now.array == copy.name]


def _text(depth: int, rank: int) -> str:
    return f"{{ [] -> [{', '.join([*dims(depth, 'r'), *dims(rank, 'x')])}] }}"


def _elements(s: Statement, access: Access, depth: int, shape: tuple[int, ...]) -> isl.Set:
    """What the statement touches, as ``[r, x]``."""
    names = positional(s.variables)
    values, limits = subscript_texts(access.indices, names, shape)
    to = ", ".join([*dims(depth), *values])
    where = f" : {conjunction(limits)}" if limits else ""
    return map_of(f"{{ {s.space} -> [{to}]{where} }}").intersect_domain(s.domain).range()
