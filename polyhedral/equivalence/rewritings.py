"""Steps that rewrite the program: what each made of it, and whether that computes the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from dsl.programs.program import Program
from dsl.schedules.port_steps import Mirror, Replicate
from dsl.schedules.range_steps import IfConvert, Join, Separate, Trim, Unflatten, Unite
from dsl.schedules.recurrence_steps import (
    Carry,
    CriticalLast,
    Locate,
    Pivot,
    Reciprocal,
    Scan,
    StrengthReduce,
    Tree,
    TwoPass,
    Versions,
)
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Expand, PartialSums, Reuse, Step
from polyhedral.equivalence.buffering import check_buffers
from polyhedral.equivalence.carrying import check_carrying
from polyhedral.equivalence.choices import check_choices
from polyhedral.equivalence.divisions import check_divisions
from polyhedral.equivalence.expansion import check_expansion
from polyhedral.equivalence.locating import check_locating
from polyhedral.equivalence.loops import Origin, check_loops
from polyhedral.equivalence.partial_sums import check_partial_sums, sum_of
from polyhedral.equivalence.pivoting import check_pivoting
from polyhedral.equivalence.raised import NotProven
from polyhedral.equivalence.reciprocals import check_reciprocal
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.replication import check_replication
from polyhedral.equivalence.reuse import check_reuse
from polyhedral.equivalence.scanning import check_scanning
from polyhedral.equivalence.term_order import check_term_order
from polyhedral.equivalence.trees import check_tree
from polyhedral.equivalence.trimming import check_trimming
from polyhedral.equivalence.two_passes import check_two_passes
from polyhedral.equivalence.uniting import check_uniting
from polyhedral.isl.effort import OPERATIONS, TooMuchWork, limited
from polyhedral.schedule import apply_step
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.scheduled import ScheduledScop, build, is_as_written
from polyhedral.transforms.as_program import as_program
from polyhedral.transforms.loops.join import joined
from polyhedral.transforms.loops.separate import own_locals, separated, without_single
from polyhedral.transforms.loops.unflatten import cut
from polyhedral.transforms.materialise import Materialised, materialised
from polyhedral.transforms.recurrences.pivot import pivoted
from polyhedral.transforms.registry import rewrites

Rewrites = (
    PartialSums
    | Expand
    | Locate
    | Scan
    | Tree
    | Replicate
    | Mirror
    | Buffer
    | Reuse
    | Carry
    | CriticalLast
    | Versions
    | Join
    | Unflatten
    | Separate
    | Trim
    | Pivot
    | TwoPass
    | Unite
    | Reciprocal
    | StrengthReduce
    | IfConvert
)
REWRITING = get_args(Rewrites)


@dataclass(frozen=True)
class Rewriting:
    """What a step made of a program.

    Attributes:
        step: the step.
        before: the program.
        after: the other one.
        origins: where only the loops are other ones: what each statement is; of `Pivot` what computes again.
        free: statements whose reductions may be done in any order, in both; and, because of the
            step, in the other one.
        memories: locals of the other one that stand in the place of one of the program, and that one.
        depth: loops around what works on copies, or around the outermost that is searched.
        only_loops: the step has not done its own work yet.
    """

    step: Rewrites
    before: Program
    after: Program
    origins: tuple[tuple[str, Origin], ...] = ()
    free: frozenset[str] = frozenset()
    depth: int = 0
    memories: tuple[tuple[str, str], ...] = ()
    only_loops: bool = False


def rewritings(program: Program, schedule: Schedule) -> tuple[Rewriting, ...]:
    """What the steps of a schedule that rewrite the program make of it, one after the other.

    Raises:
        ScheduleError: a step is not legal.
    """
    found: list[Rewriting] = []
    left = sum(isinstance(step, REWRITING) for step in schedule)
    state = build(program) if left else None
    for step in schedule:
        if state is None or not left:
            break
        before, state = state, apply_step(state, step)
        if isinstance(step, REWRITING):
            found += _rewriting(step, before, state)
            left -= 1
    return tuple(found)


def _rewriting(
    step: Rewrites,
    before: ScheduledScop,
    after: ScheduledScop,
) -> Iterator[Rewriting]:
    program, new = before.scop.program, after.scop.program
    if rewrites(step) and not is_as_written(before):
        # The loops of the schedule so far become those of the program, which is rewritten then.
        start = as_program(before)
        assert start is not None, "the step was carried out"
        yield _in_loops(step, before, materialised(before))
        before, program = start, start.scop.program
    match step:
        case PartialSums():
            free = before.reassociated | {sum_of(program, new)}
            yield Rewriting(step, program, new, free=free)
        case Expand() if not is_as_written(before):
            made = materialised(before)
            yield _in_loops(step, before, made)
            yield Rewriting(step, made.program, new)
        case (
            Expand() | Replicate() | CriticalLast() | Reciprocal() | StrengthReduce() | IfConvert()
        ):
            yield Rewriting(step, program, new)
        case Locate() | Scan() | Tree() | TwoPass():
            yield Rewriting(step, program, new, depth=_depth(before, step.loop, step) - 1)
        case Buffer() | Reuse() | Carry() | Mirror() | Versions():
            # The same: then copies are made.
            made = materialised(before)
            yield _in_loops(step, before, made)
            depth = 0 if isinstance(step, Mirror | Versions) else _depth(before, step.at, step)
            yield Rewriting(step, made.program, new, (), after.reassociated, depth)
        case Trim() | Unite():
            made = materialised(before)
            yield _in_loops(step, before, made)
            yield Rewriting(step, made.program, new, (), after.reassociated)
        case Pivot():
            again = pivoted(before, step).origins.items()
            yield Rewriting(step, program, new, tuple((n, Origin(*at)) for n, at in again))
        case Join() | Unflatten():
            moved = joined(before, step) if isinstance(step, Join) else cut(before, step)
            origins = _origins(materialised(moved))
            yield Rewriting(step, program, new, origins, before.reassociated)
        case Separate():
            moved = without_single(before)
            own = own_locals(before, moved)
            origins = _origins(separated(moved, own))
            memories = tuple((array.name, old) for old, array in own.new)
            yield Rewriting(step, program, new, origins, before.reassociated, memories=memories)


def _in_loops(step: Rewrites, before: ScheduledScop, made: Materialised) -> Rewriting:
    """The program in the loops of its schedule, in which the step finds it."""
    program, free = before.scop.program, before.reassociated
    return Rewriting(step, program, made.program, _origins(made), free, only_loops=True)


def _origins(made: Materialised) -> tuple[tuple[str, Origin], ...]:
    """What each statement of a program in the loops of a schedule is."""
    return tuple(
        (name, Origin(piece.name, tuple(e for _, e in piece.bindings)))
        for name, piece in made.pieces.items()
    )


def _depth(state: ScheduledScop, loop: str, step: Step) -> int:
    """Loops down to one of the step's, that one counted; none without one."""
    if not loop:
        return 0
    uid = find_loop(state, loop, step)
    return 1 + next(level for p in state.pieces if (level := p.level(uid)) is not None)


