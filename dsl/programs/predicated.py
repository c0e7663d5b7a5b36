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

from dsl.expressions.expr import Expr, Load, loads
from dsl.expressions.guarded import chosen, guarded, harmless
from dsl.expressions.types import DType
from dsl.programs.program import Node, Stmt, map_statements, statements_in


@dataclass(frozen=True, slots=True)
class Branches:
    """What runs where a condition holds, and what where it does not.

    ``then_locals`` and ``else_locals`` are the locals that are declared inside: nothing outside of
    their branch reads them, so that they are assigned without a choice. ``named`` are the statements
    that have a name of their author's, and so stay statements of their own.
    """

    then: tuple[Node, ...]
    orelse: tuple[Node, ...]
    then_locals: Collection[str] = ()
    else_locals: Collection[str] = ()
    named: Collection[str] = ()


def overwrites(cond: Expr, branches: Branches) -> bool:
    """Whether a statement changes what the condition reads before the last one that is under it."""
    reads = {a.array for a in loads(cond)}
    blocks = branches.then, branches.orelse
    if all(len(b) <= 1 and all(isinstance(n, Stmt) for n in b) for b in blocks):
        both = [b[0] for b in blocks if b]
        if len(both) == 1 or both[0].target == both[1].target:  # type: ignore[union-attr]
            return False
    return any(s.target.array in reads for b in blocks for n in b for s in statements_in(n))


def predicated(
    cond: Expr, branches: Branches, dtype_of: Callable[[str], DType]
) -> tuple[Node, ...]:
    """The statements of both branches, each with a value that is chosen by ``cond``.

    Args:
        cond: A ``u1`` that none of the statements changes (see `overwrites`), the last one excepted.
        branches: The statements.
        dtype_of: The element type of an array or scalar.
    """
    then, orelse = branches.then, branches.orelse
    merged: list[Node] = []
    for a, b in zip(then, orelse, strict=False):
        if not (isinstance(a, Stmt) and isinstance(b, Stmt) and a.target == b.target):
            break
        if b.name in branches.named:
            break
        value = chosen(cond, a.value, b.value, dtype_of(a.target.array))
        merged.append(replace(a, value=value, source=f"{a.source} else {b.source}"))
    n = len(merged)
    first = _Guard(cond, True, branches.then_locals, dtype_of)
    second = _Guard(cond, False, branches.else_locals, dtype_of)
    return (*merged, *first.nodes(then[n:]), *second.nodes(orelse[n:]))


@dataclass(frozen=True, slots=True)
class _Guard:
    """Statements that have an effect only where ``cond`` is ``holds``."""

    cond: Expr
    holds: bool
    locals: Collection[str]
    dtype_of: Callable[[str], DType]

    def nodes(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(map_statements(n, self._guarded) for n in nodes)

    def _guarded(self, stmt: Stmt) -> Stmt:
        return replace(stmt, value=self._value(stmt))

    def _value(self, stmt: Stmt) -> Expr:
        name = stmt.target.array
        if name in self.locals:
            return harmless(stmt.value, self.cond, self.holds)
        old = Load(stmt.target, self.dtype_of(name))
        return guarded(self.cond, stmt.value, old, self.holds)
