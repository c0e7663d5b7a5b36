"""From statement copies to a block: operations in order, and the dependences of its accesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from backends.rtl.front.flat import Leaf
from backends.rtl.front.memory import Access, Memory
from backends.rtl.front.scope import Scope
from backends.rtl.front.statements import statement_value
from backends.rtl.front.values import Builder, Val
from backends.rtl.graph import Array, Op, Scalar
from dsl.affine import Affine


@dataclass(frozen=True, slots=True)
class Context:
    """What every block of a kernel refers to; ``scalars`` by position among the arguments."""

    arrays: Mapping[str, Array]
    signed: Mapping[str, bool]
    scalars: Mapping[int, tuple[Scalar, bool]]


@dataclass(frozen=True, slots=True)
class Draft:
    """The operations of a block and its accesses in order, dead code still among them."""

    builder: Builder
    accesses: tuple[Access, ...]


def draft(leaves: Sequence[Leaf], scope: Scope, context: Context, private: frozenset[str]) -> Draft:
    """The operations of statement copies that run one after the other.

    Args:
        leaves: the copies.
        scope: the loops around.
        context: arrays and scalars.
        private: arrays that hold nothing before the block, nor need to after it.
    """
    builder = Builder()
    memory = Memory(builder, scope, context.arrays, context.signed)
    for leaf in leaves:
        builder.stmt = leaf.stmt.name
        _statement(leaf, memory, scope, context)
    for name in private & memory.histories.keys():
        history = memory.histories[name]
        if not history.all_loads:
            history.stores.clear()
    return Draft(builder, tuple(memory.accesses()))


def _statement(leaf: Leaf, memory: Memory, scope: Scope, context: Context) -> None:
    env, names = leaf.env, leaf.names

    def placed(indices: tuple[Affine, ...]) -> tuple[Affine, ...]:
        return tuple(scope.simplified(i.substitute(env)) for i in indices)

    def load(array: str, indices: tuple[Affine, ...]) -> Val:
        return memory.load(names.get(array, array), placed(indices), leaf.guard)

    def index(affine: Affine) -> Val:
        (value,) = placed((affine,))
        return memory.builder.index(value, scope.low(value), scope.high(value))

    def argument(position: int) -> Val:
        scalar, signed = context.scalars[position]
        return memory.builder.argument(scalar.name, scalar.width, signed)

    stmt = leaf.stmt
    value = statement_value(memory.builder, stmt, load, index, argument)
    memory.store(names.get(stmt.array, stmt.array), placed(stmt.indices), leaf.guard, value)


def ordered(found: Draft) -> tuple[tuple[Op, ...], tuple[Access, ...]]:
    """The live operations, numbered anew: loads as early as their time lets them.

    Returns:
        The operations, and the accesses with the new numbers.
    """
    ops = found.builder.ops
    live = _live(ops, found.accesses)
    numbers: dict[int, int] = {}
    result: list[Op] = []

    def place(root: int) -> None:
        """An operation after all that it needs."""
        stack = [root]
        while stack:
            n = stack[-1]
            missing = [u.op for u in ops[n].operands if u.op not in numbers]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if n not in numbers:
                numbers[n] = len(result)
                operands = tuple(replace(u, op=numbers[u.op]) for u in ops[n].operands)
                result.append(replace(ops[n], id=numbers[n], operands=operands))

    kept = [a for a in found.accesses if a.op in live]
    for access in kept:
        place(access.op)
    return tuple(result), tuple(replace(a, op=numbers[a.op]) for a in kept)


def _live(ops: Sequence[Op], accesses: Sequence[Access]) -> set[int]:
    """What the stores need."""
    live: set[int] = set()
    pending = [a.op for a in accesses if a.is_store]
    while pending:
        n = pending.pop()
        if n not in live:
            live.add(n)
            pending.extend(u.op for u in ops[n].operands)
    return live
