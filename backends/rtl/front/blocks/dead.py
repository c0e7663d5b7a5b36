"""Locals that nothing reads any more, and what was computed for them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from backends.rtl.front.blocks.block import moved
from backends.rtl.graph import (
    Block,
    Guarded,
    Kind,
    Loop,
    Op,
    Pipeline,
    Region,
    Straight,
    Use,
    walk,
)


def without_dead_locals(
    regions: tuple[Region, ...], arguments: frozenset[str]
) -> tuple[Region, ...]:
    """The same regions without stores to arrays that are never loaded, arguments excepted."""
    ops = [op for r in walk(regions) if isinstance(r, Straight | Pipeline) for op in r.block.ops]
    accessed = {op.place.array for op in ops if op.place is not None}
    loaded = {op.place.array for op in ops if op.kind is Kind.LOAD and op.place is not None}
    dead = accessed - loaded - arguments
    if not dead:
        return regions
    # What computed the values of one local may have loaded another.
    return without_dead_locals(_stripped(regions, dead), arguments)


def _stripped(regions: tuple[Region, ...], dead: set[str]) -> tuple[Region, ...]:
    found: list[Region] = []
    for region in regions:
        match region:
            case Straight(block) | Pipeline(_, block):
                kept = _block(block, dead)
                if kept.ops:
                    found.append(replace(region, block=kept))
            case Loop(_, body) | Guarded(_, body):
                inner = _stripped(body, dead)
                if inner:
                    found.append(replace(region, body=inner))
            case _:
                assert_never(region)
    return tuple(found)


def _block(block: Block, dead: set[str]) -> Block:
    live: set[int] = set()
    pending = [op.id for op in block.ops if op.kind is Kind.STORE and not _writes(op, dead)]
    while pending:
        n = pending.pop()
        if n not in live:
            live.add(n)
            pending.extend(u.op for u in block.ops[n].operands)
    if len(live) == len(block.ops):
        return block
    numbers = {n: k for k, n in enumerate(sorted(live))}
    ops = []
    for n in numbers:
        op = block.ops[n]
        ops.append(moved(op, numbers[n], tuple(Use(numbers[u.op], u.signed) for u in op.operands)))
    deps = tuple(
        replace(d, src=numbers[d.src], dst=numbers[d.dst])
        for d in block.deps
        if d.src in numbers and d.dst in numbers
    )
    return Block(tuple(ops), deps)


def _writes(op: Op, arrays: set[str]) -> bool:
    return op.place is not None and op.place.array in arrays
