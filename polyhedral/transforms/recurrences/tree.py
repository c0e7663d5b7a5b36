"""``tree(stmt, loop)``: a reduction as a balanced tree of its terms.

Before::

    for i in range(N):
      for k in range(16):
        y[i] += A[i, k]                                    # S

After ``tree("S", "k")``::

    for i in range(N):
      for k in range(16):
        y_tree[k] = A[i, k]                                # S_term
      for node in range(8):
        y_tree[node + 16] = y_tree[2*node] + y_tree[2*node + 1]         # S_tree
      ...
      for node in range(1):
        y_tree[node + 30] = y_tree[2*node + 28] + y_tree[2*node + 29]   # S_tree_4
      y[i] = y[i] + y_tree[30]                             # S

Each element is a register. With `pipeline("i")` all of it is unrolled: 16 terms are 5 additions one behind the other, 16 in a chain. It is of use where
a tool adds terms in the order in which they are written, and something waits for the sum; behind `partial_sums`, of its
accumulators. See `dsl.programs.treed` for how the levels are made.

It is legal where `reassociate` is (which it implies), and where the statement stands alone in the loop, and in loops inside
of it, of constant numbers of iterations.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.programs.program import Loop, Stmt
from dsl.programs.treed import Reduced, reduced, with_tree
from dsl.schedules.recurrence_steps import Tree
from dsl.schedules.steps import Partition, Reassociate
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_loop, find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.recurrences.reassociate import reassociate
from polyhedral.transforms.registry import Order, transform

MOST = 1024  # terms


@transform(Tree, order=Order.KEPT, too_late="W243")
def tree(state: ScheduledScop, step: Tree) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W209 no reduction of which the order is free; W243 its loops make no tree, or it comes too late.
    """
    uid = find_loop(state, step.loop, step)
    pieces = find_statement(state, step.stmt, step)
    state = reassociate(state, Reassociate(step.stmt, span=step.span))
    level = next((k for p in pieces if (k := p.level(uid)) is not None), None)
    if level is None:
        raise _refused(step, f"{step.stmt} does not run in '{step.loop}'")
    found = _reduced(state, step, level)
    program, name = with_tree(state.scop.program, found, level)
    try:
        scop = check_program(program)
    except LanguageError as error:
        text = f"{step.stmt} does not touch its element each time that '{step.loop}' is run"
        raise _refused(step, text, (error.message, *error.notes)) from error
    registers = Partition(name, 0, "complete")
    return replace(
        state,
        scop=scop,
        pieces=original(scop).pieces,
        partitions=(*state.partitions, registers),
    )


def _reduced(state: ScheduledScop, step: Tree, level: int) -> Reduced:
    """The reduction in its loops, if these make a tree."""
    nodes = state.scop.program.walk()
    around = next(a for n, a in nodes if isinstance(n, Stmt) and n.name == step.stmt)
    loop = [node for node in around if isinstance(node, Loop)][level]
    found = reduced(loop, step.stmt)
    if found is None:
        text = f"{step.stmt} is not alone in '{step.loop}', or that has no constant number of iterations"
        help_ = f'distribute "{step.stmt}" in the kernel first, or take a loop further in'
        raise _refused(step, text, help_=help_)
    moving = {v for index in found.stmt.target.indices for v in index.variables()}
    for each in found.loops:
        if each.var in moving:
            text = f"{step.stmt} accumulates into another element in each iteration of '{each.var}'"
            raise _refused(step, text, help_="name a loop that the element does not move with")
    if not 2 <= found.count <= MOST:
        text = f"{found.count:,} terms, not 2 to {MOST:,}"
        raise _refused(step, text, help_="partial_sums leaves fewer to be added up")
    return found


def _refused(
    step: Tree, text: str, notes: tuple[str, ...] = (), help_: str | None = None
) -> ScheduleError:
    return ScheduleError("W243", text, span=step.span, notes=notes, help=help_)
