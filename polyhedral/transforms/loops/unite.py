"""``unite(stmt, other)``: statements that do the same in neighbouring ranges of a loop become one.

Before, a factorisation row by row::

    for i in range(N):
      for j in range(i):
        for k in range(j):
          A[i, j] -= A[i, k] * A[k, j]         # S0
        A[i, j] /= A[j, j]                     # S1
      for j in range(i, N):
        for k in range(i):
          A[i, j] -= A[i, k] * A[k, j]         # S2

After ``unite("S0", "S2")``::

    for i in range(N):
      for j in range(N):
        for k in range(min(i, j)):
          A[i, j] -= A[i, k] * A[k, j]         # S0
        if j < i:
          A[i, j] /= A[j, j]                   # S1

Where the loops are reordered then, what is above and below of the diagonal is one nest, and not two that fill and drain. What
follows a loop may be its next iteration, too: with ``for k in range(i): A[i, i] -= A[i, k] * A[i, k]`` behind a loop over
``j in range(i)``, ``j`` comes to ``i``. The order stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.programs.program import Program
from dsl.programs.united import NotUnitedError, United, united
from dsl.schedules.range_steps import Unite
from polyhedral.isl.text import affine_text, dims, map_of
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.scop.scop import Scop, build_scop
from polyhedral.transforms.materialise import materialised
from polyhedral.transforms.registry import Order, transform


@transform(Unite, order=Order.KEPT, too_late="W253")
def unite(state: ScheduledScop, step: Unite) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W253 the statements are no two ranges of one, or the step comes too late.
    """
    for name in (step.stmt, step.other):
        if not find_statement(state, name, step):
            raise _refused(step, f"{name} has no iterations")
    if step.stmt == step.other:
        raise _refused(step, f"{step.stmt} is one statement already")
    try:
        found = in_one(materialised(state).program, step.stmt, step.other)
        scop = check_program(found.program)
    except NotUnitedError as error:
        raise _refused(step, str(error)) from error
    except LanguageError as error:
        raise _refused(step, f"they cannot be one: {error.message}") from error
    names = {s.name for s in scop.statements}
    # What is one is free where both were.
    bound = {n for old, (n, _) in found.origins.items() if old not in state.reassociated}
    free = (state.reassociated & names) - bound
    operators = tuple(o for o in state.operators if o.stmt in names)
    pieces = original(scop).pieces
    return replace(state, scop=scop, pieces=pieces, reassociated=free, operators=operators)


def in_one(program: Program, one: str, other: str) -> United:
    """The program with one statement in the place of two.

    Raises:
        NotUnitedError: they are not alike, or no bounds of the loops inside have the iterations of both.
    """
    old = build_scop(program)
    for found in united(program, one, other):
        if _same_iterations(old, build_scop(found.program), found):
            return found
    text = f"no loops have the iterations of {one} and {other} alone"
    raise NotUnitedError(text)


def _same_iterations(old: Scop, new: Scop, found: United) -> bool:
    """Whether each statement has the iterations that those have of which it is made."""
    left = {s.name: s.domain for s in new.statements}
    for s in old.statements:
        name, iteration = found.origins[s.name]
        names = dict(zip(s.variables, dims(len(s.loops)), strict=True))
        at = ", ".join(affine_text(e, names) for e in iteration)
        own = s.domain.apply(map_of(f"{{ {s.space} -> s{new.statement(name).index}[{at}] }}"))
        if not own.is_subset(new.statement(name).domain):
            return False
        left[name] = left[name].subtract(own)
    return all(domain.is_empty() for domain in left.values())


def _refused(step: Unite, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W253", text, span=step.span, help=help_)
