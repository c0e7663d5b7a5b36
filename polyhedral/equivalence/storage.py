"""Does the memory of locals and streams hold what the program's does?

A local that is declared inside loops is private to an iteration of them in the program, while level
3 may have one memory for all; a declaration in a loop of level 3 makes a new memory in each of its
iterations. So: what an iteration reads is in the memory it reads from, and no other scope has written
over it. A stream hands on each element once, in the order in which they were written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import groupby

import islpy as isl

from dsl.programs.program import Array
from polyhedral.dependences.direct import Dependence, array_flows
from polyhedral.equivalence.raised import RaisedArray
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.relations import Run, instance_text
from polyhedral.equivalence.streams import check_stream
from polyhedral.isl.text import coordinates, dims, first_point, map_of
from polyhedral.legality.lifetimes import overwritten
from polyhedral.scop.execution_order import shared_loops
from polyhedral.scop.scop import Scop, Statement


def check_storage(
    scop: Scop, arrays: tuple[RaisedArray, ...], runs: list[Run]
) -> Refutation | None:
    """Check each local; the runs are known to be right and in order."""
    for raised in arrays:
        if raised.is_argument:
            continue
        array = scop.program.array(raised.name)
        own = [run for run in runs if array.name in _arrays(run)]
        found = check_local(scop, array, raised, own)
        if found is not None:
            return found
    return None


def check_local(scop: Scop, array: Array, raised: RaisedArray, own: list[Run]) -> Refutation | None:
    """Check a memory of a local, which some runs use."""
    found = None
    if (array.scope_depth or raised.depth) and not _one_scope_at_a_time(array, raised.depth, own):
        found = _lost(scop, array, raised, own)
    if found is None and raised.is_stream:
        found = check_stream(scop, raised, own)
    return found


def check_apart(array: Array, groups: Sequence[list[Run]]) -> Refutation | None:
    """Check that no iteration that a local belongs to uses several of the memories that stand in its place.

    Args:
        array: the local.
        groups: what uses each of the memories.
    """
    scopes = [_scopes(array, group) for group in groups if group]
    for n, mine in enumerate(scopes):
        if not all(mine.is_disjoint(other) for other in scopes[:n]):
            text = f"'{array.name}' is several memories, and one iteration uses two of them"
            return Refutation("W338", text, array.span)
    return None


def _arrays(run: Run) -> set[str]:
    found = {a.array for a in run.statement.reads}
    return found | {run.statement.stmt.target.array}


def _one_scope_at_a_time(array: Array, least: int, own: list[Run]) -> bool:
    """Whether iterations of the loops that all accesses share and scopes belong together one to
    one: then a memory is for one scope alone. Or accesses in several places do so, each place for
    scopes of its own. It is enough, not necessary. ``least``: loops around the declaration.
    """
    if not own:
        return True
    first = own[0]
    shared = min(
        (shared_loops(first.place, run.place) for run in own[1:]), default=len(first.place) - 1
    )
    for level in range(shared, least - 1, -1):
        pairs: isl.Map | None = None
        for run in own:
            loops, variables = len(run.store.loops), len(run.statement.loops)
            part = run.iterations.reset_tuple_id(isl.dim_type.out)
            part = part.project_out(isl.dim_type.in_, level, loops - level)
            part = part.project_out(
                isl.dim_type.out, array.scope_depth, variables - array.scope_depth
            )
            pairs = part if pairs is None else pairs.union(part)
        assert pairs is not None
        if pairs.is_single_valued() and pairs.is_injective():
            return True
    if len(own) < 2:
        return False
    groups = _apart(array, own, shared)
    return len(groups) > 1 and all(
        # What stands beside a group runs between two iterations of the loops shared by all.
        _one_scope_at_a_time(array, max(least, shared), g)
        for g in groups
    )


def _apart(array: Array, own: list[Run], shared: int) -> list[list[Run]]:
    """Stores that stand one behind the other below shared loops, those with a scope in common
    together with all between them.
    """
    groups: list[tuple[list[Run], isl.Set]] = []
    for _, runs in groupby(sorted(own, key=lambda r: r.place), key=lambda r: r.place[shared]):
        group = list(runs)
        scopes = _scopes(array, group)
        first = next((n for n, (_, s) in enumerate(groups) if not s.is_disjoint(scopes)), None)
        if first is not None:
            for others, s in groups[first:]:
                group, scopes = [*others, *group], scopes.union(s)
            del groups[first:]
        groups.append((group, scopes))
    return [group for group, _ in groups]


def _scopes(array: Array, own: list[Run]) -> isl.Set:
    """The scopes, as iterations of the loops around the declaration, that stores touch."""
    found: isl.Set | None = None
    for run in own:
        rest = len(run.statement.loops) - array.scope_depth
        part = run.iterations.range().reset_tuple_id()
        part = part.project_out(isl.dim_type.set, array.scope_depth, rest)
        found = part if found is None else found.union(part)
    assert found is not None
    return found


def _lost(scop: Scop, array: Array, raised: RaisedArray, own: list[Run]) -> Refutation | None:
    """Exactly: a value that is read in another memory than it was written to, or is overwritten."""
    flow = array_flows(scop, array.name)
    for dependence in flow:
        for p in own:
            for q in own:
                if p.statement is dependence.source and q.statement is dependence.sink:
                    bad = _in_two_memories(dependence, p, q, raised.depth)
                    if not bad.is_empty():
                        text = f"'{array.name}' is another memory where its value is read"
                        return _refused(text, dependence, bad)
    length = max(len(run.store.loops) for run in own)

    def instants(s: Statement) -> isl.Map | None:
        maps = [run.instants(length) for run in own if run.statement is s]
        return reduce(isl.Map.union, maps) if maps else None

    if overwritten(scop, array, instants, 2 * length + 1, flow):
        span = array.span
        text = f"another iteration writes over '{array.name}' before its value is read"
        note = (
            f"it belongs to one iteration of the {array.scope_depth} loops around its declaration"
        )
        return Refutation("W338", text, span, (note,))
    return None


def _in_two_memories(dependence: Dependence, p: Run, q: Run, depth: int) -> isl.Map:
    """The pairs, as iterations of the statements, for which the declaration is executed anew."""
    a, b = dims(len(p.store.loops), "a"), dims(len(q.store.loops), "b")
    differ = " or ".join(f"a{k} != b{k}" for k in range(depth)) or "false"
    anew = map_of(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {differ} }}")
    pairs = dependence.pairs.apply_domain(p.times).apply_range(q.times).intersect(anew)
    return pairs.apply_domain(p.iterations).apply_range(q.iterations)


def _refused(text: str, dependence: Dependence, bad: isl.Map) -> Refutation:
    source, sink = dependence.source, dependence.sink
    count = len(source.loops)
    at = coordinates(first_point(bad.wrap()), count + len(sink.loops))
    first, second = instance_text(source.name, at[:count]), instance_text(sink.name, at[count:])
    note = f"{first} writes what {second} reads"
    return Refutation("W338", text, sink.stmt.span, (note,))