def check_rewriting(
    rewriting: Rewriting, operations: int = OPERATIONS
) -> Refutation | NotProven | None:
    """Compare a program with what a step made of it."""
    try:
        with limited(operations):
            return _checked(rewriting)
    except TooMuchWork:
        return NotProven(f"isl did not come to an end within {operations:,} operations")


def _checked(rewriting: Rewriting) -> Refutation | None:
    before, after = rewriting.before, rewriting.after
    if rewriting.only_loops:
        return check_loops(before, after, dict(rewriting.origins), rewriting.free)
    match rewriting.step:
        case Replicate(array=array):
            return check_replication(before, after, array)
        case Locate() | Scan() | Tree() | TwoPass():
            return _along_a_loop(rewriting)
        case PartialSums(stmt=stmt):
            return check_partial_sums(before, after, stmt, rewriting.free)
        case Pivot():
            return check_pivoting(before, after, dict(rewriting.origins))
        case Join() | Unflatten() | Separate():
            origins, memories = dict(rewriting.origins), dict(rewriting.memories)
            return check_loops(before, after, origins, rewriting.free, memories)
        case Expand(array=array):
            return check_expansion(before, after, array)
        case Buffer(array=array):
            return check_buffers(before, after, array, rewriting.depth)
        case Reuse(array=array):
            return check_reuse(before, after, array)
        case Carry(array=array) | Mirror(array=array) | Versions(array=array):
            return check_carrying(before, after, array)
        case Trim(stmt=stmt):
            return check_trimming(before, after, stmt)
        case Unite(stmt=stmt, other=other):
            return check_uniting(before, after, stmt, other)
        case CriticalLast() | Reciprocal() | StrengthReduce() | IfConvert():
            return _in_other_values(rewriting)


def _along_a_loop(rewriting: Rewriting) -> Refutation | None:
    """Of steps that say along which loop what is handed on is computed otherwise."""
    before, after, depth = rewriting.before, rewriting.after, rewriting.depth
    match rewriting.step:
        case Locate(stmt=stmt):
            return check_locating(before, after, stmt, depth)
        case Scan(stmt=stmt, factor=factor, tail=tail):
            return check_scanning(before, after, stmt, depth, factor, tail == "guard")
        case Tree(stmt=stmt):
            return check_tree(before, after, stmt, depth)
        case TwoPass(stmts=stmts):
            return check_two_passes(before, after, stmts, depth)
    raise AssertionError("no step along a loop")


def _in_other_values(rewriting: Rewriting) -> Refutation | None:
    """Of steps that compute what a statement assigns otherwise."""
    before, after = rewriting.before, rewriting.after
    match rewriting.step:
        case CriticalLast(stmt=stmt):
            return check_term_order(before, after, stmt)
        case Reciprocal(stmt=stmt):
            return check_reciprocal(before, after, stmt)
        case StrengthReduce(stmt=stmt):
            return check_divisions(before, after, stmt)
        case IfConvert(stmt=stmt):
            return check_choices(before, after, stmt)
    raise AssertionError("no step that computes values otherwise")
