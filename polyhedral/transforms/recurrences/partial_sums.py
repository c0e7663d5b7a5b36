"""``partial_sums(stmt, loop, count, block)``: a reduction spread over ``count`` accumulators.

Before::

    for i in range(N):
      for k in range(M):
        y[i] += A[i, k]                      # S0

After ``partial_sums("S0", "k", 4)``::

    for i in range(N):
      for part in range(4):
        y_part[i, part] = 0                  # S0_init
      for k in range(M):
        y_part[i, k % 4] += A[i, k]          # S0
      for part in range(4):
        y[i] += y_part[i, part]              # S0_sum

An iteration of ``k`` now waits for the one four before it. The three statements, their loops and
the local ``y_part`` may be named by later steps; `split("k", 4)` makes the inner loop's variable
the number of the accumulator, so that its bank is known. With a block of b iterations it is
``y_part[i, k // b % 4]``. min, max, & and | start from the element. With a loop ``around`` the accumulators that
take turns along ``k`` are started in front of that loop and added up behind it, once for all of its iterations.

Where it is data which element is updated, as in a histogram, all elements that may be have accumulators: of
``h[x[i]] += 1`` (S0) ``partial_sums("S0", "i", 4)`` makes ::

    for h_0 in range(256):
      for part in range(4):
        h_part[h_0, part] = 0                # S0_init
    for i in range(N):
      h_part[x[i], i % 4] += 1               # S0
    for h_0 in range(256):
      for part in range(4):
        h[h_0] += h_part[h_0, part]          # S0_sum

With one accumulator a sum has memory of its own: of ``y[i] += A[i, j] * x[j]`` and ``y[j] += A[i, j] * x[i]`` in one loop
the second one waits for the first no more. Where a loop that the element moves with knows the reduced one, as
``j in range(i)`` does, the new statements run over all of its values.

It is legal where `reassociate` is (which it implies), and where nothing else reads or writes the
element while the loop runs, unless it accumulates by the same operator and is set free by `reassociate`, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.expr import Binary, BinaryOp, stored_value
from dsl.expressions.types import FixedType
from dsl.programs.partial import Partial, hull, moving_inside, with_partials
from dsl.schedules.steps import PartialSums, Reassociate
from polyhedral.isl.text import dims, map_of
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_loop, find_statement
from polyhedral.scop.scheduled import Piece, ScheduledScop, original
from polyhedral.scop.scop import Scop, Statement, accumulate_alike, common_loops, same_run
from polyhedral.transforms.recurrences.reassociate import reassociate
from polyhedral.transforms.registry import Order, transform

MOST = 1024  # accumulators of an element


@transform(PartialSums, order=Order.KEPT, too_late="W221")
def partial_sums(state: ScheduledScop, step: PartialSums) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W209 no reduction of which the order is free; W221 it cannot be spread
            along this loop, or comes too late; W207 the number of accumulators.
    """
    if not 1 <= step.count <= MOST:
        raise ScheduleError("W207", f"{step.count} is not 1 to {MOST}", span=step.span)
    if step.block < 1:
        raise ScheduleError("W207", f"a block of {step.block} is not at least 1", span=step.span)
    uid = find_loop(state, step.loop, step)
    pieces = find_statement(state, step.stmt, step)
    state = reassociate(state, Reassociate(step.stmt, span=step.span))
    level = next((k for p in pieces if (k := p.level(uid)) is not None), None)
    if level is None:
        raise _refused(step, f"{step.stmt} does not run in '{step.loop}'")
    statement = state.scop.statement(step.stmt)
    reduced = _level_around(state, pieces, level, step)
    _check_form(statement, reduced, level, step)
    _check_alone(state, statement, reduced, step)
    found = with_partials(state.scop.program, step.stmt, level, step.count, step.block, reduced)
    try:
        scop = check_program(found.program)
    except LanguageError as error:
        reduced_loop = step.around or step.loop
        text = f"{step.stmt} does not touch its element each time that '{reduced_loop}' is run"
        raise _refused(step, text, (error.message, *error.notes)) from error
    _check_once(scop, found, step)
    return replace(
        state,
        scop=scop,
        pieces=original(scop).pieces,
        reassociated=state.reassociated | {found.sum},
    )


def _level_around(
    state: ScheduledScop, pieces: Sequence[Piece], level: int, step: PartialSums
) -> int:
    """The loop behind which accumulators are added up: that of the turns, or one around it."""
    if not step.around:
        return level
    uid = find_loop(state, step.around, step)
    found = next((k for p in pieces if (k := p.level(uid)) is not None), None)
    if found is None or found > level:
        raise _refused(
            step,
            f"'{step.around}' is no loop around '{step.loop}'",
            help_="name a loop of the statement that stands further out, or leave around out",
        )
    return found


