"""Does a program that keeps what it reads again compute what the program without that does?

Each element of the new locals stands for an element of the array, which one depends on the iteration of
the loops around. For a window ``W``, whose element ``[p]`` statements read for ``X[o + p]`` or ``X[o - p]``, with
``o`` a function of the loops that all its statements share, it is that element. For other locals it is what
they were given from a window. The argument:

* the statements of the program are the same, in the same iterations, but for reads of ``X`` that are of
  windows now; what is added only copies, from ``X`` or among the new locals;
* in an iteration, a copy from ``X`` to a window reads the element that this position stands for;
* whatever reads a new local, for an element of ``X``, reads a value there that was given to it in the same
  iteration of the loops around its declaration, and for the same element of ``X`` (isl finds the last
  write before each read; that none lacks one is part of it);
* nothing writes ``X`` in the loop in which all that happens.

Then, by induction over time, each new local holds elements of ``X`` that are what they are where
the program reads them. What is looked at is the two programs alone, not how the second one came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.expanded import accesses_of, with_accesses
from dsl.programs.program import Array, Program, Storage
from polyhedral.dependences.direct import array_flows, unwritten_reads
from polyhedral.equivalence.refutation import Refutation
from polyhedral.isl.text import affine_text, map_of, positional, set_of
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.execution_order import shared_loops
from polyhedral.scop.scop import Scop, Statement, build_scop

Element = tuple[Affine, ...]
"""Subscripts of the array, over the loops of a statement."""


def check_reuse(before: Program, after: Program, name: str) -> Refutation | None:
    """Compare a program with what keeping elements of one of its arrays made of it."""
    old, new = build_scop(before), build_scop(after)
    array = before.array(name)
    text = _differs(old, new, array)
    return (
        None
        if text is None
        else Refutation("W339", f"reuse of '{array.name}': {text}", array.span, ())
    )


def _differs(old: Scop, new: Scop, array: Array) -> str | None:
    added = {a.name: a for a in new.program.arrays if a not in old.program.arrays}
    text = _other_program(old, new, array, added)
    if text is not None:
        return text
    known = {s.name: s for s in old.statements}
    reads = list(_replaced(known, new, added))
    windows: dict[str, _Window] = {}
    for name in dict.fromkeys(now.array for _, _, now in reads):
        users = [s for s in new.statements if s.touches(name)]
        found = _window([(was, now) for _, was, now in reads if now.array == name], users)
        if found is None:
            return f"an element of '{name}' stands for several"
        windows[name] = found
    stands: dict[tuple[str, Access], Element] = {
        (s.name, now): was.indices for s, was, now in reads
    }
    for s in new.statements:
        if s.name not in known:
            element = _handed(s, windows)
            if element is None:
                return f"{s.name} is no copy from or to a window"
            stands[s.name, s.stmt.target] = element
            stands[s.name, s.reads[0]] = element
    for local in added.values():
        users = [s for s in new.statements if s.touches(local.name)]
        text = _written_meanwhile(new, array, local, users) or _mistaken(new, local, stands)
        if text is not None:
            return text
    return next((t for s in new.statements if (t := _other_source(s, array, stands))), None)


def _other_program(old: Scop, new: Scop, array: Array, added: Mapping[str, Array]) -> str | None:
    """What differs besides reads of the new locals, and statements that copy."""
    if old.program.arguments != new.program.arguments:
        return "the arguments are other ones"
    if {a for a in new.program.arrays if a.name not in added} != set(old.program.arrays):
        return "the locals are other ones"
    for local in added.values():
        if local.storage is not Storage.LOCAL or local.dtype != array.dtype:
            return f"'{local.name}' is no local of its type"
        if local.scope_depth < array.scope_depth:
            return f"'{local.name}' is kept for several lives of the array"
    known = {s.name for s in old.statements}
    kept = [s for s in new.statements if s.name in known]
    if [s.name for s in kept] != [s.name for s in old.statements]:
        return "the statements are other ones"
    for s in new.statements:
        value = s.stmt.value
        if s.name not in known and not (
            isinstance(value, Load)
            and value.dtype == array.dtype
            and s.stmt.target.array in added
            and value.access.array in {array.name, *added}
        ):
            return f"{s.name} is no copy"
    for mine, now in zip(old.statements, kept, strict=True):
        if not _differ_in_reads(mine, now, array, added):
            return f"{mine.name} is another statement"
    return other_loops(old.statements, kept)


def _differ_in_reads(
    mine: Statement, now: Statement, array: Array, added: Mapping[str, Array]
) -> bool:
    """Whether one is the other with reads of the array become reads of new locals."""
    if now.stmt.target.array in added:
        return False
    was = iter(accesses_of(mine.stmt))

    def own(access: Access) -> Access:
        other = next(was)
        return other if access.array in added and other.array == array.name else access

    return mine.stmt == with_accesses(now.stmt, own)


def _replaced(
    known: Mapping[str, Statement], new: Scop, added: Mapping[str, Array]
) -> Iterator[tuple[Statement, Access, Access]]:
    """What statements of the program read of the array, and of which local they read it now."""
    found: dict[tuple[str, Access, Access], Statement] = {}
    for s in new.statements:
        if s.name in known:
            for was, now in zip(accesses_of(known[s.name].stmt), accesses_of(s.stmt), strict=True):
                if now.array in added:
                    found[s.name, was, now] = s
    for (_, was, now), s in found.items():
        yield s, was, now


# ----------------------------------------------------------------------------------- elements


@dataclass(frozen=True, slots=True)
class _Window:
    """What positions of a window stand for: ``origin + sign * position`` in each dimension."""

    origin: Element
    signs: tuple[int, ...]

    def element(self, position: Sequence[Affine]) -> Element:
        """The element of the array."""
        terms = zip(self.origin, self.signs, position, strict=True)
        return tuple(o + p * sign for o, sign, p in terms)


def _window(reads: Sequence[tuple[Access, Access]], users: Sequence[Statement]) -> _Window | None:
    """What all reads of a local agree that it stands for, if they do."""
    depth = min(shared_loops(users[0].place, s.place) for s in users)
    shared = set(users[0].variables[:depth])
    origin: list[Affine] = []
    signs: list[int] = []
    for dim in range(len(reads[0][0].indices)):
        for sign in (1, -1):
            values = {was.indices[dim] - now.indices[dim] * sign for was, now in reads}
            if len(values) == 1 and next(iter(values)).variables() <= shared:
                origin.append(values.pop())
                signs.append(sign)
                break
        else:
            return None
    return _Window(tuple(origin), tuple(signs))


def _handed(s: Statement, windows: Mapping[str, _Window]) -> Element | None:
    """The element that a copy hands on: that of the window which it writes or, if none, reads."""
    for access in (s.stmt.target, s.reads[0]):
        if access.array in windows:
            return windows[access.array].element(access.indices)
    return None


def _other_source(
    s: Statement, array: Array, stands: Mapping[tuple[str, Access], Element]
) -> str | None:
    """Whether a copy from the array reads another element than it hands on."""
    for access in s.reads:
        element = stands.get((s.name, access))
        if access.array != array.name or element is None:
            continue
        names = positional(s.variables)
        same = " and ".join(
            f"{affine_text(a, names)} = {affine_text(b, names)}"
            for a, b in zip(access.indices, element, strict=True)
        )
        if not s.domain.reset_tuple_id().is_subset(
            set_of(f"{{ [{', '.join(names.values())}] : {same} }}")
        ):
            return f"{s.name} reads another element than its position stands for"
    return None


def _mistaken(new: Scop, local: Array, stands: Mapping[tuple[str, Access], Element]) -> str | None:
    """A read of a local for one element of the array where it has another one, or nothing."""
    if not unwritten_reads(new, local.name).is_empty():
        return f"'{local.name}' is read where nothing was kept"
    for dependence in array_flows(new, local.name):
        source, sink = dependence.source, dependence.sink
        given = _elements(new, source, stands[source.name, source.stmt.target])
        target = new.access_map(source, source.stmt.target)
        for access in sink.reads:
            if access.array != local.name:
                continue
            read = new.access_map(sink, access)
            pairs = dependence.pairs.intersect(target.apply_range(read.reverse()))
            wanted = _elements(new, sink, stands[sink.name, access])
            if not pairs.is_subset(given.apply_range(wanted.reverse())):
                return f"{sink.name} reads '{local.name}' where {source.name} kept another element"
    return None


def _elements(new: Scop, s: Statement, element: Element) -> isl.Map:
    """From iterations to the elements that something stands for."""
    names = positional(s.variables)
    subscripts = ", ".join(affine_text(e, names) for e in element)
    return map_of(f"{{ {s.space} -> [{subscripts}] }}").intersect_domain(s.domain)


def _written_meanwhile(
    new: Scop, array: Array, local: Array, users: Sequence[Statement]
) -> str | None:
    """Whether the array is written in the loop in which a local is used, or there is no such loop."""
    shared = min(shared_loops(users[0].place, s.place) for s in users)
    depth = local.scope_depth + 1
    if shared < depth:
        return f"'{local.name}' is used in several loops"
    for s in new.statements:
        if s.stmt.target.array == array.name and s.place[:depth] == users[0].place[:depth]:
            return f"{s.name} writes '{array.name}' while it is kept"
    return None
