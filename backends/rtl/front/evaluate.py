"""Runs a graph in Python, bit for bit: what every later step must agree with.

Values are raw bits, unsigned. Iterations run one after the other: what overlaps in hardware must
come out the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from backends.rtl.front.values.operate import operate
from backends.rtl.graph import (
    Counter,
    Graph,
    Guarded,
    Kind,
    Loop,
    Op,
    Pipeline,
    Place,
    Region,
    Straight,
    join_lanes,
    part_lanes,
    places,
)
from dsl.expressions.numeric import wrap

Watch = Callable[["Straight | Pipeline", int, int, Op, "tuple[str, int, int]"], None]
"""Called with each access: its region, the number of this run of a region (they count up), the
iteration in it, the operation, and array, bank and offset.
"""


class OutOfBoundsError(IndexError):
    """A store that counts goes outside of its bank."""


def evaluate(
    graph: Graph,
    arrays: Mapping[str, Sequence[int]],
    scalars: Mapping[str, int],
    *,
    flush: bool = True,
    watch: Watch | None = None,
    exp: Callable[[int], int] | None = None,
) -> dict[str, list[int]]:
    """Run the kernel.

    Args:
        graph: what to run.
        arrays: the raw bits of each argument's elements, dimension 0 most significant.
        scalars: the raw bits of each scalar argument.
        flush: floats flush subnormal numbers to zero, as the hardware does.
        watch: called with every access that counts.
        exp: the exponential function of 32-bit floats, from bits to bits; by default the nearest
            result, which the hardware's is not always.

    Returns:
        The raw bits of each argument's elements afterwards.

    Raises:
        OutOfBoundsError: a store outside of its bank.
    """
    machine = _Machine(graph, dict(scalars), flush, watch, exp)
    for array in graph.arrays:
        machine.banks[array.name] = [[0] * array.depth for _ in range(array.banks)]
        words = arrays[array.name] if array.argument else array.contents
        if len(words):
            for (bank, offset), value in zip(places(array), words, strict=True):
                machine.banks[array.name][bank][offset] = value
        machine.banks[array.name] = join_lanes(array, machine.banks[array.name])
    machine.regions(graph.body, {})
    return {
        array.name: [banks[b][o] for b, o in places(array)]
        for array in graph.arrays
        if array.argument
        for banks in [part_lanes(array, machine.banks[array.name])]
    }


@dataclass(slots=True)
class _Machine:
    graph: Graph
    scalars: dict[str, int]
    flush: bool
    watch: Watch | None
    exp: Callable[[int], int] | None
    banks: dict[str, list[list[int]]] = field(default_factory=dict)
    run: int = 0

    def regions(self, regions: tuple[Region, ...], env: dict[str, int]) -> None:
        for region in regions:
            match region:
                case Straight():
                    self.run += 1
                    self.block(region, 0, env)
                case Pipeline(counters):
                    self.run += 1
                    for n, inner in enumerate(_iterations(counters, env)):
                        self.block(region, n, inner)
                case Loop(counter, body):
                    for inner in _iterations((counter,), env):
                        self.regions(body, inner)
                case Guarded(constraints, body):
                    if all(c.holds(env) for c in constraints):
                        self.regions(body, env)
                case _:
                    assert_never(region)

    def block(self, region: Straight | Pipeline, iteration: int, env: dict[str, int]) -> None:
        values: list[int] = []
        for op in region.block.ops:
            assert op.id == len(values)
            if op.kind is Kind.LOAD or op.kind is Kind.STORE:
                values.append(self._access(region, iteration, op, env, values))
            else:
                operands = self._operands(op, region.block.ops, values)
                values.append(self._result(op, env, operands) & ((1 << op.width) - 1))

    def _access(
        self,
        region: Straight | Pipeline,
        iteration: int,
        op: Op,
        env: dict[str, int],
        values: list[int],
    ) -> int:
        if not all(c.holds(env) for c in op.guard):
            return 0
        assert op.place is not None
        taken = self._operands(op, region.block.ops, values)
        if op.address:
            offset, *banks = taken[len(taken) - len(op.address) :]
            array, bank = op.place.array, banks[0] if banks else op.place.bank or 0
        else:
            array, bank, offset = self._element(op.place, env)
        info = self.graph.array(array)
        if not (0 <= bank < info.banks and 0 <= offset < info.depth):
            if op.kind is Kind.LOAD:
                return 0  # nobody looks at it: see `Op.guard`
            raise OutOfBoundsError(f"{array}, bank {bank}, offset {offset}")
        if self.watch is not None:
            self.watch(region, self.run, iteration, op, (array, bank, offset))
        cells = self.banks[array][bank]
        if op.kind is Kind.STORE:
            mask = (1 << info.width) - 1
            lanes = taken[: len(taken) - len(op.address)]
            cells[offset] = sum((v & mask) << (info.width * n) for n, v in enumerate(lanes))
        return cells[offset]

    def _element(self, place: Place, env: dict[str, int]) -> tuple[str, int, int]:
        bank = place.bank
        if bank is None:
            assert place.bank_affine is not None
            bank = place.bank_affine.evaluate(env)
        offset = place.offset.evaluate(env)
        return place.array, bank, offset

    def _operands(self, op: Op, ops: tuple[Op, ...], values: list[int]) -> list[int]:
        return [wrap(values[u.op], ops[u.op].width, u.signed) for u in op.operands]

    def _result(self, op: Op, env: dict[str, int], operands: list[int]) -> int:
        match op.kind:
            case Kind.CONST:
                return op.value
            case Kind.INDEX:
                assert op.affine is not None
                return op.affine.evaluate(env)
            case Kind.INPUT:
                return self.scalars[op.name]
            case Kind.HOLDS:
                return all(c.holds(env) for c in op.guard)
            case Kind.FEXP if self.exp is not None:
                return self.exp(operands[0])
            case _:
                return operate(op, operands, self.flush)


def _iterations(counters: Sequence[Counter], env: dict[str, int]) -> Iterator[dict[str, int]]:
    """The values of the loop variables in each iteration, in order."""
    if not counters:
        yield env
        return
    first = counters[0]
    low = max(e.evaluate(env) for e in first.lowers)
    high = min(e.evaluate(env) for e in first.uppers)
    for value in range(low, high, first.step):
        yield from _iterations(counters[1:], {**env, first.iv: value})
