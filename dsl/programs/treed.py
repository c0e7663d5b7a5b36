"""A reduction as a balanced tree of its terms, as a rewriting of the program.

Before, with ``tree("S", "k")``::

    for i in range(N):
      for k in range(5):
        S: y[i] = y[i] + A[i, k]

After::

    for i in range(N):
      for k in range(5):
        S_term: y_tree[k] = A[i, k]
      for node in range(2):
        S_tree: y_tree[node + 5] = y_tree[2*node] + y_tree[2*node + 1]
      for node in range(1):
        S_tree_2: y_tree[node + 7] = y_tree[2*node + 4] + y_tree[2*node + 5]
      for node in range(1):
        S_tree_3: y_tree[node + 8] = y_tree[2*node + 6] + y_tree[2*node + 7]
      S: y[i] = y[i] + y_tree[8]

Terms, and what pairs of them come to, stand in a line: a level takes two neighbours at a time from its front and puts
what they make behind it, so that one without a neighbour is the first of the next level. All levels together are as many
operators as a chain of the terms; the longest way is the logarithm of their number. An element that belongs to one iteration
of the loops around is a term itself, ``y_tree[5] = y`` (S_start), as nothing waits for it. One that is 0 before, by a statement
in front of the loop, is none: ``y[i] = y_tree[8]``.

Whether that computes the same is for `polyhedral.equivalence.trees` to prove.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from dsl.expressions import typing
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Binary, BinaryOp, Const, Expr, Load
from dsl.expressions.types import DType, IntType
from dsl.programs.expanded import accesses_of
from dsl.programs.located import trips
from dsl.programs.names import unused
from dsl.programs.partial import position
from dsl.programs.program import (
    Array,
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
    has_statement,
    statements_in,
    variables_in,
)
from dsl.programs.scopes import ordered_locals


@dataclass(frozen=True, slots=True)
class Reduced:
    """A reduction alone in loops of constant numbers of iterations.

    Attributes:
        loops: outermost first, each with nothing but the next one in it.
        stmt: ``X[f] = X[f] op e``, f the same in all their iterations.
    """

    loops: tuple[Loop, ...]
    stmt: Stmt

    @property
    def count(self) -> int:
        """Terms."""
        return prod(trips(loop) or 0 for loop in self.loops)

    @property
    def number(self) -> Affine:
        """Of a term, from 0."""
        found = Affine()
        for loop in self.loops:
            found = found * (trips(loop) or 0) + position(loop)
        return found

    @property
    def op(self) -> BinaryOp:
        """What two terms are combined by: what is subtracted is added up."""
        assert isinstance(self.stmt.value, Binary)
        own = self.stmt.value.op
        return BinaryOp.ADD if own is BinaryOp.SUB else own

    @property
    def term(self) -> Expr:
        """``e``."""
        value = self.stmt.value
        assert isinstance(value, Binary)
        own = isinstance(value.lhs, Load) and value.lhs.access == self.stmt.target
        return value.rhs if own else value.lhs


def node_type(program: Program, found: Reduced) -> DType:
    """That of the tree's nodes: the element's, or of minima and maxima of integers the one in which these are taken, which
    holds all terms.
    """
    of, value = program.array(found.stmt.target.array), found.stmt.value
    extremum = found.op in (BinaryOp.MIN, BinaryOp.MAX)
    return value.dtype if extremum and isinstance(of.dtype, IntType) else of.dtype


def is_neutral_before(program: Program, found: Reduced) -> bool:
    """Whether what touches the element last before the reduction, in the same iteration of the loops around, makes it 0,
    and it is a sum.
    """
    stmt = found.stmt
    if not isinstance(stmt.value, Binary) or stmt.value.op is not BinaryOp.ADD:
        return False
    for node in reversed(in_front(program, found.loops[0])):
        if stmt.target.array in {a.array for s in statements_in(node) for a in accesses_of(s)}:
            match node:
                case Stmt(target=target, value=Const(value=value)):
                    return target == stmt.target and value == 0
                case _:
                    return False
    return False


def in_front(program: Program, loop: Loop) -> tuple[Node, ...]:
    """What stands in front of a loop of the program, known by its identity, in the same body."""
    body = next(b for b in _bodies(program.body) if any(n is loop for n in b))
    return body[: next(k for k, node in enumerate(body) if node is loop)]


def _bodies(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """Nodes that stand one behind the other."""
    yield nodes
    for node in nodes:
        match node:
            case Loop(body=body):
                yield from _bodies(body)
            case If(then=then, orelse=orelse):
                yield from _bodies(then)
                yield from _bodies(orelse)


def has_constant_range(loop: Loop) -> bool:
    """Whether it runs over the same numbers each time, at least one."""
    return bool(trips(loop)) and loop.lowers[0].is_const and loop.uppers[0].is_const


def reduced(loop: Loop, name: str) -> Reduced | None:
    """The loop as that of a reduction; None where something else is in it, or a number of iterations is not constant."""
    loops: list[Loop] = []
    node: Node = loop
    while isinstance(node, Loop):
        if not has_constant_range(node) or len(node.body) != 1:
            return None
        loops.append(node)
        node = node.body[0]
    plain = isinstance(node, Stmt) and node.name == name and isinstance(node.value, Binary)
    return Reduced(tuple(loops), node) if plain and isinstance(node, Stmt) else None


def with_tree(program: Program, found: Reduced, depth: int) -> tuple[Program, str]:
    """The program with a reduction as a tree, and the name of the array of its nodes.

    Args:
        program: the kernel.
        found: the reduction, in one of its loops.
        depth: loops around that one.
    """
    name, of = found.stmt.name, program.array(found.stmt.target.array)
    private = of.storage is Storage.LOCAL and of.scope_depth >= depth
    neutral = is_neutral_before(program, found)
    starts = private and not neutral and found.stmt.value.op is not BinaryOp.SUB  # type: ignore[union-attr]
    leaves = found.count + starts
    tree = Array(
        unused(f"{of.name}_tree", [a.name for a in program.arrays]),
        node_type(program, found),
        (2 * leaves - 1,),
        Storage.LOCAL,
        False,
        depth,
        of.span,
    )
    names = _Names([s.name for s in program.statements()], name)
    own = Load(found.stmt.target, of.dtype)
    made = _Made(found, own, tree, starts, neutral, names, {*variables_in(program)})
    body = _nodes(program.body, found, made)
    new = replace(program, arrays=(*program.arrays, tree), body=body)
    return ordered_locals(new), tree.name


def _nodes(nodes: tuple[Node, ...], found: Reduced, made: _Made) -> tuple[Node, ...]:
    new: list[Node] = []
    for node in nodes:
        match node:
            case Loop() if node is found.loops[0]:
                new += made.nodes()
            case Loop(body=body) if has_statement(node, found.stmt.name):
                new.append(replace(node, body=_nodes(body, found, made)))
            case If(then=then, orelse=orelse) if has_statement(node, found.stmt.name):
                sides = _nodes(then, found, made), _nodes(orelse, found, made)
                new.append(replace(node, then=sides[0], orelse=sides[1]))
            case _:
                new.append(node)
    return tuple(new)


@dataclass(slots=True)
class _Names:
    """New names of statements."""

    taken: list[str]
    stmt: str

    def new(self, word: str) -> str:
        """One that is not taken."""
        self.taken.append(unused(f"{self.stmt}_{word}", self.taken))
        return self.taken[-1]


@dataclass(frozen=True, slots=True)
class _Made:
    """What stands in the place of the loop."""

    found: Reduced
    own: Load
    tree: Array
    starts: bool
    neutral: bool
    names: _Names
    variables: set[str]

    def nodes(self) -> Iterator[Node]:
        yield self._terms()
        stmt, count = self.found.stmt, self.found.count
        if self.starts:
            yield self._stored(self.names.new("start"), self._at(Affine((), count)), self.own)
        front, left = 0, count + self.starts
        while left > 1:
            yield self._level(front, left)
            front, left = front + left // 2 * 2, left - left // 2
        whole = self._load(Affine((), front))
        value: Expr = whole
        if not self.starts and not self.neutral:
            assert isinstance(stmt.value, Binary)
            value = typing.binary(stmt.value.op, self.own, whole, stmt.span)
        yield replace(stmt, value=value)

    def _terms(self) -> Node:
        node: Node = self._stored(
            self.names.new("term"), self._at(self.found.number), self.found.term
        )
        for loop in reversed(self.found.loops):
            node = replace(loop, body=(node,))
        return node

    def _level(self, front: int, count: int) -> Node:
        """Pairs of ``count`` values from ``front`` on, what they make behind them."""
        # A name of its own: a search tells loops of a pipeline, and what moves with them, by their names.
        variable = unused("node", self.variables)
        self.variables.add(variable)
        number = Affine.of(variable)
        first, second = (self._load(number * 2 + front + k) for k in range(2))
        value = typing.binary(self.found.op, first, second, self.found.stmt.span)
        target = self._at(number + (front + count))
        made = self._stored(self.names.new("tree"), target, value)
        zero, end = Affine(), Affine((), count // 2)
        return Loop(variable, (zero,), (end,), 1, (made,), self.found.stmt.span)

    def _at(self, number: Affine) -> Access:
        return Access(self.tree.name, (number,), self.found.stmt.span)

    def _load(self, number: Affine) -> Load:
        return Load(self._at(number), self.tree.dtype)

    def _stored(self, name: str, target: Access, value: Expr) -> Stmt:
        return Stmt(name, target, value, self.found.stmt.span, f"{target} = {_shown(value)}")


def _shown(value: Expr) -> str:
    if isinstance(value, Load):
        return str(value.access)
    if isinstance(value, Binary) and isinstance(value.lhs, Load) and isinstance(value.rhs, Load):
        return f"{value.lhs.access} {value.op.value} {value.rhs.access}"
    return "a term"
