"""Sums whose order is free, as several partial sums: one iteration no longer waits for the last.

    pipelined for k:                        pipelined for k:
        s = s + A[k]                            p[k % 8] = (k < 8 ? 0 : p[k % 8]) + A[k]
                                            s = s + (p[0] + p[1] + ...)

Products too. The adder's latency may be as many iterations long as there are partial sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backends.rtl.front.accesses.memory import Memory
from backends.rtl.front.accesses.promote import Indices
from backends.rtl.front.flat import Leaf
from backends.rtl.front.tree import Statement
from backends.rtl.front.values.builder import Builder
from backends.rtl.front.values.scope import Scope
from backends.rtl.front.values.val import Val, constant
from backends.rtl.graph import Array, Counter, Kind
from dsl.expressions.affine import Affine, Constraint

_KINDS = {
    "arith.addf": (Kind.FADD, 0x80000000),  # −0 changes nothing that is added to it
    "arith.subf": (Kind.FADD, 0x80000000),
    "arith.mulf": (Kind.FMUL, 0x3F800000),
}


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where the partial results of an element are, and what joins them."""

    array: str
    indices: Indices
    kind: Kind
    identity: int
    partial: Array


def reductions(
    leaves: Sequence[Leaf], scope: Scope, reassociated: frozenset[str]
) -> dict[tuple[str, Indices], tuple[Kind, int]]:
    """Elements that only float reductions touch whose order is free, and what these do."""
    found: dict[tuple[str, Indices], tuple[Kind, int] | None] = {}
    at_data: set[str] = set()
    for leaf in leaves:
        stmt = leaf.stmt
        what = _KINDS.get(stmt.ops[-1].name) if stmt.name in reassociated else None
        target = (_name(leaf, stmt.array), _placed(leaf, stmt.indices, scope))
        if not _accumulates(stmt):
            what = None
        found[target] = what if found.get(target, what) == what else None
        if stmt.subscripts:
            at_data.add(target[0])
        for expr in stmt.ops:
            if expr.name == "memref.load":
                at_data.add(_name(leaf, expr.array))
            if expr.name == "affine.load":
                key = (_name(leaf, expr.array), _placed(leaf, expr.indices, scope))
                if key != target:
                    found[key] = None
    return {key: what for key, what in found.items() if what is not None and key[0] not in at_data}


def _accumulates(stmt: Statement) -> bool:
    """Its last operation takes what it overwrites, and nothing else does."""
    own = [
        n
        for n, e in enumerate(stmt.ops)
        if e.name == "affine.load" and (e.array, e.indices) == (stmt.array, stmt.indices)
    ]
    users = [n for n, e in enumerate(stmt.ops) for o in e.operands if o in own]
    last = stmt.ops[-1]
    if users != [len(stmt.ops) - 1]:
        return False
    return last.operands[0] in own or last.name != "arith.subf"


def _name(leaf: Leaf, array: str) -> str:
    return leaf.names.get(array, array)


def _placed(leaf: Leaf, indices: Indices, scope: Scope) -> Indices:
    return tuple(scope.simplified(i.substitute(leaf.env)) for i in indices)


def join(memory: Memory, lanes: Sequence[Lanes], counter: Counter, scope: Scope) -> None:
    """After the loop: the element is what the partial results make together.

    Args:
        memory: of a block of its own.
        lanes: what the loop left.
        counter: the loop's.
        scope: the loops around it.
    """
    trips = [u - counter.lowers[0] for u in counter.uppers]
    for lane in lanes:
        parts: list[Val] = []
        for n in range(lane.partial.depth):
            guard = scope.guard(Constraint(t - 1 - n * counter.step) for t in trips)
            if guard is None:
                break
            value = memory.load(lane.partial.name, (Affine.of(n),), guard)
            identity = constant(lane.identity)
            parts.append(memory.builder.select(memory.builder.holds(guard), value, identity))
        runs = scope.guard(Constraint(t - 1) for t in trips)
        if parts and runs is not None:
            total = _tree(memory.builder, lane.kind, parts)
            memory.store(lane.array, lane.indices, runs, total)


def _tree(builder: Builder, kind: Kind, parts: list[Val]) -> Val:
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        joined = [builder.floating(kind, a, b) for a, b in pairs]
        parts = joined + parts[len(joined) * 2 :]
    return parts[0]
