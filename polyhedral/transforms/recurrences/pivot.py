"""``pivot(loop)``: nests read copies of the pivot row and column that they update.

Before, all shortest paths (Floyd and Warshall)::

    for k in range(N):
      for i in range(N):
        for j in range(N):
          d[i, j] = min(d[i, j], d[i, k] + d[k, j])                                          # S0

After ``pivot("k")``::

    for k in range(N):
      c = d[k, k]                                                                            # d_at_i_j
      for j: row[j] = d[k, j]                                                                # d_at_i
      for i: column[i] = d[i, k]                                                             # d_at_j
      c_new = min(c, c + c)                                                                  # S0 at i = j = k
      for j: row_new[j] = min(row[j], (c_new if k < j else c) + row[j])                      # S0 at i = k
      for i: column_new[i] = min(column[i], column[i] + (c_new if k < i else c))             # S0 at j = k
      for i in range(N):
        for j in range(N):
          d[i, j] = min(d[i, j], (column_new[i] if k < j else column[i])
                                 + (row_new[j] if k < i else row[j]))                        # S0

At pivot ``k`` each element is updated with one in row ``k`` and one in column ``k``, which are updated as well, in the
middle of the nest: of its order nothing else can be made. That the row and column stay what they are is known of
distances without negative cycles, not of what the program says. The copies have them before and behind their own updates,
and each iteration reads the one that the program's order gives it: the nest waits for nothing. It computes the
same to the last bit, whatever the update is.

Where the update is known to keep what is there, no second copy is made: ``min(x, max(x, y))`` is ``x``, and so are
``x | (x & y)`` and ``min(x, x + y)`` of a ``y`` without sign (`dsl.expressions.absorption`).

Nests may have statements around the update, and arrays that go with the first one (the next node of a path). That each
read finds the same value is proven by `polyhedral.legality.recomputed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import Affine
from dsl.programs.pivoted import Pivoted, with_pivot
from dsl.programs.pivots import NoPivotError, Runs
from dsl.programs.program import Stmt
from dsl.schedules.recurrence_steps import Pivot
from polyhedral.isl.text import affine_text, dims, map_of
from polyhedral.legality.program import check_program
from polyhedral.legality.recomputed import differs
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.scop.scop import Scop
from polyhedral.transforms.registry import Order, transform


@transform(Pivot, order=Order.KEPT, too_late="W247")
def pivot(state: ScheduledScop, step: Pivot) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W247 no nest is of this kind, or the step comes too late.
    """
    found = pivoted(state, step)
    try:
        scop = check_program(found.program)
    except LanguageError as error:
        raise _refused(step, f"the pivots cannot be copied: {error.message}") from error
    text = differs(state.scop.program, found.program, found.origins)
    if text is not None:
        raise _refused(step, f"copies of the pivots are not what is read: {text}")
    return replace(state, scop=scop, pieces=original(scop).pieces)


def pivoted(state: ScheduledScop, step: Pivot) -> Pivoted:
    """The program that the step makes.

    Raises:
        ScheduleError: W247 no nest is of this kind, or the step comes too late.
    """
    uid = find_loop(state, step.loop, step)
    name, level = next((p.name, k) for p in state.pieces if (k := p.level(uid)) is not None)
    try:
        return with_pivot(state.scop.program, name, level, _runs(state.scop))
    except NoPivotError as error:
        raise _refused(step, str(error)) from error


def _runs(scop: Scop) -> Runs:
    """Whether statements run where some loops are fixed."""

    def runs(stmt: Stmt, values: Mapping[str, Affine]) -> bool | None:
        s = scop.statement(stmt.name)
        names = dict(zip(s.variables, dims(len(s.loops)), strict=True))
        at = ", ".join(affine_text(values.get(v, Affine.of(v)), names) for v in s.variables)
        fixed = s.domain.apply(map_of(f"{{ {s.space} -> s{s.index}[{at}] }}"))
        if fixed.is_subset(s.domain):
            return True
        return False if fixed.is_disjoint(s.domain) else None

    return runs


def _refused(step: Pivot, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W247", text, span=step.span, help=help_)
