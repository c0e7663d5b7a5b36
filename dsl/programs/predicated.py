"""If-conversion: statements under a condition on data, made into statements that always run.

Before::

    if x[i] > best:
        best = x[i]
        n += 1
    else:
        n = 0

After::

    cond = x[i] > best                    # since `best` is written before `cond` is used again
    best = x[i] if cond else best
    n = n + 1 if cond else 0              # assigned on both sides

The domains of statements are affine so that the condition is no part of them: it selects values (see
`dsl.expressions.guarded`). Loops and affine conditions inside stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from dsl.expressions.elements import assigned_element
from dsl.expressions.expr import Access, Compare, Expr, loads, walk
from dsl.expressions.guarded import chosen, guarded, harmless
from dsl.expressions.types import DType
from dsl.programs.program import Node, Stmt, map_statements, statements_in


@dataclass(frozen=True, slots=True)
class Branches:
    """What runs where a condition holds, and what where it does not.

    ``then_locals`` and ``else_locals`` are the locals that are declared inside: nothing outside of
    their branch reads them, so that they are assigned without a choice. ``named`` are the statements
    that have a name of their author's, and so stay statements of their own. ``moved`` are scalars that ``then`` steps,
    at which ``orelse`` must not read where it does not run.
    """

    then: tuple[Node, ...]
    orelse: tuple[Node, ...]
    then_locals: Collection[str] = ()
    else_locals: Collection[str] = ()
    named: Collection[str] = ()
    moved: Collection[str] = ()


def overwrites(cond: Expr, branches: Branches) -> bool:
    """Whether a statement changes what the condition reads before the last one that is under it."""
    reads = loads(cond)
    pairs, then, orelse = _apart(branches)
    order: list[Node] = [*(a for a, _ in pairs), *then, *orelse]
    if order and isinstance(order[-1], Stmt):
        order.pop()
    return any(_may_be(read, s.target) for n in order for s in statements_in(n) for read in reads)


def _may_be(read: Access, written: Access) -> bool:
    """Whether it may be one element; not where a subscript is another by a constant."""
    if read.array != written.array:
        return False
    differences = (a - b for a, b in zip(read.indices, written.indices, strict=True))
    return not any(d.is_const and d.const != 0 for d in differences)


def _apart(
    branches: Branches,
) -> tuple[list[tuple[Stmt, Stmt]], tuple[Node, ...], tuple[Node, ...]]:
    """The first statements of both branches that assign the same elements, and the rest of each."""
    pairs: list[tuple[Stmt, Stmt]] = []
    for a, b in zip(branches.then, branches.orelse, strict=False):
        if not (isinstance(a, Stmt) and isinstance(b, Stmt) and a.target == b.target):
            break
        if b.name in branches.named:
            break
        pairs.append((a, b))
    n = len(pairs)
    return pairs, branches.then[n:], branches.orelse[n:]


def predicated(
    cond: Expr,
    branches: Branches,
    dtype_of: Callable[[str], DType],
    written: Expr | None = None,
) -> tuple[Node, ...]:
    """The statements of both branches, each with a value that is chosen by ``cond``.

    Args:
        cond: A ``u1`` that none of the statements changes (see `overwrites`), the last one excepted.
        branches: The statements.
        dtype_of: The element type of an array or scalar.
        written: What ``cond`` was computed from, where it is kept because statements change that.
    """
    pairs, then, orelse = _apart(branches)
    merged = [
        replace(
            a,
            value=chosen(cond, a.value, b.value, dtype_of(a.target.array), written),
            source=f"{a.source} else {b.source}",
        )
        for a, b in pairs
    ]
    unchanged = None if pairs else written
    first = _Guard(cond, True, branches.then_locals, dtype_of, unchanged, written)
    second = _Guard(
        cond, False, branches.else_locals, dtype_of, about=written, moved=branches.moved
    )
    return (*merged, *first.nodes(then), *second.nodes(orelse))


@dataclass(frozen=True, slots=True)
class _Guard:
    """Statements that have an effect only where ``cond`` is ``holds``."""

    cond: Expr
    holds: bool
    locals: Collection[str]
    dtype_of: Callable[[str], DType]
    written: Expr | None = None
    about: Expr | None = None
    moved: Collection[str] = ()

    def nodes(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        guard, moved = self, {*self.moved}
        for node in nodes:
            found.append(map_statements(node, guard._guarded))
            if not isinstance(node, Stmt) or guard._changes(node):
                guard = replace(guard, written=None)
            if isinstance(node, Stmt) and self._tells(node, moved):
                moved.add(node.target.array)
                guard = replace(guard, moved=frozenset(moved))
        return tuple(found)

    def _tells(self, stmt: Stmt, moved: Collection[str]) -> bool:
        """Whether it sets a local of the branch to what the condition says something about: where the condition does not
        hold, ``mid`` of ``if lo < hi: mid = (lo + hi) // 2`` is no subscript.
        """
        if stmt.target.array not in self.locals or stmt.target.indices:
            return False
        compared = {
            access.array
            for part in walk(self.cond if self.about is None else self.about)
            if isinstance(part, Compare)
            for access in loads(part)
            if not access.indices
        }
        return any(
            access.array in compared or access.array in moved for access in loads(stmt.value)
        )

    def _changes(self, stmt: Stmt) -> bool:
        """Whether what the condition was computed from is another one behind the statement."""
        return self.written is not None and any(
            _may_be(read, stmt.target) for read in loads(self.written)
        )

    def _guarded(self, stmt: Stmt) -> Stmt:
        return replace(stmt, value=self._value(stmt))

    def _value(self, stmt: Stmt) -> Expr:
        name = stmt.target.array
        if name in self.locals:
            return harmless(stmt.value, self.cond, self.holds, self.about, self.moved)
        old = assigned_element(stmt.target, stmt.value, self.dtype_of(name))
        return guarded(self.cond, stmt.value, old, self.holds, self.written, self.about, self.moved)
