"""One iteration of a pipelined nest: its statements one by one, and when each of them runs.

All copies of unrolled loops are told apart, over the variables of the loops that still run. What
stands around an inner loop of a flattened nest runs in its first or its last iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from dsl.expressions.affine import Affine, Constraint
from polyhedral.dependences.axes import Axis
from qor_gnn.design.region import Guard, Kernel, Loop, Node, Statement


@dataclass(frozen=True, slots=True)
class Copy:
    """A statement of one iteration: its variables in terms of the counters, and when it runs.

    ``place`` is the operator that it is in hardware: a copy of a loop that begins at the greater of
    two bounds is one, whichever of them is the greater.
    """

    statement: Statement
    env: Mapping[str, Affine]
    guard: tuple[Constraint, ...]
    place: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Around:
    """The loops around a nest, and the conditions that it is under."""

    axes: tuple[Axis, ...]
    guard: tuple[Constraint, ...]


def around(kernel: Kernel, loop: Loop, env: Mapping[str, Affine]) -> Around:
    """What is around a copy of a nest of a kernel, symbols of its function included."""
    for function in kernel.functions:
        found = _path(function.body, loop)
        if found is not None:
            symbols = tuple(Axis(name, (), ()) for name in function.symbols)
            axes = tuple(axis_of(n) for n in found if isinstance(n, Loop))
            guard = [c for n in found if isinstance(n, Guard) for c in n.constraints]
            guard += (c for n in found if isinstance(n, Loop) for c in _in_copy(n, env))
            return Around((*symbols, *axes), tuple(guard))
    raise KeyError(loop.iv)


def _in_copy(loop: Loop, env: Mapping[str, Affine]) -> Iterator[Constraint]:
    """The iterations of a loop that are in the copy of its body which ``env`` stands for."""
    value = env.get(loop.iv)
    if value is None or not all(b.is_const for b in loop.lowers):
        return
    stride = abs(value.coefficient(loop.iv))
    apart = Affine.of(loop.iv) - value.const
    if not stride:
        yield Constraint(apart, "==")
    elif stride > loop.step:
        yield Constraint(apart % stride, "==")


def _path(nodes: tuple[Node, ...], loop: Loop) -> list[Node] | None:
    for node in nodes:
        if isinstance(node, Statement):
            continue
        if isinstance(node, Loop) and node.iv == loop.iv:
            return []
        if (inside := _path(node.body, loop)) is not None:
            return [node, *inside]
    return None


def axis_of(loop: Loop, copies: int = 1) -> Axis:
    """The loop as dataflow knows it, of which each iteration runs so many copies of the body."""
    return Axis(loop.iv, loop.lowers, loop.uppers, loop.step * copies)


def copies_of(chain: tuple[Loop, ...], most: int) -> list[Copy] | None:
    """The statements of one iteration in order; None where they cannot be told one by one, or make more accesses than
    ``most``: unrolled loops inside have thousands.
    """
    if any(loop.step * loop.factor != 1 and len(loop.lowers) != 1 for loop in chain):
        return None
    found: list[Copy] = []
    accesses = 0
    for nodes, env, runs in _parts(chain):
        for copy in _straight(nodes, env, runs, (len(found), 0)):
            found.append(copy)
            accesses += 1 + sum(op.kind == "load" for op in copy.statement.ops)
            if accesses > most:
                return None
    return found


def _parts(
    chain: tuple[Loop, ...],
) -> Iterator[tuple[tuple[Node, ...], Mapping[str, Affine], tuple[Constraint, ...]]]:
    """What an iteration runs, in order: nodes, their variables, and when they run."""
    inner = chain[-1]
    first, last = _ends(chain)
    for outer, loop in pairwise(chain):
        yield outer.body[: outer.body.index(loop)], {}, first[loop.iv]
    for c in range(inner.factor):
        value = Affine.of(inner.iv) + c * inner.step
        runs = tuple(_below(value, inner, {})) if c else ()
        yield inner.body, {inner.iv: value}, runs
    for outer, loop in reversed([*pairwise(chain)]):
        yield outer.body[outer.body.index(loop) + 1 :], {}, last[loop.iv]


def _ends(
    chain: tuple[Loop, ...],
) -> tuple[dict[str, tuple[Constraint, ...]], dict[str, tuple[Constraint, ...]]]:
    """For each inner loop when it, and all inside of it, are in their first (last) iteration."""
    first: dict[str, tuple[Constraint, ...]] = {}
    last: dict[str, tuple[Constraint, ...]] = {}
    begins: tuple[Constraint, ...] = ()
    ends: tuple[Constraint, ...] = ()
    for loop in reversed(chain[1:]):
        stride = loop.step * (loop.factor if loop is chain[-1] else 1)
        low = max(b.const for b in loop.lowers)
        high = min(b.const for b in loop.uppers)
        final = low + (high - 1 - low) // stride * stride
        begins = (*begins, Constraint(Affine.of(loop.iv) - low, "=="))
        ends = (*ends, Constraint(Affine.of(loop.iv) - final, "=="))
        first[loop.iv], last[loop.iv] = begins, ends
    return first, last


def _straight(
    nodes: tuple[Node, ...],
    env: Mapping[str, Affine],
    guard: tuple[Constraint, ...],
    place: tuple[int, ...],
) -> Iterator[Copy]:
    """The copies of straight-line code, all loops in it unrolled."""
    for n, node in enumerate(nodes):
        match node:
            case Statement():
                yield Copy(node, env, guard, (*place, n))
            case Guard():
                own = (Constraint(c.expr.substitute(env), c.kind) for c in node.constraints)
                yield from _straight(node.body, env, (*guard, *own), (*place, n))
            case Loop():
                for c in range(node.trips.maximum):
                    for low, begins in _lows(node, env):
                        value = low + c * node.step
                        runs = (*guard, *begins, *_below(value, node, env))
                        inside = {**env, node.iv: value}
                        yield from _straight(node.body, inside, runs, (*place, n, c))


def _lows(loop: Loop, env: Mapping[str, Affine]) -> Iterator[tuple[Affine, list[Constraint]]]:
    """Each lower bound, and where it is the one that the loop begins at."""
    lows = [low.substitute(env) for low in loop.lowers]
    for k, low in enumerate(lows):
        begins = [
            Constraint(low - other - (1 if at < k else 0), ">=")
            for at, other in enumerate(lows)
            if at != k
        ]
        yield low, begins


def _below(value: Affine, loop: Loop, env: Mapping[str, Affine]) -> Iterator[Constraint]:
    for upper in loop.uppers:
        left = upper.substitute(env) - value - 1
        if not left.is_const or left.const < 0:
            yield Constraint(left, ">=")
