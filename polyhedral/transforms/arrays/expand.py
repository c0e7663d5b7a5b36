"""``expand(array, loop)``: a local has an element for each iteration of a loop (array expansion).

Before::

    for i in range(N):
      for j in range(M):
        t = 0                              # S0
        for k in range(K):
          t += A[i, k] * B[k, j]           # S1
        C[i, j] = t                        # S2

After ``expand("t", "j")``, with ``t_x`` declared in i::

    for i in range(N):
      for j in range(M):
        t_x[j] = 0                         # S0
        for k in range(K):
          t_x[j] += A[i, k] * B[k, j]      # S1
        C[i, j] = t_x[j]                   # S2

Iterations of ``j`` now share no storage: the statements can be distributed, and ``j`` reordered into
``k``. A local that is declared inside the loop gets a dimension for each loop from there to its
declaration; one that is declared outside of it gets one for the loop alone (privatization).

It is legal where no value of the local is handed from one iteration of the loop to another, into it
or out of it. Behind steps that change loops, as `tile` does, these become the loops of the program first
(`polyhedral.transforms.materialise`): of the loop over a tile the local has as many elements as that has iterations.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.programs.expanded import Span, with_expanded
from dsl.programs.program import MAX_EXTENT, Storage
from dsl.schedules.steps import Expand
from polyhedral.dependences.changed_flow import changed_flow
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_array, find_loop
from polyhedral.scop.scheduled import ScheduledScop, is_as_written, original
from polyhedral.scop.scop import Statement, build_scop
from polyhedral.transforms.materialise import materialised, over_program
from polyhedral.transforms.registry import Order, transform


@transform(Expand, order=Order.KEPT)
def expand(state: ScheduledScop, step: Expand) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W228 a value is handed on, the loop stands in several places, or the step comes too late;
            W207 too large.
    """
    array = find_array(state, step.array, step)
    if array.storage is Storage.SCRATCH:
        text = f"'{array.name}' is in memory outside already"
        raise _refused(step, text, help_="put expand in front of interface")
    if array.storage is not Storage.LOCAL:
        raise _refused(step, f"'{array.name}' is an argument: the caller sees its shape")
    uid = find_loop(state, step.loop, step)
    made = None if is_as_written(state) else materialised(state)
    streamed = any(s.array == array.name for s in state.streams)
    if made is not None and (state.dataflow is not None or streamed):
        text = "expand comes after steps that change loops, and after dataflow or stream"
        raise _refused(step, text, help_="put it in front of dataflow and stream")
    own = array if made is None else made.array(array.name)
    if own is None:
        raise _refused(step, f"no statement that runs uses '{array.name}'")
    array, old = own, state.scop if made is None else build_scop(made.program)
    pieces = {p.name: p for p in state.pieces} if made is None else made.pieces
    stands = {
        (s.loop_ids[k], k): None
        for s in old.statements
        if s.name in pieces and (k := pieces[s.name].level(uid)) is not None
    }
    if len(stands) > 1:
        raise _refused(step, f"'{step.loop}' stands in several places",
                       help_="cut loops with tail='guard', and put expand in front of distribute")  # fmt: skip
    ((loop, level),) = stands
    inside = [s for s in old.statements if loop in s.loop_ids and s.name in pieces]
    mine = [s for s in inside if s.touches(array.name)]
    if not mine:
        raise _refused(step, f"nothing in '{step.loop}' uses '{array.name}'")
    spans = tuple(_span(mine, k) for k in range(level, max(array.scope_depth, level + 1)))
    size = prod((*(span.extent for span in spans), *array.shape))
    if size > MAX_EXTENT:
        text = f"'{array.name}' would have {size:,} elements"
        raise ScheduleError("W207", text, span=step.span)
    found = with_expanded(old.program, array.name, loop, spans)
    try:
        scop = check_program(found.program)
    except LanguageError as error:
        text = f"'{array.name}' is not written first in each iteration of '{step.loop}'"
        raise _refused(step, text, (error.message, *error.notes)) from error
    changed = changed_flow(old, scop, array.name, found.array)
    if changed is not None:
        raise _refused(step, f"an iteration of '{step.loop}' hands on '{array.name}'", (changed,))
    if made is not None:
        return over_program(state, made, scop)
    return replace(state, scop=scop, pieces=original(scop).pieces)


def _refused(
    step: Expand, text: str, notes: tuple[str, ...] = (), help_: str | None = None
) -> ScheduleError:
    return ScheduleError("W228", text, span=step.span, notes=notes, help=help_)


def _span(statements: list[Statement], level: int) -> Span:
    """What a loop runs over in statements that run at all."""
    lows = [s.domain.dim_min_val(level).to_python() for s in statements]
    highs = [s.domain.dim_max_val(level).to_python() for s in statements]
    return Span(level, min(lows), max(highs) - min(lows) + 1)
