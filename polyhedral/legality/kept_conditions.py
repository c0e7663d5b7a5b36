"""Conditions on elements by which several statements choose, kept in flags: so that what one of them changes is known
to be no case of another one.

Before::

    top += 1 if x[i] > 0 else 0
    cond = top > 0
    top -= 1 if not x[i] > 0 and cond else 0
    y[i] = stack[top] if not x[i] > 0 and cond else y[i]   # top is 8 at most

After::

    kept = x[i] > 0
    top += 1 if kept else 0
    cond = top > 0
    top -= 1 if not kept and cond else 0
    y[i] = stack[top] if not kept and cond else y[i]       # 7 at most where this holds

Ranges alone are found of such a program; no design is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dsl.expressions.expr import (
    Access,
    Compare,
    Expr,
    Gather,
    Load,
    Scatter,
    children,
    loads,
    walk,
    with_operands,
)
from dsl.expressions.types import boolean
from dsl.programs.names import unused
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage, statements_in


@dataclass(frozen=True, slots=True)
class Kept:
    """A program with such flags.

    Attributes:
        program: the program.
        like: a statement beside each one that sets a flag, which runs as often.
    """

    program: Program
    like: Mapping[str, str]


def with_kept_conditions(program: Program) -> Kept | None:
    """The program; None where no condition is one of several statements."""
    keeper = _Keeper({a.name for a in program.arrays}, {s.name for s in program.statements()})
    body = keeper.block(program.body, 0)
    if not keeper.flags:
        return None
    return Kept(replace(program, arrays=(*program.arrays, *keeper.flags), body=body), keeper.like)


@dataclass(slots=True)
class _Keeper:
    arrays: set[str]
    statements: set[str]
    flags: list[Array] = field(default_factory=list)
    like: dict[str, str] = field(default_factory=dict)

    def block(self, nodes: Sequence[Node], depth: int) -> tuple[Node, ...]:
        """The block with the flags of its own statements, and of those of blocks inside."""
        made: list[Node] = []
        for node in nodes:
            match node:
                case Loop(body=body):
                    made.append(replace(node, body=self.block(body, depth + 1)))
                case If(then=then, orelse=orelse):
                    then, orelse = self.block(then, depth), self.block(orelse, depth)
                    made.append(replace(node, then=then, orelse=orelse))
                case _:
                    made.append(node)
        for cond in _shared(made):
            self._keep(made, cond, depth)
        return tuple(made)

    def _keep(self, nodes: list[Node], cond: Compare, depth: int) -> None:
        """Put the flag in front of the first of the statements, and in the place of the condition."""
        at = [n for n, node in enumerate(nodes) if isinstance(node, Stmt) and _has(node, cond)]
        if len(at) < 2:
            return  # a part of another one that is kept
        read = {a.array for a in loads(cond)}
        between = {s.target.array for node in nodes[at[0] : at[-1]] for s in statements_in(node)}
        if read & between:
            return
        name = unused("kept", self.arrays)
        self.arrays.add(name)
        stmt = unused(f"keep_{name}", self.statements)
        self.statements.add(stmt)
        first = nodes[at[0]]
        assert isinstance(first, Stmt)
        self.like[stmt] = self.like.get(first.name, first.name)
        self.flags.append(Array(name, boolean, (), Storage.LOCAL, False, depth, first.span))
        flag = Access(name, (), None)
        for n in at:
            node = nodes[n]
            assert isinstance(node, Stmt)
            nodes[n] = replace(node, value=_replaced(node.value, cond, Load(flag, boolean)))
        nodes.insert(at[0], Stmt(stmt, flag, cond, first.span))


def _shared(nodes: Sequence[Node]) -> list[Compare]:
    """Comparisons of elements at known places that several statements of the block have, in order."""
    found: dict[Compare, int] = {}
    for node in nodes:
        if isinstance(node, Stmt):
            own = dict.fromkeys(e for e in walk(node.value) if isinstance(e, Compare))
            for part in filter(_is_of_elements, own):
                found[part] = found.get(part, 0) + 1
    return [cond for cond, count in found.items() if count > 1]


def _is_of_elements(cond: Compare) -> bool:
    parts = [*walk(cond)]
    return any(isinstance(e, Load) and e.access.indices for e in parts) and not any(
        isinstance(e, Gather | Scatter) for e in parts
    )


def _has(stmt: Stmt, cond: Compare) -> bool:
    return any(e == cond for e in walk(stmt.value))


def _replaced(expr: Expr, cond: Compare, flag: Load) -> Expr:
    """The expression with the flag in the place of the condition."""
    if expr == cond:
        return flag
    return with_operands(expr, [_replaced(part, cond, flag) for part in children(expr)])
