"""Nests that run as one pipeline: what stands before or after the inner loop runs in its first or
last iteration.

    for i:                                  pipelined for i, j:
        C[i] = 0                                if j == 0: C[i] = 0
        pipelined for j: S(i, j)                S(i, j)
        D[i] = C[i]                             if j == M - 1: D[i] = C[i]

The order of all accesses stays as it was, so that it is always legal where the inner loop has an
iteration at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from backends.rtl.front.accesses.promote import edges
from backends.rtl.front.flat import Flat, FlatLoop, Leaf
from backends.rtl.front.values.scope import Scope
from backends.rtl.front.values.val import Guard
from backends.rtl.graph import Counter


@dataclass(frozen=True, slots=True)
class Nest:
    """A pipeline: its counters, what runs in each iteration, and `block.Code.lifetimes`."""

    counters: tuple[Counter, ...]
    leaves: tuple[Leaf, ...]
    lifetimes: Mapping[str, int]
    ii: int
    flatten: bool | None


def nest_of(node: FlatLoop, scope: Scope) -> Nest | None:
    """The whole nest as one pipeline; None where it is none, or where that cannot be said."""
    inside = scope.inside(node.counter)
    if inside is None:
        return None
    if node.ii is not None:
        leaves = tuple(n for n in node.body if isinstance(n, Leaf))
        lifetimes = dict.fromkeys(node.private, 1)
        return Nest((node.counter,), leaves, lifetimes, node.ii, node.flatten)
    loops = [n for n, child in enumerate(node.body) if not isinstance(child, Leaf)]
    if len(loops) != 1:
        return None
    child = node.body[loops[0]]
    inner = nest_of(child, inside) if isinstance(child, FlatLoop) else None
    if inner is None or inner.flatten is False or not _always_runs(inner.counters[0], inside):
        return None
    before, after = node.body[: loops[0]], node.body[loops[0] + 1 :]
    leaves = inner.leaves
    if before or after:
        found = _around(before, after, inner, inside)
        if found is None:
            return None
        leaves = found
    lifetimes = {
        **dict.fromkeys(node.private, 1),
        **{name: depth + 1 for name, depth in inner.lifetimes.items()},
    }
    return replace(
        inner, counters=(node.counter, *inner.counters), leaves=leaves, lifetimes=lifetimes
    )


def _always_runs(counter: Counter, scope: Scope) -> bool:
    return all(scope.low(u - low) >= 1 for u in counter.uppers for low in counter.lowers)


def _around(
    before: Sequence[Flat], after: Sequence[Flat], inner: Nest, scope: Scope
) -> tuple[Leaf, ...] | None:
    """The statements of the inner loops with those around them, under guards."""
    deepest: Scope | None = scope
    for counter in inner.counters:
        deepest = None if deepest is None else deepest.inside(counter)
    found = None if deepest is None else edges(inner.counters, deepest)
    if found is None or deepest is None:
        return None
    first, last = found
    return (
        *_guarded(before, first, deepest),
        *inner.leaves,
        *_guarded(after, last, deepest),
    )


def _guarded(nodes: Sequence[Flat], guard: Guard, scope: Scope) -> list[Leaf]:
    found: list[Leaf] = []
    for leaf in nodes:
        assert isinstance(leaf, Leaf)
        both = scope.guard((*leaf.guard, *guard))
        if both is not None:
            found.append(replace(leaf, guard=both))
    return found
