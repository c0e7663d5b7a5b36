"""Is a program of other loops the program? Each of its statements says which iterations it is of.

That is what is asked of level 3, of a program: a bijection of iterations, the same expressions of the same
elements, dependent iterations in the order of the program, and locals that hold what they held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from dsl.expressions.affine import Affine, map_cond
from dsl.expressions.expr import Access, Const, Expr, Index, Load, map_leaves
from dsl.programs.expanded import with_accesses
from dsl.programs.program import Program, Stmt
from polyhedral.equivalence.instances import check_instances
from polyhedral.equivalence.order import check_order
from polyhedral.equivalence.raised import RaisedArray, RaisedLoop, RaisedStore
from polyhedral.equivalence.refutation import Refutation, source_note
from polyhedral.equivalence.relations import Run
from polyhedral.equivalence.storage import check_apart, check_local
from polyhedral.equivalence.values import differ
from polyhedral.scop.scop import Scop, Statement, build_scop

NO_MEMORIES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Origin:
    """What a statement says that it is: iterations of a statement, whose loop variables are given
    over its own.
    """

    stmt: str
    iteration: tuple[Affine, ...]


def check_loops(
    before: Program,
    after: Program,
    origins: Mapping[str, Origin],
    free: frozenset[str],
    memories: Mapping[str, str] = NO_MEMORIES,
) -> Refutation | None:
    """Compare a program with one of its statements in other loops.

    Args:
        before: the program.
        after: the other one; all its loops count up by 1.
        origins: of each statement of the other one.
        free: statements whose accumulations may be done in any order.
        memories: locals of the other one that stand in the place of one of the program, beside it.
    """
    old, new = build_scop(before), build_scop(after)
    if before.arguments != after.arguments:
        return Refutation("W339", "other loops: the arguments are other ones", before.span)
    runs: list[Run] = []
    for s in new.statements:
        origin = origins[s.name]
        statement = old.statement(origin.stmt)
        own = with_accesses(s.stmt, lambda a: replace(a, array=memories.get(a.array, a.array)))
        runs.append(Run(_store(s, own, origin), statement))
        if not _same_values(statement, origin, own, runs[-1]):
            text = f"other loops: {s.name} is no iteration of {origin.stmt}"
            return Refutation("W339", text, statement.stmt.span, source_note(statement))
    return (
        check_instances(old, runs)
        or check_order(old, runs, free)
        or _check_memories(old, new, runs, memories)
    )


def _check_memories(
    old: Scop, new: Scop, runs: Sequence[Run], memories: Mapping[str, str]
) -> Refutation | None:
    """Check each local of the other program; ``runs`` are of its statements, in order."""
    using: dict[str, dict[str, list[Run]]] = {}
    for local in new.program.locals:
        own = [run for s, run in zip(new.statements, runs, strict=True) if s.touches(local.name)]
        array = old.program.array(memories.get(local.name, local.name))
        using.setdefault(array.name, {})[local.name] = own
        raised = RaisedArray(local.name, local.dtype, local.shape, False, local.scope_depth)
        found = check_local(old, array, raised, own)
        if found is not None:
            return found
    for name, groups in using.items():
        found = check_apart(old.program.array(name), [*groups.values()])
        if found is not None:
            return found
    return None


def _store(s: Statement, stmt: Stmt, origin: Origin) -> RaisedStore:
    """The statement, in the names of the program, as what stands in its loops."""
    # Loops of one name in different places are different ones.
    names = {var: f"{var}@{n}" for var, n in zip(s.variables, s.loop_ids, strict=True)}
    loops = tuple(
        RaisedLoop(
            names[loop.var],
            loop.var,
            tuple(e.rename(names) for e in loop.lowers),
            tuple(e.rename(names) for e in loop.uppers),
            loop.step,
        )
        for loop in s.loops
    )
    return RaisedStore(
        origin.stmt,
        tuple(e.rename(names) for e in origin.iteration),
        loops,
        tuple(map_cond(cond, lambda e: e.rename(names)) for cond in s.conds),
        s.place,
        stmt.target,
        (),
    )


def _same_values(statement: Statement, origin: Origin, own: Stmt, run: Run) -> bool:
    """Whether a statement assigns what the other one does, to the same element, in the iterations that it is said to be."""
    values = dict(zip(statement.variables, origin.iteration, strict=True))
    wanted, found = _taken_apart(statement.stmt, values), _taken_apart(own, {})
    if wanted.frame != found.frame:
        return False
    names = {loop.name: loop.iv for loop in run.store.loops}
    for one, other in zip(wanted.affines, found.affines, strict=True):
        if one == other:
            continue
        if (
            one.is_data
            or other.is_data
            or not differ(run, one.rename(names), other.rename(names)).is_empty()
        ):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Parts:
    """A statement with 0 for all affine expressions of its loops, and these, in order."""

    frame: tuple[Access, Expr]
    affines: tuple[Affine, ...]


def _taken_apart(stmt: Stmt, values: Mapping[str, Affine]) -> _Parts:
    """The parts of a statement at these values of its variables."""
    found: list[Affine] = []

    def zero(expr: Affine) -> Affine:
        found.append(expr.substitute(values))
        return Affine()

    def own(access: Access) -> Access:
        return Access(access.array, tuple(zero(e) for e in access.indices))

    def leaf(expr: Const | Load | Index) -> Expr:
        match expr:
            case Load(access, dtype):
                return Load(own(access), dtype)
            case Index(affine, dtype):
                return Index(zero(affine), dtype)
            case _:
                return expr

    frame = own(stmt.target), map_leaves(stmt.value, leaf)
    return _Parts(frame, tuple(found))
