"""Whether iterations of a design's loops hand on floats or integers: a recurrence of what no labelled design hands on is as
unseen as any other structure.

Labels of the one say nothing of the other: what closes a recurrence of integers is logic, which shares states with all
that is around it, of floats a core of its own latency (docs/lab/intervals.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dsl.expressions.types import DType, FloatType
from qor_gnn.design.region import Access, Kernel, Loop, Statement, loops_in, walk

FLOATS, INTEGERS = "floats", "integers"


def handed_on(kernel: Kernel) -> frozenset[str]:
    """Of `FLOATS` and `INTEGERS` what is loaded in some loop that an earlier iteration of it may have stored."""
    types = {m.name: _type(m.dtype) for m in kernel.memories}
    loops = (loop for function in kernel.functions for loop in loops_in(function.body))
    return frozenset(types[name] for loop in loops for name in _carried(loop) if name in types)


def unlabelled(kernel: Kernel, known: Sequence[str]) -> tuple[str, ...]:
    """Recurrences that labels do not have, for people.

    Args:
        kernel: the design.
        known: what iterations of some labelled design hand on.
    """
    return tuple(f"recurrences of {what}" for what in sorted(handed_on(kernel) - set(known)))


def _type(dtype: DType) -> str:
    return FLOATS if isinstance(dtype, FloatType) else INTEGERS


def _carried(loop: Loop) -> Iterator[str]:
    """The memories of which an element that is loaded is not the one that the iteration has stored before."""
    stored: set[Access] = set()
    late: set[Access] = set()
    for node in walk(loop.body):
        if isinstance(node, Statement):
            accesses = (op.access for op in node.ops if op.kind == "load" and op.access is not None)
            late.update(access for access in accesses if access not in stored)
            stored.add(node.target)
    written = {access.memory for access in stored}
    return (access.memory for access in late if access.memory in written)
