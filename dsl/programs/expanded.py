"""A local with an element for each iteration of loops, as a rewriting of the program.

Before, with loops i and j around the declaration of t, expanded along j::

    for i in range(N):
      for j in range(M):
        S0: t = 0
        ...
        S2: C[i, j] = t

After, with ``t_x`` declared in i::

    for i in range(N):
      for j in range(M):
        S0: t_x[j] = 0
        ...
        S2: C[i, j] = t_x[j]

Whether that computes the same is for `polyhedral.transforms.arrays.expand` to prove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Const, Expr, Index, Load, map_leaves
from dsl.programs.names import unused
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage
from dsl.programs.scopes import ordered_locals


@dataclass(frozen=True, slots=True)
class Span:
    """A loop along which a local has elements.

    Attributes:
        level: loops around it.
        low: its first iteration.
        extent: iterations from the first to the last.
    """

    level: int
    low: int
    extent: int


@dataclass(frozen=True, slots=True)
class Expanded:
    """The rewritten program, and the name of the local in it."""

    program: Program
    array: str


def with_expanded(program: Program, name: str, loop: int, spans: Sequence[Span]) -> Expanded:
    """The program with a local that has one more dimension for each of some loops.

    Args:
        program: the kernel.
        name: the local.
        loop: the outermost of the loops, by its number in preorder; what is in it uses the new local.
        spans: the loops, outermost first, one inside the other.
    """
    old = program.array(name)
    array = Array(
        unused(f"{name}_x", [a.name for a in program.arrays]),
        old.dtype,
        (*(span.extent for span in spans), *old.shape),
        Storage.LOCAL,
        False,
        spans[0].level,
        old.span,
    )
    body = _Rewriter(name, array.name, loop, tuple(spans), count()).nodes(program.body, (), False)
    new = replace(program, arrays=(*program.arrays, array), body=body)
    return Expanded(ordered_locals(new), array.name)


@dataclass(frozen=True, slots=True)
class _Rewriter:
    """Copies the program; ``inside`` is whether a node is in the loop."""

    old: str
    new: str
    loop: int
    spans: tuple[Span, ...]
    numbers: Iterator[int]

    def nodes(
        self, nodes: tuple[Node, ...], around: tuple[Loop, ...], inside: bool
    ) -> tuple[Node, ...]:
        return tuple(self._node(node, around, inside) for node in nodes)

    def _node(self, node: Node, around: tuple[Loop, ...], inside: bool) -> Node:
        match node:
            case Loop(body=body):
                inside |= next(self.numbers) == self.loop
                return replace(node, body=self.nodes(body, (*around, node), inside))
            case If(then=then, orelse=orelse):
                first = self.nodes(then, around, inside)
                return replace(node, then=first, orelse=self.nodes(orelse, around, inside))
            case Stmt():
                return self._stmt(node, around) if inside else node

    def _stmt(self, stmt: Stmt, around: tuple[Loop, ...]) -> Stmt:
        def own(access: Access) -> Access:
            if access.array != self.old:
                return access
            first = tuple(Affine.of(around[s.level].var) - s.low for s in self.spans)
            return Access(self.new, (*first, *access.indices), access.span)

        return with_accesses(stmt, own)


def with_accesses(stmt: Stmt, change: Callable[[Access], Access]) -> Stmt:
    """The statement with each of its accesses changed."""

    def leaf(expr: Const | Load | Index) -> Expr:
        return replace(expr, access=change(expr.access)) if isinstance(expr, Load) else expr

    return replace(stmt, target=change(stmt.target), value=map_leaves(stmt.value, leaf))


def accesses_of(stmt: Stmt) -> list[Access]:
    """The target, then what is read, in the order in which `with_accesses` changes them."""
    found: list[Access] = []

    def seen(access: Access) -> Access:
        found.append(access)
        return access

    with_accesses(stmt, seen)
    return found
