"""Random nests that read arrays at several offsets: what `reuse` is for, and what it has to refuse."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from dsl.expressions import typing as t
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.expr import Access, BinaryOp, Expr, Load
from dsl.expressions.types import IntType
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt
from dsl.schedules.steps import Pipeline, Reuse, Step, Tile, Unroll

I32 = IntType(32)
AXES = ("y", "x", "z")
TAPS = ("p", "q")


@dataclass(slots=True)
class _Stencil:
    """A program while it is made; ``seen`` are the subscripts of each array."""

    rng: random.Random
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    seen: dict[str, list[tuple[Affine, ...]]] = field(default_factory=dict)

    def made(self, name: str) -> Program:
        rng = self.rng
        axes = AXES[: rng.choice((1, 2, 2, 2, 3))]
        taps = TAPS[: rng.choice((0, 0, 1, 2))]
        outer = ("o",) if rng.random() < 0.3 else ()
        loops = [self._loop(v, rng.randint(3, 7)) for v in (*outer, *axes)]
        if len(axes) > 1 and rng.random() < 0.15:  # a triangle
            last = loops[-1]
            loops[-1] = Loop(last.var, (Affine.of(axes[0]), *last.lowers), last.uppers, 1, ())
        inner = [self._loop(v, rng.randint(1, 3), 0) for v in taps]
        sources = [(f"A{n}", self._move(axes, taps, outer)) for n in range(rng.choice((1, 1, 2)))]
        nodes = [
            self._statement(
                f"S{n}", axes, outer, inner if n == 1 or rng.random() < 0.5 else [], sources
            )
            for n in range(rng.choice((1, 1, 2)))
        ]
        body: tuple[Node, ...] = tuple(nodes)
        for loop in reversed(loops):
            body = (Loop(loop.var, loop.lowers, loop.uppers, 1, body),)
        return self._sized(Program(name, (), body))

    def _loop(self, var: str, extent: int, low: int | None = None) -> Loop:
        first = self.rng.choice((0, 0, 1, -2)) if low is None else low
        self.ranges[var] = (first, first + extent - 1)
        return Loop(var, (Affine.of(first),), (Affine.of(first + extent),), 1, ())

    def _move(
        self, axes: tuple[str, ...], taps: tuple[str, ...], outer: tuple[str, ...]
    ) -> list[Affine]:
        """The subscripts that all reads of an array share, but for constants."""
        rng = self.rng
        found = [Affine.of(v) * rng.choice((1, 1, 1, 1, 2, 3, -1, -2)) for v in axes]
        for d, tap in zip(
            rng.sample(range(len(axes)), min(len(taps), len(axes))), taps, strict=False
        ):
            found[d] += Affine.of(tap) * rng.choice((1, 1, 2))
        if outer and rng.random() < 0.5:
            found[0] += Affine.of("o") * 2
        if rng.random() < 0.2:
            rng.shuffle(found)
        if taps and rng.random() < 0.3:
            found.append(Affine.of(taps[0]))
        return found

    def _statement(
        self,
        name: str,
        axes: tuple[str, ...],
        outer: tuple[str, ...],
        inner: list[Loop],
        sources: list[tuple[str, list[Affine]]],
    ) -> Node:
        rng = self.rng
        target = self._access(f"B{name[1:]}", [Affine.of(v) for v in (*outer, *axes)])
        known = {loop.var for loop in inner}
        value: Expr = Load(target, I32)
        for _ in range(rng.randint(1, 4)):
            array, move = rng.choice(sources)
            offsets = [rng.choice((0, 0, 1, -1, 2, 4)) for _ in move]
            at = [
                m.substitute({v: Affine.of(rng.randint(0, 1)) for v in TAPS if v not in known}) + c
                for m, c in zip(move, offsets, strict=True)
            ]
            op = rng.choice((BinaryOp.ADD, BinaryOp.SUB, BinaryOp.XOR))
            value = t.binary(op, value, Load(self._access(array, at), I32))
        node: Node = Stmt(name, target, t.assigned(value, I32))
        if rng.random() < 0.25:
            node = If(Constraint(Affine.of(rng.choice(axes)) - rng.randint(0, 2)), (node,))
        for loop in reversed(inner):
            node = Loop(loop.var, loop.lowers, loop.uppers, 1, (node,))
        return node

    def _access(self, array: str, indices: list[Affine]) -> Access:
        self.seen.setdefault(array, []).append(tuple(indices))
        return Access(array, tuple(indices))

    def _sized(self, program: Program) -> Program:
        """The arrays as large as they have to be, and subscripts from 0 on."""
        from dsl.programs.expanded import with_accesses

        lows: dict[str, tuple[int, ...]] = {}
        arrays: list[Array] = []
        for name, every in sorted(self.seen.items()):
            spans = [[e.interval(self.ranges) for e in dim] for dim in zip(*every, strict=True)]
            lows[name] = tuple(min(low for low, _ in dim) for dim in spans)
            shape = tuple(
                max(high for _, high in dim) - low + 1
                for dim, low in zip(spans, lows[name], strict=True)
            )
            arrays.append(Array(name, I32, shape))

        def own(access: Access) -> Access:
            low = lows[access.array]
            return Access(
                access.array, tuple(e - n for e, n in zip(access.indices, low, strict=True))
            )

        def moved(node: Node) -> Node:
            match node:
                case Loop():
                    return Loop(node.var, node.lowers, node.uppers, 1, tuple(map(moved, node.body)))
                case If():
                    return If(node.cond, tuple(map(moved, node.then)))
                case Stmt():
                    return with_accesses(node, own)

        return Program(program.name, tuple(arrays), tuple(map(moved, program.body)))


def random_stencil(seed: int) -> Program:
    """The random program of a seed."""
    return _Stencil(random.Random(seed)).made(f"p{seed}")


def random_reuse(rng: random.Random, program: Program) -> list[Step]:
    """Steps of which some may be refused: tiles, then windows, then a pipeline."""
    loops = [n.var for n, _ in program.walk() if isinstance(n, Loop)]
    axes = [v for v in AXES if v in loops]
    steps: list[Step] = []
    if rng.random() < 0.3:
        count = rng.randint(1, len(axes))
        tail = rng.choice(("remainder", "guard"))
        steps.append(
            Tile(tuple(axes[:count]), tuple(rng.randint(2, 3) for _ in range(count)), tail)
        )
        axes = [f"{v}_1" for v in axes[:count]] + axes[count:]
    for array in program.arrays:
        if array.name.startswith("A"):
            steps.append(Reuse(array.name, rng.choice((axes[0], axes[0], *axes, *loops))))
    if rng.random() < 0.5:
        steps.append(Pipeline(axes[-1]))
    elif rng.random() < 0.3:
        steps.append(Unroll(axes[-1], 2, rng.choice(("remainder", "guard"))))
    return steps
