"""A reduction spread over several accumulators, as a rewriting of the program.

Before, with ``partial_sums("S0", "k", 4)``::

    for i in range(N):
      for k in range(M):
        S0: y[i] = y[i] + A[i, k]

After::

    for i in range(N):
      for part in range(4):
        S0_init: y_part[i, part] = 0
      for k in range(M):
        S0: y_part[i, k % 4] = y_part[i, k % 4] + A[i, k]
      for part in range(4):
        S0_sum: y[i] = y[i] + y_part[i, part]

Loops that the element moves with and that know the reduced loop run over all values that they have in any of its
iterations: what nothing is added to gets the neutral element.

Where the statement assigns to an element that is data, as of a histogram, all elements that it may be have
accumulators. Before, with ``partial_sums("S0", "i", 4)``::

    for i in range(N):
      S0: h[x[i]] = h[x[i]] + 1

After::

    for h_0 in range(256):
      for part in range(4):
        S0_init: h_part[h_0, part] = 0
    for i in range(N):
      S0: h_part[x[i], i % 4] = h_part[x[i], i % 4] + 1
    for h_0 in range(256):
      for part in range(4):
        S0_sum: h[h_0] = h[h_0] + h_part[h_0, part]

Whether that computes the same is for `polyhedral.transforms.recurrences.partial_sums` to prove.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from dsl.errors.errors import Span
from dsl.expressions import typing
from dsl.expressions.affine import Affine, And, Cond, cond_variables, negate
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Const,
    Index,
    Load,
    map_leaves,
    stored_value,
)
from dsl.programs.names import unused
from dsl.programs.program import (
    Array,
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
    has_statement,
    variables_in,
)
from dsl.programs.scopes import ordered_locals

# Operators of which a value taken twice counts once: their accumulators start from the element.
IDEMPOTENT = (BinaryOp.MIN, BinaryOp.MAX, BinaryOp.AND, BinaryOp.OR)


@dataclass(frozen=True, slots=True)
class Partial:
    """The rewritten program and what is new in it.

    Attributes:
        program: with the accumulators.
        array: their name.
        init: the statement that starts them.
        sum: the statement that adds them to the element.
        around: how many loops stand around the reduced loop.
    """

    program: Program
    array: str
    init: str
    sum: str
    around: int


@dataclass(frozen=True, slots=True)
class _Names:
    array: str
    init: str
    sum: str


@dataclass(frozen=True, slots=True)
class Elements:
    """What a statement may assign to.

    Attributes:
        access: an element, by loops around the statement and by those of ``loops``.
        loops: variable and extent of each, one for a subscript that is data, outermost first.
    """

    access: Access
    loops: tuple[tuple[str, int], ...]

    def around(self, node: Node, span: Span | None) -> Node:
        """The node, in the loops."""
        for variable, extent in reversed(self.loops):
            node = Loop(variable, (Affine(),), (Affine((), extent),), 1, (node,), span)
        return node


def elements_of(program: Program, stmt: Stmt, prefix: str, used: Collection[str]) -> Elements:
    """Those of a statement's target, with variables for subscripts that are data.

    Args:
        program: of the statement.
        stmt: which one.
        prefix: of the names of the variables.
        used: other names of variables.
    """
    indices: list[Affine] = []
    loops: list[tuple[str, int]] = []
    target = stmt.target
    within = target.within(program.array(target.array).shape)
    for dim, (index, extent) in enumerate(zip(target.indices, within, strict=True)):
        if index.is_data:
            name = unused(f"{prefix}_{dim}", used)
            loops.append((name, extent))
            index = Affine.of(name)
        indices.append(index)
    return Elements(Access(target.array, tuple(indices), target.span), tuple(loops))


def moving_inside(stmt: Stmt, inner: Collection[Loop]) -> tuple[Loop, ...]:
    """Of the loops inside of the reduced one, those that the element moves with."""
    used = {v for index in stmt.target.indices for v in index.variables()}
    return tuple(loop for loop in inner if loop.var in used)


def hull(loop: Loop, inner: Collection[Loop], unknown: Collection[str]) -> Loop | None:
    """A loop over all values that another one's variable has, whatever those of loops around it are.

    Args:
        loop: whose bounds may depend on unknown variables.
        inner: these loops among others, outermost first.
        unknown: variables that its bounds may not name.

    Returns:
        The loop itself where it names none; None where a step leaves out values, or a variable is inside of a division.
    """
    lowers, uppers = loop.lowers, loop.uppers
    for other in reversed([each for each in inner if each.var in unknown]):
        if not any(other.var in bound.variables() for bound in (*lowers, *uppers)):
            continue
        ends = other.lowers[0], other.uppers[0] - 1
        if loop.step != 1 or len(other.lowers) > 1 or len(other.uppers) > 1:
            return None
        lowers = tuple(_extreme(bound, other.var, *ends) for bound in lowers)
        uppers = tuple(_extreme(bound, other.var, *reversed(ends)) for bound in uppers)
    if any(bound.variables() & set(unknown) for bound in (*lowers, *uppers)):
        return None
    return replace(loop, lowers=lowers, uppers=uppers)


def _extreme(bound: Affine, var: str, first: Affine, last: Affine) -> Affine:
    """The bound at one end of a variable's range: the first where it grows with it, else the last. As it is where the
    variable is inside of a division.
    """
    factor = bound.coefficient(var)
    divided = any(not isinstance(a, str) and var in a.numerator.variables() for a, _ in bound.terms)
    if divided or not factor:
        return bound
    return bound.substitute({var: first if factor > 0 else last})


def with_partials(
    program: Program,
    name: str,
    level: int,
    count: int,
    block: int = 1,
    around: int | None = None,
) -> Partial:
    """The program with the accumulation of a statement spread over ``count`` elements.

    Args:
        program: the kernel.
        name: a statement ``X[f] = X[f] op e`` without another access of X in e.
        level: of its loops, the one whose iterations take turns, counted from the outermost.
        count: accumulators of each element.
        block: iterations that one of them takes in a row.
        around: the loop in front of which they start and behind which they are added up; None for that of ``level``.
    """
    reduced = level if around is None else around
    stmts = [s.name for s in program.statements()]
    arrays = [a.name for a in program.arrays]
    stmt = next(s for s in program.statements() if s.name == name)
    names = _Names(
        unused(f"{stmt.target.array}_part", arrays),
        unused(f"{name}_init", stmts),
        unused(f"{name}_sum", stmts),
    )
    of = program.array(stmt.target.array)
    array = Array(
        names.array, of.dtype, (*of.shape, count), Storage.LOCAL, False, of.scope_depth, of.span
    )
    elements = elements_of(program, stmt, stmt.target.array, variables_in(program))
    rewriter = _Rewriter(names, array, stmt, elements, reduced, level, count, block)
    body = rewriter.nodes(program.body, ())
    new = replace(program, arrays=(*program.arrays, array), body=body)
    return Partial(ordered_locals(new), names.array, names.init, names.sum, reduced)


def position(loop: Loop) -> Affine:
    """How many iterations of the loop ran before, where its bounds tell; else its variable."""
    var = Affine.of(loop.var)
    if loop.step > 0:
        return (var - loop.lowers[0]) // loop.step if len(loop.lowers) == 1 else var
    return (loop.uppers[0] - 1 - var) // -loop.step if len(loop.uppers) == 1 else var


def _turn(loop: Loop) -> Affine:
    """What tells whose turn it is: in a triangle the loop's variable, so that each copy of a loop over the whole range
    knows its accumulator.
    """
    one = len(loop.lowers) == len(loop.uppers) == loop.step == 1
    varies = one and not (loop.uppers[0] - loop.lowers[0]).is_const
    return Affine.of(loop.var) if varies else position(loop)


@dataclass(frozen=True, slots=True)
class _Rewriter:
    """Copies the program; the reduced loop gets a nest in front of it and one behind."""

    names: _Names
    array: Array
    stmt: Stmt
    elements: Elements
    level: int
    turns: int
    count: int
    block: int

    def nodes(self, nodes: tuple[Node, ...], around: tuple[Loop, ...]) -> tuple[Node, ...]:
        """The nodes, those that the statement is in rewritten."""
        found: list[Node] = []
        for node in nodes:
            found += self._node(node, around) if has_statement(node, self.stmt.name) else (node,)
        return tuple(found)

    def _node(self, node: Node, around: tuple[Loop, ...]) -> tuple[Node, ...]:
        match node:
            case Stmt():
                return (self._accumulation(node, around[self.turns]),)
            case If(then=then, orelse=orelse):
                new = (self.nodes(then, around), self.nodes(orelse, around))
                return (replace(node, then=new[0], orelse=new[1]),)
            case Loop(body=body):
                loop = replace(node, body=self.nodes(body, (*around, node)))
                if len(around) != self.level:
                    return (loop,)
                return (self._nest(node, around, True), loop, self._nest(node, around, False))

    def _accumulation(self, stmt: Stmt, loop: Loop) -> Stmt:
        number = _turn(loop) // self.block % self.count
        partial = self._partial(stmt.target, number)

        def leaf(expr: Const | Load | Index) -> Const | Load | Index:
            own = isinstance(expr, Load) and expr.access.array == stmt.target.array
            return Load(partial, self.array.dtype) if own else expr

        return replace(stmt, target=partial, value=map_leaves(stmt.value, leaf))

    def _partial(self, element: Access, number: Affine) -> Access:
        return Access(self.array.name, (*element.indices, number), element.span)

    def _nest(self, loop: Loop, around: tuple[Loop, ...], first: bool) -> Node:
        """The loops over the elements and their accumulators, around the new statement."""
        path, conds = _way_to(loop, self.stmt.name)
        moving = moving_inside(self.stmt, path)
        known = {each.var for each in (*around, *moving)}
        part = unused("part", known)
        new = self._init(part) if first else self._sum(part)
        each_part = Loop(part, (Affine(),), (Affine((), self.count),), 1, (new,), loop.span)
        node = self.elements.around(each_part, loop.span)
        kept = tuple(c for c in conds if cond_variables(c) <= known)
        if kept:
            node = If(kept[0] if len(kept) == 1 else And(kept), (node,))
        for each in reversed(moving):
            whole = hull(each, (*around, loop, *path), {x.var for x in (loop, *path)} - known)
            node = replace(whole or each, body=(node,))
        return node

    def _init(self, part: str) -> Stmt:
        """``X_part[f, part] = identity``, or X[f] itself."""
        stmt, dtype = self.stmt, self.array.dtype
        element = self.elements.access
        target, value = self._partial(element, Affine.of(part)), stored_value(stmt.value)
        assert isinstance(value, Binary)
        start: Load | Const
        if value.op in IDEMPOTENT:
            start = Load(element, dtype)
        else:
            start = typing.const(1 if value.op is BinaryOp.MUL else 0, dtype)
        text = str(element if isinstance(start, Load) else start.value)
        return Stmt(self.names.init, target, start, stmt.span, f"{target} = {text}")

    def _sum(self, part: str) -> Stmt:
        """``X[f] = X[f] op X_part[f, part]``; what was subtracted is added up."""
        stmt, dtype, element = self.stmt, self.array.dtype, self.elements.access
        update = stored_value(stmt.value)
        assert isinstance(update, Binary)
        op = BinaryOp.ADD if update.op is BinaryOp.SUB else update.op
        partial = Load(self._partial(element, Affine.of(part)), dtype)
        value = typing.binary(op, Load(element, dtype), partial, stmt.span)
        text = f"{element} {op.value}= {partial.access}"
        if op in (BinaryOp.MIN, BinaryOp.MAX):
            text = f"{element} = {op.value}({element}, {partial.access})"
        return Stmt(self.names.sum, element, value, stmt.span, text)


def _way_to(node: Node, name: str) -> tuple[tuple[Loop, ...], tuple[Cond, ...]]:
    """The loops and conditions between a loop and a statement in it, the loop left out."""
    loops: list[Loop] = []
    conds: list[Cond] = []
    while not isinstance(node, Stmt):
        if isinstance(node, Loop):
            node = next(n for n in node.body if has_statement(n, name))
        else:
            met = any(has_statement(n, name) for n in node.then)
            conds.append(node.cond if met else negate(node.cond))
            node = next(n for n in (node.then if met else node.orelse) if has_statement(n, name))
        if isinstance(node, Loop):
            loops.append(node)
    return tuple(loops), tuple(conds)
