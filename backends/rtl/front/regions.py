"""The regions of a kernel: blocks between loops, pipelines, loops that run one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from backends.rtl.front.balance import balanced
from backends.rtl.front.block import Code, Context, draft, ordered
from backends.rtl.front.deps import dependences
from backends.rtl.front.flat import Flat, FlatGuard, FlatLoop, Leaf
from backends.rtl.front.narrow import narrowed
from backends.rtl.front.scope import Scope
from backends.rtl.graph import Array, Block, Counter, Guarded, Loop, Pipeline, Region, Straight


@dataclass(slots=True)
class RegionMaker:
    """Makes regions of what unrolling left."""

    context: Context
    registers: list[Array] = field(default_factory=list)

    def regions(
        self, nodes: Sequence[Flat], scope: Scope, private: frozenset[str]
    ) -> tuple[Region, ...]:
        """The regions of nodes that run one after the other."""
        found: list[Region] = []
        run: list[Leaf] = []
        alone = all(isinstance(n, Leaf) for n in nodes)

        def flush() -> None:
            if run:
                lifetimes = dict.fromkeys(private, 0) if alone else {}
                block = self.block(Code(tuple(run), (), lifetimes), scope)
                if block.ops:
                    found.append(Straight(block))
                run.clear()

        for node in nodes:
            if isinstance(node, Leaf):
                run.append(node)
                continue
            flush()
            region = self._region(node, scope)
            if region is not None:
                found.append(region)
        flush()
        return tuple(found)

    def _region(self, node: FlatLoop | FlatGuard, scope: Scope) -> Region | None:
        match node:
            case FlatGuard(constraints, body):
                inner = self.regions(body, scope, frozenset())
                return Guarded(constraints, inner) if inner else None
            case FlatLoop(ii=None):
                return self._loop(node, scope)
            case FlatLoop():
                return self._pipeline((node.counter,), node, scope)
            case _:
                assert_never(node)

    def _loop(self, node: FlatLoop, scope: Scope) -> Region | None:
        inner_scope = scope.inside(node.counter)
        if inner_scope is None:
            return None
        body = self.regions(node.body, inner_scope, node.private)
        return Loop(node.counter, body) if body else None

    def _pipeline(
        self, counters: tuple[Counter, ...], node: FlatLoop, scope: Scope
    ) -> Region | None:
        inner: Scope | None = scope
        for counter in counters:
            inner = None if inner is None else inner.inside(counter)
        if inner is None:
            return None
        leaves = tuple(n for n in node.body if isinstance(n, Leaf))
        lifetimes = dict.fromkeys(node.private, len(counters))
        block = self.block(Code(leaves, counters, lifetimes), inner)
        assert node.ii is not None
        return Pipeline(counters, block, node.ii) if block.ops else None

    def block(self, code: Code, scope: Scope) -> Block:
        """The block of statement copies."""
        found = ordered(draft(code, scope, self.context, len(self.registers)))
        found = ordered(balanced(ordered(narrowed(found)), self.context.reassociated))
        self.registers.extend(found.registers)
        return Block(found.ops, dependences(found.accesses, scope, bool(code.counters)))