def _refused(
    step: PartialSums, text: str, notes: tuple[str, ...] = (), help_: str | None = None
) -> ScheduleError:
    return ScheduleError("W221", text, span=step.span, notes=notes, help=help_)


def _check_form(s: Statement, level: int, turns: int, step: PartialSums) -> None:
    """The element stays while the loops run that it is added up behind and that take turns, and the loops inside that move
    it have a range whatever the variable of the former is.
    """
    stmt = s.stmt
    used = {v for index in stmt.target.indices for v in index.variables()}
    for loop in (s.loops[level], s.loops[turns]):
        if loop.var in used:
            text = f"{step.stmt} accumulates into another element in each iteration of '{loop.var}'"
            raise _refused(step, text, help_="name a loop that the element does not move with")
    moving = moving_inside(stmt, s.loops[level + 1 :])
    known = {each.var for each in (*s.loops[:level], *moving)}
    unknown = {each.var for each in s.loops[level:]} - known
    for each in moving:
        if hull(each, s.loops, unknown) is not None:
            continue
        for bound in (*each.lowers, *each.uppers):
            for variable in sorted(bound.variables() - known):
                raise _refused(
                    step,
                    f"{stmt.target} moves with '{each.var}', whose bounds depend on '{variable}'",
                )
    value = stored_value(s.stmt.value)
    dtype = value.dtype
    product = isinstance(value, Binary) and value.op is BinaryOp.MUL
    if product and isinstance(dtype, FixedType) and dtype.frac != 0:
        raise _refused(step, f"products of {dtype} cannot start from 1")


def _check_alone(state: ScheduledScop, s: Statement, level: int, step: PartialSums) -> None:
    """No other statement touches an element in the run of the loop that accumulates into it, but for those that
    accumulate by the same operator in any order as well.
    """
    scop, array = state.scop, s.stmt.target.array
    for other in scop.statements:
        if other is s or common_loops(s, other) <= level:
            continue
        if other.name in state.reassociated and accumulate_alike(s, other):
            continue
        for access in (other.stmt.target, *other.reads):
            if access.array != array:
                continue
            mine = scop.access_map(s, s.stmt.target)
            same = mine.apply_range(scop.access_map(other, access).reverse())
            pairs = same.intersect(same_run(s, other, level))
            if not pairs.is_empty():
                raise _shared(s, other, pairs, step)


def _shared(s: Statement, t: Statement, pairs: isl.Map, step: PartialSums) -> ScheduleError:
    point = pairs.wrap().sample_point()
    values = [
        point.get_coordinate_val(isl.dim_type.set, k).to_python()
        for k in range(len(s.loops) + len(t.loops))
    ]
    first, second = values[: len(s.loops)], values[len(s.loops) :]
    env = dict(zip(s.variables, first, strict=True))
    at = ", ".join("?" if e.is_data else str(e.evaluate(env)) for e in s.stmt.target.indices)
    array = s.stmt.target.array
    element = f"{array}[{at}]" if at else array
    pair = " and ".join(f"{x.name}[{', '.join(map(str, v))}]" for x, v in ((s, first), (t, second)))
    notes = [f"{pair} are of the same run of '{step.around or step.loop}'"]
    if t.stmt.span is not None:
        notes.append(f"{t.name} is at {t.stmt.span}" + (f": {t.stmt.source}" * bool(t.stmt.source)))
    text = f"{t.name} accesses {element} while {s.name} accumulates into it"
    help_ = f'distribute "{t.name}" in the kernel first'
    if accumulate_alike(s, t):
        help_ = f'reassociate("{t.name}") first, as it accumulates by the same operator'
    return _refused(step, text, tuple(notes), help_)


def _check_once(scop: Scop, found: Partial, step: PartialSums) -> None:
    """Each accumulator is added to its element once in a run of the loop."""
    s = scop.statement(found.sum)
    mine = scop.access_map(s, s.stmt.target)
    same = mine.apply_range(mine.reverse()).intersect(same_run(s, s, found.around))
    a, b = dims(len(s.loops), "x"), dims(len(s.loops), "y")
    space = f"s{s.index}"
    differ = " or ".join(f"x{k} != y{k}" for k in range(len(s.loops) - 1)) or "false"
    last = len(s.loops) - 1
    twice = map_of(
        f"{{ {space}[{', '.join(a)}] -> {space}[{', '.join(b)}] : x{last} = y{last} and ({differ}) }}"
    )
    if not same.intersect(twice).is_empty():
        text = (
            f"several iterations inside of '{step.around or step.loop}' accumulate into one element"
        )
        raise _refused(step, text, (f"{step.stmt}: {s.stmt.target}",))
