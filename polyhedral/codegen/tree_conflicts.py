"""Which iterations of a tree may run in another order than the schedule says."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from polyhedral.codegen.coverage import Run, run_map
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Statement, reduction_access

_SEQUENTIAL = ("axis", "ap_fifo")


def may_swap(state: ScheduledScop, p: Run, q: Run, swapped: isl.Map) -> bool:
    """Whether the iterations touch no memory that keeps them in order.

    All accesses to an element with a write among them do, whether it is one value or, in a local
    of an inner scope, several that share its storage. A stream is in order as a whole.

    Args:
        state: the schedule.
        p: a run.
        q: another, or the same.
        swapped: pairs of iterations of their loops.
    """
    s, t = (state.scop.statement(run.instance.stmt.name) for run in (p, q))
    streams = {step.array for step in state.streams}
    streams |= {i.argument for i in state.interfaces if i.mode in _SEQUENTIAL}
    free = reduction_access(s) if s is t and s.name in state.reassociated else None
    for a, a_writes in _accesses(s):
        for b, b_writes in _accesses(t):
            if a.array != b.array or (free is not None and a.array == free.array):
                continue
            if a.array in streams:
                return False
            if not (a_writes or b_writes):
                continue
            same = _elements(p, a).apply_range(_elements(q, b).reverse())
            if not same.intersect(swapped).is_empty():
                return False
    return True


def _accesses(s: Statement) -> Iterator[tuple[Access, bool]]:
    yield from ((access, False) for access in s.reads)
    yield s.stmt.target, True


def _elements(run: Run, access: Access) -> isl.Map:
    """Iterations of the loops to the element that the access touches."""
    values = dict(run.instance.bindings)
    indices: list[Affine] = [e.substitute(values) for e in access.indices]
    return run_map(run, indices)
