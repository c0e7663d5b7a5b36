"""Are the loops that were built still dataflow regions? Code may come out in parts, of which not all are.

A loop of the schedule may become several (the first iteration by itself, then the rest), and what is in one
iteration may be taken apart. Its processes then are not one after the other, or an array is of several loops.
"""

from __future__ import annotations

from itertools import groupby

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import loads
from polyhedral.codegen.guarded_apart import owners
from polyhedral.looptree.tree import LoopTree, TreeLoop, statements_in
from polyhedral.scop.scheduled import ScheduledScop


def check_regions(state: ScheduledScop, tree: LoopTree) -> None:
    """W220 if the body of a loop that is asked to be a region came out as none."""
    placed = {place.array: place.iv for place in tree.placements}
    for node, _ in tree.walk():
        if isinstance(node, TreeLoop) and node.processes:
            why = _why_not(node, placed)
            if why:
                step = next(
                    d.region
                    for p in state.pieces
                    for d in p.dims
                    if d.name == node.name and d.region is not None
                )
                raise ScheduleError(
                    "W220",
                    f"the iterations of '{node.name}' cannot overlap: {why}",
                    span=step.span,
                    help="tile a loop of constant bounds with tail='guard' and overlap its tiles",
                )


def _why_not(loop: TreeLoop, placed: dict[str, str | None]) -> str:
    if loop.constant_trip is None:
        return "its trip count varies in the code"
    numbers = {name: n for n, names in enumerate(loop.processes) for name in names}
    runs = [number for number, _ in groupby(owners(loop, numbers))]
    if runs != sorted(set(runs)):
        return "its processes are not one after the other in the code"
    users: dict[str, set[int]] = {}
    for stmt in statements_in(loop):
        for array in (stmt.target.array, *(a.array for a in loads(stmt.value))):
            users.setdefault(array, set()).add(numbers[stmt.name])
    for array, processes in users.items():
        if len(processes) > 1 and array in placed and placed[array] != loop.iv:
            return f"'{array}' is of several loops in the code"
    return ""
