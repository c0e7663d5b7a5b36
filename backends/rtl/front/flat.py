"""The tree with unrolling applied: what is left are loops of the hardware and statement copies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from backends.rtl.front.tree import For, If, Kernel, Local, Node, Statement
from backends.rtl.front.unsupported import too_large, unsupported
from backends.rtl.front.values.scope import Env, Scope
from backends.rtl.front.values.val import Guard
from backends.rtl.graph import Counter
from dsl.expressions.affine import Affine, Constraint
from mlir_passes.dialect.attributes import ArrayInfo

MAX_COPIES = 20000
"""Statement copies of one design."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A copy of a statement; ``names`` are the arrays that its locals have become."""

    stmt: Statement
    env: Env
    names: Mapping[str, str]
    guard: Guard


@dataclass(frozen=True, slots=True)
class FlatLoop:
    """A loop of the hardware; ``ii`` is None where it is not pipelined.

    ``private`` are the arrays that live for one iteration.
    """

    counter: Counter
    body: tuple[Flat, ...]
    ii: int | None
    flatten: bool | None
    private: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FlatGuard:
    """Loops that run under a condition."""

    constraints: Guard
    body: tuple[Flat, ...]


Flat = Leaf | FlatLoop | FlatGuard


@dataclass(frozen=True, slots=True)
class Unrolled:
    """The kernel's body with the arrays that its locals have become."""

    body: tuple[Flat, ...]
    locals: tuple[ArrayInfo, ...]


def unrolled(kernel: Kernel) -> Unrolled:
    """Apply unrolling; a pipelined loop unrolls all loops inside of it completely.

    Raises:
        ToolError: W461 more copies than can be handled; W460 a loop that cannot be unrolled.
    """
    maker = _Unroller({a.name for a in kernel.arguments})
    body = maker.nodes(kernel.body, _Place(Scope(), {}, {}, False))
    return Unrolled(tuple(body), tuple(maker.locals))


@dataclass(frozen=True, slots=True)
class _Place:
    scope: Scope
    env: Env
    names: Mapping[str, str]
    complete: bool  # inside of a pipelined loop

    def value(self, expr: Affine) -> Affine:
        return self.scope.simplified(expr.substitute(self.env))


class _Unroller:
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.locals: list[ArrayInfo] = []
        self.ivs = 0
        self.leaves = 0

    def nodes(self, nodes: tuple[Node, ...], at: _Place) -> list[Flat]:
        found: list[Flat] = []
        for node in nodes:
            match node:
                case Statement():
                    self.leaves += 1
                    if self.leaves > MAX_COPIES:
                        raise too_large("unrolling", MAX_COPIES)
                    found.append(Leaf(node, at.env, at.names, ()))
                case Local(info):
                    at = replace(at, names={**at.names, info.name: self._local(info)})
                case If(constraints, body):
                    found += self._branch(constraints, body, at)
                case For():
                    found += self._loop(node, at)
        return found

    def _local(self, info: ArrayInfo) -> str:
        name, count = info.name, 1
        while name in self.taken:
            count += 1
            name = f"{info.name}_{count}"
        self.taken.add(name)
        self.locals.append(replace(info, name=name))
        return name

    def _branch(
        self, constraints: tuple[Constraint, ...], body: tuple[Node, ...], at: _Place
    ) -> list[Flat]:
        wanted = (Constraint(c.expr.substitute(at.env), c.kind) for c in constraints)
        guard = at.scope.guard(wanted)
        return [] if guard is None else self._guarded(guard, self.nodes(body, at), at)

    def _guarded(self, guard: Guard, body: list[Flat], at: _Place) -> list[Flat]:
        """Statements get the guard themselves; where there are loops it stands around them."""
        if not guard or not body:
            return body
        if not all(isinstance(f, Leaf) for f in body):
            return [FlatGuard(guard, tuple(body))]
        found: list[Flat] = []
        for f in body:
            assert isinstance(f, Leaf)
            both = at.scope.guard((*guard, *f.guard)) if f.guard else guard
            if both is not None:
                found.append(replace(f, guard=both))
        return found

    # -------------------------------------------------------------------------------- loops

    def _loop(self, loop: For, at: _Place) -> list[Flat]:
        lowers = tuple(at.value(e) for e in loop.lowers)
        uppers = tuple(at.value(e) for e in loop.uppers)
        loop = replace(loop, lowers=lowers, uppers=uppers)
        if at.complete or loop.unroll == 0 or (len(lowers) == 1 and self._most(loop, at) <= 1):
            return self._complete(loop, at)
        counter, first = self._counter(loop)
        scope = at.scope.inside(counter)
        if scope is None:
            return []
        inner = replace(at, scope=scope, complete=loop.ii is not None)
        known = len(self.locals)
        body: list[Flat] = []
        for copy in range(loop.unroll):
            value = first + copy * loop.step
            guard: Guard | None = ()
            if copy:
                guard = scope.guard(Constraint(u - 1 - value) for u in uppers)
            if guard is not None:
                there = replace(inner, env={**at.env, loop.iv: value})
                body += self._guarded(guard, self.nodes(loop.body, there), inner)
        if not body:
            return []
        private = frozenset(info.name for info in self.locals[known:])
        return [FlatLoop(counter, tuple(body), loop.ii, loop.flatten, private)]

    def _counter(self, loop: For) -> tuple[Counter, Affine]:
        """The hardware's counter and the first copy's loop variable as an expression of it.

        It counts from 0 in steps of 1 where it can: residues of subscripts are plain then.
        """
        iv = f"i{self.ivs}"
        self.ivs += 1
        step = loop.step * loop.unroll
        if len(loop.lowers) == 1 and (loop.lowers[0].is_const or step > 1):
            low = loop.lowers[0]
            uppers = tuple(-((low - u) // step) for u in loop.uppers)
            return Counter(iv, (Affine(),), uppers, 1, loop.name), Affine.of(iv) * step + low
        return Counter(iv, loop.lowers, loop.uppers, step, loop.name), Affine.of(iv)

    def _most(self, loop: For, at: _Place) -> int:
        """No more iterations of a loop with one lower bound."""
        extent = min(at.scope.high(u - loop.lowers[0]) for u in loop.uppers)
        return max(0, -(-extent // loop.step))

    def _complete(self, loop: For, at: _Place) -> list[Flat]:
        if len(loop.lowers) == 1:
            first, count = loop.lowers[0], self._most(loop, at)
        elif loop.step == 1:
            start = max(at.scope.low(e) for e in loop.lowers)
            first = Affine.of(start)
            count = max(0, min(at.scope.high(u) for u in loop.uppers) - start)
        else:
            raise unsupported(
                f"complete unrolling of the loop '{loop.name}': it has a step and several bounds"
            )
        found: list[Flat] = []
        for copy in range(count):
            value = first + copy * loop.step
            tests = [Constraint(u - 1 - value) for u in loop.uppers]
            if len(loop.lowers) > 1:
                tests += [Constraint(value - low) for low in loop.lowers]
            guard = at.scope.guard(tests)
            if guard is not None:
                inner = replace(
                    at,
                    env={**at.env, loop.iv: value},
                    complete=at.complete or loop.ii is not None,
                )
                found += self._guarded(guard, self.nodes(loop.body, inner), at)
        return found
