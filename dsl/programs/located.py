"""A choice that is made again and again in a loop, as a search for the iteration that makes it last.

Before, with ``locate("S1", "i")``::

    for i in range(N):
      S1: at = i if x[i] == key else at

After::

    S1_init: at_pos = -1
    for i in range(N):
      S1: at_pos = max(at_pos, i if x[i] == key else -1)
    S1_end: at = at_pos if at_pos >= 0 else at

Whether that computes the same is for `polyhedral.transforms.recurrences.locate` to prove.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dsl.expressions import typing
from dsl.expressions.affine import Affine, negate
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    CompareOp,
    Const,
    Expr,
    Index,
    Load,
    Select,
    map_leaves,
    walk,
)
from dsl.expressions.types import DType, IndexType, IntType
from dsl.programs.names import unused
from dsl.programs.partial import position
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage, has_statement
from dsl.programs.scopes import ordered_locals


@dataclass(frozen=True, slots=True)
class Match:
    """Which iteration makes the choice that stays.

    Attributes:
        condition: a ``u1``; of the iterations where it holds, one makes it. Nothing in the loop changes it.
        value: what is chosen there.
        first: whether it is the first of them, else the last.
        unless: a bit that must be 0 before the loop, or nothing is chosen.
        extremum: the minimum or maximum that the condition compares with, which must be another one behind the
            loop than before if ``improved``. The search then is a loop of its own behind.
        improved: whether it must.
        dead: statements that nothing needs any more.
    """

    condition: Expr
    value: Expr
    first: bool = False
    unless: Load | None = None
    extremum: Load | None = None
    improved: bool = False
    dead: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Located:
    """The rewritten program, and the statements that the step adds to it."""

    program: Program
    added: tuple[str, ...]


def with_position(program: Program, name: str, level: int, match: Match) -> Located:
    """The program with the choice of a statement as a search.

    Args:
        program: the kernel.
        name: a statement ``t = value if condition else t``.
        level: of its loops, the outermost that is searched, counted from the outermost; that and those inside have
            constant bounds.
        match: which iteration is searched for.
    """
    stmt, around = next(
        (node, [a for a in around if isinstance(a, Loop)])
        for node, around in program.walk()
        if isinstance(node, Stmt) and node.name == name
    )
    made = _Made.of(program, stmt, around[level:], level, match)
    new = replace(
        program,
        arrays=(*program.arrays, *made.arrays(program)),
        body=made.nodes(program.body, level + 1),
    )
    added = tuple(s.name for s in new.statements() if s.name in made.names)
    return Located(ordered_locals(new), added)


def trips(loop: Loop) -> int | None:
    """How many iterations a loop of constant bounds has; None of others."""
    if len(loop.lowers) != 1 or len(loop.uppers) != 1:
        return None
    length = loop.uppers[0] - loop.lowers[0]
    return max(0, -(-length.const // abs(loop.step))) if length.is_const else None


@dataclass(frozen=True, slots=True)
class _Made:
    """What the rewriting is made of.

    ``loops`` are those that are searched, ``names`` the statements in front of them, behind them, and the one that
    keeps an extremum.
    """

    stmt: Stmt
    loops: Sequence[Loop]
    level: int
    match: Match
    dtype: DType
    array: str
    old: str
    names: tuple[str, str, str]

    @staticmethod
    def of(program: Program, stmt: Stmt, loops: Sequence[Loop], level: int, match: Match) -> _Made:
        arrays = [a.name for a in program.arrays]
        stmts = [s.name for s in program.statements()]
        init, end, keep = (unused(f"{stmt.name}_{word}", stmts) for word in ("init", "end", "old"))
        array = unused(f"{stmt.target.array}_pos", arrays)
        old = unused(f"{match.extremum.access.array}_old", arrays) if match.extremum else ""
        dtype = program.array(stmt.target.array).dtype
        return _Made(stmt, loops, level, match, dtype, array, old, (init, end, keep))

    @property
    def count(self) -> int:
        """Iterations that are searched."""
        found = 1
        for loop in self.loops if self._moves else ():
            found *= trips(loop) or 0
        return found

    @property
    def _moves(self) -> bool:
        """Whether what is chosen depends on the iteration; if not, one position stands for all."""
        variables = {loop.var for loop in self.loops}
        indices = (x.affine for x in walk(self.match.value) if isinstance(x, Index))
        return any(variables & affine.variables() for affine in indices)

    @property
    def type(self) -> IntType:
        """Of positions: from -1 to the number of iterations."""
        return IntType(self.count.bit_length() + 1)

    @property
    def position(self) -> Load:
        """The position that is found."""
        return Load(Access(self.array, (), self.stmt.span), self.type)

    def arrays(self, program: Program) -> list[Array]:
        """The scalars that are new."""
        scalars: list[tuple[str, DType]] = [(self.array, self.type)]
        if self.match.extremum is not None and self.match.improved:
            scalars.append((self.old, program.array(self.match.extremum.access.array).dtype))
        return [
            Array(name, dtype, (), Storage.LOCAL, False, self.level, self.stmt.span)
            for name, dtype in scalars
        ]

    # ------------------------------------------------------------------------------- the nodes

    def nodes(self, nodes: tuple[Node, ...], down: int) -> tuple[Node, ...]:
        """The nodes, the outermost searched loop that is ``down`` loops further in rewritten."""
        found: list[Node] = []
        for node in nodes:
            if not has_statement(node, self.stmt.name):
                found.append(node)
                continue
            match node:
                case If(then=then, orelse=orelse):
                    sides = self.nodes(then, down), self.nodes(orelse, down)
                    found.append(replace(node, then=sides[0], orelse=sides[1]))
                case Loop(body=body) if down > 1:
                    found.append(replace(node, body=self.nodes(body, down - 1)))
                case Loop():
                    found += self._searched(node)
                case Stmt():
                    raise AssertionError("a statement is in the loop that is searched")
        return tuple(found)

    def _searched(self, loop: Loop) -> tuple[Node, ...]:
        init, end, keep = self._init(), self._end(), self._keep()
        dead = self.match.dead
        if self.match.extremum is None:
            here = filtered(loop, lambda s: s.name not in dead, self._search)
            return (init, *here, end)
        others = filtered(loop, lambda s: s.name not in {*dead, self.stmt.name}, lambda s: s)
        own = filtered(loop, lambda s: s.name == self.stmt.name, self._search)
        return (*keep, *others, init, *own, end)

    def _search(self, stmt: Stmt) -> Stmt:
        """``pos = max(pos, this iteration if condition else -1)``."""
        if stmt.name != self.stmt.name:
            return stmt
        at = Affine()
        for loop in self.loops if self._moves else ():
            at = at * (trips(loop) or 0) + position(loop)
        here = typing.cast(self.type, Index(at)) if self._moves else Const(0, self.type)
        choice = Select(self.match.condition, here, self._none, self.type)
        op = BinaryOp.MIN if self.match.first else BinaryOp.MAX
        value = Binary(op, self.position, choice, self.type, stmt.span)
        return replace(stmt, target=self.position.access, value=value)

    @property
    def _none(self) -> Const:
        """The position where there is no match."""
        return Const(self.count if self.match.first else -1, self.type)

    def _init(self) -> Stmt:
        """``pos`` = no match yet, or one in front of all where nothing is to be found."""
        start: Expr = self._none
        match, text = self.match, str(self._none.value)
        if match.unless is not None:
            start = Select(match.unless, Const(-1, self.type), start, self.type)
            text = f"-1 if {match.unless.access} else {text}"
        elif match.extremum is not None and match.improved:
            before = Load(Access(self.old, (), self.stmt.span), match.extremum.dtype)
            is_same = typing.compare(CompareOp.EQ, match.extremum, before)
            start = Select(is_same, Const(-1, self.type), start, self.type)
            text = f"-1 if {match.extremum.access} == {self.old} else {text}"
        target = self.position.access
        return Stmt(self.names[0], target, start, self.stmt.span, f"{target} = {text}")

    def _keep(self) -> tuple[Stmt, ...]:
        """What the extremum was before the loop, where that is asked for."""
        extremum = self.match.extremum
        if extremum is None or not self.match.improved:
            return ()
        target = Access(self.old, (), self.stmt.span)
        text = f"{target} = {extremum.access}"
        return (Stmt(self.names[2], target, extremum, self.stmt.span, text),)

    def _end(self) -> Stmt:
        """``t = value there if there was a match else t``."""
        position, target = self.position, self.stmt.target
        found: Expr = typing.compare(CompareOp.GE, position, 0)
        if self.match.first:
            inside = typing.compare(CompareOp.LT, position, self.count)
            found = typing.binary(BinaryOp.AND, found, inside)
        value = typing.cast(self.dtype, self._there())
        chosen = Select(found, value, Load(target, self.dtype), self.dtype)
        text = f"{target} = what it is at {position.access}"
        return Stmt(self.names[1], target, chosen, self.stmt.span, text)

    def _there(self) -> Expr:
        """The value in the iteration of the position."""
        values: dict[str, Expr] = {}
        rest: Expr = self.position
        for n, loop in reversed(list(enumerate(self.loops))):
            length = trips(loop) or 1
            number = rest if n == 0 else typing.binary(BinaryOp.MOD, rest, length)
            rest = rest if n == 0 else typing.binary(BinaryOp.FLOORDIV, rest, length)
            first = loop.lowers[0].const if loop.step > 0 else loop.uppers[0].const - 1
            scaled = typing.binary(BinaryOp.MUL, number, loop.step) if loop.step != 1 else number
            values[loop.var] = typing.binary(BinaryOp.ADD, scaled, first) if first else scaled

        def leaf(expr: Const | Load | Index) -> Expr:
            if not isinstance(expr, Index) or not expr.affine.variables() & values.keys():
                return expr
            return typing.cast(IntType(32), _computed(expr.affine, values))

        return map_leaves(self.match.value, leaf)


def _computed(affine: Affine, values: dict[str, Expr]) -> Expr:
    """An affine expression, some of whose variables are values of the program."""
    rest = Affine.collected(
        {a: c for a, c in affine.terms if not (Affine(((a, 1),)).variables() & values.keys())},
        affine.const,
    )
    found: Expr | None = None
    for atom, factor in affine.terms:
        if not Affine(((atom, 1),)).variables() & values.keys():
            continue
        if isinstance(atom, str):
            term = values[atom]
        else:
            inner = _computed(atom.numerator, values)
            term = typing.binary(BinaryOp.FLOORDIV, inner, atom.denominator)
        term = typing.binary(BinaryOp.MUL, term, factor) if factor != 1 else term
        found = term if found is None else typing.binary(BinaryOp.ADD, found, term)
    assert found is not None
    if rest.is_const:
        return typing.binary(BinaryOp.ADD, found, rest.const) if rest.const else found
    return typing.binary(BinaryOp.ADD, found, Index(rest, IndexType()))


def filtered(
    node: Node, kept: Callable[[Stmt], bool], new: Callable[[Stmt], Stmt]
) -> tuple[Node, ...]:
    """The node with some of its statements alone, each as another one; none where nothing is left."""
    match node:
        case Stmt():
            return (new(node),) if kept(node) else ()
        case Loop(body=body):
            inside = tuple(x for n in body for x in filtered(n, kept, new))
            return (replace(node, body=inside),) if inside else ()
        case If(cond=cond):
            then, orelse = (
                tuple(x for n in side for x in filtered(n, kept, new))
                for side in (node.then, node.orelse)
            )
            if not then and orelse:
                return (replace(node, cond=negate(cond), then=orelse, orelse=()),)
            return (replace(node, then=then, orelse=orelse),) if then else ()
