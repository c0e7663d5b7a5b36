"""One form for a region tree, from wherever it was read.

Loops of one iteration that nothing was asked of are their bodies, loop variables have the names of
their loops, trip counts have exact averages, locals are in the order of their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.types import DType, IntType
from qor_gnn.design.constants import folded, folded_alone
from qor_gnn.design.region import (
    Function,
    Guard,
    Kernel,
    Loop,
    Memory,
    Node,
    Op,
    Statement,
    Trips,
)
from qor_gnn.design.substitute import constraint_with, statement_with

_EXECUTIONS = 1 << 14
_LOW_BITS = ("add", "sub", "mul")


def canonical(kernel: Kernel) -> Kernel:
    """The kernel in this form."""
    kernel = folded(kernel)
    arguments = [m for m in kernel.memories if m.argument]
    own = sorted((m for m in kernel.memories if not m.argument), key=lambda m: m.name)
    namer = _Namer({m.name: m for m in kernel.memories})
    functions = tuple(
        Function(f.name, namer.nodes(f.body, {}, ()), f.symbols) for f in kernel.functions
    )
    return replace(kernel, memories=(*arguments, *own), functions=functions)


def canonical_statement(statement: Statement, stored: DType) -> Statement:
    """A statement in this form, known without the rest of its kernel.

    Args:
        statement: any.
        stored: the type of the elements that it stores.
    """
    return ordered(narrowed(folded_alone(statement), stored))


@dataclass(slots=True)
class _Namer:
    memories: Mapping[str, Memory]
    taken: dict[str, int] = field(default_factory=dict)

    def nodes(
        self, nodes: Sequence[Node], values: Mapping[str, Affine], around: tuple[Loop, ...]
    ) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            match node:
                case Loop():
                    found += self._loop(node, values, around)
                case Guard(constraints, body):
                    held = [constraint_with(c, values) for c in constraints]
                    open_ = undecided(held, around)
                    inner = () if open_ is None else self.nodes(body, values, around)
                    if inner:
                        found += (Guard(open_, inner),) if open_ else inner
                case Statement():
                    memory = self.memories.get(node.target.memory)
                    placed = statement_with(node, values)
                    found.append(ordered(narrowed(placed, memory.dtype) if memory else placed))
                case _:
                    assert_never(node)
        return tuple(found)

    def _loop(
        self, loop: Loop, values: Mapping[str, Affine], around: tuple[Loop, ...]
    ) -> tuple[Node, ...]:
        lowers = tuple(b.substitute(values) for b in loop.lowers)
        uppers = tuple(b.substitute(values) for b in loop.uppers)
        plain = loop.ii is None and loop.unroll == 1 and loop.flatten is None
        trips = constant_trips(lowers, uppers, loop.step)
        if trips == 0:
            return ()
        if trips == 1 and plain and len(lowers) == 1:
            return self.nodes(loop.body, {**values, loop.iv: lowers[0]}, around)
        iv = self._fresh(loop.name or "i")
        written = loop.unroll == 1 and loop.ii is not None  # a pipeline of one iteration
        gone = trips is not None and loop.unroll >= trips and not written
        unroll = 0 if gone else loop.unroll
        ii = loop.ii if unroll else None  # nothing is left to pipeline
        new = replace(loop, iv=iv, lowers=lowers, uppers=uppers, unroll=unroll, ii=ii, body=())
        new = replace(new, trips=_trips(new, trips, around))
        body = self.nodes(loop.body, {**values, loop.iv: Affine.of(iv)}, (*around, new))
        return (replace(new, body=body),) if body else ()

    def _fresh(self, name: str) -> str:
        count = self.taken[name] = self.taken.get(name, 0) + 1
        return name if count == 1 else f"{name}'{count}"


def undecided(
    constraints: Sequence[Constraint], around: Sequence[Loop]
) -> tuple[Constraint, ...] | None:
    """The constraints that hold in some iterations only; None where one never holds."""
    # Only programs with guards pay for what it imports.
    from mlir_passes.extremes import Scope, maximum, minimum
    from mlir_passes.loop_bounds import Bounds

    bounds = tuple((loop.iv, Bounds(loop.lowers, loop.uppers, loop.step)) for loop in around)
    scope = Scope(bounds)
    found = []
    for c in constraints:
        low, high = minimum(c.expr, scope), maximum(c.expr, scope)
        never = high is not None and high < 0
        always = low is not None and low >= 0
        if c.kind == "==":
            never = never or (low is not None and low > 0)
            always = low == high == 0
        if never:
            return None
        if not always:
            found.append(c)
    return tuple(found)


def narrowed(statement: Statement, stored: DType) -> Statement:
    """Integer sums and products as wide as the bits of them that are stored.

    The low bits of a sum, a difference or a product follow from those of the operands.
    """
    if not isinstance(stored, IntType):
        return statement
    wanted = [0] * len(statement.ops)
    wanted[-1] = stored.width
    ops = list(statement.ops)
    for n in reversed(range(len(ops))):
        op = ops[n]
        low = op.type == "int" and op.kind in _LOW_BITS
        if low and 0 < wanted[n] < op.width:
            op = ops[n] = replace(op, width=wanted[n])
        for k in op.operands:
            wanted[k] = max(wanted[k], op.width if low else ops[k].width)
    return replace(statement, ops=tuple(ops))


def ordered(statement: Statement) -> Statement:
    """Each operation once, operands first, in the order in which the last one asks for them."""
    places: dict[int, int] = {}
    merged: dict[Op, int] = {}
    pending = [(len(statement.ops) - 1, False)]
    while pending:
        n, done = pending.pop()
        op = statement.ops[n]
        if done:
            operands = tuple(places[k] for k in op.operands)
            places[n] = merged.setdefault(replace(op, operands=operands), len(merged))
        elif n not in places:
            pending.append((n, True))
            pending += [(k, False) for k in reversed(op.operands)]
    return replace(statement, ops=tuple(merged))


def constant_trips(lowers: Sequence[Affine], uppers: Sequence[Affine], step: int) -> int | None:
    """The trip count where it does not depend on any variable."""
    extents = [u - low for u in uppers for low in lowers]
    if not all(e.is_const for e in extents):
        return None
    return max(0, -(-min(e.const for e in extents) // step))


def _trips(loop: Loop, constant: int | None, around: tuple[Loop, ...]) -> Trips:
    """Trip counts, with the average over all executions that the loops around have."""
    if constant is not None:
        return Trips(constant, constant, constant)
    needed = _needed(loop, around)
    budget = max(3, round(_EXECUTIONS ** (1 / max(1, len(needed)))))
    total, executions = _sum(loop, needed, {}, budget)
    average = total / executions if executions else 0.0
    low, high = loop.trips.minimum, loop.trips.maximum
    return Trips(low, high, min(max(average, low), high))


def _needed(loop: Loop, around: tuple[Loop, ...]) -> list[Loop]:
    """The outer loops that the bounds depend on, directly or through other loops' bounds."""
    wanted = _variables(loop)
    found = []
    for outer in reversed(around):
        if outer.iv in wanted:
            wanted |= _variables(outer)
            found.append(outer)
    return found[::-1]


def _variables(loop: Loop) -> set[str]:
    return {v for bound in (*loop.lowers, *loop.uppers) for v in bound.variables()}


def _range(loop: Loop, env: Mapping[str, int]) -> range:
    low = max(b.evaluate(env) for b in loop.lowers)
    return range(low, min(b.evaluate(env) for b in loop.uppers), loop.step)


def _sum(
    loop: Loop, outer: Sequence[Loop], env: dict[str, int], budget: int
) -> tuple[float, float]:
    """Iterations of the loop and executions of it: of evenly spaced iterations of a long loop."""
    if not outer:
        return len(_range(loop, env)), 1
    every: Sequence[int] = _range(outer[0], env)
    weight = 1.0
    if len(every) > budget:
        weight = len(every) / budget
        every = [every[round(k * (len(every) - 1) / (budget - 1))] for k in range(budget)]
    total = executions = 0.0
    for value in every:
        env[outer[0].iv] = value
        more, times = _sum(loop, outer[1:], env, budget)
        total, executions = total + more, executions + times
    env.pop(outer[0].iv, None)
    return weight * total, weight * executions
