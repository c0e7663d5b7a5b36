"""Rough cycles of a region: enough to tell whether a nest is better flattened.

The latencies are those of typical operators; the schedule's own are not known yet.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Mapping
from typing import assert_never

from backends.rtl.graph import (
    Array,
    Block,
    Counter,
    DepKind,
    Guarded,
    Kind,
    Loop,
    Memory,
    Op,
    Pipeline,
    Region,
    Straight,
)

_LATENCY = {
    Kind.MUL: 2,
    Kind.DIV: 16,
    Kind.FLOORDIV: 16,
    Kind.REM: 16,
    Kind.FADD: 5,
    Kind.FSUB: 5,
    Kind.FMUL: 3,
    Kind.FDIV: 15,
    Kind.FSQRT: 12,
    Kind.FEXP: 10,
    Kind.TO_FLOAT: 4,
    Kind.FROM_FLOAT: 3,
}
_OVERHEAD = 2  # cycles to start a region and to see that it is done
_PASSES = 40
_MOST = 4096  # a larger interval than any that is looked for

Ranges = Mapping[str, tuple[int, int]]


def latency(op: Op, arrays: Mapping[str, Array]) -> int:
    """Cycles from an operation's operands to its result."""
    if op.kind is Kind.LOAD:
        assert op.place is not None
        return 0 if arrays[op.place.array].memory is Memory.REGISTERS else 2
    return _LATENCY.get(op.kind, 0)


def interval(block: Block, asked: int, arrays: Mapping[str, Array]) -> int:
    """The least initiation interval that ports and recurrences may allow, at least ``asked``."""
    low = max(asked, _ports(block, arrays))
    if _feasible(block, low, arrays):
        return low
    high = 2 * low
    while high < _MOST and not _feasible(block, high, arrays):
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        if _feasible(block, middle, arrays):
            high = middle
        else:
            low = middle
    return high


def _ports(block: Block, arrays: Mapping[str, Array]) -> int:
    """Accesses that share a port: one read and one write port each bank."""
    counts: Multiset[tuple[str, int, Kind]] = Multiset()
    anywhere: Multiset[tuple[str, Kind]] = Multiset()
    for op in block.ops:
        if op.place is None or arrays[op.place.array].memory is Memory.REGISTERS:
            continue
        if op.place.bank is None:
            anywhere[op.place.array, op.kind] += 1
        else:
            counts[op.place.array, op.place.bank, op.kind] += 1
    most = max(anywhere.values(), default=1)
    return max([most, *(n + anywhere[a, kind] for (a, _, kind), n in counts.items())])


def _feasible(block: Block, ii: int, arrays: Mapping[str, Array]) -> bool:
    """No dependence cycle needs more than ``ii`` cycles an iteration."""
    carried = [d for d in block.deps if d.distance]
    if not any(d.kind is DepKind.FLOW for d in carried):
        return True
    into: dict[int, list[tuple[int, int]]] = {}
    for d in block.deps:
        if not d.distance:
            into.setdefault(d.dst, []).append((d.src, d.kind is not DepKind.ANTI))
    delays = [latency(op, arrays) for op in block.ops]
    start = [0] * len(block.ops)
    for _ in range(_PASSES):
        changed = False
        for op in block.ops:
            soonest = start[op.id]
            for u in op.operands:
                soonest = max(soonest, start[u.op] + delays[u.op])
            for src, wait in into.get(op.id, ()):
                soonest = max(soonest, start[src] + wait)
            start[op.id] = soonest
        for d in carried:
            soonest = start[d.src] + (d.kind is not DepKind.ANTI) - ii * d.distance
            if soonest > start[d.dst]:
                start[d.dst], changed = soonest, True
        if not changed:
            return True
    return False


def _depth(block: Block, arrays: Mapping[str, Array]) -> int:
    """Cycles of one iteration, without limits of ports."""
    done = [0] * len(block.ops)
    for op in block.ops:
        begin = max((done[u.op] for u in op.operands), default=0)
        done[op.id] = begin + latency(op, arrays)
    return 1 + max(done, default=0)


def cycles(region: Region, arrays: Mapping[str, Array], ranges: Ranges) -> float:
    """Rough cycles of a region inside of loops whose variables are in ``ranges``."""
    match region:
        case Straight(block):
            return max(_depth(block, arrays), _ports(block, arrays)) + 1
        case Pipeline(counters, block, ii):
            trips = 1.0
            inner = dict(ranges)
            for counter in counters:
                trips *= _trips(counter, inner)
            most = interval(block, ii, arrays)
            return (trips - 1) * most + _depth(block, arrays) + _OVERHEAD
        case Loop(counter, body):
            inner = dict(ranges)
            trips = _trips(counter, inner)
            return trips * (1 + sum(cycles(r, arrays, inner) for r in body))
        case Guarded(_, body):
            return sum(cycles(r, arrays, ranges) for r in body)
        case _:
            assert_never(region)


def _trips(counter: Counter, ranges: dict[str, tuple[int, int]]) -> float:
    """The trip count, or the middle of what it may be; the variable's range is added."""
    low = max(e.interval(ranges)[0] for e in counter.lowers)
    high = min(e.interval(ranges)[1] for e in counter.uppers)
    first = max(sum(e.interval(ranges)) / 2 for e in counter.lowers)
    last = min(sum(e.interval(ranges)) / 2 for e in counter.uppers)
    ranges[counter.iv] = (low, max(low, high - 1))
    return max(1.0, (last - first) / counter.step)
