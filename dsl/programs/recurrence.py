"""What a recurrence of a loop is made of: its updates, and what is kept of each of their functions."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.affine import Affine, Cond
from dsl.expressions.expr import Access, BinaryOp, Const
from dsl.programs.composed import Chain, Family, Function, Kind
from dsl.programs.program import Loop, Stmt
from dsl.programs.substituted import substituted_access


@dataclass(frozen=True, slots=True)
class Update:
    """An assignment of the recurrence.

    Attributes:
        stmt: the statement.
        function: what it makes of the element; what that reads nothing in the loop has changed.
        conds: the affine conditions that it stands under in the loop, and whether they hold there.
    """

    stmt: Stmt
    function: Function
    conds: tuple[tuple[Cond, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Running:
    """A recurrence: all that a loop assigns to an element that it has from the iteration before.

    Attributes:
        family: of its functions.
        before: the element that the iteration before has assigned.
        updates: in their order.
        ends: numbers of the updates behind which the element may be read, or is handed on. Those in front of one of
            them, down to the one before, are one function.
    """

    family: Family
    before: Access
    updates: tuple[Update, ...]
    ends: tuple[int, ...]

    def place(self, number: int) -> int:
        """Of an update, which of the functions of an iteration it is in."""
        return next(n for n, end in enumerate(self.ends) if number <= end)


def previous(target: Access, loop: Loop) -> Access:
    """What the target was in the iteration before."""
    return substituted_access(target, {loop.var: Affine.of(loop.var) - loop.step})


def constant_components(running: Running) -> frozenset[str]:
    """The components that are the same in each block: factors that are numbers."""
    if running.family.kind is not Kind.RING or any(u.conds for u in running.updates):
        return frozenset()
    for update in running.updates:
        ops = update.function.ops if isinstance(update.function, Chain) else ()
        moves = any(x.op is BinaryOp.MUL and not isinstance(x.term, Const) for x in ops)
        if moves or not isinstance(update.function, Chain):
            return frozenset()
    return frozenset({"times"})
