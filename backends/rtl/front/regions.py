"""The regions of a kernel: blocks between loops, pipelines, loops that run one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from backends.rtl.front.accesses.crossbar import refuse_crossbars
from backends.rtl.front.accesses.deps import dependences
from backends.rtl.front.blocks.balance import balanced
from backends.rtl.front.blocks.block import Code, Context, Draft, draft, draft_with, ordered
from backends.rtl.front.blocks.narrow import narrowed
from backends.rtl.front.blocks.words import in_words
from backends.rtl.front.estimate import cycles, interval
from backends.rtl.front.flat import Flat, FlatGuard, FlatLoop, Leaf
from backends.rtl.front.flatten import Nest, nest_of
from backends.rtl.front.registers.hold import held
from backends.rtl.front.registers.lanes import Lanes, join, reductions
from backends.rtl.front.registers.window import windowed
from backends.rtl.front.values.scope import Scope
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
            found += self._region(node, scope)
        flush()
        return tuple(found)

    def _region(self, node: FlatLoop | FlatGuard, scope: Scope) -> tuple[Region, ...]:
        match node:
            case FlatGuard(constraints, body):
                inner = self.regions(body, scope, frozenset())
                return (Guarded(constraints, inner),) if inner else ()
            case FlatLoop():
                return self._loop(node, scope)
            case _:
                assert_never(node)

    def _loop(self, node: FlatLoop, scope: Scope) -> tuple[Region, ...]:
        """The loop flattened with those inside of it, if that is not slower."""
        inside = scope.inside(node.counter)
        if inside is None:
            return ()
        nest = nest_of(node, scope)
        if nest is None:
            body = self.regions(node.body, inside, node.private)
            return (Loop(node.counter, body),) if body else ()
        flat = self._pipeline(nest, scope)
        if not flat or nest.flatten or self._interval(flat[0]) <= nest.ii:
            return flat
        if len(nest.counters) > 1:
            others = [self._apart(node, inside), self._held(node, inside)]
        else:
            others = [self._in_lanes(nest, scope, inside), self._windowed(node, scope, inside)]
        ways = [flat, *(other for other in others if other)]
        return min(ways, key=lambda found: self._cycles(found, scope))

    def _apart(self, node: FlatLoop, inside: Scope) -> tuple[Region, ...]:
        body = self.regions(node.body, inside, node.private)
        return (Loop(node.counter, body),) if body else ()

    def _held(self, node: FlatLoop, inside: Scope) -> tuple[Region, ...]:
        """The loop with what its pipeline accumulates in registers around that."""
        found = held(node, inside, self.context, len(self.registers))
        if found is None:
            return ()
        body = self._having(found.registers).regions(found.body, inside, node.private)
        return (Loop(node.counter, body),) if body else ()

    def _windowed(self, node: FlatLoop, scope: Scope, inside: Scope) -> tuple[Region, ...]:
        """The loop with what an iteration needs of earlier ones in registers."""
        found = windowed(node, inside, self.context, len(self.registers))
        if found is None:
            return ()
        maker = self._having(found.registers)
        nest = nest_of(found.loop, scope)
        assert nest is not None
        before = maker.block(Code(found.before), scope)
        return (Straight(before), *maker._pipeline(nest, scope))

    def _having(self, registers: Sequence[tuple[Array, str]]) -> RegionMaker:
        """The same with more registers, each for elements of an array."""
        self.registers.extend(array for array, _ in registers)
        more = [(array, self.context.signed[of]) for array, of in registers]
        return replace(self, context=self.context.having(more))

    def _pipeline(self, nest: Nest, scope: Scope) -> tuple[Region, ...]:
        inside: Scope | None = scope
        for counter in nest.counters:
            inside = None if inside is None else inside.inside(counter)
        if inside is None:
            return ()
        code = Code(nest.leaves, nest.counters, nest.lifetimes)
        block = self._finished(draft(code, inside, self.context, len(self.registers)), inside, code)
        return (Pipeline(nest.counters, block, nest.ii),) if block.ops else ()

    def _in_lanes(self, nest: Nest, scope: Scope, inside: Scope) -> tuple[Region, ...]:
        """A loop whose reductions have several partial results; nothing if it has none of these."""
        (counter,) = nest.counters
        if not self.context.reassociated or len(counter.lowers) > 1:
            return ()
        free = reductions(nest.leaves, inside, self.context.reassociated)
        starts = {key: identity for key, (_, identity) in free.items()}
        code = Code(nest.leaves, nest.counters, nest.lifetimes, starts)
        found = draft(code, inside, self.context, len(self.registers))
        lanes = [
            Lanes(*key, *free[key], held)
            for key, held in found.held.items()
            if key in free and held.shape
        ]
        if not lanes:
            return ()
        block = self._finished(found, inside, code)
        context = self.context.having(
            (lane.partial, self.context.signed[lane.array]) for lane in lanes
        )
        after = draft_with(lambda memory: join(memory, lanes, counter, scope), scope, context)
        return (
            Pipeline(nest.counters, block, nest.ii),
            Straight(self._finished(after, scope, Code(()))),
        )

    def _interval(self, region: Region) -> int:
        assert isinstance(region, Pipeline)
        return interval(region.block, region.ii, self._arrays())

    def _cycles(self, regions: tuple[Region, ...], scope: Scope) -> float:
        arrays = self._arrays()
        return sum(cycles(r, arrays, scope.ranges) for r in regions)

    def _arrays(self) -> dict[str, Array]:
        return {**self.context.arrays, **{r.name: r for r in self.registers}}

    def block(self, code: Code, scope: Scope) -> Block:
        """The block of statement copies."""
        found = draft(code, scope, self.context, len(self.registers))
        return self._finished(found, scope, code)

    def _finished(self, found: Draft, scope: Scope, code: Code) -> Block:
        refuse_crossbars(found.ops, {**self._arrays(), **{r.name: r for r in found.registers}})
        found = in_words(found, self.context.arrays, scope)
        found = ordered(narrowed(ordered(found)))
        found = ordered(balanced(found, self.context.reassociated))
        self.registers.extend(found.registers)
        return Block(found.ops, dependences(found.ops, found.accesses, scope, len(code.counters)))
