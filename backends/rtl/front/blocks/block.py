"""From statement copies to a block: operations in order, and the dependences of its accesses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from backends.rtl.front.accesses.gather import gathered, scattered
from backends.rtl.front.accesses.memory import Access, Memory
from backends.rtl.front.accesses.promote import Indices, Span, Touch, spans
from backends.rtl.front.flat import Leaf
from backends.rtl.front.values.builder import Builder
from backends.rtl.front.values.scope import Scope
from backends.rtl.front.values.statements import statement_value
from backends.rtl.front.values.val import Val
from backends.rtl.graph import Array, Counter, Op, Scalar, Use
from dsl.expressions.affine import Affine


@dataclass(frozen=True, slots=True)
class Context:
    """What every block of a kernel refers to.

    Attributes:
        arrays: by name.
        signed: whether the elements of each are.
        scalars: by position among the arguments, and whether they are signed.
        reassociated: statements whose reduction may be done in any order.
        lanes: partial results of such a reduction of floats, a power of two.
    """

    arrays: Mapping[str, Array]
    signed: Mapping[str, bool]
    scalars: Mapping[int, tuple[Scalar, bool]]
    reassociated: frozenset[str] = frozenset()
    lanes: int = 8

    def having(self, arrays: Iterable[tuple[Array, bool]]) -> Context:
        """With more arrays, and whether their elements are signed."""
        more = tuple(arrays)
        return replace(
            self,
            arrays={**self.arrays, **{a.name: a for a, _ in more}},
            signed={**self.signed, **{a.name: signed for a, signed in more}},
        )


@dataclass(frozen=True, slots=True)
class Code:
    """Statement copies that run one after the other, in every iteration of some counters.

    ``lifetimes``: of the arrays that live no longer than one iteration of some of the outer
    counters, how many counters these are; they hold nothing before, nor are they needed after it.
    """

    leaves: tuple[Leaf, ...]
    counters: tuple[Counter, ...] = ()
    lifetimes: Mapping[str, int] | None = None
    reductions: Mapping[tuple[str, Indices], int] | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """The operations of a block with the ranges of their results, its accesses in order, and the
    registers that it needs.
    """

    ops: tuple[Op, ...]
    ranges: tuple[tuple[int, int], ...]
    accesses: tuple[Access, ...]
    registers: tuple[Array, ...]
    held: Mapping[tuple[str, Indices], Array] = field(default_factory=dict)


def draft(code: Code, scope: Scope, context: Context, taken: int) -> Draft:
    """The operations of statement copies, dead ones among them.

    Args:
        code: the copies.
        scope: the loops around, its counters included.
        context: arrays and scalars.
        taken: how many registers have names already.
    """
    builder = Builder()
    lifetimes = code.lifetimes or {}
    kept: dict[tuple[str, Indices], Span] = {}
    if code.counters:
        accessed = (t for leaf in code.leaves for t in touches(leaf, scope))
        free = code.reductions or {}
        kept = spans(accessed, code.counters, scope, context.arrays, lifetimes, bool(free))
        for key in kept.keys() & free.keys():
            kept[key] = kept[key].in_lanes(code.counters[0], context.lanes, free[key])
    memory = Memory(builder, scope, context.arrays, context.signed, kept, taken)
    for leaf in code.leaves:
        builder.stmt = leaf.stmt.name
        _statement(leaf, memory, scope, context)
    memory.finish()
    for name in lifetimes.keys() & memory.histories.keys():
        history = memory.histories[name]
        if not history.all_loads:
            history.stores.clear()
    return _drafted(memory)


def draft_with(fill: Callable[[Memory], None], scope: Scope, context: Context) -> Draft:
    """The operations that ``fill`` makes, outside of any statement."""
    memory = Memory(Builder(), scope, context.arrays, context.signed)
    fill(memory)
    return _drafted(memory)


def _drafted(memory: Memory) -> Draft:
    return Draft(
        tuple(memory.builder.ops),
        tuple(memory.builder.ranges),
        tuple(memory.accesses()),
        tuple(memory.registers),
        memory.held,
    )


def _placed(leaf: Leaf, indices: Indices, scope: Scope) -> Indices:
    return tuple(scope.simplified(i.substitute(leaf.env)) for i in indices)


def touches(leaf: Leaf, scope: Scope) -> Iterator[Touch]:
    """The accesses of a statement copy, the store last."""
    stmt, names = leaf.stmt, leaf.names
    for expr in stmt.ops:
        if expr.name in ("affine.load", "memref.load"):
            array = names.get(expr.array, expr.array)
            yield Touch(array, _placed(leaf, expr.indices, scope), leaf.guard, False)
    array = names.get(stmt.array, stmt.array)
    yield Touch(array, _placed(leaf, stmt.indices, scope), leaf.guard, True)


def _statement(leaf: Leaf, memory: Memory, scope: Scope, context: Context) -> None:
    names = leaf.names

    def load(array: str, indices: Indices, data: tuple[Val, ...]) -> Val:
        name, where = names.get(array, array), _placed(leaf, indices, scope)
        if data:
            return gathered(memory, name, where, data, leaf.guard)
        return memory.load(name, where, leaf.guard)

    def index(affine: Affine) -> Val:
        (value,) = _placed(leaf, (affine,), scope)
        return memory.builder.index(value, scope.low(value), scope.high(value))

    def argument(position: int) -> Val:
        scalar, signed = context.scalars[position]
        return memory.builder.argument(scalar.name, scalar.width, signed)

    stmt = leaf.stmt
    value, data = statement_value(memory.builder, stmt, load, index, argument)
    where = _placed(leaf, stmt.indices, scope)
    array = names.get(stmt.array, stmt.array)
    if data:
        scattered(memory, array, where, data, leaf.guard, value)
    else:
        memory.store(array, where, leaf.guard, value)


def ordered(found: Draft) -> Draft:
    """The live operations, numbered anew: loads as early as their time lets them."""
    ops = found.ops
    held = {r.name for r in found.registers if not r.shape}  # partial results are read later
    live = _live(ops, found.accesses, held)
    numbers: dict[int, int] = {}
    result: list[Op] = []
    kept = [a for a in found.accesses if a.op in live]
    for access in kept:
        stack = [access.op]
        while stack:
            n = stack[-1]
            if n in numbers:
                stack.pop()
                continue
            missing = [u.op for u in ops[n].operands if u.op not in numbers]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            numbers[n] = len(result)
            operands = tuple(Use(numbers[u.op], u.signed) for u in ops[n].operands)
            result.append(moved(ops[n], numbers[n], operands))
    used = {a.array for a in kept}
    ranges = [(0, 0)] * len(result)
    for old, new in numbers.items():
        ranges[new] = found.ranges[old]
    return Draft(
        tuple(result),
        tuple(ranges),
        tuple(a.at(numbers[a.op]) for a in kept),
        tuple(r for r in found.registers if r.name in used),
        found.held,
    )


def moved(op: Op, number: int, operands: tuple[Use, ...]) -> Op:
    """The operation elsewhere (`dataclasses.replace` takes five times as long)."""
    return Op(
        number,
        op.kind,
        op.width,
        operands,
        op.value,
        op.name,
        op.affine,
        op.fixed,
        op.place,
        op.guard,
        op.stmt,
    )


def _live(ops: Sequence[Op], accesses: Sequence[Access], held: set[str]) -> set[int]:
    """What the stores need; a store to a register only if that is read."""
    live: set[int] = set()
    waiting = {a.array: a.op for a in accesses if a.is_store and a.array in held}
    reads = {a.op: a.array for a in accesses if not a.is_store and a.array in held}
    pending = [a.op for a in accesses if a.is_store and a.array not in held]
    while pending:
        n = pending.pop()
        if n in live:
            continue
        live.add(n)
        pending.extend(u.op for u in ops[n].operands)
        if n in reads and reads[n] in waiting:
            pending.append(waiting[reads[n]])
    return live
