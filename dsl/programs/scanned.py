"""A recurrence in blocks, as a rewriting of the program.

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

Other functions than sums have other components (`dsl.programs.composed`): ``run = max(run + x[i], 0)`` is
``run_carry + run_scan[i_1]``, and at least ``run_least[i_1]``. Of several updates in an iteration each has components of
its own, ``run_scan[2*i_1]`` and ``run_scan[2*i_1 + 1]`` of two. What 8 leaves of other numbers of iterations runs behind,
as it was; or it is a last block, in which all statements are under ``if 8*i_0 + i_1 < N``. Whether all that computes the same is for `polyhedral.legality.scans` to prove.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dsl.expressions.affine import Affine, Cond, Constraint
from dsl.expressions.expr import Access, Expr, Load, loads
from dsl.programs.composed import (
    Parts,
    applied,
    composed,
    joined,
)
from dsl.programs.inline import Names, inlined
from dsl.programs.located import trips
from dsl.programs.names import unused
from dsl.programs.program import (
    Array,
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
    statements_in,
    variables_in,
)
from dsl.programs.recurrence import Running, Update, constant_components
from dsl.programs.scopes import local_scopes, ordered_locals
from dsl.programs.substituted import substituted, substituted_access


def with_scan(
    program: Program, name: str, running: Running, factor: int, guarded: bool = False
) -> Program:
    """The program with a recurrence in blocks.

    Args:
        program: the kernel.
        name: one of its statements, in a loop of a constant number of iterations.
        running: what it is made of.
        factor: iterations of a block, at most as many as the loop has.
        guarded: what the factor leaves is a block, too.
    """
    stmt, around = next((n, a) for n, a in program.walk() if isinstance(n, Stmt) and n.name == name)
    loops = [a for a in around if isinstance(a, Loop)]
    made = _Made.of(program, stmt, loops, running, factor, guarded)
    body = made.nodes(program.body, loops[-1])
    arrays = [made.moved(a) for a in program.arrays]
    new = replace(program, arrays=(*arrays, *made.arrays()), body=body)
    return ordered_locals(new)


@dataclass(frozen=True, slots=True)
class _Made:
    """What the rewriting is made of.

    ``names`` are new statements: in front, and behind a block; ``parts`` are the arrays of the components by their words.
    ``own`` are the locals of the loop, with the names that they have in what the factor leaves.
    """

    program: Program
    stmt: Stmt
    loops: list[Loop]
    running: Running
    factor: int
    guarded: bool
    names: tuple[str, str]
    variables: tuple[str, str]
    carry: Array
    parts: dict[str, Array]
    own: dict[str, str]

    @staticmethod
    def of(
        program: Program,
        stmt: Stmt,
        loops: list[Loop],
        running: Running,
        factor: int,
        guarded: bool,
    ) -> _Made:
        stmts = [s.name for s in program.statements()]
        start, carried = (unused(f"{stmt.name}_{word}", stmts) for word in ("start", "carry"))
        used = variables_in(program)
        block, inside = (unused(f"{loops[-1].var}_{n}", used) for n in (0, 1))
        arrays = [a.name for a in program.arrays]
        array = program.array(stmt.target.array)
        depth = len(loops) - 1
        name = unused(f"{array.name}_carry", arrays)
        carry = Array(name, array.dtype, (), Storage.LOCAL, False, depth, stmt.span)
        constant = constant_components(running)
        parts: dict[str, Array] = {}
        for each in running.family.components:
            word, count = each.word, factor * len(running.ends)
            name = unused(f"{array.name}_{word}", arrays)
            inner = depth + (word not in constant)
            parts[word] = Array(name, each.dtype, (count,), Storage.LOCAL, False, inner, stmt.span)
        taken = [*arrays, carry.name, *(a.name for a in parts.values())]
        own: dict[str, str] = {}
        for local in _locals_of(program, loops[-1], depth):
            own[local] = unused(f"{local}_rest", [*taken, *own.values()])
        return _Made(
            program,
            stmt,
            loops,
            running,
            factor,
            guarded,
            (start, carried),
            (block, inside),
            carry,
            parts,
            own,
        )

    @property
    def loop(self) -> Loop:
        return self.loops[-1]

    @property
    def blocks(self) -> int:
        return ((trips(self.loop) or 0) + (self.factor - 1) * self.guarded) // self.factor

    @property
    def rest(self) -> int:
        return 0 if self.guarded else (trips(self.loop) or 0) % self.factor

    def arrays(self) -> list[Array]:
        """The locals that are new."""
        copies = [replace(self.program.array(a), name=b) for a, b in self.own.items() if self.rest]
        return [self.carry, *self.parts.values(), *copies]

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
                    found += [self._start(), *self._constant_parts(), self._blocks(), *self._rest()]
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

    def _part(self, word: str, position: Affine) -> Load:
        array = self.parts[word]
        return Load(Access(array.name, (position,), self.stmt.span), array.dtype)

    def _all(self, position: Affine) -> Parts:
        """The components of all updates down to one of them."""
        return {word: self._part(word, position) for word in self.parts}

    @property
    def _carried(self) -> Load:
        return Load(Access(self.carry.name, (), self.stmt.span), self.carry.dtype)

    def _assign(self, name: str, target: Access, value: Expr, text: str) -> Stmt:
        return Stmt(name, target, value, self.stmt.span, f"{target} = {text}")

    def _start(self) -> Stmt:
        loop = self.loop
        first = loop.lowers[0] if loop.step > 0 else loop.uppers[0] - 1
        before = substituted_access(self.running.before, {loop.var: first})
        return self._assign(
            self.names[0], self._carried.access, Load(before, self.carry.dtype), str(before)
        )

    def _composed(self, words: frozenset[str], inside: Affine, first: bool) -> Iterator[Node]:
        """Components of an iteration of a block, each from the function before."""
        begin = 0
        for k, end in enumerate(self.running.ends):
            at = inside * len(self.running.ends) + k
            none: Parts = dict.fromkeys(self.parts)
            old = none if first and k == 0 else self._all(at - 1)
            store = _Store(self, words, at, self.running.updates[end].stmt.name, first)
            if begin == end or not self.running.family.joins:
                nodes = self._chosen(self.running.updates[begin : end + 1], old, store)
            else:
                store = replace(store, old=old)
                nodes = self._chosen(self.running.updates[begin : end + 1], none, store)
            begin = end + 1
            for each in nodes:
                yield substituted(each, self._at(inside))

    def _chosen(
        self,
        updates: tuple[Update, ...],
        parts: Parts,
        store: _Store,
        known: tuple[tuple[Cond, bool], ...] = (),
    ) -> tuple[Node, ...]:
        """What updates make of components, where their conditions hold and where they do not.

        Of conditions that are ``known`` there nothing is asked again: the two ways of a statement have the same one.
        """
        if not updates:
            return store.stores(parts)
        update, rest = updates[0], updates[1:]
        asked = [each for each in update.conds if each not in known]
        if any((cond, not holds) in known for cond, holds in asked):
            return self._chosen(rest, parts, store, known)
        made = composed(self.running.family, parts, update.function)
        nodes = self._chosen(rest, made, store, (*known, *asked))
        for n, (cond, holds) in reversed(list(enumerate(asked))):
            end = store.otherwise(f"{len(rest) or ''}{n or ''}")
            other = self._chosen(rest, parts, end, (*known, *asked[:n], (cond, not holds)))
            then, orelse = (nodes, other) if holds else (other, nodes)
            nodes = (If(cond, then, orelse, self.stmt.span),)
        return nodes

    def _constant_parts(self) -> tuple[Node, ...]:
        """In front of all blocks, the components that are the same in each of them."""
        return self._parts_of_a_block(constant_components(self.running))

    def _parts_of_a_block(self, words: frozenset[str]) -> tuple[Node, ...]:
        words &= self.parts.keys()
        if not words:
            return ()
        inside = self.variables[1]
        one, end, span = Affine((), 1), Affine((), self.factor), self.loop.span
        others = tuple(self._composed(words, Affine.of(inside), False))
        if words.isdisjoint(
            constant_components(self.running)
        ):  # which are made in front of the blocks
            others = self._in_range(others, Affine.of(inside))
        first = tuple(self._composed(words, Affine(), True))
        return (*first, Loop(inside, (one,), (end,), 1, others, span))

    def _blocks(self) -> Loop:
        block, inside = self.variables
        zero, end, span = Affine(), Affine((), self.factor), self.loop.span
        words = frozenset(self.parts) - constant_components(self.running)
        scans = self._parts_of_a_block(words)
        others = tuple(
            substituted(self._other(n), self._at(Affine.of(inside))) for n in self.loop.body
        )
        others = self._in_range(others, Affine.of(inside))
        uses = Loop(inside, (zero,), (end,), 1, others, span)
        last = self._all(end * len(self.running.ends) - 1)
        total = applied(self.running.family, self._carried, last)
        text = f"{self.stmt.target} behind the block"
        carry = self._assign(self.names[1], self._carried.access, total, text)
        count = Affine((), self.blocks)
        behind = self._in_range((carry,), end - 1)
        return Loop(block, (zero,), (count,), 1, (*scans, uses, *behind), span)

    def _in_range(self, nodes: tuple[Node, ...], inside: Affine) -> tuple[Node, ...]:
        """Nodes of an iteration of a block, under a guard where the last block has fewer."""
        count = trips(self.loop) or 0
        if not nodes or not self.guarded or count % self.factor == 0:
            return nodes
        number = Affine.of(self.variables[0]) * self.factor + inside
        return (If(Constraint(Affine((), count - 1) - number), nodes, (), self.stmt.span),)

    def _other(self, node: Node) -> Node:
        """A node of the loop, where an update takes its components."""
        match node:
            case If(then=then, orelse=orelse):
                first, second = (tuple(map(self._other, side)) for side in (then, orelse))
                return replace(node, then=first, orelse=second)
            case Stmt():
                stmts = [u.stmt for u in self.running.updates]
                k = next((k for k, s in enumerate(stmts) if s is node), None)
                if k is None:
                    return node
                place = self.running.place(k)
                at = Affine.of(self.variables[1]) * len(self.running.ends) + place
                value = applied(self.running.family, self._carried, self._all(at))
                return replace(node, value=value)
            case Loop():
                return node

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


@dataclass(frozen=True, slots=True)
class _Store:
    """The statements that keep components, named after the last update; of what has been composed apart, behind ``old``."""

    made: _Made
    words: frozenset[str]
    at: Affine
    name: str
    first: bool
    old: Parts | None = None
    end: str = ""

    def otherwise(self, number: str) -> _Store:
        """Those where conditions do not hold."""
        return replace(self, end=f"{self.end}_else{number}")

    def stores(self, parts: Parts) -> tuple[Stmt, ...]:
        """One for each component."""
        family, found = self.made.running.family, []
        known = [s.name for s in self.made.program.statements()]
        if self.old is not None:
            parts = joined(family, self.old, parts)
        for word in self.made.parts:
            if word not in self.words:
                continue
            value = parts[word]
            base = self.name if word == "scan" else f"{self.name}_{word}"
            if value is None:
                value = family.neutral(word)
            name = unused(f"{base}_{'first' if self.first else 'scan'}{self.end}", known)
            text = f"{word} of {self.made.stmt.target} so far"
            target = self.made._part(word, self.at).access
            found.append(self.made._assign(name, target, value, text))
        return tuple(found)
