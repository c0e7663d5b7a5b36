"""The regions of a kernel: blocks between loops, pipelines, loops that run one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from backends.rtl.front.balance import balanced
from backends.rtl.front.block import Code, Context, draft, ordered
from backends.rtl.front.deps import dependences
from backends.rtl.front.estimate import cycles, interval
from backends.rtl.front.flat import Flat, FlatGuard, FlatLoop, Leaf
from backends.rtl.front.flatten import Nest, nest_of
from backends.rtl.front.narrow import narrowed
from backends.rtl.front.scope import Scope
from backends.rtl.graph import Array, Block, Guarded, Loop, Pipeline, Region, Straight


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
            case FlatLoop():
                return self._loop(node, scope)
            case _:
                assert_never(node)

    def _loop(self, node: FlatLoop, scope: Scope) -> Region | None:
        """The loop flattened with those inside of it, if that is not slower."""
        inside = scope.inside(node.counter)
        if inside is None:
            return None
        nest = nest_of(node, scope)
        if nest is None:
            body = self.regions(node.body, inside, node.private)
            return Loop(node.counter, body) if body else None
        flat = self._pipeline(nest, scope)
        if flat is None or len(nest.counters) == 1:
            return flat
        arrays = {**self.context.arrays, **{r.name: r for r in self.registers}}
        if nest.flatten or interval(flat.block, nest.ii, arrays) <= nest.ii:
            return flat
        body = self.regions(node.body, inside, node.private)
        apart = Loop(node.counter, body)
        arrays |= {r.name: r for r in self.registers}
        if cycles(flat, arrays, scope.ranges) <= cycles(apart, arrays, scope.ranges):
            return flat
        return apart

    def _pipeline(self, nest: Nest, scope: Scope) -> Pipeline | None:
        inside: Scope | None = scope
        for counter in nest.counters:
            inside = None if inside is None else inside.inside(counter)
        if inside is None:
            return None
        block = self.block(Code(nest.leaves, nest.counters, nest.lifetimes), inside)
        return Pipeline(nest.counters, block, nest.ii) if block.ops else None

    def block(self, code: Code, scope: Scope) -> Block:
        """The block of statement copies."""
        found = ordered(draft(code, scope, self.context, len(self.registers)))
        found = ordered(balanced(ordered(narrowed(found)), self.context.reassociated))
        self.registers.extend(found.registers)
        return Block(found.ops, dependences(found.ops, found.accesses, scope, len(code.counters)))
