"""A running sum in blocks, as a rewriting of the program.

Before, with ``scan("S1", "i", 8)``::

    for i in range(N):
      S1: run = run + x[i]
      S2: y[i] = run

After, where 8 divides N::

    S1_start: run_carry = run
    for i_0 in range(N // 8):
      S1_first: run_scan[0] = x[8*i_0]
      for i_1 in range(1, 8):
        S1_scan: run_scan[i_1] = run_scan[i_1 - 1] + x[8*i_0 + i_1]
      for i_1 in range(8):
        S1: run = run_carry + run_scan[i_1]
        S2: y[8*i_0 + i_1] = run
      S1_carry: run_carry = run_carry + run_scan[7]

What 8 leaves of other numbers of iterations runs behind, as it was. Whether all that computes the same is for
`polyhedral.legality.scans` to prove.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsl.expressions import typing
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, Expr, Load, loads
from dsl.programs.inline import Names, inlined
from dsl.programs.located import trips
from dsl.programs.names import unused
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage, statements_in
from dsl.programs.scopes import local_scopes, ordered_locals
from dsl.programs.substituted import substituted, substituted_access, substituted_value


@dataclass(frozen=True, slots=True)
class Running:
    """What a statement ``t = before op term`` of a loop is made of.

    Attributes:
        op: as it is written; what is subtracted is added up in a block.
        before: the element that the iteration before has assigned.
        term: what nothing in the loop has changed when it is read.
    """

    op: BinaryOp
    before: Access
    term: Expr


def previous(target: Access, loop: Loop) -> Access:
    """What the target was in the iteration before."""
    return substituted_access(target, {loop.var: Affine.of(loop.var) - loop.step})


def with_scan(program: Program, name: str, running: Running, factor: int) -> Program:
    """The program with a running sum in blocks.

    Args:
        program: the kernel.
        name: a statement that stands directly in a loop of a constant number of iterations.
        running: what it is made of.
        factor: iterations of a block, at most as many as the loop has.
    """
    stmt, around = next((n, a) for n, a in program.walk() if isinstance(n, Stmt) and n.name == name)
    loops = [a for a in around if isinstance(a, Loop)]
    made = _Made.of(program, stmt, loops, running, factor)
    body = made.nodes(program.body, loops[-1])
    arrays = [made.moved(a) for a in program.arrays]
    new = replace(program, arrays=(*arrays, *made.arrays()), body=body)
    return ordered_locals(new)


@dataclass(frozen=True, slots=True)
class _Made:
    """What the rewriting is made of.

    ``names`` are new statements: in front, of a block's first iteration, of the others, and behind it. ``own`` are
    the locals of the loop, with the names that they have in what the factor leaves.
    """

    program: Program
    stmt: Stmt
    loops: list[Loop]
    running: Running
    factor: int
    names: tuple[str, str, str, str]
    variables: tuple[str, str]
    carry: Array
    sums: Array
    own: dict[str, str]

    @staticmethod
    def of(program: Program, stmt: Stmt, loops: list[Loop], running: Running, factor: int) -> _Made:
        stmts = [s.name for s in program.statements()]
        start, first, scan, carried = (
            unused(f"{stmt.name}_{word}", stmts) for word in ("start", "first", "scan", "carry")
        )
        used = [n.var for n, _ in program.walk() if isinstance(n, Loop)]
        block, inside = (unused(f"{loops[-1].var}_{n}", used) for n in (0, 1))
        arrays = [a.name for a in program.arrays]
        array = program.array(stmt.target.array)
        names = [unused(f"{array.name}_{word}", arrays) for word in ("carry", "scan")]
        depth = len(loops) - 1
        carry = Array(names[0], array.dtype, (), Storage.LOCAL, False, depth, stmt.span)
        sums = Array(names[1], array.dtype, (factor,), Storage.LOCAL, False, depth + 1, stmt.span)
        own = _locals_of(program, loops[-1], depth)
        renamed: dict[str, str] = {}
        for local in own:
            renamed[local] = unused(f"{local}_rest", [*arrays, *names, *renamed.values()])
        return _Made(
            program, stmt, loops, running, factor, (start, first, scan, carried), (block, inside),
            carry, sums, renamed,
        )  # fmt: skip

    @property
    def loop(self) -> Loop:
        return self.loops[-1]

    @property
    def blocks(self) -> int:
        return (trips(self.loop) or 0) // self.factor

    @property
    def rest(self) -> int:
        return (trips(self.loop) or 0) % self.factor

    def arrays(self) -> list[Array]:
        """The locals that are new."""
        copies = [replace(self.program.array(a), name=b) for a, b in self.own.items() if self.rest]
        return [self.carry, self.sums, *copies]

    def moved(self, array: Array) -> Array:
        """Locals of the loop have one loop more around them."""
        mine = array.name in self.own
        return replace(array, scope_depth=array.scope_depth + 1) if mine else array

    def nodes(self, nodes: tuple[Node, ...], loop: Loop) -> tuple[Node, ...]:
        """The nodes with the loop rewritten."""
        found: list[Node] = []
        for node in nodes:
            match node:
                case Loop() if node is loop:
                    found += [self._start(), self._blocks(), *self._rest()]
                case Loop(body=body):
                    found.append(replace(node, body=self.nodes(body, loop)))
                case If(then=then, orelse=orelse):
                    sides = self.nodes(then, loop), self.nodes(orelse, loop)
                    found.append(replace(node, then=sides[0], orelse=sides[1]))
                case Stmt():
                    found.append(node)
        return tuple(found)

    # --------------------------------------------------------------------------- the statements

    def _at(self, inside: Affine) -> dict[str, Affine]:
        """The loop's variable in an iteration of a block."""
        loop = self.loop
        first = loop.lowers[0] if loop.step > 0 else loop.uppers[0] - 1
        number = Affine.of(self.variables[0]) * self.factor + inside
        return {loop.var: first + number * loop.step}

    def _sum(self, inside: Affine) -> Load:
        return Load(Access(self.sums.name, (inside,), self.stmt.span), self.sums.dtype)

    @property
    def _carried(self) -> Load:
        return Load(Access(self.carry.name, (), self.stmt.span), self.carry.dtype)

    @property
    def _op(self) -> BinaryOp:
        """Of the sums of a block."""
        return BinaryOp.ADD if self.running.op is BinaryOp.SUB else self.running.op

    def _assign(self, name: str, target: Access, value: Expr, text: str) -> Stmt:
        return Stmt(name, target, value, self.stmt.span, f"{target} = {text}")

    def _start(self) -> Stmt:
        loop = self.loop
        first = loop.lowers[0] if loop.step > 0 else loop.uppers[0] - 1
        before = substituted_access(self.running.before, {loop.var: first})
        return self._assign(
            self.names[0], self._carried.access, Load(before, self.carry.dtype), str(before)
        )

    def _term(self, inside: Affine) -> Expr:
        return substituted_value(self.running.term, self._at(inside))

    def _blocks(self) -> Loop:
        block, inside = self.variables
        zero, one, end = Affine(), Affine((), 1), Affine((), self.factor)
        at, span = Affine.of(inside), self.loop.span
        first = self._assign(
            self.names[1], self._sum(zero).access, self._term(zero), "its first term"
        )
        value = typing.binary(self._op, self._sum(at - 1), self._term(at), self.stmt.span)
        scan = self._assign(
            self.names[2], self._sum(at).access, value, f"{self._sum(at - 1).access} and its term"
        )
        total = typing.binary(self.running.op, self._carried, self._sum(end - 1), self.stmt.span)
        carry = self._assign(
            self.names[3],
            self._carried.access,
            total,
            f"{self._carried.access} and {self._sum(end - 1).access}",
        )
        others = tuple(self._other(n) for n in self.loop.body)
        sums = Loop(inside, (one,), (end,), 1, (scan,), span)
        uses = Loop(inside, (zero,), (end,), 1, others, span)
        count = Affine((), self.blocks)
        return Loop(block, (zero,), (count,), 1, (first, sums, uses, carry), span)

    def _other(self, node: Node) -> Node:
        """A node of the loop, where its statement takes the sum of the block."""
        at = Affine.of(self.variables[1])
        if node is self.stmt:
            value = typing.binary(self.running.op, self._carried, self._sum(at), self.stmt.span)
            node = replace(self.stmt, value=value)
        return substituted(node, self._at(at))

    def _rest(self) -> tuple[Loop, ...]:
        """The iterations that the factor leaves, as they were."""
        if not self.rest:
            return ()
        loop, done = self.loop, self.blocks * self.factor * self.loop.step
        if loop.step > 0:
            loop = replace(loop, lowers=(loop.lowers[0] + done,))
        else:
            loop = replace(loop, uppers=(loop.uppers[0] + done,))
        known = [s.name for s in self.program.statements()]
        names = Names(
            {a.name: self.own.get(a.name, a.name) for a in self.program.arrays},
            {},
            lambda var, around: var,
            lambda stmt, _: unused(f"{stmt.name}_rest", known),
        )
        part = replace(self.program, body=loop.body)
        same = {each.var: each.var for each in self.loops}
        body = inlined(part, names, tuple(same))
        return (replace(loop, body=body),)


def _locals_of(program: Program, loop: Loop, depth: int) -> list[str]:
    """The locals that are declared in a loop with ``depth`` loops around it."""
    scopes = local_scopes(program)
    used = {a.array for s in statements_in(loop) for a in (s.target, *loads(s.value))}
    return [a.name for a in program.locals if a.name in used and len(scopes[a.name]) > depth]
